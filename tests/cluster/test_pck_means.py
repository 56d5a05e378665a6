from itertools import product

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

from likewise.cluster.pck_means import PCKMeans
from likewise.constraints import Constraints


@parametrize_with_checks([PCKMeans(2)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def broken(labels, constraints):
    pairs, sign = constraints.signed_pairs()
    return (labels[pairs[:, 0]] == labels[pairs[:, 1]]) != (sign > 0)


def half_inertia(X, labels, centers=None):
    if centers is None:
        centers = {h: X[labels == h].mean(axis=0) for h in np.unique(labels)}
    return sum(((x - centers[label]) ** 2).sum() for x, label in zip(X, labels)) / 2


def objective(X, labels, constraints, weight, centers=None):
    """The paper's sum, written out; centers are means unless given."""
    price = weight * constraints.weights[constraints.positions("must_link", "cannot_link")]
    return half_inertia(X, labels, centers) + price[broken(labels, constraints)].sum()


def draw(seed, n_clusters=3, n=40, noise=0.2):
    rng = np.random.RandomState(seed)
    X, y = make_blobs(n, 2, centers=n_clusters, cluster_std=3.0, random_state=rng)
    c = Constraints.from_labels(
        y,
        n_must_link=rng.randint(1, 25),
        n_cannot_link=rng.randint(1, 25),
        noise=noise,
        random_state=seed,
    )
    return (
        X,
        y,
        Constraints(
            n, must_link=c.must_link, cannot_link=c.cannot_link, weights=rng.rand(c.n_answers) * 2
        ),
    )


def test_one_must_link_is_kept_or_violated_by_its_price():
    X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    c = Constraints(5, must_link=[(2, 3)])
    # {0, 1, 4}, {9, 10} costs (26/3 + 1/2)/2 = 55/12; {0, 1}, {4, 9, 10} (1/2 + 62/3)/2 = 127/12.
    for weight, labels, least in (
        (5.9, [0, 0, 0, 1, 1], 55 / 12 + 5.9),
        (6.1, [0, 0, 1, 1, 1], 127 / 12),
    ):
        model = PCKMeans(2, C=weight, relative=False, random_state=0).fit(X, constraints=c)
        assert adjusted_rand_score(labels, model.labels_) == 1
        assert_allclose(model.objective_[-1], least)
        assert_array_equal(model.violated_, [0] if weight < 6 else [])


@pytest.mark.filterwarnings("ignore:.*contradict")
@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0, 30))
@settings(max_examples=20)
def test_the_objective_is_the_papers_and_never_rises(seed, n_clusters, weight):
    X, _, c = draw(seed, n_clusters)
    model = PCKMeans(n_clusters, C=weight, relative=False, n_init=2, random_state=seed)
    model.fit(X, constraints=c)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert_allclose(model.objective_[-1], objective(X, model.labels_, c, weight))
    assert_allclose(model.inertia_ / 2, half_inertia(X, model.labels_))
    assert_array_equal(model.violated_, np.flatnonzero(broken(model.labels_, c)))


@pytest.mark.filterwarnings("ignore:.*contradict")
@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_no_row_and_no_group_can_do_better_alone(seed):
    X, _, c = draw(seed, n=15)
    model = PCKMeans(3, C=0.5, tol=0, n_init=1, random_state=seed).fit(X, constraints=c)
    weight = 0.5 * ((X - X.mean(axis=0)) ** 2).sum() / (2 * len(X))
    least = objective(X, model.labels_, c, weight, model.cluster_centers_)
    components = c.closure().components
    blocks = [components == g for g in np.unique(components)] + list(np.eye(15, dtype=bool))
    for block, label in product(blocks, range(3)):
        moved = np.where(block, label, model.labels_)
        assert objective(X, moved, c, weight, model.cluster_centers_) >= least - 1e-9


