"""Prices in k-medoids: every value a bound, the program's value reached, the gradient right."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, linprog

from likewise import Constraints
from likewise.cluster import exact_medoids
from likewise.duals.medoid_prices import (
    NO_PAIRS,
    SETTLED,
    WIDTHS,
    Lagrangian,
    choose_smoothly,
    cluster_without_pairs,
    price_by_lagrangian,
    price_by_program,
    price_exactly,
    price_sets,
)
from likewise.duals.priced_pairs import pairs_of

EPS = 0.1
PROVED = SETTLED * WIDTHS[-1]  # relative: what a settled climb may leave undone
seeds = st.integers(0, 10_000)


def draw(seed, n=30, m=12, spread=1.0):
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=n)
    X = rng.randn(n, 2) * spread + 3 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    costs = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    return costs, pairs_of(Constraints.from_labels(y, n_pairs=m, random_state=seed)), rng


def random_multipliers(pairs, n, rng):
    drawn = rng.randn(len(pairs.ends), n)
    return np.where(pairs.must[:, None], drawn, -np.abs(drawn))


def test_two_groups_that_must_meet_cost_the_way_between_them():
    x = np.array([0.0, 0.0, 0.0, 10.0, 10.0, 10.0])
    costs = np.abs(x[:, None] - x)
    pairs = pairs_of(Constraints(6, must_link=[(0, 3), (1, 2)], cannot_link=[(0, 5)]))
    found = price_by_lagrangian(
        cluster_without_pairs(costs, 2, np.random.RandomState(0)), pairs, EPS
    )
    # Each group may open all its three rows by a third, and be off by eps at every one of them.
    assert_allclose(found.prices[0], 3 * 10, rtol=1e-2)
    assert_array_equal(found.prices[1:], 0)
    assert_allclose(found.bound, 10 - 3 * EPS * 10, rtol=1e-2)
    assert_allclose(price_by_program(costs, 2, pairs, EPS).prices, found.prices, rtol=1e-2)


@given(seeds)
@settings(max_examples=5)
def test_every_value_of_the_lagrangian_is_a_bound(seed):
    costs, pairs, rng = draw(seed, n=9, m=4)
    keeps = [
        costs[:, list(medoids)][np.arange(9), labels].sum()
        for medoids in itertools.combinations(range(9), 2)
        for labels in [costs[:, list(medoids)].argmin(axis=1)]
        if not pairs.violated(labels).any()
    ]
    lagrangian = Lagrangian(costs, pairs, 2, EPS)
    best = price_by_program(costs, 2, pairs, EPS).bound
    for _ in range(50):
        u = rng.rand(9) * 3
        value = lagrangian.value(u, random_multipliers(pairs, 9, rng) * rng.rand())
        assert value <= min(keeps, default=np.inf) + 1e-9
        assert value <= best + 1e-7


@given(seeds)
@settings(max_examples=4)
def test_the_climb_reaches_the_bound_of_the_program(seed):
    costs, pairs, rng = draw(seed, m=15)
    program = price_by_program(costs, 3, pairs, EPS)
    found = price_by_lagrangian(cluster_without_pairs(costs, 3, rng), pairs, EPS)
    assert found.settled
    assert found.bound <= program.bound * (1 + 1e-9)
    assert found.bound >= program.bound * (1 - PROVED)
    assert (found.multipliers[~pairs.must] <= 0).all()
    if program.prices.sum() > 0.1:
        assert_allclose(found.prices.sum(), program.prices.sum(), rtol=0.15)


@given(seeds)
@settings(max_examples=5)
def test_the_gradient_is_that_of_the_rounded_function(seed):
    costs, pairs, rng = draw(seed, n=8, m=5)
    lagrangian = Lagrangian(costs, pairs, 3, EPS)
    size = 8 * lagrangian.rows.shape[0]
    flat = np.concatenate([rng.rand(8) * 2, -rng.rand(size)])

    def value(z):
        return lagrangian.minus_smooth(z, 0.3, 0.7)[0]

    numeric = approx_fprime(flat, value, 1e-7)
    assert_allclose(lagrangian.minus_smooth(flat, 0.3, 0.7)[1], numeric, atol=1e-5)


def test_rounding_vanishes_with_its_width():
    costs, pairs, rng = draw(0, n=8, m=5)
    lagrangian = Lagrangian(costs, pairs, 3, EPS)
    u, multipliers = rng.rand(8) * 3, random_multipliers(pairs, 8, rng)
    flat = lagrangian.flatten(u, multipliers)
    exact = lagrangian.value(u, multipliers)
    assert_allclose(-lagrangian.minus_smooth(flat, 1e-9, 1e-9)[0], exact, rtol=1e-6)
    assert -lagrangian.minus_smooth(flat, 0.1, 0.1)[0] >= exact


@given(seeds, st.integers(1, 6))
@settings(max_examples=30)
def test_a_smooth_choice_sums_to_k_and_prefers_the_smallest(seed, k):
    rho = np.random.RandomState(seed).randn(7)
    y = choose_smoothly(rho, k, 0.5)
    assert_allclose(y.sum(), k)
    assert (y >= 0).all()
    assert (y <= 1).all()
    assert (np.diff(y[np.argsort(rho)]) <= 1e-12).all()
    inside = (y > 1e-9) & (y < 1 - 1e-9)
    assert_allclose(np.ptp((rho + 0.5 * y)[inside]) if inside.any() else 0.0, 0.0, atol=1e-9)


def test_without_pairs_the_bound_proves_the_medoids():
    costs, _, rng = draw(3, n=40, spread=0.5)
    prepared = cluster_without_pairs(costs, 3, rng)
    exact = exact_medoids(costs / prepared.scale, 3)
    assert prepared.bound <= exact.cost + 1e-9
    assert_allclose(prepared.bound, exact.cost, rtol=1e-3)
    assert_allclose(prepared.swapped.cost, exact.cost)


def test_nothing_violated_costs_nothing():
    costs, _, rng = draw(3, n=40, spread=0.3)
    prepared = cluster_without_pairs(costs, 3, rng)
    labels = prepared.swapped.labels
    pairs = pairs_of(Constraints.from_labels(labels, n_pairs=30, random_state=0))
    found = price_by_lagrangian(prepared, pairs, EPS)
    assert_array_equal(found.multipliers, 0)
    assert_allclose(price_by_program(costs, 3, pairs, EPS).prices, 0, atol=1e-9)


def test_a_batch_is_its_sets_one_by_one():
    costs, _, rng = draw(0)
    y = np.random.RandomState(1).randint(3, size=30)
    sets = [pairs_of(Constraints.from_labels(y, n_pairs=6, random_state=s)) for s in range(3)]
    prepared = cluster_without_pairs(costs, 3, rng)
    with parallel_config(backend="threading", n_jobs=2):
        batch = price_sets(prepared, sets, EPS)
    for pairs, found in zip(sets, batch):
        assert_array_equal(found.multipliers, price_by_lagrangian(prepared, pairs, EPS).multipliers)


def test_the_unit_of_the_dissimilarities_does_not_matter():
    costs, pairs, _ = draw(5, m=15)
    small, large = (
        price_by_lagrangian(
            cluster_without_pairs(costs * s, 3, np.random.RandomState(0)), pairs, EPS
        )
        for s in (1.0, 2.0**20)
    )
    assert small.prices.any()
    assert_array_equal(large.multipliers, small.multipliers * 2.0**20)
    assert large.bound == small.bound * 2.0**20


@pytest.mark.parametrize("problem", [1, 2, 4])
@pytest.mark.parametrize("last_digits", range(3))
def test_columns_that_were_left_out_are_found_whatever_the_last_digits(
    problem, last_digits, monkeypatch
):
    # other processors add in another order: so do costs that differ in their last digits
    costs, pairs, rng = draw(problem, m=15)
    costs *= 1 + 1e-15 * np.random.RandomState(last_digits).randn(*costs.shape)
    monkeypatch.setattr("likewise.duals.medoid_prices.N_COLUMNS", (0, 1))  # as many as clusters
    found = price_by_lagrangian(cluster_without_pairs(costs, 3, rng), pairs, EPS)
    program = price_by_program(costs, 3, pairs, EPS)
    assert found.settled
    assert found.bound <= program.bound * (1 + 1e-9)
    assert found.bound >= program.bound * (1 - PROVED)


def test_a_climb_that_was_cut_short_is_not_settled(monkeypatch):
    costs, pairs, rng = draw(1, m=15)
    prepared = cluster_without_pairs(costs, 3, rng)
    monkeypatch.setattr("likewise.duals.medoid_prices.MAX_STEPS", 5)
    monkeypatch.setattr("likewise.duals.medoid_prices.MAX_ROUNDS", 1)
    found = price_by_lagrangian(prepared, pairs, EPS)
    program = price_by_program(costs, 3, pairs, EPS)
    assert found.bound < program.bound * (1 - PROVED)
    assert not found.settled


def test_a_climb_goes_on_until_its_bound_is_proved(monkeypatch):
    costs, pairs, rng = draw(1, m=15)
    prepared = cluster_without_pairs(costs, 3, rng)
    monkeypatch.setattr("likewise.duals.medoid_prices.MAX_STEPS", 60)  # more than one round
    assert price_by_lagrangian(prepared, pairs, EPS).settled


@given(seeds, st.sampled_from([1e-1, 1e-2, 1e-4]))
@settings(max_examples=5)
def test_the_program_costs_no_more_than_its_upper_bound(seed, width):
    costs, pairs, rng = draw(seed, n=12, m=6)
    program = price_by_program(costs, 3, pairs, EPS)
    lagrangian = Lagrangian(costs, pairs, 3, EPS)
    u = rng.rand(12) * 3
    multipliers = random_multipliers(pairs, 12, rng) * rng.rand()
    quickly, exactly = lagrangian.upper_bounds(u, multipliers, width)
    assert program.bound * (1 - 1e-6) <= exactly <= quickly * (1 + 1e-6)


def test_no_pairs_have_no_multipliers():
    assert NO_PAIRS.incidence.shape == (0, 0)


def program_as_printed(costs, k, pairs, eps):
    """(12) to (19) with (5') to (6'') row by row: its least cost, from dense arrays."""
    n = len(costs)
    upper, rights = [], []

    def at_most(entries, right):
        row = np.zeros(n * n + n)
        for place, value in entries:
            row[place] = value
        upper.append(row)
        rights.append(right)

    for c in range(n):
        for i in range(n):
            at_most([(i * n + c, 1), (n * n + c, -1)], 0.0)
        for (a, b), must in zip(pairs.points[pairs.ends], pairs.must):
            if must:
                at_most([(a * n + c, 1), (b * n + c, -1)], eps)
                at_most([(a * n + c, -1), (b * n + c, 1)], eps)
            else:
                at_most([(a * n + c, 1), (b * n + c, 1)], 1 + eps)
    sums = np.zeros((n + 1, n * n + n))
    for i in range(n):
        sums[i, i * n : (i + 1) * n] = 1
    sums[n, n * n :] = 1
    return linprog(
        np.append(costs.ravel(), np.zeros(n)),
        A_ub=np.array(upper),
        b_ub=rights,
        A_eq=sums,
        b_eq=np.append(np.ones(n), k),
        bounds=(0, 1),
    ).fun


@pytest.mark.parametrize("number", [0, 3])
def test_equation_16_as_printed_has_the_value_of_its_program(number):
    costs, pairs, rng = draw(number, n=14, m=14, spread=2.0)
    printed = program_as_printed(costs, 3, pairs, EPS)
    prepared = cluster_without_pairs(costs, 3, rng)
    assert_allclose(price_exactly(prepared, pairs, EPS, tight=False).bound, printed, rtol=1e-7)
    climbed = price_by_lagrangian(prepared, pairs, EPS, tight=False)
    assert printed * (1 - PROVED) <= climbed.bound <= printed * (1 + 1e-9)
    tight = price_by_program(costs, 3, pairs, EPS)
    assert tight.bound > printed * (1 + 1e-4)  # the same partitions, a better bound


def test_the_gradient_of_equation_16_as_printed():
    costs, pairs, rng = draw(2, n=8, m=5)
    lagrangian = Lagrangian(costs, pairs, 3, EPS, tight=False)
    flat = lagrangian.flatten(rng.rand(8) + 1, random_multipliers(pairs, 8, rng))
    _, gradient = lagrangian.minus_smooth(flat, 0.3, 0.5)
    slope = approx_fprime(flat, lambda at: lagrangian.minus_smooth(at, 0.3, 0.5)[0], 1e-7)
    assert_allclose(gradient, slope, atol=1e-4)


def test_a_program_begun_with_a_few_columns_ends_with_the_value_of_all():
    costs, pairs, _ = draw(5, n=24)
    whole = price_by_program(costs, 3, pairs, EPS)
    begun = price_by_program(costs, 3, pairs, EPS, columns=np.arange(4))
    assert_allclose(begun.bound, whole.bound, rtol=1e-9)
