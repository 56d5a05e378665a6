"""What to ask next: rows between clusters, each with a row of its most likely cluster.

Either answer is informative: "together" confirms the border there, "apart" shows it is wrong.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.report.view import SEED, View
from likewise.selection import next_questions


class ShownQuestion(NamedTuple):
    """Two rows ("do they belong together?") or three ("which is the odd one out?"), and why."""

    rows: tuple[int, ...]
    why: str


def check_questions(questions, n_rows: int) -> list[ShownQuestion]:
    """Tuples of rows, or anything that has ``rows`` and ``why``, as questions about rows of X."""
    checked = []
    for i, question in enumerate(questions):
        rows = tuple(int(row) for row in getattr(question, "rows", question))
        if len(rows) not in (2, 3) or not all(0 <= row < n_rows for row in rows):
            raise ValueError(
                f"questions[{i}] = {rows} must be two or three rows of X, which has {n_rows}."
            )
        checked.append(ShownQuestion(rows, getattr(question, "why", "")))
    return checked


def border_questions(
    view: View, constraints: Constraints | None, n_questions: int
) -> list[ShownQuestion]:
    """Pairs between clusters that no answer settles yet, the most doubtful first."""
    space = SimpleNamespace(transform=np.asarray, labels_=view.labels)
    constraints = Constraints(int(view.rows.max()) + 1) if constraints is None else constraints
    proposed = next_questions(
        view.Z,
        constraints.restrict(view.rows),
        n_questions,
        space=space,
        strategy="uncertainty",
        random_share=0,
        random_state=SEED,
    )
    asked = [ShownQuestion(tuple(map(int, view.rows[list(q.rows)])), q.why) for q in proposed]
    closure = constraints.closure()  # an answer about a row that is not in view may settle it
    return [question for question in asked if not closure.known([question.rows])[0]]
