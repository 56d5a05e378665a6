"""The learner: what events become, and what happens when it dies."""

import asyncio
import os
import signal
import subprocess
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise.labeling import LabelingSession, LabelOracle, ask
from likewise.studio.learner import Learner, placed
from likewise.studio.learner_link import LearnerLink
from tests.studio.conftest import X, Y


@pytest.fixture(scope="module")
def answered():
    return ask(X, LabelOracle(Y), budget=12)


def test_a_snapshot_has_the_labels_of_the_session(answered):
    learner = Learner(LabelingSession(X))
    learner.take(list(answered.events))
    snapshot = learner.snapshot()
    assert adjusted_rand_score(answered.labels, snapshot.labels) == 1
    assert sum(card.size for card in snapshot.clusters) == len(X)
    assert snapshot.places.shape == (len(X), 2)
    assert snapshot.places.dtype == np.float32
    for card in snapshot.clusters:
        assert (snapshot.labels[list(card.typical)] == card.number).all()
        assert 0 < card.share_known <= 1
    assert snapshot.doubts == snapshot.conflicts == ()


def test_labels_follow_every_answer_and_the_layout_only_fits(answered):
    learner = Learner(LabelingSession(X), feature_names=["width", "height"])
    learner.take(list(answered.events)[:-2])
    first = learner.snapshot()
    learner.take(list(answered.events)[-2:])
    second = learner.snapshot()
    assert second.version == first.version + 1
    assert second.layout == first.layout
    assert second.places is first.places
    assert learner.wants_fit
    learner.fit()
    third = learner.snapshot()
    assert not learner.wants_fit
    assert third.layout == second.layout + 1
    assert third.n_fitted == 1
    assert (third.labels == second.labels).all()
    columns = {"width", "height"}
    assert {column for card in third.clusters for column in card.columns} == columns
    words = {word for card in third.clusters for word in card.words}
    assert words <= {f"{side} {column}" for side in ("low", "high") for column in columns}


def test_contradictions_come_with_the_answers_that_prove_them():
    session = LabelingSession(X)
    learner = Learner(session)
    session.act("pure", rows=[0, 3, 6], event_id="p")
    session.act("split", groups=[[0], [6]], event_id="s")
    ((message, ids),) = learner.snapshot().conflicts
    assert "contradicts" in message
    assert set(ids) == {"p", "s"}


def test_a_map_of_equal_rows_is_finite():
    assert np.isfinite(placed(np.zeros((30, 2)))).all()


def test_a_learner_that_is_killed_is_started_again_with_all_events(answered, monkeypatch):
    monkeypatch.setattr("likewise.studio.learner_link.PAUSE_SECONDS", 0.0)

    async def live():
        snapshots: asyncio.Queue = asyncio.Queue()
        settings = LabelingSession(X).settings
        link = LearnerLink(lambda: list(answered.events), snapshots.put_nowait)
        running = asyncio.create_task(link.run(settings))
        while link.process_id is None:
            await asyncio.sleep(0.01)
        os.kill(link.process_id, signal.SIGKILL)
        snapshot = await asyncio.wait_for(snapshots.get(), 100)
        assert link.n_starts == 2
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert link.process_id is None
        return snapshot

    assert adjusted_rand_score(answered.labels, asyncio.run(live()).labels) == 1


def said_by(settings):
    """What a link says of a learner with these settings, until it gives up."""

    async def live():
        link = LearnerLink(list, lambda snapshot: None, on_trouble=said.append)
        await asyncio.wait_for(link.run(settings), 100)

    said: list[str] = []
    asyncio.run(live())
    return said


def test_a_learner_that_fails_says_why(monkeypatch):
    monkeypatch.setattr("likewise.studio.learner_link.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("likewise.studio.learner_link.MOST_STARTS", 1)
    (line,) = said_by({"X": np.full((3, 2), np.nan)})
    assert line.startswith("Learning failed 1 times in a row (")
    assert "NaN" in line
    assert "answers are saved" in line


def test_a_learner_that_keeps_dying_is_tried_five_times(monkeypatch):
    monkeypatch.setattr("likewise.studio.learner_link.PAUSE_SECONDS", 0.0)
    ends_at_once = partial(subprocess.Popen, ["true"])
    monkeypatch.setattr(
        "likewise.studio.learner_link.start_learner",
        lambda: ends_at_once(stdin=subprocess.PIPE, stdout=subprocess.PIPE),
    )
    said = said_by(LabelingSession(X).settings)
    assert said[:-1] == ["Learning failed; it is tried again."] * 4
    assert said[-1].startswith("Learning failed 5 times in a row.")


def test_a_model_that_cannot_be_fitted_is_said_with_the_clusters(answered, monkeypatch):
    learner = Learner(LabelingSession(X))
    learner.take(list(answered.events))
    with monkeypatch.context() as broken:
        broken.setattr(LabelingSession, "fit_model", lambda session: 1 / 0)
        learner.try_to_fit()
    snapshot = learner.snapshot()
    assert snapshot.trouble.startswith("The model could not be fitted (ZeroDivisionError: division")
    assert adjusted_rand_score(answered.labels, snapshot.labels) == 1
    learner.try_to_fit()
    assert learner.snapshot().trouble == ""


def test_words_of_texts_describe_a_cluster_and_are_no_columns():
    words = ("sweet apple pie", "engine of steel", "blue linen shirt")
    texts = [words[group] for group in Y]
    learner = Learner(LabelingSession(X), texts=texts, feature_names=["width", "height"])
    learner.take(list(ask(X, LabelOracle(Y), budget=12).events))
    learner.fit()
    cards = learner.snapshot().clusters
    assert {"apple", "engine"} <= {word for card in cards for word in card.words}
    assert {column for card in cards for column in card.columns} <= {"width", "height"}
