"""The learner: a process of its own that turns events into snapshots.

    in    the settings of a session, what describes its rows, then lists of events
    out   snapshots, and errors as text

It is started by `likewise.studio.learner_link` and talks by pickles over its standard input and
output, with nobody but its parent. Whatever happens here, answers go on being saved.
"""

import contextlib
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.pipeline import Pipeline

from likewise.constraints import Constraints
from likewise.features import read_small_images
from likewise.files.atomic_file import replacing_together
from likewise.guided import GuidedClustering
from likewise.labeling import (
    DoubtedAnswer,
    Event,
    LabelingSession,
    counted,
    doubted_answers,
    in_force,
)
from likewise.model_file import save_model
from likewise.report import describe_clusters, lay_out, write_report
from likewise.studio.child_process import (
    give_way,
    message_pipes,
    receive,
    received_settings,
    send,
)
from likewise.studio.leaving import MODEL, REPORT, Saved, SaveRequest
from likewise.studio.row_gallery import TILE
from likewise.studio.snapshot import (
    ClusterCard,
    Failed,
    Snapshot,
    borderline_of,
    cluster_names,
    likeliest_clusters,
    stable_numbers,
    typical_of,
)
from likewise.studio.troubles import error_line

MOST_ROWS_FITTED = 50_000  # with more, a model is fitted only when somebody asks for it
REFIT_GROWTH = 1.3  # times as many answers as at the last fit
LEAST_ANSWERS = 10  # before the first fit
IDLE_SECONDS = 1.5  # without an event, before a model is fitted
MOST_CONFLICTS = 30
NICENESS = 10  # answers come first, then questions
LONGEST_PAUSE = 1.0  # seconds between two snapshots; shorter where they take less
MOST_IMAGES = 2_000  # that are read again for every report


