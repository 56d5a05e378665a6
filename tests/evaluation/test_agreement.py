"""Scores against classes: by hand, against loops over all pairs, and what must not matter."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, rand_score

from likewise.constraints import Constraints
from likewise.evaluation import free_row_score, kmeans_error, pair_f1_score, separation_score
from likewise.kernels import distances

partitions = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)


def rows_and_classes(seed, n=20, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), np.concatenate([range(n_classes)] * n)[:n], rng


def test_pair_f1_of_six_rows_by_hand():
    # joined: 0-1, 0-2, 1-2, 3-4; in one class: 0-1, 2-3, 2-4, 3-4; in both: 0-1 and 3-4
    assert pair_f1_score([0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 2]) == 2 * 2 / (4 + 4)


@pytest.mark.parametrize(
    ("y", "labels", "f1"),
    [([0, 1, 2], [2, 1, 0], 1.0), ([0, 1, 2], [0, 0, 0], 0.0), ([0, 0], [0, 1], 0.0)],
)
def test_pair_f1_where_nothing_is_joined_in_one_of_them(y, labels, f1):
    assert pair_f1_score(y, labels) == f1


@given(partitions)
def test_pair_f1_and_rand_agree_with_a_loop_over_pairs(both):
    y, labels = both
    pairs = [(y[i] == y[j], labels[i] == labels[j]) for i, j in combinations(range(len(y)), 2)]
    n_right = sum(a and b for a, b in pairs)
    n_joined = sum(a for a, _ in pairs) + sum(b for _, b in pairs)
    assert_allclose(pair_f1_score(y, labels), 2 * n_right / n_joined if n_joined else 1.0)
    # hoi2007, equation 11, is scikit-learn's rand_score, as the room's first lines say
    assert_allclose(rand_score(y, labels), np.mean([a == b for a, b in pairs]))


@given(partitions, st.permutations(range(4)), st.randoms(use_true_random=False))
def test_pair_f1_ignores_names_order_and_which_of_the_two_is_true(both, names, random):
    y, labels = map(np.array, both)
    order = list(range(len(y)))
    random.shuffle(order)
    renamed = np.array(names)[labels]
    assert pair_f1_score(y[order], renamed[order]) == pair_f1_score(labels, y)


def test_free_rows_are_those_that_no_answer_names():
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    labels = np.array([0, 1, 1, 0, 0, 0, 0, 1])
    answers = Constraints(8, must_link=[(0, 1)], undecided=[(1, 2, 3)])
    assert free_row_score(y, labels, answers) == adjusted_rand_score(y[4:], labels[4:])
    assert free_row_score(y, labels, None) == adjusted_rand_score(y, labels)


@pytest.mark.parametrize("closer", [(0, 1, 2), (1, 2, 3)])
def test_a_single_free_row_cannot_be_scored(closer):
    answers = Constraints(4, closer=[closer])
    assert np.isnan(free_row_score([0, 1, 0, 1], [0, 1, 0, 1], answers))


def test_separation_takes_distances_as_they_are():
    Z = [[0.0, 0.0], [2.0, 0.0], [0.0, 5.0], [12.0, 5.0]]
    y = [0, 0, 1, 1]
    between = (5 + 13 + np.sqrt(29) + np.sqrt(125)) / 4
    assert_allclose(separation_score(Z, y), between / ((2 + 12) / 2))


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=25)
def test_separation_agrees_with_a_loop_over_pairs(seed, n_classes):
    Z, y, rng = rows_and_classes(seed, n_classes=n_classes)
    y = rng.permutation(y)
    within, between = [], []
    for i, j in combinations(range(len(y)), 2):
        (within if y[i] == y[j] else between).append(np.linalg.norm(Z[i] - Z[j]))
    assert_allclose(separation_score(Z, y), np.mean(between) / np.mean(within))


@given(st.integers(0, 10_000), st.floats(0.01, 100))
@settings(max_examples=25)
def test_separation_ignores_scale_rotation_shift_order_and_names(seed, scale):
    Z, y, rng = rows_and_classes(seed)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    order = rng.permutation(len(y))
    moved = (scale * Z @ rotation + 7)[order]
    assert_allclose(separation_score(moved, 5 - y[order]), separation_score(Z, y), rtol=1e-7)


def test_separation_is_the_same_in_small_blocks_and_from_sparse_rows(monkeypatch):
    Z, y, _ = rows_and_classes(0, n=50)
    whole = separation_score(Z, y)
    assert_allclose(separation_score(csr_array(Z), y), whole)
    monkeypatch.setattr(distances, "BLOCK_ENTRIES", 3 * 50)
    assert_allclose(separation_score(Z, y), whole)


@pytest.mark.parametrize(
    ("Z", "y", "score"),
    [
        ([[0.0], [1.0]], [0, 0], np.nan),
        ([[0.0], [1.0]], [0, 1], np.nan),
        ([[0.0], [0.0], [1.0]], [0, 0, 1], np.inf),
        ([[0.0], [0.0], [0.0]], [0, 0, 1], np.nan),
    ],
)
def test_separation_without_pairs_or_without_width(Z, y, score):
    assert_allclose(separation_score(Z, y), score)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_error_under_a_metric_is_the_error_in_the_space_of_its_root(seed):
    Z, y, rng = rows_and_classes(seed)
    L = rng.normal(size=(2, 3))
    assert_allclose(kmeans_error(Z, y, metric=L.T @ L), kmeans_error(Z @ L.T, y))


def test_error_is_what_k_means_minimizes():
    Z, _, _ = rows_and_classes(1, n=60)
    fitted = KMeans(4, n_init=1, random_state=0).fit(Z)
    assert_allclose(kmeans_error(Z, fitted.labels_), fitted.inertia_)


def test_a_metric_of_another_size_is_named():
    with pytest.raises(ValueError, match=r"metric has shape \(2, 2\), but Z has 3 features"):
        kmeans_error(np.ones((4, 3)), [0, 0, 1, 1], metric=np.eye(2))
