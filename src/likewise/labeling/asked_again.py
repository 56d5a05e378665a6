"""Asking again: the same question with its sides swapped, and what people say the second time.

A share of the questions comes again, to measure a person's agreement with themselves; rows whose
answers are doubtful come again by other questions. Everything here follows from the events.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from likewise.labeling.events import Event, counted
from likewise.labeling.questions import ANOTHER, CANT_TELL, KINDS, Question

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
    """Rows whose group was asked for more than once."""

    settled: frozenset  # rows with two answers that agree, or with three
    n_again: int
    n_changed: int


def looks_at_rows(events: Sequence[Event], groups: np.ndarray) -> Looks:
    """How often people were asked again about the group of a row, and said something else."""
    said: dict[int, list] = {}
    n_again = n_changed = 0
    for event in events:
        if event.question is None or event.question.kind != "group" or event.choice == ANOTHER:
            continue
        before = said.setdefault(event.question.rows[0], [])
        if event.choice == CANT_TELL:
            continue
        group = event.choice
        if not isinstance(group, str):
            group = int(groups[event.question.groups[group][0]])
        n_again += bool(before)
        n_changed += bool(before) and group not in before
        before.append(group)
    settled = {row for row, all_said in said.items() if len(all_said) > 2}
    settled |= {row for row, all_said in said.items() if len(set(all_said)) < len(all_said)}
    return Looks(frozenset(settled), n_again, n_changed)


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


def meaning(event: Event) -> Any:
    """The choice in terms of rows, whatever their order on the screen."""
    question, choice = event.question, event.choice
    if question is None or isinstance(choice, str):
        return choice
    if question.kind == "group":
        return question.groups[choice][0]
    if question.kind == "odd_one_out":
        return question.rows[choice]
    return {question.rows[1:][i] for i in choice}