@pytest.mark.filterwarnings("ignore:.*contradict")
@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_small_problems_reach_the_least_objective_there_is(seed):
    rng = np.random.RandomState(seed)
    X, y = rng.randn(7, 2), rng.randint(2, size=7)
    c = Constraints.from_labels(y, n_pairs=5, noise=0.2, random_state=seed)
    weight = rng.rand()
    least = min(objective(X, np.array(labels), c, weight) for labels in product(range(2), repeat=7))
    # seed 400 needs more than 50 starts
    model = PCKMeans(2, C=weight, relative=False, n_init=300, random_state=seed)
    assert_allclose(model.fit(X, constraints=c).objective_[-1], least)


@pytest.mark.filterwarnings("ignore:.*contradict")
@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_the_unit_the_place_and_the_order_of_pairs_do_not_matter(seed):
    X, _, c = draw(seed, noise=0.0)
    labels = PCKMeans(3, n_init=3, random_state=seed).fit(X, constraints=c).labels_
    again = Constraints(
        len(X),
        must_link=c.must_link[::-1, ::-1],
        cannot_link=c.cannot_link[::-1, ::-1],
        weights=np.concatenate(
            [c.weights[c.positions(kind)][::-1] for kind in ("must_link", "cannot_link")]
        ),
    )
    for unit, place in ((16.0, 0.0), (1000.0, 0.0), (1.0, 50.0)):
        model = PCKMeans(3, n_init=3, random_state=seed).fit(unit * X + place, constraints=again)
        assert adjusted_rand_score(labels, model.labels_) == 1


@pytest.mark.filterwarnings("ignore:.*contradict")
def test_without_penalties_it_is_k_means(seed):
    X, y = make_blobs(300, 5, centers=4, cluster_std=2.0, random_state=seed)
    c = Constraints.from_labels(y, n_pairs=200, noise=0.5, random_state=seed)
    theirs = KMeans(4, n_init=10, tol=0, random_state=seed).fit(X)
    for ours in (
        PCKMeans(4, n_init=10, tol=0, random_state=seed).fit(X),
        PCKMeans(4, C=0, n_init=10, tol=0, random_state=seed).fit(X, constraints=c),
    ):
        assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1
        assert_allclose(ours.inertia_, theirs.inertia_)
        assert_array_equal(ours.predict(X), ours.labels_)


def test_same_seed_same_labels(seed):
    X, _, c = draw(seed, noise=0.0)
    first, second = (PCKMeans(3, random_state=seed).fit(X, constraints=c) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.objective_, second.objective_)


def test_contradictory_pairs_are_reported_and_the_heavier_side_wins():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    for heavier in ("must_link", "cannot_link"):
        weights = [50.0, 1.0] if heavier == "must_link" else [1.0, 50.0]
        c = Constraints(4, must_link=[(0, 2)], cannot_link=[(0, 2)], weights=weights)
        with pytest.warns(UserWarning, match=r"1 cannot-links contradict must-links.*\(0, 2\)"):
            model = PCKMeans(2, random_state=0).fit(X, constraints=c)
        assert_array_equal(model.conflicts_, [1])
        assert (model.labels_[0] == model.labels_[2]) == (heavier == "must_link")
        assert_array_equal(model.violated_, [1] if heavier == "must_link" else [0])


def test_a_chain_of_a_hundred_thousand_must_links_stays_together():
    n = 100_000
    X = np.random.RandomState(0).randn(n + 50, 2)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    c = Constraints(n + 50, must_link=chain, cannot_link=[(0, n), (n - 1, n + 1)])
    model = PCKMeans(3, C=100, n_init=2, random_state=0).fit(X, constraints=c)
    assert len(set(model.labels_[:n])) == 1
    assert len(model.violated_) == 0


def test_one_giant_component_leaves_clusters_empty_and_says_so():
    X = np.random.RandomState(0).randn(30, 2)
    c = Constraints(30, must_link=[(0, i) for i in range(1, 30)])
    with pytest.warns(ConvergenceWarning, match="found 1 clusters, fewer than n_clusters=3"):
        model = PCKMeans(3, C=100, random_state=0).fit(X, constraints=c)
    assert_array_equal(model.labels_, np.zeros(30))
    assert_array_equal(model.predict(X), model.labels_)


