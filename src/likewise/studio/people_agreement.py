"""Who agrees with whom, from questions that several people answered.

    agreement(a, b)   share of the questions both answered on which they said the same
    reliability(a)    (agreed + 1) / (compared + 2), compared with the others' answers one by one

The reliability is the mean of a uniform prior after the comparisons: 1/2 before any, and honest
about few. It counts disagreements against both sides; a person whom all contradict stands out once
there are three. "Can't tell" is no disagreement.

Whoever joins two clusters that others keep apart, or splits one, disagrees without being wrong:
`other_views` names them (evaluation.seen_differently).
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np

from likewise.evaluation import seen_differently
from likewise.labeling import (
    ANOTHER,
    CANT_TELL,
    KINDS,
    Event,
    consistency_of,
    constraints_from,
    in_force,
    meaning,
    what_is_asked,
)

HASTY_SECONDS = 0.3  # below, nobody has read the question


class Agreement(NamedTuple):
    first: str
    second: str
    share: float
    n_questions: int


class PersonRecord(NamedTuple):
    """What somebody's answers say about them."""

    name: str
    n_answers: int
    reliability: float
    n_compared: int
    consistency: float  # nan without repeats
    median_seconds: float | None
    n_hasty: int


class Dispute(NamedTuple):
    """A question that people answered differently."""

    votes: tuple[Event, ...]  # the last of each person
    settlement: Event | None


class OtherView(NamedTuple):
    """Somebody who sees the clusters differently, by the numbers that clusters have on screen."""

    name: str
    kind: str  # "merges" or "splits"
    clusters: tuple[int, ...]  # the two that are one to them, or the one that is two
    rows: tuple[int, ...]  # the smaller side of a split
    n_answers: int  # that say so


def votes_by_question(events: Sequence[Event]) -> dict[tuple, dict[str, Event]]:
    """The last answer of each person to each question that was not a repeat."""
    votes: dict[tuple, dict[str, Event]] = defaultdict(dict)
    for event in in_force(events):
        question = event.question
        if event.kind not in ("answer", "flip") or question is None:
            continue
        if question.kind in KINDS and not question.is_repeat and event.choice != ANOTHER:
            votes[what_is_asked(event)][event.annotator] = event  # type: ignore[index]
    return votes


def disputes(events: Sequence[Event]) -> list[Dispute]:
    """Questions that were answered differently, the latest first; settled ones among them."""
    settled = {what_is_asked(e): e for e in in_force(events) if e.kind == "settle"}
    found = []
    for asked, by_name in votes_by_question(events).items():
        decided = [event for event in by_name.values() if event.choice != CANT_TELL]
        if len({meaning(event) for event in decided}) > 1:
            found.append(Dispute(tuple(by_name.values()), settled.get(asked)))
    return found[::-1]


def agreements(events: Sequence[Event]) -> list[Agreement]:
    """For every two people who answered the same questions."""
    same: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for by_name in votes_by_question(events).values():
        decided = [e for e in by_name.values() if e.choice != CANT_TELL]
        decided.sort(key=lambda event: event.annotator)
        for a, b in combinations(decided, 2):
            same[a.annotator, b.annotator].append(meaning(a) == meaning(b))
    return [Agreement(a, b, sum(s) / len(s), len(s)) for (a, b), s in sorted(same.items())]


def person_records(events: Sequence[Event]) -> list[PersonRecord]:
    """Everybody who answered, by name."""
    agreed: dict[str, float] = defaultdict(float)
    compared: dict[str, int] = defaultdict(int)
    for first, second, share, n_questions in agreements(events):
        for name in (first, second):
            agreed[name] += share * n_questions
            compared[name] += n_questions
    by_name: dict[str, list[Event]] = defaultdict(list)
    for event in in_force(events):
        if event.kind == "answer":
            by_name[event.annotator].append(event)
    return [
        PersonRecord(
            name,
            len(answers),
            (agreed[name] + 1) / (compared[name] + 2),
            compared[name],
            consistency_of(answers),
            median(times) if (times := seconds_of(answers)) else None,
            sum(seconds < HASTY_SECONDS for seconds in times),
        )
        for name, answers in sorted(by_name.items())
    ]


def other_views(
    events: Sequence[Event], labels: np.ndarray, X: np.ndarray | None = None
) -> list[OtherView]:
    """Who joins or splits clusters, the surest first; splits only where features X are given."""
    found = seen_differently(labels, constraints_from(events, len(labels)), X)
    return [
        OtherView(name, kind, clusters, tuple(rows.tolist()), len(answers))
        for name, kind, clusters, rows, answers, _ in found
    ]


def seconds_of(answers: Sequence[Event]) -> list[float]:
    """How long answers took, where that is known."""
    return [event.seconds for event in answers if event.seconds is not None]
