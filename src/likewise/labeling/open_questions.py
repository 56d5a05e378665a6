"""Which question is on whose screen: what events open and close.

A question that was shown is open until it is answered or skipped. "Another group" opens the next
screen of the same question, and an undo the question that was answered. A question that was shown
to nobody by name may be answered by anybody, who is named only then: the screen stays the unnamed
one.
"""

from collections.abc import Sequence

from likewise.labeling.asked_again import is_stale
from likewise.labeling.events import Event
from likewise.labeling.questions import ANOTHER, Question
from likewise.labeling.what_to_ask import next_screen


class OpenQuestions:
    """The question that each person has before them."""

    def __init__(self) -> None:
        self._by_name: dict[str, Question] = {}
        self._answered_at: dict[str, str] = {}  # an answer -> whose screen it was given at

    def of(self, name: str, events: Sequence[Event]) -> Question | None:
        """A person's question; None if there is none, or if somebody else has answered it."""
        question = self._by_name.get(name)
        return None if question is None or is_stale(question, events) else question

    def of_others(self, name: str) -> tuple[Question, ...]:
        """The questions before everybody else."""
        return tuple(shown for other, shown in self._by_name.items() if other != name)

    def close(self, name: str) -> None:
        """A person has nothing to answer."""
        self._by_name.pop(name, None)

    def follow(self, event: Event, events: Sequence[Event]) -> None:
        """Open and close what an event does, the last of all events so far."""
        name, question = event.annotator, event.question
        if event.kind == "shown" and question is not None:
            self._by_name[name] = question
        elif event.kind == "undo":
            undone = next((e for e in events if e.id == event.undoes), None)
            if undone is not None and undone.kind == "answer" and undone.question is not None:
                self._by_name[self._answered_at.get(undone.id, name)] = undone.question
        elif event.kind in ("answer", "skip"):
            screen = self._screen_of(name, question)
            self._answered_at[event.id] = screen
            self.close(screen)
            if event.choice == ANOTHER and question is not None and question.more:
                self._by_name[screen] = next_screen(question)

    def _screen_of(self, name: str, question: Question | None) -> str:
        is_own = self._by_name.get(name) == question
        return "" if not is_own and self._by_name.get("") == question else name
