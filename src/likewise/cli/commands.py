"""The commands themselves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from likewise.cli.checks import (
    check_engine,
    check_files,
    check_method,
    check_model_first,
    check_output,
    check_side_files,
)
from likewise.cli.options import (
    CLUSTERERS,
    FRONT_DOOR,
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
from likewise.cli.words import (
    show_check,
    tell,
    tell_choice,
    tell_conflicts,
    tell_files,
    tell_rounds,
    tell_satisfaction,
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
    from likewise.cli.demo import run_demo

    run_demo(Path(output), n_answers=answers, random_state=random_state, say=click.echo)


@commands.command()
@data_argument
@answers_option
@auto_count_option
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

    DATA is a .csv, .parquet or .npy file. Every column must hold numbers, but for one of ids.
    Without answers the rows are clustered as they are.
    """
    output = check_output(output, data)
    check_side_files(report, model)
    check_files({"DATA": data, "-c": answers}, {"-o": output, "--report": report, "--model": model})
    check_method(method, clusters, report)
    check_engine(engine, scheduler, method, data, report)
    if engine == "dask":
        front_door = _make_front_door(method, clusters, preparation, random_state)
        columns = {"id_column": id_column, "features": _names(features)}
        _cluster_on_dask(front_door, data, answers, output, model, scheduler, columns)
        return
    from likewise.constraints import Constraints, check_constraints
    from likewise.files.row_file import read_rows, write_clusters
    from likewise.model_file import save_model
    from likewise.report import write_report

    rows = read_rows(data, id_column=id_column, features=_names(features), text_column=text_column)
    images = None if image_shape is None else _as_images(rows.X, image_shape)
    said = None
    if answers is not None:
        said = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    constraints = check_constraints(said, n_samples=len(rows.X))
    tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {constraints.n_answers} answers")
    tell_conflicts(constraints)
    if method in FRONT_DOOR:
        fitted = _make_front_door(method, clusters, preparation, random_state)
        labels = fitted.fit(rows.X, constraints=constraints).labels_
        tell_choice(fitted, constraints)
    else:
        fitted = _make_pipeline(method, clusters, preparation, random_state)
        labels = fitted.fit_predict(rows.X, clusters__constraints=constraints)
        tell_satisfaction(constraints, labels)
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
    tell_files(model=model, report=report, clusters=output)


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
    help="Write what was found: one line an answer to .csv, all of it to .json; - is CSV on "
    "stdout.  [default: stdout when piped, else nowhere]",
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
    """Look at the answers before they are used.

    \b
    likewise check data.csv -c answers.csv -k 10
    likewise check data.csv -c answers.csv -k 10 -o checked.json

    Tells which answers contradict others, what each costs the clusters, which are doubtful and
    which metric fits them best.
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
    tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {constraints.n_answers} answers")
    found = check_answers(
        rows.X, constraints, clusters, preparation=preparation, random_state=random_state
    )
    tell(f"features: {found.why_prepared}")
    show_check(found)
    if output is not None:
        write_records(output, found.rows(), found.to_dict())
        if output != "-":
            tell(f"all of it in {output}")


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
    """Choose the few answers of many that the clusters should rest on.

    \b
    likewise select data.csv --pool answers.csv -k 10 -m 50 -o chosen.csv
    likewise cluster data.csv -c chosen.csv -k 10

    It stops early when no answer makes the clusters agree better with all of them.
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
    tell(f"{len(rows.X)} rows, {rows.X.shape[1]} features, {answers.n_answers} answers")
    scaler, why = fit_scaler(rows.X, preparation)
    tell(f"features: {why}")
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
    tell_rounds(found, answers)
    if output == "-":
        chosen = (answers.answer(int(at)) for at in found.chosen)
        lines = [
            {"kind": one.kind, **dict(zip("ab", map(answers.row_name, one.points)))}
            for one in chosen
        ]
        write_records("-", lines, {})
    elif output is not None:
        answers.subset(found.chosen).write(output)
        tell(f"chosen answers in {output}")


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
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which gives no clusters.")
    write_clusters(output, fitted.predict(rows.X), rows.ids)
    tell_files(clusters=output)


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
    from likewise.files.row_file import write_clusters
    from likewise.model_file import save_model
    from likewise.scale import connect
    from likewise.scale.open_rows import open_rows

    with connect(scheduler) as client, parallel_config("dask"):
        blocks, ids, names = open_rows(data, client=client, **columns)
        n_rows, n_features = blocks.shape
        said = None if answers is None else Constraints.read(answers, n_samples=n_rows, ids=ids)
        constraints = check_constraints(said, n_samples=n_rows)
        where = f"in {len(blocks)} blocks, {len(client.nthreads())} workers"
        tell(f"{n_rows} rows, {n_features} features, {constraints.n_answers} answers; {where}")
        tell_conflicts(constraints)
        fitted = front_door.fit(blocks, constraints=constraints)
    tell_choice(fitted, constraints)
    with _all_or_none():
        if model is not None:
            save_model(fitted, model, feature_names=names)
        write_clusters(output, fitted.labels_, ids)
    tell_files(model=model, clusters=output)


@contextmanager
def _all_or_none() -> Iterator[None]:
    """The files of a command take their places together, also when stdout's reader has left."""
    from likewise.files.atomic_file import replacing_together

    reader_left = None
    with replacing_together():
        try:
            yield
        except BrokenPipeError as error:  # head and less stop when they have seen enough
            reader_left = error
    if reader_left is not None:
        raise reader_left


def _make_front_door(method: str, n_clusters: int | str, preparation: str, seed: int):
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
