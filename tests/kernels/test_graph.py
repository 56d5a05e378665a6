"""Neighbor graphs, similarity graphs and the normalized Laplacian."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from likewise.kernels import (
    laplacian,
    neighbor_graph,
    normalized_adjacency,
    self_tuning_graph,
    similarity_graph,
)

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=20, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def draw_similarity(seed, n=12):
    """Symmetric, indefinite, with distinct entries."""
    S = draw_rows(seed, n, n)
    return S + S.T


def test_by_hand_three_points_on_a_line():
    W = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
    assert_array_equal(W.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    root = np.sqrt(0.5)
    expected = [[1.1, -root, 0], [-root, 1.1, -root], [0, -root, 1.1]]
    assert_allclose(laplacian(W, delta=0.1).toarray(), expected)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 25))
def test_graph_agrees_with_scikit_learn(seed, k):
    X = draw_rows(seed)
    chosen = kneighbors_graph(X, min(k, 19), include_self=False).toarray()
    assert_array_equal(neighbor_graph(X, k).toarray(), np.maximum(chosen, chosen.T))
    assert_array_equal(neighbor_graph(csr_array(X), k).toarray(), np.maximum(chosen, chosen.T))


@settings(max_examples=25)
@given(SEEDS, st.floats(0.01, 100), st.floats(-100, 100))
def test_scale_shift_and_order_of_the_rows_do_not_matter(seed, factor, shift):
    X = draw_rows(seed)
    W = neighbor_graph(X, 3).toarray()
    assert_array_equal(neighbor_graph(factor * X + shift, 3).toarray(), W)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_array_equal(neighbor_graph(X[order], 3).toarray(), W[np.ix_(order, order)])


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(1, 6))
def test_equal_rows_each_choose_k_others_and_never_themselves(n, k):
    W = neighbor_graph(np.ones((n, 2)), k).toarray()
    assert_array_equal(W, W.T)
    assert_array_equal(W.diagonal(), 0)
    assert (W.sum(axis=1) >= min(k, n - 1)).all()
    assert set(np.unique(W)) <= {0.0, 1.0}


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 15))
def test_similarity_graph_keeps_the_most_similar_of_either_end(seed, k):
    S = draw_similarity(seed)
    ranked = S.copy()
    np.fill_diagonal(ranked, -np.inf)
    last = np.sort(ranked, axis=1)[:, ::-1][:, [min(k, 11) - 1]]
    joined = (ranked >= last) | (ranked >= last).T
    np.fill_diagonal(joined, False)
    expected = np.where(joined, S, 0)
    assert_array_equal(similarity_graph(S, k).toarray(), expected)
    assert_array_equal(similarity_graph(csr_matrix(S), k).toarray(), expected)


@settings(max_examples=25)
@given(SEEDS)
def test_similarity_that_falls_with_distance_gives_the_neighbor_graph(seed):
    X = draw_rows(seed)
    W = similarity_graph(np.exp(-cdist(X, X)), 4)
    assert_array_equal((W != 0).toarray(), neighbor_graph(X, 4).toarray() != 0)


def test_a_sparse_similarity_offers_only_what_it_stores():
    S = np.zeros((4, 4))
    S[0, 1] = S[1, 0] = -2.0
    S[1, 2] = S[2, 1] = 1.0
    W = similarity_graph(csr_array(S), 2)
    assert_array_equal(W.toarray(), S)
    assert W.nnz == 4


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_without_a_number_of_neighbors_every_similarity_off_the_diagonal_stays(convert):
    S = draw_similarity(0)
    assert_array_equal(similarity_graph(convert(S), None).toarray(), S - np.diag(S.diagonal()))


@settings(max_examples=25)
@given(SEEDS, st.floats(0, 1))
def test_laplacian_of_an_indefinite_similarity_is_positive_definite(seed, delta):
    S = draw_similarity(seed)
    S[3] = S[:, 3] = 0.0  # nobody is like row 3
    L = laplacian(similarity_graph(S, 4), delta=delta).toarray()
    values = np.linalg.eigvalsh(L)
    assert_array_equal(L, L.T)
    assert values[0] >= delta - 1e-12
    assert values[-1] <= 2 + delta + 1e-12


@settings(max_examples=25)
@given(SEEDS)
def test_square_roots_of_the_degrees_are_in_the_null_space_when_delta_is_zero(seed):
    W = neighbor_graph(draw_rows(seed), 3)
    P, degrees = normalized_adjacency(W)
    assert_allclose(degrees, W.toarray().sum(axis=1))
    assert_allclose(laplacian(W, delta=0.0) @ np.sqrt(degrees), 0, atol=1e-12)
    assert_allclose(P @ np.sqrt(degrees), np.sqrt(degrees), atol=1e-12)


def test_an_isolated_row_costs_delta():
    L = laplacian(np.zeros((2, 2)), delta=0.2)
    assert_allclose(L.toarray(), 0.2 * np.eye(2))


def test_scaling_the_weights_leaves_the_laplacian():
    W = similarity_graph(draw_similarity(0), 4)
    assert_allclose(laplacian(7 * W).toarray(), laplacian(W).toarray())


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_an_asymmetric_similarity_is_named_at_its_worst_entry(convert):
    S = np.eye(3)
    S[0, 2] = 5.0
    with pytest.raises(ValueError, match=r"S\[0, 2\] = 5 but S\[2, 0\] = 0"):
        similarity_graph(convert(S))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: similarity_graph(np.ones((2, 3))), r"shape \(2, 3\)"),
        (lambda: similarity_graph([[1.0, np.nan], [np.nan, 1.0]]), "NaN"),
        (lambda: neighbor_graph(np.eye(3), 0), "n_neighbors=0"),
        (lambda: laplacian(np.eye(2), delta=-1), "delta=-1"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 25), st.integers(1, 9))
def test_self_tuning_weights_are_those_of_the_formula_on_the_neighbor_graph(
    seed, k, scale_neighbor
):
    X = draw_rows(seed)
    W = self_tuning_graph(X, k, scale_neighbor=scale_neighbor).toarray()
    dists = cdist(X, X)
    scales = np.sort(dists, axis=1)[:, min(scale_neighbor, k, 19)]  # the row itself comes first
    expected = np.exp(-(dists**2) / np.outer(scales, scales)) * neighbor_graph(X, k).toarray()
    assert_allclose(W, expected, rtol=1e-6, atol=1e-12)
    assert_array_equal(W, W.T)
    assert_allclose(self_tuning_graph(csr_array(X), k, scale_neighbor=scale_neighbor).toarray(), W)
    assert_allclose(self_tuning_graph(9 * X + 5, k, scale_neighbor=scale_neighbor).toarray(), W)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 25), st.floats(0, 1))
def test_edges_that_one_row_has_alone_are_weakened(seed, k, one_sided):
    X = draw_rows(seed)
    W = self_tuning_graph(X, k).toarray()
    dists = cdist(X, X)
    np.fill_diagonal(dists, np.inf)
    is_near = dists <= np.sort(dists, axis=1)[:, [min(k, 19) - 1]]
    expected = np.where(is_near & is_near.T, W, one_sided * W)
    assert_allclose(self_tuning_graph(X, k, one_sided=one_sided).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 12])
def test_equal_rows_have_weights_of_one(n):
    W = self_tuning_graph(np.ones((n, 2)), 3)
    assert_array_equal(W.data, 1)
    assert_array_equal(W.toarray() > 0, neighbor_graph(np.ones((n, 2)), 3).toarray() > 0)


def test_a_unit_by_no_neighbor_is_refused():
    with pytest.raises(ValueError, match="scale_neighbor=0"):
        self_tuning_graph(np.eye(3), scale_neighbor=0)
