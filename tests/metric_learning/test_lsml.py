"""LSML: a metric under which the pairs called closer are closer."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints import Constraints
from likewise.metric_learning.lsml import LSML, distance_bound, fit_comparisons, residual
from tests.clarabel import solve_by_clarabel

FEW = settings(max_examples=12)


def draw_problem(seed, n_samples=20, n_features=4, n_answers=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    triples = np.array([rng.choice(n_samples, 3, replace=False) for _ in range(n_answers)])
    return X, triples, rng.uniform(0.1, 2, n_answers)


def draw_comparisons(seed, n_features=3, n_answers=12):
    """Differences in the core's own terms: their root mean square is about 1."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.3, 1.5, n_features)
    u, v = rng.normal(size=(2, n_answers, n_features)) * spread / np.sqrt(n_features)
    return u, v, rng.uniform(0.1, 2, n_answers)


def fit(X, closer, weights=None, **settings):
    return LSML(**settings).fit(X, constraints=Constraints(len(X), closer=closer, weights=weights))


def sq_distances(M, diffs):
    return np.einsum("ij,jk,ik->i", diffs, M, diffs)


def objective_at(M, u, v, weights, prior_weight):
    excess = np.maximum(np.sqrt(sq_distances(M, u)) - np.sqrt(sq_distances(M, v)), 0)
    divergence = np.trace(M) - np.linalg.slogdet(M)[1] - len(M)
    return np.average(excess**2, weights=weights) + prior_weight * divergence


def solve_by_cvxpy(u, v, weights, prior_weight):
    d = u.shape[1]
    M = cp.Variable((d, d), PSD=True)
    loss = 0
    for x, y, weight in zip(u, v, weights / weights.sum()):
        a, b = cp.Variable(), cp.trace(np.outer(y, y) @ M)
        loss += weight * (a + b - 2 * cp.geo_mean(cp.hstack([a, b])))
        loss += cp.transforms.indicator([a >= cp.trace(np.outer(x, x) @ M)])
    problem = cp.Problem(cp.Minimize(loss + prior_weight * (cp.trace(M) - cp.log_det(M) - d)))
    return solve_by_clarabel(problem), M.value


