"""Candidates in float32: the nearest rows are those of a full sort in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from likewise.kernels import near_candidates
from likewise.kernels.distances import nearest_rows
from likewise.kernels.near_candidates import has_candidates, nearest_candidates


def rows_of(kind, n, rng):
    X = rng.normal(size=(n, 5))
    if kind == "a grid, most distances tied":
        return np.round(X)
    if kind == "few that differ":
        return X[rng.integers(0, 4, n)]
    if kind == "tight groups far apart":
        return 1e-4 * X + 1e3 * rng.integers(0, 3, (n, 1))
    if kind == "one far away":
        return np.concatenate([X[:-1], 1e7 + X[-1:]])
    return X


KINDS = (
    "clouds",
    "a grid, most distances tied",
    "few that differ",
    "tight groups far apart",
    "one far away",
)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_they_are_those_of_a_full_sort_whatever_the_rows(kind, scale, seed, k):
    rng = np.random.default_rng(seed)
    Y = scale * rows_of(kind, 300, rng)
    X = np.concatenate([scale * rows_of(kind, 40, rng), Y[:9]])
    assert has_candidates(X, Y, k)
    indices, sq_dists = nearest_rows(X, Y, k)
    exact = cdist(X, Y, "sqeuclidean")
    assert_allclose(sq_dists, np.sort(exact, axis=1)[:, :k], rtol=1e-7)
    assert_allclose(sq_dists, np.take_along_axis(exact, indices, axis=1), rtol=1e-7)
    if kind in ("clouds", "one far away"):  # elsewhere rounding decides between equals
        assert_array_equal(indices, exact.argsort(axis=1, kind="stable")[:, :k])


def test_no_candidate_is_lost_where_float32_cannot_tell_rows_apart():
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(300, 5))
    Y = directions / np.linalg.norm(directions, axis=1)[:, None]
    Y *= 1 + 1e-9 * rng.normal(size=(300, 1))  # all equally far from 0, but for the ninth digit
    X = np.zeros((3, 5))
    indices, sq_dists = nearest_rows(X, Y, 4)
    exact = cdist(X, Y, "sqeuclidean")
    assert_array_equal(indices, exact.argsort(axis=1)[:, :4])
    assert_array_equal(nearest_candidates(X, Y, 4)[2], np.arange(3))  # too many to decide
    assert_allclose(sq_dists, np.sort(exact, axis=1)[:, :4], rtol=1e-12)


def test_rows_too_long_for_float32_are_left_to_a_full_selection():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 5)), rng.normal(size=(301, 5))
    X[3] *= 1e60
    assert_array_equal(nearest_candidates(X, Y, 3)[2], [3])
    exact = cdist(X, Y, "sqeuclidean").argsort(axis=1, kind="stable")[:, :3]
    assert_array_equal(np.delete(nearest_rows(X, Y, 3)[0], 3, 0), np.delete(exact, 3, 0))


def test_the_size_of_a_block_does_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(400, 3))
    whole = nearest_rows(X, Y, 5)
    monkeypatch.setattr(near_candidates, "ENTRIES", 1200)
    monkeypatch.setattr(near_candidates, "RANKED", 7)
    for found, expected in zip(nearest_rows(X, Y, 5), whole):
        assert_array_equal(found, expected)


def test_few_rows_wide_rows_and_csr_are_left_to_a_full_selection():
    from scipy.sparse import csr_array

    X = np.zeros((300, 4))
    assert has_candidates(X, X, 9)
    assert not has_candidates(X, X[:99], 1)
    assert not has_candidates(X, X, 10)  # as many groups as neighbors are needed
    assert not has_candidates(csr_array(X), csr_array(X), 1)
    assert not has_candidates(np.zeros((300, 513)), np.zeros((300, 513)), 1)
