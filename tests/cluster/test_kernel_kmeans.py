"""Kernel k-means: by hand, brute force, Lloyd on coordinates, laws, and scikit-learn's contract."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster import KernelKMeans
from likewise.cluster.kernel_kmeans import (
    choose_farthest,
    choose_plus_plus,
    lloyd_kernel,
    mean_products,
    one_hot,
    sum_over_groups,
    sums_after,
)
from likewise.constraints import Constraints
from likewise.evaluation import kmeans_error
from likewise.kernels import kernel_function

seeds = st.integers(0, 10_000)


def draw_rows(seed, n=24, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng


def kernel_error(K, labels):
    """sum_i K_ii - sum over clusters of the mean of K in it, times its rows: by definition."""
    within = sum(
        K[np.ix_(labels == h, labels == h)].sum() / np.sum(labels == h) for h in np.unique(labels)
    )
    return np.trace(K) - within


def lloyd_on_rows(Z, labels, n_clusters):
    """Lloyd's as in a textbook; None when a cluster runs empty."""
    while True:
        if len(np.unique(labels)) < n_clusters:
            return None
        means = np.array([Z[labels == h].mean(axis=0) for h in range(n_clusters)])
        moved = ((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        if (moved == labels).all():
            return labels
        labels = moved


# By hand


def test_four_points_on_a_line_from_a_bad_start():
    Z = np.array([[0.0], [1.0], [9.0], [10.0]])
    run = lloyd_kernel(Z @ Z.T, np.array([0, 1, 1, 1]), 2)
    # means 0 and 20/3: row 1 moves over; means 0.5 and 9.5: nothing moves
    assert_array_equal(run.labels, [0, 0, 1, 1])
    assert_allclose(run.objective, [1.0, 1.0])
    assert (run.n_iter, run.converged, run.rose) == (2, True, False)


def test_products_with_means_by_hand():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]])
    labels = np.array([0, 0, 1])
    products, sq_norms = mean_products(K @ one_hot(labels, 2), labels, np.ones(3))
    assert_allclose(products, [[1.5, 0.0], [3.5, 1.0], [0.5, 3.0]])
    assert_allclose(sq_norms, [10 / 4, 3.0])


def test_a_cluster_that_runs_empty_takes_the_costliest_row():
    Z = np.array([[0.0], [1.0], [2.0], [7.0]])
    run = lloyd_kernel(Z @ Z.T, np.array([0, 0, 0, 0]), 2)
    assert_array_equal(run.labels, [0, 0, 0, 1])
    assert_allclose(run.inertia, 2.0)


def test_the_farthest_start_takes_the_row_high_in_all_lists():
    Z = np.array([[0.0], [0.5], [5.0], [5.1], [10.0]])
    first_is_0 = np.random.RandomState(2)
    assert np.random.RandomState(2).choice(5) == 0
    # Farthest from row 0: 4, 3, 2, 1. From row 4: 0, 1, 2, 3. Row 2 is third in both.
    assert_array_equal(choose_farthest(Z @ Z.T, np.ones(5), 3, first_is_0), [0, 4, 2])


def test_the_spread_start_draws_by_squared_distance():
    Z = np.append(np.zeros(20), 5.0)[:, None]  # all the squared distance is in the last row
    for seed in range(10):
        chosen = choose_plus_plus(Z @ Z.T, np.ones(21), 2, np.random.RandomState(seed))
        assert 20 in chosen


def test_must_linked_rows_move_as_one():
    Z = np.array([[0.0], [1.0], [9.0], [10.0], [2.0]])
    answers = Constraints(5, must_link=[(1, 2), (2, 3)])
    fitted = KernelKMeans(2, random_state=0).fit(Z, constraints=answers)
    assert fitted.labels_[1] == fitted.labels_[2] == fitted.labels_[3]
    assert fitted.labels_[0] == fitted.labels_[4] != fitted.labels_[1]
    assert fitted.n_answers_used_ == 2
    assert_allclose(fitted.inertia_, kmeans_error(Z, fitted.labels_))


def test_given_labels_are_the_start_also_of_must_linked_rows():
    # Lower against upper rows is a place to rest; most other starts end at left against right.
    Z = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.2, 0.0], [1.2, 1.0]])
    answers = Constraints(5, must_link=[(0, 1)])
    fitted = KernelKMeans(2, init=[0, 0, 1, 0, 1]).fit(Z, constraints=answers)
    assert_array_equal(fitted.labels_, [0, 0, 1, 0, 1])


# Certificate


