"""Clusters without answers: on a map of neighbors where that keeps them together better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise.constraints import Constraints
from likewise.datasets import load_digits
from likewise.guided import GuidedClustering, many_rows, spaces
from likewise.guided.plain_clusters import (
    cluster_plainly,
    how_far,
    share_kept,
    share_plainly,
    share_some,
)
from likewise.kernels import neighbor_graph
from likewise.metric_learning import ITML

CHAIN = csr_array(np.eye(4, k=1) + np.eye(4, k=-1))


def long_blobs(seed=0):
    """Three parallel bands, ten times as long as wide, and the band of each row."""
    X, y = make_blobs(600, 6, centers=np.eye(3, 6) * 8, random_state=seed)
    return X * np.array([1, 1, 1, 12, 1, 1]), y


def uneven_blobs():
    """One large round blob beside three small ones."""
    centers = np.array([[0, 0, 0, 0], [20, 0, 0, 0], [0, 20, 0, 0], [0, 0, 20, 0]])
    return make_blobs([600, 200, 60, 20], 4, centers=centers, random_state=0)


def wide_blobs():
    """Three round blobs that overlap."""
    return make_blobs(600, 4, centers=3, cluster_std=4.0, random_state=0)


def test_of_a_chain_cut_in_the_middle_two_edges_of_three_are_kept_where_chance_keeps_half():
    assert share_kept(CHAIN, np.array([0, 0, 1, 1])) == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert share_kept(CHAIN, np.array([0, 1, 0, 1])) == pytest.approx(-1)
    assert share_kept(CHAIN, np.zeros(4, dtype=int)) == 0


@pytest.mark.parametrize("draw", range(5))
def test_the_share_kept_agrees_with_a_loop_and_ignores_the_names_of_clusters(draw):
    rng = np.random.default_rng(draw)
    W, labels = neighbor_graph(rng.normal(size=(40, 3)), 4), rng.integers(0, 4, 40)
    edges = [(i, j) for i, j in zip(*W.nonzero(), strict=True)]
    degree = np.array([sum(i == row for i, _ in edges) for row in range(40)])
    inside = np.mean([labels[i] == labels[j] for i, j in edges])
    chance = sum((degree[labels == c].sum() / len(edges)) ** 2 for c in range(4))
    assert share_kept(W, labels) == pytest.approx((inside - chance) / (1 - chance))
    assert share_kept(W, (labels + 1) % 4) == pytest.approx(share_kept(W, labels))


@pytest.mark.parametrize(("make", "is_on_map"), [(wide_blobs, False), (long_blobs, True)])
def test_memberships_of_some_rows_are_those_among_all(make, is_on_map):
    X, _ = make()
    found = cluster_plainly(X, 3, 5, 0)
    assert (found.anchors is not None) == is_on_map
    rows = np.array([3, 100, 101, 599])
    assert_allclose(share_some(X, rows, found), share_plainly(X, found)[rows], atol=1e-12)


def test_clusters_drawn_at_random_keep_neighbors_by_chance_only():
    rng = np.random.default_rng(0)
    W = neighbor_graph(rng.normal(size=(300, 2)), 10)
    kept = [share_kept(W, rng.integers(0, 5, 300)) for _ in range(100)]
    assert abs(np.mean(kept)) < 4 * np.std(kept) / 10 + 1 / 300


def test_long_bands_are_found_which_k_means_cuts_across():
    X, y = long_blobs()
    assert adjusted_rand_score(y, KMeans(3, n_init=10, random_state=0).fit_predict(X)) < 0.5
    found = cluster_plainly(X, 3, 10, 0)
    assert adjusted_rand_score(y, found.labels) > 0.95
    assert "neighbors" in found.why


def test_clicks_on_some_groups_start_from_the_clusters_without_answers():
    X, y = long_blobs()
    known = np.full(len(y), -1)
    clicked = np.concatenate([np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:1]])
    known[clicked] = y[clicked]  # nobody clicked on the third band
    model = GuidedClustering(3, random_state=0, preparation="none")
    model.fit(X, constraints=Constraints.from_partial_labels(known))
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_rows_between_clusters_are_farther_than_rows_inside():
    X, _ = long_blobs()
    found = cluster_plainly(X, 3, 10, 0)
    shares = share_plainly(X, found)
    assert_allclose(how_far(X, found), 1 - shares.max(axis=1))
    X, _ = uneven_blobs()
    found = cluster_plainly(X, 4, 10, 0)
    nearest = np.square(X - found.centers[found.labels]).sum(axis=1)
    assert_allclose(how_far(X, found), nearest)


def test_round_blobs_of_uneven_size_are_left_to_k_means():
    X, y = uneven_blobs()
    found = cluster_plainly(X, 4, 10, 0)
    assert found.anchors is None
    assert adjusted_rand_score(y, found.labels) == 1


def test_left_to_k_means_a_seed_gives_the_clusters_that_it_gives_k_means():
    X, _ = uneven_blobs()
    model = GuidedClustering(4, preparation="none", n_init=3, random_state=3).fit(X)
    kmeans = KMeans(4, n_init=3, random_state=3).fit(X)
    assert model.anchors_ is None
    assert adjusted_rand_score(kmeans.labels_, model.labels_) == 1


def test_digits_are_found_better_than_by_k_means():
    digits = load_digits()
    X, y = digits.X[:600] / 16, digits.y[:600]
    by_means = KMeans(10, n_init=10, random_state=0).fit_predict(X)
    found = cluster_plainly(X, 10, 10, 0).labels
    assert adjusted_rand_score(y, found) > adjusted_rand_score(y, by_means) + 0.05


def test_few_rows_are_left_to_k_means():
    X, _ = long_blobs()
    assert cluster_plainly(X[:49], 3, 2, 0).anchors is None
    assert cluster_plainly(np.repeat(X[:40], 10, axis=0), 3, 2, 0).anchors is None
    assert cluster_plainly(X, 121, 1, 0).anchors is None
    assert cluster_plainly(X, 1, 2, 0).anchors is None


def test_the_order_of_the_rows_does_not_matter():
    X, _ = long_blobs()
    order = np.random.default_rng(0).permutation(len(X))
    found, again = (cluster_plainly(rows, 3, 5, 0) for rows in (X, X[order]))
    assert_array_equal(found.labels[order], again.labels)
    assert_array_equal(found.anchors, again.anchors)


def test_equal_rows_are_in_one_cluster():
    X, _ = long_blobs()
    X = np.round(X / 2)
    found = cluster_plainly(np.concatenate([X, X[::-1]]), 3, 5, 0)
    assert found.anchors is not None
    assert_array_equal(found.labels[: len(X)], found.labels[len(X) :][::-1])


def test_rows_beyond_those_laid_out_go_where_their_neighbors_are(monkeypatch):
    monkeypatch.setattr("likewise.guided.plain_clusters.MAP_ROWS", 300)
    X, y = long_blobs()
    found = cluster_plainly(X, 3, 5, 0)
    assert len(found.anchors) == 300
    assert adjusted_rand_score(y, found.labels) > 0.95
    memberships = share_plainly(X, found)
    assert_allclose(memberships.sum(axis=1), 1)
    assert_array_equal(memberships.argmax(axis=1), found.labels)


def test_a_model_without_answers_keeps_the_map_and_says_so(tmp_path):
    from likewise.model_file import load_model, save_model

    X, _ = long_blobs()
    model = GuidedClustering(3, preparation="none", random_state=0).fit(X)
    assert "neighbors" in model.report_.why
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.labels_, model.report_.labels_before)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    moved, truth = long_blobs(seed=1)
    assert adjusted_rand_score(truth, model.predict(moved)) > 0.9
    save_model(model, tmp_path / "m.likewise")
    assert_array_equal(load_model(tmp_path / "m.likewise").predict(moved), model.predict(moved))


@pytest.mark.parametrize("kind", ["pairs", "labels", "triples"])
def test_answers_that_teach_nothing_leave_the_clusters_without_answers(kind):
    X, _ = long_blobs()
    y = np.random.default_rng(5).integers(0, 3, len(X))
    known = np.where(np.arange(len(X)) % 15 == 0, y, -1)
    answers = {
        "pairs": lambda: Constraints.from_labels(y, n_pairs=60, random_state=0),
        "labels": lambda: Constraints.from_partial_labels(known),
        "triples": lambda: Constraints.from_labels(y, n_odd_one_out=60, random_state=0),
    }[kind]()
    unguided = GuidedClustering(3, preparation="none", random_state=0)
    plain = unguided.fit(X).labels_
    model = unguided.fit(X, constraints=answers)
    free = np.setdiff1d(np.arange(len(X)), answers.touched_rows())
    assert "nothing is learned" in model.report_.why
    assert_array_equal(model.labels_[free], plain[free])


def test_of_very_many_rows_those_before_learning_go_by_centers_alone(monkeypatch):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 200)
    X, _ = long_blobs()
    known = np.where(np.arange(len(X)) < 12, long_blobs()[1], -1)
    answers = Constraints.from_partial_labels(known)
    settings = {"preparation": "none", "random_state": 0, "learner": ITML(), "n_init": 5}
    model = GuidedClustering(3, **settings).fit(X, constraints=answers)
    monkeypatch.setattr("likewise.guided.many_rows.ANCHORED_BEFORE", 100)
    by_placed, seen = many_rows.by_placed, []

    def spy(map_rows, placed):
        seen.append(placed)
        return by_placed(map_rows, placed)

    monkeypatch.setattr("likewise.guided.many_rows.by_placed", spy)
    quick = GuidedClustering(3, **settings).fit(X, constraints=answers)
    assert_array_equal(quick.labels_, model.labels_)
    before, first = quick.report_.labels_before, model.report_.labels_before
    moved = np.flatnonzero(before != first)  # by anchors at first; none of the sample
    assert 0 < len(moved) <= len(X) - 200
    (placed,) = seen
    nearest = ((X[moved, None] - placed.centers) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(before[moved], nearest)


def test_learned_spaces_are_up_against_the_clusters_without_answers(monkeypatch):
    X, y = wide_blobs()
    X, y = X[:300], y[:300]
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)

    def score_with(labels):
        found = cluster_plainly(X, 3, 1, 0)._replace(labels=labels)
        monkeypatch.setattr(spaces, "cluster_plainly", lambda *_: found)
        choice = spaces.choose_space(X, answers, 3, seed=0, n_jobs=None)
        return choice.scores, choice.chosen

    right, chosen = score_with(y)
    wrong, _ = score_with(np.random.RandomState(0).permutation(y))
    assert chosen == 0  # nothing is ahead of clusters that are right
    assert right[0] > wrong[0] + 0.1
    assert_array_equal(right[1:], wrong[1:])
