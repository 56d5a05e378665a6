"""LabelingSession: ask, take the answer, ask again; everything follows from the events.

A plain state machine. The events are its state, kept in memory and, if wanted, in a log; groups,
memberships, labels and the next question follow from them, from the rows and from the seed. Opened
again on its log, a session is where it was, down to the question that was on the screen.
"""

import os
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state

from likewise.constraints import Constraints
from likewise.features import TableFeatures
from likewise.guided import GuidedClustering, fit_features
from likewise.labeling.answer_constraints import constraints_from, events_from, pairs_from
from likewise.labeling.asked_again import (
    asked_keys,
    choose_again,
    consistency_of,
    is_stale,
    settle_looks,
)
from likewise.labeling.event_log import EventLog, RowNames
from likewise.labeling.events import SAYING, Event, counted, last_counted
from likewise.labeling.knowledge import Knowledge, learn_quickly
from likewise.labeling.machine_answers import (
    JoinedBelief,
    MachineBelief,
    join_machines,
    looks_from,
    questions_for_machine,
)
from likewise.labeling.other_kinds import choose_of_kinds
from likewise.labeling.placed_share import PlacedShare, estimate_placed
from likewise.labeling.questions import (
    ACTIONS,
    ANOTHER,
    IMPORTED,
    NOWHERE,
    Question,
    check_kinds,
    check_question,
)
from likewise.labeling.rows_in_mind import RowsInMind, choose_rows
from likewise.labeling.settled_groups import links_of_groups, not_outvoted, settle_groups
from likewise.labeling.start_labels import StartLabels
from likewise.labeling.what_to_ask import next_screen
from likewise.numerics.rows import check_scale

ROWS_IN_MIND = 10_000  # rows thought about; with more, a sample
REVIEW_SHARE = 0.5  # of the questions, where a session begins from clusters
ENOUGH = 0.98  # share of rows, placed rightly in all probability, that ends a session
NOWHERE_LABEL = -1
SURE = 0.95  # chance from which a model takes a row's group from a machine
OUTVOTES = 1000.0  # weight of what most looks at the row that began a group say


class Progress(NamedTuple):
    """Where a session stands."""

    n_questions: int  # screens answered, "can't tell" among them
    n_rows_shown: int  # rows on these screens, each counted every time
    n_groups: int  # groups known to be different
    n_open_rows: int  # rows thought about whose group no answer has named
    placed: PlacedShare  # estimated share of the rows that ``labels`` places rightly
    consistency: float  # share of the questions asked again that got the same answer; nan if none
    should_stop: bool  # nothing is left to learn, or next to nothing
    why: str


