"""Groups from components that answers leave open."""

from itertools import pairwise

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from likewise import Constraints
from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import choose_question, learn_quickly
from likewise.labeling.settled_groups import chances_of_one_group, settle_groups

X, Y = make_blobs(90, 2, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
S = normalized_adjacency(self_tuning_graph(X))[0]
FIRST = [np.flatnonzero(group == Y).tolist() for group in range(3)]


def know(must_link, cannot_link):
    answers = Constraints(len(X), must_link=must_link, cannot_link=cannot_link)
    asked = [tuple(sorted(pair)) for pair in must_link + cannot_link]
    return learn_quickly(X, S, answers, asked=asked)


# ---- by hand


def test_two_components_share_what_a_new_group_leaves():
    walks, apart = np.ones((2, 2)), np.zeros((2, 2), dtype=bool)
    one_group, own_group = chances_of_one_group(walks, apart, 0.25, 0.0)
    assert_allclose(one_group, [[0, 0.75], [0.75, 0]], atol=1e-12)
    assert_allclose(own_group, [0.25, 0.25])


def test_refused_groups_leave_their_share_to_the_others_and_to_a_new_one():
    walks = np.array([[1.0, 1, 1], [1, 1, 0], [1, 0, 1]])
    apart = np.zeros((3, 3), dtype=bool)
    apart[0, 1] = apart[1, 0] = True
    one_group, own_group = chances_of_one_group(walks, apart, 0.2, 0.0)
    # component 0: half of the walks are refused, .4 are left beside .2 for a new group
    assert_allclose(own_group, [0.2 / 0.6, 1, 0.2], atol=1e-9)
    assert_allclose(one_group[0, 2], (0.4 / 0.6 + 0.8) / 2)
    assert one_group[0, 1] == 0


def test_an_answer_that_may_be_wrong_leaves_a_chance():
    apart = ~np.eye(2, dtype=bool)
    one_group, own_group = chances_of_one_group(np.ones((2, 2)), apart, 0.5, 0.1)
    assert_allclose(one_group[0, 1], 0.05 / 0.55)
    assert_allclose(own_group, 0.5 / 0.55)


# ---- laws


def test_groups_that_are_all_apart_stay_as_they_are():
    labels = np.full(len(X), -1)
    labels[[rows[0] for rows in FIRST] + FIRST[1][1:4]] = [0, 1, 2, 1, 1, 1]
    knowledge = learn_quickly(X, S, Constraints.from_partial_labels(labels))
    settled = settle_groups(knowledge)
    assert_array_equal(settled.groups, knowledge.groups)
    assert_array_equal(settled.memberships, knowledge.memberships)


def test_a_row_kept_from_one_group_is_no_group_if_it_belongs_to_another():
    a, b, _ = FIRST
    chains = [pair for rows in FIRST for pair in pairwise(rows[:10])]
    stray = b[20]
    knowledge = know(chains, [(a[0], stray), (a[0], b[0])])
    settled = settle_groups(knowledge)
    assert knowledge.n_groups == 4
    assert settled.n_groups == 3
    assert settled.groups[stray] == -1
    assert settled.memberships[stray].argmax() == settled.groups[b[0]]
    assert settled.memberships[stray, settled.groups[a[0]]] == 0


def test_a_row_kept_from_every_group_is_a_new_one():
    a, b, c = FIRST
    chains = [pair for rows in (a, b) for pair in pairwise(rows[:10])]
    settled = settle_groups(know(chains, [(a[0], b[0]), (a[0], c[0]), (b[0], c[0])]))
    assert settled.n_groups == 3
    assert settled.groups[c[0]] == 2


def test_memberships_sum_to_1():
    a, b, c = FIRST
    settled = settle_groups(know([(a[0], a[1]), (b[0], b[1])], [(a[0], c[0]), (b[0], c[1])]))
    assert_allclose(settled.memberships.sum(axis=1), 1)


# ---- pairs, asked until every row is placed


def test_pairs_find_the_groups_and_never_ask_the_same_twice():
    must_link, cannot_link = [], []
    rng = np.random.default_rng(0)
    for _ in range(25):
        question = choose_question(know(must_link, cannot_link), ("pair",), rng)
        pair = tuple(sorted(question.rows))
        assert pair not in must_link + cannot_link
        (must_link if Y[pair[0]] == Y[pair[1]] else cannot_link).append(pair)
    settled = settle_groups(know(must_link, cannot_link))
    assert settled.n_groups == 3
    labels = settled.memberships.argmax(axis=1)
    assert all(len(np.unique(labels[rows])) == 1 for rows in FIRST)
    assert len(must_link) > len(cannot_link)


def test_components_that_are_probably_one_group_are_compared_first():
    a, b, _ = FIRST
    rings = [pair for rows in (a[:6], a[6:12], b[:6]) for pair in pairwise([*rows, rows[0]])]
    knowledge = know(rings, [(a[0], b[0])])  # no answer alone joins anything
    question = choose_question(knowledge, ("pair",), np.random.default_rng(1))
    assert not question.is_random
    assert sorted(row in a[:6] for row in question.rows) == [False, True]
    assert set(question.rows) <= set(a[:12])
