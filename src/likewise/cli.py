"""The command line: each command is one library call you could make in Python.

Data goes to stdout or to the file that -o names, words and progress to stderr. Every expected
failure is one line and a non-zero exit. Heavy imports happen inside the commands.
"""

import sys
from pathlib import Path

import click

EXPECTED = (ValueError, TypeError, OSError, ImportError)
METHODS = ("sklr", "itml", "kernel-kmeans", "pck-means", "mpck-means", "cop-kmeans")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="likewise")
def commands() -> None:
    """Cluster rows the way people see them, from a few answers about them.

    Start with "likewise demo". An answer file has one answer a line, with the columns kind, a, b, c
    (and weight, annotator, asked_at): kind is must_link, cannot_link, odd_one_out, closer or
    undecided; a, b, c are row numbers from 0, or ids.
    """


@commands.command()
@click.option("-o", "--output", default="demo-output", show_default=True, help="Folder to write.")
@click.option("--answers", default=200, show_default=True, help="How many pairs are answered.")
@click.option("--random-state", default=0, show_default=True, help="Seed.")
def demo(output: str, answers: int, random_state: int) -> None:
    """Cluster handwritten digits before and after some answers."""
    from likewise.experiments.demo import run_demo

    run_demo(Path(output), n_answers=answers, random_state=random_state, say=click.echo)


@commands.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-c",
    "--constraints",
    "answers",
    type=click.Path(exists=True, dir_okay=False),
    help="Answer file: .csv, .jsonl or .parquet.",
)
@click.option("-k", "--clusters", required=True, type=click.IntRange(1), help="How many clusters.")
@click.option("-o", "--output", default="-", help="Clusters: .csv, .parquet or .npy; - is stdout.")
@click.option("--model", type=click.Path(dir_okay=False), help="Also save the fitted model here.")
@click.option("--method", type=click.Choice(METHODS), default="sklr", show_default=True)
@click.option("--standardize", is_flag=True, help="Give every column mean 0 and variance 1 first.")
@click.option("--id-column", help="Column that names the rows.  [default: id, if there is one]")
@click.option("--features", help="Columns to use, separated by commas.  [default: all]")
@click.option("--random-state", default=0, show_default=True, help="Seed: same seed, same result.")
def cluster(
    data: str,
    answers: str | None,
    clusters: int,
    output: str,
    model: str | None,
    method: str,
    standardize: bool,
    id_column: str | None,
    features: str | None,
    random_state: int,
) -> None:
    """Cluster the rows of DATA (.csv, .parquet or .npy), guided by answers."""
    from likewise.constraints import Constraints, check_constraints
    from likewise.datasets.files import read_rows, write_clusters
    from likewise.model_file import save_model

    _check_output(output)
    chosen = None if features is None else [name.strip() for name in features.split(",")]
    rows = read_rows(data, id_column=id_column, features=chosen)
    said = None
    if answers is not None:
        said = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    constraints = check_constraints(said, n_samples=len(rows.X))
    _tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {constraints.n_answers} answers")
    _tell_conflicts(constraints)
    pipeline = _make_pipeline(method, clusters, standardize, random_state)
    last = pipeline.steps[-1][0]
    learner = "space" if "space" in pipeline.named_steps else last
    labels = pipeline.fit_predict(rows.X, **{f"{learner}__constraints": constraints})
    _tell_satisfaction(constraints, labels)
    if model is not None:
        save_model(pipeline, model)
        _tell(f"model in {model}")
    write_clusters(output, labels, rows.ids)


@commands.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", default="-", help="Clusters: .csv, .parquet or .npy; - is stdout.")
@click.option("--id-column", help="Column that names the rows.  [default: id, if there is one]")
@click.option("--features", help="Columns to use, separated by commas.  [default: all]")
def apply(model: str, data: str, output: str, id_column: str | None, features: str | None) -> None:
    """Give the new rows of DATA the clusters of a saved MODEL."""
    from likewise.datasets.files import read_rows, write_clusters
    from likewise.model_file import load_model

    _check_output(output)
    chosen = None if features is None else [name.strip() for name in features.split(",")]
    rows = read_rows(data, id_column=id_column, features=chosen)
    fitted = load_model(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which gives no clusters.")
    write_clusters(output, fitted.predict(rows.X), rows.ids)


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
@click.option("--results", default="results", show_default=True, help="Folder of the runs.")
@click.option("--docs", type=click.Path(file_okay=False), help="Also write tables to pages here.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
def reproduce(
    paper: str, table: str | None, runs: int, results: str, docs: str | None, jobs: int
) -> None:
    """Make the tables of PAPER again, or one TABLE: sklr, or all.

    What the results folder already has is not run again.
    """
    from likewise.experiments.runs import reproduce as run_tables

    pages = None if docs is None else Path(docs)
    folders: dict = {"results": Path(results), "docs": pages}
    run_tables(paper, table, n_runs=runs, n_jobs=jobs, say=click.echo, **folders)


def _make_pipeline(method: str, n_clusters: int, standardize: bool, random_state: int):
    from sklearn.cluster import KMeans
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    import likewise

    steps: list = [("scale", StandardScaler())] if standardize else []
    if method in ("sklr", "itml"):
        learner = likewise.SKLR if method == "sklr" else likewise.ITML
        steps += [("space", learner(random_state=random_state))]
        steps += [("clusters", KMeans(n_clusters, n_init=10, random_state=random_state))]
    else:
        name = {
            "kernel-kmeans": "KernelKMeans",
            "pck-means": "PCKMeans",
            "mpck-means": "MPCKMeans",
            "cop-kmeans": "COPKMeans",
        }[method]
        steps += [("clusters", getattr(likewise, name)(n_clusters, random_state=random_state))]
    return Pipeline(steps)


def _tell(words: str) -> None:
    click.echo(words, err=True)


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


def _check_output(output: str) -> None:
    """Refuse before the work what could not be written after it."""
    if output == "-" and sys.stdout.isatty():  # data goes to stdout only when it is piped
        raise ValueError("Name a file with -o, or pipe the clusters into something.")
    from likewise.datasets.files import check_output_path

    check_output_path(output)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; expected failures are one line on stderr."""
    from likewise.numerics.progress import show_progress

    show_progress()
    try:
        commands.main(args=arguments, prog_name="likewise", standalone_mode=False)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped; nothing was half-written", 130)
    except BrokenPipeError:  # the reader of a pipe went away: head, less
        sys.stderr.close()
        sys.exit(141)
    except EXPECTED as error:
        _fail(" ".join(str(error).split()), 1)


def _fail(message: str, code: int) -> None:
    click.echo(f"likewise: {message}", err=True)
    sys.exit(code)
