"""Steps over any array library: against NumPy's own paths, here and in torch."""

import numpy as np
import pytest
from array_api_compat import array_namespace
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.kernel_learning import spectral
from likewise.kernels import rbf, self_tuning_gaussian
from likewise.kernels import sq_distances as exact_sq_distances
from likewise.kernels.distances import smallest_columns
from likewise.numerics import array_maps

seeds = st.integers(0, 10_000)
LIBRARIES = ("numpy", "torch")


@pytest.fixture(params=LIBRARIES)
def make(request):
    """From a NumPy array to one of the library."""
    if request.param == "numpy":
        return np.asarray
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    return torch.as_tensor


def back(array):
    return np.asarray(array)


def test_rows_go_to_the_nearest_center_and_the_first_of_equals(make):
    X = make(np.array([[0.0], [1.0], [3.0]]))
    labels, sq_dists = array_maps.assign_rows(X, make(np.array([[0.0], [2.0], [4.0]])))
    assert_array_equal(back(labels), [0, 0, 1])
    assert_allclose(back(sq_dists), [0, 1, 1])


def test_sums_of_clusters_by_hand(make):
    X = make(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    sums, sizes = array_maps.cluster_sums(X, make(np.array([2, 0, 2])), 3)
    assert_array_equal(back(sums), [[3, 4], [0, 0], [6, 8]])
    assert_array_equal(back(sizes), [1, 0, 2])


@given(seeds)
@settings(max_examples=10)
def test_distances_and_kernels_are_those_of_the_exact_paths(make, seed):
    rng = np.random.RandomState(seed)
    X, Y = rng.normal(size=(9, 4)) + 50, rng.normal(size=(12, 4)) + 50
    X[0] = Y[3]
    A, B = make(X), make(Y)
    assert_allclose(back(array_maps.sq_distances(A, B)), exact_sq_distances(X, Y), atol=1e-10)
    assert_allclose(back(array_maps.gaussian(A, B, 3.0)), rbf(X, Y, theta=3.0), atol=1e-10)
    for count_self in (True, False):
        kernel = self_tuning_gaussian(Y, n_neighbors=3, count_self=count_self)
        tuned = array_maps.self_tuning(A, B, make(kernel.sigmas), B, 3, count_self, 0.1)
        assert_allclose(back(tuned), kernel(X, Y), atol=1e-9)


@given(seeds)
@settings(max_examples=10)
def test_combinations_of_landmarks_are_those_of_spectral_reweighting(make, seed):
    rng = np.random.RandomState(seed)
    L, X = rng.normal(size=(20, 6)), rng.normal(size=(7, 6))
    own, cross, gram = (X**2).sum(axis=1), X @ L.T, L @ L.T
    coordinates = rng.normal(size=(20, 3))
    nearest, weights = spectral.local_weights(own, cross, gram, 4)
    expected = np.einsum("nk,nkq->nq", weights, coordinates[nearest])
    assert_allclose(spectral.combine(coordinates, nearest, weights), expected)
    found = array_maps.combine_nearest(make(own), make(cross), make(gram), make(coordinates), 4)
    assert_allclose(back(found), expected, atol=1e-8)


@given(seeds, st.integers(1, 6))
@settings(max_examples=15)
def test_the_smallest_columns_come_first_and_equals_in_order(make, seed, k):
    values = np.random.RandomState(seed).randint(0, 4, (5, 6)).astype(float)
    assert_array_equal(
        back(array_maps.nearest_columns(make(values), k)), smallest_columns(values, k)
    )


def test_float32_stays_float32(make):
    X = make(np.ones((3, 2), dtype=np.float32))
    for found in (
        array_maps.assign_rows(X, X)[1],
        array_maps.cluster_sums(X, array_maps.assign_rows(X, X)[0], 3)[0],
        array_maps.gaussian(X, X, 1.0),
    ):
        assert found.dtype == array_namespace(X).float32


def test_what_is_numpy_s_is_here_and_what_is_not_is_elsewhere():
    assert not array_maps.is_array_elsewhere(np.ones(2))
    assert not array_maps.is_array_elsewhere([1.0])
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    assert array_maps.is_array_elsewhere(torch.ones(2))


def test_a_device_that_is_not_there_is_one_line(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    assert array_maps.find_device(torch, "cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device='cuda:1': torch sees no GPU here\. Leave"):
        array_maps.find_device(torch, "cuda:1")
    with pytest.raises(ValueError, match=r"device='gpu' is none that torch knows\. Try 'cuda'"):
        array_maps.find_device(torch, "gpu")
