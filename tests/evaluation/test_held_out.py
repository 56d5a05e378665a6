"""Held-out accuracy: by hand, the area under the ROC curve, a loop, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from likewise.constraints import Constraints
from likewise.evaluation import (
    answer_credits,
    beats,
    gain_and_error,
    held_out_accuracy,
    is_judgeable,
    mean_and_error,
)
from likewise.evaluation.satisfaction import pair_sq_distances

LINE = [[0.0], [1.0], [2.0], [4.0]]


def draw_pairs(seed, n=15, n_pairs=30):
    """Pairs of random rows, must-links more often near; coordinates on a grid, so with ties."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 4, (n, 2)).astype(float)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(n_pairs)])
    weights = rng.integers(0, 4, n_pairs)
    weights[[0, -1]] = 1  # so that each kind has weight
    half = n_pairs // 2
    answers = Constraints(n, must_link=pairs[:half], cannot_link=pairs[half:], weights=weights)
    return Z, answers, rng


def test_triples_by_hand():
    answers = Constraints(
        4,
        odd_one_out=[(0, 1, 3), (0, 3, 1), (0, 1, 2)],  # right, wrong, the closest with 1-2
        closer=[(0, 1, 2), (0, 3, 2), (1, 0, 2)],  # right, wrong, equal
        undecided=[(0, 1, 2)],
    )
    assert_array_equal(answer_credits(LINE, answers), [1, 0, 1 / 2, 1, 0, 1 / 2, np.nan])
    assert_allclose(held_out_accuracy(LINE, answers), 3 / 6)


def test_three_equal_distances_earn_what_guessing_does():
    everything_in_one_place = np.zeros((3, 2))
    answers = Constraints(3, odd_one_out=[(0, 1, 2)])
    assert_allclose(held_out_accuracy(everything_in_one_place, answers), 1 / 3)


def test_pairs_by_hand():
    # must-links at 1, 2; cannot-links at 2, 4: of four comparisons three are right and one is equal
    answers = Constraints(4, must_link=[(0, 1), (0, 2)], cannot_link=[(2, 3), (0, 3)])
    assert_array_equal(answer_credits(LINE, answers), [1, 3 / 4, 3 / 4, 1])
    assert held_out_accuracy(LINE, answers) == 3.5 / 4


def test_kinds_are_mixed_by_weight():
    answers = Constraints(
        4, must_link=[(0, 1)], cannot_link=[(0, 3)], closer=[(0, 3, 1)], weights=[1, 1, 2]
    )
    assert held_out_accuracy(LINE, answers) == 0.5


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_pairs_score_the_area_under_the_roc_curve(seed):
    Z, answers, _ = draw_pairs(seed)
    pairs, sign = answers.signed_pairs()
    area = roc_auc_score(sign < 0, pair_sq_distances(Z, pairs), sample_weight=answers.weights)
    assert_allclose(held_out_accuracy(Z, answers), area)
    credits = answer_credits(Z, answers)
    for kind in ("must_link", "cannot_link"):
        at = answers.positions(kind)
        assert_allclose(np.average(credits[at], weights=answers.weights[at]), area)


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_labels_as_columns_score_the_balanced_share_of_pairs(seed):
    _, answers, rng = draw_pairs(seed)
    labels = rng.integers(0, 3, answers.n_samples)
    pairs, sign = answers.signed_pairs()
    apart = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    balanced = balanced_accuracy_score(sign < 0, apart, sample_weight=answers.weights)
    assert_allclose(held_out_accuracy(labels[:, None] == np.arange(3), answers), balanced)


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_triples_agree_with_asking_the_space(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(10, 3))
    triples = np.array([rng.choice(10, 3, replace=False) for _ in range(20)])
    answers = Constraints(10, odd_one_out=triples[:10], closer=triples[10:])
    right = []
    for i, (a, b, c) in enumerate(triples):
        ab, ac, bc = (np.linalg.norm(Z[p] - Z[q]) for p, q in ((a, b), (a, c), (b, c)))
        right.append(ab < ac and (i >= 10 or ab < bc))
    assert_array_equal(answer_credits(Z, answers), right)


@given(st.integers(0, 10_000), st.integers(-8, 8))
@settings(max_examples=40)
def test_scale_order_and_renumbered_rows_do_not_matter(seed, exponent):
    Z, answers, rng = draw_pairs(seed)
    credits = answer_credits(Z, answers)
    order = rng.permutation(answers.n_answers)
    rows = rng.permutation(answers.n_samples)
    moved = answers.subset(order).restrict(rows)
    assert_allclose(answer_credits(Z[rows] * 2.0**exponent + 1, moved), credits[order])


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_a_repeated_answer_counts_as_one_of_twice_the_weight(seed):
    Z, answers, _ = draw_pairs(seed)
    doubled = Constraints(
        answers.n_samples,
        must_link=answers.must_link,
        cannot_link=answers.cannot_link,
        weights=2 * answers.weights,
    )
    assert_allclose(held_out_accuracy(Z, answers + answers), held_out_accuracy(Z, doubled))
    assert_allclose(held_out_accuracy(Z, answers), held_out_accuracy(Z, doubled))


