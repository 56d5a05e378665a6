"""LabelingSession: ask, take the answer, ask again; everything follows from the events.

A plain state machine. The events are its state, kept in memory and, if wanted, in a log; groups,
memberships, labels and the next question follow from them, from the rows and from the seed. Opened
again on its log, a session is where it was, down to the question that was on the screen.
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from likewise.constraints import Constraints
from likewise.features import TableFeatures
from likewise.guided import GuidedClustering, fit_features
from likewise.labeling.answer_constraints import constraints_from
from likewise.labeling.asking_ahead import choose_beside, choose_for_machine
from likewise.labeling.event_log import EventLog, RowNames
from likewise.labeling.events import SAYING, Event, counted, last_counted, now
from likewise.labeling.groups_so_far import GroupsSoFar
from likewise.labeling.imported_answers import events_from
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.machine_answers import MachineBelief
from likewise.labeling.open_questions import OpenQuestions
from likewise.labeling.questions import (
    ACTIONS,
    IMPORTED,
    NOWHERE,
    Question,
    check_kinds,
    check_question,
)
from likewise.labeling.rows_in_mind import numbers_of
from likewise.labeling.session_progress import Progress, progress_of
from likewise.labeling.start_labels import StartLabels

NOWHERE_LABEL = -1


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
    the nearest of 2,000 of these. After 40, 160, 640 and 2,560 answers half of the sample is drawn
    anew: rows in doubt, and rows of small groups.

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
        scaling = "none" if is_even else preparation  # its columns have equal weights
        self.n_samples = self._X.shape[0]
        self.ids = Constraints(self.n_samples, ids=ids).ids
        self._start = None
        if start_labels is not None:
            self._start = StartLabels.of(start_labels, self._X)
        self._groups = GroupsSoFar(
            self._X,
            self._start,
            preparation=scaling,
            seed=self.random_state,
            machines=self.machines,
        )
        self._log, self.set_aside, events = None, [], []
        if log is not None:
            self._log = EventLog(log, RowNames(X, self.ids))
            events = self._log.read()
            self.set_aside = self._log.set_aside
        self._events: list[Event] = []
        self._seen: set[str] = set()
        self._open = OpenQuestions()
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
        question = self._open.of(name, self._groups.said_by_people(self._events))
        if question is None:
            question = self._choose(name, self._open.of_others(name), self.kinds)
            if question is None:
                self._open.close(name)
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
            raise ValueError(f"{name!r} is none of the machines {self.machines}.")
        return choose_for_machine(self._events, self._groups, name, n_questions)

    @property
    def machine_beliefs(self) -> dict[str, MachineBelief]:
        """How far each machine can be trusted, by the rows that people placed too."""
        has_groups = self._groups.settled(self._events).n_groups > 1
        return self._groups.belief(self._events).machines if has_groups else {}

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

    def __repr__(self) -> str:
        return f"<LabelingSession on {self.n_samples} rows: {len(counted(self._events))} answers>"

    @property
    def settings(self) -> dict[str, Any]:
        """What it was made with, but for its log."""
        named = ("ids", "kinds", "n_clusters", "preparation", "features", "machines")
        return {
            "X": self._raw,
            "start_labels": self._start_labels,
            "repeat_share": self.repeat_share,
            "random_state": self.random_state,
            **{name: getattr(self, name) for name in named},
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
        return self._groups.rows_in_mind(self._events).position

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
        return self._groups.knowledge(self._events)

    @property
    def memberships(self) -> np.ndarray:
        """(n_samples, n_clusters) memberships in the groups known to be different; rows sum to 1.

        Before two groups are known: 1 in the cluster that plain clustering gives a row.
        """
        memberships = self._groups.memberships(self._events)
        if memberships is None:
            labels = self._plain_labels
            return np.eye(labels.max() + 1)[labels]
        return memberships

    @property
    def labels(self) -> np.ndarray:
        """(n_samples,) the cluster of each row; -1 where a person said that it belongs nowhere.

        From the memberships, at once; ``model.labels_`` takes longer and learns which features
        matter. Before two groups are known: plain clustering.
        """
        labels = self._groups.labels(self._events)
        if labels is None:
            labels = self._plain_labels.astype(np.int64)
        nowhere = [
            event.question.rows[0]
            for event in counted(self._groups.said_by_people(self._events))
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
        return self._groups.links(self._events, self.constraints)

    @property
    def progress(self) -> Progress:
        """How far the session has come."""
        return progress_of(self._events, self._groups, self.kinds)

    @property
    def log_identity(self) -> str:
        """What tells its log from every other one; empty without a log."""
        return "" if self._log is None else self._log.identity

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
        self._open.follow(event, self._events)
        if event.kind not in ("shown", "name"):
            self._groups.forget(event.annotator)

    def _choose(
        self, name: str, beside: tuple[Question, ...], kinds: tuple[str, ...]
    ) -> Question | None:
        """The question to ask now, but for those beside it."""
        return choose_beside(self._events, self._groups, name, beside, kinds, self.repeat_share)

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
