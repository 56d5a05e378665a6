"""The command line: each command is one library call you could make in Python.

Data goes to stdout or to the file that -o names, words and progress to stderr. Every expected
failure is one line and a non-zero exit. Heavy imports happen inside the commands.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import click

EXPECTED = (ValueError, TypeError, OSError, ImportError)
FRONT_DOOR = ("auto", "sklr", "itml")  # methods of GuidedClustering, which a report can tell about
MAX_MESSAGE = 600  # letters
MOST_SHOWN = 10  # answers in a table
CLUSTERERS = {
    "kernel-kmeans": "KernelKMeans",
    "pck-means": "PCKMeans",
    "mpck-means": "MPCKMeans",
    "cop-kmeans": "COPKMeans",
}


class ClusterCount(click.ParamType):
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
            self.fail(f"{value!r} is no shape of a picture. Try 8x8, or 32x32x3.", param, ctx)
        return tuple(int(side) for side in sides)


READABLE = click.Path(exists=True, dir_okay=False)
WRITABLE = click.Path(dir_okay=False)
# What several commands take, by the same name and with the same words.
data_argument = click.argument("data", type=READABLE)
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
    help="Column that names the rows.  [default: id, if there is one]",
)
features_option = click.option(
    "--features", metavar="NAMES", help="Columns to use, separated by commas.  [default: all]"
)
seed_option = click.option(
    "--random-state",
    default=0,
    show_default=True,
    type=int,
    metavar="SEED",
    help="Same seed, same result.",
)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 done, 1 something in the files or settings is wrong (one line says "
    "what), 2 the command line is, 130 stopped by Ctrl-C.",
)
@click.version_option(package_name="likewise")
def commands() -> None:
    """Cluster rows the way people see them, from a few answers about them.

    \b
    Start with:  likewise demo
    Your data:   likewise cluster data.csv -c answers.csv -k 10 --report report.html

    An answer file has one answer a line, with the columns kind, a, b, c (and weight, annotator,
    asked_at): kind is must_link, cannot_link, odd_one_out, closer or undecided; a, b, c are row
    numbers from 0, or ids.

    \b
      kind,a,b,c
      must_link,3,17,
      cannot_link,3,42,
      odd_one_out,3,17,42
    """


@commands.command()
@click.option(
    "-o",
    "--output",
    default="demo-output",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder to write.",
)
@click.option(
    "--answers",
    default=200,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="How many pairs are answered.",
)
@seed_option
def demo(output: str, answers: int, random_state: int) -> None:
    """Cluster handwritten digits before and after some answers.

    Takes about a quarter of a minute, needs no data of yours, and leaves a report to look at.
    """
    from likewise.experiments.demo import run_demo

    run_demo(Path(output), n_answers=answers, random_state=random_state, say=click.echo)


@commands.command()
@data_argument
@answers_option
@click.option(
    "-k",
    "--clusters",
    default="auto",
    show_default=True,
    type=ClusterCount(),
    metavar="N|auto",
    help="How many clusters; auto finds out.",
)
@output_option
@click.option("--report", type=WRITABLE, help="Also write what was found as a web page: .html.")
@click.option("--model", type=WRITABLE, help="Also save the fitted model, for likewise apply.")
@click.option(
    "--method",
    type=click.Choice((*FRONT_DOOR, *CLUSTERERS)),
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto tries several spaces and chooses by answers held out; sklr and itml learn one of "
    "their own; kernel-kmeans, pck-means, mpck-means and cop-kmeans cluster with the answers.",
)
@click.option(
    "--standardize/--no-standardize",
    default=None,
    help="Give every column mean 0 and variance 1 first, or not.  "
    "[default: where a few columns drown the others]",
)
@id_option
@features_option
@click.option("--text-column", metavar="NAME", help="Column of text to show in the report.")
@click.option(
    "--engine",
    type=click.Choice(("local", "dask")),
    default="local",
    show_default=True,
    metavar="NAME",
    help="dask reads a .parquet or .npy file block by block, on a Dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Of that cluster, such as tcp://10.0.0.1:8786.  [default: processes on this machine]",
)
@click.option(
    "--image-shape",
    type=ImageShape(),
    metavar="HxW",
    help="Show the rows as pictures in the report, such as 8x8.",
)
@seed_option
def cluster(
    data: str,
    answers: str | None,
    clusters: int | str,
    output: str | None,
    report: str | None,
    model: str | None,
    method: str,
    standardize: bool | None,
    id_column: str | None,
    features: str | None,
    text_column: str | None,
    engine: str,
    scheduler: str | None,
    image_shape: tuple[int, ...] | None,
    random_state: int,
) -> None:
    """Cluster the rows of DATA, guided by answers.

    \b
    likewise cluster data.csv -c answers.csv -k 10 --report report.html
    likewise cluster data.csv -c answers.csv | head
    likewise cluster big.parquet -c answers.csv -k 10 --engine dask

    DATA is a .csv, .parquet or .npy file. Every column must hold numbers, but for one of ids.
    Without answers the rows are clustered as they are.
    """
    output = _check_output(output, data)
    _check_side_files(report, model)
    _check_method(method, clusters, report)
    _check_engine(engine, scheduler, method, data, report)
    if engine == "dask":
        front_door = _make_front_door(method, clusters, standardize, random_state)
        columns = {"id_column": id_column, "features": _names(features)}
        _cluster_on_dask(front_door, data, answers, output, model, scheduler, columns)
        return
    from likewise.constraints import Constraints, check_constraints
    from likewise.datasets.files import read_rows, write_clusters
    from likewise.model_file import save_model
    from likewise.report import write_report

    rows = read_rows(data, id_column=id_column, features=_names(features), text_column=text_column)
    images = None if image_shape is None else _as_images(rows.X, image_shape)
    said = None
    if answers is not None:
        said = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    constraints = check_constraints(said, n_samples=len(rows.X))
    _tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {constraints.n_answers} answers")
    _tell_conflicts(constraints)
    if method in FRONT_DOOR:
        fitted = _make_front_door(method, clusters, standardize, random_state)
        labels = fitted.fit(rows.X, constraints=constraints).labels_
        _tell_choice(fitted, constraints)
    else:
        fitted = _make_pipeline(method, clusters, standardize, random_state)
        labels = fitted.fit_predict(rows.X, clusters__constraints=constraints)
        _tell_satisfaction(constraints, labels)
    if model is not None:
        save_model(fitted, model, feature_names=rows.feature_names)
        _tell(f"model in {model}")
    if report is not None:
        write_report(
            report,
            fitted,
            rows.X,
            constraints=constraints,
            ids=rows.ids,
            images=images,
            texts=rows.texts,
            feature_names=rows.feature_names,
            title=f"{Path(data).stem}: what the answers did",
        )
        _tell(f"report in {report}")
    write_clusters(output, labels, rows.ids)
    if output != "-":
        _tell(f"clusters in {output}")


@commands.command()
@data_argument
@click.option(
    "-c",
    "--constraints",
    "answers",
    required=True,
    type=READABLE,
    help="Answer file: .csv, .jsonl or .parquet.",
)
@click.option(
    "-k",
    "--clusters",
    required=True,
    type=click.IntRange(2),
    metavar="N",
    help="How many clusters.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write what was found: one line an answer to .csv, all of it to .json; - is CSV on "
    "stdout.  [default: stdout when piped, else nowhere]",
)
@click.option(
    "--standardize/--no-standardize",
    default=None,
    help="Give every column mean 0 and variance 1 first, or not.  "
    "[default: where a few columns drown the others]",
)
@id_option
@features_option
@seed_option
def check(
    data: str,
    answers: str,
    clusters: int,
    output: str | None,
    standardize: bool | None,
    id_column: str | None,
    features: str | None,
    random_state: int,
) -> None:
    """Look at the answers before they are used.

    \b
    likewise check data.csv -c answers.csv -k 10
    likewise check data.csv -c answers.csv -k 10 -o checked.json

    Tells which answers contradict others, what each costs the clusters, which are likely wrong and
    which metric fits them best.
    """
    if output is None and not sys.stdout.isatty():
        output = "-"
    from likewise.constraints import Constraints
    from likewise.datasets.files import check_ending, read_rows, write_records
    from likewise.duals import check_answers
    from likewise.guided.features import fit_scaler

    if output is not None:
        check_ending(output, (".csv", ".json"))
    rows = read_rows(data, id_column=id_column, features=_names(features))
    constraints = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    _tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {constraints.n_answers} answers")
    scaler, why = fit_scaler(rows.X, "auto" if standardize is None else standardize)
    _tell(f"features: {why}")
    X = rows.X if scaler is None else scaler.transform(rows.X)
    found = check_answers(X, constraints, clusters, random_state=random_state)
    _show_check(found)
    if output is not None:
        write_records(output, found.rows(), found.to_dict())
        if output != "-":
            _tell(f"all of it in {output}")


@commands.command()
@data_argument
@click.option(
    "--pool",
    required=True,
    type=READABLE,
    help="Answers to choose from: .csv, .jsonl or .parquet.",
)
@click.option(
    "-k",
    "--clusters",
    required=True,
    type=click.IntRange(2),
    metavar="N",
    help="How many clusters.",
)
@click.option(
    "-m",
    "--most",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="How many answers to choose at most.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the chosen answers here: .csv, .jsonl or .parquet; - is CSV on stdout.  "
    "[default: stdout when piped, else nowhere]",
)
@click.option(
    "--strategy",
    type=click.Choice(("active", "online", "random")),
    default="active",
    show_default=True,
    metavar="NAME",
    help="active learns from all chosen answers, online from one after the other, random does "
    "not look.",
)
@click.option("--closure", is_flag=True, help="Skip what the chosen answers imply.")
@click.option("--exact", is_flag=True, help="Try every answer in every round: slower.")
@click.option(
    "--standardize/--no-standardize",
    default=None,
    help="Give every column mean 0 and variance 1 first, or not.  "
    "[default: where a few columns drown the others]",
)
@id_option
@features_option
@seed_option
def select(
    data: str,
    pool: str,
    clusters: int,
    most: int,
    output: str | None,
    strategy: str,
    closure: bool,
    exact: bool,
    standardize: bool | None,
    id_column: str | None,
    features: str | None,
    random_state: int,
) -> None:
    """Choose the few answers of many that the clusters should rest on.

    \b
    likewise select data.csv --pool answers.csv -k 10 -m 50 -o chosen.csv
    likewise cluster data.csv -c chosen.csv -k 10

    It stops early when no answer makes the clusters agree better with all of them.
    """
    if output is None and not sys.stdout.isatty():
        output = "-"
    from likewise.constraints import Constraints
    from likewise.datasets.files import check_ending, read_rows, write_records
    from likewise.guided.features import fit_scaler
    from likewise.selection import select_constraints

    if output not in (None, "-"):
        check_ending(output, (".csv", ".jsonl", ".parquet"))
    rows = read_rows(data, id_column=id_column, features=_names(features))
    answers = Constraints.read(pool, n_samples=len(rows.X), ids=rows.ids)
    _tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {answers.n_answers} answers")
    scaler, why = fit_scaler(rows.X, "auto" if standardize is None else standardize)
    _tell(f"features: {why}")
    X = rows.X if scaler is None else scaler.transform(rows.X)
    found = select_constraints(
        X,
        answers,
        clusters,
        n_select=most,
        strategy=strategy,
        closure=closure,
        exact=exact,
        random_state=random_state,
    )
    _tell_rounds(found, answers)
    if output == "-":
        chosen = (answers.answer(int(at)) for at in found.chosen)
        lines = [
            {"kind": one.kind, **dict(zip("ab", map(answers.row_name, one.points)))}
            for one in chosen
        ]
        write_records("-", lines, {})
    elif output is not None:
        answers.subset(found.chosen).write(output)
        _tell(f"chosen answers in {output}")


@commands.command()
@click.argument("model", type=READABLE)
@data_argument
@output_option
@id_option
@features_option
def apply(
    model: str, data: str, output: str | None, id_column: str | None, features: str | None
) -> None:
    """Give the new rows of DATA the clusters of a saved MODEL.

    \b
    likewise cluster data.csv -c answers.csv -k 10 --model m.likewise
    likewise apply m.likewise new-rows.csv -o new-clusters.csv

    Columns are found by the names they had when the model was fitted, in any order; --features
    gives other names for them. Rows without names (.npy) must have the same columns in the same
    order.
    """
    output = _check_output(output, data)
    from likewise.datasets.files import read_rows, write_clusters
    from likewise.model_file import feature_names_of, load_model

    names = _names(features)
    if names is None and not data.lower().endswith(".npy"):
        names = feature_names_of(model)
    fitted = load_model(model)
    rows = read_rows(data, id_column=id_column, features=names)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which gives no clusters.")
    write_clusters(output, fitted.predict(rows.X), rows.ids)
    if output != "-":
        _tell(f"clusters in {output}")


@commands.command()
@click.argument("paper")
@click.argument("table", required=False)
@click.option(
    "--runs",
    default=3,
    show_default=True,
    type=click.IntRange(0),
    help="Repetitions; 0 tells what was run before.",
)
@click.option(
    "--results",
    default="results",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder of the runs.",
)
@click.option("--docs", type=click.Path(file_okay=False), help="Also write tables to pages here.")
@click.option(
    "--jobs", default=1, show_default=True, metavar="N", help="Processes; -1 is one a core."
)
def reproduce(
    paper: str, table: str | None, runs: int, results: str, docs: str | None, jobs: int
) -> None:
    """Make the tables of PAPER again, or one TABLE.

    \b
    likewise reproduce sklr --runs 3
    likewise reproduce all --runs 0

    PAPER is the name of a page in docs/experiments, or all; a name that is none of them is answered
    with those there are. What the results folder already has is not run again.
    """
    from likewise.experiments.runs import reproduce as run_tables

    pages = None if docs is None else Path(docs)
    folders: dict = {"results": Path(results), "docs": pages}
    run_tables(paper, table, n_runs=runs, n_jobs=jobs, say=click.echo, **folders)


def _cluster_on_dask(
    front_door,
    data: str,
    answers: str | None,
    output: str,
    model: str | None,
    scheduler: str | None,
    columns: dict,
) -> None:
    """The front door over blocks, which the workers of a cluster read, map and assign."""
    from joblib import parallel_config

    from likewise.constraints import Constraints, check_constraints
    from likewise.datasets.files import write_clusters
    from likewise.model_file import save_model
    from likewise.scale import connect
    from likewise.scale.files import open_rows

    with connect(scheduler) as client, parallel_config("dask"):
        blocks, ids, names = open_rows(data, client=client, **columns)
        n_rows, n_features = blocks.shape
        said = None if answers is None else Constraints.read(answers, n_samples=n_rows, ids=ids)
        constraints = check_constraints(said, n_samples=n_rows)
        where = f"in {len(blocks)} blocks, {len(client.nthreads())} workers"
        _tell(f"{n_rows} rows, {n_features} features, {constraints.n_answers} answers; {where}")
        _tell_conflicts(constraints)
        fitted = front_door.fit(blocks, constraints=constraints)
    _tell_choice(fitted, constraints)
    if model is not None:
        save_model(fitted, model, feature_names=names)
        _tell(f"model in {model}")
    write_clusters(output, fitted.labels_, ids)
    if output != "-":
        _tell(f"clusters in {output}")


def _make_front_door(method: str, n_clusters: int | str, standardize: bool | None, seed: int):
    from likewise.guided import GuidedClustering
    from likewise.kernel_learning import SKLR
    from likewise.metric_learning import ITML

    learners = {"sklr": SKLR, "itml": ITML}
    learner = "auto" if method == "auto" else learners[method](random_state=seed)
    scale = "auto" if standardize is None else standardize
    return GuidedClustering(n_clusters, learner=learner, scale=scale, random_state=seed)


def _make_pipeline(method: str, n_clusters: int | str, standardize: bool | None, seed: int):
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    import likewise

    clusterer = getattr(likewise, CLUSTERERS[method])(n_clusters, random_state=seed)
    scale = [("scale", StandardScaler())] if standardize else []
    return Pipeline([*scale, ("clusters", clusterer)])


def _names(features: str | None) -> list[str] | None:
    return None if features is None else [name.strip() for name in features.split(",")]


def _as_images(X, shape: tuple[int, ...]):
    import math

    if math.prod(shape) != X.shape[1]:
        told = "x".join(map(str, shape))
        raise ValueError(
            f"--image-shape {told} takes {math.prod(shape)} numbers a row, but there are "
            f"{X.shape[1]} features. Give the height and width of your pictures."
        )
    return X.reshape(len(X), *shape)


def _tell(words: str) -> None:
    click.echo(words, err=True)


def _show_check(found) -> None:
    """The account of the answers as tables, on stderr."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True, soft_wrap=True)
    _tell(f"{len(found.conflicts)} answers contradict others")
    for conflict in found.conflicts[:MOST_SHOWN]:
        _tell(f"  {conflict}")
    describe, prices = found.constraints.describe, found.prices
    n_held = int(prices.satisfied.sum())
    _tell(f"{n_held} of {len(prices.prices)} answers hold without help")
    suspects = found.suspects.positions
    table = Table("likely wrong", "doubt", "price", box=box.SIMPLE, title_justify="left")
    for at in suspects[:MOST_SHOWN]:
        score, price = found.suspects.scores[at], prices.prices[at]
        table.add_row(describe(int(at)), f"{score:.2f}", f"{price:.3g}")
    if len(suspects):
        _tell(f"{len(suspects)} answers look wrong to the others; the most doubtful:")
        console.print(table, markup=False)
    else:
        _tell("no answer looks wrong to the others")
    if found.fitness is not None:
        table = Table("metric", "pairs that cost nothing", "best of sets", box=box.SIMPLE)
        fitness = found.fitness
        for name, share, win in zip(fitness.names, fitness.shares, fitness.wins):
            table.add_row(name, f"{share:.1%}", f"{win:.0%}")
        console.print(table)


