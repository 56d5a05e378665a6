"""RCA: whitening the scatter inside chunklets."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints import Constraints
from likewise.metric_learning.rca import RCA, chunklet_scatter, find_chunklets
from tests.clarabel import solve_by_clarabel

FEW = settings(max_examples=25)


def draw_problem(seed, n_samples=30, n_features=4, n_links=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features)) + 5
    pairs = np.array([rng.choice(n_samples, 2, replace=False) for _ in range(n_links)])
    weights = rng.uniform(0.1, 2, n_links)
    return X, pairs, weights


def fit(X, pairs, weights=None, **settings):
    return RCA(**settings).fit(X, constraints=Constraints(len(X), must_link=pairs, weights=weights))


@parametrize_with_checks([RCA()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# By hand


def test_variation_inside_chunklets_is_divided_out():
    X = [[0, 0], [0, 2], [1, 0], [1, 2]]  # C = diag(0, 1); half of it and half of I / 2
    model = fit(X, [(0, 1), (2, 3)], shrinkage=0.5)
    assert_allclose(model.metric_, np.diag([4, 4 / 3]))
    assert_allclose(model.map_.matrix, np.sqrt(model.metric_))
    assert (model.n_chunklets_, model.n_answers_used_) == (2, 2)


def test_must_links_join_into_chunklets():
    X = np.array([[0.0], [3.0], [6.0], [50.0]])  # one chunklet of three rows around 3
    assert_allclose(fit(X, [(0, 1), (1, 2)], shrinkage=1e-6).metric_, [[1 / 6]])


def test_a_chunklet_counts_by_the_mean_weight_of_its_links():
    c = Constraints(7, must_link=[(5, 6), (0, 1), (1, 2), (3, 4)], weights=[0, 1, 3, 5])
    rows, chunklets, weights = find_chunklets(c)
    assert_array_equal(rows, [0, 1, 2, 3, 4])
    assert_array_equal(chunklets, [0, 0, 0, 1, 1])
    assert_array_equal(weights, [2, 5])
    X = np.array([[0.0], [3.0], [6.0], [0.0], [2.0]])
    C, n_effective = chunklet_scatter(X, chunklets, weights)
    assert_allclose(C, [[(2 * 18 + 5 * 2) / (2 * 3 + 5 * 2)]])
    assert n_effective == pytest.approx((2 * 2 + 5) ** 2 / (4 * 2 + 25))


# Certificate and second route


def test_chunklets_come_out_white():
    X, pairs, _ = draw_problem(0, n_links=40)
    model = fit(X, pairs, shrinkage=1e-9)
    rows, chunklets, weights = find_chunklets(Constraints(len(X), must_link=pairs))
    C, _ = chunklet_scatter(model.transform(X)[rows], chunklets, weights)
    assert_allclose(C, np.eye(4), atol=1e-6)


def test_it_is_the_largest_metric_with_unit_spread_inside_chunklets():
    X, pairs, weights = draw_problem(1, n_features=3)
    rows, chunklets, chunklet_weights = find_chunklets(
        Constraints(len(X), must_link=pairs, weights=weights)
    )
    C = np.zeros((3, 3))
    for chunklet, weight in enumerate(chunklet_weights):  # plainly, one at a time
        members = X[rows[chunklets == chunklet]]
        C += weight * len(members) * np.cov(members.T, bias=True)
    C /= chunklet_weights[chunklets].sum()
    M = cp.Variable((3, 3), PSD=True)
    program = cp.Problem(cp.Maximize(cp.log_det(M)), [cp.trace(C @ M) <= 3])
    point_tol = solve_by_clarabel(program).point_tol(1e-3)
    learned = fit(X, pairs, weights, shrinkage=1e-12).metric_
    assert_allclose(learned, M.value, atol=point_tol * np.abs(learned).max())


# Laws


@FEW
@given(st.integers(0, 10_000))
def test_order_repeats_and_equal_weights_do_not_matter(seed):
    X, pairs, _ = draw_problem(seed)
    expected = fit(X, pairs).metric_
    shuffled = np.random.default_rng(seed).permutation(pairs)[:, ::-1]
    again = np.concatenate([shuffled, shuffled[:3]])
    assert_allclose(fit(X, again, np.full(len(again), 7.0)).metric_, expected, rtol=1e-7)


@FEW
@given(st.integers(0, 10_000))
def test_turning_the_data_turns_the_metric(seed):
    X, pairs, weights = draw_problem(seed)
    Q = ortho_group.rvs(4, random_state=seed)
    turned = fit(X @ Q.T, pairs, weights).metric_
    expected = Q @ fit(X, pairs, weights).metric_ @ Q.T
    assert_allclose(turned, expected, atol=1e-7 * np.abs(expected).max())


@FEW
@given(st.integers(0, 10_000), st.sampled_from([1e-6, 0.1, 16.0, 1e6]))
def test_the_scale_and_the_origin_of_the_data_do_not_matter(seed, scale):
    X, pairs, weights = draw_problem(seed)
    Z = fit(X, pairs, weights).transform(X)
    moved = scale * (X - 3)
    assert_allclose(
        np.diff(fit(moved, pairs, weights).transform(moved), axis=0),
        np.diff(Z, axis=0),
        atol=1e-7 * np.abs(Z).max(),
    )


@FEW
@given(st.integers(0, 10_000))
def test_a_link_of_weight_zero_is_no_link(seed):
    X, pairs, weights = draw_problem(seed)
    weights[5:] = 0
    expected = fit(X, pairs[:5], weights[:5]).metric_
    assert_allclose(fit(X, pairs, weights).metric_, expected, rtol=1e-9)


# Edges


def test_without_must_links_the_metric_is_the_identity():
    model = RCA().fit(np.ones((3, 2)))
    assert_array_equal(model.metric_, np.eye(2))
    assert (model.n_answers_used_, model.n_chunklets_) == (0, 0)


def test_other_kinds_are_counted_in_a_warning():
    c = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)])
    with pytest.warns(UserWarning, match="RCA cannot use 2 cannot_link answers"):
        model = RCA().fit(np.arange(8.0).reshape(4, 2), constraints=c)
    assert model.n_answers_used_ == 1


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e8 + 0.1])
def test_equal_rows_say_nothing_and_that_is_said(value):
    X = np.full((5, 2), value)  # the mean of three equal numbers need not be that number
    with pytest.warns(UserWarning, match="RCA keeps the identity"):
        model = fit(X, [(0, 1), (1, 2)])
    assert_array_equal(model.metric_, np.eye(2))
    assert (model.n_answers_used_, len(model.violated_)) == (2, 0)


def test_constant_pixels_of_digits_give_a_finite_metric():
    X, y = load_digits(return_X_y=True)
    c = Constraints.from_labels(y, n_must_link=100, random_state=0)
    model = RCA().fit(X, constraints=c)
    assert (np.ptp(X, axis=0) == 0).any()
    assert np.isfinite(model.metric_).all()
    assert np.linalg.eigvalsh(model.metric_)[0] > 0
    assert np.linalg.cond(model.metric_) < 1e3


def test_one_answer_among_more_features_than_rows_hardly_bends_the_space():
    X = np.random.default_rng(0).normal(size=(5, 40))
    model = fit(X, [(0, 1)])
    assert np.isfinite(model.metric_).all()
    assert np.linalg.cond(model.metric_) < 100


@pytest.mark.parametrize("shrinkage", [0, -0.1, 1.5, "no", None, np.nan])
def test_a_shrinkage_that_cannot_be_is_refused(shrinkage):
    with pytest.raises(ValueError, match=r"shrinkage=.* must be 'auto' or a number in \(0, 1\]"):
        RCA(shrinkage=shrinkage).fit([[0.0], [1.0]])


def test_float32_rows_come_back_as_float32():
    X, pairs, _ = draw_problem(3)
    model = fit(X.astype(np.float32), pairs)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.metric_.dtype == np.float64
    assert_allclose(model.metric_, fit(X, pairs).metric_, rtol=1e-3)
