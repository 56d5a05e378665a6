"""Pivoted incomplete Cholesky."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cholesky

from likewise.kernels import kernel_function, kernel_oracle, pivoted_cholesky, rbf

SEEDS = st.integers(0, 10_000)


def draw_kernel(seed, n=20):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return rbf(X, theta=4.0)


def factor(K, **rule):
    asked = []

    def column(i):
        asked.append(i)
        return K[:, i]

    found = pivoted_cholesky(K.diagonal(), column, **rule)
    assert_array_equal(found.pivots, asked)  # no column but the pivots', and each once
    return found


def test_by_hand_rank_two_of_three():
    found = factor(np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), share=1.0)
    assert_array_equal(found.pivots, [0, 2])
    assert_allclose(found.factor, [[2, 0], [1, 0], [0, 1]])
    assert found.residual_share == 0


@settings(max_examples=25)
@given(SEEDS, st.floats(0.3, 0.999))
def test_trace_share_is_reached_and_with_one_column_less_it_is_not(seed, share):
    K = draw_kernel(seed)
    found = factor(K, share=share)
    left = np.trace(K) - np.square(found.factor).sum(axis=0).cumsum()
    assert left[-1] <= (1 - share) * np.trace(K) + 1e-9
    assert (left[:-1] > (1 - share) * np.trace(K)).all()
    assert found.residual_share == pytest.approx(left[-1] / np.trace(K), abs=1e-9)


@settings(max_examples=25)
@given(SEEDS, st.floats(0.5, 0.99))
def test_frobenius_share_is_exact_with_the_norm_and_certain_without(seed, share):
    K = draw_kernel(seed)
    norm = np.linalg.norm(K)
    exact, bounded = (
        factor(K, share=share, by="frobenius", norm=norm),
        factor(K, share=share, by="frobenius"),
    )
    reached = [np.linalg.norm(exact.factor[:, :r] @ exact.factor[:, :r].T) for r in range(1, 21)]
    r = exact.factor.shape[1]
    assert reached[r - 1] >= share * norm * (1 - 1e-12)
    assert r == 1 or reached[r - 2] < share * norm
    assert bounded.factor.shape[1] >= r


@settings(max_examples=25)
@given(SEEDS)
def test_what_is_left_is_psd_and_zero_at_the_pivots(seed):
    K = draw_kernel(seed)
    found = factor(K, share=0.9)
    left = K - found.factor @ found.factor.T
    assert np.linalg.eigvalsh(left).min() >= -1e-10
    assert_allclose(left[:, found.pivots], 0, atol=1e-12)
    assert found.negative_share == 0


@settings(max_examples=25)
@given(SEEDS)
def test_full_rank_is_the_ordinary_cholesky_of_the_pivoted_matrix(seed):
    A = np.random.default_rng(seed).normal(size=(20, 20))
    K = A @ A.T + np.eye(20)
    found = factor(K, share=1.0)
    order = found.pivots
    assert_array_equal(np.sort(order), np.arange(20))
    assert_array_equal(np.triu(found.factor[order], k=1), 0)
    assert_allclose(found.factor[order], cholesky(K[np.ix_(order, order)], lower=True), atol=1e-8)


@settings(max_examples=25)
@given(SEEDS)
def test_extension_returns_the_rows_of_the_factor(seed):
    K = draw_kernel(seed)
    found = factor(K, share=0.95)
    assert_allclose(found.extend(K[:, found.pivots]), found.factor, atol=1e-8)


@settings(max_examples=25)
@given(SEEDS)
def test_extension_makes_the_kernel_exact_between_a_new_row_and_the_pivots(seed):
    K = draw_kernel(seed)
    train, new = slice(0, 15), slice(15, 20)
    found = factor(K[train, train], share=0.95)
    G_new = found.extend(K[new, train][:, found.pivots])
    assert_allclose(G_new @ found.factor[found.pivots].T, K[new, train][:, found.pivots], atol=1e-8)


@settings(max_examples=25)
@given(SEEDS)
def test_renaming_the_rows_renames_the_factor(seed):
    A = np.random.default_rng(seed).normal(size=(12, 12))
    K = A @ A.T
    order = np.random.default_rng(seed).permutation(12)
    found, renamed = factor(K, share=0.9), factor(K[np.ix_(order, order)], share=0.9)
    assert_array_equal(order[renamed.pivots], found.pivots)
    assert_allclose(renamed.factor, found.factor[order], atol=1e-8)


def test_numerical_rank_ends_it_and_growth_keeps_every_column():
    A = np.random.default_rng(0).normal(size=(60, 37))
    found = factor(A @ A.T, share=1.0)
    assert found.factor.shape == (60, 37)
    assert_allclose(found.factor @ found.factor.T, A @ A.T, atol=1e-10)


def test_an_indefinite_kernel_ends_with_its_negative_mass_reported():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # smallest eigenvalue -0.27
    found = factor(K, share=1.0)
    assert np.isfinite(found.factor).all()
    assert found.negative_share > 0.1


def test_at_most_max_rank_columns():
    assert factor(draw_kernel(0), share=1.0, max_rank=3).factor.shape == (20, 3)


def test_a_zero_kernel_has_an_empty_factor():
    found = factor(np.zeros((4, 4)))
    assert found.factor.shape == (4, 0)
    assert found.residual_share == 0


def test_oracle_of_a_named_kernel_gives_the_factor_of_its_matrix():
    X = np.random.default_rng(0).normal(size=(600, 2))
    k = kernel_function("rbf", X)
    diagonal, column = kernel_oracle(k, X)
    assert_allclose(diagonal, 1)
    found, direct = pivoted_cholesky(diagonal, column), factor(k(X))
    assert found.factor.shape[1] < 60
    assert_allclose(found.factor @ found.factor.T, direct.factor @ direct.factor.T, atol=0.1)
    assert_allclose(found.extend(k(X[:7], X[found.pivots])), found.factor[:7], atol=1e-7)


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"share": 1.5}, {"by": "rank"}])
def test_wrong_rules_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        factor(np.eye(2), **wrong)


def test_a_negative_diagonal_is_named():
    with pytest.raises(ValueError, match=r"diagonal\[1\] = -1.0"):
        factor(np.diag([1.0, -1.0]))
