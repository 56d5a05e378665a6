"""Rows beside those that a session thinks about are placed in blocks, in little memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from likewise import LabelingSession
from likewise.kernels import interpolation_weights
from likewise.labeling import LabelOracle, groups_so_far, rows_in_mind
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
