"""The self-tuning Gaussian."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from likewise.kernels import self_tuning_gaussian
from likewise.numerics.psd import drop_negative

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=25, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_by_hand_three_points_on_a_line():
    X = np.array([[0.0], [1.0], [3.0]])
    k = self_tuning_gaussian(X, n_neighbors=1)
    assert_array_equal(k.sigmas, [1, 1, 2])
    assert_allclose(k(X), np.exp(-np.array([[0, 1, 4.5], [1, 0, 2], [4.5, 2, 0]])))
    # A new row at 2: its nearest training row is at distance 1.
    assert_allclose(k([[2.0]], X), np.exp([[-4.0, -1.0, -0.5]]))


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 24))
def test_kernel_agrees_with_a_full_sort(seed, l):
    X = draw_rows(seed)
    dist = np.sort(cdist(X, X), axis=1)
    sigmas = dist[:, l]  # column 0 is the row itself
    k = self_tuning_gaussian(X, n_neighbors=l)
    assert_allclose(k.sigmas, sigmas)
    assert_allclose(k(X), np.exp(-cdist(X, X, "sqeuclidean") / np.outer(sigmas, sigmas)))


@settings(max_examples=25)
@given(SEEDS, st.integers(2, 25))
def test_counting_oneself_is_asking_for_one_neighbor_less(seed, l):
    X = draw_rows(seed)
    counted = self_tuning_gaussian(X, n_neighbors=l, count_self=True)
    assert_allclose(counted(X), self_tuning_gaussian(X, n_neighbors=l - 1)(X))


@pytest.mark.parametrize("count_self", [False, True])
@settings(max_examples=25)
@given(seed=SEEDS, l=st.integers(1, 30))
def test_training_rows_given_as_new_rows_get_the_training_kernel(count_self, seed, l):
    X = draw_rows(seed)
    X[5] = X[9]
    k = self_tuning_gaussian(X, n_neighbors=l, count_self=count_self)
    assert_array_equal(k.scales(X.copy()), k.sigmas)
    assert_allclose(k(X[:4].copy(), X.copy()), k(X)[:4], rtol=1e-10)


@settings(max_examples=25)
@given(SEEDS)
def test_a_new_row_reaches_to_its_lth_training_neighbor_whatever_came_with_it(seed):
    X, new = draw_rows(seed), draw_rows(seed + 1, n=6)
    k = self_tuning_gaussian(X, n_neighbors=4)
    expected = np.sort(cdist(new, X), axis=1)[:, 3]
    assert_allclose(k.scales(new), expected)
    for i in range(len(new)):
        assert_allclose(k(new[[i]], X), k(new, X)[[i]], rtol=1e-9)


@settings(max_examples=25)
@given(SEEDS, st.floats(0.01, 100), st.floats(-100, 100))
def test_scale_shift_and_order_do_not_matter(seed, factor, shift):
    X = draw_rows(seed)
    K = self_tuning_gaussian(X, n_neighbors=7)(X)
    moved = factor * X + shift
    assert_allclose(self_tuning_gaussian(moved, n_neighbors=7)(moved), K, rtol=1e-6, atol=1e-12)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        self_tuning_gaussian(X[order], n_neighbors=7)(X[order]), K[np.ix_(order, order)], rtol=1e-9
    )


def test_rows_buried_under_duplicates_take_the_smallest_positive_width():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [7.0]])
    k = self_tuning_gaussian(X, n_neighbors=2)
    assert_allclose(k.sigmas, [5, 5, 5, 5, 7])
    assert_allclose(k.scales(np.array([[0.0]])), [5])
    assert np.isfinite(k(X)).all()


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.ones((1, 2))])
def test_when_all_rows_are_equal_the_kernel_is_one(X):
    assert_array_equal(self_tuning_gaussian(X)(X), 1)
    assert_array_equal(self_tuning_gaussian(X, count_self=True)(X), 1)


def test_the_neighbor_is_clipped_to_the_rows_there_are():
    X = draw_rows(0)
    assert self_tuning_gaussian(X).n_neighbors == 24
    assert self_tuning_gaussian(X, count_self=True).n_neighbors == 25


def test_csr_and_float32_rows_give_the_same_kernel():
    X = (draw_rows(0) * (draw_rows(1) > -0.5)).astype(np.float32)
    expected = self_tuning_gaussian(X.astype(np.float64), n_neighbors=5)(X)
    for rows in (X, csr_array(X)):
        k = self_tuning_gaussian(rows, n_neighbors=5)
        assert_allclose(k(rows), expected, rtol=1e-6)
        assert_allclose(k(rows[:3], rows), expected[:3], rtol=1e-6)


def test_on_iris_it_is_indefinite_and_the_positive_part_is_close():
    X = load_iris().data
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    K = self_tuning_gaussian(X, n_neighbors=99)(X)
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.049, abs=0.001)
    nearest, dropped = drop_negative(K)
    assert 0 < dropped < 0.002
    assert np.abs(nearest - K).max() < 0.05


def test_no_neighbor_is_refused():
    with pytest.raises(ValueError, match="n_neighbors=0"):
        self_tuning_gaussian(np.eye(3), n_neighbors=0)
