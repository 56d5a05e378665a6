import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.constraints import Constraints
from tests.constraints.strategies import draw_constraints

seeds = st.integers(0, 2**31 - 1)


def asked(c):
    return {tuple(sorted(answer.points)) for answer in c.answers()}


@given(seeds, st.floats(0, 1))
def test_no_question_is_on_both_sides_and_no_answer_is_lost(seed, share):
    c = draw_constraints(np.random.RandomState(seed), max_rows=6)
    split = c.split(share, random_state=seed)
    assert asked(split.fit_part).isdisjoint(asked(split.held_out))
    total = split.fit_part.n_answers + split.held_out.n_answers + split.n_implied
    assert total == c.n_answers


@given(seeds)
def test_the_fit_part_gives_no_held_out_answer_away(seed):
    c = draw_constraints(np.random.RandomState(seed), max_rows=6)
    for fit_part, held_out in c.folds(3, random_state=seed):
        known = fit_part.closure().known
        pairs, sign = held_out.signed_pairs()
        assert not (known(pairs) == sign).any()
        for a, b, odd in held_out.odd_one_out:
            together, apart_a, apart_b = known([(a, b), (a, odd), (b, odd)])
            assert (together, apart_a, apart_b) != (1, -1, -1)


def test_an_implied_answer_is_dropped_and_counted():
    chain = Constraints(4, must_link=[(0, 1), (1, 2), (0, 2)])
    splits = list(chain.folds(3, random_state=0))
    assert [split.n_implied for split in splits] == [1, 1, 1]
    assert [split.held_out.n_answers for split in splits] == [0, 0, 0]


def test_an_answer_that_contradicts_the_fit_part_is_news_and_stays():
    clash = Constraints(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    held_out = [split.held_out.n_answers for split in clash.folds(3, random_state=0)]
    assert sum(held_out) >= 1
    assert all(split.n_implied == 0 for split in clash.folds(3, random_state=0))


def test_each_question_is_held_out_once():
    c = Constraints.from_labels(np.arange(40) % 8, n_odd_one_out=30, random_state=0)
    held_out = [answer for _, part in c.folds(5, random_state=1) for answer in part.answers()]
    assert sorted(a.points for a in held_out) == sorted(a.points for a in c.answers())


@given(st.integers(0, 10_000))
def test_answers_from_one_screen_stay_on_one_side(seed):
    constraints = draw_constraints(np.random.RandomState(seed))
    questions, screens = constraints.questions(), constraints.screens
    if screens is not None:
        for name in set(screens) - {""}:
            assert len(set(questions[screens == name])) == 1


def test_screens_by_hand():
    answers = Constraints(
        6,
        must_link=[(0, 1), (0, 2), (3, 4), (1, 0), (4, 5)],
        screens=["s", "s", "", "t", ""],
    )
    assert_array_equal(answers.questions(), [0, 0, 1, 0, 2])  # (1, 0) repeats (0, 1)
    for split in answers.folds(3, random_state=0):
        assert sorted(split.held_out_at.tolist()) in ([0, 1, 3], [2], [4])


def test_a_split_is_the_same_under_the_same_seed_and_unpacks_in_two():
    c = Constraints.from_labels(np.arange(40) % 8, n_odd_one_out=30, random_state=0)
    one, two = c.split(0.8, random_state=3), c.split(0.8, random_state=3)
    fit_part, held_out = one
    assert fit_part == two.fit_part
    assert held_out == two.held_out
    assert fit_part.n_answers == 24


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_share_outside_zero_and_one_is_refused(share):
    with pytest.raises(ValueError, match="train_share="):
        Constraints(3).split(share)
    with pytest.raises(ValueError, match="n_splits=1"):
        next(Constraints(3).folds(1))


@given(st.integers(0, 10_000))
def test_row_folds_hold_out_answers_about_rows_that_the_fit_part_has_not_seen(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 20)
    y[:6] = [0, 0, 1, 1, 2, 2]
    c = Constraints.from_labels(y, n_pairs=15, n_odd_one_out=10, random_state=seed)
    splits = list(c.row_folds(3, random_state=seed))
    held_out = np.concatenate([split.held_out_at for split in splits])
    assert len(np.unique(held_out)) == len(held_out)
    for split in splits:
        seen, unseen = (set(part.touched_rows()) for part in split)
        assert not seen & unseen
        assert split.held_out == c.subset(split.held_out_at)
        n_mixed = c.n_answers - split.fit_part.n_answers - split.held_out.n_answers
        mixed = [bool(set(a.points) - seen) for a in c.answers()]
        assert n_mixed <= sum(mixed)


def test_row_folds_by_hand():
    c = Constraints(4, must_link=[(0, 1), (2, 3), (0, 2)], closer=[(0, 1, 2)])
    for seed in range(20):
        for fit_part, held_out in c.row_folds(2, random_state=seed):
            if set(held_out.touched_rows()) == {0, 1}:
                assert held_out == Constraints(4, must_link=[(0, 1)])
                assert fit_part == Constraints(4, must_link=[(2, 3)])
                return
    pytest.fail("no seed put rows 0 and 1 together")


def test_one_row_fold_is_refused():
    with pytest.raises(ValueError, match="n_splits=1"):
        next(Constraints(3).row_folds(1))
