"""Memberships by distance: checked by hand, against scikit-learn, and by leaving rows out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from likewise.cluster import even_out
from likewise.cluster.distance_field import NOISE, DistanceField, even_by_size, rows_to_one

SEEDS = st.integers(0, 10_000)


def draw(seed, n=30):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    groups = np.full(n, -1)
    groups[rng.permutation(n)[:12]] = np.arange(12) % 3
    return Z, groups


def test_two_rows_by_hand():
    field = DistanceField(np.array([[0.0], [1.0], [3.0]]))
    like = np.exp(-np.array([0.0, 1.0, 9.0]) / 4)  # 1, 4 and 9 are the squared distances
    assert_allclose(field.columns(np.array([0]))[:, 0], like)


@settings(max_examples=20)
@given(SEEDS)
def test_memberships_are_the_mean_of_a_gaussian_process(seed):
    Z, groups = draw(seed)
    known = np.flatnonzero(groups >= 0)
    scale = np.sqrt(np.median(pdist(Z, "sqeuclidean")) / 2)
    process = GaussianProcessRegressor(RBF(scale), alpha=NOISE, optimizer=None)
    mean = process.fit(Z[known], np.eye(3)[groups[known]]).predict(Z)
    assert_allclose(DistanceField(Z).spread(groups, 3), even_by_size(mean), rtol=1e-6)


@settings(max_examples=10)
@given(SEEDS)
def test_a_row_that_is_left_out_is_predicted_by_the_others(seed):
    Z, groups = draw(seed)
    known = np.flatnonzero(groups >= 0)
    own = groups[known]
    field = DistanceField(Z)
    R = field.columns(known)
    shares = rows_to_one(R @ np.linalg.solve(R[known] + NOISE * np.eye(12), np.eye(3)[own]))
    expected = []
    for i in range(len(known)):
        others = np.delete(np.arange(len(known)), i)
        kernel = R[known][np.ix_(others, others)] + NOISE * np.eye(len(others))
        expected.append(R[known][i, others] @ np.linalg.solve(kernel, np.eye(3)[own[others]]))
    expected = even_out(rows_to_one(np.array(expected)), shares.mean(axis=0))
    assert_allclose(field.leave_one_out(known, own, 3), expected, rtol=1e-6, atol=1e-9)


@settings(max_examples=20)
@given(SEEDS, st.floats(0.1, 100), st.floats(-50, 50))
def test_units_and_origin_do_not_matter(seed, unit, origin):
    Z, groups = draw(seed)
    expected = DistanceField(Z).spread(groups, 3)
    assert_allclose(DistanceField(unit * Z + origin).spread(groups, 3), expected, atol=1e-4)
    assert_allclose(expected.sum(axis=1), 1)


def test_what_was_asked_before_does_not_matter():
    Z, groups = draw(0)
    fresh, used = DistanceField(Z), DistanceField(Z)
    used.columns(np.arange(30)[::-1])
    assert_array_equal(used.spread(groups, 3), fresh.spread(groups, 3))


def test_equal_rows_say_nothing():
    groups = np.array([0, 1, -1, -1])
    assert_allclose(DistanceField(np.ones((4, 2))).spread(groups, 2), 0.5)


@pytest.mark.parametrize("n", [2, 700])
def test_the_unit_is_the_median_of_some_rows(n):
    Z = np.random.default_rng(0).normal(size=(n, 2))
    field = DistanceField(Z)
    scale = -(cdist(Z[:1], Z[1:2], "sqeuclidean") / np.log(field.columns(np.array([0]))[1]))
    assert_allclose(scale, np.median(pdist(Z, "sqeuclidean")), rtol=0.1)
