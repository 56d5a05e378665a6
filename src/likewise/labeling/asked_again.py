"""Asking again: the same question with its sides swapped, and what people say the second time.

A share of the questions comes again, to measure a person's agreement with themselves; rows whose
answers are doubtful come again by other questions. Everything here follows from the events.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from likewise.labeling.decided_groups import pairs_that_hold
from likewise.labeling.events import Event, counted, meaning
from likewise.labeling.knowledge import Founder, join_components
from likewise.labeling.questions import ANOTHER, APART, CANT_TELL, KINDS, NEW, TOGETHER, Question

WHY_APART = "one answer alone keeps their groups apart"
WHY_JOINED = "one answer alone joins their groups"
REPEAT_AFTER = 10  # answers of the same person in between


def choose_again(
    events: Sequence[Event], annotator: str, rng: np.random.Generator
) -> Question | None:
    """A question that this person answered some time ago, with sides swapped."""
    own = [
        event.question
        for event in counted(events)
        if event.annotator == annotator
        and event.kind == "answer"
        and event.question is not None
        and event.question.kind in KINDS
        and event.choice not in (CANT_TELL, ANOTHER)
    ]
    repeated = {question.rows for question in own if question.is_repeat}
    once = [q for q in own[:-REPEAT_AFTER] if not q.is_repeat and swap(q).rows not in repeated]
    return swap(once[int(rng.integers(len(once)))]) if once else None


def asked_keys(events: Sequence[Event]) -> set[tuple[int, ...]]:
    """What was asked and answered, or skipped."""
    done = counted(events) + [event for event in events if event.kind == "skip"]
    return {key for event in done if event.question is not None for key in event.question.keys}


def is_stale(question: Question, events: Sequence[Event]) -> bool:
    """Whether somebody else has answered it meanwhile."""
    is_second_screen = not question.is_repeat and any(
        event.choice == ANOTHER
        and event.question is not None
        and event.question.rows == question.rows
        for event in events
    )
    return (
        not question.is_repeat
        and not is_second_screen
        and bool(asked_keys(events).intersection(question.keys))
    )


def swap(question: Question) -> Question:
    """The same question with its sides, or the groups shown, the other way round."""
    rows = question.rows
    if question.kind in ("pair", "odd_one_out"):
        rows = rows[::-1]
    elif question.kind == "grid":
        rows = (rows[0], *rows[:0:-1])
    why = "asked before, to see how consistent the answers are"
    shown = question.groups[::-1]
    return replace(question, rows=rows, groups=shown, is_repeat=True, is_random=False, why=why)


class Looks(NamedTuple):
    """What all looks at single rows come to."""

    events: list[Event]  # without group answers that other looks at the same row outvote
    joined: list[tuple[int, int]]  # the row that began a group, a row of the group it is part of
    left_open: frozenset  # rows whose looks are even
    founders: tuple[Founder, ...]
    settled: frozenset  # rows with two answers that agree, or with three
    n_again: int
    n_changed: int


def settle_looks(events: Sequence[Event], n_samples: int) -> Looks:
    """Group answers after the looks at each row have voted.

    Two answers that put a row into different groups do not make these one: the row follows most of
    its looks, and is left open if they are even. "A new group" is the weaker of two, unless other
    rows have joined that group since; then it takes two looks to make it part of another.
    """
    looks = looks_by_row(events)
    again = {row for row, of_row in looks.items() if len(of_row) > 1}
    voting = {event.id for row in again for event in looks[row]}
    rest = [event for event in events if event.id not in voting]
    groups = (
        join_components(pairs_that_hold(rest, n_samples))[0] if again else np.full(n_samples, -1)
    )
    sizes = np.bincount(groups[groups >= 0])
    joined, founders, settled, left_open = [], [], set(), set()
    outvoted: set[str] = set()
    n_again = n_changed = 0
    n_before = {event.id: i for i, event in enumerate(events)}
    for row, of_row in looks.items():
        has_joined = bool(groups[row] >= 0 and sizes[groups[row]] > 1)
        said = [name_choice(event, groups) for event in of_row]
        if has_joined and NEW in said:  # the group that it began, shown by rows that joined it
            own = int(groups[row])
            said = [NEW if name == own else name for name in said]
        n_again += len(said) - 1
        n_changed += sum(name not in said[:i] for i, name in enumerate(said) if i)
        if len(said) > 2 or len(set(said)) < len(said):
            settled.add(row)
        elsewhere = [chosen_row(event) for event, name in zip(of_row, said) if name != NEW]
        if len(elsewhere) < len(of_row):
            first = next(event for event in of_row if event.choice == NEW)
            n_new = len(of_row) - len(elsewhere)
            founders.append(Founder(row, n_before[first.id], n_new, tuple(elsewhere)))
        winner = vote(said, prefers_new=has_joined)
        outvoted |= {event.id for event, name in zip(of_row, said) if name != winner}
        if winner is None and not has_joined:
            left_open.add(row)
        if has_joined and winner not in (NEW, None) and NEW in said:
            joined.append((row, elsewhere[-1]))
    kept = [event for event in events if event.id not in outvoted]
    return Looks(
        kept,
        joined,
        frozenset(left_open),
        tuple(founders),
        frozenset(settled),
        n_again,
        n_changed,
    )


def is_look(event: Event) -> bool:
    """An answer that names the group of one row."""
    is_group = event.question is not None and event.question.kind == "group"
    return is_group and (event.choice == NEW or not isinstance(event.choice, str))


def looks_by_row(events: Sequence[Event]) -> dict[int, list[Event]]:
    looks: dict[int, list[Event]] = {}
    for event in events:
        if is_look(event) and event.question is not None:
            looks.setdefault(event.question.rows[0], []).append(event)
    return looks


def chosen_row(event: Event) -> int:
    """The row that stands for the group that was chosen."""
    return event.question.groups[event.choice][0] if event.question is not None else -1


def name_choice(event: Event, groups: np.ndarray) -> Any:
    """The group that an answer names: "new", its number, or a row that has none."""
    if event.choice == NEW:
        return NEW
    row = chosen_row(event)
    return int(groups[row]) if groups[row] >= 0 else ("row", row)


def vote(said: Sequence[Any], *, prefers_new: bool) -> Any:
    """What was said most often; None where two groups are even."""
    counts = {name: said.count(name) for name in said}
    most = max(counts.values())
    winners = [name for name, n in counts.items() if n == most]
    if NEW in winners and len(winners) > 1:
        winners = [NEW] if prefers_new else [name for name in winners if name != NEW]
    return winners[0] if len(winners) == 1 else None


def pairs_confirmed(events: Sequence[Event]) -> tuple[int, int]:
    """How many pairs were about parts that one answer joins or keeps apart; how many disagreed."""
    n_again = n_changed = 0
    for event in events:
        question = event.question
        if question is None or question.kind != "pair" or event.choice not in (TOGETHER, APART):
            continue
        if question.is_repeat and question.why in (WHY_JOINED, WHY_APART):
            n_again += 1
            n_changed += event.choice == (APART if question.why == WHY_JOINED else TOGETHER)
    return n_again, n_changed


def consistency_of(answers: Sequence[Event]) -> float:
    """Share of the questions asked again that got the same answer; nan if there are none."""
    same = []
    for i, event in enumerate(answers):
        question = event.question
        if question is None or not question.is_repeat or event.choice == CANT_TELL:
            continue
        before = [e for e in answers[:i] if e.question is not None and swap(e.question) == question]
        if before:
            same.append(meaning(before[0]) == meaning(event))
    return float(np.mean(same)) if same else float("nan")
