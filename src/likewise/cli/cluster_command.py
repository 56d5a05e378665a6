"""likewise cluster: rows and answers in, clusters out, on this machine or on a Dask cluster."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from likewise.cli.messages import (
    print_choice,
    print_conflicts,
    print_files,
    print_satisfaction,
    print_size,
)
from likewise.cli.options import (
    CLUSTERERS,
    GUIDED,
    WRITABLE,
    ImageShape,
    answers_option,
    auto_count_option,
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
    check_output,
    check_side_files,
)


@click.command()
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
    features: list[str] | None,
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
        columns = {"id_column": id_column, "features": features}
        _cluster_on_dask(unfitted, data, answers, output, model, scheduler, columns)
        return
    from likewise.constraints import Constraints
    from likewise.files.row_file import read_rows, write_clusters
    from likewise.model_file import save_model
    from likewise.report import write_report

    rows = read_rows(data, id_column=id_column, features=features, text_column=text_column)
    images = None if image_shape is None else _as_images(rows.X, image_shape)
    constraints = Constraints(len(rows.X))
    if answers is not None:
        constraints = Constraints.read(answers, n_samples=len(rows.X), ids=rows.ids)
    print_size(rows.X.shape, constraints)
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
        where = f"; in {len(blocks)} blocks, {len(client.nthreads())} workers"
        print_size(blocks.shape, constraints, where)
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


def _as_images(X, shape: tuple[int, ...]):
    if math.prod(shape) != X.shape[1]:
        given = "x".join(map(str, shape))
        raise ValueError(
            f"--image-shape {given} needs {math.prod(shape)} features per row, but there are "
            f"{X.shape[1]}. Use the height and width of your images."
        )
    return X.reshape(len(X), *shape)
