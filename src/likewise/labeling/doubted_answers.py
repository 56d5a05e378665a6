"""Doubted answers: what the other answers say against one of them.

    P_i     memberships of known row i, from the other known rows
    t_ij    = sum_g P_ig P_jg                     chance that i and j belong together
    chance  = the smallest of t_ij over the must-links of an answer and 1 - t_ij over its
              cannot-links, those of weight 0 aside

An answer is one look, so it is judged by what it says that is least likely. The answer that would
have been likeliest instead is what a flip says.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from likewise.labeling.answer_constraints import Link, links_of
from likewise.labeling.events import Event, counted
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.questions import APART, CANT_TELL, NEW, TOGETHER, Question
from likewise.labeling.settled_groups import leave_one_out, settle_groups

DOUBTFUL = 0.25  # chance below which an answer is looked at again
MOST_LISTED = 50


class DoubtedAnswer(NamedTuple):
    """An answer that the others contradict."""

    event: Event
    chance: float  # that it is right, by the others
    flipped: Any  # the likeliest other choice; None where there is none


def doubted_answers(
    events: Iterable[Event], knowledge: Knowledge, position: np.ndarray
) -> list[DoubtedAnswer]:
    """Answers that hold and that the others make unlikely, the least likely first.

    `position` (n_samples,) has the place of each row in `knowledge`, -1 for none. Answers that
    somebody looked at again and kept are left out.
    """
    said = counted(events)
    settled = settle_groups(knowledge)
    known = np.flatnonzero(settled.groups >= 0)
    if settled.n_groups < 2:
        return []
    shares = np.full((len(knowledge.groups), settled.n_groups), np.nan)
    own = settled.groups[known]
    shares[known] = leave_one_out(knowledge.walks, known, own, settled.n_groups)
    kept = {event.undoes for event in said if event.kind == "keep"}
    doubted = []
    for event in said:
        question = event.question
        if event.kind not in ("answer", "flip") or event.id in kept or question is None:
            continue
        chance = chance_of(links_of(question, event.choice, with_others=False), shares, position)
        if chance < DOUBTFUL:
            other = likeliest_choice(question, event.choice, shares, position)
            doubted.append(DoubtedAnswer(event, chance, other))
    return sorted(doubted, key=lambda answer: answer.chance)[:MOST_LISTED]


def chance_of(links: Iterable[Link], shares: np.ndarray, position: np.ndarray) -> float:
    """That all these links hold, by the least likely of them; 1 where nothing is known."""
    chances = [1.0]
    for link in links:
        if link.kind in ("must_link", "cannot_link") and link.weight > 0:
            a, b = position[list(link.points)]
            together = float(shares[a] @ shares[b]) if min(a, b) >= 0 else np.nan
            chances.append(together if link.kind == "must_link" else 1 - together)
    return float(np.nanmin(chances))


def likeliest_choice(
    question: Question, choice: Any, shares: np.ndarray, position: np.ndarray
) -> Any:
    """The other choice that the links speak for; None where a question has no opposite."""
    if question.kind in ("pair", "review"):
        return {TOGETHER: APART, APART: TOGETHER}.get(choice)
    if question.kind != "group" or choice == CANT_TELL:
        return None
    others = [c for c in (*range(len(question.groups)), NEW) if c != choice]
    chances = [
        chance_of(links_of(question, other, with_others=False), shares, position)
        for other in others
    ]
    return others[int(np.argmax(chances))]
