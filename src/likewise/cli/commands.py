"""The commands themselves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from likewise.cli.messages import (
    print_check,
    print_choice,
    print_conflicts,
    print_files,
    print_message,
    print_rounds,
    print_satisfaction,
)
from likewise.cli.options import (
    CLUSTERERS,
    GUIDED,
    READABLE,
    WRITABLE,
    ImageShape,
    answers_option,
    auto_count_option,
    count_option,
    data_argument,
    features_option,
    id_option,
    output_option,
    preparation_option,
    seed_option,
)
from likewise.cli.refusals import (
    check_engine,
    check_files,
    check_method,
    check_model_extension,
    check_model_first,
    check_output,
    check_side_files,
)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 success, 1 an error in the files or settings (described in one line), "
    "2 an error in the command line, 130 stopped by Ctrl-C.",
)
@click.version_option(package_name="likewise")
def commands() -> None:
    """Cluster rows the way people see them, from a few answers about them.

    \b
    Start with:  likewise demo
    Your data:   likewise cluster data.csv -c answers.csv -k 10 --report report.html

    An answer file has one answer per line, with the columns kind, a, b, c (and optionally weight,
    annotator, asked_at). kind is must_link, cannot_link, odd_one_out, closer or undecided; a, b, c
    are row numbers starting at 0, or IDs.

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
    help="Output folder.",
)
@click.option(
    "--answers",
    default=200,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Number of answered pairs.",
)
@seed_option
def demo(output: str, answers: int, random_state: int) -> None:
    """Cluster handwritten digits before and after some answers.

    Takes about 15 seconds, uses bundled data, and writes a report to open in your browser.
    """
    from likewise.cli.demo import run_demo

    run_demo(Path(output), n_answers=answers, random_state=random_state, say=click.echo)