@pytest.mark.parametrize(
    "answers",
    [
        Constraints(4),
        Constraints(4, undecided=[(0, 1, 2)]),
        Constraints(4, must_link=[(0, 1), (1, 2)]),
        Constraints(4, cannot_link=[(0, 1)]),
        Constraints(4, must_link=[(0, 1)], cannot_link=[(0, 2)], weights=[1, 0]),
        Constraints(4, closer=[(0, 1, 2)], weights=[0]),
    ],
)
def test_what_cannot_be_judged_is_nan_and_said_beforehand(answers):
    assert np.isnan(held_out_accuracy(LINE, answers))
    assert not is_judgeable(answers).any()


def test_judgeable_answers_are_those_with_a_credit():
    answers = Constraints(
        4, must_link=[(0, 1)], cannot_link=[(0, 2)], closer=[(0, 1, 2)], undecided=[(0, 1, 2)]
    )
    assert_array_equal(is_judgeable(answers), ~np.isnan(answer_credits(LINE, answers)))
    assert is_judgeable(answers).sum() == 3


def test_distances_in_blocks_are_the_same(monkeypatch):
    Z, answers, _ = draw_pairs(3)
    whole = answer_credits(Z, answers)
    monkeypatch.setattr("likewise.kernels.distances.BLOCK_ENTRIES", 8)
    assert_array_equal(answer_credits(Z, answers), whole)


def test_coordinates_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="refer to 4 rows, but X has 3"):
        held_out_accuracy(LINE[:3], Constraints(4, closer=[(0, 1, 2)]))


def test_mean_and_error_by_hand():
    means, errors = mean_and_error(np.array([[1.0, 0.0, 1.0, 0.0]]), np.ones(4))
    assert_allclose(means, [0.5])
    assert_allclose(errors, [np.std([1, 0, 1, 0], ddof=1) / 2])


def test_to_beat_is_to_be_better_by_more_than_chance():
    ones, zeros = np.ones(9), np.zeros(9)
    assert beats(ones, zeros, np.ones(9))
    assert not beats(zeros, zeros, np.ones(9))
    once = np.array([1.0, *[0.0] * 8])  # one better of nine: its mean is its standard error
    assert not beats(once, zeros, np.ones(9))
    assert beats(once, zeros, np.array([9.0, *[1.0] * 8]))


def test_the_error_of_pairs_is_that_of_two_samples_by_hand():
    answers = Constraints(
        6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (0, 3), (1, 2)], closer=[(0, 1, 2)]
    )
    gains = np.zeros(6)
    gains[answers.positions("must_link")] = [0.0, 1.0]  # variance of the mean 1/4
    gains[answers.positions("cannot_link")] = [0.5, 0.5, 0.5]  # none
    gains[answers.positions("closer")] = [1.0]  # one answer, none
    gain, error = gain_and_error(gains, answers)
    assert_allclose(gain, (5 * 0.5 + 1) / 6)
    assert_allclose(error, 5 / 6 * 0.5)


def test_the_error_of_triples_is_that_of_one_sample():
    answers = Constraints(3, odd_one_out=[(0, 1, 2), (0, 2, 1), (1, 2, 0)], undecided=[(0, 1, 2)])
    gains = np.array([1.0, 0.0, 0.5, np.nan])
    assert_allclose(gain_and_error(gains, answers), mean_and_error(gains[:3], np.ones(3)))


def test_the_error_of_the_area_is_how_much_it_scatters():
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        lengths = np.concatenate([rng.normal(0, 1, 12), rng.normal(1, 1, 108)])  # few must-links
        pairs = np.arange(240).reshape(120, 2)
        Z = np.zeros((240, 1))
        Z[1::2, 0] = np.exp(lengths)
        answers = Constraints(240, must_link=pairs[:12], cannot_link=pairs[12:])
        credits = answer_credits(Z, answers)
        one_sample = mean_and_error(credits, np.ones(120))[1]
        found.append([*gain_and_error(credits - 0.5, answers), one_sample])
    gains, errors, one_sample = np.transpose(found)
    assert_allclose(errors.mean(), gains.std(), rtol=0.1)
    assert one_sample.mean() < 0.5 * gains.std()
