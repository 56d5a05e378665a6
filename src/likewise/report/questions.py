"""What to ask next, in short: rows between two clusters, each beside a typical row of the rival.

Either answer tells something: together means that the border is wrong there, apart that it holds.
"""

from typing import NamedTuple

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from likewise.constraints import Constraints
from likewise.report.view import View, typical_rows


class Question(NamedTuple):
    """Two rows ("do they belong together?") or three ("which is the odd one out?"), and why."""

    rows: tuple[int, ...]
    why: str


def check_questions(questions, n_rows: int) -> list[Question]:
    """Tuples of rows, or anything that has ``rows`` and ``why``, as questions about rows of X."""
    checked = []
    for i, question in enumerate(questions):
        rows = tuple(int(row) for row in getattr(question, "rows", question))
        if len(rows) not in (2, 3) or not all(0 <= row < n_rows for row in rows):
            raise ValueError(
                f"questions[{i}] = {rows} must be two or three rows of X, which has {n_rows}."
            )
        checked.append(Question(rows, getattr(question, "why", "")))
    return checked


def border_questions(
    view: View, centers: np.ndarray, constraints: Constraints | None, n_questions: int
) -> list[Question]:
    """Pairs that no answer settles yet, the most doubtful first, each border only once."""
    if len(centers) < 2:
        return []
    sq_dists = euclidean_distances(view.Z[view.points], centers, squared=True)
    places = np.arange(len(sq_dists))
    own = view.labels[view.points]
    to_own = sq_dists[places, own]
    sq_dists[places, own] = np.inf
    rivals = sq_dists.argmin(axis=1)
    doubt = to_own / np.maximum(sq_dists[places, rivals], np.finfo(float).tiny)
    closure = None if constraints is None else constraints.closure()
    questions: list[Question] = []
    borders = set()
    for i in np.argsort(-doubt, kind="stable"):
        border = frozenset((int(own[i]), int(rivals[i])))
        if border in borders or len(questions) == n_questions:
            continue
        row, other = int(view.rows[view.points[i]]), typical_rows(view, int(rivals[i]), 1)
        if not len(other) or (closure is not None and closure.known([(row, other[0])])[0]):
            continue
        borders.add(border)
        why = (
            f"The first is in cluster {own[i]}, nearly in {rivals[i]}; the second is typical there."
        )
        questions.append(Question((row, int(other[0])), why))
    return questions
