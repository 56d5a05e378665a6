"""The problem both kernel learners solve: certificates, an SDP solver, and what must not matter."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.linalg import inv
from numpy.testing import assert_allclose

from likewise.constraints import Constraints
from likewise.kernel_learning.logdet_kernel import learn_metric, misses_margins, problem_rows
from tests.clarabel import solve_by_clarabel

seeds = st.integers(0, 10_000)
NEAR, FAR, MARGIN = 0.4, 2.5, 2.0


def draw_problem(seed, n=8, r=8, with_pairs=True):
    """Coordinates with room for all distances, and answers from labels: some metric honors them."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    counts = {"n_odd_one_out": 4, "n_closer": 3, "n_undecided": 1}
    if with_pairs:
        counts |= {"n_must_link": 2, "n_cannot_link": 2}
    return rng.randn(n, r) / np.sqrt(r), Constraints.from_labels(y, **counts, random_state=seed)


def learn(Y, answers, *, C=np.inf, loss="hinge", tol=1e-9, max_iter=5000, seed=0, margin=MARGIN):
    rows = problem_rows(answers)
    weights = answers.weights
    return learn_metric(
        Y,
        rows,
        sq_bounds=(NEAR, FAR),
        margin=margin,
        pair_strengths=C * weights[rows.pair_answers],
        triple_strengths=C * weights[rows.triple_answers],
        loss=loss,
        tol=tol,
        max_iter=max_iter,
        rng=np.random.RandomState(seed),
    )


def constraint_matrices(Y, rows, margin=MARGIN):
    """Row c says <C_c, M> <= limit_c (= for equalities); as matrices (m, r, r) and limits (m,)."""
    v = Y[rows.pairs[:, 0]] - Y[rows.pairs[:, 1]]
    of_pairs = rows.sign[:, None, None] * np.einsum("ci,cj->cij", v, v)
    u = Y[rows.triples[:, 0]] - Y[rows.triples[:, 1]]
    w = Y[rows.triples[:, 0]] - Y[rows.triples[:, 2]]
    ratio = np.where(rows.is_equality, 1.0, margin)[:, None, None]
    of_triples = ratio * np.einsum("ci,cj->cij", u, u) - np.einsum("ci,cj->cij", w, w)
    limits = np.concatenate(
        [rows.sign * np.where(rows.sign > 0, NEAR, FAR), np.zeros(len(rows.triples))]
    )
    return np.concatenate([of_pairs, of_triples]), limits


def values(C, M):
    return np.einsum("cij,ij->c", C, M)


def test_one_violated_answer_takes_one_step_by_hand():
    # d(0,1) = d(0,2) = 1 at a right angle, gamma 2: 2 d01 = d02 at inv(M) = I + a (2 uu' - ww'),
    # a = (2 - 1) / (2 * 2 * 1) = 1/4, so M = diag(1 / (1 + 1/2), 1 / (1 - 1/4)) = diag(2/3, 4/3).
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    fitted = learn(Y, Constraints(3, closer=[(0, 1, 2)]))
    assert_allclose(fitted.metric, np.diag([2 / 3, 4 / 3]), atol=1e-9)
    assert_allclose(fitted.triple_duals, [1 / 4], atol=1e-9)
    assert fitted.divergence == pytest.approx(2 - np.log(8 / 9) - 2)


def test_a_satisfied_answer_changes_nothing():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    fitted = learn(Y, Constraints(3, closer=[(0, 1, 2)]))
    assert_allclose(fitted.metric, np.eye(2))
    assert_allclose(fitted.triple_duals, 0)


@given(seeds)
@settings(max_examples=10)
def test_the_hard_optimum_carries_its_own_proof(seed):
    Y, answers = draw_problem(seed)
    fitted = learn(Y, answers)
    C, limits = constraint_matrices(Y, fitted.rows)
    duals = np.concatenate([fitted.pair_duals, fitted.triple_duals])
    is_equality = np.concatenate([np.zeros(len(fitted.rows.pairs), bool), fitted.rows.is_equality])
    slack = limits - values(C, fitted.metric)
    assert fitted.converged
    assert (slack[~is_equality] >= -1e-6).all()
    assert_allclose(slack[is_equality], 0, atol=1e-6)
    assert (duals[~is_equality] >= 0).all()
    assert_allclose(duals * slack, 0, atol=1e-6)
    assert_allclose(
        inv(fitted.metric), np.eye(len(Y.T)) + np.einsum("c,cij->ij", duals, C), atol=1e-7
    )


