"""What is known after some answers: groups, who is apart, and memberships over the graph."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from likewise import Constraints
from likewise.cluster import field_covariance, interpolate_groups, known_components
from likewise.cluster.distance_field import DISTANCE_WEIGHT, DistanceField
from likewise.cluster.membership_spread import EVENNESS
from likewise.guided.known_groups import ONE_SIDED, share_by_fields
from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import Walks, learn_quickly
from likewise.labeling.knowledge import ALPHA, NOISE, join_components

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=60, n_clusters=3):
    X, y = make_blobs(n, 2, centers=n_clusters, cluster_std=2.0, random_state=seed)
    return X, y, normalized_adjacency(self_tuning_graph(X))[0]


# ---- by hand


def test_must_links_join_and_cannot_links_keep_apart():
    groups, apart = join_components(
        Constraints(6, must_link=[(4, 2)], cannot_link=[(2, 5), (0, 5)])
    )
    assert_array_equal(groups, [0, -1, 1, -1, 1, 2])
    assert_array_equal(apart, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_one_wrong_must_link_does_not_join_groups_that_two_answers_keep_apart():
    answers = Constraints(
        4, must_link=[(0, 1), (2, 3), (1, 2)], cannot_link=[(0, 2), (1, 3)], weights=[2, 2, 1, 1, 1]
    )
    groups, apart = join_components(answers)
    assert_array_equal(groups, [0, 0, 1, 1])
    assert apart[0, 1]


def test_a_link_that_joining_others_has_outweighed_does_not_join():
    answers = Constraints(3, must_link=[(0, 1), (0, 2)], cannot_link=[(1, 2)], weights=[3, 2, 5])
    groups, apart = join_components(answers)
    assert_array_equal(groups, [0, 0, 1])
    assert apart[0, 1]


def test_answers_that_cancel_out_leave_a_relation_open():
    groups, apart = join_components(Constraints(2, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    assert_array_equal(groups, [0, 1])
    assert not apart.any()


def test_answers_of_weight_0_do_not_count():
    groups, apart = join_components(
        Constraints(3, must_link=[(0, 1)], cannot_link=[(1, 2)], weights=[0, 1])
    )
    assert_array_equal(groups, [-1, 0, 1])
    assert apart.shape == (2, 2)


def test_before_any_answer_nothing_is_known():
    X, _, S = draw_rows(0)
    knowledge = learn_quickly(X, S, Constraints(len(X)))
    assert knowledge.n_groups == 0
    assert knowledge.memberships.shape == (60, 0)
    assert not len(knowledge.known_rows)


def test_rows_that_no_walk_reaches_have_all_memberships_alike():
    X = np.concatenate([np.arange(12.0), 1e6 + np.arange(12.0)])[:, None]
    S = normalized_adjacency(self_tuning_graph(X, 3))[0]
    knowledge = learn_quickly(X, S, Constraints(24, cannot_link=[(0, 11)]), walks=Walks(S))
    assert_array_equal(knowledge.memberships[12:], np.full((12, 2), 0.5))
    assert knowledge.memberships[1, 0] > knowledge.memberships[1, 1]


# ---- second routes


@given(SEEDS)
@settings(max_examples=15)
def test_memberships_are_those_of_a_gaussian_field_given_the_known_rows(seed):
    X, y, S = draw_rows(seed)
    known = np.full(len(X), -1)
    rows = np.sort(np.random.default_rng(seed).choice(len(X), 12, replace=False))
    known[rows] = y[rows]
    answers = Constraints.from_partial_labels(known)
    knowledge = learn_quickly(X, S, answers, walks=Walks(S))
    groups = known_components(answers).components
    assert_array_equal(knowledge.groups, groups)
    K = np.linalg.inv(np.eye(60) - ALPHA * S.toarray())
    Y = np.eye(groups.max() + 1)[groups[rows]]
    F = K[:, rows] @ np.linalg.solve(K[np.ix_(rows, rows)] + NOISE * np.eye(12), Y)
    F = np.maximum(F, 0)
    F /= np.maximum(F.sum(axis=1, keepdims=True), 1e-300)
    F /= F.mean(axis=0) ** EVENNESS
    others = np.flatnonzero((groups < 0) & (F.sum(axis=1) > 1e-3))
    F[others] /= F[others].sum(axis=1, keepdims=True)
    assert_allclose(knowledge.memberships[others], F[others], atol=1e-5)
    assert_allclose(knowledge.memberships.sum(axis=1), 1)
    assert_array_equal(knowledge.memberships.argmax(axis=1)[rows], groups[rows])
    by_distance = DistanceField(X).spread(groups, groups.max() + 1)
    both = (knowledge.memberships + DISTANCE_WEIGHT * by_distance) / (1 + DISTANCE_WEIGHT)
    assert_allclose(learn_quickly(X, S, answers).memberships[others], both[others], atol=1e-9)


@given(SEEDS)
@settings(max_examples=30)
def test_without_contradictions_groups_are_the_components_of_the_must_links(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 30)
    answers = Constraints.from_labels(y, n_pairs=int(rng.integers(1, 60)), random_state=seed)
    known = known_components(answers)
    groups, apart = join_components(answers)
    assert_array_equal(groups, known.components)
    expected = np.zeros((known.n_components, known.n_components), dtype=bool)
    expected[tuple(known.apart.T)] = True
    assert_array_equal(apart, expected | expected.T)


# ---- laws


@given(SEEDS)
@settings(max_examples=10)
def test_learning_answer_by_answer_is_the_same_to_the_last_bit_as_learning_at_once(seed):
    X, y, S = draw_rows(seed)
    answers = Constraints.from_labels(y, n_pairs=12, noise=0.2, random_state=seed)
    walks = Walks(S, X)
    for n in range(answers.n_answers + 1):
        step_by_step = learn_quickly(X, S, answers.subset(np.arange(n)), walks=walks)
    at_once = learn_quickly(X, S, answers)
    for name in ("groups", "apart", "memberships"):
        assert_array_equal(getattr(step_by_step, name), getattr(at_once, name))


@given(SEEDS)
@settings(max_examples=30)
def test_no_two_groups_that_are_left_would_rather_be_one(seed):
    y = np.random.default_rng(seed).integers(0, 3, 20)
    answers = Constraints.from_labels(y, n_pairs=60, noise=0.3, random_state=seed)
    groups, apart = join_components(answers)
    pairs, sign = answers.signed_pairs()
    net = np.zeros(apart.shape)
    np.add.at(net, tuple(groups[pairs].T), sign)
    net += net.T
    np.fill_diagonal(net, 0)
    assert (net <= 1e-9).all()
    assert_array_equal(apart, net < -1e-9)


def test_walks_between_rows_are_those_of_the_leading_directions():
    S = draw_rows(0)[2]
    K = np.linalg.inv(np.eye(60) - ALPHA * S.toarray())
    walks = Walks(S).between(np.arange(60), np.arange(60))
    left = np.linalg.eigvalsh(K - walks)
    assert left.min() > -1e-6  # nothing is counted twice
    assert left.max() < 2  # and long walks are all there: they make K's largest eigenvalue 50
    assert Walks(S).between([], np.array([5, 7])).shape == (0, 2)


def test_few_rows_and_many_are_spread_over_alike():
    S = normalized_adjacency(self_tuning_graph(np.random.default_rng(0).normal(size=(80, 3))))[0]
    groups = np.full(80, -1)
    groups[:12] = np.arange(12) % 4
    solved, inverted = (
        interpolate_groups(S, groups, 4, alpha=0.98, tol=1e-12, noise=0.05, covariance=covariance)
        for covariance in (None, field_covariance(S, alpha=0.98))
    )
    assert_allclose(inverted, solved, atol=1e-9)
    assert Walks(S).covariance is not None


@given(SEEDS)
@settings(max_examples=10)
def test_fields_of_a_fit_are_the_memberships_of_a_session(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    labels = np.full(50, -1)
    labels[rng.permutation(50)[:12]] = np.arange(12) % 3
    first = [np.flatnonzero(labels == group)[0] for group in range(3)]
    labels[labels >= 0] = np.argsort(np.argsort(first))[labels[labels >= 0]]  # as a session numbers
    S, _ = normalized_adjacency(self_tuning_graph(X, one_sided=ONE_SIDED))
    session = learn_quickly(X, S, Constraints.from_partial_labels(labels), walks=Walks(S, X))
    of_fit = share_by_fields(X, labels, 3)
    assert_allclose(of_fit[labels < 0], session.memberships[labels < 0], atol=1e-5)
