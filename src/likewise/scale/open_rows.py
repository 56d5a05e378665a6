"""A user's own file of rows as blocks, with the names of the rows: for `likewise cluster`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from likewise.files.row_file import ID_COLUMN, as_ids
from likewise.files.table_file import import_pyarrow
from likewise.scale.blocks import Blocks, as_blocks


class OpenedRows(NamedTuple):
    """The rows of a data file, not read yet."""

    blocks: Blocks
    ids: list[str] | None  # (n,) names of the rows
    feature_names: list[str] | None


def open_rows(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    client=None,
) -> OpenedRows:
    """Open a .parquet or .npy file to be read block by block; of the rows' names all are read.

    Columns are chosen as `likewise.files.row_file.read_rows` does: one called "id" names the rows
    when nothing else is said, and all others are features.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        if id_column is not None or features:
            raise ValueError(f"{path.name} has no named columns to choose from.")
        return OpenedRows(as_blocks(path, client=client), None, None)
    _, parquet = import_pyarrow()
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        if id_column is None and ID_COLUMN in names:
            id_column = ID_COLUMN
        if id_column is not None and id_column not in names:
            raise ValueError(f"{path.name} has no column {id_column!r}; it has {', '.join(names)}.")
        ids = None
        if id_column is not None:
            ids = as_ids(file.read(columns=[id_column])[id_column].to_pylist(), id_column, path)
    columns = list(features) if features else [name for name in names if name != id_column]
    return OpenedRows(as_blocks(path, client=client, columns=columns), ids, columns)
