"""ITML: exact steps by hand, optima with proofs, a second solver, laws, scikit-learn's contract."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints import Constraints
from likewise.metric_learning import ITML
from likewise.numerics.pair_distances import mean_sq_distance, percentile_bounds
from tests.clarabel import solve_by_clarabel

SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.1, 1.0, 10.0])


def draw(seed, *, n=20, d=3, n_pairs=14):
    """Two blobs that overlap, and pairs of both kinds."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 2, d)
    X[:, 0] += 2 * y
    return X, Constraints.from_labels(
        y, n_must_link=n_pairs // 2, n_cannot_link=n_pairs - n_pairs // 2, random_state=seed
    )


def fit_tightly(X, constraints, **parameters):
    parameters = {"tol": 1e-11, "max_iter": 20_000, "random_state": 0, **parameters}
    return ITML(**parameters).fit(X, constraints=constraints)


def in_units(X, near, far):
    """Squared distances as ITML takes them: in units of their mean."""
    return near / mean_sq_distance(np.asarray(X)), far / mean_sq_distance(np.asarray(X))


def sq_bounds_of(itml, X):
    return np.multiply(itml.bounds_, mean_sq_distance(X))


def differences(X, constraints):
    pairs, sign = constraints.signed_pairs()
    return X[pairs[:, 0]] - X[pairs[:, 1]], sign


def objective(M, V, sign, bounds, strengths):
    """What ITML minimizes, every target at its best: D(M, I) + sum strength D(v'Mv, bound)."""
    ratios = np.einsum("ij,jk,ik->i", V, M, V) / np.where(sign > 0, *bounds)
    misses = np.where(sign * (ratios - 1) > 0, ratios - np.log(ratios) - 1, 0)
    return np.trace(M) - np.linalg.slogdet(M)[1] - len(M) + strengths @ misses


# By hand


@pytest.mark.parametrize(
    ("C", "dual", "M00"),
    [
        (np.inf, 3 / 4, 1 / 4),  # 1 / near - 1 / sq_dist = 1 - 1/4, and the pair ends on near
        (1.0, 3 / 8, 2 / 5),  # half of it: where the paper's printed step is right too
        (0.5, 1 / 4, 1 / 2),  # C / (C + 1) = a third of it; 1 / M00 = 1 + 4 / 4
    ],
)
def test_one_must_link_in_the_plane_is_known_by_hand(C, dual, M00):
    told = Constraints(n_samples=2, must_link=[(0, 1)])
    X = [[0.0, 0.0], [2.0, 0.0]]
    itml = ITML(C=C, bounds=(0.5, 4.5)).fit(
        X, constraints=told
    )  # the unit is 2, the mean of 0 and 4
    assert_allclose(itml.duals_, [dual])
    assert_allclose(itml.metric_, [[M00, 0], [0, 1]])
    assert_allclose(itml.map_.matrix, [[np.sqrt(M00), 0], [0, 1]])
    assert itml.bounds_ == (0.5, 4.5)
    assert_array_equal(itml.violated_, [] if np.isinf(C) else [0])
    assert itml.n_answers_used_ == 1


def test_one_cannot_link_in_the_plane_ends_on_far():
    told = Constraints(n_samples=2, cannot_link=[(0, 1)])
    itml = ITML(C=np.inf, bounds=(0.5, 4.5)).fit([[0.0, 0.0], [2.0, 0.0]], constraints=told)
    assert_allclose(itml.metric_, [[9 / 4, 0], [0, 1]])
    assert_allclose(itml.duals_, [1 / 4 - 1 / 9])


def test_satisfied_pairs_leave_the_identity():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    told = Constraints(n_samples=3, must_link=[(0, 1)], cannot_link=[(0, 2)])
    itml = ITML(bounds=in_units(X, 2.0, 20.0)).fit(X, constraints=told)
    assert_array_equal(itml.metric_, np.eye(2))
    assert_array_equal(itml.duals_, [0, 0])
    assert len(itml.violated_) == 0


