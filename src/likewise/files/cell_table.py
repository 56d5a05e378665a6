"""A table as columns of cells, and where each cell stands: what readers make and features take."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Place = Callable[[int], str]  # where the cell of row i stands


class CellTable(NamedTuple):
    """The columns of a table as arrays of cells, and where each cell stands."""

    columns: dict[str, np.ndarray]  # (n,) each, of numbers, dates or objects
    n_rows: int
    place: Callable[[str], Place]  # of a column: where the cell of row i stands
    is_named: bool = True  # the columns have names of their own
    notation: str = ""  # "," where decimals have commas: 1,5 and 1.500,00
    categories: frozenset[str] = frozenset()  # columns that are categories by their type


def take_rows(table: CellTable, rows: slice | np.ndarray) -> CellTable:
    """Some rows of a table; places still refer to the whole."""
    numbers = np.arange(table.n_rows)[rows]

    def place_in(name: str) -> Place:
        place = table.place(name)
        return lambda i: place(int(numbers[i]))

    columns = {name: cells[rows] for name, cells in table.columns.items()}
    return table._replace(columns=columns, n_rows=len(numbers), place=place_in)


def without_columns(table: CellTable, *names: str | None) -> CellTable:
    """The table less some of its columns."""
    kept = {name: cells for name, cells in table.columns.items() if name not in names}
    return table._replace(columns=kept)


def as_cells(values) -> np.ndarray:
    """One column (n,): numbers and dates as they are, anything else as objects."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "biufmM" and np.ndim(values) == 1:  # an array, a series or an index
        return np.asarray(values)
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # one by one: NumPy would unpack lists
        cells[i] = value
    return cells
