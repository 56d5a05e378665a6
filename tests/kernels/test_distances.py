"""Squared distances and nearest rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist

from likewise.kernels import distances
from likewise.kernels.distances import nearest_rows, smallest_columns, sq_distances

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=30, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def nearest_by_sorting(X, rows, k, exclude_self=False):
    sq = cdist(X, rows, "sqeuclidean")
    if exclude_self:
        np.fill_diagonal(sq, np.inf)
    return sq.argsort(axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("spread", [1e-6, 1.0])
def test_distances_agree_with_differences_however_far_from_the_origin(offset, spread):
    X = offset + spread * draw_rows(0)
    X[7] = X[3]
    assert_allclose(sq_distances(X, X[:9].copy()), cdist(X, X[:9], "sqeuclidean"), rtol=1e-7)
    assert sq_distances(X)[3, 7] == 0


def test_distances_between_far_tight_groups_keep_their_digits():
    X = np.concatenate([1e-5 * draw_rows(0), 1e4 + 1e-5 * draw_rows(1)])
    assert_allclose(sq_distances(X), cdist(X, X, "sqeuclidean"), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_csr_rows_have_the_distances_of_dense_rows(kind, dtype):
    X = draw_rows(0).astype(dtype) * (draw_rows(1) > 0)
    X[4] = X[2]
    dense, sparse = sq_distances(X), sq_distances(kind(X))
    assert_allclose(sparse, dense, rtol=1e-7, atol=1e-12)
    assert_array_equal(sparse == 0, dense == 0)
    assert dense.dtype == sparse.dtype == np.float64
    assert_allclose(sq_distances(kind(X), X[:3]), dense[:, :3], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_rows_with_themselves_are_exactly_symmetric(dtype):
    sq = sq_distances(draw_rows(0, n=200, d=17).astype(dtype))
    assert_array_equal(sq, sq.T)
    assert_array_equal(sq.diagonal(), 0)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 9), st.booleans())
def test_nearest_rows_are_those_of_a_full_sort(seed, k, exclude_self):
    X = draw_rows(seed)
    indices, sq_dists = nearest_rows(X, X, k, exclude_self=exclude_self)
    assert_array_equal(indices, nearest_by_sorting(X, X, k, exclude_self))
    assert_allclose(sq_dists, np.square(X[:, None] - X[indices]).sum(axis=2), rtol=1e-7)


@settings(max_examples=25)
@given(SEEDS, st.integers(0, 6))
def test_ties_go_to_the_lower_column(seed, k):
    values = np.random.default_rng(seed).integers(0, 3, size=(8, 6)).astype(float)
    assert_array_equal(smallest_columns(values, k), values.argsort(axis=1, kind="stable")[:, :k])


def test_equal_rows_are_neighbors_but_no_row_is_its_own():
    indices, sq_dists = nearest_rows(np.ones((4, 2)), np.ones((4, 2)), 2, exclude_self=True)
    assert_array_equal(indices, [[1, 2], [0, 2], [0, 1], [0, 1]])
    assert_array_equal(sq_dists, 0)


@settings(max_examples=10)
@given(SEEDS)
def test_the_size_of_a_block_does_not_matter(seed):
    X = draw_rows(seed)
    whole = nearest_rows(X, X, 4, exclude_self=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "BLOCK_ENTRIES", 70)
        assert len(list(distances.row_blocks(30, 30))) == 15
        in_blocks = nearest_rows(X, X, 4, exclude_self=True)
    assert_array_equal(in_blocks[0], whole[0])
    assert_allclose(in_blocks[1], whole[1], rtol=1e-9)
