"""Questions and progress as the page gets them: plain JSON, with a key for every answer."""

import math
from collections.abc import Sequence
from typing import Any

from likewise.labeling import (
    ANOTHER,
    APART,
    CANT_TELL,
    NEW,
    NOWHERE,
    TITLES,
    TOGETHER,
    Progress,
    Question,
)
from likewise.studio.row_gallery import RowGallery

KEYS = {TOGETHER: "y", APART: "n", ANOTHER: "a", NEW: "n", NOWHERE: "w", CANT_TELL: "c"}
LABELS = {
    TOGETHER: "together",
    APART: "apart",
    ANOTHER: "another group",
    NEW: "a new group",
    NOWHERE: "belongs nowhere",
    CANT_TELL: "can't tell",
}
POSITIONS = ("left", "middle", "right")


def question_json(
    question_id: str,
    question: Question,
    gallery: RowGallery,
    *,
    replaces: Sequence[str] = (),
    is_blind: bool = False,
) -> dict[str, Any]:
    """A question with everything that its screen shows. Repeats do not show that they are."""
    rows = [*question.rows, *(row for group in question.groups for row in group)]
    name = gallery.name(question.rows[0]) if question.rows else ""
    return {
        "id": question_id,
        "replaces": list(replaces),
        "kind": question.kind,
        "prompt": TITLES[question.kind].format(name=name),
        "rows": list(question.rows),
        "groups": [list(group) for group in question.groups],
        "has_more": bool(question.more),
        "answers": [answer_json(question, choice) for choice in question.offered],
        "cards": {str(row): gallery.card(row) for row in dict.fromkeys(rows)},
        "differs": gallery.differing_columns(list(question.shown)),
        "is_repeat": False,
        "why": "" if is_blind or question.is_repeat else question.why,
    }


def answer_json(question: Question, choice: str | int) -> dict[str, Any]:
    """One answer: what is sent, what is read, which key gives it."""
    if isinstance(choice, str):
        return {"choice": choice, "label": LABELS[choice], "key": KEYS[choice]}
    label = POSITIONS[choice] if question.kind == "odd_one_out" else str(choice + 1)
    return {"choice": choice, "label": label, "key": str(choice + 1)}


def progress_json(progress: Progress | None) -> dict[str, Any]:
    """Where the session stands; nothing is known of it before it was thought about."""
    if progress is None:
        placed = {"share": None, "low": None, "high": None}
        return {
            **{"n_questions": 0, "n_rows_shown": 0, "n_groups": 0, "n_open_rows": None},
            **{"placed": placed, "consistency": None, "should_stop": False, "why": ""},
        }
    return {
        "n_questions": progress.n_questions,
        "n_rows_shown": progress.n_rows_shown,
        "n_groups": progress.n_groups,
        "n_open_rows": progress.n_open_rows,
        "placed": {
            "share": or_none(progress.placed.mean),
            "low": or_none(progress.placed.low),
            "high": or_none(progress.placed.high),
        },
        "consistency": or_none(progress.consistency),
        "should_stop": progress.should_stop,
        "why": progress.why,
    }


def or_none(value: float) -> float | None:
    """JSON has no nan."""
    return None if math.isnan(value) else round(float(value), 4)
