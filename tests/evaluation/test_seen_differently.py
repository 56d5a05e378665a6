"""Who joins two clusters, or splits one: by hand, beside other partitions, and of whom not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise.constraints import Constraints
from likewise.evaluation import seen_differently
from likewise.evaluation.seen_differently import share_of_others
from likewise.evaluation.statements import chances_of, statements_of_people

Y = np.arange(90) % 3
X = 4 * np.eye(3)[Y] + np.random.default_rng(0).normal(size=(90, 3))
JOINED = np.minimum(Y, 1)  # clusters 1 and 2 are one


def answers_of(people, kind="pairs", n=80, wrong=0.05, seed=0):
    """Answers by classes of everybody's own, a share of them wrong."""
    answers = Constraints(len(Y))
    for number, (name, classes) in enumerate(people.items()):
        drawn = Constraints.from_labels(
            classes, noise=wrong, random_state=100 * seed + number, **{f"n_{kind}": n}
        )
        kinds = {name: getattr(drawn, name) for name in ("must_link", "cannot_link", "odd_one_out")}
        answers += Constraints(len(Y), **kinds, annotators=[name] * n)
    return answers


def test_chances_by_hand():
    answers = Constraints(
        90,
        must_link=[(0, 3), (0, 1)],
        cannot_link=[(0, 1)],
        odd_one_out=[(0, 3, 1), (0, 1, 3), (0, 1, 2), (0, 3, 6)],
        closer=[(0, 3, 1), (0, 1, 3), (0, 1, 2)],
        annotators=["ann"] * 10,
    )
    statements, names, statement_of = statements_of_people(answers, Y)
    assert names == ["ann"]
    assert_array_equal(statement_of, np.arange(10))
    certain, guessed = chances_of(statements, Y)[:, [2, -1]].T  # 5 % guesses; nothing but guesses
    by_hand = [1, 0, 1, 1, 0, 1 / 3, 1 / 3, 1, 0, 1 / 2]
    n_options = [2, 2, 2, 3, 3, 3, 3, 2, 2, 2]
    assert_allclose(guessed, 1 / np.array(n_options))
    assert_allclose(certain, 0.95 * np.array(by_hand) + 0.05 / np.array(n_options))


def test_chances_of_screens_by_hand():
    """Row 3 is of cluster 0; 0, 1, 2 stand for clusters 0, 1, 2, and 6 for another 0."""
    links = {
        "right": ([(3, 0)], [(3, 1), (2, 3)]),
        "wrong": ([(3, 1)], [(3, 0), (3, 2)]),
        "either": ([(3, 0)], [(3, 6), (3, 1)]),
        "new": ([], [(3, 1), (3, 2)]),
        "not new": ([], [(3, 0), (3, 1)]),
    }
    links |= {f"more {i}": ([(9, 12)], [(9, 1)]) for i in range(5)}
    answers = Constraints(90)
    for name, (together, apart) in links.items():
        answers += Constraints(
            90,
            must_link=together or None,
            cannot_link=apart,
            annotators=["ann"] * (len(together) + len(apart)),
            screens=[name] * (len(together) + len(apart)),
        )
    statements, _, statement_of = statements_of_people(answers, Y)
    assert len(statements.people) == len(links)
    names = {name: statement_of[answers.screens == name][0] for name in links}
    certain, guessed = chances_of(statements, Y)[:, [2, -1]].T
    by_hand = {"right": (1, 4), "wrong": (0, 4), "either": (1 / 2, 4), "new": (1, 3)}
    by_hand |= {"not new": (0, 3), "more 0": (1, 3)}
    for name, (fits, n_options) in by_hand.items():
        assert_allclose(guessed[names[name]], 1 / n_options)
        assert_allclose(certain[names[name]], 0.95 * fits + 0.05 / n_options)


@pytest.mark.parametrize("kind", ["pairs", "odd_one_out"])
@pytest.mark.parametrize("draw", range(3))
def test_who_joins_two_clusters_is_found(kind, draw):
    answers = answers_of({"ann": Y, "bob": Y, "eve": JOINED}, kind, seed=draw)
    found = seen_differently(Y, answers, X)
    assert [one[:3] for one in found] == [("eve", "merges", (1, 2))]
    assert found[0].rows.size == 0


@pytest.mark.parametrize("kind", ["pairs", "odd_one_out"])
@pytest.mark.parametrize("draw", range(3))
def test_who_splits_a_cluster_is_found_and_so_are_its_sides(kind, draw):
    answers = answers_of({"ann": JOINED, "bob": JOINED, "eve": Y}, kind, seed=draw)
    found = seen_differently(JOINED, answers, X)
    assert [one[:3] for one in found] == [("eve", "splits", (1,))]
    sides = Y[found[0].rows]
    assert max((sides == 1).mean(), (sides == 2).mean()) > 0.9
    assert seen_differently(JOINED, answers) == []  # sides are looked for in features