@parametrize_with_checks([LSML()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# By hand


def test_one_feature_is_shrunk_until_the_prior_holds_it():
    # u = 2, v = 1, mean square 5 / 2: min 2/5 m + p (m - log m - 1) at m = p / (p + 2/5).
    model = fit(np.array([[0.0], [2.0], [1.0]]), [(0, 1, 2)], prior_weight=0.1, tol=1e-12)
    assert_allclose(model.metric_, [[0.2]], rtol=1e-6)
    assert model.objective_[0] == pytest.approx(0.4)
    assert model.objective_[-1] == pytest.approx(0.4 * 0.2 + 0.1 * (0.2 - np.log(0.2) - 1))


def test_a_weak_prior_moves_both_sides_until_they_are_equal():
    # 4 m2 = m1 and m1 + m2 - log m1 - log m2 least: m2 = 2/5.
    X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    model = fit(X, [(0, 1, 2)], prior_weight=1e-7, tol=1e-8)
    assert_allclose(model.metric_, np.diag([1.6, 0.4]), atol=1e-5)


def test_answers_that_hold_already_leave_the_prior_alone():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    model = fit(X, [(0, 1, 2)])
    assert_array_equal(model.metric_, np.eye(2))
    assert_array_equal(model.objective_, [0.0])
    assert model.n_answers_used_ == 1


def test_an_odd_one_out_is_two_comparisons():
    X, triples, weights = draw_problem(0)
    a, b, odd = triples.T
    c = Constraints(len(X), odd_one_out=triples, weights=weights)
    closer = np.concatenate([triples, np.stack([b, a, odd], axis=1)])
    expected = fit(X, closer, np.tile(weights, 2), tol=1e-9).metric_
    model = LSML(tol=1e-9).fit(X, constraints=c)
    assert_allclose(model.metric_, expected, rtol=1e-4, atol=1e-5)
    assert model.n_answers_used_ == len(triples)


# Certificates


@FEW
@given(seed=st.integers(0, 10_000), prior_weight=st.sampled_from([1e-4, 1e-2, 1.0]))
def test_the_optimum_carries_its_own_proof(seed, prior_weight):
    u, v, weights = draw_comparisons(seed)
    fitted = fit_comparisons(u, v, weights, prior_weight=prior_weight, tol=1e-8, max_iter=2000)
    M, shares = fitted.metric, weights / weights.sum()
    a, b = np.sqrt(sq_distances(M, u)), np.sqrt(sq_distances(M, v))
    violated = a > b
    G = prior_weight * (np.eye(3) - np.linalg.inv(M))
    G += (u.T * (shares * violated * (1 - b / a))) @ u + (
        v.T * (shares * violated * (1 - a / b))
    ) @ v
    L = np.linalg.cholesky(M).T
    assert fitted.converged
    assert np.linalg.eigvalsh(M)[0] > 0
    assert_allclose(L @ G @ L.T, 0, atol=1e-3 * prior_weight)  # convex: stationary is optimal
    assert fitted.objective[-1] == pytest.approx(objective_at(M, u, v, weights, prior_weight))


@FEW
@given(seed=st.integers(0, 10_000), max_iter=st.integers(1, 10))
def test_the_gap_bounds_the_optimum_wherever_the_fit_stops(seed, max_iter):
    u, v, weights = draw_comparisons(seed)
    early = fit_comparisons(u, v, weights, prior_weight=1e-2, tol=0, max_iter=max_iter)
    best = fit_comparisons(u, v, weights, prior_weight=1e-2, tol=1e-10, max_iter=2000)
    assert early.n_iter <= max_iter
    assert best.objective[-1] >= early.objective[-1] * (1 - early.gap) - 1e-12
    assert best.objective[-1] <= early.objective[-1] * (1 + 1e-9)


def test_the_bound_is_exact_when_there_is_only_the_prior():
    L = np.diag([2.0, 0.5, 1.0])  # the optimum is I, with the value 0
    nothing = np.zeros((1, 3))
    value, gradient = residual(L, nothing, nothing, np.ones(1), 1.0)
    assert distance_bound(L, gradient) == pytest.approx(value)


def test_a_gradient_below_the_prior_bounds_nothing():
    assert distance_bound(np.eye(2), -4.0 * np.eye(2)) == np.inf


def test_the_objective_never_rises():
    X, triples, weights = draw_problem(1)
    history = fit(X, triples, weights, tol=1e-9).objective_
    assert len(history) > 3
    assert (np.diff(history) <= 0).all()


def test_the_gradient_is_that_of_finite_differences(seed):
    u, v, weights = draw_comparisons(seed)
    weights[0] = 5.0  # a gradient without the weights is far off
    L = np.eye(3) + 0.3 * np.random.default_rng(seed).normal(size=(3, 3))
    wrong = check_grad(
        lambda x: residual(x.reshape(3, 3), u, v, weights, 0.1)[0],
        lambda x: residual(x.reshape(3, 3), u, v, weights, 0.1)[1].ravel(),
        L.ravel(),
    )
    assert wrong < 1e-5


# Second route


@pytest.mark.parametrize("n_features", [1, 2, 3, 4])
@pytest.mark.parametrize("prior_weight", [1e-2, 0.5])
def test_an_interior_point_solver_finds_the_same_metric(n_features, prior_weight):
    u, v, weights = draw_comparisons(n_features, n_features=n_features)
    solved, M = solve_by_cvxpy(u, v, weights, prior_weight)
    fitted = fit_comparisons(u, v, weights, prior_weight=prior_weight, tol=1e-9, max_iter=2000)
    assert_allclose(fitted.metric, M, atol=solved.point_tol(2e-3) * np.abs(M).max())
    best = objective_at(M, u, v, weights, prior_weight)
    assert fitted.objective[-1] <= best + 1e-9
    assert fitted.objective[-1] == pytest.approx(best, abs=solved.value_tol(1e-5))


# Laws


@FEW
@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_answers_does_not_matter(seed):
    X, triples, weights = draw_problem(seed)
    order = np.random.default_rng(seed).permutation(len(triples))
    expected = fit(X, triples, weights, tol=1e-8).metric_
    shuffled = fit(X, triples[order], weights[order], tol=1e-8).metric_
    assert_allclose(shuffled, expected, atol=1e-3 * expected.max())


@FEW
@given(seed=st.integers(0, 10_000))
def test_turning_the_data_turns_the_metric(seed):
    X, triples, weights = draw_problem(seed)
    Q = ortho_group.rvs(4, random_state=seed)
    expected = Q @ fit(X, triples, weights, tol=1e-8).metric_ @ Q.T
    turned = fit(X @ Q.T, triples, weights, tol=1e-8).metric_
    assert_allclose(turned, expected, atol=1e-3 * expected.max())


@FEW
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 0.1, 16.0, 1e6]))
def test_the_scale_of_the_data_does_not_matter(seed, scale):
    X, triples, weights = draw_problem(seed)
    expected = fit(X, triples, weights, tol=1e-8).metric_
    scaled = fit(scale * X, triples, weights, tol=1e-8).metric_
    assert_allclose(scaled, expected, atol=1e-3 * expected.max())


@FEW
@given(seed=st.integers(0, 10_000))
def test_a_weight_of_two_is_the_answer_given_twice(seed):
    X, triples, _ = draw_problem(seed)
    twice = fit(X, np.concatenate([triples, triples[:5]]), tol=1e-8)
    weighed = fit(X, triples, np.where(np.arange(15) < 5, 6.0, 3.0), tol=1e-8)
    assert_allclose(weighed.metric_, twice.metric_, atol=1e-3 * twice.metric_.max())


