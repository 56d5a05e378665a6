"""Several resolutions: by hand, against scipy's Ward, nesting, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage, linkage
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.cluster import resolutions
from likewise.cluster.resolutions import join_centers
from likewise.evaluation import kmeans_error


def towns(seed, n_rows=10):
    """Two continents of three towns each: (rows, continent, town)."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0, 0], [9, 0], [0, 9], [200, 0], [212, 0], [200, 12]], dtype=float)
    town = np.repeat(np.arange(6), n_rows)
    return centers[town] + rng.normal(scale=0.1, size=(len(town), 2)), town // 3, town


def test_two_centers_join_at_the_root_of_twice_the_error_added():
    # 3 rows at 0 and 1 row at 4: mean 1, error 3 * 1 + 9 = 12
    assert_allclose(join_centers(np.array([[0.0], [4.0]]), np.array([3, 1])), [[0, 1, 24**0.5, 2]])


def test_heavy_centers_join_later():
    centers = np.array([[0.0], [1.0], [2.1]])
    assert_array_equal(join_centers(centers, np.ones(3))[0, :2], [0, 1])
    assert_array_equal(join_centers(centers, np.array([90, 90, 1]))[0, :2], [1, 2])


def test_continents_and_towns_come_from_one_space(seed):
    Z, continent, town = towns(seed)
    found = resolutions(Z, [6, 2], random_state=seed)
    assert found.n_clusters == (2, 6)
    assert adjusted_rand_score(continent, found.labels[2]) == 1.0
    assert adjusted_rand_score(town, found.labels[6]) == 1.0
    assert adjusted_rand_score(continent, found.nested(2)) == 1.0
    assert_array_equal(found.sizes, np.full(6, 10))
    assert found.linkage[-1, 2] > 10 * found.linkage[-2, 2]


@given(st.integers(0, 10_000), st.integers(2, 12))
@settings(max_examples=40)
def test_equal_weights_give_the_tree_of_scipy(seed, k):
    centers = np.random.default_rng(seed).normal(size=(k, 3))
    assert_allclose(join_centers(centers, np.ones(k)), linkage(centers, "ward"), atol=1e-8)


@given(st.integers(0, 10_000), st.integers(2, 8))
@settings(max_examples=15)
def test_a_height_is_the_error_that_its_join_adds(seed, k):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 2))
    found = resolutions(Z, [k], n_init=1, random_state=seed)
    assert is_valid_linkage(found.linkage)
    assert is_monotonic(found.linkage)
    errors = [kmeans_error(Z, found.nested(j)) for j in range(k, 0, -1)]
    assert_allclose(found.linkage[:, 2] ** 2 / 2, np.diff(errors), rtol=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_cuts_are_nested_and_as_many_as_asked(seed):
    Z = np.random.default_rng(seed).normal(size=(40, 2))
    found = resolutions(Z, [3, 7], n_init=1, random_state=seed)
    for k in range(1, 7):
        coarse, fine = found.nested(k), found.nested(k + 1)
        assert len(np.unique(coarse)) == k
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == k + 1  # each fine in one
    assert adjusted_rand_score(found.nested(7), found.labels[7]) == 1.0


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_scale_and_order_of_centers_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    centers, sizes = rng.normal(size=(7, 2)), rng.integers(1, 30, 7)
    heights = join_centers(centers, sizes)[:, 2]
    order = rng.permutation(7)
    assert_allclose(join_centers(3 * centers[order] + 1, sizes[order])[:, 2], 3 * heights)


def test_each_resolution_is_a_k_means_of_its_own(seed):
    Z, *_ = towns(seed)
    found = resolutions(Z, [4], random_state=seed)
    peer = KMeans(4, n_init=10, random_state=np.random.RandomState(seed)).fit(Z)
    assert_array_equal(found.labels[4], peer.labels_)
    assert_allclose(found.centers, peer.cluster_centers_)


def test_a_single_cluster_has_an_empty_tree():
    found = resolutions([[0.0], [1.0]], [1], random_state=0)
    assert found.linkage.shape == (0, 4)
    assert_array_equal(found.nested(1), [0, 0])


@pytest.mark.parametrize("wrong", [[], [0, 2], [2, 41]])
def test_numbers_of_clusters_that_cannot_be_are_named(wrong):
    with pytest.raises(ValueError, match="must be numbers from 1 to the 40 rows"):
        resolutions(np.zeros((40, 1)), wrong)


def test_the_tree_cannot_be_cut_finer_than_its_foot():
    found = resolutions(towns(0)[0], [3], n_init=1, random_state=0)
    with pytest.raises(ValueError, match="n_clusters == 4, must be <= 3"):
        found.nested(4)
