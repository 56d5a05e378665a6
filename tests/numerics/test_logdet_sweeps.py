"""The log-det projections: exact steps, one sequence however it is cut, optima with proofs."""

import importlib.util
import sys

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from likewise.numerics import logdet_sweeps, loops
from likewise.numerics.logdet_sweeps import sweep_pairs, sweep_triples
from tests.clarabel import solve_by_clarabel

SEEDS = st.integers(0, 10_000)
PAIR_LOSSES = ["hinge", "squared_hinge", "log_det", "paper"]
TRIPLE_LOSSES = ["hinge", "squared_hinge", "paper"]


class Pairs:
    """Pairs of neighboring rows, with targets that one hidden metric can meet."""

    def __init__(self, seed, n_pairs=12, r=4, strength=np.inf, contradictory=False):
        rng = np.random.default_rng(seed)
        self.rows = rng.standard_normal((n_pairs + 1, r))
        self.pairs = np.column_stack([np.arange(n_pairs), np.arange(1, n_pairs + 1)])
        self.V = self.rows[self.pairs[:, 0]] - self.rows[self.pairs[:, 1]]
        self.sign = rng.choice([1.0, -1.0], n_pairs)
        self.M0 = random_definite(rng, r)
        hidden = random_definite(rng, r)
        reached = np.einsum("ij,jk,ik->i", self.V, hidden, self.V)
        share = 1.5 if contradictory else 0.8
        self.sq_targets = np.where(self.sign > 0, reached / share, reached * share)
        self.strengths = np.full(n_pairs, strength)
        self.is_equality = np.zeros(n_pairs, dtype=bool)
        self.C = self.sign[:, None, None] * self.V[:, :, None] * self.V[:, None, :]

    def sweep(self, M, duals, **settings):
        return sweep_pairs(
            M,
            self.rows,
            self.pairs,
            duals,
            sign=self.sign,
            sq_targets=self.sq_targets,
            strengths=self.strengths,
            **settings,
        )

    def violations(self, M):
        sq_dists = np.einsum("ij,jk,ik->i", self.V, M, self.V)
        return self.sign * (sq_dists - self.sq_targets)


class Triples:
    """Relative comparisons, a fifth of them equalities, that one hidden metric can meet."""

    def __init__(self, seed, n_triples=12, r=4, strength=np.inf, contradictory=False):
        rng = np.random.default_rng(seed)
        self.rows = rng.standard_normal((2 * n_triples + 1, r))
        self.triples = np.array(
            [rng.choice(len(self.rows), 3, replace=False) for _ in range(n_triples)]
        )
        hidden = random_definite(rng, r)
        i, j, k = self.triples.T
        self.U, self.W = self.rows[i] - self.rows[j], self.rows[i] - self.rows[k]
        p = np.einsum("ij,jk,ik->i", self.U, hidden, self.U)
        q = np.einsum("ij,jk,ik->i", self.W, hidden, self.W)
        self.is_equality = rng.random(n_triples) < 0.2
        share = np.where(self.is_equality, 1.0, 3.0 if contradictory else 0.8)
        self.ratios = share * q / p
        self.M0 = random_definite(rng, r)
        self.strengths = np.full(n_triples, strength)
        self.C = (
            self.ratios[:, None, None] * self.U[:, :, None] * self.U[:, None, :]
            - self.W[:, :, None] * self.W[:, None, :]
        )

    def sweep(self, M, duals, **settings):
        return sweep_triples(
            M,
            self.rows,
            self.triples,
            duals,
            ratios=self.ratios,
            is_equality=self.is_equality,
            strengths=self.strengths,
            **settings,
        )

    def violations(self, M):
        return np.einsum("cij,ij->c", self.C, M)


def random_definite(rng, r):
    A = rng.standard_normal((r, r))
    return A @ A.T / r + 0.3 * np.eye(r)


def solve(problem, *, loss="hinge", tol=1e-12, max_sweeps=20_000, seed=0):
    rng = np.random.default_rng(seed)
    M, duals = problem.M0.copy(), np.zeros(len(problem.strengths))
    for _ in range(max_sweeps):
        swept = problem.sweep(M, duals, loss=loss, order=rng.permutation(len(duals)))
        if swept.largest_move <= tol:
            return M, duals
    raise AssertionError(f"not settled after {max_sweeps} sweeps: {swept}")


