"""Diffusion coordinates as a map, and their extension to new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier

from likewise.kernels import (
    sq_distances,
)
from likewise.maps import diffusion_map

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=30, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


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
    K = diffusion_map(X, n_neighbors=6).kernel(X)
    moved = factor * X + shift
    assert_allclose(diffusion_map(moved, n_neighbors=6).kernel(moved), K, atol=1e-7)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        diffusion_map(X[order], n_neighbors=6).kernel(X[order]), K[np.ix_(order, order)], atol=1e-7
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
