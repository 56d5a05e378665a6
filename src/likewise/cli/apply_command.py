"""likewise apply: new rows into the clusters of a saved model."""

import click

from likewise.cli.messages import print_files
from likewise.cli.options import READABLE, data_argument, features_option, id_option, output_option
from likewise.cli.refusals import check_files, check_model_first, check_output


@click.command()
@click.argument("model", type=READABLE)
@data_argument
@output_option
@id_option
@features_option
def apply(
    model: str, data: str, output: str | None, id_column: str | None, features: list[str] | None
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

    if features is None and not data.lower().endswith(".npy"):
        features = feature_names_of(model)
    fitted = load_model(model)
    rows = read_rows(data, id_column=id_column, features=features)
    if not hasattr(fitted, "predict"):
        raise ValueError(
            f"{model} contains a fitted {type(fitted).__name__}, which has no clusters. "
            "Use a model saved by likewise cluster."
        )
    write_clusters(output, fitted.predict(rows.X), rows.ids)
    print_files(clusters=output)
