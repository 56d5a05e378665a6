"""likewise apply: new rows into the clusters of a saved model."""

from pathlib import Path

import click

from likewise.cli.cluster_names import cluster_names_of
from likewise.cli.data_rows import DataRows, encode_data
from likewise.cli.folder_data import Files, read_folder, read_image_column
from likewise.cli.messages import print_files, print_json
from likewise.cli.options import (
    READABLE,
    data_argument,
    features_option,
    id_option,
    json_option,
    output_option,
    verbosity_options,
)
from likewise.cli.refusals import check_files, check_model_first, check_output


@click.command()
@click.argument("model", type=READABLE)
@data_argument
@output_option
@id_option
@features_option
@json_option
@verbosity_options
def apply(
    model: str,
    data: str,
    output: str | None,
    id_column: str | None,
    features: list[str] | None,
    as_json: bool,
) -> None:
    """Assign the rows of DATA to the clusters of a saved MODEL.

    \b
    likewise cluster data.csv -c answers.csv -k 10 --model m.likewise
    likewise apply m.likewise new-rows.csv -o new-clusters.csv
    likewise apply photos.likewise new-photos/ -o new-clusters.csv

    Columns are matched by the names they had when the model was fitted, in any order, and the rows
    are named by the same column; --features names other columns of numbers to use instead. A file
    without column names (.npy) must have the same columns in the same order.
    """
    check_model_first(model, data)
    output = check_output(output, data, as_json)
    check_files({"MODEL": model, "DATA": data}, {"-o": output})
    from likewise.files.cluster_file import write_clusters
    from likewise.model_file import load_model

    fitted = load_model(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(
            f"{model} contains a fitted {type(fitted).__name__}, which has no clusters. "
            "Use a model saved by likewise cluster."
        )
    new = _read_as_fitted(fitted, model, data, id_column, features)
    known = fitted if new.encoder is None else fitted[1:]  # the files are numbers already
    try:
        labels = known.predict(new.rows)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(
            f"{model} cannot place these rows ({type(error).__name__}: {error}). Was it changed "
            "after it was saved? If not, this is a fault of likewise: please report it."
        ) from error
    names = cluster_names_of(fitted)
    write_clusters(output, new.output_labels(labels), *new.output_ids, cluster_names=names)
    print_files(clusters=output)
    if as_json:
        import numpy as np

        sizes = np.bincount(labels, minlength=getattr(fitted, "n_clusters_", 0)).tolist()
        print_json({"rows": new.n_rows, "sizes": sizes, "files": {"clusters": output}})


def _read_as_fitted(
    fitted, model: str, data: str, id_column: str | None, names: list[str] | None
) -> DataRows:
    """DATA as the model was fitted to it: a table where it was one, else numbers by their names."""
    from sklearn.pipeline import Pipeline

    from likewise.features import ImageFeatures, TableFeatures, TextFeatures
    from likewise.files.row_file import ending_of, read_named_table, read_rows
    from likewise.model_file import feature_names_of, id_column_of

    known = id_column_of(model)
    usual_ids = ("id",) if known is None else (known, "id")
    is_named = Path(data).is_dir() or ending_of(data) != ".npy"
    first = fitted[0] if isinstance(fitted, Pipeline) else getattr(fitted, "features_", None)
    if isinstance(first, ImageFeatures | TextFeatures):
        return encode_data(
            _files_as_fitted(first, model, data, id_column, usual_ids), encoder=first
        )
    if Path(data).is_dir():
        raise ValueError(f"{data} is a folder, and {model} was fitted to a table.")
    if isinstance(first, TableFeatures):
        if not is_named:
            raise ValueError(f"{data} has no column names, and {model} was fitted to a table.")
        if names:
            raise click.UsageError(f"{model} was fitted to a table, whose columns it takes itself.")
        named = read_named_table(data, id_column=id_column, usual_ids=usual_ids)
        return DataRows(
            named.table, first, named.table.n_rows, None, named.ids, named.id_column, named.id_cells
        )
    if is_named and names is None:
        names = feature_names_of(model)
    rows = read_rows(data, id_column=id_column, features=names, usual_ids=usual_ids)
    return DataRows(rows.X, None, len(rows.X), names, rows.ids, rows.id_column, rows.id_cells)


def _files_as_fitted(encoder, model: str, data: str, id_column: str | None, usual_ids) -> Files:
    """Images or texts of DATA, a folder or a table with the column that the model knows."""
    from likewise.features import ImageFeatures
    from likewise.model_file import feature_names_of

    kind = "images" if isinstance(encoder, ImageFeatures) else "texts"
    if Path(data).is_dir():
        files = read_folder(data)
        if files.kind != kind:
            raise ValueError(f"{model} was fitted to {kind}, and {data} has {files.kind}.")
        return files
    names = feature_names_of(model)
    if kind == "texts" or not names:
        raise ValueError(f"{model} was fitted to a folder of {kind}, and {data} is a file.")
    return read_image_column(data, names[0], id_column, usual_ids)
