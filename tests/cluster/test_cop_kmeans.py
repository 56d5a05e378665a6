from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster import linked_groups
from likewise.cluster.cop_kmeans import COPKMeans, hold_pairs
from likewise.constraints import Constraints, InconsistentConstraints


@parametrize_with_checks([COPKMeans(2)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def breaks(labels, constraints):
    pairs, sign = constraints.signed_pairs()
    return np.count_nonzero((labels[pairs[:, 0]] == labels[pairs[:, 1]]) != (sign > 0))


def inertia(X, labels):
    return sum(
        ((X[labels == h] - X[labels == h].mean(axis=0)) ** 2).sum() for h in np.unique(labels)
    )


def draw(seed, n_clusters=3, n=40):
    rng = np.random.RandomState(seed)
    X, y = make_blobs(n, 2, centers=n_clusters, cluster_std=3.0, random_state=rng)
    c = Constraints.from_labels(
        y, n_must_link=rng.randint(1, 15), n_cannot_link=rng.randint(1, 30), random_state=seed
    )
    return X, y, c


def test_two_pairs_by_hand():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    c = Constraints(4, must_link=[(1, 2)], cannot_link=[(2, 3)])
    model = COPKMeans(2, random_state=0).fit(X, constraints=c)
    # {0, 1, 2} and {3} cost 48.67; {1, 2} and {0, 3} cost 82.
    assert adjusted_rand_score([0, 0, 0, 1], model.labels_) == 1
    assert_allclose(sorted(model.cluster_centers_.ravel()), [10 / 3, 10])
    assert_allclose(model.inertia_, 146 / 3)
    assert_array_equal(model.predict([[1.0], [8.0]]), model.labels_[[0, 3]])


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=25)
def test_every_pair_holds_and_the_inertia_never_rises(seed, n_clusters):
    X, _, c = draw(seed, n_clusters)
    model = COPKMeans(n_clusters, n_init=2, random_state=seed).fit(X, constraints=c)
    assert breaks(model.labels_, c) == 0
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert_allclose(model.inertia_, inertia(X, model.labels_))
    assert model.n_answers_used_ == c.n_answers


@given(st.integers(0, 10_000))
@settings(max_examples=12)
def test_small_problems_reach_the_least_inertia_there_is(seed):
    rng = np.random.RandomState(seed)
    X, y = rng.randn(7, 2), rng.randint(2, size=7)
    c = Constraints.from_labels(y, n_pairs=4, random_state=seed)
    feasible = [
        np.array(labels)
        for labels in product(range(2), repeat=7)
        if not breaks(np.array(labels), c)
    ]
    least = min(inertia(X, labels) for labels in feasible)
    model = COPKMeans(2, n_init=30, random_state=seed).fit(X, constraints=c)
    assert_allclose(model.inertia_, least)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_the_unit_the_place_and_the_order_of_pairs_do_not_matter(seed):
    X, _, c = draw(seed)
    shuffled = np.random.RandomState(seed).permutation(c.n_answers)
    pairs, sign = c.signed_pairs()
    turned = pairs[shuffled][:, ::-1]
    again = Constraints(
        len(X), must_link=turned[sign[shuffled] > 0], cannot_link=turned[sign[shuffled] < 0]
    )
    labels = COPKMeans(3, n_init=3, random_state=seed).fit(X, constraints=c).labels_
    for unit, place in ((16.0, 0.0), (1000.0, 0.0), (1.0, 50.0)):
        model = COPKMeans(3, n_init=3, random_state=seed).fit(unit * X + place, constraints=again)
        assert adjusted_rand_score(labels, model.labels_) == 1


def test_without_constraints_it_is_k_means(seed):
    X, _ = make_blobs(300, 5, centers=4, cluster_std=2.0, random_state=seed)
    theirs = KMeans(4, n_init=10, tol=0, random_state=seed).fit(X)
    ours = COPKMeans(4, n_init=10, tol=0, random_state=seed).fit(X)
    assert_allclose(ours.inertia_, theirs.inertia_)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1
    assert_array_equal(ours.predict(X), ours.labels_)


def test_pairs_that_follow_from_others_hold_too():
    X = np.arange(6.0)[:, None]
    c = Constraints(6, must_link=[(0, 2), (2, 5), (1, 4)], cannot_link=[(5, 4)])
    labels = COPKMeans(2, random_state=0).fit(X, constraints=c).labels_
    assert labels[0] == labels[5] != labels[1] == labels[4]


def test_same_seed_same_labels(seed):
    X, _, c = draw(seed)
    first, second = (COPKMeans(3, random_state=seed).fit(X, constraints=c) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.cluster_centers_, second.cluster_centers_)


def test_a_contradiction_is_named_with_its_path():
    c = Constraints(5, must_link=[(0, 1), (3, 4), (1, 2)], cannot_link=[(3, 0), (0, 2)])
    with pytest.raises(InconsistentConstraints, match=r"cannot_link\[1\] = \(0, 2\).*0-1-2") as e:
        COPKMeans(2).fit(np.eye(5), constraints=c)
    assert set(e.value.witness) == {0, 2, 4}


def test_a_clique_larger_than_the_number_of_clusters_is_named():
    clique = list(combinations([1, 3, 4, 6], 2))
    c = Constraints(8, must_link=[(6, 7)], cannot_link=[(0, 1), (0, 3), *clique])
    with pytest.raises(InconsistentConstraints, match=r"Rows 1, 3, 4, 6 .* takes 4 clusters") as e:
        COPKMeans(3).fit(np.eye(8), constraints=c)
    assert e.value.witness == (0, 3, 4, 5, 6, 7, 8)
    assert breaks(COPKMeans(4, random_state=0).fit(np.eye(8), constraints=c).labels_, c) == 0


def test_an_odd_cycle_is_proved_to_need_three_clusters():
    cycle = [(i, (i + 1) % 5) for i in range(5)]
    c = Constraints(6, cannot_link=cycle)
    with pytest.raises(InconsistentConstraints, match="every assignment was tried") as e:
        COPKMeans(2).fit(np.eye(6), constraints=c)
    assert e.value.witness == (0, 1, 2, 3, 4)
    assert breaks(COPKMeans(3, random_state=0).fit(np.eye(6), constraints=c).labels_, c) == 0


def test_a_search_cut_short_does_not_claim_that_there_is_nothing(monkeypatch):
    monkeypatch.setattr(linked_groups, "LARGEST_PROGRAM", 0)  # else HiGHS would go on
    cycle = [(i, (i + 1) % 6) for i in range(6)]
    c = Constraints(6, cannot_link=cycle)
    with pytest.raises(InconsistentConstraints, match=r"within the budget of 3 steps.*may be") as e:
        COPKMeans(2, budget=3).fit(np.eye(6), constraints=c)
    assert e.value.witness == ()
    assert breaks(COPKMeans(2, random_state=0).fit(np.eye(6), constraints=c).labels_, c) == 0


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_a_claim_that_no_labels_exist_is_true(seed):
    rng = np.random.RandomState(seed)
    n_clusters = rng.randint(2, 4)
    edges = np.array(list(combinations(range(7), 2)))
    chosen = edges[rng.permutation(len(edges))[: rng.randint(6, 16)]]
    c = Constraints(7, cannot_link=chosen)
    possible = any(
        not breaks(np.array(labels), c) for labels in product(range(n_clusters), repeat=7)
    )
    model = COPKMeans(n_clusters, n_init=1, random_state=seed)
    if possible:
        assert breaks(model.fit(rng.randn(7, 2), constraints=c).labels_, c) == 0
    else:
        with pytest.raises(InconsistentConstraints, match=r"takes|every assignment was tried"):
            model.fit(rng.randn(7, 2), constraints=c)


def test_a_chain_of_a_hundred_thousand_must_links_is_one_cluster():
    n = 100_000
    X = np.random.RandomState(0).randn(n + 50, 2)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    c = Constraints(n + 50, must_link=chain, cannot_link=[(0, n), (n - 1, n + 1)])
    labels = COPKMeans(3, n_init=2, random_state=0).fit(X, constraints=c).labels_
    assert len(set(labels[:n])) == 1
    assert labels[0] not in (labels[n], labels[n + 1])
    assert len(set(labels)) == 3


def test_one_giant_component_leaves_clusters_empty_and_says_so():
    X = np.random.RandomState(0).randn(30, 2)
    c = Constraints(30, must_link=[(0, i) for i in range(1, 30)])
    with pytest.warns(ConvergenceWarning, match="found 1 clusters, fewer than n_clusters=3"):
        model = COPKMeans(3, random_state=0).fit(X, constraints=c)
    assert_array_equal(model.labels_, np.zeros(30))
    assert_allclose(model.cluster_centers_, np.repeat(X.mean(axis=0)[None], 3, axis=0))
    assert_array_equal(model.predict(X), model.labels_)


def test_more_clusters_than_distinct_rows_are_found_as_far_as_there_are():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 2.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 clusters, fewer than n_clusters=5"):
        model = COPKMeans(5, random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 4), model.labels_) == 1
    # a sum of squared distances x'x - 2 x'c + c'c, each of which may round
    assert model.inertia_ <= 4 * np.finfo(float).eps * (X**2).sum()


