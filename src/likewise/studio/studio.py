"""Studio: questions to people, their answers to the log, snapshots to their screens.

    log       every event is on disk before anybody hears of it          event_writer.py
    desk      who has which question, what can be taken back             answer_desk.py
    feed      questions ahead, from a thinker in a process of its own    question_feed.py
    learner   clusters and map, in a process of its own                  learner_link.py
    leaving   what people leave with, as files                           leaving.py

Everything here runs on one event loop. Nothing that takes long does: it is handed to a thread or a
process, and what comes back is applied here.
"""

import asyncio
import contextlib
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scipy.sparse import issparse

from likewise import __version__
from likewise.labeling import KINDS, Event, LabelingSession, Question, check_kinds
from likewise.studio.answer_desk import AnswerDesk, Person
from likewise.studio.child_process import passed_on
from likewise.studio.event_writer import EventWriter, Keeper
from likewise.studio.history_view import doubts_json, history_json
from likewise.studio.incoming import Refused, read_event
from likewise.studio.learner_link import LearnerLink
from likewise.studio.leaving import Leaving, Standing
from likewise.studio.listeners import Listeners, Message
from likewise.studio.question_feed import QuestionFeed
from likewise.studio.question_view import progress_json, question_json
from likewise.studio.row_gallery import RowGallery
from likewise.studio.snapshot import Snapshot, cluster_names, pairs_across
from likewise.studio.snapshot_view import clusters_json, map_bytes, row_json
from likewise.studio.study import Study
from likewise.studio.thinker_link import ThinkerLink, ThinkerProcess, ThinkerThread
from likewise.studio.troubles import Troubles
from likewise.studio.visitors import Visitor

MOST_EVENTS = 500  # in one request
MOST_QUESTIONS = 2_000  # kept as JSON
MOST_ROWS_HALVED = 10_000  # with more, only those who join clusters are looked for, not who splits
HISTORY, MOST_HISTORY = 50, 500  # events of the history at once
MIXED = "mixed"  # all kinds of question
OF_PARTICIPANTS = ("answer", "skip", "undo")  # all that somebody does in a study


class StudioSettings(NamedTuple):
    """How a studio is run."""

    is_blind: bool = False
    needs_name: bool = False
    people: tuple[str, ...] = ()
    overlap: float = 0.0  # share of the questions that two people get
    log_id: str = ""  # of the log, so that a page does not send answers about other data
    study: Study | None = None
    codes: Mapping[str, str] | None = None  # of participants, shown at the end
    folder: Path | None = None  # where clusters, answers, model and report are saved
    learns: bool = True  # in processes of its own; without them there is no map and no cluster