def test_the_answers_named_are_those_that_say_so():
    answers = answers_of({"ann": Y, "bob": Y, "eve": JOINED}, wrong=0.0)
    telling = seen_differently(Y, answers)[0].answers
    pairs, sign = answers.signed_pairs()
    across = [set(Y[pair]) == {1, 2} for pair in pairs]
    by_eve = answers.annotators == "eve"
    assert_array_equal(np.sort(telling), np.flatnonzero(across & by_eve & (sign > 0)))


def test_what_everybody_sees_so_is_nobodys_difference():
    people = dict.fromkeys(["ann", "bob", "eve"], JOINED)
    assert seen_differently(Y, answers_of(people), X) == []


@pytest.mark.parametrize("kind", ["pairs", "odd_one_out"])
def test_slips_and_guesses_are_no_other_view(kind):
    rng = np.random.default_rng(0)
    for draw in range(10):
        people = {"ann": Y, "bob": Y, "dan": Y, "guess": rng.permutation(Y)}
        assert seen_differently(Y, answers_of(people, kind, wrong=0.2, seed=draw), X) == []


def test_somebody_may_differ_twice():
    y = np.arange(90) % 4
    others = np.array([0, 0, 1, 1])[y]
    answers = answers_of({"ann": y, "bob": y, "eve": others}, n=160)
    found = {one[:3] for one in seen_differently(y, answers)}
    assert found == {("eve", "merges", (0, 1)), ("eve", "merges", (2, 3))}


def test_order_and_names_of_clusters_do_not_matter():
    answers = answers_of({"ann": Y, "bob": Y, "eve": JOINED})
    shuffled = answers.subset(np.random.default_rng(0).permutation(answers.n_answers))
    renamed = np.array([2, 0, 1])[Y]
    first, second = seen_differently(Y, answers)[0], seen_differently(renamed, shuffled)[0]
    assert second.clusters == (0, 1)
    assert_allclose(first.log_odds, second.log_odds)


def test_log_odds_by_a_second_route():
    """Ten of eve's answers say that clusters 0 and 1 are one; ten of bob's that they are not."""
    across = [(3 * i, 3 * i + 1) for i in range(10)]
    inside = [(3 * i + 2, 3 * i + 5) for i in range(20)]
    answers = Constraints(
        90,
        must_link=[*across, *inside, *inside],
        cannot_link=across,
        annotators=["eve"] * 30 + ["bob"] * 30,
    )
    found = seen_differently(Y, answers)[0]
    e = np.maximum([0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1], 0.01)
    right, wrong = 1 - e / 2, e / 2
    share = share_of_others(
        np.full(10, 1 - 0.005), np.full(10, 0.005), np.ones(10)
    )  # bob errs in nothing
    null = 20 * np.log(right) + 10 * np.log((1 - share) * wrong + share * right)
    assert_allclose(found.log_odds, 30 * np.log(right[0]) - null.max())
    assert 1 / 12 < share < 0.1


def test_weights_count_like_repeats():
    answers = answers_of({"ann": Y, "bob": Y, "eve": JOINED})
    m = answers.n_answers
    twice = answers.subset(np.repeat(np.arange(m), 2))
    weighed = Constraints(
        90,
        must_link=answers.must_link,
        cannot_link=answers.cannot_link,
        annotators=np.concatenate(
            [answers.annotators[answers.positions(kind)] for kind in ("must_link", "cannot_link")]
        ),
        weights=np.full(m, 2.0),
    )
    first, second = seen_differently(Y, twice)[0], seen_differently(Y, weighed)[0]
    assert_allclose(first.log_odds, second.log_odds)


def test_one_person_few_answers_and_no_names_say_nothing():
    assert seen_differently(Y, answers_of({"eve": JOINED})) == []
    assert seen_differently(Y, answers_of({"ann": Y, "eve": JOINED}, n=9)) == []
    assert seen_differently(Y, Constraints.from_labels(JOINED, n_pairs=60, random_state=0)) == []
    assert seen_differently(Y, Constraints(90)) == []


def test_rows_in_no_cluster_are_left_out():
    answers = answers_of({"ann": Y, "bob": Y, "eve": JOINED})
    assert seen_differently(np.full(90, -1), answers, X) == []
    some = np.where(np.arange(90) < 9, -1, Y)
    assert seen_differently(some, answers, X)[0].clusters == (1, 2)