@FEW
@given(seed=st.integers(0, 10_000))
def test_a_prior_is_the_identity_of_the_space_it_stretches(seed):
    X, triples, weights = draw_problem(seed)
    R = np.random.default_rng(seed).normal(size=(4, 4)) + 2 * np.eye(4)
    there = fit(X @ R.T, triples, weights, tol=1e-8).metric_
    here = fit(X, triples, weights, prior=R.T @ R, tol=1e-8).metric_
    expected = R.T @ there @ R
    assert_allclose(here, expected, atol=1e-3 * np.abs(expected).max())


def test_a_stronger_prior_is_left_less_far():
    X, triples, weights = draw_problem(4)
    moved = [
        np.linalg.norm(fit(X, triples, weights, prior_weight=p).metric_ - np.eye(4))
        for p in (1e-3, 1e-1, 10)
    ]
    assert moved[0] > 2 * moved[1] > 4 * moved[2] > 0


# Edges


def test_without_answers_the_metric_is_the_prior():
    model = LSML().fit(np.ones((3, 2)))
    assert_array_equal(model.map_.matrix, np.eye(2))
    assert (model.n_answers_used_, len(model.objective_)) == (0, 0)
    P = [[2.0, 1.0], [1.0, 3.0]]
    assert_allclose(LSML(prior=P).fit(np.ones((3, 2))).metric_, P)


def test_other_kinds_are_counted_in_a_warning():
    c = Constraints(3, must_link=[(0, 1)], undecided=[(0, 1, 2)], closer=[(0, 1, 2)])
    with pytest.warns(UserWarning, match="LSML cannot use 1 must_link and 1 undecided answers"):
        model = LSML().fit([[0.0], [1.0], [5.0]], constraints=c)
    assert model.n_answers_used_ == 1


def test_answers_that_say_nothing_keep_the_prior_and_that_is_said():
    with pytest.warns(UserWarning, match="LSML keeps the prior"):
        model = fit(np.full((3, 2), 0.1), [(0, 1, 2), (1, 0, 2)])
    assert_array_equal(model.metric_, np.eye(2))
    assert model.n_answers_used_ == 2


def test_answers_of_weight_zero_are_no_answers():
    model = fit(np.arange(6.0).reshape(3, 2), [(0, 1, 2), (1, 0, 2)], [0, 0])
    assert_array_equal(model.metric_, np.eye(2))
    assert model.n_answers_used_ == 0


def test_a_row_said_to_be_closer_than_its_own_duplicate_only_shrinks_that_difference():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # rows 0 and 2 are equal: never satisfied
    model = fit(X, [(0, 1, 2)], prior_weight=0.1, tol=1e-10)
    assert_allclose(model.metric_, np.diag([0.1 / (0.1 + 2), 1]), rtol=1e-4)  # mean square 1 / 2


def test_contradictory_answers_are_balanced():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    model = fit(X, [(0, 1, 2), (0, 2, 1)], prior_weight=1e-4)
    first, second = model.metric_.diagonal() * [1, 4]
    assert np.isfinite(model.metric_).all()
    assert first == pytest.approx(second, rel=0.01)
    assert model.gap_ <= 1e-4


def test_more_features_than_rows_leave_the_untouched_directions_alone():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(5, 40)), np.ones((5, 1))])  # the last feature is constant
    model = fit(X, [(0, 1, 2), (2, 3, 4), (1, 0, 4)])
    values = np.linalg.eigvalsh(model.metric_)
    assert values[0] > 0
    assert np.count_nonzero(np.abs(values - 1) > 1e-9) <= 6  # three answers, two differences each
    assert_allclose(model.metric_[-1], np.eye(41)[-1], atol=1e-12)


def test_answers_about_digits_carry_over_to_answers_not_seen():
    X, y = load_digits(return_X_y=True)
    told = Constraints.from_labels(y, n_closer=500, random_state=0)
    smaller, larger, _ = Constraints.from_labels(
        y, n_closer=3000, random_state=1
    ).distance_inequalities()

    def share_right(Z):
        near, far = (np.linalg.norm(Z[p[:, 0]] - Z[p[:, 1]], axis=1) for p in (smaller, larger))
        return np.mean(near < far)

    model = LSML().fit(X, constraints=told)
    assert share_right(model.transform(X)) > share_right(X) + 0.02


def test_stopping_early_is_said():
    X, triples, weights = draw_problem(0)
    with pytest.warns(ConvergenceWarning, match=r"LSML stopped after 1 iterations, proved only"):
        model = fit(X, triples, weights, max_iter=1)
    assert model.n_iter_ == 1
    assert model.gap_ > 1e-4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior_weight": 0}, "prior_weight=0 must be > 0"),
        ({"prior_weight": np.nan}, "prior_weight=nan must be > 0"),
        ({"prior": np.eye(3)}, r"prior has shape \(3, 3\), but X has 2 features"),
        ({"prior": [[1, 2], [0, 1]]}, "prior must be symmetric and positive definite"),
        ({"prior": [[1, 2], [2, 1]]}, "prior must be symmetric and positive definite"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LSML(**settings).fit(np.eye(2))


def test_float32_rows_come_back_as_float32():
    X, triples, weights = draw_problem(3)
    model = fit(X.astype(np.float32), triples, weights)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.metric_.dtype == np.float64
