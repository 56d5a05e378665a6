"""Which pair tells most where people err: by hand, against sums over all pairs, laws."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import Walks, telling_pairs
from likewise.labeling.likely_groups import LikelyGroups, draw_groups, link_chances
from likewise.labeling.telling_pairs import (
    agreement,
    chances_of_together,
    dependence,
    most_telling_pair,
    variance_taken,
)

SEEDS = st.integers(0, 10_000)


def draw_groups_of_rows(seed, n_draws=7, n=6):
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=(n_draws, n)), rng.uniform(0.5, 2, n)


def test_agreement_by_hand():
    groups = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 1, 2]])
    expected = [[2, 0, 2, 0], [0, 2, 2, 0], [2, 2, 6, 0], [0, 0, 0, 0]]  # pairs both ways
    assert_array_equal(agreement(groups, np.ones(3)), expected)


def test_the_open_pair_tells_most_and_a_certain_one_nothing():
    groups = np.array([[0, 0, 1, 1]] * 10 + [[0, 0, 0, 0]] * 10)  # 0-1 and 2-3 are certain
    taken = variance_taken(groups, np.ones(4), np.array([0, 0, 2]), np.array([1, 2, 3]), 0.1)
    assert taken[1] > 0
    assert_allclose(taken[[0, 2]], 0, atol=1e-9)


def test_the_chance_of_together_by_hand():
    groups = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 2]])  # 0-1 in three of four draws
    together = chances_of_together(groups, np.array([0]), np.array([1]), 0.1)
    assert_allclose(together, 0.75 * 0.9 + 0.25 * 0.1)


@given(SEEDS)
def test_agreement_is_a_sum_over_pairs_of_rows(seed):
    groups, weights = draw_groups_of_rows(seed)
    same = groups[:, :, None] == groups[:, None, :]
    same = same & ~np.eye(6, dtype=bool)
    L = np.einsum("a,b,sab,tab->st", weights, weights, same, same)
    assert_allclose(agreement(groups, weights), L, atol=1e-9)


@given(SEEDS)
@settings(max_examples=10)
def test_dependence_is_the_mean_over_distinct_draws(seed):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(5, 5)), rng.integers(2, size=(5, 3)).astype(float)
    L = A @ A.T
    brute = np.zeros(3)
    for c in range(3):
        K = np.outer(y[:, c], y[:, c])
        terms = [
            K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q]) for i, j, q, r in permutations(range(5), 4)
        ]
        brute[c] = np.mean(terms)
    assert_allclose(dependence(L, y), brute, atol=1e-9)


@given(SEEDS)
def test_answers_of_people_who_err_more_tell_less(seed):
    groups, weights = draw_groups_of_rows(seed)
    firsts, seconds = np.triu_indices(6, 1)
    taken = [np.abs(variance_taken(groups, weights, firsts, seconds, e)) for e in (0.05, 0.2, 0.5)]
    assert (taken[0] >= taken[1] - 1e-9).all()
    assert_allclose(taken[2], 0, atol=1e-9)


@given(SEEDS)
def test_names_of_groups_do_not_matter(seed):
    groups, weights = draw_groups_of_rows(seed)
    rng = np.random.default_rng(seed)
    renamed = np.array([rng.permutation(3)[drawn] for drawn in groups])
    assert_allclose(agreement(groups, weights), agreement(renamed, weights), atol=1e-9)


def test_a_pair_that_was_asked_is_not_asked_again_and_one_row_is_known():
    X, y = make_blobs(60, 2, centers=3, cluster_std=1.5, random_state=0)
    walks = Walks(normalized_adjacency(self_tuning_graph(X))[0], X)
    rows = np.arange(0, 60, 6)
    pairs = [(int(a), int(b), 1.0 if y[a] == y[b] else -1.0) for a, b in pairwise(rows)]
    likely = draw_groups(walks, pairs, rows, seed=0)
    others = np.setdiff1d(np.arange(60), rows)
    asked: frozenset = frozenset((a, b) for a, b, _ in pairs)
    for _ in range(12):
        rng = np.random.default_rng(len(asked))
        pair = most_telling_pair(walks, likely, others[:5], others[5:], asked, rng)
        assert pair is not None
        key = (min(pair), max(pair))
        assert key not in asked
        assert set(key) & set(rows.tolist())
        asked |= {key}


@pytest.mark.parametrize(("error_rate", "expected"), [(0.1, (0, 2)), (0.5, (0, 1))])
def test_of_pairs_that_tell_as_much_the_most_open_one_is_asked(monkeypatch, error_rate, expected):
    """0-1 are together in 19 of 20 draws, 0-2 in 10, 1-2 in 11; if people guess, all are alike."""
    drawn = np.array([[0, 0, 0]] * 10 + [[0, 0, 1]] * 9 + [[0, 1, 1]])
    likely = LikelyGroups(np.arange(3), drawn, drawn[0], error_rate, 7.0)
    X = make_blobs(20, 2, centers=2, random_state=0)[0]
    walks = Walks(normalized_adjacency(self_tuning_graph(X))[0], X)
    halves = []

    def links_seen(walks, rows, half):
        halves.append(half)
        return link_chances(walks, rows, half)

    monkeypatch.setattr(telling_pairs, "link_chances", links_seen)
    monkeypatch.setattr(telling_pairs, "variance_taken", lambda _, __, pairs, *___: 0.0 * pairs + 1)
    none = np.empty(0, dtype=np.int64)
    rng = np.random.default_rng(0)
    assert most_telling_pair(walks, likely, none, none, frozenset(), rng) == expected
    assert halves == [7.0]  # late groups are as rare as among the known rows


def test_when_every_pair_was_asked_there_is_none_left():
    X, _ = make_blobs(20, 2, centers=2, random_state=0)
    walks = Walks(normalized_adjacency(self_tuning_graph(X))[0], X)
    likely = draw_groups(walks, [(0, 1, 1.0), (1, 2, -1.0)], np.array([0, 1, 2]), seed=0)
    asked = frozenset([(0, 1), (1, 2), (0, 2)])
    none = np.empty(0, dtype=np.int64)
    rng = np.random.default_rng(0)
    assert most_telling_pair(walks, likely, none, none, asked, rng) is None