def test_bounds_come_from_squared_distances():
    X = np.arange(11.0)[:, None]
    i, j = np.triu_indices(11, 1)
    sq_dists = (i - j) ** 2
    by_percentiles = sq_bounds_of(ITML(bounds="percentiles").fit(X), X)
    assert_allclose(by_percentiles, np.percentile(sq_dists, [5, 95]))
    far = 0.4 * sq_dists.mean()
    assert_allclose(sq_bounds_of(ITML().fit(X), X), (min(np.percentile(sq_dists, 1), far / 2), far))


def test_near_is_at_most_half_of_far_where_all_rows_are_equally_far():
    # every squared distance is 2
    assert_allclose(sq_bounds_of(ITML().fit(np.eye(6)), np.eye(6)), (0.4, 0.8))


def test_default_bounds_stay_positive_and_in_order_when_most_rows_are_the_same():
    X = np.zeros((40, 2))
    assert ITML().fit(X).bounds_ == (1.0, 1.0)
    X[:3] = [[1, 0], [0, 2], [3, 0]]
    near, far = ITML().fit(X).bounds_
    assert 0 < near <= far / 2


def test_sampled_bounds_are_near_those_of_all_pairs(seed):
    X = np.random.default_rng(seed).standard_normal((400, 5))
    i, j = np.triu_indices(400, 1)
    every = ((X[i] - X[j]) ** 2).sum(axis=1)
    near, far = percentile_bounds(X, np.random.RandomState(seed), (5, 95))
    assert 0.03 < np.mean(every < near) < 0.07
    assert 0.93 < np.mean(every < far) < 0.97


def test_near_is_positive_when_most_rows_are_the_same():
    X = np.zeros((40, 2))
    X[:3] = [[1, 0], [0, 2], [3, 0]]
    near, far = percentile_bounds(X, np.random.RandomState(0), (5, 95))
    assert (near, far) == (1.0, pytest.approx(np.percentile(sq_distances_of_all(X), 95)))


def sq_distances_of_all(X):
    i, j = np.triu_indices(len(X), 1)
    return ((X[i] - X[j]) ** 2).sum(axis=1)


# Certificates


@settings(max_examples=15)
@given(SEEDS, STRENGTHS)
def test_soft_optimum_carries_its_own_proof(seed, C):
    X, told = draw(seed)
    itml = fit_tightly(X, told, C=C)
    M, duals = itml.metric_, itml.duals_
    V, sign = differences(X, told)
    bounds = np.where(sign > 0, *sq_bounds_of(itml, X))
    sq_dists = np.einsum("ij,jk,ik->i", V, M, V)
    targets = 1 / (1 / bounds - sign * duals / C)
    assert (duals >= 0).all()
    assert_allclose(sq_dists[duals > 0], targets[duals > 0], rtol=1e-8)
    assert (sign * (sq_dists - bounds) <= 1e-8 * bounds)[duals == 0].all()
    assert_allclose(np.linalg.inv(M), np.eye(3) + (V.T * (sign * duals)) @ V, rtol=1e-8, atol=1e-8)
    # Weak duality: the dual value is below every objective, and here it is reached.
    dual_value = -np.linalg.slogdet(M)[1] + C * np.log1p(-sign * duals * bounds / C).sum()
    assert_allclose(
        objective(M, V, sign, sq_bounds_of(itml, X), np.full(14, C)), dual_value, rtol=1e-8
    )


@settings(max_examples=10)
@given(SEEDS)
def test_hard_optimum_carries_its_own_proof(seed):
    X, told = draw(seed, n=30, d=6, n_pairs=8)
    itml = fit_tightly(X, told, C=np.inf, bounds=in_units(X, 3.0, 6.0))
    V, sign = differences(X, told)
    slack = sign * (np.where(sign > 0, 3.0, 6.0) - np.einsum("ij,jk,ik->i", V, itml.metric_, V))
    assert (slack >= -1e-8).all()
    assert (itml.duals_ >= 0).all()
    assert_allclose(itml.duals_ * slack, 0, atol=1e-8)
    stationary = np.eye(6) + (V.T * (sign * itml.duals_)) @ V
    assert_allclose(np.linalg.inv(itml.metric_), stationary, rtol=1e-8, atol=1e-8)


