"""The desk: who has which questions, what came back, and what can be taken back.

A plain state machine, on one thread and without input or output. Its state follows from events, all
of which went through the log first: a question is issued by a "shown" event, whose id is the id of
the question on the page. An answer that arrives after a restart therefore finds its question.

A question may be shown again in a wider form, with a group that came up since: a "shown" event that
names the one before. An answer to any of these versions answers all of them.
"""

import random
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from likewise.labeling import (
    ANOTHER,
    CANT_TELL,
    KINDS,
    MOST_SHOWN,
    NEW,
    UNDOABLE,
    Event,
    Question,
    now,
)

N_AHEAD = 2  # questions that a person has: the one on the screen, and the next
LEASE_SECONDS = 300.0  # after which the questions of somebody idle may go to others


@dataclass
class Person:
    """Somebody who answers."""

    name: str
    kinds: tuple[str, ...]
    waiting: list[str] = field(default_factory=list)  # ids of questions, the one on screen first
    said: list[str] = field(default_factory=list)  # ids of what can be taken back, in order
    last_seen: float = -1e9
    skipped: list[str] = field(default_factory=list)
    is_done: bool = False  # nothing was left to ask when last thought about


class AnswerDesk:
    """Questions out, answers in.

    Parameters
    ----------
    n_rows : int
    kinds : tuple of str
        Kinds of question that a new person gets.
    clock : callable, default=time.monotonic
    """

    def __init__(
        self, n_rows: int, kinds: tuple[str, ...], clock: Callable[[], float] = time.monotonic
    ):
        self.n_rows, self.kinds, self._clock = n_rows, kinds, clock
        self.events: list[Event] = []
        self.by_id: dict[str, Event] = {}
        self.questions: dict[str, tuple[str, Question]] = {}  # id -> whose, what
        self.people: dict[str, Person] = {}
        self.undone: set[str] = set()
        self.named: dict[str, None] = {}  # ids of names, taken back or not
        self.flips: dict[str, Any] = {}  # id of a doubted answer -> what it probably should be
        self.n_changes = 0  # events that change what is known
        self.n_answers = 0  # answers that were not taken back
        self._first: dict[str, str] = {}  # id of a question -> that of its first version
        self._versions: dict[str, list[str]] = defaultdict(list)  # of a first version, all of them
        self._ids: dict[tuple[str, Question], str] = {}  # whose, what -> id
        self._answers_to: dict[str, str] = {}  # id of an answer or skip -> that of its question
        self._answered: Counter[str] = Counter()  # first versions -> answers that hold
        self._asked: Counter[tuple[int, ...]] = Counter()  # keys of what was answered or skipped
        self._askers: dict[tuple, set[str]] = defaultdict(set)  # kind, keys -> who had it
        self._urgent: set[str] = set()  # ids of "shown" events that go to the front

    def person(self, name: str) -> Person:
        """Somebody by name, known from now on."""
        if name not in self.people:
            self.people[name] = Person(name, self.kinds)
        return self.people[name]

    def see(self, name: str) -> Person:
        """The same, and they are here."""
        person = self.person(name)
        person.last_seen = self._clock()
        return person

    # Events that were saved

    def apply(self, event: Event) -> None:
        """Let an event count that is in the log."""
        if event.id in self.by_id:
            return
        self.events.append(event)
        self.by_id[event.id] = event
        person = self.person(event.annotator)
        if event.kind == "shown" and event.question is not None:
            self._apply_shown(event, event.question, person)
        elif event.kind == "undo":
            self._apply_undo(event)
        elif event.kind == "skip":
            self.n_changes += 1
            person.skipped.append(event.id)
            self._take_off(person, event)
            self._count(event, 1)
        elif event.kind in UNDOABLE:
            self.n_changes += event.kind != "name"
            person.said.append(event.id)
            if event.kind == "name":
                self.named[event.id] = None  # in order
            if event.kind == "action":
                self.drop_prepared()
            if event.kind == "answer":
                self.n_answers += 1
                self._take_off(person, event)
                self._count(event, 1)

    def _apply_shown(self, event: Event, question: Question, person: Person) -> None:
        self.questions[event.id] = person.name, question
        self._ids[person.name, question] = event.id
        self._first[event.id] = self._first.get(event.undoes, event.id)
        self._versions[self._first[event.id]].append(event.id)
        self._askers[question.kind, question.keys].add(person.name)
        if event.undoes:  # shown instead of an earlier version, if that is still open
            person.waiting = [event.id if i == event.undoes else i for i in person.waiting]
        elif event.id in self._urgent or event.question in self._next_screens(person):
            self._urgent.discard(event.id)
            person.waiting.insert(0, event.id)
        else:
            person.waiting.append(event.id)

    def _next_screens(self, person: Person) -> list[Question]:
        """What follows from the last answer, if that was "another group"."""
        last = self.by_id[person.said[-1]] if person.said else None
        if last is None or last.choice != ANOTHER or last.question is None:
            return []
        return [next_screen(last.question)]

    def _apply_undo(self, event: Event) -> None:
        undone = self.by_id.get(event.undoes)
        if undone is None or undone.id in self.undone:
            return
        self.undone.add(undone.id)
        self.n_changes += 1
        person = self.person(undone.annotator)
        if undone.id in person.said:
            person.said.remove(undone.id)
        if undone.kind == "answer" and undone.question is not None:
            self.n_answers -= 1
            self._count(undone, -1)
            self._put_back(person, undone, undone.question)

    def _put_back(self, person: Person, undone: Event, question: Question) -> None:
        """Its question is open again, instead of the screen that followed from it."""
        if undone.choice == ANOTHER and question.more:
            follow_up = next_screen(question)
            person.waiting = [i for i in person.waiting if self.questions[i][1] != follow_up]
        question_id = self._answers_to.get(undone.id)
        if question_id is not None and question_id not in person.waiting:
            person.waiting.insert(0, question_id)

    def _take_off(self, person: Person, event: Event) -> None:
        """No version of the question of an answer waits any longer.

        A study may ask the same twice: the one that waits is meant, not the one asked last.
        """
        if event.question is None:
            return
        waiting = [i for i in person.waiting if self.questions[i][1] == event.question]
        question_id = waiting[0] if waiting else self._ids.get((person.name, event.question))
        if question_id is not None:
            self._answers_to[event.id] = question_id
            first = self._first[question_id]
            person.waiting = [i for i in person.waiting if self._first[i] != first]

    def _count(self, event: Event, by: int) -> None:
        question = event.question
        if question is None:
            return
        for key in question.keys:
            self._asked[key] += by
        question_id = self._answers_to.get(event.id)
        if question_id is not None and event.kind == "answer":
            self._answered[self._first[question_id]] += by

    def n_done(self, name: str) -> int:
        """Questions that somebody answered or skipped."""
        person = self.person(name)
        return len(person.skipped) + sum(self.by_id[i].kind == "answer" for i in person.said)

    def trials(self, name: str) -> list[Question]:
        """Questions that somebody answered, skipped, or has."""
        person = self.person(name)
        events = [self.by_id[i] for i in (*person.said, *person.skipped)]
        done = [e.question for e in events if e.kind in ("answer", "skip") and e.question]
        return done + [self.questions[i][1] for i in person.waiting]

    # Questions

    def is_answered(self, question_id: str) -> bool:
        """Whether an answer to any version of a question holds."""
        return self._answered[self._first[question_id]] > 0

    def versions_before(self, question_id: str) -> list[str]:
        """Ids of the earlier versions of a question."""
        ids = self._versions[self._first[question_id]]
        return ids[: ids.index(question_id)]

    def issue(self, name: str, question: Question, *, is_urgent: bool = False) -> Event:
        """The event that gives a question to somebody; it counts once it is saved and applied."""
        event = Event("shown", uuid.uuid4().hex, question, annotator=name, at=now())
        if is_urgent:
            self._urgent.add(event.id)
        return event

    def follow_up(self, event: Event) -> Event | None:
        """The event that shows the next screen after "another group"."""
        question = event.question
        if event.choice != ANOTHER or question is None or not question.more:
            return None
        return self.issue(event.annotator, next_screen(question))

    def with_new_group(self, event: Event) -> list[Event]:
        """After "a new group": events that show it in the questions this person has prepared.

        Those of others stay as they are: with many people that would be an event for each of them.
        """
        question, person = event.question, self.person(event.annotator)
        if event.choice != NEW or question is None or question.kind != "group":
            return []
        own = self._ids.get((person.name, question))
        answered = None if own is None else self._first[own]
        shown = []
        for i in person.waiting:
            prepared = self.questions[i][1]
            is_open = self._first[i] != answered and prepared.kind == "group"
            if is_open and not prepared.is_repeat:
                wider = add_group(prepared, question.rows[0])
                shown.append(replace(self.issue(person.name, wider), undoes=i))
        return shown

    def with_groups_since(self, question: Question, n_known: int) -> Question:
        """A question chosen when so many events were known, with the groups that are new since."""
        for event in self.events[n_known:]:
            is_new = event.kind == "answer" and event.choice == NEW and event.question is not None
            if is_new and question.kind == "group" and not question.is_repeat:
                question = add_group(question, event.question.rows[0])  # type: ignore[union-attr]
        return question

    def withdraw(self, shown: Event) -> None:
        """Take a question back that was issued and not yet seen."""
        person = self.person(shown.annotator)
        person.waiting = [i for i in person.waiting if i != shown.id]

    def waiting(self, name: str) -> list[tuple[str, Question]]:
        """The questions that somebody has, the one on the screen first."""
        return [(i, self.questions[i][1]) for i in self.person(name).waiting]

    def drop_stale(self, name: str, keep: int = 1) -> None:
        """Take back questions that others have answered since, but for the first ones."""
        person = self.person(name)
        kept = [i for i in person.waiting[keep:] if not self._is_stale(self.questions[i][1])]
        person.waiting = person.waiting[:keep] + kept

    def drop_prepared(self) -> None:
        """Groups have changed: what was prepared is thought about again; screens stay."""
        for person in self.people.values():
            person.waiting = person.waiting[:1]

    def _is_stale(self, question: Question) -> bool:
        is_shared = len(self._askers[question.kind, question.keys]) > 1
        was_asked = any(self._asked[key] > 0 for key in question.keys)
        return was_asked and not question.is_repeat and not is_shared

    def shared_question(self, name: str, share: float, seed: int) -> Question | None:
        """Now and then, a question that one other person has answered."""
        rng = random.Random(f"{seed} {len(self.events)} {name}")
        if rng.random() >= share:
            return None
        open_to = []
        for event in self.events:
            question = event.question
            is_plain = event.kind == "answer" and event.id not in self.undone
            if not is_plain or question is None or question.kind not in KINDS:
                continue
            askers = self._askers[question.kind, question.keys]
            is_whole = not question.is_repeat and event.choice not in (CANT_TELL, ANOTHER)
            if is_whole and event.annotator != name and askers <= {event.annotator}:
                open_to.append(question)
        return rng.choice(open_to) if open_to else None

    def disputed(self, rows: tuple[int, ...], kind: Any) -> Question | None:
        """The question about these rows that was answered last."""
        for event in reversed(self.events):
            question = event.question
            if event.kind != "answer" or question is None or kind not in (None, question.kind):
                continue
            if set(question.rows) == set(rows):
                return question
        return None

    def change_kinds(self, name: str, kinds: tuple[str, ...]) -> None:
        """Somebody wants other questions: those they have are put away."""
        person = self.person(name)
        if person.kinds != kinds:
            person.kinds, person.waiting, person.is_done = kinds, [], False

    def next_in_need(self) -> Person | None:
        """Who needs a question most: somebody here who has too few of them."""
        here = [p for p in self._present() if len(p.waiting) < N_AHEAD and not p.is_done]
        return min(here, key=lambda p: (len(p.waiting), -p.last_seen), default=None)

    def ids_on_screens(self) -> tuple[str, ...]:
        """The ids of the questions that people who are here have."""
        return tuple(i for person in self._present() for i in person.waiting)

    def _present(self) -> list[Person]:
        since = self._clock() - LEASE_SECONDS
        return [person for person in self.people.values() if person.last_seen > since]

    def resume(self) -> None:
        """After a restart: everybody keeps the last questions they had, if nobody answered them."""
        for person in self.people.values():
            self.drop_stale(person.name, keep=0)
            person.waiting = person.waiting[-N_AHEAD:]


def next_screen(question: Question) -> Question:
    """The groups that come after "another group"."""
    return replace(question, groups=question.more[:MOST_SHOWN], more=question.more[MOST_SHOWN:])


def add_group(question: Question, row: int) -> Question:
    """The question with one more group, of one row, to choose from."""
    if row in question.all_rows:
        return question
    groups = question.groups + question.more + ((row,),)
    if len(question.groups) == MOST_SHOWN:
        groups = (*question.groups[: MOST_SHOWN - 1], (row,), question.groups[-1], *question.more)
    return replace(question, groups=groups[:MOST_SHOWN], more=groups[MOST_SHOWN:])
