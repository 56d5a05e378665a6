"""What a person reads: the words of a question, and which columns of its rows come first."""

from collections.abc import Mapping, Sequence

import numpy as np

TITLES = {
    "pair": "Do these two belong together?",
    "review": "Do these still belong together?",
    "odd_one_out": "Which one does not belong with the others?",
    "group": "Which of these does {name} belong with?",
    "grid": "Which of these belong with {name}?",
}

LONGEST_NAME = 40  # letters; longer texts describe
LEAST_NAMES = 20  # fewer cells may differ by chance


def column_spreads(columns: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The standard deviation of every column of numbers; columns of other cells are left out.

    A column of names, short and all different, has 0: that two rows have other names says nothing.
    """
    spreads = {}
    for name, cells in columns.items():
        if cells.dtype.kind in "iuf":
            spreads[name] = float(np.nanstd(cells))
        elif is_names(cells):
            spreads[name] = 0.0
    return spreads


def is_names(cells: np.ndarray) -> bool:
    """Whether short texts are all different."""
    texts = [str(cell) for cell in cells]
    is_short = max(map(len, texts), default=0) <= LONGEST_NAME
    return len(texts) >= LEAST_NAMES and is_short and len(set(texts)) == len(texts)


def by_difference(
    columns: Mapping[str, np.ndarray],
    rows: Sequence[int],
    spreads: Mapping[str, float] | None = None,
) -> list[str]:
    """Names of columns, those first in which the rows differ most for what is usual.

    Numbers count by their standard deviations (`column_spreads`, which many questions can share),
    other cells by how many of them are different.
    """
    if spreads is None:
        spreads = column_spreads(columns)
    return sorted(columns, key=lambda name: -difference(columns[name], rows, spreads.get(name)))


def difference(cells: np.ndarray, rows: Sequence[int], spread: float | None) -> float:
    """How far apart some cells of a column are: in its standard deviations, or by count."""
    shown = cells[list(rows)]
    if spread is None:
        return float(len({str(cell) for cell in shown}) - 1)
    if not spread > 0 or np.isnan(shown).all():
        return 0.0
    return float(np.nanmax(shown) - np.nanmin(shown)) / spread