def test_default_tolerance_is_within_a_thousandth_of_the_optimum_on_digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    told = Constraints.from_labels(y, n_must_link=2500, n_cannot_link=2500, random_state=0)
    itml = ITML(random_state=0).fit(X, constraints=told)  # compiled: over 4,000 pairs
    V, sign = differences(X, told)
    bounds = np.where(sign > 0, *sq_bounds_of(itml, X))
    reached = objective(itml.metric_, V, sign, sq_bounds_of(itml, X), np.ones(5000))
    below = -np.linalg.slogdet(itml.metric_)[1] + np.log1p(-sign * itml.duals_ * bounds).sum()
    assert 0 <= reached - below < 1e-3 * reached
    assert itml.n_iter_ < 40


# A second route


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("d", [2, 5])
def test_optimum_is_the_one_of_an_interior_point_solver(d, C, seed):
    X, told = draw(seed, d=d, n_pairs=12)
    weights = np.random.default_rng(seed).uniform(0.5, 2, 12)
    told = Constraints(
        n_samples=20, must_link=told.must_link, cannot_link=told.cannot_link, weights=weights
    )
    itml = fit_tightly(X, told, C=C)
    V, sign = differences(X, told)
    bounds = np.where(sign > 0, *sq_bounds_of(itml, X))
    M, ratios = cp.Variable((d, d), PSD=True), cp.Variable(12)
    sq_dists = cp.hstack([cp.trace(np.outer(v, v) @ M) for v in V])
    slack_cost = cp.sum(cp.multiply(C * weights, ratios - cp.log(ratios) - 1))
    program = cp.Problem(
        cp.Minimize(cp.trace(M) - cp.log_det(M) - d + slack_cost),
        [cp.multiply(sign, cp.multiply(sq_dists, 1 / bounds) - ratios) <= 0],
    )
    solved = solve_by_clarabel(program)
    ours = objective(itml.metric_, V, sign, sq_bounds_of(itml, X), C * weights)
    assert_allclose(ours, solved.value, rtol=solved.value_tol(1e-6))
    point_tol = solved.point_tol(1e-3)
    assert_allclose(itml.metric_, M.value, rtol=point_tol, atol=point_tol)


# Laws


@settings(max_examples=10)
@given(SEEDS, STRENGTHS)
def test_order_of_the_answers_does_not_matter(seed, C):
    X, told = draw(seed)
    shuffled = np.random.default_rng(seed).permutation(7)
    other = Constraints(
        n_samples=20, cannot_link=told.cannot_link[shuffled], must_link=told.must_link[:, ::-1]
    )
    one = fit_tightly(X, told, C=C)
    two = fit_tightly(X, other, C=C, random_state=1)
    assert_allclose(one.metric_, two.metric_, rtol=1e-7, atol=1e-8)


@settings(max_examples=10)
@given(SEEDS)
def test_turning_and_moving_the_data_turns_the_metric(seed):
    X, told = draw(seed)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    turned = fit_tightly(X @ Q + 3.0, told).metric_
    assert_allclose(turned, Q.T @ fit_tightly(X, told).metric_ @ Q, rtol=1e-6, atol=1e-7)


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([16.0, 1e-6, 1e6]))
def test_scale_of_the_data_does_not_matter(seed, scale):
    X, told = draw(seed)
    one, two = ITML(random_state=0), ITML(random_state=0)
    one.fit(X, constraints=told)
    two.fit(X * scale, constraints=told)
    assert_allclose(two.metric_, one.metric_, rtol=1e-8)
    assert_allclose(two.bounds_, one.bounds_)
    assert_allclose(two.duals_ * scale**2, one.duals_, rtol=1e-8)


