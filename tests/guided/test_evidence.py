"""Do answers follow the data? By hand, the null, and what the whole fit does then."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import ndtr

from likewise import Constraints, GuidedClustering
from likewise.datasets import load_iris, load_wine
from likewise.guided import evidence
from likewise.guided.evidence import (
    about_new_rows,
    folds_about_new_rows,
    gains_of,
    join,
    p_of,
    p_of_held_out,
    right_choices,
    views_of,
    weigh_evidence,
)

LINE = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])[:, None]


def on_the_line(pairs):
    return np.abs(LINE[pairs[:, 0], 0] - LINE[pairs[:, 1], 0])


def draw(y, seed, n=60):
    return Constraints.from_labels(y, n_must_link=n // 2, n_cannot_link=n // 2, random_state=seed)


def test_a_rank_sum_by_hand():
    near = Constraints(6, must_link=[(0, 1), (3, 5)], cannot_link=[(0, 3), (1, 5)])
    assert p_of(near, [on_the_line]) == pytest.approx(1 / 6, abs=0.05)  # of 6 orders this one
    far = Constraints(6, must_link=[(0, 3), (1, 5)], cannot_link=[(0, 1), (3, 5)])
    assert p_of(far, [on_the_line]) == 1.0


def test_triples_by_hand():
    answers = Constraints(
        6, odd_one_out=[(0, 1, 3), (0, 2, 4), (3, 4, 0), (0, 3, 1)], closer=[(0, 1, 5), (0, 5, 1)]
    )
    odd, closer = right_choices(answers, on_the_line)
    assert odd[:, 0].tolist() == [1, 1, 1, 0]
    assert closer.tolist() == [[1, 0], [0, 1]]
    assert (odd.sum(axis=1) == 1).all()
    only_odd = Constraints(6, odd_one_out=answers.odd_one_out)
    three_of_four = (4 * 2 + 1) / 81  # P(Bin(4, 1/3) >= 3)
    assert p_of(only_odd, [on_the_line]) == pytest.approx(three_of_four, abs=0.03)


def test_a_second_view_that_agrees_makes_no_difference():
    near = Constraints(6, must_link=[(0, 1), (3, 5)], cannot_link=[(0, 3), (1, 5)])
    assert p_of(near, [on_the_line, on_the_line]) == p_of(near, [on_the_line])


def test_without_both_kinds_of_pairs_nothing_can_be_said():
    assert p_of(Constraints(6, must_link=[(0, 1)]), [on_the_line]) == 1.0
    assert p_of(Constraints(6, undecided=[(0, 1, 2)]), [on_the_line]) == 1.0


def test_every_view_finds_rows_of_one_piece_nearer_than_rows_of_two():
    X = np.concatenate([np.random.default_rng(0).normal(c, 1, (30, 2)) for c in (0, 20)])
    answers = Constraints(60, must_link=[(0, 7)], cannot_link=[(0, 40)])
    for far in views_of(X, answers, 2):
        assert far(np.array([[0, 7]]))[0] < far(np.array([[0, 40]]))[0]


def test_held_out_answers_in_a_space_that_knows_are_beyond_doubt():
    y = np.repeat([0, 1], 30)
    answers = draw(y, 0)
    splits = folds_about_new_rows(answers, 0)
    assert p_of_held_out(splits, lambda _: [y[:, None].astype(float)]) <= 0.005
    noise = np.random.default_rng(0).normal(size=(60, 2))
    assert p_of_held_out(splits, lambda _: [noise]) > 0.05


@pytest.mark.parametrize("order", [1, -1])
def test_a_space_that_knows_is_heard_beside_one_that_does_not(order):
    y = np.repeat([0, 1], 30)
    rng = np.random.default_rng(0)
    spaces = [y[:, None] + rng.normal(size=(60, 1)) / 2, rng.normal(size=(60, 2))][::order]
    folds = folds_about_new_rows(draw(y, 0), 0)
    assert p_of_held_out(folds, lambda _: spaces) < 0.01
    assert p_of_held_out(folds, lambda _: spaces[::-order][:1]) > 0.05


def test_held_out_pairs_are_ranked_among_all_places_by_hand():
    held_out = Constraints(6, must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 3)])
    here = np.arange(6)[None]  # distances 1, 1, 1 and 10: shares of the ranks 1/2, 1/2, 1/2 and 1
    ((_, gain),) = gains_of(held_out, LINE, here, (1 / 3, 1.0))
    assert gain == pytest.approx([1 - 1 / 2])
    assert gains_of(held_out, LINE, here, None) == []
    alone = Constraints(6, must_link=[(0, 1)])  # in its fold
    two_places = np.array([[0, 1, 2, 3, 4, 5], [0, 5, 2, 3, 4, 1]])
    ((_, gain),) = gains_of(alone, LINE, two_places, (1.0, 1.0))
    assert gain == pytest.approx([-1 / 2, -1])


def test_only_near_pairs_asked_and_mostly_joined_are_no_evidence():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(size=(200, 1)), axis=0)
    pairs = np.arange(80).reshape(40, 2)  # neighbors all, joined four times of five at random
    joined = rng.permutation(np.repeat([True, False], [32, 8]))
    answers = Constraints(200, must_link=pairs[joined], cannot_link=pairs[~joined])
    assert p_of_held_out(folds_about_new_rows(answers, 0), lambda _: [X]) > 0.05


def test_only_answers_about_new_rows_are_judged_by_hand():
    fit_part = Constraints(9, must_link=[(0, 1)], cannot_link=[(1, 2)])
    held_out = Constraints(
        9, must_link=[(0, 3), (4, 5)], cannot_link=[(0, 2)], odd_one_out=[(0, 4, 5), (0, 1, 5)]
    )
    judged = about_new_rows(fit_part, held_out)
    assert judged.must_link.tolist() == [[0, 3], [4, 5]]
    assert len(judged.cannot_link) == 0  # 0 is with 1, 1 not with 2: it follows
    assert judged.odd_one_out.tolist() == [[0, 4, 5]]


def sides_by_pairs(part):
    """A space (n, 1) of rows on one of two sides as far as pairs say so; all others between."""
    Z = np.random.default_rng(0).uniform(-0.5, 0.5, size=(part.n_samples, 1))
    pairs, sign = part.signed_pairs()
    side = dict.fromkeys(part.touched_rows().tolist(), 0)
    for row in side:
        side[row] = side[row] or 1
        for _ in range(len(pairs)):
            before = dict(side)
            for (a, b), s in zip(pairs.tolist(), sign.astype(int).tolist()):
                if side[a] or side[b]:
                    side[a], side[b] = side[a] or s * side[b], side[b] or s * side[a]
            if side == before:
                break
    for row, where in side.items():
        Z[row] = where
    return [Z]


def test_random_groups_do_not_predict_each_other_through_rows_that_answers_share():
    p_values = []
    for seed in range(20):
        y = np.random.default_rng(seed).integers(2, size=60)
        answers = draw(y, seed, n=60)
        p_values.append(p_of_held_out(folds_about_new_rows(answers, seed), sides_by_pairs))
    assert np.mean(np.array(p_values) < 0.05) <= 0.15  # all of them, were all answers judged


def test_where_every_row_has_many_answers_folds_of_rows_are_judged():
    answers = draw(np.arange(40) % 2, 0, n=300)
    for fit_part, held_out in folds_about_new_rows(answers, 0):
        assert held_out.n_answers > 0
        assert not np.isin(held_out.touched_rows(), fit_part.touched_rows()).any()
    few = draw(np.arange(400) % 2, 0, n=60)
    assert sum(held_out.n_answers for _, held_out in folds_about_new_rows(few, 0)) > 50


def test_permuted_answers_pass_in_one_case_in_twenty():
    iris = load_iris()
    passed = []
    for seed in range(100):
        y = np.random.default_rng(seed).permutation(np.asarray(iris.y))
        answers = draw(y, seed, n=40)
        passed.append(weigh_evidence(iris.X, answers, lambda part: [iris.X]).follows)
    assert sum(passed) <= 11  # more in one of a hundred draws at 5 %


def test_right_answers_pass_with_twenty_pairs():
    iris = load_iris()
    passed = [
        weigh_evidence(iris.X, draw(np.asarray(iris.y), seed, n=20), None).follows
        for seed in range(20)
    ]
    assert all(passed)


@pytest.mark.parametrize(
    ("n", "parts", "n_deals"),
    [(24, (1.0, 0.0, 0.0), 0), (30, (0.5, 0.0, 0.5), 3), (60, (0.4, 0.2, 0.4), 1)],
)
def test_each_test_has_its_weight_and_each_deal_a_part_of_it(monkeypatch, n, parts, n_deals):
    found = {"p_of": 0.1, "p_of_nearest": 0.3, "p_of_held_out": 0.2}
    asked = []
    for name, p_value in found.items():
        monkeypatch.setattr(
            evidence, name, lambda *_, name=name, p=p_value: asked.append(name) or p
        )
    y = np.repeat([0, 1], 30)
    X = y[:, None] + np.random.default_rng(0).normal(size=(60, 2))
    p_value = weigh_evidence(X, draw(y, 0, n=n), lambda _: [X]).p_value
    n_times = (1, int(n >= 60), n_deals)
    assert asked == [name for name, times in zip(found, n_times) for _ in range(times)]
    cots = sum(part / np.tan(np.pi * p) for part, p in zip(parts, found.values()))
    joined = 1.15 * (0.5 - np.arctan(cots) / np.pi)
    assert p_value == pytest.approx(0.1 if n == 24 else joined)


def test_answers_are_dealt_anew_each_time(monkeypatch):
    dealt = []
    monkeypatch.setattr(evidence, "p_of", lambda *_: 0.5)
    monkeypatch.setattr(evidence, "p_of_held_out", lambda folds, *_: dealt.append(folds) or 0.5)
    answers = draw(np.repeat([0, 1], 30), 0, n=30)
    weigh_evidence(np.random.default_rng(0).normal(size=(60, 2)), answers, None)
    held_out = [[part.must_link.tolist() for _, part in folds] for folds in dealt]
    assert len(held_out) == 3
    assert held_out[0] != held_out[1] != held_out[2] != held_out[0]


@pytest.mark.parametrize("largest", [2**32 - 1, np.int32(2**31 - 1)])
def test_answers_are_dealt_by_the_largest_seeds_too(monkeypatch, largest):
    monkeypatch.setattr(evidence, "p_of", lambda *_: 0.5)
    answers = draw(np.repeat([0, 1], 30), 0, n=30)
    X = np.random.default_rng(0).normal(size=(60, 2))
    found = weigh_evidence(X, answers, lambda _: [X], seed=largest)
    assert 0 < found.p_value <= 1
    assert found == weigh_evidence(X, answers, lambda _: [X], seed=int(largest))


def test_views_that_are_sure_are_enough(monkeypatch):
    monkeypatch.setattr(evidence, "p_of", lambda *_: 0.001)
    monkeypatch.setattr(evidence, "p_of_nearest", None)
    monkeypatch.setattr(evidence, "p_of_held_out", None)
    y = np.repeat([0, 1], 30)
    assert weigh_evidence(y[:, None] * 1.0, draw(y, 0, n=60), None).follows


def test_joined_p_values_by_hand():
    both = (0.5, 0.0, 0.5)
    assert join([0.03, 1.0, 0.03], both) == pytest.approx(1.15 * 0.03)  # that agree count fully
    assert join([0.01, 1.0, 1.0], both) == join([0.01], both) == join([0.01, 0.2, 0.9], both)
    assert join([0.01], both) == pytest.approx(1.15 * 2 * 0.01, rel=0.15)  # and one alone for half
    assert join([1.0, 1.0, 1.0], both) == 1.0


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("weights", [(0.5, 0.0, 0.5), (0.4, 0.2, 0.4)])
def test_joined_p_values_keep_the_level_however_they_go_along(correlation, weights):
    rng = np.random.default_rng(0)
    n = 4_000
    scores = np.sqrt(correlation) * rng.normal(size=(n, 1))
    scores = scores + np.sqrt(1 - correlation) * rng.normal(size=(n, 3))
    p_values = np.array([join(p, weights) for p in ndtr(-scores)])
    for level in (0.01, 0.05):
        most = level + 3 * np.sqrt(level * (1 - level) / n)
        assert level / 2 < np.mean(p_values <= level) <= most


def test_patches_are_heard_that_no_space_shows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    y = np.floor(6 * X[:, 0]).astype(int) % 2  # stripes that take turns
    answers = draw(y, 0, n=200)
    noise = rng.normal(size=(200, 2))
    assert weigh_evidence(X, answers, lambda _: [noise]).follows
    assert not weigh_evidence(noise, answers, lambda _: [noise]).follows


def test_answers_of_weight_zero_are_no_evidence():
    iris = load_iris()
    right = draw(np.asarray(iris.y), 0)
    wrong = Constraints(150, must_link=right.cannot_link, cannot_link=right.must_link)
    assert not weigh_evidence(iris.X, wrong, lambda part: [iris.X]).follows
    both = wrong + right
    both = Constraints(
        150,
        must_link=both.must_link,
        cannot_link=both.cannot_link,
        weights=np.tile(np.repeat([0.0, 1.0], 30), 2),
    )
    assert weigh_evidence(iris.X, both, lambda part: [iris.X]).follows


def test_permuted_answers_give_the_result_without_answers():
    wine = load_wine()
    y = np.random.default_rng(1).permutation(np.asarray(wine.y))
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=draw(y, 0, n=100))
    assert "nothing is learned" in model.report_.why
    assert_array_equal(model.labels_, GuidedClustering(3, random_state=0).fit(wine.X).labels_)
    assert len(model.doubtful_) == 0
