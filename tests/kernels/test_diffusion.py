"""Diffusion coordinates and their extension to new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from likewise.kernels import (
    diffusion_coordinates,
    interpolation_weights,
    neighbor_graph,
    normalized_adjacency,
    normalized_similarity,
    sq_distances,
)
from likewise.kernels.diffusion import leading_eigenpairs

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=30, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def kernel_by_dense_eigh(W, q, t):
    """Inner products of the q leading coordinates: free of the signs and turns of eigenvectors."""
    P, degrees = normalized_adjacency(W)
    values, vectors = eigh(P.toarray())
    values, vectors = values[::-1][:q], vectors[:, ::-1][:, :q]
    values, vectors = values[values > 1e-10], vectors[:, values > 1e-10]
    Z = vectors * values**t / np.sqrt(degrees)[:, None]
    K = Z @ Z.T
    return K / K.diagonal().mean()


def test_by_hand_a_path_of_three():
    """P has eigenvalues 1, 0, -1: only the constant is left."""
    Z, values = diffusion_coordinates([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_allclose(values, [1])
    assert_allclose(Z, np.ones((3, 1)))


def test_by_hand_two_pairs_are_two_corners():
    W = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0.0]])
    Z, values = diffusion_coordinates(W, n_components=1)
    assert_allclose(values, [1, 1])
    assert_allclose(Z @ Z.T, np.kron(np.eye(2), np.ones((2, 2))), atol=1e-12)


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 30), st.sampled_from([0.5, 2, 3]))
def test_coordinates_agree_with_a_dense_eigendecomposition(seed, q, t):
    W = neighbor_graph(draw_rows(seed), 6)
    Z, _ = diffusion_coordinates(W, n_components=q, steps=t)
    assert_allclose(Z @ Z.T, kernel_by_dense_eigh(W, q, t), atol=1e-8)


@pytest.mark.parametrize("trace", [1e-3, 1e-9, 1e-200])
def test_pieces_that_next_to_nothing_connects_agree_with_a_dense_eigendecomposition(trace):
    weights = np.where(np.arange(449) % 45 == 44, trace, 1.0)  # ten chains, all but apart
    W = csr_array(diags_array([weights, weights], offsets=[-1, 1]))
    P, _ = normalized_adjacency(W)
    values, vectors = leading_eigenpairs(P, 12)
    assert_allclose(values, np.minimum(eigh(P.toarray())[0][::-1][:12], 1), atol=1e-10)
    assert_allclose(P @ vectors, vectors * values, atol=1e-7)
    assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-8)


@pytest.mark.parametrize("d", [1, 8])
def test_sparse_solver_agrees_with_the_dense_one_and_repeats_itself(d):
    W = neighbor_graph(draw_rows(0, n=700, d=d), 10)
    Z, _ = diffusion_coordinates(W, n_components=12)
    assert_allclose(Z @ Z.T, kernel_by_dense_eigh(W, 12, 3), atol=1e-7)
    assert_array_equal(diffusion_coordinates(W, n_components=12)[0], Z)


def test_eigenpairs_of_a_graph_in_pieces_are_eigenpairs_of_the_whole():
    X = np.concatenate([draw_rows(0, n=500), 100 + draw_rows(1, n=60), 200 + draw_rows(2, n=20)])
    P, _ = normalized_adjacency(neighbor_graph(X, 8))
    values, vectors = leading_eigenpairs(P, 15)
    assert_allclose(values[:3], 1, atol=1e-12)
    assert values[3] < 1 - 1e-6
    assert_allclose(P @ vectors, vectors * values, atol=1e-10)
    assert_allclose(vectors.T @ vectors, np.eye(15), atol=1e-10)
    assert_allclose(values, eigh(P.toarray())[0][::-1][:15], atol=1e-10)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 40))
def test_weights_are_a_mean_over_at_most_k_nearest_rows(seed, k):
    rows, new = draw_rows(seed), draw_rows(seed + 1, n=9)
    weights = interpolation_weights(new, rows, k).toarray()
    assert_allclose(weights.sum(axis=1), 1)
    assert weights.min() >= 0
    nearest = sq_distances(new, rows).argsort(axis=1)[:, : min(k, 29)]
    assert_allclose(np.take_along_axis(weights, nearest, axis=1).sum(axis=1), 1)


def test_a_row_equally_far_from_all_its_neighbors_maps_to_their_mean():
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    assert_allclose(interpolation_weights([[0.0, 0.0]], corners, 3).toarray(), [[0.25] * 4])


@given(SEEDS, st.sampled_from([40, 450]), st.booleans())
@settings(max_examples=12)
def test_full_weights_have_the_eigenpairs_of_the_same_weights_stored_sparsely(seed, n, in_pieces):
    """450 rows go by Lanczos, 40 by all eigenvectors; two pieces have no row tied to all others."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 6))
    A = A @ A.T
    if in_pieces:
        A[: n // 3, n // 3 :] = A[n // 3 :, : n // 3] = 0
    sparse = normalized_adjacency(A)[0]
    full = normalized_similarity(A)
    assert_allclose(full, sparse.toarray(), rtol=1e-12)
    values, vectors = leading_eigenpairs(full, 4)
    others, their_vectors = leading_eigenpairs(sparse, 4)
    assert_allclose(values, others, rtol=1e-9)
    assert_allclose(full @ vectors, vectors * values, atol=1e-8)
    assert_allclose(vectors @ vectors.T, their_vectors @ their_vectors.T, atol=1e-5)


def test_full_weights_give_no_more_vectors_than_they_have_and_one_of_every_piece():
    assert_allclose(leading_eigenpairs(np.full((6, 6), 1 / 6), 3)[0], [1])
    values, vectors = leading_eigenpairs(np.kron(np.eye(3), np.full((2, 2), 1 / 2)), 2)
    assert_allclose(values, [1, 1, 1])
    assert_allclose(vectors @ vectors.T, np.kron(np.eye(3), np.full((2, 2), 1 / 2)), atol=1e-12)


def test_a_row_without_weights_is_a_piece_of_its_own_in_full_weights_too():
    A = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    assert_allclose(normalized_similarity(A), normalized_adjacency(A)[0].toarray())
