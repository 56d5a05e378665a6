"""What to ask next: rows that tell about doubtful ones, and what a question shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from likewise import Constraints
from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import choose_question, learn_quickly
from likewise.labeling.knowledge import ALPHA, NOISE, Founder
from likewise.labeling.settled_groups import settle_groups
from likewise.labeling.what_to_ask import (
    LEAST_DOUBT,
    LEAST_WRONG_NEW,
    MOST_SHOWN,
    RANDOM_SHARE,
    ask_about,
    doubtful_founder,
    doubtful_row,
    doubts_of,
    gains_of,
    open_rows,
    typical_rows,
    variance_taken,
)

SEEDS = st.integers(0, 10_000)


def draw_rows(seed, n=60, n_clusters=3, spread=1.0):
    X, y = make_blobs(n, 2, centers=n_clusters, cluster_std=spread, random_state=seed)
    return X, y, normalized_adjacency(self_tuning_graph(X))[0]


def know(X, S, labels, asked=()):
    """What is known when the rows with labels >= 0 are."""
    return learn_quickly(X, S, Constraints.from_partial_labels(labels), asked=asked)


def label_some(y, rows):
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    return labels


# ---- by hand


def test_a_row_takes_away_its_own_variance_and_what_it_shares():
    Phi = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    none = np.empty(0, dtype=int)
    gains = variance_taken(Phi, none, np.ones(3))
    assert_allclose(gains, [2 / (1 + NOISE), 2 / (1 + NOISE), 1 / (1 + NOISE)])


def test_a_row_whose_twin_is_known_tells_next_to_nothing():
    Phi = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    left = NOISE / (1 + NOISE)  # 1 - 1 / (1 + NOISE)
    gains = variance_taken(Phi, np.array([0]), np.ones(3))
    assert_allclose(gains[1], 2 * left**2 / (left + NOISE))
    assert_allclose(gains[2], 1 / (1 + NOISE))


def test_doubtful_rows_count_more():
    memberships = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert_allclose(doubts_of(memberships), [LEAST_DOUBT, LEAST_DOUBT + 0.5])


def test_the_row_that_is_most_surely_in_a_group_stands_for_it():
    trust = np.array([0.2, 0.9, 0.5, 0.1, 0.0])
    assert typical_rows(trust, np.array([0, 0, 0, 1, -1]), 0) == (1, 2, 0)


# ---- second route


@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_gains_are_those_of_a_gaussian_given_the_known_rows(seed):
    S = draw_rows(seed, n=30)[2]
    rng = np.random.default_rng(seed)
    known = np.sort(rng.choice(30, 4, replace=False))
    K = np.linalg.inv(np.eye(30) - ALPHA * S.toarray())
    Phi = np.linalg.cholesky(K)
    doubts = rng.random(30) + 0.1
    C = K - K[:, known] @ np.linalg.inv(K[np.ix_(known, known)] + NOISE * np.eye(4)) @ K[known]
    slow = (doubts / doubts.mean()) @ C**2 / (np.diag(C) + NOISE)
    assert_allclose(variance_taken(Phi, known, doubts), slow, rtol=1e-6)


# ---- laws


@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_the_order_of_rows_does_not_matter(seed):
    X, y, S = draw_rows(seed)
    labels = label_some(y, np.arange(6))
    order = np.random.default_rng(seed).permutation(len(X))
    here = know(X, S, labels)
    there = know(X[order], S[order][:, order], labels[order])
    assert_allclose(
        gains_of(there, settle_groups(there)), gains_of(here, settle_groups(here))[order], rtol=1e-4
    )


def test_the_same_generator_asks_the_same():
    X, y, S = draw_rows(0)
    knowledge = know(X, S, label_some(y, [0, 1, 2]))
    asked = [choose_question(knowledge, ("group",), np.random.default_rng(7)) for _ in range(2)]
    assert asked[0] == asked[1]


@pytest.mark.parametrize("kind", ["group", "pair"])
def test_questions_are_about_rows_whose_group_is_not_known(kind):
    X, y, S = draw_rows(0)
    knowledge = know(X, S, label_some(y, np.arange(20)))
    knowledge = knowledge._replace(settled_rows=frozenset(range(20)))
    rng = np.random.default_rng(0)
    rows = {choose_question(knowledge, (kind,), rng).rows[0] for _ in range(40)}
    assert rows <= set(range(20, 60))
    assert len(rows) > 1


def test_before_any_answer_two_rows_are_compared():
    X, _, S = draw_rows(0)
    question = choose_question(know(X, S, np.full(60, -1)), ("group",), np.random.default_rng(0))
    assert question.kind == "group"
    assert len(question.groups) == 1
    assert question.groups[0][0] != question.rows[0]


def test_the_first_questions_find_a_row_of_every_cluster():
    X, y, S = draw_rows(3, n=200, n_clusters=5, spread=0.5)
    labels = np.full(200, -1)
    rng = np.random.default_rng(0)
    for _ in range(8):
        question = choose_question(know(X, S, labels), ("group",), rng)
        for row in (question.rows[0], *(group[0] for group in question.groups)):
            labels[row] = y[row]
    assert set(labels[labels >= 0]) == set(range(5))


def test_the_likeliest_groups_come_first_and_the_others_on_later_screens():
    X, y, S = draw_rows(1, n=300, n_clusters=10, spread=0.3)
    first = [int(np.flatnonzero(y == g)[0]) for g in range(10)]
    knowledge = know(X, S, label_some(y, first))
    question = choose_question(knowledge, ("group",), np.random.default_rng(1))
    shown = [knowledge.groups[group[0]] for group in question.groups]
    later = [knowledge.groups[group[0]] for group in question.more]
    assert len(shown) == MOST_SHOWN
    assert sorted(shown + later) == list(range(10))
    likely = knowledge.memberships[question.rows[0]][shown + later]
    assert (np.diff(likely) <= 0).all()


def test_about_one_in_ten_questions_is_random_and_random_ones_are_uniform():
    X, y, S = draw_rows(0, n=12)
    knowledge = know(X, S, label_some(y, [0, 1]))
    rng = np.random.default_rng(0)
    questions = [choose_question(knowledge, ("group",), rng) for _ in range(800)]
    rows = [question.rows[0] for question in questions if question.is_random]
    assert abs(len(rows) / 800 - RANDOM_SHARE) < 4 * np.sqrt(RANDOM_SHARE / 800)
    counts = np.bincount(rows, minlength=12)[open_rows(knowledge)]
    expected = len(rows) / len(counts)
    assert np.square(counts - expected).sum() / expected < 30  # chi-square, 9 degrees: p < .0005


# ---- answers that may be wrong


def mislabel(spread=1.0):
    """Three clusters of 40 rows, eight rows of each known, and one of these in a wrong group."""
    centers = [[0, 0], [6, 0], [0, 6]]
    X, y = make_blobs(120, centers=centers, cluster_std=spread, random_state=5)
    S = normalized_adjacency(self_tuning_graph(X))[0]
    known = np.concatenate([np.flatnonzero(y == group)[:8] for group in range(3)])
    labels = label_some(y, known)
    labels[known[3]] = (y[known[3]] + 1) % 3
    return X, S, labels, int(known[3])


def test_an_answer_that_all_others_speak_against_is_asked_for_again():
    X, S, labels, wrong_row = mislabel()
    question = choose_question(know(X, S, labels), ("group",), np.random.default_rng(0))
    assert question.is_repeat
    assert question.rows == (wrong_row,)


def test_an_answer_given_twice_is_not_asked_for_again():
    X, S, labels, wrong_row = mislabel()
    knowledge = know(X, S, labels)._replace(settled_rows=frozenset([wrong_row]))
    assert not choose_question(knowledge, ("group",), np.random.default_rng(0)).is_repeat


def test_people_whose_answers_stay_the_same_are_asked_again_less_often():
    X, S, labels, _ = mislabel(spread=2.5)
    knowledge = know(X, S, labels)
    assert doubtful_row(knowledge._replace(n_reviews=40, n_changed=20)) is not None
    assert doubtful_row(knowledge._replace(n_reviews=400, n_changed=0)) is None


def test_a_wrong_row_does_not_stand_for_its_group():
    X, S, labels, wrong_row = mislabel()
    question = choose_question(know(X, S, labels), ("group",), np.random.default_rng(0))
    assert all(wrong_row not in group for group in question.groups)


def begin_group(n_before, n_new=1, elsewhere=(), *, n_changed=0, n_reviews=0):
    """Three clusters, four rows of each known; one row of the first began a group of its own."""
    X, y, S = draw_rows(5, n=90, spread=0.5)
    rows = [np.flatnonzero(y == group)[:4] for group in range(3)]
    labels = label_some(y, np.concatenate(rows))
    founder = int(np.flatnonzero(y == 0)[4])
    labels[founder] = 3
    founders = (Founder(founder, n_before, n_new, elsewhere),)
    knowledge = know(X, S, labels)._replace(
        founders=founders, n_changed=n_changed, n_reviews=n_reviews
    )
    return knowledge, founder


def test_a_late_new_group_is_looked_at_again_without_itself_on_the_screen():
    knowledge, founder = begin_group(n_before=60)
    question = choose_question(knowledge, ("group",), np.random.default_rng(0))
    assert question.rows == (founder,)
    assert question.is_repeat
    assert founder not in {row for group in question.groups for row in group}
    assert len(question.groups) == 3


def test_the_chance_that_a_new_group_is_an_old_one_by_hand():
    # e = .05, five answers offered: odds 20 (1 - nu) / nu / 95 of an error, nu = 3 / (3 + n)
    odds = [(n / 3) * (0.05 / 0.95 / 5) for n in (8, 9)]
    assert odds[0] / (1 + odds[0]) < LEAST_WRONG_NEW < odds[1] / (1 + odds[1])
    assert doubtful_founder(begin_group(n_before=8)[0]) is None
    assert doubtful_founder(begin_group(n_before=9)[0]) is not None


def test_people_who_change_their_minds_are_asked_about_earlier_groups():
    assert doubtful_founder(begin_group(n_before=5)[0]) is None
    assert doubtful_founder(begin_group(n_before=5, n_changed=4, n_reviews=8)[0]) is not None
    assert doubtful_founder(begin_group(n_before=20, n_reviews=90)[0]) is None


def test_a_new_group_that_was_confirmed_or_joined_is_not_looked_at_again():
    assert doubtful_founder(begin_group(n_before=60, n_new=2)[0]) is None
    knowledge, founder = begin_group(n_before=60)
    same_group = int(np.flatnonzero(knowledge.groups == knowledge.groups[founder])[0])
    joined = knowledge._replace(founders=(Founder(founder, 60, 1, (same_group,)),))
    assert doubtful_founder(joined) is None


def test_the_first_answer_is_doubted_when_a_second_one_denies_it():
    knowledge, founder = begin_group(n_before=0)
    assert doubtful_founder(knowledge) is None
    elsewhere = int(np.flatnonzero(knowledge.groups == 0)[0])
    for n_new in (1, 2):
        even = knowledge._replace(founders=(Founder(founder, 20, n_new, (elsewhere,)),))
        assert doubtful_founder(even) == founder
    assert doubtful_founder(begin_group(0, elsewhere=(elsewhere,))[0]) == founder
    often = knowledge._replace(founders=(Founder(founder, 20, 2, (elsewhere,) * 2),))
    assert doubtful_founder(often) is None


def test_of_many_groups_the_one_that_others_speak_for_is_shown_first_for_a_known_row():
    n_groups = 4 * MOST_SHOWN
    X, y = make_blobs(6 * n_groups, 8, centers=n_groups, cluster_std=0.3, random_state=0)
    S = normalized_adjacency(self_tuning_graph(X))[0]
    for group in range(0, n_groups, 5):
        rows = np.concatenate([np.flatnonzero(y == other)[:3] for other in range(n_groups)])
        labels = label_some(y, rows)
        founder = int(np.flatnonzero(y == group)[4])
        labels[founder] = n_groups
        knowledge = know(X, S, labels)
        settled = settle_groups(knowledge)
        own = int(settled.groups[founder])
        question = ask_about(founder, knowledge, settled, ("group",), hidden=own)
        assert set(y[list(question.groups[0])]) == {group}


# ---- the end


def test_rows_asked_about_in_vain_are_not_asked_about_again():
    X, y, S = draw_rows(0)
    knowledge = know(X, S, label_some(y, np.arange(58)), asked=[(58,)])
    question = choose_question(knowledge, ("group",), np.random.default_rng(0))
    assert question.rows == (59,)


def test_when_every_group_is_known_nothing_is_asked():
    X, y, S = draw_rows(0)
    assert choose_question(know(X, S, y), ("group",), np.random.default_rng(0)) is None
