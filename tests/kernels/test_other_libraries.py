"""Distances and kernels of torch tensors: they agree with NumPy's, and stay what they are."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise import kernels
from likewise.kernels import (
    cosine,
    diffusion_coordinates,
    interpolate,
    kernel_diagonal,
    linear,
    nearest_rows,
    neighbor_graph,
    polynomial,
    rbf,
    self_tuning_gaussian,
    smallest_columns,
    sq_distances,
)
from likewise.kernels.gaussian import SelfTuningGaussian

torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
seeds = st.integers(0, 10_000)
POINTWISE = (linear, partial(polynomial, degree=2), cosine, partial(rbf, theta=3.0))


def draw_rows(seed):
    rng = np.random.RandomState(seed)
    X, Y = rng.normal(size=(9, 4)) + 50, rng.normal(size=(12, 4)) + 50
    X[0] = Y[3]
    return X, Y


@given(seeds)
@settings(max_examples=10)
def test_distances_and_kernels_are_those_of_numpy(seed):
    X, Y = draw_rows(seed)
    A, B = torch.as_tensor(X), torch.as_tensor(Y)
    assert_allclose(sq_distances(A, B), sq_distances(X, Y), atol=1e-10)
    assert_allclose(sq_distances(A), sq_distances(X), atol=1e-10)
    for kernel in POINTWISE:
        assert_allclose(kernel(A, B), kernel(X, Y), rtol=1e-9, atol=1e-10)
        assert_allclose(kernel_diagonal(kernel, A), kernel_diagonal(kernel, X), atol=1e-10)


@pytest.mark.parametrize("count_self", [True, False])
@given(seed=seeds)
@settings(max_examples=10)
def test_the_self_tuning_gaussian_is_that_of_numpy(count_self, seed):
    X, Y = draw_rows(seed)
    here = self_tuning_gaussian(Y, n_neighbors=3, count_self=count_self)
    B = torch.as_tensor(Y)
    there = SelfTuningGaussian(B, torch.as_tensor(here.sigmas), 3, count_self)
    A = torch.as_tensor(X)
    assert_allclose(there(A, B), here(X, Y), atol=1e-9)
    assert_allclose(there(A), here(X), atol=1e-9)
    assert there(A, B)[0, 3] == 1  # the same row
    assert_allclose(kernel_diagonal(there, A), 1)


@given(seeds, st.integers(1, 6))
@settings(max_examples=15)
def test_the_smallest_columns_come_first_and_equals_in_order(seed, k):
    values = np.random.RandomState(seed).randint(0, 4, (5, 6)).astype(float)
    assert_array_equal(smallest_columns(torch.as_tensor(values), k), smallest_columns(values, k))


@given(seeds, st.integers(1, 6), st.sampled_from([768, 800]), st.sampled_from([4, 10_000]))
@settings(max_examples=15)
def test_of_many_columns_groups_are_looked_at_first_to_the_same_end(seed, k, n_columns, n_values):
    values = np.random.RandomState(seed).randint(0, n_values, (5, n_columns)).astype(float)
    assert_array_equal(smallest_columns(torch.as_tensor(values), k), smallest_columns(values, k))


def test_nearest_of_many_rows_are_those_of_numpy_whatever_the_block(monkeypatch):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(20, 4)) + 50, rng.normal(size=(400, 4)) + 50
    X[0] = Y[399]
    monkeypatch.setattr("likewise.kernels.distances.DEVICE_ENTRIES", 3000)
    A, B = torch.as_tensor(X), torch.as_tensor(Y)
    for found, expected in zip(nearest_rows(A, B, 3), nearest_rows(X, Y, 3)):
        assert_allclose(found, expected, rtol=1e-12)
    found = nearest_rows(B, B, 3, exclude_self=True)
    for one, expected in zip(found, nearest_rows(Y, Y, 3, exclude_self=True)):
        assert_allclose(one, expected, rtol=1e-6)
    assert nearest_rows(A, B, 1)[1][0] == 0  # from differences: nothing cancels


@given(seeds)
@settings(max_examples=10)
def test_nearest_rows_and_means_of_them_are_those_of_numpy(seed):
    X, Y = draw_rows(seed)
    A, B = torch.as_tensor(X), torch.as_tensor(Y)
    for found, expected in zip(nearest_rows(A, B, 5), nearest_rows(X, Y, 5)):
        assert_allclose(found, expected, atol=1e-10)
    coordinates, _ = diffusion_coordinates(neighbor_graph(Y, 3))
    found = interpolate(A, B, torch.as_tensor(coordinates), 4)
    assert_allclose(found, interpolate(X, Y, coordinates, 4), atol=1e-6)


def test_float32_stays_float32():
    X = torch.ones((3, 2), dtype=torch.float32)
    for kernel in (sq_distances, *POINTWISE):
        assert kernel(X, X).dtype == torch.float32
    assert nearest_rows(X, X, 2)[1].dtype == torch.float32


def test_blocks_of_tensors_are_put_together_again(monkeypatch):
    monkeypatch.setattr(kernels.distances, "DEVICE_ENTRIES", 8)
    X, Y = draw_rows(0)
    A, B = torch.as_tensor(X), torch.as_tensor(Y)
    assert_array_equal(nearest_rows(A, B, 2)[0], nearest_rows(X, Y, 2)[0])
    doubled = kernels.map_blocks(lambda rows: 2 * rows, A, 4, 4)
    assert_array_equal(doubled, 2 * X)