def divergence(M, M0):
    ratio = np.linalg.solve(M0, M)
    return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(M)


# By hand


def test_one_must_link_in_the_plane_ends_on_its_target():
    M, duals = np.eye(2), np.zeros(1)
    swept = sweep_pairs(
        M,
        np.array([[0.0, 0.0], [2.0, 0.0]]),
        np.array([[0, 1]]),
        duals,
        sign=np.array([1.0]),
        sq_targets=np.array([1.0]),
        strengths=np.array([np.inf]),
    )
    assert_allclose(M, [[0.25, 0], [0, 1]])
    assert_allclose(duals, [0.75])  # 1 / target - 1 / sq_dist
    assert_allclose(swept.largest_move, 3.0)  # 0.75 * 4
    assert swept.n_moved == 1


@pytest.mark.parametrize("strength", [0.01, 1.0, np.inf])
def test_reported_move_of_a_slack_pair_is_how_far_it_stood_from_its_target(strength):
    M, duals = np.eye(2), np.zeros(1)
    swept = sweep_pairs(
        M,
        np.array([[0.0, 0.0], [2.0, 0.0]]),
        np.array([[0, 1]]),
        duals,
        sign=np.array([1.0]),
        sq_targets=np.array([1.0]),
        strengths=np.array([strength]),
        loss="log_det",
    )
    assert_allclose(swept.largest_move, 3.0)  # sq_dist / target - 1, however small the step
    assert_allclose(M[0, 0] * 4, 1 / (1 - duals[0] / strength))


def test_one_triple_at_a_right_angle_ends_where_both_distances_meet():
    # p = q = 1, x = 0 and ratio 2: a = 1 / 4, so p' = 1 / (1 + 2 / 4) and q' = 1 / (1 - 1 / 4).
    M, duals = np.eye(2), np.zeros(1)
    sweep_triples(
        M,
        np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        np.array([[0, 1, 2]]),
        duals,
        ratios=np.array([2.0]),
        is_equality=np.array([False]),
        strengths=np.array([np.inf]),
    )
    assert_allclose(duals, [0.25])
    assert_allclose(M, np.diag([2 / 3, 4 / 3]))


@pytest.mark.parametrize("problem", [Pairs(0), Triples(0)], ids=["pairs", "triples"])
def test_nothing_to_visit_leaves_the_metric_alone(problem):
    M, duals = problem.M0.copy(), np.zeros(len(problem.strengths))
    swept = problem.sweep(M, duals, order=np.arange(0))
    assert_array_equal(M, problem.M0)
    assert swept == (0.0, 0)


# The single step


@given(SEEDS)
def test_closed_form_of_the_triple_step_is_the_one_of_the_eigenvalues(seed):
    problem = Triples(seed, n_triples=1)
    problem.is_equality[:] = True  # never clipped
    M, duals = problem.M0.copy(), np.zeros(1)
    problem.sweep(M, duals)
    eta = np.linalg.eigvals(problem.M0 @ problem.C[0]).real
    eta = eta[np.argsort(-np.abs(eta))[:2]]
    assert_allclose(duals[0], -eta.sum() / (2 * eta.prod()), rtol=1e-8)
    assert_allclose(problem.violations(M), 0, atol=1e-10)


def wanted_dual(problem, M, dual, c, loss):
    """The step of one constraint by a root finder, from explicit inverses."""
    strength = problem.strengths[c]
    inverse = np.linalg.inv(M)

    def violation(step):
        return problem.violations(np.linalg.inv(inverse + step * problem.C[c]))[c]

    eta = np.linalg.eigvals(M @ problem.C[c]).real
    lowest = -1 / eta.max() if eta.max() > 1e-9 else -1e6
    highest = -1 / eta.min() if eta.min() < -1e-9 else 1e6
    inner = 1e-9 * (highest - lowest)
    lowest, highest = lowest + inner, highest - inner

    def excess(step):
        if loss == "squared_hinge":
            return violation(step) - (dual + step) / strength
        if loss == "log_det":
            sign, target = problem.sign[c], problem.sq_targets[c]
            sq_dist = target + sign * violation(step)
            return sign * (1 / target - 1 / sq_dist) - (dual + step) / strength
        return violation(step)

    root = brentq(excess, lowest, highest, xtol=1e-15, rtol=1e-14)
    if loss == "paper":
        return dual + (root if problem.is_equality[c] else max(root, 0.0))
    if problem.is_equality[c]:
        cap = strength if loss == "hinge" else np.inf
        return float(np.clip(dual + root, -cap, cap))
    return float(np.clip(dual + root, 0.0, strength if loss == "hinge" else np.inf))


