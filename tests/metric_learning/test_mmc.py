"""MMC: cannot-links far apart while must-links stay near."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.optimize import check_grad
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints import Constraints
from likewise.metric_learning.mmc import (
    MMC,
    must_link_scatter,
    optimality_gap,
    shortfall,
    spread_diagonal,
    spread_full,
)
from likewise.metric_learning.shrinkage import shrink
from tests.clarabel import solve_by_clarabel

FEW = settings(max_examples=20)
both = pytest.mark.parametrize("diagonal", [False, True])


def draw_problem(seed, n_samples=30, n_features=4, n_links=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    pairs = np.array([rng.choice(n_samples, 2, replace=False) for _ in range(2 * n_links)])
    return X, pairs[:n_links], pairs[n_links:], rng.uniform(0.1, 2, 2 * n_links)


def fit(X, near, far, weights=None, **settings):
    c = Constraints(len(X), must_link=near, cannot_link=far, weights=weights)
    return MMC(**settings).fit(X, constraints=c)


def scatter_of(X, near, weights, shrinkage):
    diffs = X[near[:, 0]] - X[near[:, 1]]
    return shrink(must_link_scatter(diffs, weights)[0], shrinkage, len(near))


def mean_distance(M, X, far, weights):
    diffs = X[far[:, 0]] - X[far[:, 1]]
    return np.average(np.sqrt(np.einsum("ij,jk,ik->i", diffs, M, diffs)), weights=weights)


def solve_by_cvxpy(X, near, far, weights, shrinkage, diagonal):
    d, n_near = X.shape[1], len(near)
    S = scatter_of(X, near, weights[:n_near], shrinkage)
    diffs = X[far[:, 0]] - X[far[:, 1]]
    M = cp.diag(cp.Variable(d, nonneg=True)) if diagonal else cp.Variable((d, d), PSD=True)
    distances = cp.hstack([cp.sqrt(cp.trace(np.outer(v, v) @ M)) for v in diffs])
    shares = weights[n_near:] / weights[n_near:].sum()
    problem = cp.Problem(cp.Maximize(shares @ distances), [cp.trace(S @ M) <= 1])
    return solve_by_clarabel(problem), M.value


@parametrize_with_checks([MMC(), MMC(diagonal=True)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# By hand


@both
def test_orthogonal_cannot_links_share_the_trace_by_their_squared_lengths(diagonal):
    # max (4 sqrt(m1) + 3 sqrt(m2)) / 2 with m1 + m2 = 1: by Cauchy 5 / 2, at (16, 9) / 25.
    spread = spread_diagonal if diagonal else spread_full
    diffs = np.array([[4.0, 0.0], [0.0, 3.0]])
    fitted = spread(diffs, np.ones(2), np.eye(2), tol=1e-12, max_iter=1000)
    assert_allclose(np.diag(fitted.metric), [0.64, 0.36], atol=1e-6)
    assert fitted.objective[-1] == pytest.approx(2.5)
    assert fitted.gap <= 1e-12


@both
def test_one_feature_is_scaled_to_unit_must_links(diagonal):
    X = np.array([[0.0], [3.0], [10.0]])
    model = fit(X, [(0, 1)], [(0, 2), (1, 2)], diagonal=diagonal)
    assert_allclose(model.metric_, [[1 / 9]])
    assert model.objective_[-1] == pytest.approx((10 + 7) / 2 / 3)


def test_a_feature_that_only_must_links_vary_in_is_dropped():
    X = np.array([[0, 0], [0, 5], [1, 0], [1, 5.0]])
    model = fit(X, [(0, 1), (2, 3)], [(0, 2), (1, 3)], shrinkage=0.1)
    assert_allclose(model.metric_, [[0.8, 0], [0, 0]], atol=1e-12)  # S = 0.9 diag(0, 25) + 1.25 I


def test_must_links_count_by_weight_in_the_scatter_and_in_their_number():
    S, n_effective = must_link_scatter(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, 3.0]))
    assert_allclose(S, np.diag([1.0, 0.75]))
    assert n_effective == pytest.approx(16 / 10)


# Certificates


@both
@FEW
@given(seed=st.integers(0, 10_000))
def test_the_optimum_carries_its_own_proof(diagonal, seed):
    X, near, far, weights = draw_problem(seed)
    model = fit(X, near, far, weights, diagonal=diagonal, shrinkage=0.05, tol=1e-8)
    M, S = model.metric_, scatter_of(X, near, weights[:12], 0.05)
    diffs = X[far[:, 0]] - X[far[:, 1]]
    dist = np.sqrt(np.einsum("ij,jk,ik->i", diffs, M, diffs))
    shares = weights[12:] / dist / (weights[12:] @ dist)
    G = (diffs.T * shares) @ diffs
    if diagonal:
        S, G = np.diag(np.diag(S)), np.diag(np.diag(G))
    assert np.linalg.eigvalsh(M)[0] >= -1e-12
    assert np.trace(S @ M) == pytest.approx(1)
    assert eigh(G, S, eigvals_only=True)[-1] <= 1 + 1e-7  # no direction is worth more than it costs
    assert np.trace((S - G) @ M) == pytest.approx(0, abs=1e-7)  # those used are worth just that
    assert model.objective_[-1] == pytest.approx(mean_distance(M, X, far, weights[12:]))


@both
@FEW
@given(seed=st.integers(0, 10_000), max_iter=st.integers(1, 8))
def test_the_gap_bounds_the_optimum_wherever_the_fit_stops(diagonal, seed, max_iter):
    X, near, far, weights = draw_problem(seed)
    S = scatter_of(X, near, weights[:12], 0.05)
    diffs = X[far[:, 0]] - X[far[:, 1]]
    spread = spread_diagonal if diagonal else spread_full
    early = spread(diffs, weights[12:], S, tol=0, max_iter=max_iter)
    best = spread(diffs, weights[12:], S, tol=1e-7, max_iter=1000)
    assert best.converged
    assert early.n_iter <= max_iter
    assert early.objective[-1] <= best.objective[-1] * (1 + best.gap)
    assert best.objective[-1] <= early.objective[-1] * (1 + early.gap + 1e-12)


@both
def test_the_objective_never_falls(diagonal):
    X, near, far, weights = draw_problem(2)
    history = fit(X, near, far, weights, diagonal=diagonal, tol=1e-7).objective_
    assert len(history) > 3
    assert (np.diff(history) >= 0).all()


@both
def test_the_gradient_is_that_of_finite_differences(seed, diagonal):
    rng = np.random.default_rng(seed)
    Y, weights = rng.normal(size=(10, 3)), rng.uniform(size=10)
    shape = (3,) if diagonal else (3, 3)
    L = rng.normal(size=shape)
    wrong = check_grad(
        lambda x: shortfall(x.reshape(shape), Y, weights)[0],
        lambda x: shortfall(x.reshape(shape), Y, weights)[1].ravel(),
        L.ravel(),
    )
    assert wrong < 1e-6
    assert optimality_gap(L, Y, weights) > 0


# Second route


@both
@pytest.mark.parametrize("problem", range(4))
def test_an_interior_point_solver_finds_the_same_metric(problem, diagonal):
    X, near, far, weights = draw_problem(problem, n_features=1 + problem)
    solved, M = solve_by_cvxpy(X, near, far, weights, 0.2, diagonal)
    model = fit(X, near, far, weights, diagonal=diagonal, shrinkage=0.2, tol=1e-7)
    assert model.objective_[-1] == pytest.approx(solved.value, rel=solved.value_tol(1e-6))
    assert_allclose(model.metric_, M, atol=solved.point_tol(1e-3) * np.abs(M).max())


# Laws


@both
@FEW
@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_answers_does_not_matter(diagonal, seed):
    X, near, far, weights = draw_problem(seed)
    c = Constraints(len(X), must_link=near, cannot_link=far, weights=weights)
    shuffled = c.subset(np.random.default_rng(seed).permutation(c.n_answers))
    model = MMC(diagonal=diagonal, tol=1e-7)
    expected = model.fit(X, constraints=c).metric_
    actual = model.fit(X, constraints=shuffled).metric_
    assert_allclose(actual, expected, atol=1e-3 * expected.max())


@FEW
@given(seed=st.integers(0, 10_000))
def test_turning_the_data_turns_the_metric(seed):
    X, near, far, weights = draw_problem(seed)
    Q = ortho_group.rvs(4, random_state=seed)
    expected = Q @ fit(X, near, far, weights, tol=1e-7).metric_ @ Q.T
    turned = fit(X @ Q.T, near, far, weights, tol=1e-7).metric_
    assert_allclose(turned, expected, atol=1e-3 * expected.max())


@both
@FEW
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 0.1, 16.0, 1e6]))
def test_the_scale_of_the_data_does_not_matter(diagonal, seed, scale):
    X, near, far, weights = draw_problem(seed)
    Z = fit(X, near, far, weights, diagonal=diagonal, tol=1e-7).transform(X)
    scaled = fit(scale * X, near, far, weights, diagonal=diagonal, tol=1e-7).transform(scale * X)
    assert_allclose(scaled, Z, atol=1e-3 * np.abs(Z).max())


@both
@FEW
@given(seed=st.integers(0, 10_000))
def test_a_weight_of_two_is_the_answer_given_twice(diagonal, seed):
    X, near, far, _ = draw_problem(seed)
    settings = {"diagonal": diagonal, "shrinkage": 0.1, "tol": 1e-7}
    twice = fit(X, np.concatenate([near, near[:3]]), np.concatenate([far, far[:3]]), **settings)
    weights = np.tile(np.where(np.arange(12) < 3, 2.0, 1.0), 2)
    weighed = fit(X, near, far, 5 * weights, **settings)
    assert weighed.objective_[-1] == pytest.approx(twice.objective_[-1], rel=1e-6)
    assert_allclose(weighed.metric_, twice.metric_, atol=1e-3 * twice.metric_.max())


# Edges


def test_without_answers_the_metric_is_the_identity():
    model = MMC().fit(np.ones((3, 2)))
    assert_array_equal(model.map_.matrix, np.eye(2))
    assert (model.n_answers_used_, len(model.objective_)) == (0, 0)


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        ({"must_link": [(0, 1)]}, "cannot-link"),
        ({"cannot_link": [(0, 1)]}, "must-link"),
        ({"must_link": [(0, 1)], "cannot_link": [(2, 3)]}, "cannot-link"),  # rows 2 and 3 are equal
        ({"must_link": [(0, 1)], "cannot_link": [(0, 2)], "weights": [0, 1]}, "must-link"),
    ],
)
def test_one_kind_alone_keeps_the_identity_and_says_so(answers, missing):
    X = np.array([[0.0, 1], [1, 5], [2, 2], [2, 2]])
    with pytest.warns(UserWarning, match=f"MMC keeps the identity: no {missing}"):
        model = MMC().fit(X, constraints=Constraints(4, **answers))
    assert_array_equal(model.metric_, np.eye(2))
    assert model.n_answers_used_ == sum(answers.get("weights", [1] * len(answers)))


def test_other_kinds_are_counted_in_a_warning():
    c = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 2)], closer=[(0, 1, 2)])
    with pytest.warns(UserWarning, match="MMC cannot use 1 closer answers"):
        model = MMC().fit([[0.0], [1.0], [5.0]], constraints=c)
    assert model.n_answers_used_ == 2


@both
def test_a_pair_said_to_be_both_has_a_finite_optimum(diagonal):
    X = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    model = fit(X, [(0, 1)], [(0, 1)], diagonal=diagonal)
    assert np.isfinite(model.metric_).all()
    assert model.gap_ <= 1e-5


@both
def test_constant_pixels_of_digits_get_no_weight(diagonal):
    X, y = load_digits(return_X_y=True)
    c = Constraints.from_labels(y, n_must_link=100, n_cannot_link=100, random_state=0)
    model = MMC(diagonal=diagonal).fit(X, constraints=c)
    constant = np.ptp(X, axis=0) == 0
    assert constant.any()
    assert np.isfinite(model.metric_).all()
    assert_allclose(model.metric_[constant], 0, atol=1e-12)
    assert model.gap_ <= 1e-5


@both
def test_more_features_than_rows_and_one_answer_of_each_kind(diagonal):
    X = np.random.default_rng(0).normal(size=(5, 40))
    model = fit(X, [(0, 1)], [(0, 2)], diagonal=diagonal)
    assert np.isfinite(model.metric_).all()
    assert model.gap_ <= 1e-5


def test_stopping_early_is_said():
    X, near, far, weights = draw_problem(0)
    with pytest.warns(ConvergenceWarning, match=r"MMC stopped after 1 iterations, proved only"):
        model = fit(X, near, far, weights, max_iter=1)
    assert model.n_iter_ == 1
    assert model.gap_ > 1e-5


def test_a_shrinkage_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"shrinkage=0 must be 'auto' or a number in \(0, 1\]"):
        MMC(shrinkage=0).fit([[0.0], [1.0]])


def test_float32_rows_come_back_as_float32():
    X, near, far, weights = draw_problem(3)
    model = fit(X.astype(np.float32), near, far, weights)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.metric_.dtype == np.float64
