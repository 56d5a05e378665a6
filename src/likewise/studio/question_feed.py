"""Questions thought about ahead, for whoever needs one next.

One task asks the thinker for one thing after another: a question for the person who has fewest, or
the progress. What comes back goes through the log, like everything that happens, and to the page.
"""

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Callable

from likewise.labeling import NEW, Event, Progress, Question
from likewise.studio.answer_desk import AnswerDesk, Person
from likewise.studio.event_writer import EventWriter
from likewise.studio.study import Study
from likewise.studio.thinker_link import ThinkerLink, ThinkingFailed
from likewise.studio.thinking import Job, Thought
from likewise.studio.troubles import error_line

WAIT_SECONDS = 10.0  # that a request waits for a question; the page gives up after 15
PROGRESS_SECONDS = 2.0  # after which progress comes before further questions


class QuestionFeed:
    """Keeps everybody who is here in questions.

    Parameters
    ----------
    desk : AnswerDesk
    writer : EventWriter
    thinker : ThinkerLink
    study : Study, default=None
    overlap : float, default=0.0
        Share of the questions that two people get.
    seed : int, default=0
    on_questions : callable
        Called with a person who has new questions, or is out of them.
    on_progress : callable
        Called when the progress was thought about again.
    on_trouble : callable, default: silent
        Called with a line about what is wrong, and with "" when it is right again.
    """

    def __init__(
        self,
        desk: AnswerDesk,
        writer: EventWriter,
        thinker: ThinkerLink,
        *,
        study: Study | None = None,
        overlap: float = 0.0,
        seed: int = 0,
        on_questions: Callable[[Person], None] = lambda person: None,
        on_progress: Callable[[], None] = lambda: None,
        on_trouble: Callable[[str], None] = lambda line: None,
    ):
        self._desk, self._writer, self._thinker = desk, writer, thinker
        self._study, self._overlap, self._seed = study, overlap, seed
        self._on_questions, self._on_progress = on_questions, on_progress
        self._on_trouble = on_trouble
        self.progress: Progress | None = None
        self.has_thought = asyncio.Event()  # set after the first thought
        self._n_judged = -1  # changes at the last progress
        self._judged_at = 0.0
        self._wake = asyncio.Event()
        self._groups_change = asyncio.Lock()
        self._failed: set[str] = set()  # who is without a question because thinking failed
        self._ready: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def wake(self) -> None:
        """Something happened that may call for a question."""
        self._wake.set()

    async def run(self) -> None:
        """Think as long as somebody needs something; ends only when it is cancelled."""
        while True:
            while (job := self._next_job()) is not None:
                await self._take_thought(await self._think(job))
                self.has_thought.set()
            await self._wake.wait()
            self._wake.clear()

    async def question_for(self, person: Person) -> None:
        """Wait until somebody has a question, or none is left."""
        if person.name in self._failed:  # it may go better this time
            self._failed.discard(person.name)
            person.is_done = False
        if not person.waiting and not person.is_done:
            self._ready[person.name].clear()
            self._wake.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ready[person.name].wait(), WAIT_SECONDS)
        self._wake.set()

    async def save_answer(self, event: Event) -> None:
        """Save an answer with what follows from it: the next screen, or a group to show."""
        follow_up = self._desk.follow_up(event)
        if follow_up is not None:
            await self._writer.save(event, follow_up)
        elif event.choice == NEW:
            async with self._groups_change:  # no question is issued that does not show it
                await self._writer.save(event, *self._desk.with_new_group(event))
        else:
            await self._writer.save(event)

    async def _think(self, job: Job) -> Thought:
        events = self._desk.events
        if job.chosen is not None:
            return Thought(job, job.chosen, None, len(events))
        try:
            thought = await self._thinker.think(job, events)
        except Exception as error:  # answers go on being saved, whatever is wrong with questions
            if job.name is not None:
                self._failed.add(job.name)
            why = str(error) if isinstance(error, ThinkingFailed) else error_line(error)
            self._on_trouble(f"No question could be chosen ({why}). Answers go on being saved.")
            return Thought(job, None, self.progress, len(events))
        self._on_trouble("")
        return thought

    def _next_job(self) -> Job | None:
        person = self._desk.next_in_need()
        is_outdated = self._n_judged != self._desk.n_changes
        is_late = time.monotonic() - self._judged_at > PROGRESS_SECONDS
        if is_outdated and (person is None or (is_late and person.waiting)):
            return Job(None)
        if person is None:
            return None
        if self._study is not None and person.name in self._study.participants:
            return self._next_trial(person, self._study)
        shared = self._desk.shared_question(person.name, self._overlap, self._seed)
        return Job(person.name, person.kinds, self._desk.ids_on_screens(), chosen=shared)

    def _next_trial(self, person: Person, study: Study) -> Job | None:
        """The next question of a participant: given, or chosen; none after the last trial."""
        at = study.next_trial(person.name, self._desk.trials(person.name))
        if at >= study.n_trials:
            person.is_done = True
            self._ready[person.name].set()
            self._wake.set()
            return None
        given = study.plan(person.name)[at]
        return Job(person.name, person.kinds, self._desk.ids_on_screens(), chosen=given)

    async def _take_thought(self, thought: Thought) -> None:
        name = thought.job.name
        if name is None:
            self.progress = thought.progress
            self._n_judged, self._judged_at = self._desk.n_changes, time.monotonic()
            self._on_progress()
            return
        person, kinds = self._desk.person(name), thought.job.kinds
        if thought.question is not None and person.kinds == kinds:
            shown = await self._issue(name, thought.question, thought.n_known)
            if person.kinds != kinds:  # other questions were asked for meanwhile
                self._desk.withdraw(shown)
        elif person.kinds == kinds:
            person.is_done = True
        if person.kinds == kinds:
            self._on_questions(person)
            self._ready[name].set()

    async def _issue(self, name: str, question: Question, n_known: int) -> Event:
        """Give a question to somebody, with the groups that came up while it was thought about."""
        async with self._groups_change:
            shown = self._desk.issue(name, self._desk.with_groups_since(question, n_known))
            await self._writer.save(shown)
        return shown