def _tell_rounds(found, pool) -> None:
    """What was chosen, round by round, on stderr."""
    _tell(f"agreement with all answers: {found.qualities[0]:.1%} before")
    for at, quality in zip(found.chosen[:MOST_SHOWN], found.qualities[1:]):
        _tell(f"  {quality:.1%} with {pool.describe(int(at))}")
    if len(found.chosen) > MOST_SHOWN:
        _tell(f"  {found.qualities[-1]:.1%} with {len(found.chosen) - MOST_SHOWN} more")
    if not len(found.chosen):
        _tell("no answer makes it better")


def _tell_conflicts(constraints) -> None:
    conflicts = constraints.conflicts()
    if conflicts:
        _tell(f"{len(conflicts)} answers contradict others; the first:")
        for conflict in conflicts[:3]:
            _tell(f"  {conflict}")


def _tell_satisfaction(constraints, labels) -> None:
    from likewise.evaluation import satisfaction_score

    if len(constraints.signed_pairs()[0]):
        share = satisfaction_score(constraints, labels=labels).share
        _tell(f"{share:.1%} of the pairs hold in the clusters")


def _tell_choice(fitted, constraints) -> None:
    """What the front door found, in a few lines."""
    report = fitted.report_
    _tell(f"features: {report.why_scaled}")
    _tell(f"space: {report.why}")
    _tell(f"clusters: {report.why_n_clusters}")
    if report.satisfied == report.satisfied:  # not nan: some answer could be judged
        _tell(
            f"answers that hold: {report.satisfied_before:.0%} before, {report.satisfied:.0%} now"
        )
    if len(fitted.suspects_):
        first = constraints.describe(int(fitted.suspects_[0]))
        _tell(f"{len(fitted.suspects_)} answers look wrong; the first: {first}")