@given(seeds, st.integers(1, 6))
@settings(max_examples=40)
def test_the_end_is_a_fixed_point_and_the_objective_never_rises(seed, n_clusters):
    Z, rng = draw_rows(seed)
    groups = np.unique(rng.integers(0, 12, len(Z)), return_inverse=True)[1]
    G, sizes, sq_norms = sum_over_groups(Z @ Z.T, groups)
    start = rng.integers(0, n_clusters, len(G))
    run = lloyd_kernel(G, start, n_clusters, sizes=sizes, sq_norms=sq_norms)
    labels = run.labels[groups]
    assert run.converged
    assert len(np.unique(labels)) == n_clusters
    assert (np.diff(run.objective) <= 1e-10).all()
    assert_allclose(run.inertia, kmeans_error(Z, labels))
    means = np.array([Z[labels == h].mean(axis=0) for h in range(n_clusters)])
    sq_dists = ((Z[:, None] - means) ** 2).sum(axis=2)
    costs = np.array([sq_dists[groups == g].sum(axis=0) for g in range(len(G))])
    own = costs[np.arange(len(G)), run.labels]
    assert (own <= costs.min(axis=1) + 1e-9).all()


@given(seeds)
@settings(max_examples=15)
def test_rows_of_the_fit_are_predicted_as_they_are_labeled(seed):
    Z, _ = draw_rows(seed)
    for kernel in ("linear", "rbf", "polynomial"):
        fitted = KernelKMeans(3, kernel=kernel, n_init=2, random_state=seed).fit(Z)
        assert_array_equal(fitted.predict(Z), fitted.labels_)


# Second route


def every_partition(n, n_clusters):
    every = np.array(list(product(range(n_clusters), repeat=n)))
    return every[[len(set(labels)) == n_clusters for labels in every.tolist()]]


def errors_of(K, partitions):
    """(n,) the error of each partition, by definition and all at once."""
    members = (partitions[:, :, None] == np.arange(partitions.max() + 1)).astype(float)
    return np.trace(K) - np.sum(members * (K @ members) / members.sum(axis=1)[:, None], axis=(1, 2))


@given(seeds, st.integers(2, 3))
@settings(max_examples=25)
def test_the_best_of_all_partitions_is_never_beaten_and_a_place_to_rest(seed, n_clusters):
    Z, _ = draw_rows(seed, n=8, d=2)
    K = kernel_function("rbf", Z)(Z)
    partitions = every_partition(8, n_clusters)
    errors = errors_of(K, partitions)
    best = partitions[errors.argmin()]
    assert_array_equal(lloyd_kernel(K, best, n_clusters).labels, best)
    fitted = KernelKMeans(n_clusters, kernel="precomputed", n_init=3, random_state=seed).fit(K)
    assert fitted.inertia_ >= errors.min() - 1e-12
    assert_allclose(fitted.inertia_, kernel_error(K, fitted.labels_))


@given(seeds, st.booleans())
@settings(max_examples=25)
def test_restarts_find_the_best_partition_of_eight_rows_in_clumps(seed, with_must_links):
    Z, rng = draw_rows(seed, n=8, d=2)
    Z[:, 0] += 6.0 * (np.arange(8) % 3)
    K = Z @ Z.T
    pairs = [rng.choice(8, 2, replace=False) for _ in range(3)] if with_must_links else None
    answers = Constraints(8, must_link=pairs)
    partitions = every_partition(8, 3)
    ends = partitions[:, answers.must_link]  # (n, n_pairs, 2)
    allowed = partitions[(ends[..., 0] == ends[..., 1]).all(axis=1)]
    fitted = KernelKMeans(3, n_init=40, random_state=0).fit(Z, constraints=answers)
    assert_allclose(fitted.inertia_, errors_of(K, allowed).min())


@given(seeds, st.integers(2, 5))
@settings(max_examples=40)
def test_on_products_of_rows_it_is_lloyd_on_the_rows(seed, n_clusters):
    Z, rng = draw_rows(seed)
    start = np.concatenate([range(n_clusters), rng.integers(0, n_clusters, 24 - n_clusters)])
    expected = lloyd_on_rows(Z, start, n_clusters)
    if expected is not None:
        assert_array_equal(lloyd_kernel(Z @ Z.T, start, n_clusters).labels, expected)