@commands.command()
@data_argument
@answers_option
@auto_count_option
@output_option
@click.option("--report", type=WRITABLE, help="Also write an HTML report of the results.")
@click.option("--model", type=WRITABLE, help="Also save the fitted model, for likewise apply.")
@click.option(
    "--method",
    type=click.Choice((*GUIDED, *CLUSTERERS)),
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto tries several learned spaces and keeps the one that best predicts held-out answers; "
    "sklr and itml each learn one space; kernel-kmeans, pck-means, mpck-means and cop-kmeans use "
    "the answers while clustering.",
)
@preparation_option
@id_option
@features_option
@click.option("--text-column", metavar="NAME", help="Column of text to show in the report.")
@click.option(
    "--engine",
    type=click.Choice(("local", "dask")),
    default="local",
    show_default=True,
    metavar="NAME",
    help="dask reads a .parquet or .npy file in blocks, on a Dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Address of the Dask cluster, such as tcp://10.0.0.1:8786.  "
    "[default: processes on this machine]",
)
@click.option(
    "--image-shape",
    type=ImageShape(),
    metavar="HxW",
    help="Show the rows as images of this shape in the report, such as 8x8.",
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
    preparation: str,
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

    DATA is a .csv, .parquet or .npy file. All columns must be numeric, except an optional ID
    column. Without answers the rows are clustered by their features alone.
    """
    output = check_output(output, data)
    check_side_files(report, model)
    check_files({"DATA": data, "-c": answers}, {"-o": output, "--report": report, "--model": model})
    check_model_extension(model)
    check_method(method, clusters, report)
    check_engine(engine, scheduler, method, data, report)
    if engine == "dask":
        unfitted = _make_guided(method, clusters, preparation, random_state)
        columns = {"id_column": id_column, "features": _names(features)}
        _cluster_on_dask(unfitted, data, answers, output, model, scheduler, columns)
        return
    from likewise.constraints import Constraints
    from likewise.files.row_file import read_rows, write_clusters
    from likewise.model_file import save_model
    from likewise.report import write_report

    rows = read_rows(data, id_column=id_column, features=_names(features), text_column=text_column)
    images = None if image_shape is None else _as_images(rows.X, image_shape)
    constraints = Constraints(len(rows.X))
    if answers is not None:
        constraints = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    print_message(_size(rows.X.shape, constraints))
    print_conflicts(constraints)
    if method in GUIDED:
        fitted = _make_guided(method, clusters, preparation, random_state)
        labels = fitted.fit(rows.X, constraints=constraints).labels_
        print_choice(fitted, constraints)
    else:
        fitted = _make_pipeline(method, clusters, preparation, random_state)
        labels = fitted.fit_predict(rows.X, clusters__constraints=constraints)
        print_satisfaction(constraints, labels)
    with _all_or_none():
        if model is not None:
            save_model(fitted, model, feature_names=rows.feature_names)
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
        write_clusters(output, labels, rows.ids)
    print_files(model=model, report=report, clusters=output)


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
@auto_count_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the results: one line per answer (.csv), or everything (.json); - is CSV on "
    "stdout.  [default: stdout when piped, else no file]",
)
@preparation_option
@id_option
@features_option
@seed_option
def check(
    data: str,
    answers: str,
    clusters: int | str,
    output: str | None,
    preparation: str,
    id_column: str | None,
    features: str | None,
    random_state: int,
) -> None:
    """Check the answers before you use them.

    \b
    likewise check data.csv -c answers.csv -k 10
    likewise check data.csv -c answers.csv -k 10 -o checked.json

    Shows which answers contradict each other, how much each one costs the clustering, which are
    doubtful, and which metric fits them best.
    """
    if output is None and not sys.stdout.isatty():
        output = "-"
    from likewise.constraints import Constraints
    from likewise.files.row_file import check_ending, read_rows, write_records
    from likewise.guided import check_answers

    if output is not None:
        check_ending(output, (".csv", ".json"))
    check_files({"DATA": data, "-c": answers}, {"-o": output})
    rows = read_rows(data, id_column=id_column, features=_names(features))
    constraints = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    print_message(_size(rows.X.shape, constraints))
    checked = check_answers(
        rows.X, constraints, clusters, preparation=preparation, random_state=random_state
    )
    print_message(f"features: {checked.why_prepared}")
    print_check(checked)
    if output is not None:
        write_records(output, checked.rows(), checked.to_dict())
        if output != "-":
            print_message(f"wrote all results to {output}")


@commands.command()
@data_argument
@click.option(
    "--pool",
    required=True,
    type=READABLE,
    help="Answers to choose from: .csv, .jsonl or .parquet.",
)
@count_option
@click.option(
    "-m",
    "--most",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of answers to choose.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the chosen answers here: .csv, .jsonl or .parquet; - is CSV on stdout.  "
    "[default: stdout when piped, else no file]",
)
@click.option(
    "--strategy",
    type=click.Choice(("active", "online", "random")),
    default="active",
    show_default=True,
    metavar="NAME",
    help="active retrains on all chosen answers in every round, online updates with one answer at "
    "a time, random chooses blindly.",
)
@click.option("--closure", is_flag=True, help="Skip answers that the chosen ones already imply.")
@click.option("--exact", is_flag=True, help="Try every answer in every round (slower).")
@preparation_option
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
    preparation: str,
    id_column: str | None,
    features: str | None,
    random_state: int,
) -> None:
    """Choose the most useful answers from a large pool.

    \b
    likewise select data.csv --pool answers.csv -k 10 -m 50 -o chosen.csv
    likewise cluster data.csv -c chosen.csv -k 10

    Stops early when no further answer improves the agreement of the clusters with the pool.
    """
    if output is None and not sys.stdout.isatty():
        output = "-"
    from likewise.constraints import Constraints
    from likewise.files.row_file import check_ending, read_rows, write_records
    from likewise.guided import fit_scaler
    from likewise.selection import select_constraints

    if output not in (None, "-"):
        check_ending(output, (".csv", ".jsonl", ".parquet"))
    check_files({"DATA": data, "--pool": pool}, {"-o": output})
    rows = read_rows(data, id_column=id_column, features=_names(features))
    answers = Constraints.read(pool, n_samples=len(rows.X), ids=rows.ids)
    print_message(_size(rows.X.shape, answers))
    scaler, why = fit_scaler(rows.X, preparation)
    print_message(f"features: {why}")
    X = rows.X if scaler is None else scaler.transform(rows.X)
    selected = select_constraints(
        X,
        answers,
        clusters,
        n_select=most,
        strategy=strategy,
        closure=closure,
        exact=exact,
        random_state=random_state,
    )
    print_rounds(selected, answers)
    if output == "-":
        chosen = (answers.answer(int(at)) for at in selected.chosen)
        lines = [
            {"kind": answer.kind, **dict(zip("ab", map(answers.row_name, answer.points)))}
            for answer in chosen
        ]
        write_records("-", lines, {})
    elif output is not None:
        answers.subset(selected.chosen).write(output)
        print_message(f"wrote the chosen answers to {output}")


@commands.command()
@click.argument("model", type=READABLE)
@data_argument
@output_option
@id_option
@features_option
def apply(
    model: str, data: str, output: str | None, id_column: str | None, features: str | None
) -> None:
    """Assign the rows of DATA to the clusters of a saved MODEL.

    \b
    likewise cluster data.csv -c answers.csv -k 10 --model m.likewise
    likewise apply m.likewise new-rows.csv -o new-clusters.csv

    Columns are matched by the names they had when the model was fitted, in any order; --features
    names other columns to use instead. A file without column names (.npy) must have the same
    columns in the same order.
    """
    check_model_first(model, data)
    output = check_output(output, data)
    check_files({"MODEL": model, "DATA": data}, {"-o": output})
    from likewise.files.row_file import read_rows, write_clusters
    from likewise.model_file import feature_names_of, load_model

    names = _names(features)
    if names is None and not data.lower().endswith(".npy"):
        names = feature_names_of(model)
    fitted = load_model(model)
    rows = read_rows(data, id_column=id_column, features=names)
    if not hasattr(fitted, "predict"):
        raise ValueError(
            f"{model} contains a fitted {type(fitted).__name__}, which has no clusters. "
            "Use a model saved by likewise cluster."
        )
    write_clusters(output, fitted.predict(rows.X), rows.ids)
    print_files(clusters=output)


def _cluster_on_dask(
    unfitted,
    data: str,
    answers: str | None,
    output: str,
    model: str | None,
    scheduler: str | None,
    columns: dict,
) -> None:
    """Fit GuidedClustering to blocks that the workers of a Dask cluster read, map and assign."""
    from joblib import parallel_config

    from likewise.constraints import Constraints
    from likewise.files.row_file import write_clusters
    from likewise.model_file import save_model
    from likewise.scale import connect, open_rows

    with connect(scheduler) as client, parallel_config("dask"):
        opened = open_rows(data, client=client, **columns)
        blocks, ids, names = opened.blocks, opened.ids, opened.feature_names
        n_rows = blocks.shape[0]
        constraints = Constraints(n_rows)
        if answers is not None:
            constraints = Constraints.read(answers, n_samples=n_rows, ids=ids)
        where = f"in {len(blocks)} blocks, {len(client.nthreads())} workers"
        print_message(f"{_size(blocks.shape, constraints)}; {where}")
        print_conflicts(constraints)
        fitted = unfitted.fit(blocks, constraints=constraints)
    print_choice(fitted, constraints)
    with _all_or_none():
        if model is not None:
            save_model(fitted, model, feature_names=names)
        write_clusters(output, fitted.labels_, ids)
    print_files(model=model, clusters=output)


@contextmanager
def _all_or_none() -> Iterator[None]:
    """Write the files of a command together, even if the reader of stdout has stopped reading."""
    from likewise.files.atomic_file import replacing_together

    reader_left = None
    with replacing_together():
        try:
            yield
        except BrokenPipeError as error:  # head and less stop reading early
            reader_left = error
    if reader_left is not None:
        raise reader_left


def _make_guided(method: str, n_clusters: int | str, preparation: str, seed: int):
    from likewise.guided import GuidedClustering
    from likewise.kernel_learning import SKLR
    from likewise.metric_learning import ITML

    learners = {"sklr": SKLR, "itml": ITML}
    learner = "auto" if method == "auto" else learners[method](random_state=seed)
    return GuidedClustering(n_clusters, learner=learner, preparation=preparation, random_state=seed)


def _make_pipeline(method: str, n_clusters: int | str, preparation: str, seed: int):
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    import likewise

    clusterer = getattr(likewise, CLUSTERERS[method])(n_clusters, random_state=seed)
    scaler = [("scaler", StandardScaler())] if preparation == "standardize" else []
    return Pipeline([*scaler, ("clusters", clusterer)])


def _size(shape: tuple[int, ...], constraints) -> str:
    return f"{shape[0]} rows, {shape[1]} features, {constraints.n_answers} answers"


def _names(features: str | None) -> list[str] | None:
    return None if features is None else [name.strip() for name in features.split(",")]


def _as_images(X, shape: tuple[int, ...]):
    import math

    if math.prod(shape) != X.shape[1]:
        given = "x".join(map(str, shape))
        raise ValueError(
            f"--image-shape {given} needs {math.prod(shape)} features per row, but there are "
            f"{X.shape[1]}. Use the height and width of your images."
        )
    return X.reshape(len(X), *shape)