@pytest.mark.parametrize("strength", [0.05, 2.0])
@pytest.mark.parametrize(
    ("kind", "loss"),
    [(Pairs, loss) for loss in PAIR_LOSSES] + [(Triples, loss) for loss in TRIPLE_LOSSES],
)
def test_every_step_is_the_root_that_its_loss_asks_for(kind, loss, strength, seed):
    problem = kind(seed, 8)
    problem.strengths[:] = strength
    M, duals = problem.M0.copy(), np.zeros(8)
    for c in list(range(8)) * 2:
        expected = wanted_dual(problem, M, duals[c], c, loss)
        problem.sweep(M, duals, loss=loss, order=np.array([c]))
        assert_allclose(duals[c], expected, rtol=1e-6, atol=1e-7)


# One sequence, however it is cut and whoever runs it


def three_sweeps(problem, loss, **settings):
    M, duals = problem.M0.copy(), np.zeros(len(problem.strengths))
    swept = [problem.sweep(M, duals, loss=loss, **settings) for _ in range(3)]
    return M, duals, swept


def assert_same_run(run, other):
    assert_allclose(run[0], other[0], rtol=0, atol=1e-12 * np.abs(other[0]).max())
    assert_allclose(run[1], other[1], rtol=0, atol=1e-12 * np.abs(other[1]).max())
    assert_allclose([s.largest_move for s in run[2]], [s.largest_move for s in other[2]])
    assert [s.n_moved for s in run[2]] == [s.n_moved for s in other[2]]


CASES = [(Pairs, loss) for loss in PAIR_LOSSES] + [(Triples, loss) for loss in TRIPLE_LOSSES]


@pytest.mark.parametrize("strength", [0.1, np.inf])
@pytest.mark.parametrize(("kind", "loss"), CASES)
def test_blocked_is_one_at_a_time(kind, loss, strength, seed):
    problem = kind(seed, 150, 20, strength)
    one_at_a_time = three_sweeps(problem, loss, block_size=1)
    for block_size in (7, 48):
        assert_same_run(three_sweeps(problem, loss, block_size=block_size), one_at_a_time)


@pytest.mark.parametrize("strength", [0.1, np.inf])
@pytest.mark.parametrize(("kind", "loss"), CASES)
def test_compiled_loops_are_their_python_source(kind, loss, strength, seed, monkeypatch):
    problem = kind(seed, 150, 20, strength)
    in_python = three_sweeps(problem, loss)
    monkeypatch.setattr(logdet_sweeps, "COMPILED_FROM", 0)
    assert_same_run(three_sweeps(problem, loss), in_python)


