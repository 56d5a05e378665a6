"""One tuner: by hand, against a plain loop, no leaks, and its rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.constraints import Constraints, Split
from likewise.evaluation import (
    ahead_of_first,
    answer_credits,
    first_unless_ahead,
    gain_and_error,
    highest_mean,
    hold_out,
    select,
    step_while_cheaper,
)


def one_telling_column(seed, n=40, n_columns=3):
    """Rows whose first column tells the classes; the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_columns))
    X[:, 0] = 2 * y - 1
    return X, y


def answers_of(y, seed=0, n=60):
    return Constraints.from_labels(y, n_odd_one_out=n, n_pairs=n, random_state=seed)


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=15)
def test_credits_are_those_of_a_plain_loop_over_folds(seed, n_splits):
    X, y = one_telling_column(seed)
    answers = answers_of(y, seed, n=40)
    scales = [3.0, 1.0, 0.3]

    def trial(scale, fit_part, held_out):
        return answer_credits(X * [1, scale, scale], held_out)

    found = select(scales, trial, answers, n_splits=n_splits, random_state=seed)
    splits = list(answers.folds(n_splits, random_state=seed))
    for fold, (_, held_out) in enumerate(splits):
        in_fold = found.is_judged & (found.folds == fold)
        for i, scale in enumerate(scales):
            credits = answer_credits(X * [1, scale, scale], held_out)
            assert_array_equal(found.credits[i, in_fold], credits[~np.isnan(credits)])
    assert_array_equal(found.n_implied, [split.n_implied for split in splits])
    assert_allclose(found.scores, np.nanmean(found.credits, axis=1))
    assert found.chosen == np.argmax(found.scores)


def test_no_held_out_answer_is_repeated_or_implied_in_its_fit_part():
    _, y = one_telling_column(0)
    answers = answers_of(y)
    answers = answers + answers.subset(np.arange(0, answers.n_answers, 3))
    seen = []

    def trial(candidate, fit_part, held_out):
        asked = {frozenset(answer.points) for answer in fit_part.answers()}
        assert not any(frozenset(answer.points) in asked for answer in held_out.answers())
        assert not held_out.implied_by(fit_part.closure()).any()
        seen.append(held_out.n_answers)
        return 0.5

    found = select(["only"], trial, answers, n_splits=4, random_state=0)
    assert_array_equal(seen, found.n_held_out)
    assert found.n_held_out.sum() + found.n_implied.sum() == answers.n_answers
    assert found.n_implied.sum() > 0


def test_of_equals_the_first_wins():
    _, y = one_telling_column(0)
    scores = {"a": 0.2, "b": 0.7, "c": 0.7}
    found = select(list(scores), lambda c, *_: scores[c], answers_of(y), random_state=0)
    assert found.chosen == 1


def test_a_candidate_that_scores_nan_is_never_best():
    _, y = one_telling_column(0)
    answers = answers_of(y)
    found = select([np.nan, 0.1], lambda c, *_: c, answers, random_state=0)
    assert found.chosen == 1
    with pytest.raises(ValueError, match="Every one of the 1 candidates scored nan"):
        select([np.nan], lambda c, *_: c, answers, random_state=0)


@pytest.mark.parametrize(("n_answers", "is_tuned"), [(19, False), (20, True)])
def test_under_twenty_held_out_answers_nothing_is_tried(n_answers, is_tuned):
    _, y = one_telling_column(0)
    answers = Constraints.from_labels(y, n_closer=n_answers, n_undecided=50, random_state=0)
    calls = []
    found = select([1, 2], lambda c, *_: calls.append(c) or 0.5, answers, random_state=0)
    assert found.n_held_out.sum() == n_answers
    assert (found.chosen is not None) == is_tuned == bool(calls)


def test_a_fold_with_nothing_to_judge_is_not_fitted():
    answers = Constraints.from_labels(np.arange(30) % 2, n_closer=20, random_state=0)
    one_cannot_link = Constraints(30, cannot_link=[(0, 1)], must_link=[(0, 2)])
    found = select([0], lambda *_: 1.0, answers + one_cannot_link, n_splits=22, random_state=0)
    assert (found.n_held_out == 0).sum() == 2
    assert np.isnan(found.credits[0, ~found.is_judged]).all()
    assert found.scores[0] == 1.0