@settings(max_examples=10)
@given(SEEDS)
def test_weight_two_is_the_answer_twice_and_weight_zero_none(seed):
    X, told = draw(seed, n_pairs=6)
    weights = np.array([2.0, 0, 1, 1, 0, 2])
    weighted = Constraints(
        n_samples=20, must_link=told.must_link, cannot_link=told.cannot_link, weights=weights
    )
    repeated = told.subset(weights > 0) + told.subset(weights > 1)
    one, two = fit_tightly(X, weighted), fit_tightly(X, repeated)
    assert_allclose(one.metric_, two.metric_, rtol=1e-7, atol=1e-8)
    assert one.n_answers_used_ == 4
    assert_array_equal(one.duals_[[1, 4]], 0)


def test_metric_is_the_square_of_its_matrix_and_the_distance_of_the_map(seed):
    X, told = draw(seed)
    itml = ITML(random_state=0).fit(X, constraints=told)
    Z = itml.transform(X)
    v = X[3] - X[8]
    assert_allclose(itml.map_.matrix @ itml.map_.matrix.T, itml.metric_)
    assert_allclose(((Z[3] - Z[8]) ** 2).sum(), v @ itml.metric_ @ v)


def test_same_seed_gives_the_same_bits(seed):
    X, told = draw(seed, n=200, n_pairs=100)
    one = ITML(random_state=seed).fit(X, constraints=told)
    two = ITML(random_state=seed).fit(X, constraints=told)
    assert_array_equal(one.metric_, two.metric_)


# New answers


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([0.1, 1.0, 10.0]))
def test_added_answers_reach_the_optimum_of_starting_over(seed, C):
    X, told = draw(seed, n_pairs=20)
    first = told.subset(np.arange(20) < 16)
    itml = fit_tightly(X, first, C=C, warm_start=True)
    itml.fit(X, constraints=first + told.subset(np.arange(20) >= 16))
    scratch = fit_tightly(X, told, C=C)
    assert_allclose(itml.metric_, scratch.metric_, rtol=1e-6, atol=1e-7)
    assert_allclose(itml.duals_.sum(), scratch.duals_.sum(), rtol=1e-6)


def test_the_same_answers_again_settle_in_one_sweep(seed):
    X, told = draw(seed)
    itml = fit_tightly(X, told, warm_start=True)
    assert itml.n_iter_ > 5
    before = itml.metric_
    itml.set_params(tol=1e-9).fit(X, constraints=told)
    assert itml.n_iter_ == 1
    assert_allclose(itml.metric_, before, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("change", ["rows", "C", "answers"])
def test_warm_start_from_something_else_still_finds_the_optimum(change, seed):
    X, told = draw(seed, n_pairs=20)
    itml = fit_tightly(X, told, C=10.0, warm_start=True)
    if change == "rows":
        X = 30 * X[::-1]
    elif change == "C":
        itml.set_params(C=0.1)
    else:
        told = told.subset(np.arange(20) % 3 == 0)
    itml.fit(X, constraints=told)
    scratch = fit_tightly(X, told, C=itml.C)
    assert_allclose(itml.metric_, scratch.metric_, rtol=1e-6, atol=1e-7)


# What can be wrong with answers and data


@pytest.mark.parametrize("constraints", [None, Constraints(n_samples=4)])
def test_without_answers_the_metric_is_the_identity_and_nothing_is_said(constraints):
    X = np.array([[0.0, 1], [2, 3], [4, 0], [1, 1]])
    itml = ITML().fit(X, constraints=constraints)
    assert_array_equal(itml.metric_, np.eye(2))
    assert_array_equal(itml.transform(X), X)
    assert itml.n_answers_used_ == 0
    assert itml.duals_.shape == (0,)


def test_answers_of_other_kinds_are_counted_and_have_no_dual():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 5.0]])
    told = Constraints(n_samples=3, must_link=[(0, 1)], odd_one_out=[(0, 1, 2)])
    with pytest.warns(UserWarning, match="cannot use 1 odd_one_out"):
        itml = ITML(bounds=in_units(X, 1.0, 9.0)).fit(X, constraints=told)
    assert itml.n_answers_used_ == 1
    assert itml.duals_.shape == (2,)
    assert np.count_nonzero(itml.duals_) == 1


