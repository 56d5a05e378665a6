"""The answers as arrays: what can be read off the table, by kind, by answer and by row."""

from collections.abc import Iterator

import numpy as np

from likewise.constraints.table import KINDS, N_PAIR_KINDS, NO_ROW, Answer, AnswerTable


class AnswerArrays:
    """The reading half of `Constraints`: every array is read-only, and nothing is changed."""

    __slots__ = ()

    ids: np.ndarray | None
    _table: AnswerTable

    @property
    def n_answers(self) -> int:
        """How many answers there are, of all kinds."""
        return len(self._table.codes)

    @property
    def must_link(self) -> np.ndarray:
        """(n, 2) row numbers."""
        return self._table.points_of_kind("must_link")

    @property
    def cannot_link(self) -> np.ndarray:
        """(n, 2) row numbers."""
        return self._table.points_of_kind("cannot_link")

    @property
    def odd_one_out(self) -> np.ndarray:
        """(n, 3) row numbers, the odd one last."""
        return self._table.points_of_kind("odd_one_out")

    @property
    def closer(self) -> np.ndarray:
        """(n, 3) row numbers: the second is closer to the first than the third is."""
        return self._table.points_of_kind("closer")

    @property
    def undecided(self) -> np.ndarray:
        """(n, 3) row numbers."""
        return self._table.points_of_kind("undecided")

    @property
    def undecided_pair(self) -> np.ndarray:
        """(n, 2) row numbers."""
        return self._table.points_of_kind("undecided_pair")

    @property
    def weights(self) -> np.ndarray:
        """(n_answers,) how much each answer counts, in the order of ``answers()``."""
        return self._table.weights

    @property
    def annotators(self) -> np.ndarray | None:
        """(n_answers,) who gave each answer, "" where unknown; None when nobody is named."""
        return self._table.annotators

    @property
    def asked_at(self) -> np.ndarray | None:
        """(n_answers,) when, NaT where unknown; None when no time is known."""
        return self._table.asked_at

    @property
    def screens(self) -> np.ndarray | None:
        """(n_answers,) the look that each answer came from, "" where unknown; None without any."""
        return self._table.screens

    @property
    def seconds(self) -> np.ndarray | None:
        """(n_answers,) how long that look took, NaN where unknown; None when no time is known."""
        return self._table.seconds

    @property
    def kinds(self) -> np.ndarray:
        """(n_answers,) the kind of each answer, as text."""
        return np.array(KINDS)[self._table.codes]

    def answers(self) -> Iterator[Answer]:
        """Every answer in the order it came."""
        for i in range(self.n_answers):
            yield self.answer(i)

    def answer(self, position: int) -> Answer:
        """The answer at a position in ``answers()``."""
        return self._table.answer(position)

    def points_of(self, position: int) -> tuple[int, ...]:
        """The rows that one answer refers to."""
        return self._table.rows_of(position)

    def positions(self, *kinds: str) -> np.ndarray:
        """Where the answers of these kinds stand among all, ascending."""
        codes = [KINDS.index(kind) for kind in kinds]
        return np.flatnonzero(np.isin(self._table.codes, codes))

    def signed_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """All pairs (n, 2) in the order given, and +1 for a must-link, -1 for a cannot-link."""
        is_pair = self._table.codes < N_PAIR_KINDS
        pairs = self._table.points[is_pair, :2]
        return pairs, np.where(self._table.codes[is_pair] == 0, 1, -1)

    def distance_inequalities(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What triples say about distances: d(smaller) < d(larger), (n, 2) each, and whose answer.

        An odd one out says it twice, a "closer" once, "undecided" never.
        """
        odd, closer = self.odd_one_out, self.closer
        smaller = np.concatenate([odd[:, [0, 1]], odd[:, [0, 1]], closer[:, [0, 1]]])
        larger = np.concatenate([odd[:, [0, 2]], odd[:, [1, 2]], closer[:, [0, 2]]])
        answers = [self.positions(kind) for kind in ("odd_one_out", "odd_one_out", "closer")]
        return smaller, larger, np.concatenate(answers)

    def touched_rows(self) -> np.ndarray:
        """The rows that any answer refers to, ascending."""
        rows = np.unique(self._table.points)
        return rows[rows != NO_ROW]

    def row_name(self, row: int) -> str:
        """The id of a row, or its number."""
        return str(row) if self.ids is None else str(self.ids[row])

    def describe(self, position: int) -> str:
        """One answer in words, as errors and reports name it: ``cannot_link[0] = (3, 12)``."""
        code = self._table.codes[position]
        index = np.count_nonzero(self._table.codes[:position] == code)
        names = ", ".join(self.row_name(row) for row in self.points_of(position))
        return f"{KINDS[code]}[{index}] = ({names})"