def test_heavier_folds_count_for_more():
    y = np.arange(30) % 2
    answers = Constraints.from_labels(y, n_closer=24, random_state=0)
    weights = np.arange(1.0, 25.0)
    answers = Constraints(30, closer=answers.closer, weights=weights)
    shares = []

    def trial(candidate, fit_part, held_out):
        shares.append(held_out.weights.sum() / weights.sum())
        return shares[-1]

    found = select([0], trial, answers, n_splits=3, random_state=0)
    assert_allclose(found.scores, np.sum(np.square(shares)))


def test_the_first_is_kept_unless_a_rival_is_ahead_by_its_number_of_errors():
    first = np.zeros(16)
    rival = np.array([1.0, 0.0] * 8)  # gain 1/2, standard error .5 / sqrt(15) = .129
    weights = np.ones(16)
    assert ahead_of_first([3.8])(np.array([first, rival]), weights) == 1
    assert ahead_of_first([3.9])(np.array([first, rival]), weights) == 0
    better = np.array([1.0, 1.0, 1.0, 0.0] * 4)
    assert ahead_of_first([3.8, 3.8])(np.array([first, rival, better]), weights) == 2
    assert ahead_of_first([3.8, 9.0])(np.array([first, rival, better]), weights) == 1
    assert ahead_of_first([])(np.array([first]), weights) == 0


def test_ranked_pairs_need_more_than_their_many_cannot_links_say():
    y = np.repeat(np.arange(10), 6)
    answers = Constraints.from_labels(y, n_pairs=300, random_state=0)
    is_must = np.isin(np.arange(300), answers.positions("must_link"))
    gains = np.where(is_must, np.arange(300) % 2, 0.5)  # must-links disagree, cannot-links do not

    def trial(candidate, fit_part, held_out):
        return candidate * gains

    nothing = answers.subset(np.zeros(300, dtype=bool))
    splits = [Split(nothing, answers, np.arange(300), 0)]
    found = select([0.0, 1.0], trial, answers, splits=splits)
    gain, error = gain_and_error(gains, answers)
    assert first_unless_ahead(found, answers, 0.99 * gain / error) == 1
    assert first_unless_ahead(found, answers, 1.01 * gain / error) == 0
    assert first_unless_ahead(found, answers, 0.0, least=0.99 * gain) == 1
    assert first_unless_ahead(found, answers, 0.0, least=1.01 * gain) == 0
    few = answers.subset(np.arange(300) < 10)
    assert first_unless_ahead(select([0.0, 1.0], trial, few), few, 0.0) == 0  # none was tried


def test_the_highest_mean_goes_by_weight():
    credits = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    assert highest_mean(credits, np.ones(3)) == 1
    assert highest_mean(credits, np.array([3.0, 1.0, 1.0])) == 0


def test_the_rule_sees_judged_answers_only():
    _, y = one_telling_column(0)
    answers = Constraints.from_labels(y, n_closer=30, n_undecided=10, random_state=0)
    seen = []

    def rule(credits, weights):
        seen.append((credits.shape, len(weights)))
        return 1

    found = select(["a", "b"], lambda *_: 0.5, answers, rule=rule, random_state=0)
    assert seen == [((2, 30), 30)]
    assert found.chosen == 1


def test_too_few_answers_are_not_held_out():
    _, y = one_telling_column(0)
    few = Constraints.from_labels(y, n_pairs=30, random_state=0)
    learned, held_out = hold_out(few, 0.3, random_state=0)
    assert learned == few
    assert held_out.n_answers == 0
    many = Constraints.from_labels(y, n_odd_one_out=100, random_state=0)
    learned, held_out = hold_out(many, 0.3, random_state=0)
    assert held_out.n_answers >= 20
    assert learned.n_answers + held_out.n_answers <= 100


@pytest.mark.parametrize(("valley", "end"), [(30.0, 32.0), (0.3, 0.25), (1.1, 1.0), (1e9, 64.0)])
def test_a_climb_ends_at_the_bottom_of_a_valley_or_at_its_limit(valley, end):
    assert step_while_cheaper(lambda x: abs(np.log(x / valley)), 1.0, 2.0, (0.01, 64.0)) == end
