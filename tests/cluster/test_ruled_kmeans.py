from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, COPKMeans, InconsistentConstraints


@parametrize_with_checks([COPKMeans(2, min_size=1, n_init=1)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def inertia(X, labels):
    return sum(((X[labels == h] - X[labels == h].mean(axis=0)) ** 2).sum() for h in set(labels))


def broken(labels, constraints):
    """How many pairs, and pairs of rows of one group, labels violate."""
    pairs, sign = constraints.signed_pairs()
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    repeats = sum(len(rows) - len(set(labels[rows])) for rows in constraints.exclusive)
    return np.count_nonzero(same != (sign > 0)) + repeats


def test_three_rows_and_one_are_made_two_and_two_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    model = COPKMeans(2, max_size=2, random_state=0).fit(X)
    assert_array_equal(model.labels_ == model.labels_[0], [True, True, False, False])
    assert_allclose(model.inertia_, 0.5 + 24.5)
    assert model.gap_ == 0


@given(st.integers(0, 10_000))
@settings(max_examples=5)
def test_every_rule_holds_and_the_inertia_never_rises(seed):
    rng = np.random.RandomState(seed)
    X, y = make_blobs(60, 2, centers=4, cluster_std=4.0, random_state=rng)
    c = Constraints.from_labels(y, n_must_link=8, n_cannot_link=15, random_state=rng)
    groups = [[int(rng.choice(np.flatnonzero(y == h))) for h in (0, 2, 3)] for _ in range(3)]
    c = c.with_exclusive(groups)
    model = COPKMeans(4, n_init=2, min_size=12, max_size=18, random_state=seed).fit(
        X, constraints=c
    )
    sizes = np.bincount(model.labels_, minlength=4)
    assert sizes.min() >= 12
    assert sizes.max() <= 18
    assert broken(model.labels_, c) == 0
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert_allclose(model.inertia_, inertia(X, model.labels_))
    free = COPKMeans(4, n_init=2, random_state=seed).fit(X, constraints=c)
    assert broken(free.labels_, c) == 0


def test_no_other_labels_lie_nearer_to_the_centers():
    c = Constraints(6, cannot_link=[(0, 1)], exclusive=[[2, 3, 4]])
    every = [np.array(labels) for labels in product(range(3), repeat=6)]
    allowed = [
        labels
        for labels in every
        if not broken(labels, c) and set(np.bincount(labels, minlength=3)) == {2}
    ]
    for seed in range(3):
        X = np.random.RandomState(seed).normal(size=(6, 2))
        model = COPKMeans(3, n_init=2, min_size=2, max_size=2, random_state=0)
        centers = model.fit(X, constraints=c).cluster_centers_
        least = min(((X - centers[labels]) ** 2).sum() for labels in allowed)
        assert_allclose(model.inertia_, least)


def test_sizes_one_by_one_belong_to_their_clusters():
    X = np.arange(10.0)[:, None]
    model = COPKMeans(3, min_size=[2, 3, 5], max_size=[2, 3, 5], random_state=0).fit(X)
    assert_array_equal(np.bincount(model.labels_), [2, 3, 5])


def test_sizes_that_ask_for_nothing_change_nothing():
    X, _ = make_blobs(80, 2, centers=3, random_state=0)
    plain = COPKMeans(3, random_state=0).fit(X)
    wide = COPKMeans(3, min_size=0, max_size=80, random_state=0).fit(X)
    assert_array_equal(plain.labels_, wide.labels_)
    assert np.isnan(plain.gap_)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"min_size": 4}, "3 clusters of min_size=4 need 12 rows, but X has n_samples=10"),
        ({"max_size": 3}, "3 clusters of max_size=3 hold 9 rows, but X has n_samples=10"),
        ({"min_size": 3, "max_size": 2}, "min_size=3 is more than max_size=2"),
        ({"min_size": [1, 2]}, r"min_size has shape \(2,\), but n_clusters=3"),
        ({"max_size": 3.5}, "max_size=3.5 must be a whole number"),
        ({"min_size": -1}, "min_size=-1 must be a whole number"),
    ],
)
def test_sizes_that_cannot_be_had_are_refused_in_one_line(sizes, message):
    with pytest.raises(ValueError, match=message):
        COPKMeans(3, **sizes).fit(np.arange(10.0)[:, None])


def can_hold(constraints, answers, n_clusters, least, most):
    some = constraints.subset(list(answers))
    n = constraints.n_samples
    return any(
        not broken(np.array(labels), some)
        and least <= np.bincount(labels, minlength=n_clusters).min()
        and np.bincount(labels, minlength=n_clusters).max() <= most
        for labels in product(range(n_clusters), repeat=n)
    )


CASES = {
    "two groups of three in clusters of four, and a fifth row that avoids both": (
        Constraints(
            7,
            must_link=[(0, 1), (1, 2), (3, 4), (4, 5)],
            cannot_link=[(0, 6), (3, 6)],
        ),
        (2, 1, 4),
    ),
    "three groups of two in two clusters of three": (
        Constraints(6, must_link=[(4, 5), (2, 3), (0, 1)]),
        (2, 3, 3),
    ),
    "an odd cycle in two clusters": (
        Constraints(6, cannot_link=[(5, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
        (2, 0, 6),
    ),
    "a group of five in clusters of three": (
        Constraints(6, must_link=[(3, 4), (0, 1), (1, 2), (2, 3)]),
        (2, 0, 3),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answers_that_prove_it_cannot_hold_and_none_of_them_is_superfluous(name):
    constraints, (k, least, most) = CASES[name]
    X = np.random.RandomState(0).normal(size=(constraints.n_samples, 2))
    with pytest.raises(InconsistentConstraints) as error:
        COPKMeans(k, min_size=least, max_size=most).fit(X, constraints=constraints)
    witness = error.value.witness
    assert "\n" not in str(error.value)
    assert not can_hold(constraints, witness, k, least, most)
    for left_out in witness:
        assert can_hold(constraints, set(witness) - {left_out}, k, least, most)


def test_a_group_with_more_rows_than_clusters_is_named():
    c = Constraints(6, exclusive=[[0, 1], [2, 3, 4]])
    with pytest.raises(InconsistentConstraints, match=r"exclusive\[1\] keeps 3 rows apart, and n_"):
        COPKMeans(2).fit(np.eye(6), constraints=c)


def test_a_group_that_must_links_join_is_named_with_the_path():
    c = Constraints(6, must_link=[(0, 5), (5, 1)], exclusive=[[0, 1]])
    with pytest.raises(InconsistentConstraints, match="but the must-link path 0-5-1") as error:
        COPKMeans(2).fit(np.eye(6), constraints=c)
    assert sorted(error.value.witness) == [0, 1]
