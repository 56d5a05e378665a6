"""The estimated share of rows placed rightly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs

from likewise import Constraints
from likewise.cluster.distance_field import DISTANCE_WEIGHT, DistanceField
from likewise.cluster.membership_spread import EVENNESS
from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import (
    LabelingSession,
    LabelOracle,
    Question,
    Walks,
    learn_quickly,
    settle_groups,
)
from likewise.labeling.knowledge import NOISE
from likewise.labeling.placed_share import (
    estimate_placed,
    log_odds,
    logistic,
    match_groups,
    share_given_hits,
    summarize_shares,
)
from likewise.labeling.settled_groups import leave_one_out


def know(X, labels):
    S = normalized_adjacency(self_tuning_graph(X))[0]
    knowledge = learn_quickly(X, S, Constraints.from_partial_labels(labels))
    return knowledge, settle_groups(knowledge)


def draw(seed, spread, n=300, n_known=40):
    X, y = make_blobs(n, 2, centers=4, cluster_std=spread, random_state=seed)
    labels = np.full(n, -1)
    rows = np.random.default_rng(seed).choice(n, n_known, replace=False)
    labels[rows] = y[rows]
    return X, y, labels


# ---- by hand


def test_labels_are_matched_to_groups_one_to_one():
    labels, groups = np.array([0, 0, 0, 1, 2, 2]), np.array([7, 7, 3, 7, 3, 3])
    assert_array_equal(match_groups(labels, groups), [7, -1, 3])


def test_a_known_row_is_judged_by_the_others_alone():
    X, _, labels = draw(0, 1.0, n=80, n_known=12)
    knowledge, settled = know(X, labels)
    known = knowledge.known_rows
    own = settled.groups[known]
    own[0] = settled.n_groups  # alone in its group: never a hit
    memberships = leave_one_out(knowledge.walks, known, own, settled.n_groups + 1)
    assert_allclose(memberships.sum(axis=1), 1)
    assert memberships[0, settled.n_groups] < 1e-6


def test_quantiles_are_those_of_weighted_values():
    shares = np.arange(101) / 100
    placed = summarize_shares(shares[::-1], np.full(101, 1 / 101))
    assert_allclose(placed, [0.5, 0.05, 0.95], atol=1e-9)


def test_log_odds_and_logistic_undo_each_other():
    chances = np.array([0.01, 0.5, 0.98])
    assert_allclose(logistic(log_odds(chances)), chances)


# ---- second route


def test_leaving_out_is_learning_without_the_row():
    X, _, labels = draw(0, 1.0, n=80, n_known=12)
    knowledge, settled = know(X, labels)
    known = knowledge.known_rows
    own = settled.groups[known]
    walks = Walks(knowledge.S)  # of the graph alone
    fast = leave_one_out(walks, known, own, settled.n_groups, sharpness=1.0)
    both = leave_one_out(knowledge.walks, known, own, settled.n_groups, sharpness=1.0)
    by_distance = DistanceField(X).leave_one_out(known, own, settled.n_groups)
    assert_allclose(both, (fast + DISTANCE_WEIGHT * by_distance) / (1 + DISTANCE_WEIGHT))
    Phi, Y = knowledge.walks.coordinates, np.eye(settled.n_groups)[own]
    K = Phi @ Phi.T
    Q = np.linalg.inv(K[np.ix_(known, known)] + (1 + NOISE) * np.eye(12))
    everywhere = np.maximum(K[:, known] @ Q @ Y, 1e-6)
    sizes = (everywhere / everywhere.sum(axis=1, keepdims=True)).mean(axis=0)
    for i, row in enumerate(known):
        others = np.delete(known, i)
        Q = np.linalg.inv(K[np.ix_(others, others)] + (1 + NOISE) * np.eye(11))
        F = np.maximum(K[row, others] @ Q @ np.delete(Y, i, axis=0), 1e-6) / sizes**EVENNESS
        assert_allclose(fast[i], F / F.sum(), atol=1e-5)


# ---- laws


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000))
def test_more_hits_never_lower_the_estimate(seed):
    rng = np.random.default_rng(seed)
    x, x_others = rng.normal(size=20), rng.normal(size=30)
    is_hit = rng.random(20) < 0.5
    before = summarize_shares(*share_given_hits(x, is_hit, x_others, guess=0.0, lapse=0.0))
    is_hit[np.argmin(is_hit)] = True
    after = summarize_shares(*share_given_hits(x, is_hit, x_others, guess=0.0, lapse=0.0))
    assert after.mean >= before.mean


def test_the_same_hits_say_more_of_people_who_err():
    X, _, labels = draw(1, 2.0)
    careful, hasty = (estimate_placed(*know(X, labels), error_rate=e) for e in (0.0, 0.1))
    free_careful = careful.mean * 300 - 40
    assert (hasty.mean * 300 - 40 * 0.9) > free_careful


def test_before_anything_can_be_compared_nothing_is_known():
    X, y, _ = draw(0, 1.0)
    labels = np.full(300, -1)
    assert estimate_placed(*know(X, labels)) == (0.5, 0.0, 1.0)
    labels[[np.flatnonzero(y == group)[0] for group in range(4)]] = range(4)
    assert estimate_placed(*know(X, labels)) == (0.5, 0.0, 1.0)


def test_when_all_rows_are_known_all_are_placed():
    X, y, _ = draw(0, 1.0)
    assert estimate_placed(*know(X, y)) == (1.0, 1.0, 1.0)


# ---- what it promises


@pytest.mark.parametrize("spread", [0.5, 1.5, 3.0])
def test_the_interval_holds_the_share_in_most_runs(spread):
    n_held = 0
    for seed in range(8):
        X, y, labels = draw(seed, spread)
        knowledge, settled = know(X, labels)
        named = np.array([y[settled.groups == g][0] for g in range(settled.n_groups)])
        found = named[settled.memberships.argmax(axis=1)]
        placed = estimate_placed(knowledge, settled)
        n_held += placed.low <= np.mean(found == y) <= placed.high
        assert placed.high - placed.low < 0.35
    assert n_held >= 6


def test_permuted_answers_are_seen_to_place_few_rows():
    X, _, labels = draw(2, 1.0)
    known = np.flatnonzero(labels >= 0)
    labels[known] = np.random.default_rng(0).permutation(labels[known])
    assert estimate_placed(*know(X, labels)).mean < 0.5


def test_where_people_err_knowing_all_rows_is_not_being_sure():
    X, y = make_blobs(10, 2, centers=2, cluster_std=3.0, random_state=0)
    session = LabelingSession(X, kinds=("pair",), random_state=0)
    oracle = LabelOracle(y, wrong=0.25, random_state=0)
    for a in range(10):
        for b in range(a + 1, min(a + 4, 10)):
            question = Question("pair", (b, a))
            session.answer(question, oracle(question))
    assert session.knowledge.likely is not None
    assert len(session.knowledge.known_rows) == len(X)
    placed = session.progress.placed
    assert placed.low < 1
    assert placed.low <= placed.mean <= placed.high


def test_the_interval_holds_the_share_for_pairs_of_people_who_err():
    held = []
    for seed in range(4):
        X, y = make_blobs(120, 2, centers=4, cluster_std=1.5, random_state=seed)
        session = LabelingSession(X, kinds=("pair",), random_state=seed)
        oracle = LabelOracle(y, wrong=0.1, cant_tell=0.1, random_state=seed)
        for _ in range(40):
            question = session.next_question()
            session.answer(question, oracle(question))
        counts = np.zeros((4, session.labels.max() + 1))
        np.add.at(counts, (y, session.labels), 1)
        share = counts[linear_sum_assignment(-counts)].sum() / len(y)
        placed = session.progress.placed
        held.append(placed.low <= share <= placed.high)
    assert np.mean(held) >= 3 / 4