def test_from_the_same_start_it_agrees_with_scikit_learn(seed):
    Z, rng = draw_rows(seed, n=60)
    start = np.arange(60) % 4
    means = np.array([Z[start == h].mean(axis=0) for h in range(4)])
    peer = KMeans(4, init=means, n_init=1, tol=0).fit(Z)
    ours = KernelKMeans(4, init=start).fit(Z)
    assert_array_equal(ours.labels_, peer.labels_)
    assert_allclose(ours.inertia_, peer.inertia_)
    new = rng.normal(size=(30, 3))
    assert_array_equal(ours.predict(new), peer.predict(new))


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "cosine", "gaussian"])
def test_precomputed_csr_and_named_kernels_agree(kernel, seed):
    Z, rng = draw_rows(seed, n=40)
    new = rng.normal(size=(10, 3))
    k = kernel_function(kernel, Z)
    named = KernelKMeans(3, kernel=kernel, random_state=0).fit(Z)
    others = {
        "precomputed": KernelKMeans(3, kernel="precomputed", random_state=0).fit(k(Z)),
        "callable": KernelKMeans(3, kernel=k, random_state=0).fit(Z),
        "CSR": KernelKMeans(3, kernel=kernel, random_state=0).fit(csr_array(Z)),
    }
    rows = {"precomputed": k(new, Z), "callable": new, "CSR": csr_array(new)}
    for route, other in others.items():
        assert_array_equal(other.labels_, named.labels_, err_msg=route)
        assert_array_equal(other.predict(rows[route]), named.predict(new), err_msg=route)


# Laws


@given(seeds, st.floats(0.01, 100), st.floats(-5, 5))
@settings(max_examples=30)
def test_centering_shifts_scale_and_order_do_not_matter(seed, scale, shift):
    Z, rng = draw_rows(seed)
    K = kernel_function("rbf", Z)(Z)
    start = np.arange(24) % 3
    run = lloyd_kernel(K, start, 3)
    per_row = rng.normal(size=24)
    moved = scale * K + shift + per_row[:, None] + per_row  # the same distances, scaled
    other = lloyd_kernel(moved, start, 3)
    assert_array_equal(other.labels, run.labels)
    assert_allclose(other.inertia, scale * run.inertia, rtol=1e-6)
    order = rng.permutation(24)
    shuffled = lloyd_kernel(K[np.ix_(order, order)], start[order], 3)
    assert_array_equal(shuffled.labels, run.labels[order])
    names = rng.permutation(3)
    assert_array_equal(lloyd_kernel(K, names[start], 3).labels, names[run.labels])


@given(seeds)
@settings(max_examples=30)
def test_a_group_costs_what_its_rows_cost(seed):
    Z, rng = draw_rows(seed)
    groups = np.unique(rng.integers(0, 8, 24), return_inverse=True)[1]
    G, sizes, sq_norms = sum_over_groups(Z @ Z.T, groups)
    sums = np.array([Z[groups == g].sum(axis=0) for g in range(len(G))])
    assert_allclose(G, sums @ sums.T, atol=1e-10)
    assert_array_equal(sizes, np.bincount(groups))
    assert_allclose(sq_norms, [(Z[groups == g] ** 2).sum() for g in range(len(G))])


@given(seeds, st.integers(1, 12), st.sampled_from([choose_plus_plus, choose_farthest]))
@settings(max_examples=40)
def test_starts_are_different_rows_even_among_duplicates(seed, n_clusters, choose):
    rng = np.random.RandomState(seed)
    Z = rng.randint(0, 2, (12, 2)).astype(float)
    chosen = choose(Z @ Z.T, np.ones(12), n_clusters, rng)
    assert len(np.unique(chosen)) == n_clusters


@pytest.mark.parametrize("init", ["k-means++", "farthest"])
def test_far_blobs_are_found_from_one_start(init, seed):
    centers = 100.0 * np.eye(5)
    X, y = make_blobs(100, centers=centers, random_state=seed)
    fitted = KernelKMeans(5, init=init, n_init=1, random_state=seed).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) == 1.0


@given(seeds, st.integers(0, 24))
@settings(max_examples=30)
def test_corrected_sums_equal_recomputed_ones(seed, n_moved):
    Z, rng = draw_rows(seed)
    K, labels = Z @ Z.T, rng.integers(0, 4, 24)
    moved = labels.copy()
    moved[rng.choice(24, n_moved, replace=False)] = 3
    sums = sums_after(K, K @ one_hot(labels, 4), labels, moved)
    assert_allclose(sums, K @ one_hot(moved, 4), atol=1e-12)


# Contract and trouble


