"""likewise cluster: rows and answers in, clusters out, on this machine or on a Dask cluster."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from likewise.cli.cluster_names import cluster_names_of, read_cluster_names
from likewise.cli.data_rows import ColumnChoice, print_columns, read_answers, read_data
from likewise.cli.messages import (
    print_choice,
    print_conflicts,
    print_files,
    print_json,
    print_satisfaction,
    print_size,
)
from likewise.cli.options import (
    CLUSTERERS,
    GUIDED,
    READABLE,
    WRITABLE,
    ImageShape,
    answers_option,
    as_image_option,
    auto_count_option,
    column_options,
    data_argument,
    embed_option,
    id_option,
    json_option,
    output_option,
    preparation_option,
    rule_options,
    seed_option,
    verbosity_options,
)
from likewise.cli.refusals import (
    check_engine,
    check_files,
    check_method,
    check_model_extension,
    check_output,
    check_rules,
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
    help="auto tries several ways to learn, and weighs them by how well they predict held-out "
    "answers; sklr and itml each learn one space; kernel-kmeans, pck-means, mpck-means and "
    "cop-kmeans use the answers while clustering.",
)
@click.option(
    "--names",
    type=READABLE,
    help="Your own names of clusters: a file with the columns cluster,name, or id,name to name the "
    "cluster that a row is in. They are kept in the clusters, the report and the model.",
)
@rule_options
@preparation_option
@id_option
@column_options
@as_image_option
@embed_option
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
@json_option
@verbosity_options
def cluster(
    data: str,
    answers: str | None,
    clusters: int | str,
    output: str | None,
    report: str | None,
    model: str | None,
    method: str,
    names: str | None,
    min_size: int | None,
    max_size: int | None,
    outliers: str | float | None,
    preparation: str,
    id_column: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
    as_text: list[str] | None,
    as_category: list[str] | None,
    as_image: str | None,
    by_network: bool,
    text_column: str | None,
    engine: str,
    scheduler: str | None,
    image_shape: tuple[int, ...] | None,
    random_state: int,
    as_json: bool,
) -> None:
    """Cluster the rows of DATA, guided by answers.

    \b
    likewise cluster data.csv -c answers.csv -k 10 --report report.html
    likewise cluster customers.parquet --exclude region --report report.html
    likewise cluster tickets.csv --as-text body | head
    likewise cluster photos/ -k 5 --report report.html
    likewise cluster big.parquet -c answers.csv -k 10 --engine dask

    DATA is a table: .csv, .tsv, .jsonl (also .gz), .parquet, .feather, .npy, or - for stdin. Its
    columns are numbers, yes or no, categories, dates or free text, with gaps. Columns that look
    like ids, indexes, labels or constants are left out and named. Or DATA is a folder of images or
    of texts, at any depth, whose rows are named by their files. Without answers the rows are
    clustered by their features alone. Answers are pairs and triples, or labels of some rows
    (id,label).
    """
    output = check_output(output, data, as_json)
    check_side_files(report, model)
    check_files(
        {"DATA": data, "-c": answers, "--names": names},
        {"-o": output, "--report": report, "--model": model},
    )
    check_model_extension(model)
    check_method(method, clusters, report, names)
    rules = check_rules(method, min_size, max_size, outliers)
    check_engine(engine, scheduler, method, data, report)
    choice = ColumnChoice(features, exclude, as_text, as_category)
    if engine == "dask":
        if exclude or as_text or as_category or as_image or by_network:
            raise click.UsageError("--engine dask takes columns of numbers. Name them: --features.")
        unfitted = _make_guided(method, clusters, preparation, random_state).set_params(**rules)
        chosen = {"id_column": id_column, "features": features}
        _cluster_on_dask(unfitted, data, answers, output, model, scheduler, chosen, names)
        return
    from likewise.files.cluster_file import write_clusters
    from likewise.model_file import save_model
    from likewise.report import write_report

    data_rows = read_data(
        data, id_column, choice, text_column, as_image=as_image, by_network=by_network
    )
    images = None if report is None else data_rows.images()
    if image_shape is not None:
        images = _as_images(data_rows.numbers(), image_shape)
    constraints = read_answers(answers, data_rows)
    print_size(data_rows.shape, constraints)
    print_columns(data_rows)
    print_conflicts(constraints)
    if method in GUIDED:
        fitted = _make_guided(method, clusters, preparation, random_state).set_params(**rules)
        if data_rows.features is not None:
            fitted.set_params(features=data_rows.features)
        labels = fitted.fit(data_rows.rows, constraints=constraints).labels_
        print_choice(fitted, constraints)
        if names is not None:
            k, ids = fitted.n_clusters_, data_rows.ids
            fitted.cluster_names_ = read_cluster_names(names, labels, k, ids, data_rows.id_column)
    else:
        fitted = _make_pipeline(method, clusters, preparation, random_state, data_rows.features)
        fitted[-1].set_params(**rules)
        labels = fitted.fit_predict(data_rows.rows, clusters__constraints=constraints)
        print_satisfaction(constraints, labels)
    with _all_or_none():
        if model is not None:
            columns = data_rows.feature_names
            columns = [as_image] if as_image is not None else columns
            whole = data_rows.with_encoder(fitted)
            save_model(whole, model, feature_names=columns, id_column=data_rows.id_column)
        if report is not None:
            write_report(
                report,
                fitted,
                data_rows.rows,
                constraints=constraints,
                ids=data_rows.ids,
                images=images,
                texts=data_rows.texts,
                feature_names=data_rows.feature_names,
                title=f"{_title_of(data)}: what the answers did",
            )
        write_clusters(
            output,
            data_rows.output_labels(labels),
            *data_rows.output_ids,
            cluster_names_of(fitted),
        )
    print_files(model=model, report=report, clusters=output)
    if as_json:
        files = {"clusters": output, "report": report, "model": model}
        print_json(_summary(fitted, labels, constraints, data_rows, files))


def _title_of(data: str) -> str:
    return "stdin" if data == "-" else Path(data).stem


def _summary(fitted, labels, constraints, data_rows, files: dict) -> dict:
    """What was read, done and written, for a program to read."""
    import numpy as np

    report = getattr(fitted, "report_", None)
    summary = {
        "rows": data_rows.n_rows,
        "answers": constraints.n_answers,
        "columns": [
            {"name": c.name, "kind": c.kind, "why": c.why, "missing": c.n_missing}
            for c in data_rows.columns
        ],
        "clusters": int(labels.max()) + 1,
        "sizes": np.bincount(labels[labels >= 0]).tolist(),
        "names": list(cluster_names_of(fitted)),
        "contradictions": [str(conflict) for conflict in constraints.conflicts()],
        "files": {content: path for content, path in files.items() if path is not None},
    }
    if (labels < 0).any():
        summary["outliers"] = int((labels < 0).sum())
    if data_rows.problems:
        summary["unreadable"] = dict(data_rows.problems)
    if report is not None:
        satisfied = [report.satisfied_before, report.satisfied]
        satisfied = [None if np.isnan(share) else float(share) for share in satisfied]
        summary |= {
            "how": report.how,
            "features": report.why_prepared,
            "space": report.why,
            "number_of_clusters": report.why_n_clusters,
            "satisfied_before": satisfied[0],
            "satisfied": satisfied[1],
            "doubtful": [constraints.describe(int(at)) for at in fitted.doubtful_],
        }
    return summary


def _cluster_on_dask(
    unfitted,
    data: str,
    answers: str | None,
    output: str,
    model: str | None,
    scheduler: str | None,
    columns: dict,
    names_file: str | None,
) -> None:
    """Fit GuidedClustering to blocks that the workers of a Dask cluster read, map and assign."""
    from joblib import parallel_config

    from likewise.constraints import Constraints
    from likewise.files.cluster_file import write_clusters
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
    if names_file is not None:
        labels, k = fitted.labels_, fitted.n_clusters_
        fitted.cluster_names_ = read_cluster_names(names_file, labels, k, ids, columns["id_column"])
    with _all_or_none():
        if model is not None:
            save_model(fitted, model, feature_names=names)
        write_clusters(output, fitted.labels_, ids, cluster_names=cluster_names_of(fitted))
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


def _make_pipeline(method: str, n_clusters: int | str, preparation: str, seed: int, features=None):
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    import likewise

    if preparation not in ("auto", "none", "standardize"):
        raise ValueError(
            f"--preparation {preparation} goes with --method auto, sklr or itml. Use none or "
            f"standardize with --method {method}."
        )
    clusterer = getattr(likewise, CLUSTERERS[method])(n_clusters, random_state=seed)
    scaler = [("scaler", StandardScaler())] if preparation == "standardize" else []
    table = [] if features is None else [("features", features)]
    return Pipeline([*table, *scaler, ("clusters", clusterer)])


def _as_images(X, shape: tuple[int, ...]):
    if math.prod(shape) != X.shape[1]:
        given = "x".join(map(str, shape))
        raise ValueError(
            f"--image-shape {given} needs {math.prod(shape)} features per row, but there are "
            f"{X.shape[1]}. Use the height and width of your images."
        )
    return X.reshape(len(X), *shape)
