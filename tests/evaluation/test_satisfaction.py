"""Answers honored: by hand, against a loop over answers, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likewise.constraints import Constraints
from likewise.evaluation import satisfaction_report, satisfaction_score

LINE = [[0.0], [1.0], [3.0], [3.0]]  # rows 2 and 3 coincide


def draw_answers(seed, n=12):
    """Answers of every kind about random rows, of which some hold and some do not."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(n, 2, replace=False) for _ in range(16)]
    triples = [rng.choice(n, 3, replace=False) for _ in range(24)]
    answers = Constraints(
        n,
        must_link=pairs[:8],
        cannot_link=pairs[8:],
        odd_one_out=triples[:8],
        closer=triples[8:16],
        undecided=triples[16:],
        weights=rng.integers(0, 4, 40),
    )
    return answers, rng.integers(0, 3, n), rng.normal(size=(n, 2)), rng


def test_each_kind_by_hand():
    answers = Constraints(
        4,
        must_link=[(0, 1), (0, 2), (2, 3)],
        cannot_link=[(0, 3)],
        odd_one_out=[(0, 1, 2), (0, 2, 1), (2, 3, 0)],
        closer=[(0, 1, 2), (0, 2, 3)],  # the last is a tie: not honored
        undecided=[(0, 1, 2)],
    )
    result = satisfaction_report(LINE, answers, ["a", "a", "b", "b"])
    assert result.shares == {
        "must_link": 2 / 3,
        "cannot_link": 1.0,
        "odd_one_out": 2 / 3,
        "closer": 1 / 2,
    }
    assert result.counts == {"must_link": 3, "cannot_link": 1, "odd_one_out": 3, "closer": 2}
    assert result.share == result.share == (2 + 1 + 2 + 1) / 9


def test_an_odd_one_out_needs_both_inequalities():
    answers = Constraints(3, odd_one_out=[(0, 1, 2)])
    assert satisfaction_score([[0.0], [2.0], [-3.0]], answers) == 1.0
    assert satisfaction_score([[0.0], [2.0], [-1.0]], answers) == 0.0
    assert satisfaction_score([[0.0], [2.0], [3.0]], answers) == 0.0


def test_heavy_answers_count_for_more():
    answers = Constraints(3, must_link=[(0, 1), (1, 2)], weights=[3, 1])
    result = satisfaction_report(None, answers, [0, 0, 1])
    assert (result.share, result.counts["must_link"]) == (0.75, 2)


def test_pairs_need_labels_and_triples_need_coordinates():
    answers = Constraints(4, must_link=[(0, 1)], closer=[(0, 1, 2)])
    by_labels, by_Z = (
        satisfaction_report(None, answers, [0, 1, 0, 1]),
        satisfaction_report(LINE, answers),
    )
    assert (by_labels.share, by_labels.counts["closer"]) == (0.0, 0)
    assert (by_Z.share, by_Z.counts["must_link"]) == (1.0, 0)
    assert np.isnan(by_labels.shares["closer"])
    assert np.isnan(by_Z.shares["must_link"])


@pytest.mark.parametrize("answers", [None, Constraints(4), Constraints(4, undecided=[(0, 1, 2)])])
def test_nothing_to_judge_is_nan(answers):
    result = satisfaction_report(LINE, answers, [0, 0, 1, 1])
    assert np.isnan(result.share)
    assert set(result.counts.values()) == {0}


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_shares_agree_with_a_loop_over_answers(seed):
    answers, labels, Z, _ = draw_answers(seed)

    def dist(i, j):
        return np.linalg.norm(Z[i] - Z[j])

    holds = {
        "must_link": lambda a, b: labels[a] == labels[b],
        "cannot_link": lambda a, b: labels[a] != labels[b],
        "odd_one_out": lambda a, b, odd: dist(a, b) < min(dist(a, odd), dist(b, odd)),
        "closer": lambda a, b, c: dist(a, b) < dist(a, c),
    }
    judged = [answer for answer in answers.answers() if answer.kind != "undecided"]
    won = sum(answer.weight for answer in judged if holds[answer.kind](*answer.points))
    share = satisfaction_score(Z, answers, labels)
    assert_allclose(share, won / sum(answer.weight for answer in judged))


@given(st.integers(0, 10_000), st.integers(-8, 8))
@settings(max_examples=30)
def test_names_scale_and_order_do_not_matter(seed, exponent):
    answers, labels, Z, rng = draw_answers(seed)
    shuffled = answers.subset(rng.permutation(answers.n_answers))
    result = satisfaction_report(Z, answers, labels)
    other = satisfaction_report(Z * 2.0**exponent, shuffled, np.array([7, -1, 3])[labels])
    assert other.counts == result.counts
    assert_allclose(list(other.shares.values()), list(result.shares.values()))


def test_wrong_input_ends_in_one_error():
    answers = Constraints(4, must_link=[(0, 1)])
    with pytest.raises(ValueError, match="Give labels to judge pairs by, or Z"):
        satisfaction_score(None, answers)
    with pytest.raises(ValueError, match="refer to 4 rows, but X has 3"):
        satisfaction_score(None, answers, [0, 1, 2])
    with pytest.raises(TypeError, match=r"must be likewise\.Constraints, .* not list"):
        satisfaction_score(None, [(0, 1)], [0, 1])
