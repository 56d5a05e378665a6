"""likewise apply: new rows into the clusters of a saved model."""

import click

from likewise.cli.data_rows import DataRows
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

    Columns are matched by the names they had when the model was fitted, in any order, and the rows
    are named by the same column; --features names other columns of numbers to use instead. A file
    without column names (.npy) must have the same columns in the same order.
    """
    check_model_first(model, data)
    output = check_output(output, data, as_json)
    check_files({"MODEL": model, "DATA": data}, {"-o": output})
    from likewise.files.row_file import write_clusters
    from likewise.model_file import load_model

    fitted = load_model(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(
            f"{model} contains a fitted {type(fitted).__name__}, which has no clusters. "
            "Use a model saved by likewise cluster."
        )
    new = _read_as_fitted(fitted, model, data, id_column, features)
    labels = fitted.predict(new.rows)
    write_clusters(output, labels, *new.output_ids)
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

    from likewise.features import TableFeatures
    from likewise.files.row_file import ending_of, read_named_table, read_rows
    from likewise.model_file import feature_names_of, id_column_of

    known = id_column_of(model)
    usual_ids = ("id",) if known is None else (known, "id")
    is_named = ending_of(data) != ".npy"
    first = fitted[0] if isinstance(fitted, Pipeline) else getattr(fitted, "features_", None)
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
