"""Events: what happened in a session, in order; everything else follows from them.

    shown    a question was put to somebody
    answer   it was answered
    action   somebody merged, split, moved or confirmed groups without being asked
    skip     it was put aside unanswered
    undo     an answer or an action was taken back
    refit    a model was fitted to all answers so far

Events are only ever added: an undo is an event that names another one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from likewise.labeling.questions import Question

KINDS = ("shown", "answer", "action", "skip", "undo", "refit")


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Parameters
    ----------
    kind : {"shown", "answer", "action", "skip", "undo", "refit"}
    id : str
        Given by whoever sends it; an id that is sent twice counts once.
    question : Question, default=None
        What was shown, answered, done or skipped.
    choice : str, int or tuple of int, default=None
        The answer, one that the question offers.
    annotator : str, default=""
    at : str, default=""
        When, ISO 8601 in UTC.
    seconds : float, default=None
        How long the person took.
    undoes : str, default=""
        The id of the event that an undo takes back.

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


def counted(events: Iterable[Event]) -> list[Event]:
    """The answers and actions that were not taken back, in order."""
    events = list(events)
    undone = {event.undoes for event in events if event.kind == "undo"}
    return [
        event for event in events if event.kind in ("answer", "action") and event.id not in undone
    ]


def last_counted(events: Iterable[Event], annotator: str | None) -> Event | None:
    """The answer or action that an undo takes back: the last, or a person's last."""
    for event in reversed(counted(events)):
        if annotator is None or event.annotator == annotator:
            return event
    return None
