import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from likewise.numerics.transport import priced_bound, transport

seeds = st.integers(0, 10_000)


def draw(seed):
    """Costs and sizes that can be had; many ties with every second seed."""
    rng = np.random.RandomState(seed)
    n, k = rng.randint(1, 25), rng.randint(1, 6)
    costs = rng.rand(n, k) if seed % 2 else rng.randint(0, 4, (n, k)).astype(float)
    target = np.bincount(rng.randint(0, k, n), minlength=k)
    lower = np.maximum(target - rng.randint(0, 3, k), 0)
    return costs, lower, target + rng.randint(0, 3, k)


def test_the_row_that_loses_least_moves_by_hand():
    costs = np.array([[0.0, 5.0], [0.0, 2.0], [0.0, 7.0]])
    placed = transport(costs, np.array([0, 1]), np.array([3, 3]))
    assert_array_equal(placed.labels, [0, 1, 0])
    assert placed.cost == 2
    # A place in the second cluster is worth between 2, for the row that moved, and 5, for the next.
    assert 2 <= placed.prices[0] - placed.prices[1] <= 5


def test_a_row_may_make_room_for_another():
    # Row 0 can only go to the second cluster cheaply, whose row goes on to the third.
    costs = np.array([[0.0, 1.0, 9.0], [0.0, 9.0, 9.0], [9.0, 0.0, 1.0]])
    placed = transport(costs, np.array([1, 1, 1]), np.array([1, 1, 1]))
    assert_array_equal(placed.labels, [1, 0, 2])


@given(seeds)
def test_the_prices_prove_the_cost(seed):
    costs, lower, upper = draw(seed)
    start = np.random.RandomState(seed).normal(size=len(lower)) if seed % 3 else None
    placed = transport(costs, lower, upper, start)
    sizes = np.bincount(placed.labels, minlength=len(lower))
    assert (lower <= sizes).all()
    assert (sizes <= upper).all()
    bound = priced_bound(costs, placed.prices, lower, np.minimum(upper, len(costs)))
    assert_allclose(placed.cost, bound, rtol=1e-9, atol=1e-9)


@given(seeds)
def test_a_linear_program_finds_nothing_cheaper(seed):
    costs, lower, upper = draw(seed)
    n, k = costs.shape
    per_row = np.kron(np.eye(n), np.ones((1, k)))
    per_cluster = np.kron(np.ones((1, n)), np.eye(k))
    solved = linprog(
        costs.ravel(),
        A_ub=np.concatenate([per_cluster, -per_cluster]),
        b_ub=np.concatenate([upper, -lower]),
        A_eq=per_row,
        b_eq=np.ones(n),
    )
    assert_allclose(transport(costs, lower, upper).cost, solved.fun, atol=1e-7)


@given(seeds)
def test_what_is_added_to_all_costs_of_a_row_does_not_matter(seed):
    costs, lower, upper = draw(seed)
    shifts = np.random.RandomState(seed).randint(-3, 3, (len(costs), 1))
    moved = transport(costs + shifts, lower, upper)
    assert_allclose(moved.cost, transport(costs, lower, upper).cost + shifts.sum(), atol=1e-9)


@pytest.mark.parametrize(("lower", "upper"), [([2, 2], [9, 9]), ([0, 0], [1, 1]), ([2, 0], [1, 9])])
def test_sizes_that_rows_cannot_have_give_nothing(lower, upper):
    assert transport(np.zeros((3, 2)), np.array(lower), np.array(upper)) is None


def test_no_rows_are_no_problem():
    assert transport(np.zeros((0, 2)), np.zeros(2, int), np.ones(2, int)).cost == 0