def solve_by_sdp(Y, rows, weights, *, C, loss):
    matrices, limits = constraint_matrices(Y, rows)
    is_equality = np.concatenate([np.zeros(len(rows.pairs), bool), rows.is_equality])
    M = cp.Variable((Y.shape[1], Y.shape[1]), PSD=True)
    excess = cp.hstack([cp.trace(A @ M) - b for A, b in zip(matrices, limits)])
    size = cp.multiply(1.0 * is_equality, cp.abs(excess)) + cp.multiply(
        1.0 * ~is_equality, cp.pos(excess)
    )
    divergence = cp.trace(M) - cp.log_det(M) - Y.shape[1]
    if loss == "hard":
        problem = cp.Problem(cp.Minimize(divergence), [size <= 0])
    elif loss == "hinge":
        problem = cp.Problem(cp.Minimize(divergence + C * weights @ size))
    else:
        problem = cp.Problem(cp.Minimize(divergence + C / 2 * weights @ cp.square(size)))
    return solve_by_clarabel(problem), M.value


@pytest.mark.parametrize(
    ("loss", "C"),
    [("hard", 1.0)] + [(soft, C) for soft in ("hinge", "squared_hinge") for C in (0.1, 1.0, 10.0)],
)
def test_the_optimum_is_that_of_an_sdp_solver(loss, C, seed):
    Y, answers = draw_problem(seed)
    answers = Constraints(
        8,
        **{kind: getattr(answers, kind) for kind in ("must_link", "cannot_link", "closer")},
        odd_one_out=[(0, 2, 1), (0, 1, 2), (2, 4, 3)][: 1 if loss == "hard" else 3],
        undecided=answers.undecided,
        weights=None,
    )
    rows = problem_rows(answers)
    weights = np.ones(len(rows.pairs) + len(rows.triples))
    solved, M = solve_by_sdp(Y, rows, weights, C=C, loss=loss)
    engine = "hinge" if loss == "hard" else loss
    fitted = learn(Y, answers, C=np.inf if loss == "hard" else C, loss=engine)
    ours = objective(Y, rows, fitted.metric, C=C, loss=loss)
    assert fitted.divergence == pytest.approx(objective(Y, rows, fitted.metric, loss="hard"))
    assert ours == pytest.approx(solved.value, rel=solved.value_tol(1e-5), abs=1e-5)
    assert_allclose(fitted.metric, M, atol=solved.point_tol(2e-3))
    if loss != "hard":  # every M is allowed, so the solver's own cannot be better than the optimum
        theirs = objective(Y, rows, M, C=C, loss=loss)
        assert ours - dual_value(Y, fitted, C=C, loss=loss) <= 1e-7
        assert ours <= theirs + 1e-7
        assert divergence(M, fitted.metric) <= theirs - ours + 1e-6  # the optimum is that steep


def objective(Y, rows, M, *, loss, C=np.nan):
    """Divergence from the identity and what the answers cost."""
    matrices, limits = constraint_matrices(Y, rows)
    excess = values(matrices, M) - limits
    is_equality = np.concatenate([np.zeros(len(rows.pairs), bool), rows.is_equality])
    size = np.where(is_equality, np.abs(excess), np.maximum(excess, 0))
    cost = {"hard": 0.0, "hinge": C * size.sum(), "squared_hinge": C / 2 * (size**2).sum()}[loss]
    return divergence(M, np.eye(len(M))) + cost


def divergence(M, M0):
    ratio = np.linalg.solve(M0, M)
    return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(M)


def dual_value(Y, fitted, *, C, loss):
    """No M costs less: the least over M of the Lagrangian at the duals found."""
    matrices, limits = constraint_matrices(Y, fitted.rows)
    duals = np.concatenate([fitted.pair_duals, fitted.triple_duals])
    inverse = np.eye(Y.shape[1]) + np.einsum("c,cij->ij", duals, matrices)
    value = np.linalg.slogdet(inverse)[1] - duals @ limits
    if loss == "hinge":
        assert (np.abs(duals) <= C * (1 + 1e-12)).all()
        return value
    return value - (duals**2).sum() / (2 * C)


@given(seeds)
@settings(max_examples=8)
def test_neither_order_nor_seed_matters_to_the_optimum(seed):
    Y, answers = draw_problem(seed)
    order = np.random.RandomState(seed).permutation(answers.n_answers)
    one = learn(Y, answers, seed=1)
    two = learn(Y, answers.subset(order), seed=2)
    assert_allclose(one.metric, two.metric, atol=1e-6)


