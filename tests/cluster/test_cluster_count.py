"""The number of clusters: from the space, and from rows that answers keep apart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.cluster import choose_n_clusters
from likewise.cluster.cluster_count import least_n_clusters
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