def test_sweeps_are_the_same_where_numba_is_not_installed(seed, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    spec = importlib.util.spec_from_file_location("loops_without_numba", loops.__file__)
    without_numba = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(without_numba)
    assert not without_numba.has_numba()
    for problem in (Pairs(seed, 60, 10), Triples(seed, 60, 10)):
        run = three_sweeps(problem, "hinge")
        with monkeypatch.context() as patch:
            patch.setattr(logdet_sweeps, "loops", without_numba)
            patch.setattr(logdet_sweeps, "COMPILED_FROM", 0)
            assert_same_run(three_sweeps(problem, "hinge"), run)


# Optima that prove themselves


@settings(max_examples=8)
@given(SEEDS, st.sampled_from([Pairs, Triples]))
def test_hard_optimum_carries_its_own_proof(seed, kind):
    problem = kind(seed)
    M, duals = solve(problem)
    violations = problem.violations(M)
    free = problem.is_equality
    assert (duals[~free] >= 0).all()
    assert (violations[~free] <= 1e-8).all()
    assert_allclose(violations[free], 0, atol=1e-8)
    assert_allclose(duals * violations, 0, atol=1e-7)
    assert_stationary(problem, M, duals)


@settings(max_examples=8)
@given(SEEDS, st.sampled_from([Pairs, Triples]), st.sampled_from([0.1, 1.0]))
def test_hinge_optimum_carries_its_own_proof(seed, kind, strength):
    problem = kind(seed, strength=strength, contradictory=True)
    M, duals = solve(problem)
    violations = problem.violations(M)
    lowest = -strength * problem.is_equality
    assert ((duals >= lowest) & (duals <= strength)).all()
    assert_allclose(duals[violations > 1e-7], strength)
    assert_allclose(duals[violations < -1e-7], lowest[violations < -1e-7])
    assert_stationary(problem, M, duals)


@settings(max_examples=8)
@given(SEEDS, st.sampled_from([Pairs, Triples]), st.sampled_from([0.1, 1.0]))
def test_squared_hinge_optimum_carries_its_own_proof(seed, kind, strength):
    problem = kind(seed, strength=strength, contradictory=True)
    M, duals = solve(problem, loss="squared_hinge", tol=1e-10)
    violations = problem.violations(M)
    paid = np.where(problem.is_equality, violations, np.maximum(violations, 0))
    assert_allclose(duals, strength * paid, rtol=1e-6, atol=1e-7)
    assert_stationary(problem, M, duals)


def assert_stationary(problem, M, duals):
    expected = np.linalg.inv(problem.M0) + np.einsum("c,cij->ij", duals, problem.C)
    assert_allclose(np.linalg.inv(M), expected, rtol=1e-8, atol=1e-8)
    assert_array_equal(M, M.T)


@pytest.mark.parametrize("loss", ["hard", "hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", [Pairs, Triples])
def test_objective_is_the_one_of_an_interior_point_solver(kind, loss, seed):
    strength = np.inf if loss == "hard" else 0.5
    problem = kind(seed, 8, 3, strength, contradictory=loss != "hard")
    M, _ = solve(problem, loss="hinge" if loss == "hard" else loss)

    variable = cp.Variable((3, 3), PSD=True)
    violations = cp.hstack([cp.trace(C @ variable) for C in problem.C])
    if kind is Pairs:
        violations -= problem.sign * problem.sq_targets
    is_equality = problem.is_equality.astype(float)
    paid = cp.multiply(1 - is_equality, cp.pos(violations))
    paid += cp.multiply(is_equality, cp.abs(violations))
    inverse0 = np.linalg.inv(problem.M0)
    distance = cp.trace(inverse0 @ variable) - cp.log_det(variable)
    distance += np.linalg.slogdet(problem.M0)[1] - 3
    if loss == "hard":
        program = cp.Problem(cp.Minimize(distance), [paid <= 0])
    elif loss == "hinge":
        program = cp.Problem(cp.Minimize(distance + strength * cp.sum(paid)))
    else:
        program = cp.Problem(cp.Minimize(distance + strength / 2 * cp.sum_squares(paid)))
    solved = solve_by_clarabel(program)
    point_tol = solved.point_tol(1e-3)
    assert_allclose(M, variable.value, rtol=point_tol, atol=point_tol)
    violations = problem.violations(M)
    paid = np.where(problem.is_equality, np.abs(violations), np.maximum(violations, 0))
    paid = paid**2 / 2 if loss == "squared_hinge" else paid
    ours = divergence(M, problem.M0) + (0 if loss == "hard" else strength * paid.sum())
    assert_allclose(ours, solved.value, rtol=solved.value_tol(1e-6))


# Laws


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([Pairs, Triples]), st.sampled_from([0.5, np.inf]))
def test_optimum_does_not_depend_on_the_order(seed, kind, strength):
    problem = kind(seed, strength=strength)
    assert_allclose(solve(problem, seed=1)[0], solve(problem, seed=2)[0], atol=1e-8)


def test_paper_mode_is_feasible_but_above_the_optimum_and_depends_on_the_order():
    excess, spread = [], []
    for seed in range(5):
        problem = Triples(seed, 16, 6)
        problem.is_equality[:] = False
        optimum = divergence(solve(problem)[0], problem.M0)
        ends = [solve(problem, loss="paper", seed=s)[0] for s in range(2)]
        for M in ends:
            assert (problem.violations(M) <= 1e-9).all()
            excess.append(divergence(M, problem.M0) / optimum - 1)
        spread.append(np.abs(ends[0] - ends[1]).max())
    assert min(excess) > -1e-9
    assert max(excess) > 0.01
    assert max(spread) > 1e-3


@pytest.mark.parametrize("kind", [Pairs, Triples])
def test_paper_mode_leaves_small_violations_alone(kind, seed):
    problem = kind(seed)
    M, duals = problem.M0.copy(), np.zeros(12)
    while problem.sweep(M, duals, loss="paper", ignore_below=0.01).n_moved:
        pass
    if kind is Pairs:
        reference = problem.sq_targets
    else:
        reference = np.einsum("ci,ij,cj->c", problem.W, M, problem.W)
    violations = problem.violations(M)
    if kind is Triples:
        violations = np.where(problem.is_equality, np.abs(violations), violations)
    assert (violations <= 0.01 * reference * (1 + 1e-9)).all()
    assert (violations > 0).any()


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([Pairs, Triples]), st.sampled_from(["hinge", "squared_hinge"]))
def test_very_strong_is_hard(seed, kind, loss):
    problem = kind(seed)
    hard, _ = solve(problem)
    problem.strengths[:] = 1e9
    assert_allclose(solve(problem, loss=loss, tol=1e-11)[0], hard, rtol=1e-6, atol=1e-6)


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(["hinge", "squared_hinge", "log_det"]))
def test_twice_the_strength_is_the_pair_twice(seed, loss):
    once, twice = Pairs(seed, strength=0.5), Pairs(seed, strength=0.5)
    once.strengths[3] *= 2
    for name in ("pairs", "sign", "sq_targets", "strengths"):
        column = getattr(twice, name)
        setattr(twice, name, np.concatenate([column, column[3:4]]))
    assert_allclose(solve(once, loss=loss)[0], solve(twice, loss=loss)[0], atol=1e-8)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(CASES))
