"""Kernels as affinities for scikit-learn's spectral clustering."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise.cluster.affinity import THREAD, kernel_affinity


def cluster(affinity, n_clusters):
    spectral = SpectralClustering(n_clusters, affinity="precomputed", random_state=0)
    return spectral.fit_predict(affinity)


def test_cosines_are_kept_and_obtuse_angles_count_as_right_ones():
    Z = np.array([[2.0, 0.0], [3.0, 3.0], [-1.0, 0.0]])
    expected = [[1, np.sqrt(0.5), 0], [np.sqrt(0.5), 1, 0], [0, 0, 1]]
    assert_allclose(kernel_affinity(Z @ Z.T), np.array(expected) + THREAD)


def test_a_row_without_length_is_like_no_other():
    K = np.array([[0.0, 0.3, 0.0], [0.3, 1.0, 0.5], [0.0, 0.5, 1.0]])
    assert_allclose(kernel_affinity(K)[0], np.array([1, 0, 0]) + THREAD)


@given(st.integers(0, 10_000), st.sampled_from([1e-12, 1e12]))
def test_affinities_are_symmetric_bounded_and_free_of_units(seed, unit):
    K = np.random.default_rng(seed).normal(size=(8, 8))
    K = K + K.T  # indefinite on purpose
    A = kernel_affinity(K)
    assert_array_equal(A, A.T)
    assert A.min() >= THREAD
    assert A.max() <= 1 + THREAD
    assert_allclose(kernel_affinity(K * unit), A)


def test_a_kernel_with_negative_entries_is_clustered_where_scikit_learn_alone_fails():
    X, y = make_blobs(120, centers=4, n_features=5, random_state=0)
    K = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    assert K.min() < 0
    with (
        pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"),
        pytest.raises(ValueError, match="NaN"),
    ):
        cluster(K, 4)
    assert adjusted_rand_score(y, cluster(kernel_affinity(K), 4)) == 1.0


def test_a_perfect_kernel_of_blocks_is_clustered_without_a_warning():
    y = np.repeat(np.arange(4), 25)
    K = (y[:, None] == y).astype(float)
    assert adjusted_rand_score(y, cluster(kernel_affinity(K), 4)) == 1.0  # warnings are errors


def test_what_is_no_kernel_is_named():
    with pytest.raises(ValueError, match="square"):
        kernel_affinity(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"S\[0, 1\] = 2 but S\[1, 0\] = 1"):
        kernel_affinity([[1.0, 2.0], [1.0, 1.0]])
