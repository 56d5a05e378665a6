from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

from likewise.cluster import assignment, linked_groups
from likewise.cluster.assignment import Rules, assign_groups
from likewise.cluster.linked_groups import Ties, no_ties, solve_tied

seeds = st.integers(0, 10_000)


def draw(seed):
    """A few groups of rows with costs, and every kind of rule about them."""
    rng = np.random.RandomState(seed)
    p, k = rng.randint(2, 7), rng.randint(1, 4)
    sizes = rng.randint(1, 4, p) if seed % 2 else np.ones(p, dtype=int)
    target = np.bincount(rng.randint(0, k, p), sizes, minlength=k).astype(int)
    lower = np.maximum(target - rng.randint(0, 3, k), 0)
    upper = target + rng.randint(0, 4, k)
    if seed % 5 == 0:
        lower, upper = np.zeros(k, dtype=int), np.full(k, sizes.sum())
    pairs = np.array(list(combinations(range(p), 2)))
    apart, soft = (pairs[rng.permutation(len(pairs))[: rng.randint(0, 3)]] for _ in range(2))
    exclusive = [np.sort(rng.permutation(p)[:3])] if seed % 3 == 0 else []
    must, prices = rng.rand(len(soft)) < 0.5, 5 * rng.rand(len(soft))
    ties = Ties(apart, exclusive, soft, must, prices)
    return 10 * sizes[:, None] * rng.rand(p, k), Rules(sizes, lower, upper, ties)


def cheapest(costs, rules):
    p, k = costs.shape
    every = map(np.array, product(range(k), repeat=p))
    return min((rules.cost(costs, one) for one in every if rules.hold(one)), default=np.inf)


def test_a_group_of_two_rows_and_a_single_one_by_hand():
    # Both would go to the first cluster, which has room for two rows.
    rules = Rules(np.array([2, 1]), np.zeros(2, int), np.array([2, 3]), no_ties())
    placed = assign_groups(np.array([[0.0, 3.0], [0.0, 2.0]]), rules)
    assert_array_equal(placed.labels, [0, 1])
    assert (placed.cost, placed.bound) == (2, 2)


@given(seeds)
@settings(max_examples=60)
def test_nothing_is_cheaper_among_all_labels_and_the_bound_says_so(seed):
    costs, rules = draw(seed)
    placed, best = assign_groups(costs, rules), cheapest(costs, rules)
    if np.isinf(best):
        assert placed.labels is None
        assert np.isinf(placed.bound)
    else:
        assert rules.hold(placed.labels)
        assert_allclose([placed.cost, placed.bound], best, rtol=1e-6)
        assert_allclose(rules.cost(costs, placed.labels), placed.cost)


@given(seeds)
@settings(max_examples=30)
def test_on_the_way_labels_hold_and_the_bound_is_true(seed):
    costs, rules = draw(seed)
    placed, best = assign_groups(costs, rules, exact=False), cheapest(costs, rules)
    if placed.labels is not None:
        assert rules.hold(placed.labels)
        assert placed.bound <= best * (1 + 1e-7) <= placed.cost * (1 + 2e-7)


def test_labels_to_start_from_are_never_made_worse():
    for seed in range(20):
        costs, rules = draw(seed)
        start = assign_groups(costs.max() - costs, rules).labels
        if start is not None:
            placed = assign_groups(costs, rules, start=start, exact=False)
            assert placed.cost <= rules.cost(costs, start) + 1e-9


def test_names_of_clusters_do_not_matter():
    costs, rules = draw(7)
    order = np.arange(costs.shape[1])[::-1]
    turned = rules._replace(lower=rules.lower[order], upper=rules.upper[order])
    assert_allclose(assign_groups(costs[:, order], turned).cost, assign_groups(costs, rules).cost)


def larger(seed, n=300, k=5):
    rng = np.random.RandomState(seed)
    sizes = rng.choice([1, 1, 1, 2, 3], n)
    pairs = np.sort(rng.randint(0, n, (60, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    mean = sizes.sum() // k
    lower, upper = np.full(k, mean * 3 // 4), np.full(k, mean * 5 // 4 + 1)
    costs = sizes[:, None] * rng.rand(n, k) ** 2 * np.linspace(0.2, 1, k)
    return costs, Rules(sizes, lower, upper, no_ties()._replace(apart=pairs))


@pytest.mark.parametrize("draw_number", range(3))
def test_the_reduced_program_loses_nothing_of_the_whole_one(draw_number):
    costs, rules = larger(draw_number)
    placed = assign_groups(costs, rules)
    whole = linked_groups.solve_program(
        costs,
        np.ones(costs.shape, dtype=bool),
        rules.ties,
        sizes=rules.sizes.astype(float),
        lower=rules.lower,
        upper=rules.upper,
    )
    assert_allclose([placed.cost, placed.bound], whole.cost, rtol=1e-6)


def test_few_options_are_enough_where_labels_are_known(monkeypatch):
    costs, rules = larger(0, n=1000)
    seen = []
    solve = linked_groups.solve_program

    def watched(some, options, *rest, **keywords):
        seen.append(int(options.sum()))
        return solve(some, options, *rest, **keywords)

    monkeypatch.setattr(assignment, "solve_program", watched)
    assign_groups(costs, rules)
    assert 0 < sum(seen) < costs.size / 5


def test_a_program_too_large_leaves_what_is_known(monkeypatch):
    monkeypatch.setattr(linked_groups, "LARGEST_PROGRAM", 0)
    ties = no_ties()._replace(apart=np.array([[0, 1]]))
    costs = np.array([[0.0, 3.0], [0.0, 2.0]])
    assert solve_tied(costs, ties).labels is None
    kept = solve_tied(costs, ties, np.array([1, 0]))
    assert (kept.cost, kept.bound) == (3, 0)


@pytest.mark.parametrize("draw_seed", range(6))
def test_options_left_out_at_first_are_not_taken_for_proved_worse(draw_seed):
    # Six groups, all apart, in six clusters of two rows: a first program has four options each.
    rng = np.random.default_rng(draw_seed)
    costs = np.exp(3 * rng.normal(size=6))[None, :] + rng.random((6, 6))
    ties = no_ties()._replace(exclusive=[np.arange(6)])
    sizes, nothing = np.ones(6, dtype=int), np.zeros(6)
    rules = Rules(sizes, np.zeros(6, int), np.full(6, 2), ties)
    is_free, bound = np.zeros(6, dtype=bool), costs.min(axis=1).sum()
    found, proved = assignment.decide(
        costs, rules, is_free, nothing, assignment.Found(None, np.inf), bound
    )
    best = costs[linear_sum_assignment(costs)].sum()
    assert_allclose([found.cost, proved], best, rtol=1e-6)
