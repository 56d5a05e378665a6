"""Prices at fixed centers: by hand, by proof, by other routes, and what must not matter."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise import Constraints
from likewise.duals.centroid_prices import (
    constant,
    isolated_prices,
    penalties,
    price_alone,
    price_by_alternating,
    price_by_climbing,
    price_by_lp,
    solve_program,
    super_gradient,
)
from likewise.duals.priced_pairs import pairs_of

EPS = 0.1
seeds = st.integers(0, 10_000)


def draw(seed, n=14, k=3, m=9):
    """Costs of the points in pairs, and the pairs: some share points, some clash, some repeat."""
    rng = np.random.RandomState(seed)
    rows = np.array([rng.choice(n, 2, replace=False) for _ in range(m)])
    must = rng.rand(m) < 0.5
    constraints = Constraints(n, must_link=rows[must], cannot_link=rows[~must])
    pairs = pairs_of(constraints)
    return rng.rand(len(pairs.points), k) * 3, pairs


def lagrangian(costs, pairs, multipliers, eps=EPS):
    penalized = costs + penalties(multipliers, pairs, pairs.incidence)
    return penalized.min(axis=1).sum() + constant(multipliers, pairs, eps)


def random_multipliers(pairs, k, rng):
    drawn = rng.randn(len(pairs.ends), k)
    return np.where(pairs.must[:, None], drawn, -np.abs(drawn))


def least_feasible(costs, pairs):
    """The cheapest labels that keep every pair, by trying all; inf when there are none."""
    p, k = costs.shape
    best = np.inf
    for labels in itertools.product(range(k), repeat=p):
        at = np.array(labels)
        same = at[pairs.ends[:, 0]] == at[pairs.ends[:, 1]]
        if (same == pairs.must).all():
            best = min(best, costs[np.arange(p), at].sum())
    return best


def test_a_cannot_link_costs_what_its_cheaper_point_pays_to_leave():
    pairs = pairs_of(Constraints(2, cannot_link=[(0, 1)]))
    costs = np.array([[0.0, 5.0, 9.0], [1.0, 4.0, 8.0]])
    found = price_by_lp(costs, pairs, EPS)
    assert_allclose(found.prices, [3.0])
    assert_allclose(found.multipliers, [[-3.0, 0.0, 0.0]])
    assert_allclose(found.bound, 1.0 + (1 - EPS) * 3.0)


def test_a_must_link_costs_what_its_points_pay_to_meet():
    pairs = pairs_of(Constraints(2, must_link=[(0, 1)]))
    costs = np.array([[0.0, 5.0], [7.0, 1.0]])  # together in 1: 6, apart: 1
    found = price_by_lp(costs, pairs, EPS)
    assert_allclose(found.prices, [5.0])
    assert found.multipliers[0, 0] > 0 or found.multipliers[0, 1] < 0  # pushed from 0 to 1


@given(seeds)
@settings(max_examples=5)
def test_pairs_that_share_no_point_have_their_isolated_price(seed):
    rng = np.random.RandomState(seed)
    order = rng.permutation(80).reshape(-1, 2)
    must = rng.rand(40) < 0.5
    pairs = pairs_of(Constraints(80, must_link=order[must], cannot_link=order[~must]))
    costs = rng.rand(80, 3)  # at 3 centers the relaxation costs a must-link nothing
    program, _ = solve_program(costs, pairs, EPS)
    assert_allclose(np.abs(program).sum(axis=1), isolated_prices(costs, pairs), atol=1e-7)
    assert_allclose(price_by_lp(costs, pairs, EPS).prices, isolated_prices(costs, pairs), atol=1e-7)
    assert_allclose(price_alone(costs, pairs).prices, isolated_prices(costs, pairs))


@given(seeds)
@settings(max_examples=25)
def test_the_optimum_carries_its_own_proof(seed):
    costs, pairs = draw(seed)
    found = price_by_lp(costs, pairs, EPS)
    assert (found.multipliers[~pairs.must] <= 1e-9).all()
    assert_allclose(lagrangian(costs, pairs, found.multipliers), found.bound, rtol=1e-7)


@given(seeds)
@settings(max_examples=15)
def test_leaving_out_what_is_settled_changes_no_value(seed):
    costs, pairs = draw(seed, n=40, m=25)
    _, value = solve_program(costs, pairs, EPS)
    assert_allclose(price_by_lp(costs, pairs, EPS).bound, value, rtol=1e-8)


@given(seeds)
@settings(max_examples=10)
def test_no_multipliers_exceed_a_feasible_cost(seed):
    rng = np.random.RandomState(seed)
    costs, pairs = draw(seed, n=7, k=3, m=4)
    least = least_feasible(costs, pairs)
    best = price_by_lp(costs, pairs, EPS).bound
    assert best <= least + 1e-9
    for _ in range(20):
        value = lagrangian(costs, pairs, random_multipliers(pairs, 3, rng))
        assert value <= best + 1e-9


@given(seeds)
@settings(max_examples=3)
def test_the_climb_ends_where_the_program_does(seed):
    costs, pairs = draw(seed, n=30, k=3, m=14)
    program = price_by_lp(costs, pairs, EPS)
    climbed = price_by_climbing(costs, pairs, EPS, max_iter=5000)
    assert climbed.bound <= program.bound + 1e-9
    assert_allclose(climbed.bound, program.bound, rtol=1e-4)
    assert_allclose(lagrangian(costs, pairs, climbed.multipliers), climbed.bound, rtol=1e-12)


@given(seeds)
@settings(max_examples=10)
def test_the_super_gradient_lies_above_the_lagrangian(seed):
    rng = np.random.RandomState(seed)
    costs, pairs = draw(seed)
    here = random_multipliers(pairs, 3, rng)
    here[rng.rand(*here.shape) < 0.3] = 0.0
    labels = (costs + penalties(here, pairs, pairs.incidence)).argmin(axis=1)
    slope = super_gradient(here, labels, pairs, EPS)
    value = lagrangian(costs, pairs, here)
    for _ in range(20):
        there = random_multipliers(pairs, 3, rng)
        rise = np.where(slope == 0, 0.0, slope * (there - here)).sum()
        # Where the gradient was cut to 0 the multiplier sits at a limit it would have to cross.
        free = np.where(slope == 0, 0.0, there - here) + here
        assert lagrangian(costs, pairs, free) <= value + rise + 1e-9


@pytest.mark.parametrize("solve", [price_by_lp, lambda *a: price_by_climbing(*a, max_iter=50)])
def test_nothing_violated_costs_nothing(solve):
    rng = np.random.RandomState(0)
    costs = rng.rand(12, 3)
    labels = costs.argmin(axis=1)
    i, j = np.triu_indices(12, 1)
    same = labels[i] == labels[j]
    rows = np.stack([i, j], axis=1)
    pairs = pairs_of(Constraints(12, must_link=rows[same], cannot_link=rows[~same]))
    found = solve(costs, pairs, EPS)
    assert_array_equal(found.multipliers, 0)
    assert_allclose(found.bound, costs.min(axis=1).sum())


@given(seeds)
@settings(max_examples=10)
def test_the_ends_of_a_pair_may_be_exchanged(seed):
    costs, pairs = draw(seed)
    found = price_by_lp(costs, pairs, EPS)
    turned = price_by_lp(costs, pairs._replace(ends=pairs.ends[:, ::-1]), EPS)
    assert_allclose(found.bound, turned.bound)
    assert_allclose(found.prices.sum(), turned.prices.sum(), rtol=1e-6)
    assert_allclose(
        isolated_prices(costs, pairs),
        isolated_prices(costs, pairs._replace(ends=pairs.ends[:, ::-1])),
    )


@given(seeds)
@settings(max_examples=10)
def test_renaming_the_centers_renames_the_multipliers(seed):
    costs, pairs = draw(seed)
    names = np.random.RandomState(seed).permutation(3)
    found, renamed = price_by_lp(costs, pairs, EPS), price_by_lp(costs[:, names], pairs, EPS)
    assert_allclose(renamed.bound, found.bound)
    # The best multipliers need not be unique; these are as good for the first problem.
    back = np.empty_like(renamed.multipliers)
    back[:, names] = renamed.multipliers
    assert_allclose(lagrangian(costs, pairs, back), found.bound, rtol=1e-7)


def test_asking_twice_divides_a_price_but_does_not_change_it():
    costs = np.array([[0.0, 5.0, 9.0], [1.0, 4.0, 8.0]])
    once = price_by_lp(costs, pairs_of(Constraints(2, cannot_link=[(0, 1)])), EPS)
    twice = price_by_lp(costs, pairs_of(Constraints(2, cannot_link=[(0, 1), (1, 0)])), EPS)
    assert_allclose(twice.prices.sum(), once.prices.sum())
    assert_allclose(twice.bound, once.bound)


@pytest.mark.parametrize("draw_seed", [0, 2])
def test_over_free_centers_the_dual_says_nothing(draw_seed):
    """By symmetry, no multipliers beat all-zero ones when centroids are free."""
    rng = np.random.RandomState(draw_seed)
    X, k = rng.randn(7, 2), 2
    rows = np.array([rng.choice(7, 2, replace=False) for _ in range(4)])
    must = np.array([True, False, True, False])
    pairs = pairs_of(Constraints(7, must_link=rows[must], cannot_link=rows[~must]))
    partitions = np.array(list(itertools.product(range(k), repeat=7)))

    def spread_of(labels):
        return sum(
            ((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum()
            for c in range(k)
            if (labels == c).any()
        )

    squares = np.array([spread_of(labels) for labels in partitions])
    keeps = np.array([not pairs.violated(labels).any() for labels in partitions])
    assert squares[keeps].min(initial=np.inf) > squares.min()  # the pairs do cost something
    for _ in range(300):
        multipliers = random_multipliers(pairs, k, rng) * rng.choice([0.1, 1.0])
        extra = np.zeros((7, k))
        extra[pairs.points] = penalties(multipliers, pairs, pairs.incidence)
        moved = extra[np.arange(7), partitions].sum(axis=1)
        value = (squares + moved).min() + constant(multipliers, pairs, EPS)
        assert value <= squares.min() + 1e-9


def test_alternating_prices_what_is_violated_and_keeps_names():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(20, 2), rng.randn(20, 2) + 8])
    labels = np.repeat([0, 1], 20)
    pairs = pairs_of(Constraints(40, must_link=[(0, 1), (2, 25)], cannot_link=[(3, 30)]))
    found = price_by_alternating(X, labels, pairs, EPS, n_clusters=2, max_iter=200)
    assert found.prices[1] > 0
    assert_array_equal(found.prices[[0, 2]], 0)
    base = sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in (0, 1))
    assert found.bound > base


def literal_search(X, labels, must, cannot, k, n_iter):
    """Multipliers of (8) to (11) over free centers, pair by pair; the step is Held and Karp's."""
    y = np.stack([X[labels == c].mean(axis=0) for c in range(k)])
    cost = ((X[:, None] - y) ** 2).sum(axis=2)
    inside = {i for pair in (*must, *cannot) for i in pair}
    target = sum(cost[i].min() if i in inside else cost[i, labels[i]] for i in range(len(X)))
    nearest = cost.argmin(axis=1)
    for i, j in must:
        if nearest[i] != nearest[j]:
            target += (cost[i] + cost[j]).min() - cost[i].min() - cost[j].min()
    for i, j in cannot:
        if nearest[i] == nearest[j]:
            target += min(np.sort(cost[u])[1] - cost[u].min() for u in (i, j))
    nu, eta = np.zeros((len(must), k)), np.zeros((len(cannot), k))
    best, first = (-np.inf, None), None
    for _ in range(n_iter):
        penalized = ((X[:, None] - y) ** 2).sum(axis=2)
        for at, (i, j) in enumerate(must):
            penalized[i] += nu[at]
            penalized[j] -= nu[at]
        for at, (i, j) in enumerate(cannot):
            penalized[[i, j]] -= eta[at]
        labels = penalized.argmin(axis=1)
        x = np.eye(k)[labels]
        added = sum(penalized[i, c] - ((X[i] - y[c]) ** 2).sum() for i, c in enumerate(labels))
        y = np.stack([X[labels == c].mean(axis=0) for c in range(k)])
        value = ((X - y[labels]) ** 2).sum() + added
        value += (1 + EPS) * eta.sum() - EPS * np.abs(nu).sum()
        first = value if first is None else first
        best = max(best, (value, (nu.copy(), eta.copy())), key=lambda one: one[0])
        if best[0] >= target:
            target = best[0] + abs(best[0] - first)
        g_nu, g_eta = np.zeros_like(nu), np.zeros_like(eta)
        for at, (i, j) in enumerate(must):
            for c in range(k):
                slack = x[i, c] - x[j, c]
                if nu[at, c]:
                    g_nu[at, c] = slack - EPS * np.sign(nu[at, c])
                else:
                    g_nu[at, c] = np.sign(slack) * max(abs(slack) - EPS, 0)
        for at, (i, j) in enumerate(cannot):
            for c in range(k):
                slack = 1 + EPS - x[i, c] - x[j, c]
                g_eta[at, c] = slack if eta[at, c] or slack < 0 else 0
        step = 2 * max(target - value, 1e-8 * abs(target)) / ((g_nu**2).sum() + (g_eta**2).sum())
        onward = nu + step * g_nu
        nu = np.where(nu * onward < 0, 0, onward)
        eta = np.minimum(0, eta + step * g_eta)
    nu, eta = best[1]
    return [*np.abs(nu).sum(axis=1), *-eta.sum(axis=1)], best[0]


@pytest.mark.parametrize("draw_seed", range(5))
def test_the_search_over_free_centers_line_by_line_finds_the_same_prices(draw_seed):
    rng = np.random.RandomState(draw_seed)
    X = np.concatenate([rng.randn(12, 2) + at for at in ([0, 0], [5, 0], [0, 5])])
    labels = np.repeat([0, 1, 2], 12)
    must, cannot = [(0, 13), (2, 3), (1, 30)], [(14, 15), (26, 27), (0, 20)]
    pairs = pairs_of(Constraints(36, must_link=must, cannot_link=cannot))
    found = price_by_alternating(X, labels, pairs, EPS, n_clusters=3, max_iter=40)
    prices, value = literal_search(X, labels, must, cannot, 3, 40)
    assert max(prices) > 0
    assert_allclose(found.prices, prices, atol=1e-8)
    assert_allclose(found.bound, value, rtol=1e-10)
