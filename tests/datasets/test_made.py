import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.datasets import make_chessboard, make_double_spiral, make_metric_clusters, make_xor

MAKERS = [
    make_xor,
    make_chessboard,
    make_double_spiral,
    lambda *args, **kw: make_metric_clusters("euclidean", *args, **kw),
    lambda *args, **kw: make_metric_clusters("mahalanobis", *args, **kw),
]
CITYBLOCK = {"manhattan": "cityblock"}


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=20)
@given(st.integers(3, 300), st.integers(0, 2**31))
def test_sizes_types_and_balance(make, n_samples, seed):
    data = make(n_samples, random_state=seed)
    assert len(data.X) == len(data.y) == n_samples
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert np.isfinite(data.X).all()
    sizes = np.bincount(data.y)
    assert sizes.max() <= -(-n_samples // len(sizes)) + 8  # chessboard: 8 squares of each color


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides(make):
    one, two, other = (make(60, random_state=seed) for seed in (3, 3, 4))
    assert_array_equal(one.X, two.X)
    assert_array_equal(one.y, two.y)
    assert (one.X != other.X).any()


def between_over_within(X, y):
    distances, same = squareform(pdist(X)), y[:, None] == y
    off_diagonal = ~np.eye(len(y), dtype=bool)
    return distances[~same].mean() / distances[same & off_diagonal].mean()


def test_xor_has_the_class_ratio_of_the_paper():
    data = make_xor(2000, random_state=0)
    assert_allclose(between_over_within(data.X, data.y), 1.246, atol=0.01)


def test_without_spread_xor_is_its_four_corners():
    data = make_xor(10, spread=0, random_state=0)
    assert_array_equal(np.unique(data.X, axis=0), [[-1, -1], [-1, 1], [1, -1], [1, 1]])
    assert_array_equal(data.y, data.X[:, 0] * data.X[:, 1] < 0)


@given(st.integers(1, 6), st.floats(0, 0.9), st.integers(0, 100))
def test_a_chessboard_point_lies_inside_a_square_of_its_color(n_cells, gap, seed):
    data = make_chessboard(90, n_cells=n_cells, gap=gap, random_state=seed)
    squares, inside = np.divmod(data.X, 1)
    assert_array_equal(squares.sum(axis=1) % 2, data.y)
    assert inside.min() >= gap / 2 - 1e-12
    assert inside.max() <= 1 - gap / 2 + 1e-12
    assert len(np.unique(squares, axis=0)) == n_cells**2
    assert squares.max() == n_cells - 1


@pytest.mark.parametrize("n_features", [2, 3])
def test_neighbors_follow_the_arms_of_a_spiral_and_k_means_does_not(n_features, seed):
    data = make_double_spiral(n_features=n_features, random_state=seed)
    distances = cdist(data.X, data.X) + np.diag(np.full(len(data.X), np.inf))
    assert_array_equal(data.y[distances.argmin(axis=1)], data.y)
    clusters = KMeans(2, n_init=5, random_state=seed).fit_predict(data.X)
    assert adjusted_rand_score(data.y, clusters) < 0.1


def test_the_arms_are_half_a_turn_apart():
    X = make_double_spiral(40, noise=0, n_features=2).X
    assert_allclose(X[:20], -X[20:], atol=1e-12)
    assert_allclose(np.linalg.norm(X[[19, 39]], axis=1), 1)


def test_a_spiral_has_two_or_three_features():
    with pytest.raises(ValueError, match="n_features = 4"):
        make_double_spiral(n_features=4)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_every_point_is_nearest_to_its_own_center(metric, seed):
    data = make_metric_clusters(metric, random_state=seed)
    centers, scipy_name = data.extras["centers"], CITYBLOCK.get(metric, metric)
    assert_array_equal(cdist(data.X, centers, scipy_name).argmin(axis=1), data.y)
    assert sorted(np.bincount(data.y)) == [66, 67, 67]
    assert pdist(centers, scipy_name).min() > 1  # a third of the widest of 1000 normal pairs


def test_the_strips_are_long_and_thin():
    data = make_metric_clusters("mahalanobis", random_state=0)
    assert_array_equal(np.bincount(data.y), [67, 67, 66])
    assert np.abs(data.X[:, 1] - 5 * data.y).max() <= 0.1
    assert data.X[:, 0].min() < 5
    assert data.X[:, 0].max() > 95


def test_an_unknown_metric_is_an_error():
    with pytest.raises(
        ValueError, match=r"metric = 'cosine' is not known\. Choose one of euclidean"
    ):
        make_metric_clusters("cosine")
