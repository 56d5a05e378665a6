"""k-medoids: the swaps, the program, and what must-links and cannot-links do to both."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster import medoid_search as core
from likewise.cluster.k_medoids import KMedoids, component_costs, draw_medoids
from likewise.cluster.medoid_search import exact_medoids, keep_apart, swap_medoids
from likewise.constraints import Constraints, InconsistentConstraints

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
seeds = st.integers(0, 10_000)


def checks_that_cannot_hold(estimator):
    if estimator.metric != "precomputed":
        return {}
    return {"check_clustering": "it fits 50 x 2 rows whatever the tag input_tags.pairwise says"}


@parametrize_with_checks(
    [
        KMedoids(n_clusters=3),
        KMedoids(n_clusters=3, metric="precomputed"),
        KMedoids(n_clusters=3, method="exact", n_init=1),
    ],
    expected_failed_checks=checks_that_cannot_hold,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def draw_rows(seed, n=9, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def draw_answers(seed, n, n_pairs):
    """Pairs from a hidden labelling into two classes, so that they never contradict each other."""
    y = np.random.default_rng(seed + 1).integers(2, size=n)
    y[:4] = 0, 0, 1, 1
    return Constraints.from_labels(y, n_pairs=n_pairs, random_state=seed)


def best_by_enumeration(D, n_clusters, constraints=None):
    """Least cost over all medoids and all labels that keep the pairs; every medoid at home."""
    n = len(D)
    c = Constraints(n) if constraints is None else constraints
    best = np.inf
    for labels in product(range(n_clusters), repeat=n):
        labels = np.array(labels)
        if (
            len(set(labels)) == n_clusters
            and (labels[c.must_link[:, 0]] == labels[c.must_link[:, 1]]).all()
            and (labels[c.cannot_link[:, 0]] != labels[c.cannot_link[:, 1]]).all()
        ):
            groups = [np.flatnonzero(labels == h) for h in range(n_clusters)]
            best = min(best, sum(D[np.ix_(rows, rows)].sum(axis=0).min() for rows in groups))
    return best


def cost_of(D, medoids):
    return D[:, medoids].min(axis=1).sum()


def cost_at_home(costs, medoids, owners):
    """The cost when the rows that own a medoid go to it, and the others to the cheapest."""
    labels = costs[:, medoids].argmin(axis=1)
    labels[owners[medoids]] = np.arange(len(medoids))
    return costs[np.arange(len(costs)), medoids[labels]].sum()


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1.0


# By hand


def test_two_groups_on_a_line_have_their_middles_as_medoids():
    model = KMedoids(2, random_state=0).fit(LINE)
    assert_array_equal(model.medoid_indices_, [1, 4])
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
    assert_array_equal(model.cluster_centers_, [[1.0], [11.0]])
    assert model.inertia_ == 4.0
    assert_array_equal(model.predict([[-3.0], [5.9], [6.1]]), [0, 0, 1])


@pytest.mark.parametrize("method", ["swap", "exact"])
def test_must_linked_rows_share_a_medoid_that_is_one_of_the_cluster(method):
    c = Constraints(6, must_link=[(0, 5)])
    model = KMedoids(2, method=method, random_state=0).fit(LINE, constraints=c)
    # 0 and 12 pay 12 together wherever their medoid lies between them: with 1 and 2 that is 1 or 2,
    # and 1 more; 10 and 11 pay 1. Or with 10 and 11, and 1 and 2 apart: the same by symmetry.
    assert model.labels_[0] == model.labels_[5]
    assert_allclose(model.inertia_, 14.0)


@pytest.mark.parametrize("method", ["swap", "exact"])
def test_cannot_linked_neighbors_are_parted(method):
    c = Constraints(6, cannot_link=[(0, 1), (1, 2), (0, 2)])
    model = KMedoids(3, method=method, random_state=0).fit(LINE, constraints=c)
    assert len(set(model.labels_[:3])) == 3
    assert model.n_answers_used_ == 3


def test_one_cluster_has_the_row_with_the_least_total_as_medoid():
    X = draw_rows(0, n=40)
    model = KMedoids(1, random_state=0).fit(X)
    assert_array_equal(model.medoid_indices_, [cdist(X, X).sum(axis=0).argmin()])


def test_every_row_its_own_medoid_costs_nothing():
    model = KMedoids(9, random_state=0).fit(draw_rows(1))
    assert model.inertia_ == 0.0
    assert_array_equal(model.labels_, np.arange(9))


# Certificates: a local optimum proves itself, an exact one brings its bound


@settings(max_examples=30)
@given(seeds, st.integers(1, 5))
def test_no_single_swap_improves_on_the_swap_search(seed, k):
    X = draw_rows(seed, n=30)
    D = cdist(X, X)
    start = np.random.default_rng(seed).choice(30, k, replace=False)
    found = swap_medoids(D, start)
    assert found.converged
    assert found.cost <= cost_of(D, start) * (1 + 1e-12)
    assert_allclose(found.cost, cost_of(D, found.medoids))
    for slot, column in product(range(k), range(30)):
        swapped = found.medoids.copy()
        swapped[slot] = column
        assert cost_of(D, swapped) >= found.cost * (1 - 1e-9)


@settings(max_examples=30)
@given(seeds)
def test_no_single_swap_improves_when_must_linked_rows_move_as_one(seed):
    X = draw_rows(seed, n=20)
    rng = np.random.default_rng(seed)
    c = Constraints(20, must_link=rng.permutation(20)[:12].reshape(-1, 2))
    owners = c.closure().components
    costs = component_costs(X, "euclidean", owners)
    found = swap_medoids(
        costs, draw_medoids(costs, 3, owners, np.random.RandomState(seed)), owners=owners
    )
    assert_array_equal(found.labels[owners[found.medoids]], [0, 1, 2])
    assert_allclose(found.cost, cost_at_home(costs, found.medoids, owners))
    for slot, column in product(range(3), range(20)):
        swapped = found.medoids.copy()
        swapped[slot] = column
        if len(set(owners[swapped])) == 3:
            assert cost_at_home(costs, swapped, owners) >= found.cost * (1 - 1e-9)


@settings(max_examples=30)
@given(seeds)
def test_prices_of_swaps_are_what_the_swaps_do(seed):
    rng = np.random.default_rng(seed)
    costs, medoids = rng.random((12, 8)), np.array([1, 5, 6])
    home = core.homes(medoids, None, 12)
    labels, near, second = core.two_nearest(costs[:, medoids], home)
    changes = core.swap_changes(costs, None, labels, near, second, home, 3)
    for slot, column in product(range(3), range(8)):
        swapped = medoids.copy()
        swapped[slot] = column
        assert_allclose(
            changes[slot, column], cost_of(costs, swapped) - cost_of(costs, medoids), atol=1e-12
        )


@settings(max_examples=30)
@given(seeds)
def test_prices_of_swaps_keep_medoids_at_home(seed):
    rng = np.random.default_rng(seed)
    owners = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    costs, medoids = rng.random((5, 8)), np.array([1, 3, 6])
    home = core.homes(medoids, owners, 5)
    labels, near, second = core.two_nearest(costs[:, medoids], home)
    changes = core.swap_changes(costs, owners, labels, near, second, home, 3)
    for slot, column in product(range(3), range(8)):
        swapped = medoids.copy()
        swapped[slot] = column
        if len(set(owners[swapped])) < 3:
            assert changes[slot, column] == np.inf
        else:
            then, now = (cost_at_home(costs, chosen, owners) for chosen in (swapped, medoids))
            assert_allclose(changes[slot, column], then - now, atol=1e-12)


def test_blocks_of_columns_reach_a_local_optimum_too(monkeypatch):
    monkeypatch.setattr(core, "BLOCK_ENTRIES", 200)  # blocks of 5 columns
    X = draw_rows(3, n=40)
    D = cdist(X, X)
    found = swap_medoids(D, [0, 1, 2, 3])
    assert found.converged
    for slot, column in product(range(4), range(40)):
        swapped = found.medoids.copy()
        swapped[slot] = column
        assert cost_of(D, swapped) >= found.cost * (1 - 1e-9)


# Second route: enumeration


@settings(max_examples=15)
@given(seeds, st.integers(1, 4))
def test_program_agrees_with_enumeration_of_all_medoids(seed, k):
    X = draw_rows(seed)
    D = cdist(X, X)
    best = min(cost_of(D, list(chosen)) for chosen in combinations(range(9), k))
    found = exact_medoids(D, k)
    assert_allclose(found.cost, best)
    assert_allclose(found.bound, best)
    assert swap_medoids(D, np.arange(k)).cost >= best * (1 - 1e-12)


@settings(max_examples=15)
@given(seeds, st.integers(2, 3))
def test_constrained_program_agrees_with_enumeration_of_all_partitions(seed, k):
    X, c = draw_rows(seed, n=7), draw_answers(seed, 7, n_pairs=4)
    best = best_by_enumeration(cdist(X, X), k, c)
    if np.isinf(best):
        with pytest.raises(InconsistentConstraints):
            KMedoids(k, method="exact").fit(X, constraints=c)
    else:
        model = KMedoids(k, method="exact", random_state=0).fit(X, constraints=c)
        assert_allclose(model.inertia_, best)
        assert_allclose(model.gap_, 0, atol=1e-9)


@settings(max_examples=15)
@given(seeds)
def test_search_keeps_the_pairs_and_is_never_below_the_program(seed):
    X, c = draw_rows(seed, n=14), draw_answers(seed, 14, n_pairs=8)
    exact = KMedoids(3, method="exact", random_state=seed).fit(X, constraints=c)
    found = KMedoids(3, random_state=seed).fit(X, constraints=c)  # a broken pair would warn
    assert found.inertia_ >= exact.inertia_ * (1 - 1e-9)
    for labels in (found.labels_, exact.labels_):
        assert (labels[c.must_link[:, 0]] == labels[c.must_link[:, 1]]).all()
        assert (labels[c.cannot_link[:, 0]] != labels[c.cannot_link[:, 1]]).all()


@pytest.mark.parametrize("case", [6, 9])  # HiGHS's default gap would end these 4 % too high
def test_program_goes_on_until_the_proof_is_complete(case):
    X = draw_rows(case, n=40, d=6)
    found = exact_medoids(cdist(X, X), 5)
    assert found.converged
    assert_allclose(found.bound, found.cost, rtol=1e-9)
    searched = [swap_medoids(cdist(X, X), np.arange(i, i + 5)).cost for i in range(35)]
    assert_allclose(found.cost, min(searched))


def test_any_rectangle_of_costs_is_a_problem_for_the_core():
    costs = np.random.default_rng(0).normal(size=(8, 6))  # negative too: penalized costs
    best = min(cost_of(costs, list(chosen)) for chosen in combinations(range(6), 2))
    assert_allclose(exact_medoids(costs, 2).cost, best)
    assert swap_medoids(costs, [0, 1]).cost >= best - 1e-12


def test_iris_is_solved_to_proven_optimality():
    X = load_iris().data[::2]
    model = KMedoids(3, method="exact", random_state=0).fit(X)
    assert_allclose(model.gap_, 0, atol=1e-9)
    assert KMedoids(3, n_init=10, random_state=0).fit(X).inertia_ >= model.inertia_ * (1 - 1e-12)


# Laws


@settings(max_examples=10)
@given(seeds)
def test_order_of_rows_does_not_matter_to_the_optimum(seed):
    X, c = draw_rows(seed, n=10), draw_answers(seed, 10, n_pairs=4)
    order = np.random.default_rng(seed).permutation(10)
    first = KMedoids(2, method="exact", random_state=0).fit(X, constraints=c)
    second = KMedoids(2, method="exact", random_state=0).fit(
        X[order], constraints=c.restrict(order)
    )
    assert_allclose(first.inertia_, second.inertia_)
    assert same_partition(first.labels_[order], second.labels_)


@settings(max_examples=30)
@given(seeds)
def test_order_of_rows_does_not_matter_to_swaps_within_one_block(seed):
    X = draw_rows(seed, n=25)
    order = np.random.default_rng(seed).permutation(25)
    found = swap_medoids(cdist(X, X), [3, 8, 20])
    places = np.argsort(order)[[3, 8, 20]]
    permuted = swap_medoids(cdist(X[order], X[order]), places)
    # Either row of a cluster of two is its medoid: costs and clusters are the same, not medoids.
    assert_allclose(permuted.cost, found.cost)
    assert adjusted_rand_score(found.labels[order], permuted.labels) == 1


@pytest.mark.parametrize("method", ["swap", "exact"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_the_data_do_not_matter(method, unit):
    X, c = draw_rows(5, n=20), draw_answers(5, 20, n_pairs=8)
    model = KMedoids(3, method=method, random_state=0).fit(X, constraints=c)
    scaled = KMedoids(3, method=method, random_state=0).fit(X * unit, constraints=c)
    assert_array_equal(model.medoid_indices_, scaled.medoid_indices_)
    assert_array_equal(model.labels_, scaled.labels_)
    assert_allclose(scaled.inertia_, model.inertia_ * unit)


@settings(max_examples=10)
@given(seeds)
def test_same_seed_gives_the_same_clusters(seed):
    X = draw_rows(seed, n=40)
    first, second = (KMedoids(5, random_state=seed).fit(X) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)


def test_seeds_draw_different_starts_and_more_starts_never_cost_more():
    X = draw_rows(2, n=120)
    costs = component_costs(X, "euclidean", np.arange(120))
    draws = {
        tuple(draw_medoids(costs, 6, np.arange(120), np.random.RandomState(seed)))
        for seed in range(10)
    }
    assert len(draws) == 10
    one, many = (KMedoids(12, n_init=n, random_state=0).fit(X).inertia_ for n in (1, 20))
    assert many <= one


def test_labels_are_what_predict_says_without_constraints():
    X, _ = make_blobs(300, centers=6, random_state=0)
    model = KMedoids(6, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)


def test_precomputed_dissimilarities_give_the_same_as_their_metric():
    X, _ = make_blobs(200, centers=4, random_state=1)
    new = X[:50] + 0.1
    direct = KMedoids(4, metric="cityblock", random_state=0).fit(X)
    given_ = KMedoids(4, metric="precomputed", random_state=0).fit(cdist(X, X, "cityblock"))
    assert_array_equal(direct.medoid_indices_, given_.medoid_indices_)
    assert_array_equal(direct.labels_, given_.labels_)
    assert_array_equal(direct.predict(new), given_.predict(cdist(new, X, "cityblock")))
    assert not hasattr(given_, "cluster_centers_")


def test_callable_and_squared_metrics_are_used_as_they_are():
    X = draw_rows(4, n=30)

    def largest_difference(a, b):
        return np.abs(a - b).max()

    by_name = KMedoids(3, metric="chebyshev", random_state=0).fit(X)
    by_call = KMedoids(3, metric=largest_difference, random_state=0).fit(X)
    assert_array_equal(by_name.labels_, by_call.labels_)
    assert_allclose(
        KMedoids(3, metric="sqeuclidean", random_state=0).fit(X).inertia_,
        KMedoids(3, metric="precomputed", random_state=0).fit(cdist(X, X) ** 2).inertia_,
    )


def test_one_way_dissimilarities_are_read_from_row_to_medoid():
    D = np.array([[0.0, 1.0, 9.0], [5.0, 0.0, 9.0], [5.0, 1.0, 0.0]])
    assert_array_equal(KMedoids(1, metric="precomputed").fit(D).medoid_indices_, [1])


def test_float32_rows_give_float32_centers_and_the_same_clusters():
    X, _ = make_blobs(200, centers=4, random_state=2)
    wide, narrow = (KMedoids(4, random_state=0).fit(X.astype(t)) for t in (float, np.float32))
    assert narrow.cluster_centers_.dtype == np.float32
    assert_array_equal(wide.labels_, narrow.labels_)


# What other implementations break on


def test_contradictory_pairs_are_an_error_that_names_them_if_exact():
    c = Constraints(6, closer=[(0, 1, 2)], must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with (
        pytest.warns(UserWarning, match="cannot use 1 closer"),
        pytest.raises(
            InconsistentConstraints, match=r"cannot_link\[0\] = \(0, 2\).*path 0-1-2"
        ) as e,
    ):
        KMedoids(2, method="exact").fit(LINE, constraints=c)
    assert {c.describe(i) for i in e.value.witness} == {
        "cannot_link[0] = (0, 2)",
        "must_link[0] = (0, 1)",
        "must_link[1] = (1, 2)",
    }


def test_contradictory_pairs_are_counted_in_a_warning_by_the_search():
    c = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
    with pytest.warns(UserWarning, match="violates 1 of 2 cannot-links"):
        model = KMedoids(2, random_state=0).fit(LINE, constraints=c)
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])


def test_too_many_mutual_cannot_links_are_infeasible_if_exact_and_warned_of_if_searched():
    c = Constraints(6, cannot_link=list(combinations(range(3), 2)))
    with pytest.raises(InconsistentConstraints, match=r"n_clusters=2 .* the 3 cannot-links"):
        KMedoids(2, method="exact").fit(LINE, constraints=c)
    with pytest.warns(UserWarning, match="violates 1 of 3"):
        KMedoids(2, random_state=0).fit(LINE, constraints=c)


@pytest.mark.parametrize("light", range(3))
def test_heavier_cannot_links_are_the_ones_kept(light):
    pairs = list(combinations(range(3), 2))
    c = Constraints(6, cannot_link=pairs, weights=np.where(np.arange(3) == light, 1.0, 9.0))
    with pytest.warns(UserWarning, match="violates 1 of 3"):
        labels = KMedoids(2, random_state=0).fit_predict(LINE, constraints=c)
    i, j = pairs[light]
    assert labels[i] == labels[j] != labels[3 - i - j]


def test_rows_kept_apart_trade_places_when_no_single_move_helps():
    to_medoids = np.array([[0.0, 3.0, 9.0], [1.0, 9.0, 9.0], [0.0, 9.0, 9.0], [9.0, 9.0, 0.0]])
    rivals = core.sparse.csr_array(
        np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.0]])
    )
    home = np.array([-1, -1, 0, 2])
    labels = core.part_rivals(to_medoids, rivals, home)
    # First come, first served would leave row 0 at its cheapest and send row 1 away for 8 more.
    assert_array_equal(labels, [1, 0, 0, 2])


@settings(max_examples=20)
@given(seeds)
def test_parting_rivals_ends_where_no_single_move_helps(seed):
    rng = np.random.default_rng(seed)
    to_medoids = rng.random((15, 3))
    rivals = np.triu(rng.random((15, 15)) < 0.3, 1).astype(float)
    rivals = core.sparse.csr_array(rivals + rivals.T)
    home = np.full(15, core.NO_HOME)
    labels = core.part_rivals(to_medoids, rivals, home)
    for row, slot in product(range(15), range(3)):
        at = [rivals[[row]].toarray()[0] @ (labels == h) for h in range(3)]
        here = labels[row]
        assert (at[here], to_medoids[row, here]) <= (at[slot], to_medoids[row, slot])


def test_duplicates_and_too_many_clusters_end_in_a_warning_with_the_count():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0], [9.0, 0.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="Only 3 of n_clusters=5 medoids differ"):
        model = KMedoids(5, random_state=0).fit(X)
    assert model.inertia_ == 0.0
    assert len(set(model.medoid_indices_)) == len(set(model.labels_)) == 5
    exact = KMedoids(3, method="exact", random_state=0).fit(X)
    assert_array_equal(exact.labels_, np.repeat([0, 1, 2], 4))
    assert exact.gap_ == 0.0


def test_duplicates_far_from_the_origin_stay_together():
    X = np.repeat(1e7 + draw_rows(0, n=4), 10, axis=0)
    labels = KMedoids(4, random_state=0).fit_predict(X)
    assert same_partition(labels, np.repeat(np.arange(4), 10))


def test_constant_features_change_nothing():
    X = draw_rows(6, n=50)
    padded = np.column_stack([X, np.full(50, 7.0)])
    first, second = (KMedoids(4, random_state=0).fit(rows) for rows in (X, padded))
    assert_array_equal(first.labels_, second.labels_)


def test_more_clusters_than_rows_is_one_clear_error():
    with pytest.raises(ValueError, match="n_samples=6 should be >= n_clusters=7"):
        KMedoids(7).fit(LINE)


def test_one_giant_component_is_one_cluster_or_one_clear_error():
    X = draw_rows(7, n=50)
    c = Constraints(50, must_link=np.stack([np.arange(49), np.arange(1, 50)], axis=1))
    model = KMedoids(1, random_state=0).fit(X, constraints=c)
    assert_array_equal(model.labels_, np.zeros(50))
    with pytest.raises(
        InconsistentConstraints, match="leave 1 groups of rows, fewer than n_clusters=2"
    ):
        KMedoids(2).fit(X, constraints=c)


def test_a_long_chain_of_must_links_is_one_component():
    n = 5_000  # far beyond the recursion limit; memory is 5 components x 5,000
    X = np.linspace(0, 1, n)[:, None]
    chain = np.stack([np.arange(n - 5), np.arange(1, n - 4)], axis=1)
    model = KMedoids(2, random_state=0).fit(X, constraints=Constraints(n, must_link=chain))
    assert_array_equal(model.labels_, np.repeat([0, 1], [n - 4, 4]))


def test_time_limit_is_said_with_the_gap():
    X = draw_rows(8, n=70, d=8)
    with pytest.warns(ConvergenceWarning, match=r"time_limit=0.01 s: inertia_ may be up to .*%"):
        model = KMedoids(6, method="exact", time_limit=0.01, random_state=0).fit(X)
    assert model.gap_ > 0
    assert model.inertia_ <= KMedoids(6, random_state=0).fit(X).inertia_


def test_time_that_runs_out_before_anything_is_found_is_one_clear_error():
    X = draw_rows(8, n=60, d=8)
    apart = np.array(list(combinations(range(7), 2)))
    with pytest.raises(RuntimeError, match=r"time_limit=0.0 s ran out .* the 21 cannot-links"):
        exact_medoids(cdist(X, X), 7, apart=apart, time_limit=0.0)


def test_max_iter_is_said_when_it_stops_the_swaps():
    X = draw_rows(9, n=60)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        KMedoids(5, max_iter=1, n_init=1, random_state=0).fit(X)


def test_answers_of_other_kinds_are_counted_in_a_warning():
    c = Constraints(6, must_link=[(0, 1)], odd_one_out=[(0, 1, 5)])
    with pytest.warns(UserWarning, match="KMedoids cannot use 1 odd_one_out"):
        model = KMedoids(2, random_state=0).fit(LINE, constraints=c)
    assert model.n_answers_used_ == 1


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"method": "pam"}, "method='pam' is unknown"),
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number >= 1"),
        ({"n_init": 1.5}, "n_init=1.5 must be"),
        ({"metric": "mahalanobis"}, "metric='mahalanobis' depends on which rows"),
    ],
)
def test_wrong_settings_are_named(settings_, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**{"n_clusters": 2} | settings_).fit(LINE)


def test_precomputed_dissimilarities_are_square_and_not_negative():
    with pytest.raises(ValueError, match=r"square; X has shape \(6, 1\)"):
        KMedoids(2, metric="precomputed").fit(LINE)
    with pytest.raises(ValueError, match=r"X\[1, 0\] = -1"):
        KMedoids(1, metric="precomputed").fit([[0.0, 1.0], [-1.0, 0.0]])


def test_keeping_apart_never_moves_a_medoid_out_of_its_cluster():
    X, y = make_blobs(150, centers=3, cluster_std=3.0, random_state=3)
    c = Constraints.from_labels(y, n_must_link=20, n_cannot_link=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some may stay broken; that is another test
        model = KMedoids(3, random_state=0).fit(X, constraints=c)
    assert_array_equal(model.labels_[model.medoid_indices_], [0, 1, 2])
    plain = KMedoids(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, plain.labels_)


@settings(max_examples=25)
@given(seeds)
def test_medoids_move_within_their_clusters_to_where_they_cost_least(seed):
    rng = np.random.default_rng(seed)
    costs, owners = rng.random((12, 12)), np.arange(12)
    rivals = core.sparse.csr_array(np.eye(12)[[1, 0, *range(3, 12), 2]])
    rivals = core.sparse.csr_array(rivals + rivals.T)
    start = swap_medoids(costs, [0, 4, 8], owners=owners)
    kept = keep_apart(costs, start, rivals, owners=owners)
    assert_array_equal(kept.labels[kept.medoids], [0, 1, 2])
    for slot, medoid in enumerate(kept.medoids):
        members = np.flatnonzero(kept.labels == slot)
        totals = costs[np.ix_(members, members)].sum(axis=0)
        assert totals.min() >= costs[members, medoid].sum() - 1e-12


def test_nothing_to_part_leaves_the_swaps_as_they_are():
    X = draw_rows(10, n=20)
    D = cdist(X, X)
    found = swap_medoids(D, [0, 1, 2], owners=np.arange(20))
    none = core.sparse.csr_array((20, 20))
    kept = keep_apart(D, found, none, owners=np.arange(20))
    assert_array_equal(kept.medoids, found.medoids)
    assert_array_equal(kept.labels, found.labels)
