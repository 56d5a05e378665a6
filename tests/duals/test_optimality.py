"""optimality_gap: a bound that no labeling beats, checked against all of them."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

from likewise import Constraints, COPKMeans, KMedoids, dissimilarity_matrix, optimality_gap
from likewise.duals.partition_bound import (
    bound_partitions,
    level_of,
    most_at,
    nearest_projection,
    partition_program,
)


def square_cost(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


def labelings(n_rows, k):
    """All of them with every cluster in use, up to renaming."""
    for rest in itertools.product(range(k), repeat=n_rows - 1):
        labels = np.array((0, *rest))
        if len(set(rest) | {0}) == k:
            yield labels


def keeps(labels, pairs, apart, least, most):
    sizes = np.bincount(labels)
    return (
        all(labels[a] == labels[b] for a, b in pairs)
        and all(labels[a] != labels[b] for a, b in apart)
        and least <= sizes.min()
        and sizes.max() <= most
    )


def problem(seed):
    """Eight rows in a plane, some pairs and sizes; the labelings that keep them and their costs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2)) + 2 * rng.integers(0, 2, (8, 1))
    k = int(rng.integers(2, 4))
    y = rng.integers(0, k, 8)
    ends = [tuple(rng.choice(8, 2, replace=False)) for _ in range(3)]
    pairs = [(a, b) for a, b in ends if y[a] == y[b]]
    apart = [(a, b) for a, b in ends if y[a] != y[b]]
    least, most = (1, 8) if seed % 2 else (2, 5)
    kept = [one for one in labelings(8, k) if keeps(one, pairs, apart, least, most)]
    return X, k, Constraints(8, must_link=pairs, cannot_link=apart), least, most, kept


def program_of(X, k, constraints, least, most):
    closure, rows = constraints.closure(), X - X.mean(axis=0)
    sums = np.zeros((closure.n_components, X.shape[1]))
    np.add.at(sums, closure.components, rows)
    return partition_program(sums, closure.sizes, closure.apart_pairs(), k, least, most)


def test_four_rows_on_a_line_cost_one_and_no_labels_less():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    found = optimality_gap(X, [0, 0, 1, 1], tol=1e-6)
    assert found.cost == 1.0
    assert found.gap < 1e-4
    assert found.settled
    other = optimality_gap(X, [0, 1, 1, 1])
    assert_allclose(other.cost, (1 - 20 / 3) ** 2 + (9 - 20 / 3) ** 2 + (10 - 20 / 3) ** 2)
    assert_allclose(other.bound, 1, rtol=0.01)


@pytest.mark.parametrize("draw", range(8))
def test_no_labeling_that_keeps_the_rules_costs_less_than_the_bound(draw):
    X, k, c, least, most, kept = problem(draw)
    assert kept
    best = min(kept, key=lambda labels: square_cost(X, labels))
    found = optimality_gap(X, best, c, min_size=least, max_size=most, tol=1e-5, max_iter=500)
    assert_allclose(found.cost, square_cost(X, best))
    assert 0 < found.bound <= found.cost
    assert found.gap < 0.25
    total = ((X - X.mean(axis=0)) ** 2).sum()
    program = program_of(X, k, c, least, most)
    bounded = bound_partitions(program, enough=-np.inf, worth=0.0, max_iter=100)
    assert total - bounded.most <= found.cost * (1 + 1e-9)


@pytest.mark.parametrize("draw", range(4))
def test_any_prices_prove_a_bound(draw):
    X, k, c, least, most, kept = problem(draw)
    program = program_of(X, k, c, least, most)
    prices = np.random.default_rng(draw).normal(size=program.A.shape)
    total = ((X - X.mean(axis=0)) ** 2).sum()
    least_cost = min(square_cost(X, labels) for labels in kept)
    for shift in (-5, 0, 5):
        assert total - most_at(program, prices + prices.T + shift) <= least_cost
    assert total - most_at(program, np.zeros_like(prices)) <= least_cost


@pytest.mark.parametrize("draw", range(3))
def test_an_interior_point_solver_finds_the_same_bound(draw):
    cvxpy = pytest.importorskip("cvxpy", reason="the extra exact is not installed")
    X, k, c, least, most, _ = problem(draw)
    program = program_of(X, k, c, least, most)
    p = len(program.A)
    Y = cvxpy.Variable((p, p), PSD=True)
    rules = [
        np.eye(p) - Y >> 0,
        cvxpy.trace(Y) == k,
        Y @ program.root == program.root,
        program.lower <= Y,
        program.upper >= Y,
    ]
    solved = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(program.A @ Y)), rules)
    solved.solve(solver="CLARABEL")
    total = ((X - X.mean(axis=0)) ** 2).sum()
    ours = bound_partitions(program, enough=-np.inf, worth=1e-7 * total, max_iter=3000)
    assert ours.most >= solved.value - 1e-6 * total
    assert_allclose(ours.most, solved.value, atol=2e-3 * total)
    assert_allclose(most_at(program, ours.prices), ours.most)


def test_order_and_place_of_rows_and_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 3 * rng.integers(0, 3, (30, 1))
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    order = rng.permutation(30)
    names = np.array(["b", "c", "a"])[labels]
    first = optimality_gap(X, labels)
    second = optimality_gap(10 + 2 * X[order], names[order])
    assert_allclose([second.cost, second.bound], [4 * first.cost, 4 * first.bound], rtol=1e-3)


