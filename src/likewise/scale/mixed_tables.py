"""Tables of mixed columns in blocks: in memory, in Parquet data sets, in Dask dataframes.

A block is some rows of a table, as its library has them. It becomes numbers by fitted features
where it is worked on, whenever it is read: the encoded table is never in memory as a whole.
"""

import os
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from likewise.features import TableFeatures, cell_table
from likewise.files.cell_table import CellTable, take_rows
from likewise.scale.blocks import Blocks, as_it_is, load_counted
from likewise.scale.dask_frames import is_dask_frame, is_numeric, open_dask_frame
from likewise.scale.parquet_rows import is_number, open_parquet, read_group

TABLE_ROWS = 2**14  # of a block of a table in memory


class TableRows:
    """Some rows of a table, of which some can be taken before they become numbers."""

    def __init__(self, table: Any):
        self.table = table  # a CellTable, or a frame of pandas' or pyarrow's

    def __len__(self) -> int:
        return self.table.n_rows if isinstance(self.table, CellTable) else len(self.table)

    def __getitem__(self, rows) -> "TableRows":
        if isinstance(self.table, CellTable):
            return TableRows(take_rows(self.table, rows))
        if hasattr(self.table, "iloc"):
            return TableRows(self.table.iloc[rows])
        return TableRows(self.table.take(rows))


def table_blocks(X, *, client=None, columns=None, block_rows: int = TABLE_ROWS) -> Blocks:
    """Take the rows of a table in blocks, as they are.

    Parameters
    ----------
    X : dataframe, dict of columns, path or Dask dataframe
        A path is a .parquet file, a folder of them or a pattern.
    client : distributed.Client, default=None
        The Dask cluster to work on.
    columns : sequence of str, default=None
        Those to read; None reads all.
    block_rows : int, default=16384
        Rows in a block of a table in memory.

    Returns
    -------
    Blocks
        Of tables: `encoded` makes numbers of them.

    Examples
    --------
    >>> from likewise import scale
    >>> scale.table_blocks({"age": [30, None, 41], "plan": ["free", "gold", "free"]}).shape
    (3, 2)
    """
    if isinstance(X, Blocks):
        return X
    if is_dask_frame(X):
        opened = open_dask_frame(X, client, columns)
        return Blocks(
            opened.parts,
            partial(_load_frame, columns=opened.columns),
            opened.bounds,
            len(opened.columns),
            np.dtype(object),
            client,
            is_lazy=True,
            names=tuple(opened.columns),
        )
    if isinstance(X, str | os.PathLike):
        found = open_parquet(X, columns)
        names = tuple(found.kinds)
        load = partial(_load_table, columns=names)
        object_type = np.dtype(object)
        return Blocks(found.parts, load, found.bounds, len(names), object_type, client, names=names)
    table = cell_table(X)
    bounds = np.append(np.arange(0, table.n_rows, block_rows), table.n_rows)
    parts = [TableRows(take_rows(table, slice(i, j))) for i, j in pairwise(bounds)]
    names = tuple(table.columns)
    return Blocks(parts, as_it_is, bounds, len(names), np.dtype(object), client, names=names)


def encoded(features, blocks: Blocks) -> Blocks:
    """Blocks of a table, or of numbers, through a fitted transformer, whenever they are read.

    Parameters
    ----------
    features : transformer
        Fitted; `likewise.features.TableFeatures` or any other of scikit-learn's kind. Others than
        ours get pandas frames.
    blocks : Blocks
        From `table_blocks` or `as_blocks`.

    Returns
    -------
    Blocks
        Of numbers.

    Examples
    --------
    >>> from likewise import scale
    >>> from likewise.features import TableFeatures
    >>> people = {"age": [30, None, 41], "plan": ["free", "gold", "free"]}
    >>> scale.encoded(TableFeatures().fit(people), scale.table_blocks(people)).take([2, 0]).shape
    (2, 3)
    """
    if hasattr(features, "get_feature_names_out"):
        n_features = len(features.get_feature_names_out())
    else:
        first = blocks.after(0).run(partial(_first_row, features), what="encoding a row")
        n_features = next(iter(first))
    return blocks.map(partial(_encode, features), n_features, np.dtype(np.float64))


