"""What the page sends as events: read, checked against the desk, and refused in one line."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from likewise.labeling import (
    ACTIONS,
    KINDS,
    NAME,
    SAYING,
    UNDOABLE,
    Event,
    Question,
    check_question,
    now,
)
from likewise.studio.answer_desk import AnswerDesk
from likewise.studio.visitors import trouble_with_start

MOST_SECONDS = 86_400.0  # an answer that took longer says nothing about time
MOST_ROWS = 10_000  # in one action
LONGEST_NAME = 80  # letters of a cluster's name
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")  # of an event


class Refused(ValueError):
    """An event that cannot be taken, in one line for a person."""


def read_event(
    desk: AnswerDesk, name: str, cells: Mapping[str, Any], *, is_reviewer: bool = False
) -> Event:
    """What somebody sent as an event, or `Refused`."""
    event_id, kind = cells.get("id"), cells.get("kind")
    if not isinstance(event_id, str) or not ID.fullmatch(event_id):
        raise Refused("An event needs an id of 1 to 64 letters or digits.")
    if not isinstance(kind, str):
        raise Refused("The kind of an event is text.")
    base = Event(kind, event_id, annotator=name, at=now())
    if kind in ("answer", "skip"):
        return read_answer(desk, base, cells)
    if kind == "undo":
        return replace(base, undoes=what_to_undo(desk, name, cells.get("undoes"), is_reviewer))
    if kind in ACTIONS:
        question = read_question(desk, kind, cells)
        return replace(base, kind="action", question=question, choice=ACTIONS[kind])
    if kind == NAME:
        return replace(base, question=read_question(desk, NAME, cells), choice=read_name(cells))
    if kind in ("keep", "flip"):
        return read_second_look(desk, base, cells)
    if kind == "settle":
        if not is_reviewer:
            raise Refused("Only a reviewer can settle a question.")
        return read_settlement(desk, base, cells)
    raise Refused(f"kind={kind!r} of an event is unknown.")


def read_answer(desk: AnswerDesk, base: Event, cells: Mapping[str, Any]) -> Event:
    """An answer to a question that this person was given, or a skip of it."""
    question_id = str(cells.get("question"))
    whose, question = desk.questions.get(question_id, ("", None))
    if question is None or whose != base.annotator:
        raise Refused("This question is not yours, or is no longer known. Take the next one.")
    if desk.is_answered(question_id):
        raise Refused("This question was answered already.")
    if base.kind == "skip":
        return replace(base, question=question)
    choice = check_choice(question, cells.get("choice"))
    return replace(base, question=question, choice=choice, seconds=read_seconds(cells))


def what_to_undo(desk: AnswerDesk, name: str, wanted: Any, is_reviewer: bool) -> str:
    """The id of what is taken back: the last of one's own, or the one that is named."""
    if wanted is None:
        if not desk.person(name).said:
            raise Refused("There is nothing to take back.")
        return desk.person(name).said[-1]
    event = desk.by_id.get(str(wanted))
    if event is None or event.kind not in UNDOABLE:
        raise Refused("There is no such answer or action to take back.")
    if event.id in desk.undone:
        raise Refused("This was taken back already.")
    if event.annotator != name and not is_reviewer:
        raise Refused("Only a reviewer can take back what others did.")
    return event.id


def read_second_look(desk: AnswerDesk, base: Event, cells: Mapping[str, Any]) -> Event:
    """An answer that was looked at again: kept, or flipped to another choice."""
    before = desk.by_id.get(str(cells.get("answer")))
    if before is None or before.question is None or before.kind not in SAYING:
        raise Refused("There is no such answer.")
    if before.id in desk.undone:
        raise Refused("This answer was taken back already.")
    choice = before.choice
    if base.kind == "flip":
        choice = cells.get("choice", desk.flips.get(before.id))
        if choice is None:
            raise Refused("This answer has no opposite. Take it back instead.")
        choice = check_choice(before.question, choice)
    return replace(base, question=before.question, choice=choice, undoes=before.id)


def read_settlement(desk: AnswerDesk, base: Event, cells: Mapping[str, Any]) -> Event:
    """The answer that holds, to a question that people disagree about."""
    question = desk.disputed(read_rows(cells.get("rows")), cells.get("question_kind"))
    if question is None:
        raise Refused("Nobody was asked this question.")
    return replace(base, question=question, choice=check_choice(question, cells.get("choice")))


def read_question(desk: AnswerDesk, kind: str, cells: Mapping[str, Any]) -> Question:
    """Rows and groups that somebody did something to."""
    question = Question(kind, read_rows(cells.get("rows")), read_groups(cells.get("groups")))
    if kind == NAME and not question.rows:
        raise Refused("A name needs the rows that it is about.")
    try:
        return check_question(question, desk.n_rows)
    except ValueError as error:
        raise Refused(str(error)) from None


def check_choice(question: Question, choice: Any) -> Any:
    """A choice as it is kept, if the question offers it."""
    if question.kind not in KINDS:
        raise Refused("This was no question.")
    try:
        return question.check_choice(tuple(choice) if isinstance(choice, list) else choice)
    except (ValueError, TypeError) as error:
        raise Refused(str(error)) from None


def read_name(cells: Mapping[str, Any]) -> str:
    """What a cluster is called; nothing takes its name away."""
    name = cells.get("name")
    name = " ".join(name.split()) if isinstance(name, str) else None
    if name is None or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(f"A name has at most {LONGEST_NAME} printable letters.")
    if line := trouble_with_start(name):
        raise Refused(line)
    return name


def read_seconds(cells: Mapping[str, Any]) -> float | None:
    """How long an answer took; None where that cannot be."""
    seconds = cells.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return round(float(seconds), 3) if 0 <= seconds <= MOST_SECONDS else None


def read_rows(numbers: Any) -> tuple[int, ...]:
    """Row numbers from JSON."""
    numbers = [] if numbers is None else numbers
    is_list = isinstance(numbers, list) and len(numbers) <= MOST_ROWS
    if not is_list or any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
        raise Refused(f"rows must be a list of at most {MOST_ROWS} row numbers.")
    return tuple(numbers)


def read_groups(lists: Any) -> tuple[tuple[int, ...], ...]:
    """Lists of row numbers from JSON."""
    lists = [] if lists is None else lists
    if not isinstance(lists, list) or len(lists) > MOST_ROWS:
        raise Refused("groups must be a list of lists of row numbers.")
    return tuple(map(read_rows, lists))
