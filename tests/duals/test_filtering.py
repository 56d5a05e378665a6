"""Which answers are doubted and left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans

from likewise import SKLR, Constraints, filter_constraints
from likewise.datasets import load_wine
from likewise.duals import costly_answers
from likewise.duals.filtering import doubt_triples, place_among_likes


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    settings = {"n_must_link": 60, "n_cannot_link": 60, "n_odd_one_out": 60, "random_state": 0}
    right = Constraints.from_labels(data.y, **settings)
    c = Constraints.from_labels(data.y, noise=0.1, **settings)
    wrong = [(a.kind, a.points) != (b.kind, b.points) for a, b in zip(right.answers(), c.answers())]
    return X, c, np.array(wrong)


def share_found(ranking, wrong):
    """Of the answers doubted most, as many as are wrong: the share that is."""
    return wrong[ranking[: wrong.sum()]].mean()


def test_wrong_answers_of_all_kinds_come_first(wine):
    X, c, wrong = wine
    assert wrong.sum() == 18
    found = costly_answers(X, c, 3, random_state=0)
    # Chance finds a tenth. Eight draws gave .78 to .94, and two of 18 go by the last digits.
    assert share_found(found.ranking, wrong) > 0.65
    assert wrong[found.positions].mean() > 0.6
    assert_array_equal(np.sort(found.ranking), np.arange(180))
    kinds = c.kinds[found.ranking[: wrong.sum()]]
    assert {"must_link", "cannot_link", "odd_one_out"} == set(kinds)


def test_prices_by_themselves_find_more_than_those_of_the_program_or_multipliers(wine):
    X, c, wrong = wine
    pairs = c.positions("must_link", "cannot_link")
    c, wrong = c.subset(pairs), wrong[pairs]
    learner = SKLR(C=1.0, tol=1e-2, random_state=0).fit(X, constraints=c)
    found = {
        by: share_found(
            costly_answers(X, c, 3, by=by, learner=learner, random_state=0).ranking, wrong
        )
        for by in ("isolated", "lp", "duals")
    }
    assert found["isolated"] > found["lp"]
    assert found["isolated"] > found["duals"]


def test_scores_are_places_among_likes():
    doubts = np.array([0.0, 5.0, 2.0, 700.0, 900.0, 0.0])
    is_pair = np.array([True, True, True, False, False, False])
    expected = np.array([0, 3, 2, 2, 3, 0]) / 3
    assert_array_equal(place_among_likes(doubts, is_pair), expected)


def test_a_triple_is_doubted_by_pull_and_by_distance():
    Z = np.array([[0.0], [1.0], [3.0]])
    unit = 2 * Z.var()
    c = Constraints(3, closer=[(0, 1, 2), (0, 2, 1)], undecided=[(0, 1, 2)])

    class Learner:
        duals_, C_ = np.array([0.5, 1.0, 3.0]), 2.0

    doubts, stands_out = doubt_triples(c, Z, Learner())
    assert_array_equal(stands_out, [False, True, False])
    assert_array_equal(doubts, [0.25, 0.5 + (2 * 9 - 1) / unit, 0.0])  # can't tell is never wrong


def test_a_triple_may_stand_out_though_distances_agree():
    Z = np.concatenate([np.zeros((20, 1)), np.ones((1, 1))])
    c = Constraints(21, closer=[(i, i + 1, 20) for i in range(19)])

    class Learner:
        duals_, C_ = np.append(np.full(18, 0.1), 1.0), 1.0

    _, stands_out = doubt_triples(c, Z, Learner())
    assert_array_equal(np.flatnonzero(stands_out), [18])


def test_the_most_costly_share_is_left_out(wine):
    X, c, _ = wine
    learner = SKLR(C=1.0, tol=1e-2, random_state=0).fit(X, constraints=c)
    settings = {"learner": learner, "random_state": 0}
    doubted = costly_answers(X, c, 3, **settings).positions
    half = filter_constraints(X, c, 3, drop_share=0.5, **settings)
    assert_array_equal(half.dropped, doubted[: len(doubted) // 2])
    assert half.constraints == c.subset(np.setdiff1d(np.arange(180), half.dropped))
    paper = filter_constraints(X, c, 3, drop_share=0.5, keep="costly", **settings)
    assert paper.constraints == c.subset(np.sort(doubted[len(doubted) // 2 :]))
    none = filter_constraints(X, c, 3, drop_share=0.0, **settings)
    assert none.constraints == c
    every = filter_constraints(X, c, 3, drop_share=1.0, keep="costly", **settings)
    assert every.constraints.n_answers == 0


@pytest.mark.parametrize("share", [0.0, 0.35, 0.7, 0.95])
def test_steps_4_to_6_of_algorithm_3_line_by_line_keep_the_same_pairs(share, seed):
    """Pairs that share no row, whose multipliers in a linear program are known by hand."""
    rng = np.random.RandomState(seed)
    y = np.tile([0, 1, 2], 20)
    X = rng.randn(60, 2) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    rows = rng.permutation(60).reshape(30, 2)
    same = y[rows[:, 0]] == y[rows[:, 1]]
    answers = Constraints(60, must_link=rows[same], cannot_link=rows[~same])
    model = KMeans(3, n_init=50, random_state=seed).fit(X)
    cost = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    impacts = []
    for i, j in answers.must_link:
        apart = model.labels_[i] != model.labels_[j]
        impacts.append(apart * (cost[[i, j]].min(axis=1).sum() - cost[[i, j]].sum(axis=0).min()))
    for i, j in answers.cannot_link:
        together = model.labels_[i] == model.labels_[j]
        second, first = np.sort(cost[[i, j]], axis=1)[:, 1], cost[[i, j]].min(axis=1)
        impacts.append(together * (first - second).max())
    omega = [at for at in np.argsort(impacts) if impacts[at] < 0]  # the most negative first
    kept = omega[int(share * len(omega)) :]
    paper = {"keep": "costly", "by": "lp", "learner": None, "random_state": seed}
    found = filter_constraints(X, answers, 3, drop_share=share, **paper)
    assert len(omega) > 5
    assert found.constraints == answers.subset(np.sort(kept))


def test_a_space_may_be_given_as_rows_with_their_centers(wine):
    X, c, _ = wine
    learner = SKLR(C=1.0, tol=1e-2, random_state=0).fit(X, constraints=c)
    pairs = c.subset(c.positions("must_link", "cannot_link"))
    Z = learner.transform(X)
    by_learner = costly_answers(X, pairs, 3, learner=learner_of(learner), random_state=0)
    by_rows = costly_answers(Z, pairs, 3, learner=None, random_state=0)
    assert_array_equal(by_learner.scores, by_rows.scores)
    centers = Z[[0, 80, 170]]
    placed = costly_answers(Z, pairs, 3, learner=None, centers=centers, random_state=0)
    assert (placed.scores != by_rows.scores).any()


def learner_of(fitted):
    class Space:
        def transform(self, X):
            return fitted.transform(X)

    return Space()


def test_weightless_answers_are_never_doubted(wine):
    X, c, _ = wine
    silent = Constraints(178, must_link=c.must_link, weights=np.zeros(len(c.must_link)))
    assert len(costly_answers(X, silent, 3, learner=None, random_state=0).positions) == 0


def test_no_answers_cost_nothing(wine):
    found = costly_answers(wine[0], Constraints(178), 3, random_state=0)
    assert len(found.positions) == len(found.ranking) == len(found.scores) == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"by": "feeling"}, "by='feeling' is not one of"),
        ({"learner": "itml"}, "learner='itml' is not one of 'sklr'"),
        ({"by": "duals", "learner": None}, "by='duals' needs a learner"),
    ],
)
def test_a_mistake_is_one_clear_error(wine, settings, words):
    with pytest.raises(ValueError, match=words):
        costly_answers(wine[0], wine[1], 3, **settings)