def test_pairs_of_identical_rows_are_left_out_and_counted():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [5.0, 5.0]])
    told = Constraints(n_samples=4, must_link=[(0, 1), (0, 2)])
    itml = ITML(bounds=in_units(X, 1.0, 9.0)).fit(X, constraints=told)
    assert itml.n_answers_used_ == 2
    assert itml.duals_[0] == 0
    told += Constraints(n_samples=4, cannot_link=[(0, 1)])
    with pytest.warns(UserWarning, match="1 cannot-links join identical rows"):
        again = ITML(bounds=in_units(X, 1.0, 9.0)).fit(X, constraints=told)
    assert_allclose(again.metric_, itml.metric_)


def test_rows_that_are_all_the_same_leave_the_identity():
    told = Constraints(n_samples=3, must_link=[(0, 1)])
    itml = ITML().fit(np.ones((3, 2)), constraints=told)
    assert_array_equal(itml.metric_, np.eye(2))
    assert len(itml.violated_) == 0


def test_constant_features_keep_their_unit_weight(seed):
    X, told = draw(seed)
    X = np.column_stack([X, np.full(20, 7.0)])
    M = ITML(random_state=0).fit(X, constraints=told).metric_
    assert_allclose(M[3], [0, 0, 0, 1], atol=1e-12)


def test_more_features_than_rows_stay_definite(seed):
    X, told = draw(seed, n=10, d=40, n_pairs=8)
    itml = ITML(random_state=0).fit(X, constraints=told)
    assert np.linalg.eigvalsh(itml.metric_)[0] > 0
    assert np.count_nonzero(itml.duals_) > 0


def test_contradictory_pairs_settle_when_soft():
    X, told = draw(0)
    opposite = Constraints(n_samples=20, must_link=told.cannot_link, cannot_link=told.must_link)
    itml = ITML(random_state=0).fit(X, constraints=told + opposite)
    assert itml.n_iter_ < 1000
    assert np.linalg.eigvalsh(itml.metric_)[0] > 0


@pytest.mark.parametrize("start", range(5))
def test_contradictory_pairs_warn_and_stay_finite_when_hard(start):
    X, told = draw(start, n=12, d=2, n_pairs=40)
    with pytest.warns(ConvergenceWarning, match="may contradict each other"):
        itml = ITML(C=np.inf, random_state=0).fit(X, constraints=told)
    assert np.isfinite(itml.metric_).all()
    assert np.isfinite(itml.duals_).all()
    assert np.isfinite(itml.transform(X)).all()


def test_too_few_sweeps_warn():
    X, told = draw(0)
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1 "):
        ITML(max_iter=1, random_state=0).fit(X, constraints=told)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C=0.0 must be > 0"),
        ({"C": np.nan}, "C=nan must be > 0"),
        ({"bounds": (4.0, 1.0)}, r"bounds=\(4.0, 1.0\) must be \(near, far\)"),
        ({"bounds": (0.0, 1.0)}, "0 < near <= far"),
    ],
)
def test_impossible_settings_end_in_one_error(parameters, message):
    with pytest.raises(ValueError, match=message):
        ITML(**parameters).fit([[0.0], [1.0]])


def test_float32_in_is_float32_out_and_learned_in_float64(seed):
    X, told = draw(seed)
    X = X.astype(np.float32)
    itml = ITML(random_state=0).fit(X, constraints=told)
    assert itml.metric_.dtype == np.float64
    assert itml.transform(X).dtype == np.float32
    exact = ITML(random_state=0).fit(X.astype(np.float64), constraints=told)
    assert_allclose(itml.metric_, exact.metric_, rtol=1e-9)


@parametrize_with_checks([ITML(), ITML(warm_start=True, C=np.inf)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
