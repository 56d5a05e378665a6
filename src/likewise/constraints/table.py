"""Answers as a table: one row per answer, the same columns in a file, a frame and memory.

    kind        must_link, cannot_link, odd_one_out, closer or undecided
    a, b, c     the rows it refers to, by number or by id; c is empty for pairs, which may be
                undecided too: in memory that is a kind of its own, undecided_pair
    weight      0 or a number between 1e-30 and 1e30, 1 when empty
    annotator   who gave it; may be empty
    asked_at    when, ISO 8601, kept in UTC; may be empty
    screen      a name for the look that it came from; answers of one look are not independent
    seconds     how long that look took; may be empty

Here are tables whose answers have been checked; table_checks.py makes them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

KINDS = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided", "undecided_pair")
WIDTHS = np.array([2, 2, 3, 3, 3, 2])  # rows that an answer of each kind refers to
N_PAIR_KINDS = 2  # the first two say whether two rows belong together
COLUMNS = ("kind", "a", "b", "c", "weight", "annotator", "asked_at", "screen", "seconds")
NO_ROW = -1  # in the third column of a pair


@dataclass(frozen=True)
class Answer:
    """One answer.

    Attributes
    ----------
    kind : str
        "must_link", "cannot_link", "odd_one_out", "closer", "undecided" or "undecided_pair".
    points : tuple of int
        The rows it refers to.
    weight : float
    annotator : str or None
        Who gave it.
    asked_at : datetime64 or None
    screen : str or None
        The look that it came from; answers of one look are not independent.
    seconds : float or None
        How long that look took.
    """

    kind: str
    points: tuple[int, ...]
    weight: float
    annotator: str | None
    asked_at: np.datetime64 | None
    screen: str | None = None
    seconds: float | None = None


class AnswerTable(NamedTuple):
    codes: np.ndarray  # (m,) int8, index into KINDS
    points: np.ndarray  # (m, 3) int64, NO_ROW where a pair has no third
    weights: np.ndarray  # (m,) float64
    annotators: np.ndarray | None  # (m,) str, "" where unknown
    asked_at: np.ndarray | None  # (m,) datetime64[us], NaT where unknown
    screens: np.ndarray | None = None  # (m,) str, "" where unknown
    seconds: np.ndarray | None = None  # (m,) float64, NaN where unknown

    def answer(self, position: int) -> Answer:
        annotator = None if self.annotators is None else str(self.annotators[position]) or None
        asked_at = None if self.asked_at is None else self.asked_at[position]
        screen = None if self.screens is None else str(self.screens[position]) or None
        seconds = np.nan if self.seconds is None else float(self.seconds[position])
        return Answer(
            KINDS[self.codes[position]],
            self.rows_of(position),
            float(self.weights[position]),
            annotator,
            None if asked_at is None or np.isnat(asked_at) else asked_at,
            screen,
            None if np.isnan(seconds) else seconds,
        )

    def rows_of(self, position: int) -> tuple[int, ...]:
        """The two or three rows that an answer refers to."""
        return tuple(int(row) for row in self.points[position] if row != NO_ROW)

    def points_of_kind(self, kind: str) -> np.ndarray:
        """(n, 2) or (n, 3) row numbers, read-only."""
        code = KINDS.index(kind)
        points = self.points[self.codes == code, : WIDTHS[code]]
        points.flags.writeable = False
        return points


def widen(points: np.ndarray) -> np.ndarray:
    """Pairs with NO_ROW as their third."""
    if points.shape[1] == 3:
        return points
    return np.concatenate([points, np.full((len(points), 1), NO_ROW)], axis=1)


def take(table: AnswerTable, picked: np.ndarray) -> AnswerTable:
    """Some answers; a column in which nothing is known any more is left out."""

    def picked_of(column: np.ndarray | None) -> np.ndarray | None:
        if column is None or is_unknown(column[picked]).all():
            return None
        return column[picked]

    return AnswerTable(
        table.codes[picked],
        table.points[picked],
        table.weights[picked],
        *map(picked_of, table[3:]),
    )


def is_unknown(column: np.ndarray) -> np.ndarray:
    """Which cells of an optional column are empty: "", NaT or NaN."""
    return column == "" if column.dtype.kind == "U" else np.isnan(column)


def concatenate(first: AnswerTable, second: AnswerTable) -> AnswerTable:
    """The answers of one table and then those of another."""

    def filled(column: str, missing) -> np.ndarray | None:
        columns = [getattr(first, column), getattr(second, column)]
        if columns[0] is None and columns[1] is None:
            return None
        for i, side in enumerate((first, second)):
            if columns[i] is None:
                columns[i] = np.full(len(side.codes), missing)
        return np.concatenate(columns)

    return AnswerTable(
        np.concatenate([first.codes, second.codes]),
        np.concatenate([first.points, second.points]),
        np.concatenate([first.weights, second.weights]),
        filled("annotators", ""),
        filled("asked_at", np.datetime64("NaT", "us")),
        filled("screens", ""),
        filled("seconds", np.nan),
    )


def renumber(table: AnswerTable, rows: np.ndarray) -> AnswerTable:
    """The answers about some rows alone, with the numbers that X[rows] gives them."""
    in_order = np.sort(rows)
    if (in_order[1:] == in_order[:-1]).any():
        last = {row: i for i, row in enumerate(rows.tolist())}
        i = next(i for i, row in enumerate(rows.tolist()) if last[row] != i)
        raise ValueError(
            f"rows[{i}] = {rows[i]} is also rows[{last[int(rows[i])]}]: its answers would be about "
            "both. Name each row once."
        )
    points = places_of(table.points, rows)
    kept = ((points != NO_ROW) | (table.points == NO_ROW)).all(axis=1)
    return take(table, np.flatnonzero(kept))._replace(points=points[kept])


def places_of(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where each point stands in `rows`, which has no row twice; NO_ROW where it does not.

    Nothing as long as X is made: X may have a hundred million rows.
    """
    if not len(rows):
        return np.full(points.shape, NO_ROW)
    order = np.argsort(rows, kind="stable")
    at = np.minimum(np.searchsorted(rows, points, sorter=order), len(rows) - 1)
    return np.where(rows[order[at]] == points, order[at], NO_ROW)


def to_columns(table: AnswerTable, ids: np.ndarray | None) -> dict[str, list]:
    """The inverse of ``from_columns``: every column, None for an empty cell."""

    def cell(row: int):
        return None if row == NO_ROW else int(row) if ids is None else str(ids[row])

    n = len(table.codes)
    a, b, c = ([cell(row) for row in column] for column in table.points.T)
    annotators, screens = (
        [None] * n if names is None else [str(x) or None for x in names]
        for names in (table.annotators, table.screens)
    )
    asked_at = [None] * n if table.asked_at is None else [x.item() for x in table.asked_at]
    taken = np.full(n, np.nan) if table.seconds is None else table.seconds
    seconds = [None if np.isnan(x) else float(x) for x in taken]
    kinds = [KINDS[code].removesuffix("_pair") for code in table.codes]
    cells = (kinds, a, b, c, table.weights.tolist(), annotators, asked_at, screens, seconds)
    return dict(zip(COLUMNS, cells))


def equal_arrays(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Equal content, an unknown time equal to an unknown time."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "Mf")