def test_the_papers_projections_end_feasible_but_dearer(seed):
    Y, answers = draw_problem(seed, with_pairs=False)
    exact = learn(Y, answers)
    plain = [learn(Y, answers, loss="paper", tol=1e-6, seed=s) for s in range(3)]
    assert all(p.converged and p.divergence > exact.divergence for p in plain)
    assert len({round(p.divergence, 6) for p in plain}) > 1  # and the order matters


@given(seeds)
@settings(max_examples=8)
def test_soft_with_a_large_strength_is_hard(seed):
    Y, answers = draw_problem(seed)
    assert_allclose(learn(Y, answers, C=1e9).metric, learn(Y, answers, C=np.inf).metric, atol=1e-6)


@given(seeds)
@settings(max_examples=8)
def test_turning_the_coordinates_turns_the_metric(seed):
    Y, answers = draw_problem(seed)
    Q, _ = np.linalg.qr(np.random.RandomState(seed).randn(8, 8))
    turned = learn(Y @ Q, answers).metric
    assert_allclose(turned, Q.T @ learn(Y, answers).metric @ Q, atol=1e-6)


@given(seeds)
@settings(max_examples=8)
def test_the_span_of_the_answers_rows_is_enough(seed):
    # more coordinates than rows that answers speak of: solved in their span, and the same
    rng = np.random.RandomState(seed)
    Y, answers = draw_problem(seed)
    padded = np.concatenate([Y, rng.randn(40, 8)])  # rows of no answer
    wide, _ = np.linalg.qr(rng.randn(30, 30))
    embedded = padded @ wide[:8]  # the same distances in 30 dimensions
    answers = answers.with_rows(48)
    narrow, reduced = learn(padded, answers), learn(embedded, answers)
    assert_allclose(reduced.divergence, narrow.divergence, rtol=1e-6)
    assert_allclose(
        embedded @ reduced.metric @ embedded.T, padded @ narrow.metric @ padded.T, atol=1e-5
    )


@given(seeds)
@settings(max_examples=8)
def test_weight_two_is_the_same_answer_twice_and_weight_zero_is_none(seed):
    Y, answers = draw_problem(seed)
    links = {k: getattr(answers, k) for k in ("must_link", "cannot_link", "odd_one_out", "closer")}
    m = sum(map(len, links.values()))
    doubled = Constraints(8, **links) + Constraints(8, **links)
    heavy = Constraints(8, **links, weights=np.full(m, 2.0))
    assert_allclose(learn(Y, doubled, C=0.5).metric, learn(Y, heavy, C=0.5).metric, atol=1e-6)
    silent = Constraints(8, **links, weights=np.zeros(m))
    assert_allclose(learn(Y, silent).metric, np.eye(8))


def test_violated_answers_are_those_that_the_distances_break():
    Z = np.array([[0.0], [1.0], [3.0]])
    c = Constraints(
        3,
        must_link=[(0, 1), (0, 2)],
        cannot_link=[(0, 2), (0, 1)],
        closer=[(0, 1, 2), (2, 0, 1)],
        undecided=[(0, 1, 2)],
    )
    broken = misses_margins(Z, c, margin=2.0, sq_bounds=(2.0, 3.0), tol=1e-6)
    assert broken.tolist() == [False, True, False, True, False, True, True]


def test_contradictory_hard_answers_stop_before_the_kernel_collapses():
    Y = np.random.RandomState(0).randn(3, 2)
    fitted = learn(Y, Constraints(3, closer=[(0, 1, 2), (0, 2, 1)]), max_iter=2000)
    assert not fitted.converged
    assert np.isfinite(fitted.metric).all()
    assert np.linalg.eigvalsh(fitted.metric).min() > 0


@pytest.mark.parametrize("n_rows", [5, 40])  # fewer rows than directions, and more
def test_the_root_squares_to_the_metric_whether_or_not_the_span_is_reduced(n_rows, seed):
    Y = np.random.default_rng(seed).normal(size=(n_rows, 12))
    answers = Constraints(n_rows, closer=[(0, 1, 2), (3, 4, 0)], must_link=[(1, 3)])
    rows = problem_rows(answers)
    fitted = learn_metric(
        Y,
        rows,
        sq_bounds=(0.5, 4.0),
        margin=2.0,
        pair_strengths=np.ones(len(rows.pairs)),
        triple_strengths=np.ones(len(rows.triples)),
        loss="hinge",
        tol=1e-8,
        max_iter=500,
        rng=np.random.RandomState(seed),
    )
    assert fitted.divergence > 0.01
    assert_allclose(fitted.root @ fitted.root, fitted.metric, atol=1e-10)
    assert_allclose(fitted.root, fitted.root.T, atol=1e-12)
