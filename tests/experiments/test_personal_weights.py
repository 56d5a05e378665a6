"""Weights of one space by person: gradients, a person who sees one direction only, strengths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import personal_weights as pw
from likewise.constraints import Constraints

EDGES = np.arange(3)


def choices_of(P, weights, n, seed):
    """Odd ones out as somebody with these weights of the directions would choose, at random."""
    rng = np.random.default_rng(seed)
    rows = rng.permuted(np.tile(np.arange(len(P)), (n, 1)), axis=1)[:, :3]
    triples = [rows[:, order] for order in ([0, 1, 2], [0, 2, 1], [1, 2, 0])]
    squares = [((P[t[:, 0]] - P[t[:, 1]]) ** 2) @ weights for t in triples]
    chosen = np.argmax(rng.gumbel(size=(n, 3)) - np.transpose(squares), axis=1)
    return Constraints(len(P), odd_one_out=np.array(triples)[chosen, np.arange(n)])


@pytest.fixture(scope="module")
def P():
    return np.random.default_rng(0).normal(size=(80, 4))


def test_squares_by_hand():
    P = np.array([[0.0, 0, 0], [1, 2, 3], [2, 0, 1]])
    squares = pw.squares_of(P, np.array([0, 1]), Constraints(3, odd_one_out=[(0, 1, 2)]))
    assert squares.tolist() == [[[1, 4, 1], [13, 1, 8]]]


def test_the_optimum_is_stationary(P):
    squares = pw.squares_of(P, EDGES, choices_of(P, np.array([2.0, 0.1, 1, 1]), 300, 1))
    center, strength = np.array([0.1, -0.2, 0.3]), 5.0

    def cost(v):
        move = v - center
        move = move - move.mean()
        return pw.loss_of(pw.weighted(squares, v))[0] + strength / 2 * move @ move

    found = pw.learn_weights(squares, strength, center)
    steps = 1e-4 * np.eye(3)
    slope = [(cost(found + step) - cost(found - step)) / 2e-4 for step in steps]
    assert_allclose(slope, 0, atol=0.05)


def test_who_sees_one_direction_only_is_predicted_better_with_weights_of_their_own(P):
    weights = np.array([3.0, 0.0, 0.0, 0.0])
    learned, judged = (
        pw.squares_of(P, EDGES, choices_of(P, weights, n, s)) for n, s in ((400, 2), (2000, 3))
    )
    own = pw.learn_weights(learned, 3.0, np.zeros(3))
    shared = pw.learn_weights(learned, pw.RIGID, np.zeros(3))
    assert own[0] > own[1:].max() + 1
    assert_allclose(shared, shared[0])
    losses = [pw.loss_of(pw.weighted(judged, one))[0] for one in (own, shared)]
    assert losses[0] < 0.9 * losses[1]


def test_people_who_are_all_alike_keep_the_center(P):
    even = np.ones(4)
    folds = [
        [tuple(pw.squares_of(P, EDGES, choices_of(P, even, 60, 10 * a + s)) for s in (0, 1))]
        for a in range(8)
    ]
    assert pw.best_strength(folds, [np.zeros(3)] * 8) >= 30


def test_scores_of_ten_people_are_those_of_the_methods(P, monkeypatch):
    pw.personal_scores.cache_clear()
    monkeypatch.setattr(pw, "N_PEOPLE", 3)
    monkeypatch.setattr(pw, "shared_space", lambda: (P, 1.0))
    people = [choices_of(P, np.eye(4)[a] * 3, 300, a) for a in range(3)]
    monkeypatch.setattr(pw, "answers_by_person", lambda: people)
    found = {
        method: pw.run_personal(directions="3", method=method, seed=0) for method in pw.METHODS
    }
    pw.personal_scores.cache_clear()
    assert found["shared"]["gain"] == 0
    assert found["own"]["people with a lower log-loss"] == 3
    assert found["own"]["gain"] > 0.05 > found["nine others'"]["gain"]