def has_columns(X) -> bool:
    """Whether rows in blocks are a table: Parquet, a Dask dataframe, or from `table_blocks`.

    Parameters
    ----------
    X : path, Dask array or dataframe, or Blocks

    Returns
    -------
    bool

    Examples
    --------
    >>> from likewise import scale
    >>> scale.has_columns("rows.parquet"), scale.has_columns("rows.npy")
    (True, False)
    """
    if isinstance(X, Blocks):
        return X.dtype == np.dtype(object)
    if isinstance(X, str | os.PathLike):
        return not os.fspath(X).lower().endswith(".npy")
    return is_dask_frame(X)


def take_table(blocks: Blocks, rows: np.ndarray, features=None, n_jobs: int | None = None):
    """Some rows of a table in blocks, as one table that a transformer can be fitted to.

    Parameters
    ----------
    blocks : Blocks
        From `table_blocks`.
    rows : ndarray of int
        Numbers of rows, ascending.
    features : transformer, default=None
        What the table is for: others than ours get a pandas frame.
    n_jobs : int, default=None
        Threads that gather the rows.

    Returns
    -------
    table

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> blocks = scale.table_blocks({"plan": ["free", "gold", "free"]}, block_rows=2)
    >>> scale.take_table(blocks, np.array([1, 2])).columns
    {'plan': array(['gold', 'free'], dtype=object)}
    """
    ends = np.searchsorted(rows, blocks.bounds)
    held = np.flatnonzero(np.diff(ends)).tolist()
    inside = [rows[ends[i] : ends[i + 1]] - blocks.bounds[i] for i in held]
    some = blocks.some_rows(held, inside, partial(_load_some, blocks.load))
    found = [one.table for one in some.run(as_it_is, what="gathering rows", n_jobs=n_jobs)]
    return as_features_take(features, _joined(found))


def is_mixed_blocks(X, client=None) -> bool:
    """Whether rows in blocks have columns that are not numbers, or numbers with gaps.

    Parameters
    ----------
    X : path, Dask array or dataframe, or Blocks
    client : distributed.Client, default=None

    Returns
    -------
    bool

    Examples
    --------
    >>> from likewise import scale
    >>> scale.is_mixed_blocks(scale.table_blocks({"plan": ["free", "gold"]}))
    True
    """
    if not has_columns(X):
        return False
    if isinstance(X, Blocks):
        return True
    if is_dask_frame(X):
        opened = open_dask_frame(X, client)
        return opened.has_gaps or not is_numeric(opened)
    found = open_parquet(X)
    if len(found.kinds) == 1 and "list" in str(next(iter(found.kinds.values()))):
        return False
    return any(found.n_gaps.values()) or not all(map(is_number, found.kinds.values()))


def as_features_take(features, table):
    """A table as it is for ours, and as a pandas frame for other transformers."""
    is_ours = features is None or isinstance(features, TableFeatures)
    return table if is_ours or not hasattr(table, "to_pandas") else table.to_pandas()


def _joined(tables: list):
    if isinstance(tables[0], CellTable):
        columns = {
            name: np.concatenate([table.columns[name] for table in tables])
            for name in tables[0].columns
        }
        return cell_table(columns)
    import narwhals.stable.v1 as nw

    return nw.concat([nw.from_native(table, eager_only=True) for table in tables]).to_native()


def _load_frame(frame, columns) -> TableRows:
    return TableRows(frame[columns])


def _load_table(place, columns) -> TableRows:
    return TableRows(read_group(place, columns))


def _load_some(load, part_and_rows) -> TableRows:
    counted, rows = part_and_rows
    return load_counted(load, counted)[rows]


def _encode(features, rows) -> np.ndarray:
    table = as_features_take(features, rows.table) if isinstance(rows, TableRows) else rows
    return np.asarray(features.transform(table))


def _first_row(features, rows) -> int:
    return _encode(features, rows[:1]).shape[1]
