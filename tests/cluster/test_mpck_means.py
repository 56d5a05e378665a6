from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster.metrics import best_metrics, log_dets, sq_lengths, sq_to_centers
from likewise.cluster.mpck_means import MPCKMeans, fit_labels_and_metrics
from likewise.cluster.soft_pairs import prepare_moves
from likewise.constraints import Constraints

KINDS = [(metric, each) for metric in ("full", "diagonal") for each in (True, False)]


@parametrize_with_checks(
    [MPCKMeans(2), MPCKMeans(2, metric="diagonal", metric_per_cluster=True, distance="cosine")]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def as_full(metrics):
    return np.stack([np.diag(metric) for metric in metrics]) if metrics.ndim == 2 else metrics


def draw(seed, n_clusters=3, n=40, noise=0.0):
    rng = np.random.RandomState(seed)
    X, y = make_blobs(n, 3, centers=n_clusters, cluster_std=3.0, random_state=rng)
    X = X @ np.diag([1.0, 3.0, 0.3])
    c = Constraints.from_labels(
        y,
        n_must_link=rng.randint(1, 12),
        n_cannot_link=rng.randint(1, 12),
        noise=noise,
        random_state=seed,
    )
    return X, y, c


def objective(X, labels, centers, metrics, far, constraints, weight):
    """The paper's sum written out for one list of full metrics, one for each cluster."""
    total = sum(
        (x - centers[h]) @ metrics[h] @ (x - centers[h]) - np.linalg.slogdet(metrics[h])[1]
        for x, h in zip(X, labels)
    )
    for i, j in constraints.must_link:
        v, (a, b) = X[i] - X[j], labels[[i, j]]
        total += weight * (a != b) * (v @ metrics[a] @ v + v @ metrics[b] @ v) / 2
    for i, j in constraints.cannot_link:
        v, (a, b) = X[i] - X[j], labels[[i, j]]
        total += weight * (a == b) * (far[a] @ metrics[a] @ far[a] - v @ metrics[a] @ v)
    return total


def start(X, c, n_clusters, seed):
    rows = X - X.mean(axis=0)
    rows = rows / np.sqrt(np.mean(rows**2))
    pairs, sign = c.signed_pairs()
    moves = prepare_moves(pairs, sign > 0, c.closure().components)
    centers = rows[np.random.RandomState(seed).permutation(len(rows))[:n_clusters]]
    return rows, moves, centers


def test_the_pairs_turn_the_metric_to_the_feature_they_refer_to():
    X = np.array([[0.0, 0], [0, 9], [0.1, 5], [1, 0], [1, 9], [1.1, 4]])
    c = Constraints(6, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 3)])
    assert adjusted_rand_score([0, 0, 0, 1, 1, 1], KMeans(2, n_init=5).fit(X).labels_) < 0.1
    model = MPCKMeans(2, metric="diagonal", shrinkage=0, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score([0, 0, 0, 1, 1, 1], model.labels_) == 1
    # Nothing is broken, so the metric is one over the variance within the clusters.
    assert_allclose(model.metrics_[0], [1 / (1 / 450), 6 / (244 / 6 + 122 / 3)], rtol=1e-6)
    assert len(model.violated_) == 0


@pytest.mark.parametrize("metric", ["full", "diagonal"])
@pytest.mark.parametrize("shrinkage", [0, 0.5])
def test_one_cluster_without_pairs_gives_the_inverse_covariance(metric, shrinkage, seed):
    rng = np.random.RandomState(seed)
    X = rng.randn(50, 3) @ rng.randn(3, 3) * 7 + 40
    covariance = np.cov(X.T, bias=True)
    if metric == "diagonal":
        covariance = np.diag(np.diag(covariance))
    model = MPCKMeans(1, metric=metric, shrinkage=shrinkage, n_init=1).fit(X)
    assert_allclose(as_full(model.metrics_)[0], np.linalg.inv(covariance), rtol=1e-8, atol=1e-12)
    n_rows = 50 * (1 + shrinkage)
    expected = n_rows * 3 + n_rows * np.linalg.slogdet(covariance)[1]
    assert_allclose(model.objective_[-1], expected)


def test_one_metric_without_pairs_is_the_inverse_of_the_covariance_within_clusters(seed):
    X, _, _ = draw(seed, n=100)
    model = MPCKMeans(3, shrinkage=0, random_state=seed).fit(X)
    within = X - model.cluster_centers_[model.labels_]
    assert_allclose(model.metrics_[0], np.linalg.inv(within.T @ within / 100), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*contradict")
def test_without_prices_and_with_the_metric_held_it_is_k_means(seed):
    X, y = make_blobs(300, 5, centers=4, cluster_std=1.0, random_state=seed)
    X = X - X.mean(axis=0)
    # A prior of very many rows whose covariance is the identity holds the metric there.
    X = X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / len(X))).T
    c = Constraints.from_labels(y, n_pairs=100, noise=0.5, random_state=seed)
    ours = MPCKMeans(4, C=0, shrinkage=1e6, tol=0, random_state=seed)
    ours.fit(X, constraints=c)
    theirs = KMeans(4, n_init=10, tol=0, random_state=seed).fit(X)
    assert_allclose(ours.metrics_[0], np.eye(5), atol=1e-5)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1


