"""The question to ask a person now, beside those that others have before them or that wait.

Random numbers depend on the seed, on who is asked, on what has happened and on how many questions
wait already, and on nothing else: a session that is opened again asks what it would have asked.
"""

import zlib
from collections.abc import Sequence

import numpy as np

from likewise.labeling.asked_again import choose_again
from likewise.labeling.events import Event
from likewise.labeling.groups_so_far import GroupsSoFar
from likewise.labeling.machine_answers import looks_from, questions_for_machine
from likewise.labeling.other_kinds import choose_of_kinds
from likewise.labeling.questions import Question

REVIEW_SHARE = 0.5  # of the questions, where a session begins from clusters


def choose_beside(
    events: Sequence[Event],
    groups: GroupsSoFar,
    annotator: str,
    beside: Sequence[Question],
    kinds: tuple[str, ...],
    repeat_share: float,
) -> Question | None:
    """The question to ask now, but for those beside it; None when nothing is left to learn."""
    rng = draw_for(groups.seed, events, annotator, len(beside))
    if rng.random() < repeat_share:
        again = choose_again(events, annotator, rng)
        if again is not None and again not in beside:
            return again
    mind, knowledge = groups.rows_in_mind(events), groups.knowledge(events)
    on_screens = mind.keys_at(key for question in beside for key in question.keys)
    knowledge = knowledge._replace(asked=knowledge.asked | on_screens)
    if groups.machines and knowledge.n_groups > 1:
        joined = groups.belief(events).memberships
        if joined.shape == knowledge.memberships.shape:
            knowledge = knowledge._replace(memberships=joined)
    question = None
    if groups.start is not None and rng.random() < REVIEW_SHARE:
        question = groups.start.review(knowledge, mind, rng)
    if question is None:
        question = choose_of_kinds(knowledge, kinds, rng)
    return None if question is None else question.at(mind.rows)


def choose_for_machine(
    events: Sequence[Event], groups: GroupsSoFar, name: str, n_questions: int
) -> list[Question]:
    """Questions to put to a machine, in this order; none before people have named two groups."""
    settled = groups.settled(events)
    if settled.n_groups < 2:
        return []
    mind = groups.rows_in_mind(events)
    looks = looks_from([event for event in events if event.annotator == name], mind.position)
    questions = questions_for_machine(
        groups.knowledge(events),
        settled,
        looks,
        groups.belief(events).memberships,
        n_questions,
        draw_for(groups.seed, events, name),
    )
    return [question.at(mind.rows) for question in questions]


def draw_for(
    seed: int, events: Sequence[Event], annotator: str, n_beside: int = 0
) -> np.random.Generator:
    """Random numbers for the next question to a person."""
    n_events = sum(event.kind not in ("shown", "refit") for event in events)
    seeds = [seed, n_events, zlib.crc32(annotator.encode()), n_beside]
    return np.random.default_rng(seeds if n_beside else seeds[:3])
