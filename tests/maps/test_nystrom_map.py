"""The Nystrom map."""

from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from likewise.kernels import (
    choose_landmarks,
    linear,
    pivoted_cholesky,
    rbf,
    self_tuning_gaussian,
)
from likewise.maps import nystrom_map
from likewise.numerics.psd import drop_negative

SEEDS = st.integers(0, 10_000)
WIDE = partial(rbf, theta=2.0)


def draw_rows(seed, n=40, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


@settings(max_examples=25)
@given(SEEDS)
def test_inner_products_are_the_nystrom_approximation(seed):
    X = draw_rows(seed)
    rows = X[choose_landmarks(X, 9, random_state=seed)]
    Z = nystrom_map(WIDE, rows).transform(X)
    K_nm = WIDE(X, rows)
    assert_allclose(
        Z @ Z.T, K_nm @ np.linalg.pinv(WIDE(rows), rcond=1e-10, hermitian=True) @ K_nm.T, atol=1e-6
    )


@settings(max_examples=25)
@given(SEEDS)
def test_what_is_left_is_psd_and_zero_at_the_landmarks(seed):
    X = draw_rows(seed)
    Z = nystrom_map(WIDE, X[:9]).transform(X)
    left = WIDE(X) - Z @ Z.T
    assert np.linalg.eigvalsh(left).min() >= -1e-8
    assert_allclose(left[:, :9], 0, atol=1e-6)


@settings(max_examples=25)
@given(SEEDS)
def test_landmarks_at_the_pivots_give_the_incomplete_cholesky(seed):
    X = draw_rows(seed)
    K = WIDE(X)
    found = pivoted_cholesky(K.diagonal(), lambda i: K[:, i], share=0.8)
    Z = nystrom_map(WIDE, X[found.pivots]).transform(X)
    assert_allclose(Z @ Z.T, found.factor @ found.factor.T, atol=1e-8)


@settings(max_examples=25)
@given(SEEDS)
def test_a_row_is_mapped_alike_alone_and_in_company(seed):
    X = draw_rows(seed)
    found = nystrom_map(WIDE, X[:10])
    assert_allclose(found.transform(X[33:34]), found.transform(X)[33:34], atol=1e-8)
    assert_allclose(found.transform(csr_array(X)), found.transform(X), atol=1e-8)


def test_all_rows_as_landmarks_give_back_the_positive_part_of_an_indefinite_kernel():
    X = load_iris().data
    k = self_tuning_gaussian(X, n_neighbors=99)
    found = nystrom_map(k, X)
    positive, dropped = drop_negative(k(X))
    Z = found.transform(X)
    assert found.negative_share == dropped > 1e-4
    assert_allclose(Z @ Z.T, positive, atol=1e-6)


def test_a_linear_kernel_has_as_many_coordinates_as_features():
    Z = nystrom_map(linear, draw_rows(0)).transform(draw_rows(1))
    assert Z.shape == (40, 3)
    assert_allclose(Z @ Z.T, linear(draw_rows(1)), atol=1e-9)


def test_a_smaller_share_keeps_fewer_coordinates():
    X = draw_rows(0)
    assert (
        0
        < nystrom_map(WIDE, X, share=0.5).whitening.shape[1]
        < nystrom_map(WIDE, X, share=0.9).whitening.shape[1]
    )