@pytest.mark.parametrize(("metric", "each"), KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_with_the_farthest_rows_held_the_objective_never_rises(metric, each, seed):
    X, _, c = draw(seed, noise=0.2)
    rows, moves, centers = start(X, c, 3, seed)
    fitted = fit_labels_and_metrics(
        rows,
        moves,
        np.full(c.n_answers, 0.3),
        centers,
        full=metric == "full",
        one_each=each,
        shrinkage=0.03,
        max_iter=50,
        tol=0,
        n_walks=1,
    )
    assert (np.diff(fitted.objective) <= 1e-9 * np.abs(fitted.objective).max()).all()


@pytest.mark.parametrize(("metric", "each"), KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_the_objective_is_the_papers_and_no_row_does_better_alone(metric, each, seed):
    X, _, c = draw(seed, n_clusters=2, n=8, noise=0.2)
    rows, moves, centers = start(X, c, 2, seed)
    fitted = fit_labels_and_metrics(
        rows,
        moves,
        np.full(c.n_answers, 0.3),
        centers,
        full=metric == "full",
        one_each=each,
        shrinkage=0.0 if not each else 0.1,
        max_iter=100,
        tol=0,
        n_walks=1,
    )
    metrics = as_full(fitted.metrics)
    metrics = metrics if each else np.repeat(metrics, 2, axis=0)
    # The farthest rows of the first step, under the Euclidean metric, were held.
    sq = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    i = np.argmax(sq[np.argmax(sq[0])])
    far = np.repeat((rows[i] - rows[np.argmax(sq[0])])[None], 2, axis=0)
    longest = max(c.cannot_link, key=lambda pair: sq[pair[0], pair[1]])
    if sq[longest[0], longest[1]] > (far[0] ** 2).sum() + 1e-12:
        far = np.repeat((rows[longest[0]] - rows[longest[1]])[None], 2, axis=0)
    added = 0.1 * 8 / 2 if each else 0.0
    covariance = rows.T @ rows / len(rows)
    prior = added * sum(np.trace(A @ covariance) - np.linalg.slogdet(A)[1] for A in metrics)

    def cost(labels):
        return objective(rows, labels, fitted.centers, metrics, far, c, 0.3)

    least = cost(fitted.labels)
    assert_allclose(fitted.objective[-1], least + prior, rtol=1e-8)
    if (fitted.objective[-2:] == fitted.objective[-1]).all():
        for row, label in product(range(8), range(2)):
            moved = fitted.labels.copy()
            moved[row] = label
            # A cannot-link longer than the held farthest rows is priced 0 and not below.
            assert cost(moved) >= least - 1e-8 or cannot_price_negative(rows, far, metrics, c)


def cannot_price_negative(rows, far, metrics, c):
    v = rows[c.cannot_link[:, 0]] - rows[c.cannot_link[:, 1]]
    return any((np.einsum("ij,jk,ik->i", v, A, v) > f @ A @ f).any() for f, A in zip(far, metrics))


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_best_metric_beats_every_other_between_the_bounds(seed):
    rng = np.random.RandomState(seed)
    S = rng.randn(3, 3)
    S = S + S.T  # broken cannot-links can make the scatter indefinite
    best = best_metrics(S[None], np.array([2.0]), 0.1, 10.0)[0]
    assert 0.1 - 1e-9 <= np.linalg.eigvalsh(best)[0] <= np.linalg.eigvalsh(best)[-1] <= 10 + 1e-9
    for _ in range(50):
        Q, _ = np.linalg.qr(rng.randn(3, 3))
        other = Q @ np.diag(rng.uniform(0.1, 10, 3)) @ Q.T
        value, least = (np.trace(A @ S) - 2 * np.linalg.slogdet(A)[1] for A in (other, best))
        assert value >= least - 1e-9


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_distances_agree_with_their_definition(seed):
    rng = np.random.RandomState(seed)
    rows, centers, roots = rng.randn(6, 3), rng.randn(4, 3), rng.randn(4, 3, 3)
    full = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(3)
    diagonal = rng.rand(4, 3) + 0.1
    for metrics in (full, full[:1], diagonal, diagonal[:1]):
        found = sq_to_centers(rows, sq_lengths(rows, metrics), centers, metrics)
        A = np.broadcast_to(as_full(metrics), (4, 3, 3))
        v = rows[:, None] - centers
        assert_allclose(found, np.einsum("ihj,hjk,ihk->ih", v, A, v), atol=1e-9)
        assert_allclose(log_dets(metrics), [np.log(np.linalg.det(a)) for a in as_full(metrics)])


@pytest.mark.parametrize(("metric", "each"), KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=4)
def test_the_unit_the_place_and_the_order_of_pairs_do_not_matter(metric, each, seed):
    X, _, c = draw(seed)
    again = Constraints(
        len(X), must_link=c.must_link[::-1, ::-1], cannot_link=c.cannot_link[::-1, ::-1]
    )
    model = MPCKMeans(3, metric=metric, metric_per_cluster=each, n_init=2, random_state=seed)
    first = clone(model).fit(X, constraints=c)
    second = clone(model).fit(1000 * X + 50, constraints=again)
    assert adjusted_rand_score(first.labels_, second.labels_) == 1
    assert_allclose(
        np.sort(first.metrics_, 0), np.sort(second.metrics_ * 1e6, 0), rtol=1e-4, atol=1e-5
    )


def test_turning_the_rows_turns_the_metric(seed):
    X, _, c = draw(seed)
    Q, _ = np.linalg.qr(np.random.RandomState(seed).randn(3, 3))
    first = MPCKMeans(3, random_state=seed).fit(X, constraints=c)
    second = MPCKMeans(3, random_state=seed).fit(X @ Q, constraints=c)
    assert adjusted_rand_score(first.labels_, second.labels_) == 1
    assert_allclose(second.metrics_[0], Q.T @ first.metrics_[0] @ Q, rtol=1e-5, atol=1e-8)


def test_cosine_sees_directions_only(seed):
    X, _, c = draw(seed)
    lengths = np.random.RandomState(seed).uniform(0.1, 10, len(X))[:, None]
    first = MPCKMeans(3, distance="cosine", random_state=seed).fit(X, constraints=c)
    second = MPCKMeans(3, distance="cosine", random_state=seed).fit(lengths * X, constraints=c)
    assert adjusted_rand_score(first.labels_, second.labels_) == 1
    assert_array_equal(first.predict(lengths * X), first.predict(X))


def test_rows_that_no_pair_names_are_where_predict_puts_them(seed):
    X, _, c = draw(seed, n=100)
    for metric, each in KINDS:
        model = MPCKMeans(3, metric=metric, metric_per_cluster=each, tol=0, random_state=seed)
        model.fit(X, constraints=c)
        free = np.setdiff1d(np.arange(100), c.touched_rows())
        assert_array_equal(model.predict(X)[free], model.labels_[free])


def test_same_seed_same_result(seed):
    X, _, c = draw(seed)
    first, second = (MPCKMeans(3, random_state=seed).fit(X, constraints=c) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.metrics_, second.metrics_)


def test_contradictory_pairs_are_reported_and_do_no_harm():
    X, _ = make_blobs(40, 2, centers=[[0, 0], [9, 9]], random_state=0)
    c = Constraints(40, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.warns(UserWarning, match="1 cannot-links contradict must-links"):
        model = MPCKMeans(2, random_state=0).fit(X, constraints=c)
    assert_array_equal(model.conflicts_, [2])
    assert len(model.violated_) >= 1
    assert (np.diff(model.objective_[20:]) <= 1e-9).all()
    assert np.isfinite(model.metrics_).all()


@pytest.mark.parametrize(("metric", "each"), KINDS)
def test_constant_features_and_equal_rows_stay_finite(metric, each, seed):
    X, _, c = draw(seed)
    X = np.column_stack([X, np.full(len(X), 7.0)])
    X[1:4] = X[0]
    model = MPCKMeans(3, metric=metric, metric_per_cluster=each, random_state=seed)
    model.fit(X, constraints=c)
    for fitted in (model.metrics_, model.cluster_centers_, model.objective_):
        assert np.isfinite(fitted).all()
    assert len(set(model.labels_)) == 3


def test_more_clusters_than_distinct_rows_are_found_as_far_as_there_are():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 2.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 clusters, fewer than n_clusters=5"):
        model = MPCKMeans(5, random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 4), model.labels_) == 1
    assert_array_equal(model.predict(X), model.labels_)


def test_a_chain_of_a_hundred_thousand_must_links_stays_together():
    n = 100_000
    X = np.random.RandomState(0).randn(n + 50, 2)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    c = Constraints(n + 50, must_link=chain, cannot_link=[(0, n), (n - 1, n + 1)])
    model = MPCKMeans(2, C=100, n_init=1, random_state=0).fit(X, constraints=c)
    assert len(model.violated_) == 0


def test_settings_it_does_not_know_are_named():
    with pytest.raises(ValueError, match="metric='round' is not one of 'full', 'diagonal'"):
        MPCKMeans(2, metric="round").fit(np.eye(4))
    with pytest.raises(ValueError, match="distance='far' is not one of 'euclidean', 'cosine'"):
        MPCKMeans(2, distance="far").fit(np.eye(4))


def test_pairs_make_wine_and_digits_better_than_plain_k_means(seed):
    for (X, y), n_pairs, least in (
        (load_wine(return_X_y=True), 100, 0.7),  # plain k-means: .37
        (load_digits(return_X_y=True), 2000, 0.9),  # plain k-means: .67
    ):
        c = Constraints.from_labels(
            y, n_must_link=n_pairs // 2, n_cannot_link=n_pairs // 2, random_state=seed
        )
        n_clusters = len(np.unique(y))
        model = MPCKMeans(n_clusters, n_init=3, random_state=seed).fit(X, constraints=c)
        assert adjusted_rand_score(y, model.labels_) > least


@pytest.mark.filterwarnings("ignore:.*contradict must-links:UserWarning")
def test_it_warns_when_many_pairs_end_violated():
    iris = load_iris()
    wrong = Constraints.from_labels(
        iris.target, n_must_link=200, n_cannot_link=200, noise=0.3, random_state=0
    )
    with pytest.warns(UserWarning, match=r"MPCKMeans violates \d+ of 400 pairs"):
        MPCKMeans(3, n_init=2, random_state=0).fit(iris.data, constraints=wrong)
