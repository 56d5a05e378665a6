"""Do nearest rows share a group? The lead by hand, patches, the null, and what it must not hear."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import Constraints
from likewise.guided.evidence import p_of as p_of_views
from likewise.guided.evidence import views_of, weights_of_tests
from likewise.guided.nearest_known import lead_of_known, nearness_between, p_of_nearest


def draw_pairs(y, seed, n):
    return Constraints.from_labels(y, n_must_link=n // 2, n_cannot_link=n // 2, random_state=seed)


def stripes(seed, n=200):
    """Rows (n, 2) in two classes, which take turns in six stripes."""
    X = np.random.default_rng(seed).uniform(size=(n, 2))
    return X, np.floor(6 * X[:, 0]).astype(int) % 2


def test_nearness_and_lead_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    nearness = nearness_between(X)
    assert nearness[0].tolist() == pytest.approx([0, 1, 1 / 2, 1 / 3])
    assert nearness[2].tolist() == pytest.approx([1 / 2, 1, 0, 1 / 3])
    # 0, 1 and 2 are together, all of them apart from 3
    pairs, sign = np.array([[0, 1], [1, 2], [0, 3]]), np.array([1, 1, -1])
    together = (1 + 1 / 2 + 1 + 1 / 2 + 1 / 2 + 1) / 6
    apart = (1 / 3 + 1 / 3 + 1 / 3 + 1 / 3 + 1 / 2 + 1) / 6
    assert lead_of_known(nearness, pairs, sign) == pytest.approx(together - apart)


@given(st.integers(0, 10_000))
def test_the_lead_is_that_of_every_pair_that_is_known(seed):
    rng = np.random.default_rng(seed)
    nearness, y = rng.uniform(size=(12, 12)), rng.integers(3, size=12)
    np.fill_diagonal(nearness, 0)
    pairs = rng.integers(12, size=(15, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sign = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    closure = Constraints(12, must_link=pairs[sign > 0], cannot_link=pairs[sign < 0]).closure()
    known = np.array([closure.known([(i, j) for j in range(12)]) for i in range(12)])
    np.fill_diagonal(known, 0)
    means = [nearness[known == s].mean() if (known == s).any() else 0.0 for s in (1, -1)]
    assert lead_of_known(nearness, pairs, sign) == pytest.approx(means[0] - means[1])


def test_patches_are_seen_that_the_three_views_miss():
    p_near, p_views = [], []
    for seed in range(6):
        X, y = stripes(seed)
        answers = draw_pairs(y, seed, 200)
        p_near.append(p_of_nearest(X, answers, seed))
        p_views.append(p_of_views(answers, views_of(X, answers, 2), seed))
    assert max(p_near) <= 0.03
    assert np.median(p_views) > 0.05


def test_random_groups_and_random_answers_pass_as_often_as_they_may():
    groups, answers = [], []
    for seed in range(40):
        X, y = stripes(seed, n=100)
        rng = np.random.default_rng(seed)
        groups.append(p_of_nearest(X, draw_pairs(rng.permutation(y), seed, 100), seed))
        right = draw_pairs(y, seed, 100)
        pairs, sign = right.signed_pairs()
        sign = rng.permutation(sign)
        tossed = Constraints(100, must_link=pairs[sign > 0], cannot_link=pairs[sign < 0])
        answers.append(p_of_nearest(X, tossed, seed))
    for p_values in (groups, answers):
        assert np.mean(np.array(p_values) <= 0.1) <= 0.225  # more in one of a hundred at 10 %


def test_random_answers_about_near_rows_say_nothing():
    """Pairs of neighbors: must-links chain up what is near, whatever was answered."""
    p_values = []
    for seed in range(20):
        X, _ = stripes(seed, n=80)
        order = np.argsort(-nearness_between(X), axis=1)[:, :2]
        pairs = np.unique(np.sort(np.c_[np.repeat(np.arange(80), 2), order.ravel()]), axis=0)
        is_must = np.random.default_rng(seed).uniform(size=len(pairs)) < 0.5
        answers = Constraints(80, must_link=pairs[is_must], cannot_link=pairs[~is_must])
        p_values.append(p_of_nearest(X, answers, seed))
    assert np.mean(np.array(p_values) <= 0.1) <= 0.3


def test_one_kind_of_pair_alone_says_nothing():
    assert p_of_nearest(np.arange(4.0)[:, None], Constraints(4, must_link=[(0, 1)])) == 1.0
    assert p_of_nearest(np.arange(4.0)[:, None], Constraints(4)) == 1.0


def test_the_unit_and_the_place_of_the_rows_do_not_matter():
    X, y = stripes(0)
    answers = draw_pairs(y, 0, 80)
    assert p_of_nearest(X, answers) == p_of_nearest(8 * X + 3, answers)


def test_the_nearest_rows_are_heard_from_sixty_answers_on():
    assert weights_of_tests(24) == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert weights_of_tests(59)[:2] == (0.5, 0.0)
    assert weights_of_tests(60)[:2] == (0.4, 0.2)
    assert all(sum(weights_of_tests(n)) == pytest.approx(1) for n in (24, 25, 59, 60))