def test_rules_raise_the_bound():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 2))
    labels = np.repeat([0, 1], 6)
    apart = Constraints(12, cannot_link=[(i, i + 6) for i in range(6)])
    groups = Constraints(12, exclusive=[[i, i + 6] for i in range(6)])
    free, filled, limited, ruled, grouped = (
        optimality_gap(X, labels, answers, **sizes).bound
        for answers, sizes in (
            (None, {}),
            (None, {"min_size": 6}),
            (None, {"max_size": 6}),
            (apart, {}),
            (groups, {}),
        )
    )
    assert free < filled
    assert free < limited
    assert free < ruled
    assert_allclose(ruled, grouped)


def test_pairs_that_leave_one_choice_leave_no_gap():
    X = np.random.default_rng(2).normal(size=(20, 4))
    y = np.arange(20) % 2
    everything = Constraints.from_partial_labels(y)
    found = optimality_gap(X, y, everything, tol=1e-6)
    assert_allclose(found.bound, square_cost(X, y), rtol=1e-6)


def test_medoids_are_bounded_by_the_prices_program():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(12, 2)) + 6])
    model = KMedoids(2, random_state=0).fit(X)
    found = optimality_gap(X, model.labels_, model="k-medoids", metric="manhattan", random_state=0)
    D = dissimilarity_matrix(X, "manhattan")
    costs = [
        min(np.minimum(D[:, a], D[:, b]).sum() for a, b in itertools.combinations(range(len(X)), 2))
    ]
    assert found.bound <= min(costs) + 1e-9
    assert found.gap < 0.01


def test_pairs_bound_medoids_too():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    c = Constraints(6, must_link=[(2, 3)])
    labels = np.array([0, 0, 1, 1, 1, 1])
    free = optimality_gap(X, np.repeat([0, 1], 3), model="k-medoids", random_state=0)
    found = optimality_gap(X, labels, c, model="k-medoids", random_state=0)
    assert_allclose([free.cost, free.bound], [4, 4], rtol=1e-3)
    assert_allclose(found.cost, 1 + 9 + 1 + 1)
    assert free.bound < found.bound <= found.cost + 1e-9


def test_a_fit_with_sizes_and_pairs_is_close_to_the_best():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 4)) + 4 * rng.normal(size=(3, 4))[y]
    c = Constraints.from_labels(y, n_pairs=30, random_state=0)
    model = COPKMeans(3, min_size=25, max_size=35, random_state=0).fit(X, constraints=c)
    found = optimality_gap(X, model.labels_, c, min_size=25, max_size=35)
    assert_allclose(found.cost, model.inertia_)
    assert found.gap < 0.02


@pytest.mark.parametrize("total", [0, 0.5, 2, 3])
def test_moved_down_to_their_level_values_sum_to_the_total(total):
    values = np.array([-1.0, 0.2, 0.2, 3.0, 5.0])
    level = level_of(values, total)
    assert_allclose(np.clip(values - level, 0, 1).sum(), total, atol=1e-12)


def test_the_nearest_projection_is_nearer_than_labelings_are():
    X, k, _c, _least, _most, kept = problem(0)
    program = program_of(X, k, Constraints(8), 1, 8)
    M = np.random.default_rng(0).normal(size=(8, 8))
    M = M + M.T
    Y, _ = nearest_projection(M, program.root, k, 3)
    values = np.linalg.eigvalsh(Y)
    assert values.min() > -1e-9
    assert values.max() < 1 + 1e-9
    assert_allclose([np.trace(Y), *(Y @ program.root)], [k, *program.root])
    for labels in kept:
        one = (labels[:, None] == labels) / np.bincount(labels)[labels]
        assert np.linalg.norm(M - Y) <= np.linalg.norm(M - one) + 1e-9
        assert ((M - Y) * (one - Y)).sum() <= 1e-8  # the angle at a nearest point is not acute


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        ([0, 0, 1], {}, r"labels have shape \(3,\), but X has 4 rows"),
        ([0, -1, 1, 1], {}, r"labels\[1\] = -1 is no cluster"),
        ([0, 1, 1, 1], {"constraints": {"must_link": [(0, 1)]}}, r"violate must_link\[0\]"),
        ([0, 0, 1, 1], {"constraints": Constraints(4, exclusive=[[0, 1]])}, r"exclusive\[0\]"),
        ([0, 1, 1, 1], {"min_size": 2}, "has 1 rows, outside min_size=2"),
        ([0, 0, 1, 1], {"n_clusters": 1}, "n_clusters"),
        ([0, 0, 1, 1], {"model": "median"}, "model='median' is not one of"),
        ([0, 0, 1, 1], {"metric": "cosine"}, "needs model='k-medoids'"),
    ],
)
def test_what_cannot_be_compared_is_one_error(labels, settings, message):
    X = [[0.0], [1.0], [9.0], [10.0]]
    with pytest.raises(ValueError, match=message):
        optimality_gap(X, labels, **settings)


def test_more_rows_than_it_takes_are_named(monkeypatch):
    monkeypatch.setattr("likewise.duals.optimality.MOST_GROUPS", 3)
    with pytest.raises(ValueError, match="up to 3 rows, must-linked ones counted once, and there"):
        optimality_gap([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("k", [1, 4])
def test_one_cluster_and_one_per_row_are_the_best_there_are(k):
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    found = optimality_gap(X, np.arange(4) % k, tol=1e-6)
    assert_allclose(found.bound, found.cost, atol=1e-6 * 82)