def _check_output(output: str | None, data: str) -> str:
    """Where the clusters go; refuse before the work what could not be written after it."""
    from likewise.datasets.files import check_output_path

    if output is None and not sys.stdout.isatty():
        output = "-"
    elif output is None:
        output = f"{Path(data).stem}-clusters.csv"
        if Path(output).exists():
            raise ValueError(f"{output} is there already. Name a file to write with -o.")
    elif output == "-" and sys.stdout.isatty():  # data goes to stdout only when it is piped
        raise ValueError("Name a file with -o, or pipe the clusters into something.")
    check_output_path(output)
    return output


def _check_side_files(report: str | None, model: str | None) -> None:
    if report is not None and Path(report).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report {report} must end in .html.")
    for path in (report, model):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"{Path(path).parent} does not exist. Make the folder first.")


def _check_method(method: str, n_clusters: int | str, report: str | None) -> None:
    if method in FRONT_DOOR:
        return
    doors = f"--method {', '.join(FRONT_DOOR[:-1])} or {FRONT_DOOR[-1]}"
    if n_clusters == "auto":
        raise click.UsageError(f"{method} needs to know how many clusters: -k 10. Or use {doors}.")
    if report is not None:
        raise click.UsageError(f"{method} has nothing to report. Use {doors}.")


