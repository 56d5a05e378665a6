"""A user's own file of rows as blocks, with the row IDs: for `likewise cluster`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.files.arrow_file import import_pyarrow
from likewise.files.row_file import ID_COLUMN, as_ids, row_places
from likewise.scale.blocks import Blocks, as_blocks


@dataclass(frozen=True, eq=False)
class OpenedRows:
    """The rows of a data file, not read yet.

    Attributes
    ----------
    blocks : Blocks
    ids : list of str or None
        The names of the rows.
    feature_names : list of str or None
    """

    blocks: Blocks
    ids: list[str] | None
    feature_names: list[str] | None


def open_rows(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    client=None,
) -> OpenedRows:
    """Open a .parquet or .npy file to be read block by block; the row IDs are all read at once.

    Parameters
    ----------
    path : str or path
    id_column : str, default=None
        The column with the row IDs. None takes the one named "id", if there is one.
    features : sequence of str, default=None
        Columns to use. None takes all except the IDs.
    client : distributed.Client, default=None
        The Dask cluster to read on.

    Returns
    -------
    OpenedRows
        ``blocks``, ``ids`` and ``feature_names``; a .npy file has no names.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from likewise import scale
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "rows.npy"), np.eye(3))
    ...     scale.open_rows(os.path.join(folder, "rows.npy")).blocks.shape
    (3, 3)
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
            cells = file.read(columns=[id_column])[id_column].to_pylist()
            ids = as_ids(cells, row_places(path.name)(id_column))
    columns = list(features) if features else [name for name in names if name != id_column]
    return OpenedRows(as_blocks(path, client=client, columns=columns), ids, columns)
