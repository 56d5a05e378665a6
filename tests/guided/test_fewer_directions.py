"""Fewer directions of a learned space: exact for centers, nearly so for anchors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import SKLR, Constraints, GuidedClustering
from likewise.guided.fewer_directions import (
    MOST_DIRECTIONS,
    along,
    anchor_directions,
    center_directions,
    map_along,
)
from likewise.kernels import nearest_rows, sq_distances
from likewise.maps import ChainedMap, LinearMap, UnitLengthMap, as_map


def test_of_two_centers_the_line_through_them_is_left():
    centers = np.zeros((2, 70))
    centers[1, :2] = 3, 4
    directions = center_directions(centers)
    assert directions.shape == (70, 1)
    assert_allclose(np.abs(directions[:2, 0]), [0.6, 0.8])


def test_distances_to_centers_differ_from_each_other_as_in_all_directions(seed):
    rng = np.random.default_rng(seed)
    Z, centers = rng.normal(size=(30, 90)), rng.normal(size=(5, 90))
    directions = center_directions(centers)
    whole = sq_distances(Z, centers)
    fewer = sq_distances(along(Z, directions), along(centers, directions))
    assert_allclose(whole - whole[:, :1], fewer - fewer[:, :1], atol=1e-10 * whole.max())


def test_nothing_is_left_out_of_spaces_with_few_directions(seed):
    rng = np.random.default_rng(seed)
    assert center_directions(rng.normal(size=(5, MOST_DIRECTIONS))) is None
    assert center_directions(rng.normal(size=(1, 90))) is None
    assert center_directions(rng.normal(size=(90, 90))) is None
    assert anchor_directions(rng.normal(size=(5, MOST_DIRECTIONS))) is None
    assert anchor_directions(None) is None
    Z = rng.normal(size=(3, 2))
    assert along(Z, None) is Z


def test_the_directions_in_which_anchors_vary_are_those_of_an_svd(seed):
    rng = np.random.default_rng(seed)
    anchors = 5 + rng.normal(size=(200, 80)) * np.geomspace(3, 1, 80)
    directions = anchor_directions(anchors)
    assert_allclose(directions.T @ directions, np.eye(MOST_DIRECTIONS), atol=1e-12)
    *_, axes = np.linalg.svd(anchors - anchors.mean(axis=0), full_matrices=False)
    expected = axes[:MOST_DIRECTIONS].T @ axes[:MOST_DIRECTIONS]
    assert_allclose(directions @ directions.T, expected, atol=1e-8)


def test_anchors_that_vary_in_few_directions_have_the_neighbors_they_had(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(120, 20)) @ rng.normal(size=(20, 90))
    anchors, others = rows[:80], rows[80:]
    directions = anchor_directions(anchors)
    whole = nearest_rows(others, anchors, 5)
    fewer = nearest_rows(along(others, directions), along(anchors, directions), 5)
    assert_array_equal(fewer[0], whole[0])
    assert_allclose(fewer[1], whole[1])


def test_a_map_and_a_matrix_after_it_are_one_map_or_two(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 2, 40)
    learned = SKLR(random_state=0).fit(X, constraints=Constraints.from_labels(y, n_pairs=20))
    scaled, of_kernel = LinearMap(scale=np.full(6, 2.0)), as_map(learned)
    for whole in (
        of_kernel,
        scaled,
        UnitLengthMap(np.ones(6)),
        ChainedMap((scaled, of_kernel)),
        ChainedMap((scaled, UnitLengthMap(np.ones(6)))),
    ):
        Z = whole.transform(X)
        matrix = rng.normal(size=(Z.shape[1], 2))
        assert_allclose(map_along(whole, matrix).transform(X), Z @ matrix, atol=1e-10)
        assert map_along(whole, None) is whole


@pytest.mark.parametrize("kind", ["clicks", "pairs"])
def test_clusters_by_fewer_directions_are_nearly_those_by_all(kind, monkeypatch):
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.normal(size=(4, 30))
    y = rng.integers(0, 4, 500)
    X = centers[y] + rng.normal(size=(500, 30))
    labels = np.full(500, -1)
    labels[:40] = y[:40]
    pairs = Constraints.from_labels(y, n_pairs=50, random_state=0)
    answers = {"clicks": Constraints.from_partial_labels(labels), "pairs": pairs}[kind]
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 300)
    monkeypatch.setattr("likewise.guided.outcome.GRAPH_ROWS", 150)
    monkeypatch.setattr("likewise.guided.fewer_directions.MOST_DIRECTIONS", 10**6)
    whole = GuidedClustering(4, n_init=1, random_state=0).fit(X, constraints=answers)
    assert whole.anchor_directions_ is None
    n_directions = whole.anchors_.shape[1]
    assert n_directions > 20
    monkeypatch.setattr("likewise.guided.fewer_directions.MOST_DIRECTIONS", 20)
    fewer = GuidedClustering(4, n_init=1, random_state=0).fit(X, constraints=answers)
    assert fewer.anchor_directions_.shape == (n_directions, 20)
    assert np.mean(fewer.labels_ == whole.labels_) > 0.98
    labels = fewer.predict(X)
    assert_array_equal(labels, fewer.predict_proba(X).argmax(axis=1))
    rest = np.setdiff1d(np.arange(500), np.flatnonzero(labels != fewer.labels_))
    assert len(rest) > 485  # those of fit are placed by their own answers and memberships