def _check_engine(
    engine: str, scheduler: str | None, method: str, data: str, report: str | None
) -> None:
    if engine != "dask":
        if scheduler is not None:
            raise click.UsageError("--scheduler is for --engine dask.")
        return
    if method not in FRONT_DOOR:
        raise click.UsageError(f"{method} needs all rows in memory. Use --engine local.")
    if report is not None:
        raise click.UsageError("A report needs all rows in memory. Use --engine local.")
    if Path(data).suffix.lower() not in (".parquet", ".npy"):
        raise click.UsageError("--engine dask reads .parquet and .npy files.")


def main(arguments: list[str] | None = None) -> None:
    """Run a command; expected failures are one line on stderr."""
    from likewise.numerics.progress import show_progress

    show_progress()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warning_teller()
            commands.main(args=arguments, prog_name="likewise", standalone_mode=False)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped; nothing was half-written", 130)
    except BrokenPipeError:  # the reader of a pipe went away: head, less
        sys.stderr.close()
        sys.exit(141)
    except MemoryError as error:
        _fail(f"not enough memory: {error}" if str(error) else "not enough memory", 1)
    except EXPECTED as error:
        _fail(str(error), 1)


def _warning_teller():
    """A warning is one line, told once."""
    told = set()

    def tell(message, category, filename, lineno, file=None, line=None) -> None:
        words = f"warning: {_one_line(message)}"
        if words not in told:
            told.add(words)
            _tell(words)

    return tell


def _one_line(message) -> str:
    """Single spaces, and no more than a few lines of a terminal: a cell can hold a novel."""
    words = " ".join(str(message).split())
    return words if len(words) <= MAX_MESSAGE else f"{words[:MAX_MESSAGE]} ..."


def _fail(message: str, code: int) -> None:
    click.echo(f"likewise: {_one_line(message)}", err=True)
    sys.exit(code)
