"""Intervals by resampling: they hold the truth about as often as they say."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from likewise import Constraints, GuidedClustering
from likewise.evaluation import accuracy_interval, held_out_accuracy, membership_intervals
from likewise.evaluation.resampled import widened_level

Y = np.arange(120) % 3
Z = np.eye(3)[Y]  # predicts an answer if and only if it is right


def triples(rng, wrong_shares, n_each):
    """Odd ones out by people of whom each is wrong in a share of their own."""
    answers = Constraints(len(Y))
    for number, wrong in enumerate(wrong_shares):
        seed = int(rng.integers(2**31))
        said = Constraints.from_labels(Y, n_odd_one_out=n_each, noise=wrong, random_state=seed)
        names = [f"person {number}"] * n_each
        answers += Constraints(len(Y), odd_one_out=said.odd_one_out, annotators=names)
    return answers


def covered(truth, found):
    return found.low <= truth <= found.high


def test_an_interval_by_people_holds_what_another_panel_would_give():
    """People differ by much, so questions taken for independent give intervals too narrow."""
    rng, by_person, by_question = np.random.default_rng(0), [], []
    for _ in range(60):
        answers = triples(rng, rng.choice([0.0, 0.6], size=20), n_each=30)
        by_person.append(covered(0.7, accuracy_interval(Z, answers, n_draws=100)))
        found = accuracy_interval(Z, answers, n_draws=100, by="question")
        by_question.append(covered(0.7, found))
    assert 0.78 <= np.mean(by_person) <= 0.98
    assert np.mean(by_question) < 0.6


def test_an_interval_of_pairs_holds_the_share_of_all_pairs():
    rng = np.random.default_rng(1)
    spread = np.eye(3)[Y] + 0.8 * rng.normal(size=(120, 3))
    truth = held_out_accuracy(spread, Constraints.from_labels(Y, n_pairs=5000, random_state=99))
    hits = [
        covered(
            truth,
            accuracy_interval(
                spread, Constraints.from_labels(Y, n_pairs=80, random_state=i), n_draws=100
            ),
        )
        for i in range(60)
    ]
    assert 0.75 <= np.mean(hits) <= 0.98


def test_the_estimate_is_the_accuracy_and_seeds_repeat():
    answers = Constraints.from_labels(Y, n_odd_one_out=40, n_pairs=40, noise=0.2, random_state=3)
    one, two = (accuracy_interval(Z, answers, random_state=5) for _ in range(2))
    assert one == two
    assert one.estimate == held_out_accuracy(Z, answers)
    assert one.low < one.estimate < one.high
    assert one != accuracy_interval(Z, answers, random_state=6)
    wider = accuracy_interval(Z, answers, level=0.99, random_state=5)
    assert wider.low < one.low
    assert wider.high > one.high


def test_few_units_widen_the_level_and_many_do_not():
    """By hand: of 10 units at .9, sqrt(10 / 9) times t = 1.833 is 1.932; F(1.932) is .9733."""
    assert widened_level(0.9, 10) == pytest.approx(0.9466, abs=2e-4)
    assert widened_level(0.9, 100_000) == pytest.approx(0.9, abs=1e-4)
    assert widened_level(0.9, 1) == 1


def test_people_are_drawn_where_they_are_many():
    rng = np.random.default_rng(0)
    many, few = triples(rng, [0.1] * 10, 5), triples(rng, [0.1] * 9, 5)
    assert accuracy_interval(Z, many).by == "person"
    assert accuracy_interval(Z, many).n_units == 10
    assert accuracy_interval(Z, few).by == "question"
    assert accuracy_interval(Z, few, by="person").n_units == 9


def test_answers_to_one_question_are_drawn_together():
    once = Constraints.from_labels(Y, n_odd_one_out=30, noise=0.3, random_state=0)
    found = accuracy_interval(Z, once + once + once)
    alone = accuracy_interval(Z, once)
    assert found.n_units == alone.n_units
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))


def test_what_cannot_be_judged_is_nan():
    assert np.isnan(accuracy_interval(Z, Constraints(120)).low)
    assert np.isnan(accuracy_interval(Z, Constraints(120, must_link=[(0, 3)])).high)


def test_settings_that_cannot_be_are_refused():
    answers = Constraints.from_labels(Y, n_odd_one_out=5, random_state=0)
    for settings, match in (
        ({"level": 1.0}, "level"),
        ({"n_draws": 0}, "n_draws"),
        ({"by": "row"}, "by="),
        ({"by": "person"}, "name nobody"),
    ):
        with pytest.raises(ValueError, match=match):
            accuracy_interval(Z, answers, **settings)


class ShareOfMustLinks(BaseEstimator):
    """A clusterer whose memberships are the share of the pairs that belong together."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, constraints=None):
        self.n_clusters_ = 2
        self.share_ = len(constraints.must_link) / constraints.n_answers
        return self

    def predict_proba(self, X):
        return np.tile([self.share_, 1 - self.share_], (len(X), 1))


def test_memberships_are_covered_as_often_as_asked():
    rng, hits, X = np.random.default_rng(0), [], np.zeros((100, 1))
    pairs = np.column_stack([np.arange(50), np.arange(50, 100)])
    for seed in range(60):
        together = rng.random(50) < 0.7
        answers = Constraints(100, must_link=pairs[together], cannot_link=pairs[~together])
        model = ShareOfMustLinks().fit(X, constraints=answers)
        found = membership_intervals(model, X, answers, n_draws=100, random_state=seed)
        hits.append(found.low[0, 0] <= 0.7 <= found.high[0, 0])
        assert found.low[0] == pytest.approx(1 - found.high[0, ::-1])
    assert 0.78 <= np.mean(hits) <= 0.98


def test_rows_at_the_border_are_less_sure_than_others():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([3.0 * y, np.zeros(60)]) + rng.normal(size=(60, 2))
    answers = Constraints.from_labels(y, n_pairs=25, random_state=0)
    model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    found = membership_intervals(model, X, answers, n_draws=4)
    again = membership_intervals(model, X, answers, n_draws=4)
    assert_array_equal(found.low, again.low)
    width = (found.high - found.low).max(axis=1)
    order = np.argsort(np.abs(X[:, 0] - 1.5))
    assert width[order[:10]].mean() > 2 * width[order[30:]].mean()
    assert found.stable[order[:10]].mean() < found.stable[order[30:]].mean()
    assert (found.low <= found.high).all()
