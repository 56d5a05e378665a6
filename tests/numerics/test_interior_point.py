"""The program with a hinge on pairs: certificates, a star by hand, and Clarabel beside it."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likewise.numerics.interior_point import relative_gap, solve_pairs
from tests.clarabel import solve_by_clarabel


def draw_problem(seed, p=8, m=10):
    """L of a random graph, distinct pairs, signs and costs."""
    rng = np.random.RandomState(seed)
    W = np.triu(rng.rand(p, p) < 0.4, 1).astype(float)
    W += W.T
    degrees = np.maximum(W.sum(axis=1), 1)
    L = rng.choice([1.01, 1.1, 1.5]) * np.eye(p) - W / np.sqrt(np.outer(degrees, degrees))
    every = np.column_stack(np.triu_indices(p, 1))
    pairs = every[rng.permutation(len(every))[:m]]
    return L, pairs, rng.choice([-1.0, 1.0], len(pairs)), rng.choice([0.05, 0.3, 1.0, 5.0], m)


def primal_of(problem, Z):
    L, pairs, signs, costs = problem
    margins = signs * Z[pairs[:, 0], pairs[:, 1]]
    return np.sum(L * Z) + 2 * costs @ np.maximum(0, 1 - margins)


def dual_matrix(problem, q):
    L, pairs, signs, _ = problem
    M = L.copy()
    np.subtract.at(M, (pairs[:, 0], pairs[:, 1]), q * signs)
    np.subtract.at(M, (pairs[:, 1], pairs[:, 0]), q * signs)
    return M


@pytest.mark.parametrize("m", [1, 4, 9, 25])
def test_a_star_of_pairs_has_the_root_of_their_number_as_its_optimum(m):
    # by hand: L = I and all pairs share a point, so M >= 0 means |q| <= 1, and sum q <= sqrt(m)
    pairs = np.column_stack([np.zeros(m, dtype=int), np.arange(1, m + 1)])
    found = solve_pairs(np.eye(m + 1), pairs, np.ones(m), np.full(m, 2.0), tol=1e-9)
    assert_allclose(found.dual, 2 * np.sqrt(m), rtol=1e-8)
    assert_allclose(found.duals, 1 / np.sqrt(m), rtol=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_pair_has_the_dual_and_the_kernel_that_paper_and_pencil_give(sign):
    L = np.array([[1.1, -0.4], [-0.4, 0.9]])
    H = np.linalg.inv(L)
    expected = 1 / (np.sqrt(H[0, 0] * H[1, 1]) + sign * H[0, 1])
    found = solve_pairs(L, np.array([[0, 1]]), np.array([sign]), np.array([10.0]), tol=1e-10)
    assert_allclose(found.duals, [expected], rtol=1e-8)
    # Z = v v' with v_0 v_1 = sign, v in the null space of M
    ratio = np.sqrt(L[1, 1] / L[0, 0])
    assert_allclose(found.Z, [[ratio, sign], [sign, 1 / ratio]], atol=1e-4)


def test_a_small_cost_is_paid_in_full_and_the_kernel_is_zero():
    L, pairs, signs, _ = draw_problem(0)
    costs = np.full(len(pairs), 1e-3)
    found = solve_pairs(L, pairs, signs, costs, tol=1e-9)
    assert_allclose(found.dual, 2 * costs.sum(), rtol=1e-8)
    assert_allclose(found.Z, 0, atol=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_optimum_carries_its_own_proof(seed):
    problem = draw_problem(seed)
    _, pairs, signs, costs = problem
    found = solve_pairs(*problem, tol=1e-9)
    M = dual_matrix(problem, found.duals)
    margins = signs * found.Z[pairs[:, 0], pairs[:, 1]]
    assert found.converged
    assert np.linalg.eigvalsh(M)[0] > 0
    assert np.linalg.eigvalsh(found.Z)[0] > 0
    assert ((found.duals > 0) & (found.duals < costs)).all()
    assert_allclose(found.primal, primal_of(problem, found.Z), rtol=1e-12)
    assert found.gap == relative_gap(found.primal, found.dual) <= 1e-9
    # complementary: beyond its margin a pair pulls nothing, short of it all it costs
    assert_allclose(found.duals * np.maximum(margins - 1, 0), 0, atol=1e-7)
    assert_allclose((costs - found.duals) * np.maximum(1 - margins, 0), 0, atol=1e-7)
    assert np.linalg.norm(M @ found.Z) <= 1e-4 * max(1, np.linalg.norm(found.Z))


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_the_two_values_enclose_the_optimum_from_the_first_step_on(seed):
    problem = draw_problem(seed)
    seen = []
    optimum = solve_pairs(*problem, tol=1e-10, enough=seen.append).dual  # append returns None
    for one in seen:
        assert one.dual <= optimum * (1 + 1e-9)
        assert one.primal >= optimum * (1 - 1e-9)
        assert np.linalg.eigvalsh(dual_matrix(problem, one.duals))[0] > 0
        assert np.linalg.eigvalsh(one.Z)[0] > 0


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_neither_order_nor_names_matter(seed):
    L, pairs, signs, costs = draw_problem(seed)
    rng = np.random.RandomState(seed)
    names, order = rng.permutation(len(L)), rng.permutation(len(pairs))
    there = solve_pairs(L, pairs, signs, costs, tol=1e-9)
    back = np.argsort(names)
    here = solve_pairs(
        L[np.ix_(names, names)], back[pairs[order]], signs[order], costs[order], tol=1e-9
    )
    assert_allclose(here.dual, there.dual, rtol=1e-8)
    assert_allclose(here.Z, there.Z[np.ix_(names, names)], atol=1e-3)


@pytest.mark.parametrize("draw", range(4))
def test_clarabel_finds_the_same_value(draw):
    L, pairs, signs, costs = problem = draw_problem(draw, p=10, m=14)
    Z = cp.Variable(L.shape, PSD=True)
    lack = cp.pos(1 - cp.multiply(signs, Z[pairs[:, 0], pairs[:, 1]]))
    goal = cp.Minimize(cp.trace(L @ Z) + 2 * costs @ lack)
    solved = solve_by_clarabel(cp.Problem(goal))
    found = solve_pairs(*problem, tol=1e-8)
    assert_allclose([found.primal, found.dual], solved.value, rtol=solved.value_tol(1e-6))


@pytest.mark.parametrize("draw", range(3))
def test_a_whole_basis_changes_nothing_and_a_part_of_one_costs(draw):
    L, pairs, signs, costs = problem = draw_problem(draw)
    U = np.linalg.qr(np.random.RandomState(draw).randn(len(L), len(L)))[0]
    plain = solve_pairs(*problem, tol=1e-9)
    turned = solve_pairs(U.T @ L @ U, pairs, signs, costs, basis=U, tol=1e-9)
    assert_allclose(turned.dual, plain.dual, rtol=1e-8)
    assert_allclose(U @ turned.Z @ U.T, plain.Z, atol=1e-3)
    part = U[:, :2]
    fewer = solve_pairs(part.T @ L @ part, pairs, signs, costs, basis=part, tol=1e-9)
    assert fewer.dual >= plain.dual * (1 - 1e-8)
    assert_allclose(fewer.primal, primal_of(problem, part @ fewer.Z @ part.T), rtol=1e-10)


def test_a_pair_said_both_ways_is_settled_by_the_higher_cost():
    L = np.eye(2) * 1.01
    pairs = np.array([[0, 1], [0, 1]])
    found = solve_pairs(L, pairs, np.array([1.0, -1.0]), np.array([3.0, 1.0]), tol=1e-9)
    assert found.converged
    assert_allclose(found.Z[0, 1], 1, atol=1e-5)


def test_it_ends_when_enough_says_so():
    problem = draw_problem(1)
    found = solve_pairs(*problem, tol=1e-9, enough=lambda one: one.gap <= 0.1)
    assert 1e-9 < found.gap <= 0.1
    assert not found.converged


def test_running_out_of_steps_is_said_and_still_certified():
    problem = draw_problem(1)
    found = solve_pairs(*problem, tol=1e-12, max_iter=3)
    assert not found.converged
    assert found.n_iter == 3
    assert found.dual < solve_pairs(*problem, tol=1e-9).dual < found.primal
