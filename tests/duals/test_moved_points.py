"""Points moved until k-means honors the pairs."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, move_points
from likewise.datasets import load_iris
from likewise.duals.centroid_prices import price_by_alternating, price_by_lp
from likewise.duals.moved_points import cluster_rows, cost_changes, crossing, keep_names
from likewise.duals.priced_pairs import pairs_of


def broken_pairs(y, labels, m, seed):
    """m pairs, as the classes have them, that a clustering breaks."""
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    broken = np.flatnonzero((labels[i] == labels[j]) != same)
    chosen = np.random.RandomState(seed).choice(broken, m, replace=False)
    rows = np.stack([i, j], axis=1)[chosen]
    return Constraints(len(y), must_link=rows[same[chosen]], cannot_link=rows[~same[chosen]])


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    labels, _ = cluster_rows(data.X, 3, None, 10, np.random.RandomState(0))
    return data.X, data.y, broken_pairs(data.y, labels, 12, 0)


def test_a_point_goes_just_across_the_border():
    step = crossing(np.array([1.0, 3.0]), np.array([0.0, 0.0]), np.array([4.0, 0.0]))
    assert_allclose(step, [1.01, 0.0])  # the border is at 2
    beyond = crossing(np.array([3.0, 0.0]), np.array([0.0, 0.0]), np.array([4.0, 0.0]))
    assert_allclose(beyond, [0.04, 0.0])
    assert_array_equal(crossing(np.ones(2), np.zeros(2), np.zeros(2)), 0)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_cost_changes_are_those_of_the_sum_of_squares(seed):
    rng = np.random.RandomState(seed)
    X, labels = rng.randn(9, 2), np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])

    def squares(labels):
        return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in range(3))

    centers = np.stack([X[labels == c].mean(axis=0) for c in range(3)])
    changes = cost_changes(X, labels, centers, np.array([[0, 4]]))
    for at, row in enumerate((0, 4)):
        for to in range(3):
            moved = labels.copy()
            moved[row] = to
            assert_allclose(changes[0, at, to], squares(moved) - squares(labels), atol=1e-9)


def test_nobody_leaves_a_cluster_empty():
    X, labels = np.array([[0.0], [5.0], [6.0]]), np.array([0, 1, 1])
    changes = cost_changes(X, labels, np.array([[0.0], [5.5]]), np.array([0]))
    assert_array_equal(changes, [[0.0, np.inf]])


@pytest.mark.parametrize("order", ["dearest", "cheapest", "random"])
def test_every_pair_is_satisfied_in_the_end_and_the_history_adds_up(iris, order):
    X, y, c = iris
    moved = move_points(X, c, 3, order=order, y=y, random_state=0)
    pairs, sign = c.signed_pairs()
    together = moved.labels[pairs[:, 0]] == moved.labels[pairs[:, 1]]
    assert_array_equal(np.flatnonzero(together != (sign > 0)), moved.unsatisfied)
    assert len(moved.unsatisfied) <= 1
    assert moved.n_broken[0] == 12
    assert moved.n_broken[-1] == len(moved.unsatisfied)
    lengths = [move.length for move in moved.moves]
    assert_allclose(moved.travelled[-1], sum(lengths))
    assert (np.diff(moved.travelled) > 0).all()
    assert len(moved.n_broken) == len(moved.travelled) == len(moved.ari)
    assert_allclose(moved.ari[-1], adjusted_rand_score(y, moved.labels))
    assert moved.ari[-1] > moved.ari[0]
    touched = np.unique([move.row for move in moved.moves])
    assert_array_equal(np.flatnonzero((moved.X != X).any(axis=1)), touched)
    assert np.isin(touched, pairs).all()


def test_the_dearest_first_goes_a_shorter_way(iris):
    X, y, _ = iris
    labels, _ = cluster_rows(X, 3, None, 10, np.random.RandomState(0))
    ways = {"dearest": 0.0, "cheapest": 0.0}
    for seed in range(4):
        c = broken_pairs(y, labels, 12, seed)
        for order in ways:
            ways[order] += move_points(X, c, 3, order=order, random_state=0).travelled[-1]
    assert ways["dearest"] < 0.8 * ways["cheapest"]


def test_the_way_of_the_paper_keeps_the_names_of_clusters(iris):
    X, y, c = iris
    few = c.subset(np.arange(4))
    moved = move_points(X, few, 3, restarts="paper", y=y, random_state=0)
    assert len(moved.unsatisfied) == 0
    centers = np.stack([moved.X[moved.labels == k].mean(axis=0) for k in range(3)])
    assert_allclose(centers, moved.centers, atol=1e-3)
    before, _ = cluster_rows(X, 3, None, 100, np.random.RandomState(0))
    assert (before == moved.labels).mean() > 0.9  # the same names, some rows moved


def change_of_cost(X, labels, y, tabu, u, to):
    """The delta of algorithm 2."""
    c = labels[u]
    if c == to:
        return 0.0
    if (u, to) in tabu:
        return np.inf
    here, there = np.sum(labels == c), np.sum(labels == to)
    gain = there / (there + 1) * ((X[u] - y[to]) ** 2).sum()
    return gain - here / (here - 1) * ((X[u] - y[c]) ** 2).sum()


def literal_algorithm_1(X, must, cannot, k, labels, impacts, again):
    """Algorithms 1 and 2 line by line; `again(X, y)` is step 3, k-means with the names kept.

    `impacts(X, labels)` is step 4 and 5: the sum of the multipliers of each pair, at most 0.
    """
    X, tabu, moves = X.copy(), set(), []
    pairs = [*must, *cannot]
    while True:
        y = np.stack([X[labels == c].mean(axis=0) for c in range(k)])
        allowed = {}
        for at, (i, j) in enumerate(pairs):
            if at < len(must) and labels[i] != labels[j]:
                allowed[at] = [c for c in range(k) if not {(i, c), (j, c)} & tabu]
            if at >= len(must) and labels[i] == labels[j]:
                others = [c for c in range(k) if c != labels[i]]
                allowed[at] = [c for c in others if not {(i, c), (j, c)} <= tabu]
        allowed = {at: clusters for at, clusters in allowed.items() if clusters}
        if not allowed:
            return X, labels, moves

        delta = partial(change_of_cost, X, labels, y, tabu)
        worth = impacts(X, labels)
        at = max(allowed, key=lambda one: worth[one])
        i, j = pairs[at]
        if at < len(must):
            to = min(allowed[at], key=lambda c: delta(i, c) + delta(j, c))
            rows = [u for u in (i, j) if labels[u] != to]
        else:
            u, to = min(((u, c) for u in (i, j) for c in allowed[at]), key=lambda one: delta(*one))
            rows = [u]
        for u in rows:
            v = y[to] - y[labels[u]]
            halfway = (y[to] + y[labels[u]]) / 2
            X[u] += 1.01 * ((halfway - X[u]) @ v) / (v @ v) * v
            tabu.add((u, labels[u]))
            moves.append((u, int(labels[u]), int(to)))
        labels, _ = again(X, y)


@pytest.mark.parametrize(
    ("solver", "restarts"),
    [("lp", "warm"), ("alternating", "warm"), ("alternating", "paper")],
)
def test_algorithms_1_and_2_line_by_line_make_the_same_moves(iris, solver, restarts):
    X, _, c = iris
    c = c.subset(np.arange(12 if restarts == "warm" else 4))
    rng = np.random.RandomState(0)
    labels, _ = cluster_rows(X, 3, None, 100, rng)
    n_new = 0 if restarts == "warm" else 99

    def impacts(X, labels):
        pairs = pairs_of(c)
        centers = np.stack([X[labels == k].mean(axis=0) for k in range(3)])
        if solver == "lp":
            costs = ((X[pairs.points][:, None] - centers) ** 2).sum(axis=2)
            return -price_by_lp(costs, pairs, 0.1).prices
        return -price_by_alternating(X, labels, pairs, 0.1, n_clusters=3, max_iter=60).prices

    rows, last, moves = literal_algorithm_1(
        X,
        c.must_link.tolist(),
        c.cannot_link.tolist(),
        3,
        labels,
        impacts,
        again=lambda X, y: cluster_rows(X, 3, y, n_new, rng),
    )
    ways = {"order": "cheapest", "solver": solver, "restarts": restarts}
    moved = move_points(X, c, 3, **ways, max_iter=60, random_state=0)
    assert [(move.row, move.left, move.to) for move in moved.moves] == moves
    assert_allclose(moved.X, rows, atol=1e-9)
    assert_array_equal(moved.labels, last)


def test_names_follow_the_centers():
    before = np.array([[0.0], [5.0], [9.0]])
    labels, centers = keep_names(before, np.array([0, 1, 2, 2]), np.array([[5.1], [9.1], [0.1]]))
    assert_array_equal(labels, [1, 2, 0, 0])
    assert_array_equal(centers, [[0.1], [5.1], [9.1]])


def test_contradictions_end_with_an_account():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(10, 2), rng.randn(10, 2) + 6])
    c = Constraints(20, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (3, 15)])
    moved = move_points(X, c, 2, random_state=0)
    assert len(moved.unsatisfied) >= 1
    assert moved.conflicts == ("cannot_link[0] = (0, 2) contradicts the must-link path 0-1-2.",)
    assert len(moved.moves) <= X.shape[0] * 2


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_it_always_ends(seed):
    rng = np.random.RandomState(seed)
    X = rng.randn(12, 2)
    rows = np.array([rng.choice(12, 2, replace=False) for _ in range(12)])
    must = rng.rand(12) < 0.5
    c = Constraints(12, must_link=rows[must], cannot_link=rows[~must])
    moved = move_points(X, c, 2, order="random", random_state=0)
    assert_array_equal(moved.unsatisfied, pairs_of(c).answers[pairs_of(c).violated(moved.labels)])
    assert np.isfinite(moved.X).all()


def test_nothing_to_do_moves_nothing():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    moved = move_points(X, Constraints(4, must_link=[(0, 1)]), 2, random_state=0)
    assert_array_equal(moved.X, X)
    assert moved.moves == []
    assert_array_equal(moved.travelled, [0.0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"order": "size"}, "order='size' is not one of"),
        ({"restarts": 3}, "restarts=3 is not one of"),
    ],
)
def test_a_mistake_is_one_clear_error(iris, settings, words):
    with pytest.raises(ValueError, match=words):
        move_points(iris[0], iris[2], 3, **settings)
