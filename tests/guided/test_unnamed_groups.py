"""Clusters for groups that no answer names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering
from likewise.guided.unnamed_groups import (
    LEAST_FACTOR,
    limit_unnamed,
    seed_unnamed,
    unseen_share,
)


def test_the_half_nearest_to_the_center_of_an_unmatched_cluster_stands_for_a_new_group():
    groups = np.array([0, -1, -1, -1, -1, -1])
    clusters = np.array([1, 1, 0, 0, 0, 0])
    sq_dists = np.array([0.0, 1.0, 4.0, 1.0, 3.0, 2.0])
    assert_array_equal(seed_unnamed(groups, clusters, sq_dists, 2), [0, -1, -1, 1, -1, 1])


def test_an_unmatched_cluster_of_known_rows_alone_lends_its_group_to_the_farthest_row():
    groups = np.array([0, 0, 0, -1, -1, 1])
    clusters = np.array([0, 0, 2, 0, 1, 1])  # cluster 2 has one row, of group 0
    sq_dists = np.array([0.0, 1.0, 0.0, 2.0, 3.0, 1.0])
    assert_array_equal(seed_unnamed(groups, clusters, sq_dists, 3), [0, 0, 0, -1, 2, 1])


@pytest.mark.parametrize("draw", [0, 3])
def test_there_are_as_many_clusters_as_asked_even_if_nearly_all_rows_are_known(draw):
    X, y = make_blobs(90, centers=4, cluster_std=2.5, random_state=draw)
    groups = np.where(y == 3, 2, y)
    groups[np.random.default_rng(draw).choice(90, 3)] = -1
    answers = Constraints.from_partial_labels(groups)
    model = GuidedClustering(5, random_state=0).fit(X, constraints=answers)
    assert model.predict_proba(X).shape == (90, 5)
    assert model.labels_.max() < 5


def test_the_share_of_unseen_groups_is_that_of_rows_alone_plus_one_and_an_error():
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3, -1, -1])
    share = (1 + 1) / (9 + 1)
    assert unseen_share(groups) == pytest.approx(share + np.sqrt(share * (1 - share) / 9))


def test_more_rows_alone_leave_more_room_for_unseen_groups():
    few = np.repeat(np.arange(5), 4)
    many = np.arange(20)
    assert unseen_share(few) < unseen_share(many) <= 1


@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.05, 0.95))
def test_unnamed_groups_win_at_most_their_share_and_are_never_empty(seed, n_unnamed, share):
    rng = np.random.default_rng(seed)
    memberships = rng.dirichlet(np.ones(2 + n_unnamed), size=200)
    limited = limit_unnamed(memberships, 2, share)
    labels = limited.argmax(axis=1)
    is_clear = memberships[:, 2:].max(axis=1) > memberships[:, :2].max(axis=1) / LEAST_FACTOR
    assert_allclose(limited.sum(axis=1), 1)
    assert np.count_nonzero(labels >= 2) <= max(share * 200, is_clear.sum()) + n_unnamed + 1
    assert set(memberships[:, 2:].argmax(axis=0)) <= set(np.flatnonzero(labels >= 2))


def test_rows_that_are_clearly_of_unnamed_groups_stay_there_whatever_the_share():
    memberships = np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])
    memberships = np.repeat(memberships, [10, 40, 40], axis=0)
    limited = limit_unnamed(memberships, 1, 0.2)
    assert_array_equal(limited.argmax(axis=1), memberships.argmax(axis=1))
    unsure = memberships * [6.0, 1.0, 1.0]  # 16 to 1 and less
    limited = limit_unnamed(unsure / unsure.sum(axis=1, keepdims=True), 1, 0.2)
    assert np.count_nonzero(limited.argmax(axis=1) > 0) <= 2


def test_the_order_of_named_groups_does_not_change_in_any_row():
    memberships = np.random.default_rng(0).dirichlet(np.ones(5), size=100)
    limited = limit_unnamed(memberships, 3, 0.1)
    typical = memberships[:, 3:].argmax(axis=0)
    others = np.setdiff1d(np.arange(100), typical)
    assert_array_equal(limited[others, :3].argmax(axis=1), memberships[others, :3].argmax(axis=1))


def test_without_unnamed_groups_nothing_changes():
    memberships = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    assert_array_equal(limit_unnamed(memberships, 3, 0.1), memberships)


def test_blobs_that_nobody_clicked_get_clusters_of_their_own():
    centers = [[0, 0], [6, 0], [0, 6], [6, 6], [12, 0], [12, 6]]
    X, y = make_blobs(300, centers=centers, cluster_std=0.8, random_state=3)
    known = np.full(len(y), -1)
    for group in range(4):  # two of the six are not named
        known[np.flatnonzero(y == group)[:3]] = group
    # rows alone in their group say that others may be unseen
    known[np.flatnonzero(y == 3)[1:3]] = -1
    known[np.flatnonzero(y == 2)[1:3]] = -1
    answers = Constraints.from_partial_labels(known)
    model = GuidedClustering(6, random_state=0).fit(X, constraints=answers)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == 6
    assert "answers name 4 of them" in model.report_.why_n_clusters
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("draw", [0, 3])
def test_clicks_on_some_of_many_groups_do_not_undo_what_the_features_say(draw):
    X, y = make_blobs(600, centers=20, n_features=5, cluster_std=1.0, random_state=draw)
    known = np.full(len(y), -1)
    clicked = np.random.default_rng(1).permutation(len(y))[:15]  # nine or ten groups of the twenty
    known[clicked] = y[clicked]
    model = GuidedClustering(20, random_state=0)
    model.fit(X, constraints=Constraints.from_partial_labels(known))
    assert adjusted_rand_score(y, model.labels_) > 0.98
