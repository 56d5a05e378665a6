"""Where a session stands, and whether it should stop."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from likewise.labeling.asked_again import consistency_of
from likewise.labeling.asking_ahead import draw_for
from likewise.labeling.events import Event, counted
from likewise.labeling.groups_so_far import GroupsSoFar
from likewise.labeling.other_kinds import choose_of_kinds
from likewise.labeling.placed_share import PlacedShare, estimate_placed

ENOUGH = 0.98  # share of rows, placed rightly in all probability, that ends a session


class Progress(NamedTuple):
    """Where a session stands."""

    n_questions: int  # screens answered, "can't tell" among them
    n_rows_shown: int  # rows on these screens, each counted every time
    n_groups: int  # groups known to be different
    n_open_rows: int  # rows thought about whose group no answer has named
    placed: PlacedShare  # estimated share of the rows that ``labels`` places rightly
    consistency: float  # share of the questions asked again that got the same answer; nan if none
    should_stop: bool  # nothing is left to learn, or next to nothing
    why: str


def progress_of(events: Sequence[Event], groups: GroupsSoFar, kinds: tuple[str, ...]) -> Progress:
    """How far a session has come."""
    answers = [event for event in counted(events) if event.kind == "answer"]
    shown = [len(event.question.shown) for event in answers if event.question is not None]
    knowledge, settled = groups.knowledge(events), groups.settled(events)
    is_done = choose_of_kinds(knowledge, kinds, draw_for(groups.seed, events, "")) is None
    placed = estimate_placed(knowledge, settled)
    why = ""
    if is_done:
        why = "no row is left whose answer would tell anything new"
    elif placed.low >= ENOUGH:
        why = f"probably {placed.low:.0%} of the rows or more are placed rightly"
    return Progress(
        len(answers),
        sum(shown),
        settled.n_groups,
        int(np.count_nonzero(knowledge.groups < 0)),
        placed,
        consistency_of(answers),
        bool(why),
        why,
    )