@parametrize_with_checks(
    [
        KernelKMeans(n_clusters=3, n_init=2, random_state=0),
        KernelKMeans(n_clusters=3, n_init=2, kernel="rbf", init="farthest", random_state=0),
        KernelKMeans(n_clusters=3, n_init=2, kernel="precomputed", random_state=0),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_clustering": "it gives rows where a precomputed kernel is due"}
        if estimator.kernel == "precomputed"
        else {}
    ),
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_same_seed_same_result():
    Z, _ = draw_rows(0, n=50)
    one, two = (KernelKMeans(6, n_init=3, random_state=5).fit(Z) for _ in range(2))
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.objective_, two.objective_)


def test_answers_that_cannot_be_used_are_counted_in_a_warning():
    Z, _ = draw_rows(0)
    answers = Constraints(24, must_link=[(0, 1)], cannot_link=[(0, 2), (0, 3)])
    with pytest.warns(UserWarning, match="KernelKMeans cannot use 2 cannot_link answers"):
        fitted = KernelKMeans(3, random_state=0).fit(Z, constraints=answers)
    assert fitted.n_answers_used_ == 1


def test_on_an_indefinite_kernel_the_best_labels_seen_are_kept():
    rng = np.random.default_rng(0)
    rose = 0
    for _ in range(50):
        K = rng.normal(size=(12, 12))
        K = K + K.T
        start = np.arange(12) % 3
        run = lloyd_kernel(K, start, 3)
        assert (np.diff(run.objective) <= 0).all()
        assert_allclose(run.inertia, kernel_error(K, run.labels))
        assert run.inertia <= kernel_error(K, start) + 1e-12
        rose += run.rose
    assert rose > 0
    with pytest.warns(ConvergenceWarning, match=r"indefinite.*drop_negative"):
        KernelKMeans(3, kernel="precomputed", init=np.arange(12) % 3).fit(first_that_rises(rng))


def first_that_rises(rng):
    while True:
        K = rng.normal(size=(12, 12))
        if lloyd_kernel(K + K.T, np.arange(12) % 3, 3).rose:
            return K + K.T


def test_too_few_steps_are_warned_about():
    Z, _ = draw_rows(0, n=60)
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1"):
        fitted = KernelKMeans(5, max_iter=1, n_init=1, random_state=0).fit(Z)
    assert fitted.n_iter_ == len(fitted.objective_) == 1


def test_a_larger_tol_ends_no_later():
    Z, _ = draw_rows(0, n=200)
    start = np.arange(200) % 5
    K = Z @ Z.T
    exact, loose = lloyd_kernel(K, start, 5), lloyd_kernel(K, start, 5, tol=0.05)
    assert loose.n_iter < exact.n_iter
    assert_allclose(loose.objective, exact.objective[: loose.n_iter])
    assert loose.converged


def test_identical_rows_end_in_as_many_clusters_as_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = KernelKMeans(3, random_state=0).fit(np.ones((5, 2)))
    assert_array_equal(np.unique(fitted.labels_), [0, 1, 2])
    assert_allclose(fitted.inertia_, 0, atol=1e-12)


def test_wrong_input_ends_in_one_error():
    Z, _ = draw_rows(0)
    with pytest.raises(ValueError, match="kernel='cubic' is unknown"):
        KernelKMeans(2, kernel="cubic").fit(Z)
    with pytest.raises(ValueError, match="init='best' is unknown"):
        KernelKMeans(2, init="best").fit(Z)
    with pytest.raises(ValueError, match="init must give each of the 24 rows a label from 0 to 1"):
        KernelKMeans(2, init=[0, 1]).fit(Z)
    with pytest.raises(ValueError, match="init must give each of the 24 rows a label from 0 to 1"):
        KernelKMeans(2, init=np.full(24, 2)).fit(Z)
    one_group = Constraints(24, must_link=[(0, i) for i in range(1, 24)])
    with pytest.raises(ValueError, match="leave 1 groups of rows, too few for n_clusters=2"):
        KernelKMeans(2).fit(Z, constraints=one_group)
    with pytest.raises(ValueError, match="n_clusters=30 is more than the rows of X, n_samples=24"):
        KernelKMeans(30).fit(Z)
    with pytest.raises(ValueError, match="has NaN or infinite entries"):
        KernelKMeans(2, kernel=lambda A, B: np.full((24, 24), np.nan)).fit(Z)
    lopsided = np.eye(24)
    lopsided[0, 1] = 1
    with pytest.raises(ValueError, match=r"S\[0, 1\] = 1 but S\[1, 0\] = 0"):
        KernelKMeans(2, kernel="precomputed").fit(lopsided)
    with pytest.raises(ValueError, match=r"S\[0, 1\] = 1 but S\[1, 0\] = 0"):
        KernelKMeans(2, kernel=lambda A, B: lopsided).fit(Z)
