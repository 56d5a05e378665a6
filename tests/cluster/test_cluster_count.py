"""The number of clusters: from the space, and from rows that answers keep apart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.cluster import choose_n_clusters
from likewise.cluster.cluster_count import least_n_clusters
from likewise.cluster.together_share import estimate_together_share
from likewise.constraints import Constraints


def draw_blobs(n_blobs, seed, n=20):
    rng = np.random.default_rng(seed)
    centers = 12 * np.array([(i % 3, i // 3) for i in range(n_blobs)])
    return np.repeat(centers, n, axis=0) + rng.normal(size=(n * n_blobs, 2))


@pytest.mark.parametrize("n_blobs", [2, 4, 7])
def test_distinct_blobs_are_counted(n_blobs, seed):
    counted = choose_n_clusters(draw_blobs(n_blobs, seed), random_state=seed)
    assert counted.n_clusters == n_blobs
    assert str(n_blobs) in counted.why


def test_answers_can_ask_for_coarser_clusters_than_the_space_suggests(seed):
    """Two pairs of neighboring blobs: the rows say four, the answers say two."""
    Z = draw_blobs(2, seed, n=40)
    Z[::2, 1] += 5
    y = np.repeat([0, 1], 40)
    answers = Constraints.from_labels(y, n_must_link=40, n_cannot_link=40, random_state=seed)
    assert choose_n_clusters(Z, answers, random_state=seed).n_clusters == 2


def test_rows_all_kept_apart_bound_the_number_from_below(seed):
    Z = draw_blobs(2, seed)
    rows = [0, 1, 2, 20, 21]
    apart = Constraints(40, cannot_link=[(a, b) for a in rows for b in rows if a < b])
    assert least_n_clusters(apart) == 5
    assert choose_n_clusters(Z, apart, random_state=seed).n_clusters >= 5


def test_a_clique_counts_groups_of_must_linked_rows():
    answers = Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (3, 4), (1, 4)])
    assert least_n_clusters(answers) == 3
    assert least_n_clusters(Constraints(6)) == 1


def test_a_contradiction_does_not_count():
    assert least_n_clusters(Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)])) == 1


def test_a_number_is_taken_as_it_is():
    counted = choose_n_clusters(np.zeros((5, 1)), n_clusters=4)
    assert (counted.n_clusters, counted.why) == (4, "4, as asked")


@pytest.mark.parametrize(("rows", "expected"), [([[1.0]] * 6, 1), ([[1.0], [2.0]], 1)])
def test_too_few_distinct_rows_are_one_cluster(rows, expected):
    assert choose_n_clusters(np.array(rows), random_state=0).n_clusters == expected


def test_large_data_are_sampled_and_no_answer_is_lost(monkeypatch, seed):
    monkeypatch.setattr("likewise.cluster.cluster_count.N_ROWS", 60)
    Z = draw_blobs(3, seed, n=100)
    answers = Constraints(300, cannot_link=[(0, 100), (0, 200), (100, 200)])
    found = [choose_n_clusters(Z, answers, random_state=seed).n_clusters for _ in range(2)]
    assert_array_equal(found, [3, 3])


def test_random_pairs_say_how_many_clusters_there_are_where_rows_do_not(seed):
    """One cloud, cut into five by its first feature: no silhouette has a peak at five."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(size=(500, 2))
    y = (5 * Z[:, 0]).astype(int)
    answers = Constraints.from_labels(y, n_pairs=400, random_state=seed)
    counted = choose_n_clusters(Z, answers, X=Z, random_state=seed)
    assert counted.n_clusters in (4, 5, 6)
    assert "400 pairs suggest" in counted.why


def test_pairs_that_were_not_drawn_at_random_say_nothing_about_sizes(seed):
    Z = draw_blobs(7, seed, n=30)
    y = np.repeat(np.arange(7), 30)
    half = Constraints.from_labels(y, n_must_link=50, n_cannot_link=50, random_state=seed)
    assert estimate_together_share(Z, half) is None
    assert choose_n_clusters(Z, half, X=Z, random_state=seed).n_clusters == 7


def test_pairs_of_one_kind_say_nothing_about_sizes(seed):
    y = np.repeat(np.arange(7), 30)
    apart = Constraints.from_labels(y, n_cannot_link=50, random_state=seed)
    assert estimate_together_share(draw_blobs(7, seed, n=30), apart) is None


def test_two_pairs_do_not_outweigh_four_distinct_blobs(seed):
    Z = draw_blobs(4, seed)
    answers = Constraints(80, must_link=[(0, 1)], cannot_link=[(0, 20)])
    assert choose_n_clusters(Z, answers, X=Z, random_state=seed).n_clusters == 4


def test_distances_sharpen_the_share_of_pairs_that_belong_together(seed):
    """Ten equal blobs: a tenth of all pairs, which 60 must-or-cannot answers alone miss by .04."""
    Z = draw_blobs(10, seed, n=40)
    y = np.repeat(np.arange(10), 40)
    estimates = [
        estimate_together_share(Z, Constraints.from_labels(y, n_pairs=60, random_state=i))
        for i in range(30)
    ]
    shares = np.array([one.share for one in estimates if one is not None])
    counted = np.array(
        [len(Constraints.from_labels(y, n_pairs=60, random_state=i).must_link) for i in range(30)]
    )
    true_share = 39 / 399
    assert len(shares) >= 25
    assert np.abs(shares - true_share).mean() < 0.7 * np.abs(counted / 60 - true_share).mean()
