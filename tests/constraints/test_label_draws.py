from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.constraints import Constraints

labels = st.lists(st.integers(0, 4), min_size=1, max_size=15)
seeds = st.integers(0, 2**31 - 1)

COUNTS = {
    "n_must_link": lambda y: sum(y[i] == y[j] for i in range(len(y)) for j in range(i)),
    "n_cannot_link": lambda y: sum(y[i] != y[j] for i in range(len(y)) for j in range(i)),
    "n_pairs": lambda y: len(y) * (len(y) - 1) // 2,
    "n_odd_one_out": lambda y: sum(
        y[i] == y[j] != y[k] for i in range(len(y)) for j in range(i) for k in range(len(y))
    ),
    "n_closer": lambda y: sum(
        i != j and y[i] == y[j] != y[k]
        for i in range(len(y))
        for j in range(len(y))
        for k in range(len(y))
    ),
    "n_undecided": lambda y: sum(
        len({y[i], y[j], y[k]}) != 2 for i in range(len(y)) for j in range(i) for k in range(j)
    ),
}


def is_right(answer, y):
    kind, (a, b, *rest) = answer.kind, answer.points
    if kind == "must_link":
        return y[a] == y[b]
    if kind == "cannot_link":
        return y[a] != y[b]
    if kind == "undecided":
        return len({y[a], y[b], y[rest[0]]}) != 2
    return y[a] == y[b] != y[rest[0]]


@pytest.mark.parametrize("name", COUNTS)
@given(y=labels, seed=seeds)
def test_asking_for_all_there_are_gives_each_once_and_right(name, y, seed):
    total = COUNTS[name](y)
    c = Constraints.from_labels(y, **{name: total}, random_state=seed)
    ordered = name == "n_closer"
    asked = Counter(
        answer.points if ordered else (tuple(sorted(answer.points[:2])), *answer.points[2:])
        for answer in c.answers()
    )
    assert c.n_answers == total == len(asked)
    assert all(len(set(answer.points)) == len(answer.points) for answer in c.answers())
    assert all(is_right(answer, y) for answer in c.answers())
    with pytest.raises(ValueError, match=f"{name}={total + 1} asks for more than the {total}"):
        Constraints.from_labels(y, **{name: total + 1}, random_state=seed)


@pytest.mark.parametrize("name", COUNTS)
def test_every_answer_is_drawn_equally_often(name):
    y = [0, 0, 0, 1, 1, 2]
    n_draws, total = 1000, COUNTS[name](y)
    drawn = Counter()
    rng = np.random.RandomState(0)
    for _ in range(n_draws):
        c = Constraints.from_labels(y, **{name: 2}, random_state=rng)
        drawn.update(tuple(answer.points) for answer in c.answers())
    expected = 2 * n_draws / total
    assert len(drawn) == total
    assert max(abs(n - expected) for n in drawn.values()) < 5 * np.sqrt(expected)


@given(y=st.lists(st.integers(0, 2), min_size=8, max_size=20), seed=seeds)
def test_noise_makes_the_named_share_wrong_in_place(y, seed):
    counts = {name: COUNTS[name](y) // 2 for name in COUNTS}
    clean = Constraints.from_labels(y, **counts, random_state=seed)
    noisy = Constraints.from_labels(y, **counts, noise=0.3, random_state=seed)
    right = np.array([is_right(answer, y) for answer in noisy.answers()], dtype=bool)
    assert np.count_nonzero(~right) == round(0.3 * clean.n_answers)
    assert_array_equal(clean.questions(), noisy.questions())
    assert clean.subset(right) == noisy.subset(right)
    assert noisy == Constraints.from_labels(y, **counts, noise=0.3, random_state=seed)


def test_large_label_sets_need_no_table_of_pairs():
    y = np.arange(2_000_000) % 7
    c = Constraints.from_labels(
        y, n_must_link=1000, n_cannot_link=1000, n_odd_one_out=1000, n_closer=1000, random_state=0
    )
    assert all(is_right(answer, y) for answer in c.answers())


@given(st.lists(st.integers(-1, 3), max_size=12))
def test_partial_labels_say_all_and_only_what_they_imply(y):
    c = Constraints.from_partial_labels(np.array(y, dtype=int))
    pairs = np.array([(i, j) for i in range(len(y)) for j in range(i)]).reshape(-1, 2)
    expected = [0 if -1 in (y[i], y[j]) else 1 if y[i] == y[j] else -1 for i, j in pairs]
    assert_array_equal(c.closure().known(pairs), expected)