def test_more_clusters_than_distinct_rows_are_found_as_far_as_there_are():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 2.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 clusters, fewer than n_clusters=5"):
        model = PCKMeans(5, random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 4), model.labels_) == 1
    # a sum of squared distances x'x - 2 x'c + c'c, each of which may round
    assert model.inertia_ <= 4 * np.finfo(float).eps * (X**2).sum()


def test_equal_rows_can_be_kept_apart():
    X = np.ones((6, 3))
    c = Constraints(6, cannot_link=[(0, 1), (1, 2), (0, 2)])
    labels = PCKMeans(3, relative=False, random_state=0).fit(X, constraints=c).labels_
    assert len(set(labels[:3])) == 3


def test_features_that_never_vary_change_nothing(seed):
    X, _, c = draw(seed, noise=0.0)
    wider = np.column_stack([X, np.full(len(X), 7.0)])
    labels = PCKMeans(3, random_state=seed).fit(X, constraints=c).labels_
    assert_array_equal(PCKMeans(3, random_state=seed).fit(wider, constraints=c).labels_, labels)


def test_answers_it_cannot_use_are_counted():
    c = Constraints(4, must_link=[(0, 1)], undecided=[(0, 1, 2)])
    with pytest.warns(UserWarning, match="PCKMeans cannot use 1 undecided"):
        model = PCKMeans(2, random_state=0).fit(np.eye(4), constraints=c)
    assert model.n_answers_used_ == 1


def test_pairs_make_digits_better_than_plain_k_means(seed):
    X, y = load_digits(return_X_y=True)
    c = Constraints.from_labels(y, n_must_link=1000, n_cannot_link=1000, random_state=seed)
    model = PCKMeans(10, n_init=3, random_state=seed).fit(X / 16, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > 0.85  # plain k-means: .67


def test_given_centers_are_where_it_starts():
    """Two rows between two centers each: whoever starts there stays there."""
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    left = PCKMeans(2, init=[[5.0], [20.5]]).fit(X)
    right = PCKMeans(2, init=[[0.5], [15.0]]).fit(X)
    assert_array_equal(left.labels_, [0, 0, 0, 0, 1, 1])
    assert_array_equal(right.labels_, [0, 0, 1, 1, 1, 1])
    assert_allclose(left.cluster_centers_, [[5.5], [20.5]])


@pytest.mark.parametrize("init", [[[1.0]], [[1.0, 2.0], [3.0, 4.0]], "best"])
def test_centers_that_do_not_fit_are_refused(init):
    with pytest.raises(ValueError, match="init"):
        PCKMeans(2, init=init).fit([[0.0], [1.0], [2.0]])


def test_sizes_hold_and_pairs_are_weighed_against_them():
    X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0], [11.0]])
    c = Constraints(6, must_link=[(2, 3)], exclusive=[[0, 1]])
    model = PCKMeans(2, C=0.5, relative=False, min_size=3, max_size=3, random_state=0)
    model.fit(X, constraints=c)
    # 0 and 1 are kept apart, three rows each: {0, 4, 9}, {1, 10, 11} keeps the must-link and costs
    # 40.67 + 60.67; {0, 4, 1} is not allowed; {1, 4, 9}, {0, 10, 11} costs 32.67 + 74.
    assert sorted(np.bincount(model.labels_)) == [3, 3]
    assert model.labels_[0] != model.labels_[1]
    assert_allclose(model.objective_[-1], min(40.667 + 60.667, 32.667 + 74) / 2, atol=0.01)
    assert len(model.violated_) == 0
    assert (np.diff(model.objective_) <= 1e-9).all()


def test_rules_that_hold_anyway_change_no_label():
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    c = Constraints.from_labels(y, n_pairs=15, random_state=0)
    plain = PCKMeans(3, random_state=0).fit(X, constraints=c)
    ruled = PCKMeans(3, min_size=1, random_state=0).fit(X, constraints=c)
    assert_allclose(ruled.objective_[-1], plain.objective_[-1], rtol=1e-6)
    assert adjusted_rand_score(plain.labels_, ruled.labels_) == 1
