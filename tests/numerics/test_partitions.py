import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.numerics.partitions import cluster_means, refill_empty


def test_means_are_weighted_and_an_empty_cluster_has_mean_zero():
    X = np.array([[0.0], [3.0], [5.0]])
    means = cluster_means(X, np.array([0, 0, 2]), 3, weights=np.array([1.0, 2.0, 1.0]))
    assert_allclose(means, [[2], [0], [5]])


def test_an_empty_cluster_takes_the_costliest_row_that_is_not_alone():
    labels = refill_empty(np.array([0, 0, 0, 1]), np.array([1.0, 3.0, 2.0, 9.0]), 3)
    assert_array_equal(labels, [0, 2, 0, 1])


@given(st.integers(0, 10_000))
def test_every_cluster_has_a_row_and_as_few_rows_move_as_needed(seed):
    rng = np.random.RandomState(seed)
    n_clusters = rng.randint(1, 8)
    n = rng.randint(n_clusters, 20)
    labels = rng.randint(n_clusters, size=n)
    filled = refill_empty(labels, rng.rand(n), n_clusters)
    n_empty = n_clusters - len(np.unique(labels))
    assert len(np.unique(filled)) == n_clusters
    assert np.count_nonzero(filled != labels) == n_empty
