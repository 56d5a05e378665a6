"""Tables as they come (pandas, polars, pyarrow, a dict, an array) as columns of cells."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from likewise.files.cell_table import CellTable, Place, as_cells


def is_frame(X) -> bool:
    """Whether X is a dataframe, or a dict of columns."""
    if issparse(X) or hasattr(X, "__dask_graph__"):  # some sparse matrices are dicts
        return False
    has_columns = hasattr(type(X), "columns") or hasattr(X, "columns")  # a LazyFrame works for them
    return isinstance(X, CellTable | Mapping) or has_columns or _is_arrow(X)


def is_mixed_table(X) -> bool:
    """Whether X is a table with columns that are not numbers, or numbers with gaps."""
    if not is_frame(X) or isinstance(X, CellTable | Mapping):
        return is_frame(X)
    return any(
        cells.dtype.kind not in "iuf" or bool(np.isnan(cells).any())
        for cells in cell_table(X).columns.values()
    )


def cell_table(X) -> CellTable:
    """The columns of X, each as an array of its cells; a frame is read through narwhals."""
    if isinstance(X, CellTable):
        return X
    if isinstance(X, Mapping) and not issparse(X):
        columns = {str(name): as_cells(cells) for name, cells in X.items()}
        if len(columns) < len(X):
            raise ValueError("Two columns have the same name. Rename one of them.")
        return _checked(columns, len(X), is_named=True)
    if is_frame(X):
        columns, n_columns, categories = _frame_columns(X)
        return _checked(columns, n_columns, is_named=True)._replace(categories=categories)
    X = check_array(X, dtype=None, ensure_all_finite=False)
    columns = {f"x{j}": as_cells(X[:, j]) for j in range(X.shape[1])}
    return _checked(columns, X.shape[1], is_named=False)


def _checked(columns: dict[str, np.ndarray], n_columns: int, *, is_named: bool) -> CellTable:
    if not columns:
        raise ValueError("The table has 0 feature(s) (shape=(0, 0)): it has no columns.")
    lengths = {name: len(cells) for name, cells in columns.items()}
    n_rows = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n_rows:
            raise ValueError(
                f"Column {name!r} has {length} cells, and {next(iter(lengths))!r} has {n_rows}. "
                "Give every column one cell per row."
            )
    if not n_rows:
        raise ValueError(
            f"The table has columns and no rows: 0 sample(s) (shape=(0, {n_columns})) while a "
            "minimum of 1 is required."
        )

    def place_in(name: str) -> Place:
        return lambda i: f"column {name!r}, row {i}"

    return CellTable(columns, n_rows, place_in, is_named)


def _frame_columns(X) -> tuple[dict[str, np.ndarray], int, frozenset[str]]:
    import narwhals.stable.v1 as nw

    if hasattr(type(X), "collect"):
        raise TypeError(
            f"A {type(X).__name__} is no table in memory. Call its collect() first, and pass that."
        )
    names = [str(name) for name in (X.column_names if _is_arrow(X) else X.columns)]
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(
                f"{count} columns have the name {name!r}. Give each a name of its own."
            )
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"A {type(X).__name__} is no table in memory. Pass a pandas, polars or pyarrow table, "
            "or a dict of columns."
        ) from None
    series = {name: frame.get_column(key) for name, key in zip(names, frame.columns)}
    categories = frozenset(
        name for name, one in series.items() if isinstance(one.dtype, nw.Categorical | nw.Enum)
    )
    return {name: _series_cells(one) for name, one in series.items()}, len(names), categories


def _series_cells(series: Any) -> np.ndarray:
    import narwhals.stable.v1 as nw

    kind = series.dtype
    if kind.is_numeric() and not isinstance(kind, nw.Decimal):
        if series.null_count():
            return series.cast(nw.Float64()).to_numpy()
        numbers = series.to_numpy()
        return numbers if numbers.dtype.kind in "iuf" else numbers.astype(np.float64)
    if isinstance(kind, nw.Boolean) and not series.null_count():
        return series.to_numpy().astype(bool)
    if isinstance(kind, nw.Datetime):
        if kind.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.to_numpy().astype("M8[us]")
    if isinstance(kind, nw.Duration):
        return series.to_numpy().astype("m8[us]")
    native = series.to_native()
    if type(getattr(native, "dtype", None)).__name__ == "PeriodDtype":  # pandas: its first moment
        return native.dt.to_timestamp().to_numpy().astype("M8[us]")
    return as_cells(series.to_list())


def _is_arrow(X) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "to_pylist")
