"""SimpleNPK: closed form, smooth duals, sparse eigenvalues."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, SimpleNPK
from likewise.datasets import load_iris, make_double_spiral
from likewise.kernel_learning import simple_npk
from likewise.kernel_learning.merged_pairs import merge_pairs
from likewise.kernel_learning.simple_npk import (
    BoundedProblem,
    kernel_of,
    margins,
    positive_eigenpairs,
)
from likewise.kernels import laplacian, neighbor_graph
from likewise.numerics.interior_point import SignedPairs
from tests.clarabel import solve_by_clarabel

HINGES = ("hinge", "squared_hinge")


def spiral_with_pairs(n_pairs=25, n=60, seed=0):
    data = make_double_spiral(n, random_state=seed)
    return data, Constraints.from_labels(data.y, n_pairs=n_pairs, random_state=seed)


def draw_problem(loss, p=2.0, bound=30.0, n=12, m=9, seed=0):
    rng = np.random.RandomState(seed)
    L = laplacian(neighbor_graph(rng.randn(n, 2), 3), delta=0.1)
    every = np.column_stack(np.triu_indices(n, 1))
    pairs = every[rng.permutation(len(every))[:m]]
    signs = rng.choice([-1.0, 1.0], m)
    over = SignedPairs(pairs, signs, size=n)
    return BoundedProblem(L, over, rng.choice([0.5, 1.0, 3.0], m), loss, p, bound, 60)


def test_two_rows_and_one_must_link_by_hand():
    # L = [[1.5, -1], [-1, 1.5]], T = [[0, 1], [1, 0]]: A = 2 T - L has eigenvalues 1.5 and -4.5
    X = np.array([[0.0], [1.0]])
    pair = Constraints(2, must_link=[(0, 1)])
    common = {"loss": "linear", "C": 2.0, "delta": 0.5, "max_size": 8.0, "n_neighbors": 1}
    K = SimpleNPK(p=2, **common).fit(X, constraints=pair).kernel_
    assert_allclose(K, np.sqrt(8) * np.full((2, 2), 0.5), rtol=1e-12)
    K = SimpleNPK(p=1, **common).fit(X, constraints=pair).kernel_
    assert_allclose(K, 8 * np.full((2, 2), 0.5), rtol=1e-12)


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("loss", simple_npk.LOSSES)
def test_the_gap_is_certified_and_the_bound_on_the_size_is_met(loss, p):
    data, answers = spiral_with_pairs()
    space = SimpleNPK(loss=loss, p=p).fit(data.X, constraints=answers)
    assert -1e-10 <= space.gap_ <= 1e-6
    values = np.linalg.eigvalsh(space.kernel_)
    assert values[0] >= -1e-10 * values[-1]
    assert_allclose(np.maximum(values, 0) ** p @ np.ones(60), 60 ** ((p + 1) / 2), rtol=1e-9)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.01).toarray()
    pairs, signs = answers.signed_pairs()
    z = signs * space.kernel_[pairs[:, 0], pairs[:, 1]]
    lack = np.maximum(0, 1 - z)
    c = space.duals_[0] if loss == "linear" else 1.0
    cost = {"linear": -c * z, "hinge": lack, "squared_hinge": lack**2 / 2}[loss]
    assert_allclose(space.primal_value_, np.sum(L * space.kernel_) + 2 * cost.sum(), rtol=1e-9)


@pytest.mark.parametrize("loss", simple_npk.LOSSES)
def test_cvxpy_finds_the_same_value(loss):
    problem = draw_problem(loss)
    over, costs = problem.over, problem.costs
    K = cp.Variable((12, 12), PSD=True)
    z = cp.multiply(over.signs, K[over.i, over.j])
    lack = cp.pos(1 - z)
    cost = {"linear": -z, "hinge": lack, "squared_hinge": cp.square(lack) / 2}[loss]
    goal = cp.trace(problem.L.toarray() @ K) + 2 * costs @ cost
    size = [cp.norm(K, "fro") <= np.sqrt(problem.B)]
    solved = solve_by_clarabel(cp.Problem(cp.Minimize(goal), size))
    found = simple_npk.maximize_dual(problem, tol=1e-8, max_iter=500)
    assert_allclose([found.primal, found.dual], solved.value, rtol=solved.value_tol(1e-5))


@pytest.mark.parametrize("p", [1.5, 2.0])
@pytest.mark.parametrize("loss", HINGES)
def test_the_slope_of_the_dual_is_that_of_finite_differences(loss, p):
    problem = draw_problem(loss, p=p)

    def value(a):
        return kernel_of(problem, a, 0).dual

    def slope(a):
        missing = 1 - margins(problem.over, kernel_of(problem, a, 0).Y)
        return 2 * (missing - a / problem.costs if loss == "squared_hinge" else missing)

    for seed in range(3):
        a = np.random.RandomState(seed).uniform(0.2, 1, 9) * problem.costs
        assert check_grad(value, slope, a) <= 1e-4 * max(1, np.linalg.norm(slope(a)))


@pytest.mark.parametrize("loss", HINGES)
def test_multipliers_stay_in_their_box_and_are_complementary(loss):
    data, answers = spiral_with_pairs()
    space = SimpleNPK(loss=loss, C=0.8, tol=1e-7).fit(data.X, constraints=answers)
    pairs, signs = answers.signed_pairs()
    z = signs * space.kernel_[pairs[:, 0], pairs[:, 1]]
    assert (space.duals_ >= 0).all()
    if loss == "hinge":
        assert (space.duals_ <= 0.8).all()
        assert_allclose(space.duals_ * np.maximum(z - 1, 0), 0, atol=1e-3)
        assert_allclose((0.8 - space.duals_) * np.maximum(1 - z, 0), 0, atol=1e-3)
    else:
        assert_allclose(space.duals_, 0.8 * np.maximum(1 - z, 0), atol=1e-3)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_sparse_and_dense_eigenvalues_agree(seed):
    rng = np.random.RandomState(seed)
    A = csr_array(np.triu(rng.randn(30, 30) * (rng.rand(30, 30) < 0.1)))
    A = csr_array(A + A.T - 2.0 * np.eye(30))
    values, vectors, complete = positive_eigenpairs(A, 9)
    assert complete
    small = simple_npk.SMALL
    simple_npk.SMALL = 1
    try:
        some, their_vectors, all_found = positive_eigenpairs(A, 9)
    finally:
        simple_npk.SMALL = small
    assert_allclose(some, values[:9], atol=1e-8)
    assert all_found == (len(values) < 9)
    if all_found:
        whole = (vectors * values) @ vectors.T
        assert_allclose((their_vectors * some) @ their_vectors.T, whole, atol=1e-7)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_positive_eigenvalues_are_counted_on_the_rows_of_pairs(seed):
    data, answers = spiral_with_pairs(6, n=30, seed=seed)
    merged = merge_pairs(answers)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.01)
    a = np.random.RandomState(seed).uniform(0, 1, len(merged.pairs))
    A = SignedPairs(merged.pairs, merged.signs, size=30).matrix(a) - L
    counted = simple_npk.count_positive(simple_npk.reduce_to_pairs(L, merged), a)
    assert counted == np.count_nonzero(np.linalg.eigvalsh(A.toarray()) > 0)


@pytest.mark.parametrize("small", [10, 1500])
def test_below_the_least_cost_there_is_no_kernel_and_above_there_is(monkeypatch, small):
    monkeypatch.setattr(simple_npk, "SMALL", small)
    data, answers = spiral_with_pairs()
    merged = merge_pairs(answers)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.01)
    T = SignedPairs(merged.pairs, merged.signs, size=60).matrix(merged.weights)
    least = simple_npk.least_cost(L, T)
    assert np.linalg.eigvalsh((0.99 * least * T - L).toarray())[-1] < 0
    assert np.linalg.eigvalsh((1.01 * least * T - L).toarray())[-1] > 0


def test_large_graphs_give_what_small_ones_do(monkeypatch):
    data, answers = spiral_with_pairs()
    for loss in simple_npk.LOSSES:
        space = SimpleNPK(loss=loss, n_components=18)
        monkeypatch.setattr(simple_npk, "SMALL", 1500)
        dense = space.fit(data.X, constraints=answers).kernel_
        monkeypatch.setattr(simple_npk, "SMALL", 10)
        assert_allclose(space.fit(data.X, constraints=answers).kernel_, dense, atol=2e-2)
        assert space.gap_ <= 1e-6


def test_where_directions_are_left_out_no_gap_is_claimed(monkeypatch):
    monkeypatch.setattr(simple_npk, "SMALL", 10)
    data, answers = spiral_with_pairs()
    space = SimpleNPK(n_components=3).fit(data.X, constraints=answers)
    assert np.isnan(space.gap_)
    monkeypatch.setattr(simple_npk, "LEAST_GAIN", -1)
    thorough = SimpleNPK(n_components=3).fit(data.X, constraints=answers)
    assert space.n_iter_ < thorough.n_iter_
    assert_allclose(space.dual_value_, thorough.dual_value_, rtol=0.02)
    assert space.embedding_.shape[1] <= 3


def test_the_order_of_rows_does_not_matter():
    data, answers = spiral_with_pairs()
    turn = np.random.RandomState(1).permutation(60)
    back = np.argsort(turn)
    moved = Constraints(
        60, must_link=back[answers.must_link], cannot_link=back[answers.cannot_link]
    )
    here = SimpleNPK(tol=1e-9).fit(data.X, constraints=answers).kernel_
    there = SimpleNPK(tol=1e-9).fit(data.X[turn], constraints=moved).kernel_
    assert_allclose(there, here[np.ix_(turn, turn)], atol=1e-2)


def test_with_a_linear_loss_the_bound_is_only_a_scale():
    data, answers = spiral_with_pairs()
    one = SimpleNPK(loss="linear", max_size=1.0).fit(data.X, constraints=answers).kernel_
    nine = SimpleNPK(loss="linear", max_size=9.0).fit(data.X, constraints=answers).kernel_
    assert_allclose(nine, 3 * one, rtol=1e-9, atol=1e-12)


def test_new_rows_are_interpolated_and_training_rows_stay():
    data, answers = spiral_with_pairs()
    space = SimpleNPK().fit(data.X, constraints=answers)
    assert_allclose(space.transform(data.X), space.embedding_, atol=1e-12)
    new = data.X[:5] + 0.03
    Z = space.transform(new)
    assert_allclose(space.kernel(new, data.X), Z @ space.embedding_.T, atol=1e-12)


def test_without_pairs_it_is_where_npk_starts():
    from likewise import NPK

    X = make_double_spiral(60, random_state=0).X
    assert_allclose(SimpleNPK().fit(X).kernel_, NPK().fit(X).kernel_)


def test_a_cost_too_small_for_any_kernel_is_announced():
    data, answers = spiral_with_pairs(3)
    with pytest.warns(UserWarning, match="cost less than any kernel"):
        space = SimpleNPK(loss="linear", C=1e-4).fit(data.X, constraints=answers)
    assert not space.embedding_.any()


def test_running_out_of_steps_is_a_warning():
    data, answers = spiral_with_pairs()
    with pytest.warns(UserWarning, match="stopped at a gap of"):
        SimpleNPK(max_iter=1, tol=1e-12).fit(data.X, constraints=answers)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"loss": "log"}, "loss='log' is unknown"),
        ({"p": 1}, "p must be > 1, or 1 with the linear loss"),
        ({"p": 0.5, "loss": "linear"}, "p must be > 1"),
        ({"C": 0}, "C=0 must be > 0"),
        ({"max_size": -1}, "max_size=-1 must be > 0"),
        ({"n_components": 0}, "n_components=0 must be > 0"),
    ],
)
def test_a_wrong_setting_is_one_error(setting, message):
    with pytest.raises(ValueError, match=message):
        SimpleNPK(**setting).fit(load_iris().X)


@parametrize_with_checks([SimpleNPK(), SimpleNPK(loss="linear", affinity="precomputed")])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)