class LabelingSession:
    """Ask people about rows, one short question after another, and cluster by their answers.

    Use it to get answers: from a person (``likewise ask``), from a program, or in a simulation
    (``ask`` with a ``LabelOracle``). Use ``GuidedClustering`` when you have answers already.

    Parameters
    ----------
    X : array-like, CSR, dataframe or dict of columns, of shape (n_samples, n_features)
        Numbers, or a table of mixed columns, which `TableFeatures` turns into numbers.
    ids : array-like of shape (n_samples,), default=None
        Names of the rows. A log knows rows by these, and without them by their content.
    log : str, path or None, default=None
        A file that every event is saved in before it counts; made if it is not there. Opened again,
        the session goes on. None keeps events in memory.
    start_labels : array-like of shape (n_samples,), default=None
        Clusters to begin from and to review, -1 for none. They hold where no answer contradicts.
    kinds : sequence of str, default=("group",)
        Kinds of question to ask: "group", "pair", "odd_one_out", "grid", "review".
    n_clusters : int or "auto", default="auto"
        Number of clusters of ``model``, and of ``labels`` before two groups are known. Questions
        do not depend on it.
    preparation : {"auto", "none", "standardize", "robust", "unit", "tfidf"}, default="auto"
        What is done to the features first, as in ``GuidedClustering``.
    features : "auto" or transformer, default="auto"
        What turns X into numbers first, as in ``GuidedClustering``.
    repeat_share : float, default=0.03
        Share of the questions that come again with sides swapped, to measure how consistent people
        are. Raising it measures better and teaches less.
    machines : sequence of str, default=()
        Annotators that are machines. Groups follow from people's answers alone; what a machine
        says about other rows counts as far as people's answers agree with it.
    random_state : int, default=0
        Same seed, same rows, same events: same questions, same labels.

    Attributes
    ----------
    events : tuple of Event
        All that happened.
    set_aside : list of SetAside
        Events of the log about rows that are missing or have changed.

    See Also
    --------
    ask : A whole session in one line.

    Notes
    -----
    With more than 10,000 rows a sample is thought about and asked about; the others are placed by
    the nearest of 2,000 of these.

    References
    ----------
    zhu2003, zhou2004 for the memberships.

    Examples
    --------
    >>> from likewise import LabelingSession
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> session = LabelingSession(X)
    >>> question = session.next_question()
    >>> question.kind, question.offered
    ('group', (0, 'new', 'nowhere', 'cant_tell'))
    >>> session.answer(question, "new")
    True
    >>> session.progress.n_groups
    2
    >>> sorted(session.labels)
    [np.int64(0), np.int64(0), np.int64(0), np.int64(1), np.int64(1), np.int64(1)]
    """

    def __init__(
        self,
        X,
        *,
        ids=None,
        log: str | os.PathLike | None = None,
        start_labels=None,
        kinds: Sequence[str] = ("group",),
        n_clusters: int | str = "auto",
        preparation: str = "auto",
        features="auto",
        repeat_share: float = 0.03,
        machines: Sequence[str] = (),
        random_state: int = 0,
    ):
        self.kinds = check_kinds(kinds)
        self.machines = tuple(machines)
        if not 0 <= repeat_share <= 1:
            raise ValueError(f"repeat_share={repeat_share} must lie between 0 and 1.")
        self.n_clusters, self.preparation, self.features = n_clusters, preparation, features
        self.repeat_share = repeat_share
        if not isinstance(random_state, int | np.integer):
            random_state = check_random_state(random_state).randint(2**31 - 1)
        self.random_state = int(random_state)
        self._raw, self._start_labels = X, start_labels
        transformer = fit_features(features, X)
        self._X = numbers_of(X if transformer is None else transformer.transform(X))
        is_even = isinstance(transformer, TableFeatures) and preparation == "auto"
        self._scaling = "none" if is_even else preparation  # its columns have equal weights
        self.n_samples = self._X.shape[0]
        self.ids = Constraints(self.n_samples, ids=ids).ids
        self._start = None
        if start_labels is not None:
            self._start = StartLabels.of(start_labels, self._X)
        self._log, self.set_aside, events = None, [], []
        if log is not None:
            self._log = EventLog(log, RowNames(X, self.ids))
            events = self._log.read()
            self.set_aside = self._log.set_aside
        self._events: list[Event] = []
        self._seen: set[str] = set()
        self._open: dict[str, Question] = {}  # on whose screen is which question
        self._mind: RowsInMind | None = None
        self._knowledge: Knowledge | None = None
        self._belief: JoinedBelief | None = None
        self._model: tuple[int, GuidedClustering] | None = None
        for event in events:
            self._apply(event)

    # Asking and answering

    def next_question(self, annotator: str | None = None) -> Question | None:
        """The question to ask now; the same one until it is answered or skipped.

        Parameters
        ----------
        annotator : str, default=None
            Who is asked. Others get other questions meanwhile.

        Returns
        -------
        Question or None
            None when nothing is left to learn.
        """
        name = annotator or ""
        question = self._open.get(name)
        if question is None or is_stale(question, self._said_by_people()):
            others = [shown for other, shown in self._open.items() if other != name]
            question = self._choose(name, tuple(others), self.kinds)
            if question is None:
                self._open.pop(name, None)
                return None
            self._record(Event("shown", self._new_id(), question, annotator=name, at=now()))
        return question

    def answer(
        self,
        question: Question,
        choice: Any,
        *,
        annotator: str | None = None,
        seconds: float | None = None,
        event_id: str | None = None,
    ) -> bool:
        """Take an answer; once this returns, it is saved.

        Parameters
        ----------
        question : Question
        choice : str, int or sequence of int
            One of ``question.offered``; of a grid, the numbers of those that belong with the first.
        annotator : str, default=None
        seconds : float, default=None
            How long the person took.
        event_id : str, default=None
            A name given by whoever sends the answer; sent again, it counts once.

        Returns
        -------
        bool
            False if an event of this id is known already.
        """
        question = check_question(question, self.n_samples)
        choice = question.check_choice(choice)
        event = Event("answer", event_id or self._new_id(), question, choice, annotator or "")
        return self._record(replace(event, at=now(), seconds=seconds))

    def skip(
        self, question: Question, *, annotator: str | None = None, event_id: str | None = None
    ) -> bool:
        """Put a question aside; it does not come again."""
        question = check_question(question, self.n_samples)
        event = Event("skip", event_id or self._new_id(), question, annotator=annotator or "")
        return self._record(replace(event, at=now()))

    def undo(self, annotator: str | None = None, *, event_id: str | None = None) -> Event | None:
        """Take back the last answer or action, or a person's last; its question is open again.

        Parameters
        ----------
        annotator : str, default=None
            Whose last answer; None is anybody's.
        event_id : str, default=None
            As in ``answer``: sent again, it takes back nothing more.

        Returns
        -------
        Event or None
            What was taken back; None if there is nothing to take back.
        """
        last = last_counted(self._events, annotator)
        if last is None:
            return None
        undo = Event("undo", event_id or self._new_id(), annotator=last.annotator, at=now())
        return last if self._record(replace(undo, undoes=last.id)) else None

    def act(
        self,
        kind: str,
        *,
        rows: Sequence[int] = (),
        groups: Sequence[Sequence[int]] = (),
        annotator: str | None = None,
        event_id: str | None = None,
    ) -> bool:
        """Say something about groups without being asked.

        Parameters
        ----------
        kind : {"merge", "split", "pure", "move"}
            The groups are one; they are different; all rows belong together; the row belongs with
            the first group and not with the others. Each weighs as one look.
        rows : sequence of int, default=()
        groups : sequence of sequences of int, default=()
        annotator, event_id : str, default=None
            As in ``answer``.
        """
        if kind not in ACTIONS:
            raise ValueError(f"kind={kind!r} is no action. Use one of {', '.join(ACTIONS)}.")
        shown = tuple(tuple(int(row) for row in group) for group in groups)
        question = Question(kind, tuple(int(row) for row in rows), shown)
        check_question(question, self.n_samples)
        event = Event("action", event_id or self._new_id(), question, ACTIONS[kind])
        return self._record(replace(event, annotator=annotator or "", at=now()))

    def look_again(
        self,
        kind: str,
        answer_id: str,
        choice: Any = None,
        *,
        annotator: str | None = None,
        event_id: str | None = None,
    ) -> bool:
        """Confirm an answer, or say that another one is right.

        Parameters
        ----------
        kind : {"keep", "flip"}
            A keep is one more look with the same answer; a flip replaces it.
        answer_id : str
            The id of the answer's event.
        choice : str, int or sequence of int, default=None
            Of a flip: the answer that is right.
        annotator, event_id : str, default=None
            As in ``answer``.
        """
        before = next((e for e in counted(self._events) if e.id == answer_id), None)
        if before is None or before.question is None or kind not in ("keep", "flip"):
            raise ValueError(f"There is no answer {answer_id!r} to {kind}.")
        choice = before.choice if kind == "keep" else before.question.check_choice(choice)
        event = Event(kind, event_id or self._new_id(), before.question, choice, annotator or "")
        return self._record(replace(event, at=now(), undoes=answer_id))

    def propose(
        self,
        annotator: str | None = None,
        *,
        beside: Sequence[Question] = (),
        kinds: Sequence[str] | None = None,
    ) -> Question | None:
        """A question to prepare ahead; nothing is recorded, so it need never be asked.

        Parameters
        ----------
        annotator : str, default=None
            Who is to be asked.
        beside : sequence of Question, default=()
            Prepared already, or on somebody's screen: not to be asked again.
        kinds : sequence of str, default=None
            Kinds of question; by default those of the session.
        """
        chosen_kinds = self.kinds if kinds is None else check_kinds(kinds)
        return self._choose(annotator or "", tuple(beside), chosen_kinds)

    def questions_for_machine(self, name: str, n_questions: int) -> list[Question]:
        """Questions to put to a machine, in this order; nothing is recorded until it answers.

        Parameters
        ----------
        name : str
            One of ``machines``.
        n_questions : int
            At most so many.

        Returns
        -------
        list of Question
            Empty before people have named two groups, and once every row was looked at often.
        """
        if name not in self.machines:
            raise ValueError(f"{name!r} is none of the machines {self.machines} of this session.")
        settled = settle_groups(self.knowledge)
        if settled.n_groups < 2:
            return []
        mind = self._rows_in_mind()
        questions = questions_for_machine(
            self.knowledge,
            settled,
            looks_from(self._said_by(name), mind.position),
            self._join_machines().memberships,
            n_questions,
            self._rng(name),
        )
        return [question.at(mind.rows) for question in questions]

    @property
    def machine_beliefs(self) -> dict[str, MachineBelief]:
        """How far each machine can be trusted, by the rows that people placed too."""
        has_groups = settle_groups(self.knowledge).n_groups > 1
        return self._join_machines().machines if has_groups else {}

    def add_event(self, event: Event) -> bool:
        """Take an event as it is, from another session or a log; False if it is known already."""
        if event.question is not None and event.question.kind != IMPORTED:
            check_question(event.question, self.n_samples)
        return self._record(event)

    def add_answers(self, answers) -> int:
        """Take answers from elsewhere: `Constraints`, or the path of an answer file.

        Returns
        -------
        int
            How many looks are new; one that is known already, by its id, counts once.
        """
        if not isinstance(answers, Constraints):
            path = Path(answers)
            n_samples = None if self.ids is not None else self.n_samples
            answers = Constraints.read(path, n_samples=n_samples, ids=self.ids)
        if answers.n_samples != self.n_samples:
            raise ValueError(
                f"The answers are about {answers.n_samples} rows, and X has {self.n_samples}."
            )
        return sum(self._record(event) for event in events_from(answers))

    def twin(self) -> "LabelingSession":
        """Another session about the same rows, where this one is, that saves nothing."""
        other = LabelingSession(**self.settings)
        for event in self._events:
            other._apply(event)
        return other

    # What is known

    @property
    def settings(self) -> dict[str, Any]:
        """What it was made with, but for its log."""
        return {
            "X": self._raw,
            "ids": self.ids,
            "start_labels": self._start_labels,
            "kinds": self.kinds,
            "n_clusters": self.n_clusters,
            "preparation": self.preparation,
            "features": self.features,
            "repeat_share": self.repeat_share,
            "machines": self.machines,
            "random_state": self.random_state,
        }

    @property
    def rows(self):
        """The rows as they were given."""
        return self._raw

    @property
    def numbers(self):
        """The rows as numbers (n_samples, d), dense or CSR."""
        return self._X

    @property
    def position(self) -> np.ndarray:
        """(n_samples,) the place of each row in ``knowledge``, -1 where it is not thought about."""
        return self._rows_in_mind().position

    @property
    def events(self) -> tuple[Event, ...]:
        """All that happened, in order."""
        return tuple(self._events)

    @property
    def constraints(self) -> Constraints:
        """All answers that were not taken back, as constraints; ``write`` makes an answer file."""
        return constraints_from(self._events, self.n_samples, self.ids)

    @property
    def knowledge(self) -> Knowledge:
        """What the answers say about the rows thought about, by position among them."""
        if self._knowledge is None:
            mind = self._rows_in_mind()
            said = self._said_by_people()
            looks = settle_looks(counted(said), self.n_samples)
            answers = pairs_from(looks.events, self.n_samples)
            if looks.left_open:
                is_open = np.isin(answers.signed_pairs()[0], list(looks.left_open)).any(axis=1)
                answers = answers.subset(~is_open)
            if looks.joined:
                weights = np.full(len(looks.joined), OUTVOTES)
                answers += Constraints(self.n_samples, must_link=looks.joined, weights=weights)
            answers = answers.restrict(mind.rows)
            if self._start is not None:
                answers = answers + self._start.links(mind)
            asked = {
                tuple(sorted(int(row) for row in mind.position[list(key)]))
                for key in asked_keys(said)
            }
            knowledge = learn_quickly(mind.Z, mind.S, answers, asked=asked, walks=mind.walks)
            self._knowledge = knowledge._replace(
                settled_rows=frozenset(mind.position[list(looks.settled)].tolist()),
                founders=tuple(founder.at(mind.position) for founder in looks.founders),
                n_reviews=looks.n_again,
                n_changed=looks.n_changed,
            )
        return self._knowledge

    @property
    def memberships(self) -> np.ndarray:
        """(n_samples, n_clusters) memberships in the groups known to be different; rows sum to 1.

        Before two groups are known: 1 in the cluster that plain clustering gives a row.
        """
        settled = settle_groups(self.knowledge)
        if settled.n_groups < 2:
            labels = self._plain_labels
            return np.eye(labels.max() + 1)[labels]
        mind = self._rows_in_mind()
        memberships = settled.memberships
        if self._start is not None:
            memberships = self._start.weigh(settled, self.knowledge, mind)
        elif self.machines:
            memberships = self._join_machines().memberships
        return mind.spread_to_all(memberships)

    @property
    def labels(self) -> np.ndarray:
        """(n_samples,) the cluster of each row; -1 where a person said that it belongs nowhere.

        From the memberships, at once; ``model.labels_`` takes longer and learns which features
        matter. Before two groups are known: plain clustering.
        """
        labels = self.memberships.argmax(axis=1)
        nowhere = [
            event.question.rows[0]
            for event in counted(self._said_by_people())
            if event.choice == NOWHERE and event.question is not None
        ]
        labels[nowhere] = NOWHERE_LABEL
        return labels

    @property
    def model(self) -> GuidedClustering:
        """`GuidedClustering` fitted to the groups that all answers together make.

        Pairs leave some relations open. They are closed by what is likeliest, so that the model
        knows the group of each row; answers that others outvote are left out. Fitted
        when it is first asked for after an answer.
        """
        n_heard = sum(event.kind in (*SAYING, "undo") for event in self._events)
        if self._model is None or self._model[0] != n_heard:
            self._model = n_heard, self.fit_model()
            self._record(Event("refit", self._new_id(), at=now()))
        return self._model[1]

    def fit_model(self) -> GuidedClustering:
        """The same, fitted whenever it is called; nothing is recorded."""
        return self._unfitted_model().fit(self._raw, constraints=self.settled_answers())

    def settled_answers(self) -> Constraints:
        """What the model is fitted to: the groups that all answers together make."""
        settled, rows = settle_groups(self.knowledge), self._rows_in_mind().rows
        groups = np.full(self.n_samples, -1)
        if settled.n_groups < 2 or self._start is not None:
            groups[rows] = self.knowledge.groups
            return not_outvoted(self.constraints, groups)
        groups[rows] = settled.groups
        if self.machines:
            memberships = self._join_machines().memberships
            is_sure = memberships.max(axis=1) >= SURE
            groups[rows[is_sure]] = memberships[is_sure].argmax(axis=1)
        return links_of_groups(self.constraints, groups)

    @property
    def progress(self) -> Progress:
        """How far the session has come."""
        answers = [event for event in counted(self._events) if event.kind == "answer"]
        shown = [len(event.question.shown) for event in answers if event.question is not None]
        knowledge = self.knowledge
        settled = settle_groups(knowledge)
        is_done = choose_of_kinds(knowledge, self.kinds, self._rng("")) is None
        placed = estimate_placed(knowledge, settled)
        why = ""
        if is_done:
            why = "no row is left whose answer would tell anything new"
        elif placed.low >= ENOUGH:
            why = f"probably {placed.low:.0%} of the rows or more are placed rightly"
        return Progress(
            len(answers),
            sum(shown),
            settled.n_groups,
            int(np.count_nonzero(knowledge.groups < 0)),
            placed,
            consistency_of(answers),
            bool(why),
            why,
        )

    def close(self) -> None:
        """Close the log, if there is one; nothing is lost without it."""
        if self._log is not None:
            self._log.close()

    # Inside

    def _record(self, event: Event) -> bool:
        """Save an event, then let it count; False if it is known already."""
        if event.id in self._seen:
            return False
        if self._log is not None and self._log.append(event) == [False]:
            return False
        self._apply(event)
        return True

    def _apply(self, event: Event) -> None:
        self._events.append(event)
        self._seen.add(event.id)
        if event.kind == "refit":
            return
        name = event.annotator
        if event.kind == "shown" and event.question is not None:
            self._open[name] = event.question
        elif event.kind == "undo":
            undone = next((e for e in self._events if e.id == event.undoes), None)
            if undone is not None and undone.kind == "answer" and undone.question is not None:
                self._open[name] = undone.question
        elif event.kind in ("answer", "skip"):
            self._open.pop(name, None)
            if event.choice == ANOTHER and event.question is not None and event.question.more:
                self._open[name] = next_screen(event.question)
        if event.kind not in ("shown", "name"):
            self._belief = None
            if name not in self.machines:
                self._knowledge = None

    def _said_by(self, name: str) -> list[Event]:
        return [event for event in self._events if event.annotator == name]

    def _said_by_people(self) -> list[Event]:
        if not self.machines:
            return self._events
        return [event for event in self._events if event.annotator not in self.machines]

    def _join_machines(self) -> JoinedBelief:
        """What people, the graph and machines say together about the rows thought about."""
        if self._belief is None:
            mind = self._rows_in_mind()
            looks = {name: looks_from(self._said_by(name), mind.position) for name in self.machines}
            self._belief = join_machines(self.knowledge, settle_groups(self.knowledge), looks)
        return self._belief

    def _rows_in_mind(self) -> RowsInMind:
        """The rows thought about, again where an answer is about a row that was not."""
        questions = [event.question for event in self._events if event.question is not None]
        touched = sorted({row for question in questions for row in question.all_rows})
        forced = np.array(touched, dtype=np.int64)
        if self._start is not None:
            forced = np.union1d(forced, self._start.typical)
        if self._mind is None or (self._mind.position[forced] < 0).any():
            rows = choose_rows(self.n_samples, ROWS_IN_MIND, forced, self.random_state)
            self._mind = RowsInMind(
                self._X, rows, preparation=self._scaling, seed=self.random_state
            )
        return self._mind

    def _choose(
        self, name: str, beside: tuple[Question, ...], kinds: tuple[str, ...]
    ) -> Question | None:
        """The question to ask now, but for those beside it."""
        rng = self._rng(name, len(beside))
        if rng.random() < self.repeat_share:
            again = choose_again(self._events, name, rng)
            if again is not None and again not in beside:
                return again
        mind, knowledge = self._rows_in_mind(), self.knowledge
        on_screens = mind.keys_at(key for question in beside for key in question.keys)
        knowledge = knowledge._replace(asked=knowledge.asked | on_screens)
        if self.machines and knowledge.n_groups > 1:
            joined = self._join_machines().memberships
            if joined.shape == knowledge.memberships.shape:
                knowledge = knowledge._replace(memberships=joined)
        question = None
        if self._start is not None and rng.random() < REVIEW_SHARE:
            question = self._start.review(knowledge, mind, rng)
        if question is None:
            question = choose_of_kinds(knowledge, kinds, rng)
        return None if question is None else question.at(mind.rows)

    def _rng(self, name: str, n_beside: int = 0) -> np.random.Generator:
        """Random numbers that depend on the seed, on who is asked and on what has happened."""
        n_events = sum(event.kind not in ("shown", "refit") for event in self._events)
        seeds = [self.random_state, n_events, zlib.crc32(name.encode()), n_beside]
        return np.random.default_rng(seeds if n_beside else seeds[:3])

    def _new_id(self) -> str:
        return uuid.uuid4().hex

    @cached_property
    def _plain_labels(self) -> np.ndarray:
        """Clusters without any answer, or those that the session began from."""
        if self._start is not None:
            return self._start.clusters.clip(0)
        return self._unfitted_model().fit(self._raw).labels_

    def _unfitted_model(self) -> GuidedClustering:
        return GuidedClustering(
            self.n_clusters,
            preparation=self.preparation,
            features=self.features,
            random_state=self.random_state,
        )


def numbers_of(X):
    """X as numbers (n, d), dense or CSR."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    check_scale(X)
    return X


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat()