def test_metric_stays_definite_on_contradictory_answers(seed, case):
    kind, loss = case
    problem = kind(seed, 40, 5, contradictory=True)
    M, duals = problem.M0.copy(), np.zeros(40)
    for _ in range(5):
        problem.sweep(M, duals, loss=loss)
        assert np.isfinite(duals).all()
        assert np.linalg.eigvalsh(M)[0] > 0


# Degenerate constraints


def test_identical_rows_are_passed_over():
    problem = Pairs(0)
    problem.rows[:] = 1.0
    M, duals = problem.M0.copy(), np.zeros(12)
    assert problem.sweep(M, duals) == (0.0, 0)
    assert_array_equal(M, problem.M0)


@pytest.mark.parametrize("loss", TRIPLE_LOSSES)
def test_three_points_on_a_line_are_passed_over(loss):
    problem = Triples(0, n_triples=1)
    problem.rows = np.outer(np.arange(3.0), np.ones(4))
    problem.triples = np.array([[0, 1, 2]])
    M, duals = problem.M0.copy(), np.zeros(1)
    assert problem.sweep(M, duals, loss=loss) == (0.0, 0)
    assert_array_equal(M, problem.M0)


def test_log_det_loss_is_refused_for_triples():
    with pytest.raises(ValueError, match="needs a target"):
        Triples(0).sweep(np.eye(4), np.zeros(12), loss="log_det")


def test_float32_rows_are_differenced_in_float64(seed):
    problem = Pairs(seed)
    problem.rows = problem.rows.astype(np.float32)
    M, duals = problem.M0.copy(), np.zeros(12)
    problem.sweep(M, duals)
    problem.rows = problem.rows.astype(np.float64)
    M64, duals64 = problem.M0.copy(), np.zeros(12)
    problem.sweep(M64, duals64)
    assert_array_equal(M, M64)
