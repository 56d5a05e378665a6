"""The types of option values, and the options that several commands share."""

from typing import Any

import click

from likewise.cli.messages import set_verbosity

GUIDED = ("auto", "sklr", "itml")  # run by GuidedClustering; only these have a report
CLUSTERERS = {
    "kernel-kmeans": "KernelKMeans",
    "pck-means": "PCKMeans",
    "mpck-means": "MPCKMeans",
    "cop-kmeans": "COPKMeans",
}


class ClusterCountType(click.ParamType):
    """A whole number from 1, or "auto"."""

    name = "cluster count"

    def convert(self, value: Any, param, ctx) -> int | str:
        if value == "auto":
            return "auto"
        try:
            count = int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor auto.", param, ctx)
        return count if count >= 1 else self.fail(f"{count} is less than 1.", param, ctx)


class ImageShape(click.ParamType):
    """8x8 or 32x32x3."""

    name = "image shape"

    def convert(self, value: Any, param, ctx) -> tuple[int, ...]:
        sides = value.lower().split("x")
        right = len(sides) in (2, 3) and all(side.isdecimal() and int(side) for side in sides)
        if not right or sides[2:] not in ([], ["3"]):
            self.fail(f"{value!r} is not an image shape. Try 8x8, or 32x32x3.", param, ctx)
        return tuple(int(side) for side in sides)


class ColumnNames(click.ParamType):
    """Names separated by commas."""

    name = "column names"

    def convert(self, value: Any, param, ctx) -> list[str]:
        return [name.strip() for name in value.split(",")]


READABLE = click.Path(exists=True, dir_okay=False)
READABLE_OR_STDIN = click.Path(exists=True, allow_dash=True)  # a folder of files, too
WRITABLE = click.Path(dir_okay=False)
# Shared by several commands, with the same names and help texts.
data_argument = click.argument("data", type=READABLE_OR_STDIN)
answers_option = click.option(
    "-c", "--constraints", "answers", type=READABLE, help="Answer file: .csv, .jsonl or .parquet."
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the clusters here: .csv, .parquet or .npy; - is stdout.  "
    "[default: stdout when piped, else DATA-clusters.csv]",
)
id_option = click.option(
    "--id-column",
    metavar="NAME",
    help="Column with the row IDs.  [default: id, if the file has one]",
)
features_option = click.option(
    "--features",
    type=ColumnNames(),
    metavar="NAMES",
    help="Columns to use, separated by commas, whatever they look like.  [default: all but ids, "
    "indexes, labels and constants]",
)
exclude_option = click.option(
    "--exclude", type=ColumnNames(), metavar="NAMES", help="Columns to leave out."
)
as_text_option = click.option(
    "--as-text", type=ColumnNames(), metavar="NAMES", help="Columns to take as free text."
)
as_category_option = click.option(
    "--as-category",
    type=ColumnNames(),
    metavar="NAMES",
    help="Columns to take as categories, such as codes written as numbers.",
)
as_image_option = click.option(
    "--as-image", metavar="NAME", help="Column with the paths of images to cluster by."
)
embed_option = click.option(
    "--embed",
    "by_network",
    is_flag=True,
    help="Read texts and images by a trained network (needs likewise[embed]).",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the results as JSON on stdout."
)


def column_options(command):
    """--exclude, --as-text and --as-category, after --features."""
    for option in (as_category_option, as_text_option, exclude_option, features_option):
        command = option(command)
    return command


def verbosity_options(command):
    """--quiet and -v: how much is said on stderr."""
    for name, letter, words in (
        ("verbose", "-v", "Say more: every column, every trial."),
        ("quiet", "-q", "Say nothing but warnings and errors."),
    ):
        command = click.option(
            letter,
            f"--{name}",
            is_flag=True,
            expose_value=False,
            callback=set_verbosity,
            help=words,
        )(command)
    return command


kinds_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(("group", "pair", "odd_one_out", "grid", "review")),
    metavar="NAME",
    help="Kind of question: group, pair, odd_one_out, grid or review; may be given several times.  "
    "[default: group]",
)
seed_option = click.option(
    "--random-state",
    default=0,
    show_default=True,
    type=int,
    metavar="SEED",
    help="Same seed, same result.",
)
auto_count_option = click.option(
    "-k",
    "--clusters",
    default="auto",
    show_default=True,
    type=ClusterCountType(),
    metavar="N|auto",
    help="Number of clusters; auto chooses it.",
)
count_option = click.option(
    "-k",
    "--clusters",
    required=True,
    type=click.IntRange(2),
    metavar="N",
    help="Number of clusters.",
)
preparation_option = click.option(
    "--preparation",
    type=click.Choice(("auto", "none", "standardize", "robust", "unit", "tfidf")),
    default="auto",
    show_default=True,
    metavar="NAME",
    help="standardize scales every column to mean 0 and variance 1 first, robust by quantiles, "
    "unit scales rows to length 1, tfidf is for counts of words, none leaves all unchanged; auto "
    "chooses.",
)


class OutlierShare(click.ParamType):
    """auto, or a share of the rows."""

    name = "share"

    def convert(self, value, param, ctx):
        if value == "auto" or isinstance(value, float):
            return value
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not 0 < share <= 0.5:
            self.fail(f"{value!r} is neither auto nor a share between 0 and 0.5, such as 0.05.")
        return share


def rule_options(command):
    """--min-size, --max-size and --outliers: what clusters must satisfy, whatever the answers."""
    for option in (
        click.option(
            "--outliers",
            type=OutlierShare(),
            metavar="SHARE|auto",
            help="Leave rows out that belong nowhere, in cluster -1: a share of all, or auto.",
        ),
        click.option(
            "--max-size", type=click.IntRange(1), metavar="N", help="Rows of a cluster, at most."
        ),
        click.option(
            "--min-size", type=click.IntRange(1), metavar="N", help="Rows of a cluster, at least."
        ),
    ):
        command = option(command)
    return command