class Studio:
    """A labeling session that several people take part in at once.

    Parameters
    ----------
    session : LabelingSession
        The rows and the settings; a twin of it thinks, and it is not changed itself.
    gallery : RowGallery
        The rows as people see them.
    keeper : Keeper
        What events are saved in: an `EventLog`.
    events : sequence of Event
        What it holds already.
    settings : StudioSettings, default=StudioSettings()
    thinker : ThinkerLink, default=None
        Chooses the questions; by default in a process of its own if the studio learns.
    """

    def __init__(
        self,
        session: LabelingSession,
        gallery: RowGallery,
        keeper: Keeper,
        events: Sequence[Event] = (),
        settings: StudioSettings = StudioSettings(),  # noqa: B008
        thinker: ThinkerLink | None = None,
    ):
        self.gallery, self.settings = gallery, settings
        self.desk = AnswerDesk(gallery.n_rows, session.kinds)
        for event in events:
            self.desk.apply(event)
        self.desk.resume()
        self.snapshot: Snapshot | None = None
        self._session_settings = session.settings
        is_small = not issparse(session.numbers) and gallery.n_rows <= MOST_ROWS_HALVED
        self._numbers = session.numbers if is_small else None
        if thinker is None:
            thinker = ThinkerProcess() if settings.learns else ThinkerThread(session)
        self._thinker = thinker
        self.troubles = Troubles(self._tell_trouble)
        self._writer = EventWriter(keeper, self._apply)
        self._feed = QuestionFeed(
            self.desk,
            self._writer,
            thinker,
            study=settings.study,
            overlap=settings.overlap,
            seed=session.random_state,
            on_questions=self._tell_questions,
            on_progress=self._tell_progress,
            on_trouble=self.troubles.about("questions"),
        )
        self._learner = LearnerLink(
            lambda: self.desk.events,
            self._take_snapshot,
            {**gallery.describing(session.numbers.shape[1]), "folder": settings.folder},
            self.troubles.about("clusters"),
        )
        self._leaving = Leaving(
            lambda: Standing(list(self.desk.events), self.snapshot, self.cluster_names()),
            keeper,
            self._learner.save,
            n_rows=gallery.n_rows,
            ids=None if session.ids is None else session.ids.tolist(),
            id_column=gallery.id_column,
            folder=settings.folder,
            study=settings.study,
            on_trouble=self.troubles.about("files"),
        )
        self._tasks: list[asyncio.Task] = []
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._listeners = Listeners()
        self._turn = 0
        self._questions: dict[str, dict[str, Any]] = {}
        self._map: dict[tuple[int, bool], bytes] = {}

    # Running

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Studio"]:
        """The studio at work; what was saved is saved, however the block ends."""
        with passed_on(self._session_settings) as settings:
            self._thinker.give(settings)
            work = [self._writer.run(), self._feed.run()]  # it has a graph before somebody asks
            if self.settings.learns:
                work.append(self._learn(settings))
            if self.settings.folder is not None:
                work.append(self._leaving.autosave.run())
            self._tasks = [asyncio.create_task(each) for each in work]
            try:
                yield self
            finally:
                self._listeners.end()
                for task in self._tasks:
                    task.cancel()
                self._thinker.close()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                if self.settings.folder is not None and self.desk.events:
                    await self._leaving.autosave.finish()
                self._writer.close()

    async def _learn(self, settings: dict[str, Any]) -> None:
        """The first question comes first: the learner starts after it."""
        await self._feed.has_thought.wait()
        await self._learner.run(settings)

    def _apply(self, event: Event) -> None:
        """An event is saved: let it count, and let everybody know."""
        self.desk.apply(event)
        if event.kind == "name" or event.undoes in self.desk.named:
            self._map.clear()
        if event.kind != "shown":
            for person in self.desk.people.values():
                person.is_done = False
            self._learner.wake()
            self._leaving.autosave.wake()
        self._feed.wake()

    def _tell_progress(self) -> None:
        self._listeners.tell("progress", self.progress_json())

    def _tell_trouble(self, line: str) -> None:
        if line:
            sys.stderr.write(f"{line}\n")
        self._tell_progress()

    def _tell_questions(self, person: Person) -> None:
        self._listeners.tell("questions", self._lists(person), person.name)

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.desk.flips = {event_id: choice for event_id, _, choice in snapshot.doubts}
        self._map.clear()
        self._listeners.tell("snapshot", {"version": snapshot.version, "layout": snapshot.layout})

    # What the page asks for

    def start_json(self, visitor: Visitor) -> dict[str, Any]:
        """What the page needs to begin."""
        gallery = self.gallery
        return {
            "name": visitor.name or None,
            "needs_name": self.settings.needs_name,
            "data": {
                "title": gallery.title,
                "n_rows": gallery.n_rows,
                "kind": gallery.kind,
                "columns": list(gallery.columns or ()),
                "spreads": gallery.spreads,
            },
            "kinds": [*KINDS, MIXED],
            "kind": kind_of(self.desk.person(visitor.name).kinds),
            "log": self.settings.log_id,
            "blind": self.settings.is_blind,
            "study": self._study_json(visitor),
            "people": self._names(),
            "reviewer": visitor.is_reviewer,
            "version": __version__,
        }

    def _study_json(self, visitor: Visitor) -> dict[str, Any] | None:
        study, codes = self.settings.study, self.settings.codes or {}
        if study is None or visitor.name not in study.participants:
            return None
        done = min(self.desk.n_done(visitor.name), study.n_trials)
        return {
            "title": study.title,
            "instructions": study.instructions,
            "n_trials": study.n_trials,
            "done": done,
            "code": codes.get(visitor.name) if done == study.n_trials else None,
        }

    def _names(self) -> list[str]:
        return sorted({*self.settings.people, *filter(None, self.desk.people)})

    async def question_json(self, visitor: Visitor, kind: str | None = None) -> dict[str, Any]:
        """The questions of somebody; waits until there is one, or none is left."""
        person = self._person(visitor)
        if kind and not visitor.is_bound:  # a study says what is asked
            self.desk.change_kinds(person.name, KINDS if kind == MIXED else check_kinds((kind,)))
        self.desk.drop_stale(person.name)
        await self._feed.question_for(person)
        return {**self._lists(person), "progress": self.progress_json()}

    def _lists(self, person: Person) -> dict[str, Any]:
        """Somebody's questions, numbered: lists may overtake each other on the way to the page."""
        self._turn += 1
        waiting = self.desk.waiting(person.name)
        return {"questions": [self._question(*each) for each in waiting], "turn": self._turn}

    def _question(self, question_id: str, question: Question) -> dict[str, Any]:
        """A question as JSON; it never changes, and is sent more than once."""
        if question_id not in self._questions:
            if len(self._questions) > MOST_QUESTIONS:
                self._questions.clear()
            self._questions[question_id] = question_json(
                question_id,
                question,
                self.gallery,
                replaces=self.desk.versions_before(question_id),
                is_blind=self.settings.is_blind,
            )
        return self._questions[question_id]

    def _person(self, visitor: Visitor) -> Person:
        if self.settings.needs_name and not visitor.name:
            raise Refused("Say who you are first.")
        return self.desk.see(visitor.name)

    async def take_events(
        self, visitor: Visitor, events: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Save what the page sent; returns once it is on disk."""
        if len(events) > MOST_EVENTS:
            raise Refused(f"At most {MOST_EVENTS} events are taken at once.")
        person = self._person(visitor)
        saved, refused = [], []
        async with self._locks[person.name]:
            for cells in events:
                try:
                    saved.append(await self._take_event(visitor, cells))
                except Refused as error:
                    refused.append({"id": cells.get("id"), "error": str(error)})
        return {
            "saved": saved,
            "refused": refused,
            "study": self._study_json(visitor),
            **self._lists(person),
            "progress": self.progress_json(),
        }

    async def _take_event(self, visitor: Visitor, cells: Mapping[str, Any]) -> str:
        event_id = cells.get("id")
        if isinstance(event_id, str) and event_id in self.desk.by_id:
            return event_id
        event = read_event(self.desk, visitor.name, cells, is_reviewer=visitor.is_reviewer)
        if visitor.is_bound and event.kind not in OF_PARTICIPANTS:
            raise Refused("This is not part of the study.")
        if event.kind == "action":
            await self._writer.save(event, *self._to_settle(event))
        else:
            await self._feed.save_answer(event)
        return event.id

    def _to_settle(self, event: Event) -> list[Event]:
        """After "this is more than one": the questions that say where."""
        question = event.question
        if question is None or question.kind != "split" or question.groups:
            return []
        places = None if self.snapshot is None else self.snapshot.places
        pairs = pairs_across(question.rows, places)
        asked = [Question("pair", pair, why="is this one cluster, or two?") for pair in pairs]
        return [self.desk.issue(event.annotator, one, is_urgent=True) for one in reversed(asked)]

    def progress_json(self) -> dict[str, Any]:
        """Where the session stands; the number of questions is always up to date."""
        snapshot = self.snapshot
        model = {
            "version": 0 if snapshot is None else snapshot.version,
            "n_clusters": 0 if snapshot is None else len(snapshot.clusters),
            "is_fitting": self._learner.is_fitting,
        }
        return {
            **progress_json(self._feed.progress),
            "n_questions": self.desk.n_answers,
            "model": model,
            "troubles": self.troubles.lines,
        }

    def map_bytes(self, *, only_labels: bool = False) -> bytes:
        """The map in one piece; LookupError before there is one."""
        snapshot = self._latest()
        key = (snapshot.version, only_labels)
        if key not in self._map:
            self._map[key] = map_bytes(snapshot, self.cluster_names(), only_labels=only_labels)
        return self._map[key]

    def clusters_json(self) -> dict[str, Any]:
        """The clusters, each in a few rows."""
        snapshot = self._latest()
        return clusters_json(snapshot, self.cluster_names(), self.gallery)

    def cluster_names(self) -> dict[int, str]:
        """Names that people gave, by the numbers of the clusters."""
        names = [self.desk.by_id[i] for i in self.desk.named if i not in self.desk.undone]
        return {} if self.snapshot is None else cluster_names(names, self.snapshot.labels)

    def row_json(self, row: int) -> dict[str, Any]:
        """One row and where it belongs."""
        if not 0 <= row < self.gallery.n_rows:
            raise LookupError(f"There is no row {row}: there are {self.gallery.n_rows}.")
        return row_json(self.snapshot, self.cluster_names(), self.gallery, row)

    async def doubts_json(self, visitor: Visitor) -> dict[str, Any]:
        """What to look at again; in a blind studio only reviewers see what others said."""
        is_hidden = self.settings.is_blind and not visitor.is_reviewer
        return await asyncio.to_thread(
            doubts_json,
            list(self.desk.events),
            dict(self.desk.by_id),
            self.snapshot,
            self.gallery,
            X=self._numbers,
            names=self.cluster_names(),
            hidden_from=visitor.name if is_hidden else None,
        )

    def history_json(
        self, visitor: Visitor, before: int | None = None, limit: int | None = None
    ) -> dict[str, Any]:
        """What happened, the newest first; in a blind studio, what one did oneself."""
        events = self.desk.events
        if self.settings.is_blind and not visitor.is_reviewer:
            events = [event for event in events if event.annotator == visitor.name]
        at = len(events) if before is None else before
        limit = min(limit or HISTORY, MOST_HISTORY)
        return history_json(events, self.desk.undone, self.gallery, before=at, limit=limit)

    def _latest(self) -> Snapshot:
        if self.snapshot is None:
            raise LookupError("The clusters are not there yet.")
        return self.snapshot

    async def file(self, name: str) -> tuple[bytes, str]:
        """One of the files to leave with, as of now, and its media type."""
        return await self._leaving.file(name)

    # Live

    def listen(self, visitor: Visitor) -> asyncio.Queue:
        """A queue that gets a `Message` of whatever happens, None at the end."""
        queue = self._listeners.add(visitor.name)
        queue.put_nowait(Message("progress", self.progress_json()))
        if self.snapshot is not None:
            version = {"version": self.snapshot.version, "layout": self.snapshot.layout}
            queue.put_nowait(Message("snapshot", version))
        return queue

    def hang_up(self) -> None:
        """End what is sent to open pages; they come again when the studio does."""
        self._listeners.end()

    def forget(self, queue: asyncio.Queue) -> None:
        """Nobody listens there any more."""
        self._listeners.remove(queue)


def kind_of(kinds: tuple[str, ...]) -> str:
    """The kind of question somebody gets, or "mixed"."""
    return kinds[0] if len(kinds) == 1 else MIXED
