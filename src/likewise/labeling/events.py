"""Events: what happened in a session, in order; everything else follows from them.

    shown    a question was put to somebody
    answer   it was answered
    action   somebody merged, split, moved or confirmed groups without being asked
    keep     an answer was looked at again and is right: one more look
    flip     an answer was looked at again and is wrong: it is taken back, and this one holds
    settle   a reviewer decided a question: other answers to it no longer count
    name     rows, and the cluster they are typical of, got a name
    skip     it was put aside unanswered
    undo     any of these but a skip was taken back
    refit    a model was fitted to all answers so far

Events are only ever added: an undo is an event that names another one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from likewise.labeling.questions import Question

SAYING = ("answer", "action", "keep", "flip", "settle")  # something about rows
UNDOABLE = (*SAYING, "name")
KINDS = ("shown", *UNDOABLE, "skip", "undo", "refit")


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Parameters
    ----------
    kind : {"shown", "answer", "action", "keep", "flip", "settle", "name", "skip", "undo", "refit"}
    id : str
        Given by whoever sends it; an id that is sent twice counts once.
    question : Question, default=None
        What was shown, answered, done or skipped.
    choice : str, int or tuple of int, default=None
        The answer, one that the question offers; a name.
    annotator : str, default=""
    at : str, default=""
        When, ISO 8601 in UTC.
    seconds : float, default=None
        How long the person took.
    undoes : str, default=""
        The id of the event that an undo takes back, or that a keep or a flip is about.

    Examples
    --------
    >>> from likewise.labeling import Event, Question
    >>> Event("answer", "e1", Question("pair", (0, 1)), "apart", annotator="ann").choice
    'apart'
    """

    kind: str
    id: str
    question: Question | None = None
    choice: Any = None
    annotator: str = ""
    at: str = ""
    seconds: float | None = None
    undoes: str = ""


def in_force(events: Iterable[Event]) -> list[Event]:
    """All that was said or named and not taken back, in order."""
    events = list(events)
    undone = {event.undoes for event in events if event.kind == "undo"}
    return [event for event in events if event.kind in UNDOABLE and event.id not in undone]


def counted(events: Iterable[Event]) -> list[Event]:
    """What was said about rows and holds: not taken back, not flipped, not overruled, in order."""
    said = [event for event in in_force(events) if event.kind in SAYING]
    flipped = {event.undoes for event in said if event.kind == "flip"}
    settled = {what_is_asked(event): event for event in said if event.kind == "settle"}
    return [
        event
        for event in said
        if event.id not in flipped and not is_overruled(event, settled.get(what_is_asked(event)))
    ]


def is_overruled(event: Event, settlement: Event | None) -> bool:
    """Whether a question was settled, and not as this event says."""
    if settlement is None or settlement is event or event.kind == "action":
        return False
    return meaning(event) != meaning(settlement)


def what_is_asked(event: Event) -> tuple | None:
    """Equal for events about the same question, whatever the order of its rows."""
    question = event.question
    return None if question is None else (question.kind, frozenset(question.keys))


def meaning(event: Event) -> Any:
    """The choice in terms of rows, whatever their order on the screen."""
    question, choice = event.question, event.choice
    if question is None or isinstance(choice, str):
        return choice
    if question.kind == "group":
        return question.groups[choice][0]
    if question.kind == "odd_one_out":
        return question.rows[choice]
    if question.kind == "grid":
        return frozenset(question.rows[1:][i] for i in choice)
    return choice


def last_counted(events: Iterable[Event], annotator: str | None) -> Event | None:
    """What an undo takes back: the last answer, action or name, or a person's last."""
    for event in reversed(in_force(events)):
        if annotator is None or event.annotator == annotator:
            return event
    return None


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat()
