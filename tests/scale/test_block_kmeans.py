"""k-means over blocks is Lloyd's k-means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import SpectralReweighting
from likewise.scale import BlockKMeans, as_blocks, mapped
from likewise.scale.block_kmeans import assign_rows, cluster_sums, lloyd, nearest_centers

seeds = st.integers(0, 10_000)


@parametrize_with_checks([BlockKMeans(n_init=2, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_two_rounds_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    found = lloyd(as_blocks(X, block_rows=2), np.array([[0.0], [2.0]]), max_iter=1, tol=0)
    assert_array_equal(found.centers, [[0.5], [5.5]])  # 1 is as near to both: the first takes it
    assert_array_equal(found.labels, [0, 0, 0, 1])
    assert found.inertia == 0.25 + 0.25 + 2.25 + 12.25
    found = lloyd(as_blocks(X, block_rows=3), np.array([[0.0], [2.0]]), max_iter=9, tol=0)
    assert_array_equal(found.centers, [[1.0], [9.0]])
    assert found.n_iter == 3


@given(seeds, st.integers(1, 60), st.booleans())
@settings(max_examples=25)
def test_it_is_one_machine_s_lloyd_from_the_same_start(seed, block_rows, far_away):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(60, 3)) + 1000 * far_away
    start = X[rng.permutation(60)[:4]]
    ours = BlockKMeans(4, init=start, tol=0).fit(as_blocks(X, block_rows=block_rows))
    theirs = KMeans(4, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-8)


def test_an_empty_cluster_gets_the_farthest_row_as_scikit_learn_has_it():
    X = np.array([[0.0], [1.0], [2.5], [10.0], [11.7], [30.0]])
    start = np.array([[1.0], [10.0], [500.0], [600.0]])
    for block_rows in (1, 2, 6):
        ours = BlockKMeans(4, init=start, tol=0).fit(as_blocks(X, block_rows=block_rows))
        theirs = KMeans(4, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


@given(seeds)
@settings(max_examples=10)
def test_more_rounds_never_raise_the_error(seed):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(80, 2))
    errors = [
        lloyd(as_blocks(X, block_rows=30), X[:5], max_iter=n, tol=0).inertia for n in range(1, 6)
    ]
    assert np.all(np.diff(errors) <= 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_the_order_of_magnitude_of_blocks_does_not_matter_to_labels(dtype):
    X, y = make_blobs(500, centers=5, cluster_std=0.5, random_state=3)
    X = (10 * X).astype(dtype)
    labels = [
        BlockKMeans(5, random_state=0).fit(as_blocks(X, block_rows=size)).labels_
        for size in (7, 100, 500)
    ]
    assert_array_equal(labels[0], labels[1])
    assert_array_equal(labels[0], labels[2])
    assert adjusted_rand_score(y, labels[0]) == 1


def test_sparse_and_dense_rows_and_threads_agree():
    X = np.random.RandomState(0).binomial(1, 0.2, (200, 6)).astype(float)
    dense = BlockKMeans(3, random_state=0).fit(X)
    sparse = BlockKMeans(3, random_state=0, n_jobs=2).fit(as_blocks(csr_array(X), block_rows=60))
    assert_array_equal(sparse.labels_, dense.labels_)
    assert_array_equal(sparse.predict(csr_array(X)), dense.predict(X))


def test_recomputed_codes_cluster_as_stored_ones():
    X, _ = make_blobs(600, centers=4, random_state=1)
    space = SpectralReweighting(n_landmarks=40, random_state=0).fit(X)
    again = BlockKMeans(4, random_state=0).fit(mapped(space, as_blocks(X, block_rows=100)))
    stored = BlockKMeans(4, random_state=0).fit(as_blocks(space.transform(X), block_rows=100))
    assert_array_equal(again.labels_, stored.labels_)


def test_a_sample_starts_it_and_all_rows_finish_it():
    X, y = make_blobs(4000, centers=6, cluster_std=0.4, random_state=2)
    model = BlockKMeans(6, n_rows=200, random_state=0).fit(as_blocks(X, block_rows=500))
    assert adjusted_rand_score(y, model.labels_) == 1
    means = [X[model.labels_ == c].mean(axis=0) for c in range(6)]
    assert_allclose(model.cluster_centers_, means)


def test_nearest_centers_by_hand():
    found = nearest_centers(as_blocks([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [3.0, 3.0]]))
    assert_array_equal(found.labels, [0, 1])
    assert found.inertia == 2.0


@pytest.mark.parametrize(
    "bad",
    [{"n_clusters": 0}, {"max_iter": 0}, {"tol": -1.0}, {"init": "random"}, {"init": np.eye(3)}],
    ids=str,
)
def test_bad_settings_end_in_one_line(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        BlockKMeans(**({"n_clusters": 2} | bad)).fit(np.eye(4))


def test_other_features_than_those_fitted_are_refused():
    model = BlockKMeans(2, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match="X has 3 features, but BlockKMeans is expecting 4"):
        model.predict(as_blocks(np.eye(3)))


def in_torch(array):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    return torch.as_tensor(array)


@pytest.mark.parametrize("make", [np.asarray, in_torch])
def test_rows_go_to_the_nearest_center_and_the_first_of_equals(make):
    X = make(np.array([[0.0], [1.0], [3.0]]))
    labels, sq_dists = assign_rows(X, make(np.array([[0.0], [2.0], [4.0]])))
    assert_array_equal(np.asarray(labels), [0, 0, 1])
    assert_allclose(np.asarray(sq_dists), [0, 1, 1])


@pytest.mark.parametrize("make", [np.asarray, in_torch])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_clusters_by_hand_in_the_type_of_the_rows(make, dtype):
    X = make(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=dtype))
    sums, sizes = cluster_sums(X, make(np.array([2, 0, 2])), 3)
    assert sums.dtype == X.dtype
    assert_array_equal(np.asarray(sums), [[3, 4], [0, 0], [6, 8]])
    assert_array_equal(np.asarray(sizes), [1, 0, 2])
