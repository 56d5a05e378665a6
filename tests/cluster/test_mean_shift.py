"""Mean shift: the shift_to_peaks, the peaks, and the bandwidth that must-links set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import MeanShift, estimate_bandwidth
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster.mean_shift import (
    SETTLED,
    KernelMeanShift,
    local_means,
    must_link_bandwidth,
    rows_within,
    shift_to_peaks,
)
from likewise.constraints import Constraints

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
PROFILES = ["flat", "gaussian"]
seeds = st.integers(0, 10_000)


def checks_that_cannot_hold(estimator):
    if estimator.kernel != "precomputed":
        return {}
    return {"check_clustering": "it fits 50 x 2 rows whatever the tag input_tags.pairwise says"}


@parametrize_with_checks(
    [
        KernelMeanShift(),
        KernelMeanShift(profile="gaussian"),
        KernelMeanShift(kernel="precomputed"),
    ],
    expected_failed_checks=checks_that_cannot_hold,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def draw_blobs(seed, n=120, centers=4):
    return make_blobs(n, centers=centers, cluster_std=0.6, random_state=seed)


def links(y, n, seed=0):
    return Constraints.from_labels(y, n_must_link=n, random_state=seed)


# By hand


@pytest.mark.parametrize("profile", PROFILES)
def test_two_groups_on_a_line_have_their_middles_as_peaks(profile):
    model = KernelMeanShift(bandwidth=3.0, profile=profile).fit(LINE)
    assert_allclose(model.cluster_centers_, [[1.0], [11.0]], atol=0.01)
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
    assert_array_equal(model.predict([[5.5], [6.5]]), [0, 1])


def test_bandwidth_counts_neighbors_within_the_must_links():
    # 0-1: {0, 1} around 0 and {0, 1, 2} around 1.  10-12: all three around either.  The lower
    # median of 2, 3, 3, 3 is 3, and third-nearest distances are 2, 1, 2, 2, 1, 2.
    pairs = np.array([[0, 1], [3, 5]])
    assert_array_equal(rows_within(LINE, pairs), [2, 3, 3, 3])
    rng = np.random.RandomState(0)
    assert_allclose(must_link_bandwidth(LINE, pairs, np.ones(2), rng), 10 / 6)


def test_weights_count_in_the_median_and_zero_means_not_at_all():
    pairs = np.array([[0, 1], [0, 5]])  # 2 and 3 rows, or all 6
    rng = np.random.RandomState(0)
    narrow = must_link_bandwidth(LINE, pairs, np.array([9.0, 1.0]), rng)
    wide = must_link_bandwidth(LINE, pairs, np.array([1.0, 9.0]), rng)
    assert_allclose(narrow, 10 / 6)
    assert_allclose(wide, cdist(LINE, LINE).max(axis=1).mean())
    X, _ = draw_blobs(0)
    assert_allclose(must_link_bandwidth(X, pairs, np.zeros(2), rng), estimate_bandwidth(X))


def test_without_must_links_the_bandwidth_is_the_one_of_scikit_learn():
    X, _ = draw_blobs(0)
    model = KernelMeanShift().fit(X)
    assert_allclose(model.bandwidth_, estimate_bandwidth(X))
    assert model.n_answers_used_ == 0


# Certificates: a peak stays where it is, and the density falls away from it


@settings(max_examples=15)
@given(seeds, st.sampled_from(PROFILES))
def test_peaks_are_fixed_points_more_than_a_bandwidth_apart(seed, profile):
    X, _ = draw_blobs(seed)
    model = KernelMeanShift(bandwidth=1.5, profile=profile).fit(X)
    means, _ = local_means(X, model.cluster_centers_, 1.5, profile)
    assert np.linalg.norm(means - model.cluster_centers_, axis=1).max() <= 1.5 * SETTLED
    assert (
        cdist(model.cluster_centers_, model.cluster_centers_)[np.triu_indices(len(means), 1)] > 1.5
    ).all()
    assert_array_equal(cdist(X, model.cluster_centers_).argmin(axis=1), model.labels_)
    assert_array_equal(np.unique(model.labels_), np.arange(len(model.cluster_centers_)))


@settings(max_examples=15)
@given(seeds)
def test_gaussian_density_has_no_slope_at_a_peak_and_falls_around_it(seed):
    X, _ = draw_blobs(seed)
    h = 1.5

    def density(place):
        return np.exp(-2 * cdist([place], X, "sqeuclidean") / h**2).sum()

    for peak in KernelMeanShift(bandwidth=h, profile="gaussian").fit(X).cluster_centers_:
        around = [
            density(peak + 0.1 * h * np.array(step)) for step in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        assert max(around) < density(peak)


@settings(max_examples=15)
@given(seeds, st.sampled_from(PROFILES))
def test_every_shift_goes_uphill(seed, profile):
    X, _ = draw_blobs(seed, n=60)

    def density(places):  # the kernel whose shadow the weights are: Epanechnikov or Gaussian
        sq = cdist(places, X, "sqeuclidean") / 1.5**2
        return (np.maximum(1 - sq, 0) if profile == "flat" else np.exp(-2 * sq)).sum(axis=1)

    places = X
    for _ in range(5):
        means, _ = local_means(X, places, 1.5, profile)
        assert (density(means) >= density(places) * (1 - 1e-9)).all()
        places = means


# Second route


@settings(max_examples=5)
@given(seeds)
def test_flat_peaks_are_those_of_scikit_learn(seed):
    X, _ = draw_blobs(seed, n=60)
    ours, theirs = KernelMeanShift(bandwidth=2.0).fit(X), MeanShift(bandwidth=2.0).fit(X)
    apart = cdist(ours.cluster_centers_, theirs.cluster_centers_)
    assert apart.shape[0] == apart.shape[1]
    assert_allclose(apart.min(axis=1), 0, atol=2.0 * 5 * SETTLED)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("profile", PROFILES)
def test_climbs_that_meet_end_where_they_would_alone(profile):
    X, _ = draw_blobs(1, n=40)
    together, _, converged = shift_to_peaks(X, X, 1.5, profile=profile, max_iter=300)
    assert converged
    alone = np.concatenate(
        [shift_to_peaks(X, X[[i]], 1.5, profile=profile, max_iter=300)[0] for i in range(len(X))]
    )
    assert cdist(alone, together).min(axis=1).max() < 1.5 * 5 * SETTLED


@pytest.mark.parametrize("profile", PROFILES)
def test_a_precomputed_kernel_gives_the_clusters_of_its_rows(profile):
    X, y = draw_blobs(2)
    X, new = X - X.mean(axis=0), X[:30] + 0.01
    c = links(y, 30)
    rows = KernelMeanShift(profile=profile).fit(X, constraints=c)
    kernel = KernelMeanShift(profile=profile, kernel="precomputed").fit(X @ X.T, constraints=c)
    assert_allclose(kernel.bandwidth_, rows.bandwidth_)
    assert_array_equal(kernel.labels_, rows.labels_)
    assert_allclose(
        cdist(kernel.cluster_centers_, kernel.cluster_centers_),
        cdist(rows.cluster_centers_, rows.cluster_centers_),
        atol=0.02,
    )
    assert_array_equal(kernel.predict(new @ X.T), rows.predict(new))


def test_must_links_find_the_blobs_that_the_default_bandwidth_melts_together():
    X, y = draw_blobs(4, n=400, centers=8)
    plain = KernelMeanShift().fit_predict(X)
    told = KernelMeanShift().fit(X, constraints=links(y, 40))
    assert told.n_answers_used_ == 40
    assert adjusted_rand_score(y, told.labels_) > adjusted_rand_score(y, plain) + 0.2


# Laws


@settings(max_examples=15)
@given(seeds, st.sampled_from(PROFILES))
def test_order_of_rows_does_not_matter(seed, profile):
    X, y = draw_blobs(seed)
    c = links(y, 20, seed)
    order = np.random.default_rng(seed).permutation(len(X))
    first = KernelMeanShift(profile=profile).fit(X, constraints=c)
    second = KernelMeanShift(profile=profile).fit(X[order], constraints=c.restrict(order))
    assert_allclose(first.bandwidth_, second.bandwidth_)
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1.0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_units_of_the_data_do_not_matter(profile, unit):
    X, y = draw_blobs(3)
    c = links(y, 20)
    model = KernelMeanShift(profile=profile).fit(X, constraints=c)
    scaled = KernelMeanShift(profile=profile).fit(X * unit, constraints=c)
    assert_allclose(scaled.bandwidth_, model.bandwidth_ * unit)
    assert_allclose(scaled.cluster_centers_, model.cluster_centers_ * unit)
    assert_array_equal(scaled.labels_, model.labels_)


def test_moving_and_turning_the_data_moves_and_turns_the_peaks():
    X, y = draw_blobs(5)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    c = links(y, 20)
    model = KernelMeanShift().fit(X, constraints=c)
    turned = KernelMeanShift().fit(X @ turn + 100, constraints=c)
    assert_allclose(turned.cluster_centers_, model.cluster_centers_ @ turn + 100, atol=1e-6)


def test_few_starts_drawn_by_the_seed_find_large_clusters():
    X, _ = draw_blobs(6, n=600)
    first, second = (
        KernelMeanShift(bandwidth=2.0, n_starts=40, random_state=3).fit(X) for _ in range(2)
    )
    assert_array_equal(first.cluster_centers_, second.cluster_centers_)
    assert_array_equal(first.labels_, KernelMeanShift(bandwidth=2.0).fit_predict(X))


def test_float32_rows_give_float32_centers_and_the_same_clusters():
    X, _ = draw_blobs(7)
    wide, narrow = (KernelMeanShift(bandwidth=2.0).fit(X.astype(t)) for t in (float, np.float32))
    assert narrow.cluster_centers_.dtype == np.float32
    assert_array_equal(wide.labels_, narrow.labels_)
    assert_array_equal(narrow.predict(X.astype(np.float32)), narrow.labels_)


# What other implementations break on


@pytest.mark.parametrize("profile", PROFILES)
def test_rows_that_are_all_equal_are_one_cluster(profile):
    model = KernelMeanShift(profile=profile).fit(np.full((20, 3), 7.0))
    assert_array_equal(model.labels_, np.zeros(20))
    assert_allclose(model.cluster_centers_, [[7.0, 7.0, 7.0]])


def test_a_kernel_of_zeros_is_one_cluster():
    model = KernelMeanShift(kernel="precomputed").fit(np.zeros((5, 5)))
    assert_array_equal(model.labels_, np.zeros(5))
    assert_array_equal(model.predict(np.zeros((2, 5))), [0, 0])


def test_duplicates_that_are_must_linked_leave_a_bandwidth_above_zero():
    X = np.repeat(LINE, 10, axis=0)
    c = Constraints(60, must_link=[(0, 1), (10, 11)])
    model = KernelMeanShift().fit(X, constraints=c)
    assert 0 < model.bandwidth_ < 1e-4
    assert adjusted_rand_score(model.labels_, np.repeat(np.arange(6), 10)) == 1.0


def test_constant_features_change_nothing():
    X, y = draw_blobs(8)
    c = links(y, 20)
    padded = np.column_stack([X, np.full(len(X), 3.0)])
    first, second = (KernelMeanShift().fit(rows, constraints=c) for rows in (X, padded))
    assert_array_equal(first.labels_, second.labels_)


def test_contradictory_pairs_are_no_obstacle_and_what_is_unused_is_counted():
    c = Constraints(6, must_link=[(0, 1)], cannot_link=[(0, 1), (0, 5)], closer=[(0, 1, 5)])
    with pytest.warns(UserWarning, match="cannot use 2 cannot_link and 1 closer"):
        model = KernelMeanShift().fit(LINE, constraints=c)
    assert model.n_answers_used_ == 1


def test_a_given_bandwidth_is_used_and_no_answer_is():
    c = Constraints(6, must_link=[(0, 1)])
    model = KernelMeanShift(bandwidth=3.0).fit(LINE, constraints=c)
    assert (model.bandwidth_, model.n_answers_used_) == (3.0, 0)


def test_a_chain_of_a_hundred_thousand_must_links_is_no_obstacle():
    rng = np.random.default_rng(0)
    Z = rng.normal(np.repeat([0.0, 9.0], [50_000, 50_001]))[:, None]
    walk = np.concatenate([rng.permutation(50_000), 50_000 + rng.permutation(50_001)])
    chain = Constraints(len(Z), must_link=np.stack([walk[:-1], walk[1:]], axis=1))
    model = KernelMeanShift(n_starts=10, random_state=0).fit(Z, constraints=chain)
    assert model.n_answers_used_ == 100_000
    assert_allclose(np.sort(model.cluster_centers_, axis=0), [[0.0], [9.0]], atol=0.2)


def test_the_negative_part_of_a_kernel_is_measured_and_dropped():
    K = np.diag([3.0, -1.0, 2.0])
    model = KernelMeanShift(bandwidth=0.1, kernel="precomputed").fit(K)
    assert_allclose(model.negative_share_, 1 / 6)
    assert_allclose(np.sort((model.cluster_centers_**2).sum(axis=1)), [0, 2, 3], atol=1e-12)


def test_max_iter_is_said_when_it_stops_the_climb():
    X, _ = draw_blobs(10)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        KernelMeanShift(bandwidth=2.0, max_iter=1).fit(X)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kernel": "rbf"}, "kernel='rbf' is unknown"),
        ({"profile": "round"}, "profile='round' is unknown"),
        ({"bandwidth": 0.0}, "bandwidth=0.0 must be positive"),
        ({"n_starts": 0}, "n_starts=0 must be a whole number"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        KernelMeanShift(**wrong).fit(LINE)
