"""The layout of rows in two dimensions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from likewise.kernels import lay_out, lay_out_edges, layout, placement
from likewise.kernels.layout import (
    align,
    attraction,
    edge_shares,
    repulsion,
    repulsion_of_pairs,
    to_leading_directions,
)
from likewise.kernels.placement import place_rows

seeds = st.integers(0, 10_000)


def made_blobs(n_rows, n_blobs=8, n_directions=10, seed=0):
    """Blobs that a projection to a plane lays on top of each other, and the blob of each row."""
    rng = np.random.RandomState(seed)
    centers = np.eye(n_blobs, n_directions) * 6
    labels = np.arange(n_rows) % n_blobs
    return centers[labels] + rng.randn(n_rows, n_directions), labels


def share_of_neighbors(flat, labels):
    """How many of the ten nearest on the map have the label of a row, on average."""
    nearest = NearestNeighbors(n_neighbors=10).fit(flat).kneighbors(return_distance=False)
    return (labels[nearest] == labels[:, None]).mean()


def test_given_edges_pull_rows_together_wherever_they_lie():
    Z, labels = made_blobs(400, seed=3)
    other = np.random.RandomState(0).randint(2, size=400)  # pulled by group, in every blob
    edges = sparse.csr_array(np.equal.outer(other, other).astype(float))
    assert share_of_neighbors(lay_out_edges(edges, Z), other) > 0.99
    assert share_of_neighbors(lay_out_edges(edges, Z), labels) < 0.3
    assert_array_equal(lay_out_edges(edges, Z), lay_out_edges(8 * edges, 8 * Z))  # no unit


def test_no_rows_and_one_row_have_a_place():
    for n in (0, 1):
        assert lay_out_edges(sparse.csr_array((n, n)), np.ones((n, 3))).shape == (n, 2)


def test_two_rows_push_each_other_along_the_line_between_them():
    # q = 1 / (1 + 9 + 16); two ordered pairs share the sum: q^2 (y_i - y_j) / 2 q.
    push = repulsion(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert_allclose(push, np.array([[-3, -4], [3, 4]]) / 26 / 2, rtol=1e-12)


@settings(max_examples=10)
@given(seeds)
def test_repulsion_by_a_grid_is_that_of_all_pairs_to_a_tenth(seed):
    rng = np.random.RandomState(seed)
    flat = rng.randn(500, 2) * rng.choice([1, 8, 20])
    exact = repulsion_of_pairs(flat)
    assert np.linalg.norm(repulsion(flat) - exact) <= 0.1 * np.linalg.norm(exact)


@pytest.mark.parametrize("size", [8, 9, 11])
def test_the_sum_over_the_spectrum_is_that_over_all_pairs_of_nodes(size):
    stripes = np.tile(np.arange(size) % 2, (size, 1)).astype(float)  # the shortest waves
    places = layout.SPACING * np.stack(np.meshgrid(*[np.arange(size)] * 2, indexing="ij"), axis=-1)
    places = places.reshape(-1, 2)
    q = 1 / (1 + np.square(places[:, None] - places).sum(axis=2))
    total, _ = layout._convolve(stripes, layout.SPACING)
    assert_allclose(total, stripes.ravel() @ q @ stripes.ravel(), rtol=1e-5)


def test_a_layout_wider_than_the_finest_grid_is_pushed_on_a_coarser_one(monkeypatch):
    flat = np.random.RandomState(0).randn(500, 2) * 20
    monkeypatch.setattr(layout, "MAX_NODES", 128)
    exact = repulsion_of_pairs(flat)
    assert np.corrcoef(repulsion(flat).ravel(), exact.ravel())[0, 1] > 0.9


@settings(max_examples=10)
@given(seeds)
def test_attraction_less_repulsion_is_a_quarter_of_the_gradient_of_the_divergence(seed):
    rng = np.random.RandomState(seed)
    graph, flat = edge_shares(rng.randn(12, 3), 3), rng.randn(12, 2)
    p = graph.toarray()
    linked = p > 0

    def divergence(places):
        places = places.reshape(-1, 2)
        q = 1 / (1 + ((places[:, None] - places) ** 2).sum(axis=2))
        np.fill_diagonal(q, 0)
        return np.sum(p[linked] * np.log(p[linked] / (q / q.sum())[linked]))

    slopes = approx_fprime(flat.ravel(), divergence).reshape(-1, 2)
    pulls = attraction(graph, graph.tocoo().coords[0], flat)
    assert_allclose(4 * (pulls - repulsion_of_pairs(flat)), slopes, atol=1e-5)


def test_the_neighbor_graph_is_symmetric_and_sums_to_one():
    graph = edge_shares(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    assert_allclose(graph, np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]) / 6)


def test_blobs_that_a_projection_mixes_are_apart_on_the_map():
    Z, labels = made_blobs(500)
    flat = lay_out(Z)
    assert flat.shape == (500, 2)
    assert flat.dtype == np.float32
    assert share_of_neighbors(PCA(2).fit_transform(Z), labels) < 0.9
    assert share_of_neighbors(flat, labels) >= 0.97
    assert trustworthiness(Z, flat, n_neighbors=10) >= 0.9


def test_the_same_rows_give_the_same_layout_to_the_bit():
    Z, _ = made_blobs(100)
    assert_array_equal(lay_out(Z), lay_out(Z.copy()))


def test_a_layout_from_the_previous_one_moves_rows_less_than_one_from_nothing():
    Z, labels = made_blobs(300)
    previous = lay_out(Z) @ np.array([[0.0, 1], [-1, 0]]) + [5, -7]  # as turned by somebody
    moved = Z + 0.3 * np.random.RandomState(1).randn(*Z.shape)
    again, anew = lay_out(moved, previous=previous), lay_out(moved)
    step = np.linalg.norm(again - previous, axis=1)
    assert np.median(step) < 0.5 * np.median(np.linalg.norm(anew - previous, axis=1))
    assert np.median(step) < 0.1 * np.ptp(previous)
    assert share_of_neighbors(again, labels) >= 0.97


@settings(max_examples=20)
@given(seeds)
def test_a_layout_that_was_turned_mirrored_and_shifted_is_aligned_again(seed):
    rng = np.random.RandomState(seed)
    flat = rng.randn(10, 2)
    turn, _ = np.linalg.qr(rng.randn(2, 2))
    assert_allclose(align(flat @ turn + rng.randn(2), flat), flat, atol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 7])
def test_few_rows_are_laid_out_apart(n_rows):
    flat = lay_out(np.arange(n_rows, dtype=float)[:, None])
    assert flat.shape == (n_rows, 2)
    assert len(np.unique(flat, axis=0)) == n_rows


def test_equal_rows_and_rows_without_a_second_direction_are_laid_out():
    assert np.isfinite(lay_out(np.ones((40, 3)))).all()
    line = lay_out(np.arange(60.0)[:, None])
    assert trustworthiness(np.arange(60.0)[:, None], line, n_neighbors=5) > 0.95


def test_sparse_rows_are_laid_out_as_dense_ones():
    Z, labels = made_blobs(160)
    assert share_of_neighbors(lay_out(sparse.csr_matrix(Z)), labels) >= 0.97


def test_beyond_the_rows_laid_out_the_others_go_to_their_clusters(monkeypatch):
    monkeypatch.setattr(layout, "LAID_OUT", 200)
    Z, labels = made_blobs(1000)
    flat = lay_out(Z, random_state=3)
    assert share_of_neighbors(flat, labels) >= 0.97
    again = lay_out(Z + 0.01, previous=flat, random_state=3)
    assert np.median(np.linalg.norm(again - flat, axis=1)) < 0.1 * np.ptp(flat)


def test_rows_laid_out_stay_in_place_and_their_equals_join_them():
    Z, _ = made_blobs(300)
    laid = np.arange(0, 300, 2)
    flat = np.random.RandomState(0).randn(150, 2)
    Z[1] = Z[0]
    placed = place_rows(Z, laid, flat)
    assert_array_equal(placed[laid], flat)
    assert_allclose(placed[1], flat[0])


def test_rows_are_placed_by_cells_nearly_as_by_all_rows(monkeypatch):
    Z, _ = made_blobs(2000, n_blobs=5)
    laid = np.arange(1000)
    flat = to_leading_directions(Z[laid], 2)
    by_cells = place_rows(Z, laid, flat)
    monkeypatch.setattr(placement, "N_LOOKED_INTO", 20)  # all there are
    exact = place_rows(Z, laid, flat)
    step = np.linalg.norm(by_cells - exact, axis=1)
    assert np.median(step) < 0.02 * np.ptp(flat)
    assert (step < 0.1 * np.ptp(flat)).mean() > 0.95


def test_a_row_between_two_places_goes_to_one_of_them():
    Z = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.55]])
    flat = np.array([[0.0, 0], [0, 1], [1, 0], [50, 0], [50, 1], [51, 0]])
    x, _ = place_rows(Z, np.arange(6), flat)[6]
    assert min(abs(x), abs(x - 50)) < 2


def test_a_previous_layout_of_other_rows_is_refused():
    with pytest.raises(ValueError, match=r"previous has shape \(4, 2\), but Z has 5 rows"):
        lay_out(np.eye(5), previous=np.zeros((4, 2)))


def test_the_projection_of_a_plane_keeps_every_distance():
    rng = np.random.RandomState(0)
    plane = rng.randn(30, 2) @ np.linalg.qr(rng.randn(5, 5))[0][:2]
    flat = to_leading_directions(plane, 2)
    dists = np.linalg.norm(plane[:, None] - plane, axis=2)
    assert_allclose(np.linalg.norm(flat[:, None] - flat, axis=2), dists, atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 3), (5, 1), (2, 2), (3, 3)], ids=str)
def test_few_rows_and_few_columns_are_projected_too(shape):
    Z = np.random.RandomState(0).randn(*shape)
    for given_as in (Z, sparse.csr_matrix(Z)):
        flat = to_leading_directions(given_as, 2)
        assert flat.shape == (shape[0], 2)
        assert_allclose(
            flat.var(axis=0).sum(), to_leading_directions(Z, 2).var(axis=0).sum(), atol=1e-12
        )


def test_sparse_rows_are_projected_as_dense_ones():
    Z = np.random.RandomState(0).poisson(0.3, (40, 12)).astype(float)
    dense, thin = to_leading_directions(Z, 2), to_leading_directions(sparse.csr_matrix(Z), 2)
    assert_allclose(np.abs(thin), np.abs(dense), atol=1e-8)  # up to the signs of the axes
