"""Diffusion coordinates and their extension to new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier

from likewise.kernels import (
    diffusion_coordinates,
    diffusion_map,
    interpolation_weights,
    neighbor_graph,
    normalized_adjacency,
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


def test_no_piece_of_a_graph_ends_at_the_origin():
    X = np.repeat(np.arange(6.0), 4)[:, None]
    found = diffusion_map(X, n_neighbors=3, n_components=2)
    assert found.coordinates.shape == (24, 6)
    sq = sq_distances(found.coordinates)
    same = np.repeat(np.arange(6), 4)[:, None] == np.repeat(np.arange(6), 4)
    assert sq[same].max() < 1e-12
    assert sq[~same].min() > 1


@settings(max_examples=30)
@given(SEEDS, st.floats(0.01, 100), st.floats(-100, 100))
def test_scale_shift_and_order_of_the_rows_do_not_matter(seed, factor, shift):
    X = draw_rows(seed)
    K = diffusion_map(X, n_neighbors=6)(X)
    moved = factor * X + shift
    assert_allclose(diffusion_map(moved, n_neighbors=6)(moved), K, atol=1e-7)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        diffusion_map(X[order], n_neighbors=6)(X[order]), K[np.ix_(order, order)], atol=1e-7
    )


@settings(max_examples=25)
@given(SEEDS)
def test_mean_squared_norm_is_one(seed):
    Z = diffusion_map(draw_rows(seed)).coordinates
    assert np.square(Z).sum(axis=1).mean() == pytest.approx(1)


@settings(max_examples=25)
@given(SEEDS)
def test_training_rows_map_to_their_own_coordinates(seed):
    X = draw_rows(seed)
    found = diffusion_map(X, n_neighbors=5)
    assert_array_equal(found.transform(X.copy()), found.coordinates)
    assert_allclose(
        diffusion_map(csr_array(X), n_neighbors=5).transform(csr_array(X)),
        found.coordinates,
        atol=1e-7,
    )


def test_training_rows_that_coincide_map_to_their_mean():
    X = draw_rows(0)
    X[7] = X[3]
    found = diffusion_map(X, n_neighbors=5)
    expected = found.coordinates.copy()
    expected[[3, 7]] = expected[[3, 7]].mean(axis=0)
    assert_allclose(found.transform(X), expected, atol=1e-12)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 40))
def test_weights_are_a_mean_over_at_most_k_nearest_rows(seed, k):
    rows, new = draw_rows(seed), draw_rows(seed + 1, n=9)
    weights = interpolation_weights(new, rows, k).toarray()
    assert_allclose(weights.sum(axis=1), 1)
    assert weights.min() >= 0
    nearest = sq_distances(new, rows).argsort(axis=1)[:, : min(k, 29)]
    assert_allclose(np.take_along_axis(weights, nearest, axis=1).sum(axis=1), 1)


@settings(max_examples=20)
@given(SEEDS)
def test_the_map_is_continuous_along_a_line_through_training_rows(seed):
    """Smaller steps make smaller jumps, across changes of neighbors and on training rows too."""
    X = draw_rows(seed, n=30, d=2)
    found = diffusion_map(X, n_neighbors=4, n_components=8)

    def largest_jump(n_steps):
        line = X[0] + np.linspace(-0.5, 1.5, 2 * n_steps + 1)[:, None] * (X[1] - X[0])
        return np.linalg.norm(np.diff(found.transform(line), axis=0), axis=1).max()

    assert largest_jump(16_000) < 0.2 * largest_jump(500)


def test_a_row_next_to_a_training_row_maps_next_to_it():
    X = draw_rows(0)
    found = diffusion_map(X, n_neighbors=5)
    moved = [
        np.abs(found.transform(X + step) - found.coordinates).max() for step in (1e-3, 1e-5, 1e-7)
    ]
    assert moved[0] < 0.1
    assert moved[1] < 1e-3 * moved[0] + 1e-9
    assert moved[2] < 1e-3 * moved[1] + 1e-9


def test_a_row_equally_far_from_all_its_neighbors_maps_to_their_mean():
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    assert_allclose(interpolation_weights([[0.0, 0.0]], corners, 3).toarray(), [[0.25] * 4])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_is_enough(n):
    X = draw_rows(0, n=n)
    found = diffusion_map(X)
    assert_allclose(found.transform(X), found.coordinates)
    assert np.isfinite(found.transform(draw_rows(1, n=4))).all()


def test_moons_are_apart_after_diffusion_and_new_rows_fall_on_their_own():
    X, y = make_moons(600, noise=0.04, random_state=0)
    found = diffusion_map(X[:400], n_components=3, steps=4)
    Z = found.transform(X)
    centers = np.stack([found.coordinates[y[:400] == c].mean(axis=0) for c in (0, 1)])
    assert_array_equal(sq_distances(Z, centers).argmin(axis=1), y)


def test_new_digits_keep_their_classes_by_nearest_neighbors():
    X, y = load_digits(return_X_y=True)
    found = diffusion_map(X[:1200])
    judge = KNeighborsClassifier(5).fit(found.coordinates, y[:1200])
    raw = KNeighborsClassifier(5).fit(X[:1200], y[:1200])
    assert judge.score(found.transform(X[1200:]), y[1200:]) >= raw.score(X[1200:], y[1200:]) - 0.01


@pytest.mark.parametrize("wrong", [{"n_components": 0}, {"steps": -1}, {"n_neighbors": 0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        diffusion_map(draw_rows(0), **wrong)