def test_equal_rows_can_be_kept_apart():
    X = np.ones((6, 3))
    c = Constraints(6, cannot_link=[(0, 1), (1, 2), (0, 2)])
    labels = COPKMeans(3, random_state=0).fit(X, constraints=c).labels_
    assert len(set(labels[:3])) == 3


def test_features_that_never_vary_change_nothing(seed):
    X, _, c = draw(seed)
    wider = np.column_stack([X, np.full(len(X), 7.0)])
    labels = COPKMeans(3, random_state=seed).fit(X, constraints=c).labels_
    assert_array_equal(COPKMeans(3, random_state=seed).fit(wider, constraints=c).labels_, labels)


def test_answers_it_cannot_use_are_counted():
    c = Constraints(4, must_link=[(0, 1)], odd_one_out=[(0, 1, 2), (1, 2, 3)])
    with pytest.warns(UserWarning, match="COPKMeans cannot use 2 odd_one_out"):
        model = COPKMeans(2, random_state=0).fit(np.eye(4), constraints=c)
    assert model.n_answers_used_ == 1


def test_pairs_make_digits_better_than_plain_k_means(seed):
    X, y = load_digits(return_X_y=True)
    c = Constraints.from_labels(y, n_must_link=1000, n_cannot_link=1000, random_state=seed)
    model = COPKMeans(10, n_init=3, random_state=seed).fit(X / 16, constraints=c)
    assert breaks(model.labels_, c) == 0
    assert adjusted_rand_score(y, model.labels_) > 0.85  # plain k-means: .67