class Learner:
    """All that is learned, from events.

    Parameters
    ----------
    session : LabelingSession
    texts : sequence of str, default=None
        What is written in each row: its words describe the clusters.
    feature_names : sequence of str, default=None
        Names of the columns, where the rows are numbers.
    images : array or sequence of paths, default=None
        For the report.
    encoder : transformer, default=None
        What made numbers of the files that DATA holds; a saved model begins with it.
    id_column : str, default=None
        The column that names the rows, for a saved model.
    title : str, default="data"
    folder : path, default=None
        Where the model and its report are saved whenever one was fitted.
    """

    def __init__(
        self,
        session: LabelingSession,
        texts: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        images: Any = None,
        encoder: Any = None,
        id_column: str | None = None,
        title: str = "data",
        folder: Path | None = None,
    ):
        self.session, self._texts, self._names = session, texts, feature_names
        self._images, self._encoder, self._id_column = images, encoder, id_column
        self._title, self._folder = title, folder
        self._fitted: tuple[int, GuidedClustering, Constraints] | None = None  # after n events
        self.version = self.layout = self.n_fitted = 0
        self.trouble = ""  # what went wrong with the last model
        self._labels: np.ndarray | None = None
        self._places: np.ndarray | None = None
        self._described: tuple[np.ndarray, list[Any]] | None = None  # labels, clusters
        self._n_answers_fitted = 0

    def take(self, events: list[Event]) -> None:
        """Let events count."""
        for event in events:
            self.session.add_event(event)

    def snapshot(self) -> Snapshot:
        """The clusters and the map as they are now."""
        session = self.session
        memberships = session.memberships
        if self._places is None:
            self._places = placed(session.numbers)
            self.layout += 1
        places = self._places
        plain = session.labels
        numbers = stable_numbers(self._labels, plain)
        with_none = np.append(numbers, -1)
        clusters, shares = likeliest_clusters(memberships)
        labels = with_none[plain].astype(np.int32)
        self._labels = labels
        self.version += 1
        known = known_rows(session.events)
        cards = [
            card_of(int(number), np.flatnonzero(plain == c), shares, places, known)
            for c, number in enumerate(numbers)
        ]
        cards = [self._with_words(card, labels == card.number) for card in cards]
        return Snapshot(
            self.version,
            len(session.events),
            labels,
            with_none[clusters].astype(np.int32),
            shares,
            tuple(card for card in cards if card.size),
            places,
            self.layout,
            self.n_fitted,
            tuple((d.event.id, d.chance, d.flipped) for d in self._doubted()),
            self._conflicts(),
            self.trouble,
        )

    def _doubted(self) -> list[DoubtedAnswer]:
        session = self.session
        return doubted_answers(session.events, session.knowledge, session.position)

    def _conflicts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Contradictions between answers, with the ids of those that prove each."""
        constraints = self.session.constraints
        screens = constraints.screens
        if screens is None:
            return ()
        return tuple(
            (
                conflict.message,
                tuple(dict.fromkeys(str(screens[i]) for i in (conflict.answer, *conflict.witness))),
            )
            for conflict in constraints.conflicts()[:MOST_CONFLICTS]
        )

    @property
    def wants_fit(self) -> bool:
        """Whether enough was answered since the last fit for another one."""
        n_answers = len(counted(self.session.events))
        return (
            self.session.n_samples <= MOST_ROWS_FITTED
            and n_answers >= LEAST_ANSWERS
            and n_answers >= REFIT_GROWTH * self._n_answers_fitted
        )

    def try_to_fit(self) -> None:
        """The same, but what goes wrong is kept for the next snapshot."""
        try:
            self.fit()
            self.trouble = ""
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.trouble = f"The model could not be fitted ({error_line(error)})."

    def fit(self) -> None:
        """Fit a model to all answers, and lay the rows out in its space."""
        self._n_answers_fitted = len(counted(self.session.events))
        n_events = len(self.session.events)
        model = self.session.fit_model()
        self._fitted = n_events, model, self.session.settled_answers()
        self._places = placed(np.asarray(model.transform(self.session.rows)), self._places)
        self.layout += 1
        self.n_fitted += 1
        if self._images is not None and self._texts is None and self._names is None:
            return  # "feature 10" of an image says nothing
        described = describe_clusters(
            model, self.session.rows, texts=self._texts, feature_names=self._names
        )
        self._described = np.asarray(model.labels_), described

    def autosave(self) -> None:
        """Save what was fitted, where it is wanted and does not take long."""
        is_quick = self._images is None or len(self._images) <= MOST_IMAGES
        if self._folder is not None and is_quick:
            with contextlib.suppress(OSError, ValueError):  # a download says what is wrong
                self.save(self._folder)

    def save(self, folder: Path) -> None:
        """Write the model, fitted to all events, and its report."""
        if self._fitted is None or self._fitted[0] != len(self.session.events):
            self.fit()
        assert self._fitted is not None
        _, model, answers = self._fitted
        names = cluster_names(in_force(self.session.events), np.asarray(model.labels_))
        model.cluster_names_ = [names.get(cluster, "") for cluster in range(model.n_clusters_)]
        whole = model
        if self._encoder is not None:
            whole = Pipeline([("features", self._encoder), ("clusters", model)])
        images = self._images
        if images is not None and not isinstance(images, np.ndarray):
            images = np.round(read_small_images(list(images), TILE) * 255).astype(np.uint8)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing_together():
            save_model(whole, folder / MODEL, feature_names=self._names, id_column=self._id_column)
            write_report(
                folder / REPORT,
                model,
                self.session.rows,
                constraints=answers,
                ids=self.session.ids,
                images=images,
                texts=self._texts,
                feature_names=self._names,
                title=f"{self._title}: what the answers did",
            )

    def _with_words(self, card: ClusterCard, is_member: np.ndarray) -> ClusterCard:
        """With what sets the fitted cluster apart that shares most rows with these."""
        if self._described is None or not is_member.any():
            return card
        labels, described = self._described
        traits = described[int(np.bincount(labels[is_member]).argmax())].traits
        columns = [trait.what.partition("=")[0] for trait in traits if not trait.is_word]
        return card._replace(words=tuple(map(str, traits)), columns=tuple(dict.fromkeys(columns)))


def card_of(
    number: int, rows: np.ndarray, shares: np.ndarray, places: np.ndarray, known: np.ndarray
) -> ClusterCard:
    """The card of a cluster that has these rows."""
    if not len(rows):
        return ClusterCard(number, 0, 0.0, (), ())
    return ClusterCard(
        number,
        len(rows),
        float(np.isin(rows, known).mean()),
        typical_of(rows, shares[rows, 0], places[rows]),
        borderline_of(rows, shares[rows]),
    )


def known_rows(events: tuple[Event, ...]) -> np.ndarray:
    """Rows that a counted answer is about."""
    questions = [event.question for event in counted(events) if event.question is not None]
    return np.unique(np.array([row for q in questions for row in q.rows], dtype=np.int64))


def placed(Z, previous: np.ndarray | None = None) -> np.ndarray:
    """(n, 2) float32: the map of rows in the learned space, most of it from -1 to 1."""
    places = lay_out(Z, previous=previous)
    places = places - np.median(places, axis=0)
    return (places / max(float(np.quantile(np.abs(places), 0.999)), 1e-12)).astype(np.float32)


# The process


def main() -> None:
    """Read settings and events until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops, and closes the pipe
    give_way(NICENESS)
    messages_in, messages_out = message_pipes()
    try:
        session = LabelingSession(**received_settings(receive(messages_in)))
        learner = Learner(session, **receive(messages_in))
        waiting: queue.Queue = queue.Queue()
        threading.Thread(target=_read_all, args=(messages_in, waiting), daemon=True).start()
        _learn(learner, waiting, messages_out)
    except (EOFError, BrokenPipeError):
        return  # the parent is gone
    except Exception as error:
        send(Failed(error_line(error), is_last=True), messages_out)
        raise


