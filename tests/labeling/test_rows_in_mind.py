"""Rows beside those that a session thinks about are placed in blocks, in little memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from likewise import LabelingSession
from likewise.kernels import interpolation_weights
from likewise.labeling import LabelOracle, estimate_placed, groups_so_far, rows_in_mind
from likewise.labeling.rows_in_mind import RowsInMind, choose_rows


@pytest.fixture
def mind(seed):
    X, _ = make_blobs(700, 3, centers=4, cluster_std=2.0, random_state=seed)
    rows = choose_rows(700, 150, np.array([3, 650]), seed)
    return RowsInMind(X, rows, preparation="none", seed=seed)


def test_all_rows_get_the_weighted_memberships_of_their_nearest(mind, monkeypatch, seed):
    monkeypatch.setattr(rows_in_mind, "BLOCK_ROWS", 64)
    own = np.random.default_rng(seed).dirichlet(np.ones(4), len(mind.rows))
    spread = mind.spread_to_all(own)
    others = np.setdiff1d(np.arange(700), mind.rows)
    weights = interpolation_weights(mind.X[others], mind.Z, 10)
    assert_array_equal(spread[mind.rows], own)
    assert_allclose(spread[others], weights @ own, atol=1e-6)
    assert_array_equal(mind.largest_of_all(own), spread.argmax(axis=1))


def test_weights_take_six_bytes_each(mind):
    own = np.eye(4)[np.arange(len(mind.rows)) % 4]
    mind.largest_of_all(own)
    _, placed = mind._placing
    n_bytes = sum(block.columns.nbytes + block.weights.nbytes for block in placed)
    assert n_bytes == 6 * 11 * (700 - len(mind.rows))


def test_labels_are_those_of_the_largest_memberships(monkeypatch, seed):
    monkeypatch.setattr(groups_so_far, "ROWS_IN_MIND", 100)
    X, y = make_blobs(500, 3, centers=3, random_state=seed)
    session, oracle = LabelingSession(X), LabelOracle(y)
    assert_array_equal(session.labels, session.memberships.argmax(axis=1))
    for _ in range(8):
        question = session.next_question()
        session.answer(question, oracle(question))
    assert session.progress.n_groups == 3
    assert_array_equal(session.labels, session.memberships.argmax(axis=1))


@pytest.fixture
def crowd(monkeypatch):
    """Rows of two large groups and a small one, more than are thought about."""
    monkeypatch.setattr(groups_so_far, "ROWS_IN_MIND", 200)
    monkeypatch.setattr(groups_so_far, "DRAWN_ANEW_AT", (10, 20))
    rng = np.random.default_rng(0)
    y = rng.choice(3, 3000, p=[0.49, 0.49, 0.02])
    return rng.normal(size=(3000, 2)) + np.array([[0, 0], [5, 0], [2.5, 6]])[y], y


def test_half_of_the_rows_are_drawn_anew_in_doubt_or_of_small_groups(crowd):
    X, y = crowd
    session, oracle = LabelingSession(X), LabelOracle(y)
    for n_answers in range(25):
        mind = session._groups.rows_in_mind(session.events)
        assert len(mind.rows) <= 200 + n_answers
        if n_answers == 9:
            first, n_small = mind.rows, np.count_nonzero(y[mind.rows] == 2)
            assert mind.is_uniform is None
        if n_answers == 10:
            anew = mind.rows
            assert np.count_nonzero(y[anew] == 2) > 3 * n_small
            assert np.count_nonzero(mind.is_uniform) == 100
            small = np.mean(y[anew[mind.is_uniform]] == 2)
            assert small < 0.06  # in the half that stays a uniform draw
            assert len(np.setdiff1d(anew, first)) > 60
        if n_answers == 20:
            assert len(np.setdiff1d(mind.rows, anew)) > 30
        question = session.next_question()
        session.answer(question, oracle(question))
    touched = session.constraints.touched_rows()
    assert (session.position[touched] >= 0).all()


@pytest.mark.parametrize("n_events", [24, 47, 70])
def test_a_log_opened_again_draws_what_the_session_drew(crowd, tmp_path, n_events):
    X, y = crowd
    session, oracle = LabelingSession(X, log=tmp_path / "log"), LabelOracle(y)
    while len(session.events) < n_events:
        question = session.next_question()
        session.answer(question, oracle(question))
        if len(session.events) % 11 == 0:
            session.undo()
    question, rows = session.next_question(), session.position
    session.close()
    again = LabelingSession(X, log=tmp_path / "log")
    assert again.next_question() == question
    assert_array_equal(again.position, rows)
    assert_array_equal(again.memberships, session.memberships)
    again.close()


def test_rows_drawn_at_random_and_the_quality_are_those_of_the_uniform_half(crowd):
    X, y = crowd
    session, oracle = LabelingSession(X), LabelOracle(y)
    drawn = []
    for n_answers in range(60):
        question = session.next_question()
        if n_answers >= 10 and question.is_random:
            mind = session._groups.rows_in_mind(session.events)
            drawn.append(mind.is_uniform[mind.position[question.rows[0]]])
        session.answer(question, oracle(question))
    assert drawn
    assert all(drawn)
    knowledge, settled = session.knowledge, session._groups.settled(session.events)
    of_uniform = estimate_placed(knowledge, settled)
    of_all = estimate_placed(knowledge._replace(is_uniform=None), settled)
    assert session.progress.placed == of_uniform
    assert of_uniform.mean > of_all.mean  # those drawn anew are in doubt


def test_a_group_of_few_rows_is_found_better_after_they_were_drawn_anew(monkeypatch):
    rng = np.random.RandomState(0)
    y = rng.choice(4, 10_000, p=[0.33, 0.33, 0.328, 0.012])
    X = rng.normal(size=(10_000, 16)) + rng.normal(scale=0.9, size=(4, 16))[y]
    monkeypatch.setattr(groups_so_far, "ROWS_IN_MIND", 800)
    found = []
    for at in ((), (20,)):
        monkeypatch.setattr(groups_so_far, "DRAWN_ANEW_AT", at)
        session, oracle = LabelingSession(X), LabelOracle(y)
        for _ in range(40):
            question = session.next_question()
            session.answer(question, oracle(question))
        labels = session.labels
        own = np.bincount(labels[y == 3]).argmax()
        found.append(np.mean(labels[y == 3] == own))
    assert found[1] > found[0] + 0.05, found
