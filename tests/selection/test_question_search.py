"""What to ask next: by hand, against slower routes, and what must never be asked."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs

from likewise import ITML, Constraints, GuidedClustering, next_questions
from likewise.selection.landscape import (
    answered_groups,
    cluster_groups,
    memberships,
    survey,
    take_rows,
)
from likewise.selection.question_search import (
    STRATEGIES,
    cover,
    entropies,
    expected_questions,
    rank,
)

LINE = np.array([[0.0], [0.1], [0.2], [5.0], [9.8], [9.9], [10.0]])
TOLD = Constraints(7, must_link=[(0, 1), (5, 6)], cannot_link=[(0, 5)])


def ask(strategy, told=TOLD, X=LINE, n=1, **settings):
    settings = {"n_clusters": 2, "random_share": 0.0, "random_state": 0} | settings
    return next_questions(X, told, n, strategy=strategy, **settings)


@pytest.mark.parametrize("strategy", ["uncertainty", "farthest-first", "min-max"])
def test_the_row_between_two_groups_is_asked_about_first(strategy):
    told = TOLD + Constraints(7, must_link=[(1, 2), (4, 5)])
    assert 3 in ask(strategy, told)[0].rows


def test_expected_change_prefers_a_crowd_to_an_outlier():
    X = np.array([[0.0], [0.1], [50.0], [20.0], [20.1], [19.9], [20.2], [20.05]])
    told = Constraints(8, must_link=[(0, 1)])
    assert ask("expected-change", told, X)[0].rows[0] in (3, 4, 5, 6, 7)
    assert ask("min-max", told, X)[0].rows[0] == 2


def test_a_row_kept_from_one_group_is_asked_about_until_its_group_is_found():
    told = TOLD + Constraints(7, cannot_link=[(3, 0)])
    for strategy in ("expected-change", "uncertainty", "min-max", "farthest-first"):
        question = ask(strategy, told)[0]
        assert question.rows[0] == 3, strategy
        assert question.rows[1] in (4, 5, 6), strategy


def test_an_odd_one_out_shows_a_row_beside_two_groups_known_to_be_apart():
    rows = ask("min-max", kind="triples")[0].rows
    assert rows[0] == 3
    assert {min(rows[1:]), max(rows[1:])} in ({0, 5}, {1, 5}, {0, 6}, {1, 6})


def test_without_answers_there_is_something_to_ask():
    for strategy in STRATEGIES:
        for kind, size in (("pairs", 2), ("triples", 3)):
            found = ask(strategy, None, n=3, kind=kind)
            assert len(found) == 3, (strategy, kind)
            assert all(len(set(question.rows)) == size for question in found)


def test_nothing_is_asked_when_everything_is_known():
    told = Constraints.from_partial_labels(np.array([0, 0, 0, 0, 1, 1, 1]))
    for strategy in STRATEGIES:
        assert ask(strategy, told, n=5, random_share=0.5) == []


def answer_until_nothing_is_left(strategy, X, y, random_share=0.3):
    told = Constraints(len(X))
    for n_rounds in range(len(X) ** 2):
        found = ask(strategy, told, X, n=4, random_share=random_share, random_state=n_rounds)
        if not found:
            return told, n_rounds
        is_together = [bool(y[a] == y[b]) for a, b in (question.rows for question in found)]
        rows = np.array([question.rows for question in found])
        told = told + Constraints(
            len(X), must_link=rows[is_together], cannot_link=rows[~np.array(is_together)]
        )
    raise AssertionError(f"{strategy} never stops")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_asking_stops_with_an_empty_list_once_every_group_is_known(strategy, seed):
    X, y = make_blobs(24, centers=[[0, 0], [0, 9]], random_state=seed)
    told, n_rounds = answer_until_nothing_is_left(strategy, X, y)
    pairs = np.array([(i, j) for i in range(24) for j in range(i)])
    assert (told.closure().known(pairs) != 0).all()
    assert n_rounds <= told.n_answers  # no round without a question


@pytest.mark.parametrize("strategy", ["expected-change", "min-max"])
@pytest.mark.parametrize("random_share", [0.5, 1.0])
def test_random_questions_are_not_put_where_the_strategy_has_none(strategy, random_share):
    X = np.array([[0.0], [0.0], [9.0], [9.0]])  # each of the others lies on a row that is placed
    told = Constraints(4, cannot_link=[(0, 2)])
    assert ask("random", told, X, n=5) != []
    for seed in range(20):
        settings = {"n": 5, "random_share": random_share, "random_state": seed}
        assert ask(strategy, told, X, **settings) == []
        assert ask(strategy, None, LINE, **settings) != []


def test_of_few_rows_the_last_random_question_is_found():
    n = 40
    skip = [(i, j) for i in range(n) for j in range(i) if (i, j) != (17, 4)]
    found = ask("random", None, np.arange(n, dtype=float)[:, None], n=3, skip=skip)
    assert [sorted(question.rows) for question in found] == [[4, 17]]


@pytest.mark.parametrize("make", [np.asarray, list, sparse.csc_matrix, pd.DataFrame, pl.DataFrame])
def test_rows_are_taken_from_every_kind_of_table(make):
    X = np.arange(12.0).reshape(4, 3)
    taken = take_rows(make(X), np.array([1, 3]))
    assert type(taken).__module__.partition(".")[0] in type(make(X)).__module__ + "numpy scipy"
    taken = taken.toarray() if sparse.issparse(taken) else np.asarray(taken)
    assert_array_equal(taken, X[[1, 3]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("make", [ITML, lambda **seed: GuidedClustering(2, **seed)])
def test_a_frame_is_shown_to_a_model_with_its_names(frame, make):
    X, y = make_blobs(30, centers=2, random_state=0)
    rows = frame({"width": X[:, 0], "height": X[:, 1]})
    told = Constraints.from_labels(y, n_pairs=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_name = next_questions(
            rows, told, space=make(random_state=0).fit(rows, constraints=told), random_state=0
        )
        by_number = next_questions(
            X, told, space=make(random_state=0).fit(X, constraints=told), random_state=0
        )
        nameless = next_questions(
            rows, told, space=make(random_state=0).fit(X, constraints=told), random_state=0
        )
        plain = next_questions(rows, told, random_state=0)
    for same in (by_number, nameless):  # columns of a frame lie otherwise in memory
        assert [(each.rows, each.why) for each in by_name] == [
            (each.rows, each.why) for each in same
        ]
        assert_allclose([each.score for each in by_name], [each.score for each in same])
    assert plain == next_questions(X, told, random_state=0)


def test_questions_without_an_answer_are_skipped():
    first = ask("expected-change")[0].rows
    again = ask("expected-change", skip=[first[::-1]])
    assert sorted(again[0].rows) != sorted(first)


def test_the_random_share_is_drawn_at_random_and_says_so():
    X, _ = make_blobs(200, random_state=0)
    found = ask("uncertainty", None, X, n=100, random_share=0.3)
    share = np.mean([question.strategy == "random" for question in found])
    assert 0.2 < share < 0.4
    assert {question.strategy for question in ask("random", None, X, n=10)} == {"random"}


def test_cover_is_greedy_k_medoids():
    rng = np.random.RandomState(0)
    Z, sq_nearest = rng.normal(size=(30, 2)), np.full(30, 9.0)
    savings = cover(Z, sq_nearest, np.ones(30, dtype=bool), 4, rng)
    dists = np.linalg.norm(Z[:, None] - Z, axis=2)
    nearest = np.full(30, 3.0)
    for _ in range(4):
        gains = [np.maximum(nearest - dists[:, i], 0).sum() for i in range(30)]
        best = int(np.argmax(gains))
        assert_allclose(savings[best], gains[best])
        nearest = np.minimum(nearest, dists[:, best])
    assert np.count_nonzero(savings) == 4


def test_uncertainty_counts_questions_until_the_group_is_found():
    P = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    assert_allclose(expected_questions(P), [1.5, 1.0, 0.5 + 2 * 0.3 + 3 * 0.2])
    assert_allclose(entropies(P)[:2], [np.log(2), 0.0], atol=1e-12)


def test_every_border_has_its_turn_before_one_is_asked_about_twice():
    scores = np.array([9.0, 8.0, 7.0, 1.0, 5.0])
    order = np.array([[0], [0], [0], [1], [1]])
    everyone = np.ones(5, dtype=bool)
    nobody = np.zeros(5, dtype=bool)
    assert list(rank(scores, order, everyone, nobody, np.arange(5))) == [0, 4, 1, 3, 2]
    waiting = np.array([False, False, False, True, False])
    assert rank(scores, order, everyone, waiting, np.arange(5))[0] == 3
    assert list(rank(scores, order, everyone, nobody, np.array([0, 0, 0, 0, 1]))) == [0, 4]


def test_memberships_follow_what_is_known():
    land = survey(None, LINE, TOLD + Constraints(7, cannot_link=[(3, 0)]), np.arange(7), 2)
    groups = answered_groups(land, TOLD + Constraints(7, cannot_link=[(3, 0)]))
    P = memberships(groups)
    assert_allclose(P.sum(axis=1), 1)
    first = int(np.flatnonzero(groups.known[0] == 1)[0])
    assert P[3, first] == 0
    assert P[0, first] == P[1, first] == 1


def test_groups_of_answers_are_pairwise_apart():
    told = TOLD + Constraints(7, cannot_link=[(3, 0)])  # 3 may still belong with 5
    land = survey(None, LINE, told, np.arange(7), 2)
    groups = answered_groups(land, told)
    assert len(groups.representatives) == 2
    both = told + Constraints(7, cannot_link=[(3, 6)])
    assert len(answered_groups(survey(None, LINE, both, np.arange(7), 2), both).known[0]) == 3


def test_a_cluster_is_stood_for_by_its_best_known_part():
    told = Constraints(7, must_link=[(0, 2)])
    land = survey(None, LINE, told, np.arange(7), 2)
    assert set(cluster_groups(land, told, 0).representatives) & {0, 2}


def test_the_clusters_of_guided_clustering_are_used_and_any_learner_will_do():
    X, y = make_blobs(120, centers=3, cluster_std=1.5, random_state=1)
    told = Constraints.from_labels(y, n_pairs=20, random_state=0)
    guided = GuidedClustering(3, learner=ITML(random_state=0), random_state=0)
    guided.fit(X, constraints=told)
    land = survey(guided, X, told, np.arange(len(X)), None)
    assert land.n_clusters == 3
    assert len(np.unique(np.stack([land.labels, guided.labels_]), axis=1).T) == 3
    for space in (guided, ITML(random_state=0).fit(X, constraints=told)):
        found = next_questions(X, told, 5, space=space, strategy="uncertainty", random_state=0)
        assert len(found) == 5


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from(STRATEGIES),
    st.sampled_from(["pairs", "triples"]),
    st.integers(0, 25),
)
def test_what_the_answers_imply_is_never_asked_and_nothing_twice(seed, strategy, kind, n_pairs):
    rng = np.random.RandomState(seed)
    X, y = rng.normal(size=(15, 2)), rng.randint(3, size=15)
    told = Constraints.from_labels(y, n_pairs=n_pairs, n_odd_one_out=2 * (len(set(y)) > 1))
    found = next_questions(
        X, told, 8, strategy=strategy, kind=kind, n_clusters=3, random_state=seed
    )
    keys = [tuple(sorted(question.rows)) for question in found]
    asked = {tuple(sorted(answer.points)) for answer in told.answers()}
    assert len(set(keys)) == len(keys)
    assert not set(keys) & asked
    closure = told.closure()
    for rows in keys:
        ends = [(i, j) for i in rows for j in rows if i < j]
        assert (closure.known(ends) == 0).any()
        assert len(ends) == (1 if kind == "pairs" else 3)
    again = next_questions(
        X, told, 8, strategy=strategy, kind=kind, n_clusters=3, random_state=seed
    )
    assert again == found


def test_many_rows_are_looked_at_by_a_draw_that_keeps_the_answered_ones(monkeypatch):
    monkeypatch.setattr("likewise.selection.question_search.MOST_ROWS", 50)
    X, _ = make_blobs(400, centers=2, random_state=0)
    told = Constraints(400, must_link=[(0, 399)], cannot_link=[(0, 7)])
    for question in ask("expected-change", told, X, n=10):
        assert set(question.rows) & {0, 7, 399}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": "best"}, "strategy='best' is unknown"),
        ({"kind": "pair"}, "kind='pair' is unknown"),
        ({"random_share": 1.5}, "random_share=1.5 must lie"),
        ({"n_questions": -1}, "n_questions=-1"),
        ({"skip": [(0, 9)]}, r"skip\[0\] = \(0, 9\) points outside X, which has 7 rows"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_settings_end_in_one_line(wrong, message):
    with pytest.raises(ValueError, match=message):
        next_questions(LINE, TOLD, **wrong)


def test_a_space_without_transform_is_refused():
    with pytest.raises(TypeError, match="has no transform"):
        next_questions(LINE, space="itml")
