"""Likely groups of rows by pairs: by hand, by enumeration, and in sessions of people who err."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.labeling import LabelingSession, LabelOracle, Walks, likely_groups
from likewise.labeling.likely_groups import (
    FALL,
    HALVES,
    LEAST_SHARE,
    MOST_ERRORS,
    N_WARMING,
    draw_groups,
    earlier_shares,
    expected_index,
    extend,
    join_chances,
    link_chances,
    new_chances,
    number_by_first,
    settle_on,
    votes_between,
    walk_links,
)

SEEDS = st.integers(0, 10_000)


def draw_walks(seed, n=60):
    X, y = make_blobs(n, 2, centers=3, cluster_std=0.5, random_state=seed)
    return Walks(normalized_adjacency(self_tuning_graph(X))[0], X), y


def draw_problem(seed, m=4):
    """A prior, as chances of joins (m, m), of new groups (2, m) and of two halves, and answers."""
    rng = np.random.default_rng(seed)
    joins = np.tril(rng.random((m, m)) + 0.1, -1)
    joins[1:] /= joins[1:].sum(axis=1, keepdims=True)
    new = rng.uniform(0.1, 0.9, (2, m))
    new[:, 0] = 1.0
    pairs = [(a, b, rng.choice([-1.0, 1.0])) for a, b in combinations(range(m), 2)]
    return (joins, new, np.array([0.3, 0.7])), *votes_between(pairs, np.arange(m))


def draw_links(function, prior, together, apart, n_sweeps, seed):
    """Groups, error rates and halves of all sweeps."""
    joins, new, halves = prior
    m = len(joins)
    drawn, errors = np.empty((n_sweeps, m), dtype=np.int64), np.empty(n_sweeps)
    at_half = np.empty(n_sweeps, dtype=np.int64)
    log_joins, log_new, log_old = (np.log(np.maximum(p, 1e-300)) for p in (joins, new, 1 - new))
    uniforms = np.random.default_rng(seed).random((n_sweeps, m))
    function(
        *(log_joins, log_new, log_old, np.log(halves)),
        *(together, apart, uniforms, drawn, errors, at_half),
    )
    return drawn, errors, at_half


def draw_person(y, n, *, wrong, seed=0):
    session = LabelingSession(draw_rows(y, seed), kinds=("pair",), random_state=seed)
    oracle = LabelOracle(y, wrong=wrong, cant_tell=wrong, random_state=seed)
    for _ in range(n):
        question = session.next_question()
        session.answer(question, oracle(question))
    return session


def draw_rows(y, seed):
    return 2.5 * np.eye(4)[y] + np.random.default_rng(seed).normal(size=(len(y), 4))


# ---- by hand


def test_votes_are_added_up_both_ways_by_hand():
    together, apart = votes_between([(7, 5, 1.0), (5, 7, 0.5), (5, 9, -1.0)], np.array([5, 7, 9]))
    assert_array_equal(together, [[0, 1.5, 0], [1.5, 0, 0], [0, 0, 0]])
    assert_array_equal(apart, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_the_first_row_begins_a_group_and_a_row_at_half_does_with_one_half():
    walks, _ = draw_walks(0)
    chances = link_chances(walks, np.array([3, 8, 11]), half=1.0)
    assert_allclose(np.diag(chances), [1, 1 / 2, 1 / (1 + 2**FALL)])
    assert_allclose(chances.sum(axis=1), 1)
    assert_array_equal(np.triu(chances, 1), 0)


def test_the_second_row_can_join_nothing_but_the_first():
    walks, _ = draw_walks(0)
    joins = join_chances(walks, np.array([3, 8, 11]))
    assert_allclose(joins[:2], [[0, 0, 0], [1, 0, 0]])
    assert_allclose(joins[2].sum(), 1)


@given(st.floats(0.5, 60))
def test_the_odds_of_a_new_group_fall_with_the_rows_before(half):
    new = new_chances(50, half)
    assert new[0] == 1
    assert (np.diff(new) < 0).all()
    assert_allclose(new[1:] / (1 - new[1:]), (half / np.arange(1, 50)) ** FALL, rtol=1e-9)


def test_groups_are_numbered_by_their_first_rows():
    assert_array_equal(number_by_first(np.array([7, 2, 7, 0])), [0, 1, 0, 2])


def test_new_rows_join_the_group_that_they_link_to():
    drawn = np.array([[0, 1], [0, 0]])
    chances = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 1.0, 0]])
    extended = extend(drawn, chances, np.random.default_rng(0))
    assert_array_equal(extended, [[0, 1, 1], [0, 0, 0]])


# ---- second routes


@given(SEEDS)
def test_shares_of_earlier_rows_are_those_of_a_regression(seed):
    A = np.random.default_rng(seed).normal(size=(6, 6))
    covariance = A @ A.T + np.eye(6)
    shares = earlier_shares(covariance)
    for i in range(1, 6):
        weights = np.linalg.solve(covariance[:i, :i], covariance[:i, i])
        kept = np.maximum(weights, LEAST_SHARE)
        assert_allclose(shares[i, :i], kept / kept.sum(), atol=1e-9)


@pytest.mark.parametrize("problem", range(3))
def test_groups_are_drawn_as_often_as_enumeration_says(problem, monkeypatch):
    error_rate = 0.2
    monkeypatch.setattr(likely_groups, "PRIOR_ERRORS", error_rate)
    monkeypatch.setattr(likely_groups, "PRIOR_REVIEWS", 1e12)  # the error rate stays as it is
    prior, together, apart = draw_problem(problem)
    joins, new, halves = prior
    exact, of_half = np.zeros((4, 4)), np.zeros(2)
    for links in product(*(range(i + 1) for i in range(4))):
        groups = np.arange(4)
        for i, j in enumerate(links):
            groups[i] = groups[j]
        same = groups[:, None] == groups
        n_wrong = np.where(same, apart, together).sum() / 2
        surprise = (error_rate / (1 - error_rate)) ** n_wrong
        for h, begins in enumerate(new):
            chances = [
                begins[i] if i == j else (1 - begins[i]) * joins[i, j] for i, j in enumerate(links)
            ]
            chance = halves[h] * np.prod(chances) * surprise
            exact += chance * same
            of_half[h] += chance
    drawn, errors, at_half = draw_links(walk_links.py_func, prior, together, apart, 6000, problem)
    same = np.mean([groups[:, None] == groups for groups in drawn[N_WARMING:]], axis=0)
    assert_allclose(same, exact / of_half.sum(), atol=0.05)
    assert_allclose(np.mean(at_half[N_WARMING:] == 1), of_half[1] / of_half.sum(), atol=0.05)
    assert_allclose(errors, error_rate, atol=1e-9)


def test_what_is_drawn_while_answers_count_little_is_left_out(monkeypatch):
    def draw_in_two_parts(*given):
        drawn, errors, at_half = given[-3:]
        drawn[:], drawn[N_WARMING:] = np.arange(3), 0
        errors[:], errors[N_WARMING:] = 0.3, 0.1
        at_half[:], at_half[N_WARMING:] = 9, 2

    monkeypatch.setattr(likely_groups, "walk_links", draw_in_two_parts)
    likely = draw_groups(draw_walks(0)[0], [(3, 8, 1.0)], np.array([3, 8, 11]), seed=0)
    assert (likely.drawn == 0).all()
    assert_array_equal(likely.groups, 0)
    assert_allclose(likely.error_rate, 0.1)
    assert_allclose(likely.half, HALVES[2])


def test_the_compiled_loop_draws_what_its_source_draws():
    problem = draw_problem(5, m=12)
    compiled, source = (draw_links(f, *problem, 30, 0) for f in (walk_links, walk_links.py_func))
    assert_array_equal(compiled[0], source[0])
    assert_allclose(compiled[1], source[1])
    assert_array_equal(compiled[2], source[2])


@given(SEEDS)
def test_the_expected_index_with_certain_groups_is_the_adjusted_rand_index(seed):
    rng = np.random.default_rng(seed)
    groups, others = rng.integers(4, size=(2, 15))
    same = (others[:, None] == others).astype(float)
    assert expected_index(groups, same) == pytest.approx(adjusted_rand_score(others, groups))


# ---- certificate


@given(SEEDS)
@settings(max_examples=30)
def test_no_groups_drawn_and_no_merge_are_better_than_those_settled_on(seed):
    drawn = np.random.default_rng(seed).integers(4, size=(8, 9))
    same = np.mean([groups[:, None] == groups for groups in drawn], axis=0)
    groups = settle_on(drawn)
    best = expected_index(groups, same)
    assert all(expected_index(one, same) <= best + 1e-12 for one in drawn)
    if groups.max() > 1:
        for a, b in combinations(range(groups.max() + 1), 2):
            assert expected_index(np.where(groups == b, a, groups), same) <= best + 1e-12


# ---- laws


@given(SEEDS)
@settings(max_examples=20)
def test_names_of_groups_and_the_order_of_draws_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(3, size=(6, 8))
    renamed = np.array([rng.permutation(3)[groups] for groups in drawn])
    same = np.mean([groups[:, None] == groups for groups in drawn], axis=0)
    first, second = settle_on(drawn), settle_on(renamed[::-1])
    assert expected_index(first, same) == pytest.approx(expected_index(second, same))


def test_the_order_of_answers_does_not_matter():
    walks, y = draw_walks(1)
    rows = np.arange(0, 60, 4)
    pairs = [(a, b, 1.0 if y[a] == y[b] else -1.0) for a, b in combinations(rows.tolist(), 2)]
    forward = draw_groups(walks, pairs[::3], rows, seed=0)
    backward = draw_groups(walks, pairs[::3][::-1], rows, seed=0)
    assert_array_equal(forward.drawn, backward.drawn)
    assert_array_equal(forward.groups, backward.groups)


def test_right_answers_about_all_pairs_give_the_classes_and_few_errors():
    walks, y = draw_walks(2)
    rows = np.arange(0, 60, 4)
    pairs = [(a, b, 1.0 if y[a] == y[b] else -1.0) for a, b in combinations(rows.tolist(), 2)]
    likely = draw_groups(walks, pairs, rows, seed=0)
    assert adjusted_rand_score(y[rows], likely.groups) == 1
    assert likely.error_rate < 0.01


@pytest.mark.parametrize("problem", range(4))
def test_most_answers_are_right_where_classes_have_nothing_to_do_with_the_rows(problem):
    rng = np.random.default_rng(problem)
    X, y = rng.normal(size=(200, 6)), rng.integers(2, size=200)
    rows = np.arange(0, 200, 6)
    ends = [rng.choice(rows, 2, replace=False).tolist() for _ in range(90)]
    is_right = rng.random(90) > 0.1
    pairs = [
        (a, b, 1.0 if (y[a] == y[b]) == right else -1.0) for (a, b), right in zip(ends, is_right)
    ]
    walks = Walks(normalized_adjacency(self_tuning_graph(X))[0], X)
    likely = draw_groups(walks, pairs, rows, seed=0)
    place = {row: i for i, row in enumerate(rows.tolist())}
    groups = likely.groups
    wrong = [(groups[place[a]] == groups[place[b]]) != (sign > 0) for a, b, sign in pairs]
    assert np.mean(wrong) < 0.25
    assert likely.error_rate <= MOST_ERRORS


def test_wrong_answers_are_outvoted_and_counted():
    walks, y = draw_walks(2)
    rows, rng = np.arange(0, 60, 4), np.random.default_rng(1)
    pairs = [
        (a, b, 1.0 if (y[a] == y[b]) != (rng.random() < 0.15) else -1.0)
        for a, b in combinations(rows.tolist(), 2)
    ]
    n_wrong = sum((y[a] == y[b]) != (weight > 0) for a, b, weight in pairs)
    likely = draw_groups(walks, pairs, rows, seed=0)
    assert adjusted_rand_score(y[rows], likely.groups) == 1
    assert likely.error_rate == pytest.approx(n_wrong / len(pairs), abs=0.03)


# ---- contract: a session of people who err


def test_people_who_never_err_are_believed_to_the_letter():
    session = draw_person(np.repeat([0, 1, 2, 3], 20), 30, wrong=0.0)
    assert session.knowledge.likely is None


def test_a_replayed_session_of_people_who_err_has_the_same_groups_and_question():
    session = draw_person(np.repeat([0, 1, 2, 3], 20), 40, wrong=0.15)
    assert session.knowledge.likely is not None
    twin = session.twin()
    assert_array_equal(twin.labels, session.labels)
    assert_array_equal(twin.knowledge.likely.drawn, session.knowledge.likely.drawn)
    assert twin.propose() == session.propose()
    assert twin.progress == session.progress


def test_people_who_err_get_most_rows_into_the_right_groups():
    y = np.repeat([0, 1, 2, 3], 20)
    sessions = [draw_person(y, 80, wrong=0.1, seed=seed) for seed in range(2)]
    scores = [adjusted_rand_score(y, session.labels) for session in sessions]
    rates = [s.knowledge.likely.error_rate for s in sessions if s.knowledge.likely is not None]
    assert np.mean(scores) > 0.6
    assert rates
    assert 0.04 <= np.mean(rates) <= 0.2
