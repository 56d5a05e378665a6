"""Linear, polynomial, cosine and RBF kernels, and the widths of the last."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel

from likewise.kernels import cosine, linear, pointwise, polynomial, rbf, rbf_theta

SEEDS = st.integers(0, 10_000)
RULES = ["mean", "median", "scale"]
KERNELS = [linear, polynomial, cosine, lambda X, Y=None: rbf(X, Y, theta=2.0)]


def draw_rows(seed, n=12, d=4):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_values_agree_with_scikit_learn():
    X, Y = draw_rows(0), draw_rows(1, n=5)
    assert_allclose(polynomial(X, Y), polynomial_kernel(X, Y))
    assert_allclose(
        polynomial(X, Y, degree=2, gamma=0.3, coef0=2.0),
        polynomial_kernel(X, Y, degree=2, gamma=0.3, coef0=2.0),
    )
    assert_allclose(cosine(X, Y), cosine_similarity(X, Y))
    assert_allclose(rbf(X, Y, theta=3.0), rbf_kernel(X, Y, gamma=1 / 3.0))
    assert_allclose(linear(X, Y), X @ Y.T)


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_every_kernel_is_psd_and_symmetric(kernel, seed):
    K = kernel(draw_rows(seed))
    assert_allclose(K, K.T, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max() * len(K)


@pytest.mark.parametrize("kernel", KERNELS)
def test_csr_and_float32_rows_give_the_same_kernel_in_float64(kernel):
    X = (draw_rows(0) * (draw_rows(1) > 0)).astype(np.float32)
    Y = X[:5] + np.float32(1)
    expected = kernel(X.astype(np.float64), Y.astype(np.float64))
    for rows, others in [(X, Y), (csr_array(X), csr_array(Y)), (csr_array(X), Y)]:
        K = kernel(rows, others)
        assert isinstance(K, np.ndarray)
        assert K.dtype == np.float64
        assert_allclose(K, expected, atol=1e-12)


def test_a_row_of_zeros_has_cosine_zero_with_every_row():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert_allclose(cosine(X), [[0, 0], [0, 1]], atol=1e-15)


@settings(max_examples=25)
@given(SEEDS)
def test_named_widths_are_what_their_names_say(seed):
    X = draw_rows(seed)
    sq = pdist(X, "sqeuclidean")
    assert rbf_theta(X, "mean") == pytest.approx(sq.mean())
    assert rbf_theta(X, "median") == pytest.approx(np.median(sq))
    assert rbf_theta(X, "scale") == pytest.approx(X.shape[1] * X.var())
    assert rbf_theta(X, 2.5) == 2.5
    for rule in RULES:
        assert rbf_theta(csr_array(X), rule) == pytest.approx(rbf_theta(X, rule))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(seed=SEEDS, factor=st.floats(0.01, 100), shift=st.floats(-100, 100))
def test_kernel_with_a_named_width_ignores_scale_shift_and_order(rule, seed, factor, shift):
    X = draw_rows(seed)
    K = rbf(X, theta=rbf_theta(X, rule))
    moved = factor * X + shift
    assert_allclose(rbf(moved, theta=rbf_theta(moved, rule)), K, rtol=1e-6)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        rbf(X[order], theta=rbf_theta(X[order], rule)), K[np.ix_(order, order)], rtol=1e-9
    )


def test_median_on_a_sample_is_near_the_median_of_all(monkeypatch):
    X = draw_rows(0, n=1500)
    whole = rbf_theta(X, "median")
    monkeypatch.setattr(pointwise, "MEDIAN_SAMPLE", 500)
    sampled = rbf_theta(X, "median")
    assert sampled != whole
    assert sampled == pytest.approx(whole, rel=0.05)
    assert rbf_theta(X, "median") == sampled  # seeded


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.ones((1, 2))])
def test_equal_rows_have_a_width_of_one(rule, X):
    assert rbf_theta(X, rule) == 1.0


def test_median_passes_over_equal_rows():
    assert rbf_theta([[0.0], [0.0], [0.0], [0.0], [3.0]], "median") == 9.0


@pytest.mark.parametrize("wrong", ["silverman", 0.0, -1.0, np.nan])
def test_a_width_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match=f"bandwidth={wrong!r}"):
        rbf_theta(np.eye(3), wrong)