def _read_all(file: IO[bytes], waiting: queue.Queue) -> None:
    try:
        while True:
            waiting.put(receive(file))
    except Exception:  # the parent is gone
        waiting.put(None)


def _learn(learner: Learner, waiting: queue.Queue, messages_out: IO[bytes]) -> None:
    """Take all events that wait, then send a snapshot; fit when nothing comes for a while.

    A snapshot is followed by a pause as long as it took: with many people, answers come all the
    time, and half a core for the clusters is enough.
    """
    while True:
        try:
            message = waiting.get(timeout=IDLE_SECONDS if learner.wants_fit else None)
        except queue.Empty:
            send("fitting", messages_out)
            learner.try_to_fit()
            send(_snapshot(learner), messages_out)
            learner.autosave()
            continue
        requests = []
        while message is not None:
            if isinstance(message, SaveRequest):
                requests.append(message)
            else:
                learner.take(message)
            try:
                message = waiting.get_nowait()
            except queue.Empty:
                break
        if message is None:
            return
        began = time.monotonic()
        send(_snapshot(learner), messages_out)
        for request in requests:
            send(_save(learner, request), messages_out)
            send(_snapshot(learner), messages_out)
        time.sleep(min(time.monotonic() - began, LONGEST_PAUSE))


def _snapshot(learner: Learner) -> Snapshot | Failed:
    try:
        return learner.snapshot()
    except Exception as error:  # after the next answer it may go better
        traceback.print_exc(file=sys.stderr)
        return Failed(error_line(error), is_last=False)


def _save(learner: Learner, request: SaveRequest) -> Saved:
    try:
        learner.save(Path(request.folder))
    except (OSError, ValueError) as error:
        return Saved(request.number, str(error))
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return Saved(request.number, error_line(error))
    return Saved(request.number, "")