def test_labels_at_given_centers_hold_and_move_no_other_row():
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(40, 2)), rng.normal(size=(3, 2))
    pairs = rng.permutation(40)[:12].reshape(6, 2)
    answers = Constraints(40, must_link=pairs[:3], cannot_link=pairs[3:])
    labels = hold_pairs(X, answers, centers)
    nearest = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    free = np.setdiff1d(np.arange(40), answers.touched_rows())
    assert_array_equal(labels[free], nearest[free])
    for kind, same in ((answers.must_link, True), (answers.cannot_link, False)):
        assert ((labels[kind[:, 0]] == labels[kind[:, 1]]) == same).all()


@given(st.integers(0, 10_000))
def test_labels_at_given_centers_are_the_cheapest_that_keep_every_pair(seed):
    rng = np.random.default_rng(seed)
    X, centers, y = rng.normal(size=(7, 2)), rng.normal(size=(3, 2)), rng.integers(3, size=7)
    pairs = np.array(list(combinations(range(7), 2)))[rng.permutation(21)[:12]]
    is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
    answers = Constraints(7, must_link=pairs[is_same], cannot_link=pairs[~is_same])
    costs = ((X[:, None] - centers) ** 2).sum(axis=2)
    cheapest = min(
        costs[np.arange(7), labels].sum()
        for labels in map(np.array, product(range(3), repeat=7))
        if breaks(labels, answers) == 0
    )
    labels = hold_pairs(X, answers, centers)
    assert breaks(labels, answers) == 0
    assert_allclose(costs[np.arange(7), labels].sum(), cheapest)


def test_no_labels_that_keep_every_pair_are_cheaper_at_the_centers_that_are_found():
    """Also where no group can move alone, and for rows without pairs."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
        answers = Constraints.from_labels(y, n_cannot_link=40, n_must_link=5, random_state=seed)
        model = COPKMeans(3, n_init=1, tol=0, random_state=seed).fit(X, constraints=answers)
        costs = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
        cheapest = hold_pairs(X, answers, model.cluster_centers_)
        rows = np.arange(60)
        assert costs[rows, model.labels_].sum() <= costs[rows, cheapest].sum() + 1e-9


def test_no_labels_hold_a_contradiction_or_four_rows_apart_in_three_clusters():
    X, centers = np.zeros((4, 1)), np.arange(3.0)[:, None]
    assert hold_pairs(X, Constraints(4, must_link=[(0, 1)], cannot_link=[(0, 1)]), centers) is None
    apart = Constraints(4, cannot_link=[(i, j) for i in range(4) for j in range(i)])
    assert hold_pairs(X, apart, centers) is None
