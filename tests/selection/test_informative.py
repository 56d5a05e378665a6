"""SSC: one candidate by hand, the literal double loop, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import ITML, Constraints, select_constraints
from likewise.evaluation import kmeans_error, satisfaction_report
from likewise.numerics.pair_distances import mean_sq_distance
from likewise.numerics.psd import symmetric_root
from likewise.selection import informative
from likewise.selection.pool import (
    IDENTITY,
    cluster_pool,
    distances_to_centers,
    foresee,
    learn_from_chosen,
    make_pool,
    matrix_of,
    project_once,
    take_step,
)


def draw(seed=0, n=60, n_pairs=24, noise=0.0, features=4):
    """Blobs with one loud useless feature, and a pool of pairs, half of them must-links."""
    X, y = make_blobs(n, n_features=features - 1, centers=3, cluster_std=2.0, random_state=seed)
    X = np.column_stack([X, np.random.RandomState(seed).normal(scale=6.0, size=n)])
    half = n_pairs // 2
    pool = Constraints.from_labels(
        y, n_must_link=half, n_cannot_link=half, noise=noise, random_state=seed
    )
    return X, y, pool


def draw_pool(seed, **settings):
    X, _, answers = draw(seed, **settings)
    pairs, sign = answers.signed_pairs()
    sign = sign.astype(float)
    return make_pool(
        X - X.mean(axis=0), pairs, sign, np.ones(len(pairs)), np.where(sign > 0, 2.0, 30.0), 1.0
    )


def in_units(X, near, far):
    """Squared distances as ITML takes them: in units of their mean."""
    return near / mean_sq_distance(X), far / mean_sq_distance(X)


def literal_rounds(X, pool, n_clusters, n_select, init, bounds, strategy="active"):
    """The double loop of algorithm 1: a metric and k-means for every candidate.

    "printed" is the letter of it, A0 <- A of the chosen pair; "active" and "online" are its text.
    """
    chosen, qualities = [], []
    left = list(range(pool.n_answers))
    metric = np.eye(X.shape[1])
    for _ in range(n_select):
        found = []
        for c in left:
            if strategy == "active":
                itml = ITML(bounds=in_units(X, *bounds), tol=1e-10, random_state=0)
                M = itml.fit(X, constraints=pool.subset([*chosen, c])).metric_
            elif strategy == "printed":
                M = literal_itml(X, pool, [*chosen, c], metric, bounds)
            else:
                M = one_projection(X, pool, c, metric, bounds)
            Z, start = X @ symmetric_root(M), init @ symmetric_root(M)
            model = KMeans(n_clusters, init=start, n_init=1, tol=0).fit(Z)
            share = satisfaction_report(None, pool, model.labels_).shares
            agreed = (share["must_link"] + share["cannot_link"]) / 2
            scatter = np.sum((Z - Z.mean(axis=0)) ** 2)
            found.append((agreed, -model.inertia_ / scatter, c, M))
        best = max(found, key=lambda one: one[:2])
        chosen.append(best[2])
        qualities.append(best[0])
        left.remove(best[2])
        metric = best[3]
    return chosen, qualities


def literal_itml(X, pool, chosen, A0, bounds, gamma=1.0, n_sweeps=200):
    """ITML(X, A0, chosen, u, v), one projection of a d x d matrix after the other (davis2007)."""
    pairs, signs = pool.signed_pairs()
    A = A0.copy()
    duals = np.zeros(len(chosen))
    targets = np.array([bounds[0] if signs[c] > 0 else bounds[1] for c in chosen])
    for _ in range(n_sweeps):
        for at, c in enumerate(chosen):
            v, s = X[pairs[c, 0]] - X[pairs[c, 1]], signs[c]
            p = v @ A @ v
            alpha = min(duals[at], s * gamma / (gamma + 1) * (1 / p - 1 / targets[at]))
            duals[at] -= alpha
            targets[at] = gamma * targets[at] / (gamma + s * alpha * targets[at])
            A += s * alpha / (1 - s * alpha * p) * np.outer(A @ v, A @ v)
    return A


def one_projection(X, pool, c, M, bounds, gamma=1.0):
    """Equation 3, with the projection parameter of davis2007."""
    (i, j), s = pool.signed_pairs()[0][c], pool.signed_pairs()[1][c]
    v = X[i] - X[j]
    p, bound = v @ M @ v, bounds[0] if s > 0 else bounds[1]
    alpha = min(0.0, s * gamma / (gamma + 1) * (1 / p - 1 / bound))
    beta = s * alpha / (1 - s * alpha * p)
    return M + beta * np.outer(M @ v, M @ v)


def test_one_candidate_gives_the_metric_of_itml():
    X, _, pool = draw()
    pool = pool.subset([3])
    found = select_constraints(X, pool, 3, n_select=1, patience=None, random_state=0)
    assert_array_equal(found.chosen, [0])
    expected = ITML(random_state=0).fit(X, constraints=pool).metric_
    assert_allclose(found.metric, expected, rtol=1e-6, atol=1e-9)


def test_one_must_link_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 5.0], [2.0, 5.0]])
    pool = Constraints(4, must_link=[(0, 1)])
    found = select_constraints(
        X,
        pool,
        2,
        n_select=1,
        C=np.inf,
        bounds=in_units(X, 1.0, 9.0),
        patience=None,
        random_state=0,
    )
    assert_allclose(found.metric, [[0.25, 0.0], [0.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize("strategy", ["active", "online", "printed"])
def test_the_literal_double_loop_chooses_the_same(strategy, seed):
    X, _, pool = draw(seed, n_pairs=16)
    init = KMeans(3, n_init=10, random_state=seed).fit(X).cluster_centers_
    chosen, qualities = literal_rounds(X, pool, 3, 4, init, (3.0, 40.0), strategy)
    found = select_constraints(
        X,
        pool,
        3,
        n_select=4,
        strategy=strategy,
        init=init,
        bounds=in_units(X, 3.0, 40.0),
        patience=None,
        exact=True,
        random_state=seed,
    )
    assert_array_equal(found.chosen, chosen)
    assert_allclose(found.qualities[1:], qualities)


def test_random_pairs_give_itml_and_k_means_in_its_space(seed):
    """SSC-rand: a metric from pairs that nobody judged, and clusters under it."""
    X, _, pool = draw(seed, n_pairs=16)
    init = KMeans(3, n_init=10, random_state=seed).fit(X).cluster_centers_
    found = select_constraints(
        X, pool, 3, n_select=5, strategy="random", init=init, patience=None, random_state=seed
    )
    M = ITML(tol=1e-10, random_state=0).fit(X, constraints=pool.subset(found.chosen)).metric_
    assert_allclose(found.metric, M, rtol=1e-4, atol=1e-6)
    model = KMeans(3, init=init @ symmetric_root(M), n_init=1, tol=0)
    assert adjusted_rand_score(found.labels, model.fit_predict(X @ symmetric_root(M))) == 1.0


def test_algorithm_1_as_printed_learns_every_pair_again_and_ends_elsewhere():
    """Two rounds by d x d matrices; from the identity alone the metric is another."""
    X, _, pool = draw(1)
    pool, near, far = pool.subset([0, 1]), 3.0, 40.0
    settings = {"patience": None, "bounds": in_units(X, near, far), "random_state": 0}
    printed = select_constraints(X, pool, 3, strategy="printed", **settings)
    first = literal_itml(X, pool, printed.chosen[:1], np.eye(4), (near, far))
    again = literal_itml(X, pool, printed.chosen, first, (near, far))
    assert_allclose(printed.metric_after(1), first, atol=2e-3)
    assert_allclose(printed.metric, again, atol=2e-3)
    active = select_constraints(X, pool, 3, **settings)
    i, j = pool.must_link[printed.chosen[0]]
    apart = [(X[i] - X[j]) @ M @ (X[i] - X[j]) for M in (printed.metric, again, active.metric)]
    assert_allclose(apart[0], apart[1], rtol=1e-2)
    assert apart[0] < 0.8 * apart[2]  # its must-link counts a second time


def test_any_function_of_the_clusters_can_be_the_quality():
    X, y, pool = draw(2)
    settings = {"n_select": 3, "patience": None, "exact": True, "random_state": 0}
    found = select_constraints(
        X, pool, 3, quality=lambda labels: adjusted_rand_score(y, labels), **settings
    )
    assert found.qualities[-1] == adjusted_rand_score(y, found.labels)
    singly = [
        select_constraints(X, pool.subset([c]), 3, n_select=1, patience=None, random_state=0)
        for c in range(pool.n_answers)
    ]
    best = max(adjusted_rand_score(y, one.labels) for one in singly)
    assert found.qualities[1] == best


def test_finalists_find_what_judging_all_finds(monkeypatch):
    X, _, pool = draw(1)
    exact = select_constraints(X, pool, 3, n_select=4, patience=None, exact=True, random_state=0)
    fast = select_constraints(X, pool, 3, n_select=4, patience=None, random_state=0)
    assert_array_equal(fast.chosen, exact.chosen)
    monkeypatch.setattr(informative, "N_FINALISTS", 16)
    fewer = select_constraints(X, pool, 3, n_select=4, patience=None, random_state=0)
    assert fewer.n_judged == 4 * 16
    assert exact.n_judged == 24 + 23 + 22 + 21
    assert fewer.qualities[-1] >= exact.qualities[-1] - 0.05


def test_learning_in_the_span_is_itml(seed):
    pool = draw_pool(seed)
    chosen = np.arange(0, 24, 3)
    metric = learn_from_chosen(pool, chosen, np.zeros(len(chosen)), 0)
    answers = Constraints(
        len(pool.X),
        must_link=pool.pairs[chosen][pool.sign[chosen] > 0],
        cannot_link=pool.pairs[chosen][pool.sign[chosen] < 0],
    )
    itml = ITML(bounds=in_units(pool.X, 2.0, 30.0), tol=1e-9).fit(pool.X, constraints=answers)
    assert_allclose(matrix_of(metric, pool.differences), itml.metric_, atol=2e-3)
    warm = learn_from_chosen(pool, chosen, metric.duals, 1)
    assert_allclose(warm.core, metric.core, atol=2e-3)


def test_more_pairs_than_features_are_no_trouble():
    pool = draw_pool(0, n_pairs=40)
    metric = learn_from_chosen(pool, np.arange(40), np.zeros(40), 0)
    M = matrix_of(metric, pool.differences)
    assert np.linalg.eigvalsh(M).min() > 0
    inverse = np.eye(4) + (pool.differences.T * (pool.sign * metric.duals)) @ pool.differences
    assert_allclose(M @ inverse, np.eye(4), atol=1e-7)


def test_steps_are_projections_and_leave_a_positive_metric(seed):
    pool = draw_pool(seed)
    metric = IDENTITY
    M = np.eye(4)
    answers = Constraints(len(pool.X), must_link=pool.pairs[:12], cannot_link=pool.pairs[12:])
    for c in (1, 20, 5, 14, 3):
        steps = project_once(pool, metric, np.array([c, (c + 1) % 24]))
        metric = take_step(metric, steps, 0)
        M = one_projection(pool.X, answers, c, M, (2.0, 30.0))
        assert_allclose(matrix_of(metric, pool.differences), M, atol=1e-10)
    assert np.linalg.eigvalsh(M).min() > 0


def test_clusters_under_a_core_are_k_means_in_its_space(seed):
    pool = draw_pool(seed)
    metric = learn_from_chosen(pool, np.arange(6), np.zeros(6), 0)
    M = matrix_of(metric, pool.differences)
    L = symmetric_root(M)
    init = pool.X[:3]
    found = cluster_pool(pool, metric, init)
    model = KMeans(3, init=init @ L, n_init=1, tol=0).fit(pool.X @ L)
    assert_array_equal(found.labels, model.labels_)
    assert_allclose(found.error, kmeans_error(pool.X, found.labels, metric=M))
    assert_allclose(found.scatter, np.sum((pool.X @ L) ** 2))
    assert_allclose(found.centers @ L, model.cluster_centers_)


def test_what_is_foreseen_is_one_step_of_k_means(seed):
    pool = draw_pool(seed)
    metric = learn_from_chosen(pool, np.arange(4), np.zeros(4), 0)
    clusters = cluster_pool(pool, metric, pool.X[:3])
    rows = np.arange(0, 60, 2)
    steps = project_once(pool, metric, np.arange(6, 20))
    ahead = foresee(pool, metric, clusters, steps, rows)
    for at in range(14):
        after = take_step(metric, steps, at)
        expected = distances_to_centers(pool, after, clusters.centers, rows).argmin(axis=1)
        assert_array_equal(ahead[at], expected)


def test_the_order_of_pairs_matters_online_and_not_when_active():
    pool = draw_pool(2)
    order = np.array([0, 13, 4, 18, 7])
    ways = {"active": [], "online": []}
    for chosen in (order, order[::-1]):
        metric = learn_from_chosen(pool, chosen, np.zeros(5), 0)
        ways["active"].append(matrix_of(metric, pool.differences))
        metric = IDENTITY
        for c in chosen:
            metric = take_step(metric, project_once(pool, metric, np.array([c])), 0)
        ways["online"].append(matrix_of(metric, pool.differences))
    assert_allclose(*ways["active"], atol=2e-3)
    assert np.abs(ways["online"][0] - ways["online"][1]).max() > 2e-2


def test_a_shuffled_pool_gives_the_same_choice():
    X, _, pool = draw(3)
    order = np.random.RandomState(0).permutation(pool.n_answers)
    settings = {"n_select": 3, "patience": None, "random_state": 0}
    one = select_constraints(X, pool, 3, **settings)
    other = select_constraints(X, pool.subset(order), 3, **settings)
    assert set(order[other.chosen]) == set(one.chosen)
    assert_allclose(other.metric, one.metric, atol=2e-3)


def test_implied_pairs_are_never_chosen_and_join_in_the_end():
    X, y, _ = draw(0)
    same = np.flatnonzero(y == 0)[:4]
    a, b, c, d = same
    other = int(np.flatnonzero(y == 1)[0])
    pool = Constraints(
        60, must_link=[(a, b), (b, c), (a, c), (c, d), (a, d), (b, d)], cannot_link=[(a, other)]
    )
    found = select_constraints(X, pool, 3, closure=True, patience=None, random_state=0)
    assert len(found.chosen) == 4  # a spanning tree and one cannot-link; the rest follows
    assert len(found.constraints.must_link) == 6
    assert len(found.constraints.cannot_link) == 4
    itml = ITML(random_state=0).fit(X, constraints=found.constraints)
    assert_allclose(found.metric, itml.metric_, atol=1e-8)


def test_it_stops_when_nothing_improves_and_keeps_what_did():
    X, _, pool = draw(0, n_pairs=24)
    found = select_constraints(X, pool, 3, patience=1, random_state=0)
    whole = select_constraints(X, pool, 3, patience=None, n_select=24, random_state=0)
    assert (np.diff(found.qualities) > 0).all()
    assert len(found.chosen) < len(whole.chosen) == 24
    assert_array_equal(found.chosen, whole.chosen[: len(found.chosen)])
    if len(whole.qualities) > len(found.qualities):
        assert whole.qualities[len(found.qualities)] <= found.qualities[-1]


def test_every_round_is_reported(seed):
    X, _, pool = draw(seed)
    found = select_constraints(X, pool, 3, n_select=5, patience=None, random_state=seed)
    assert len(found.qualities) == 6
    assert len(found.informativeness) == len(found.coherence) == 5
    assert_allclose(found.metric_after(0), np.eye(4))
    assert_allclose(found.metric_after(5), found.metric)
    expected = ITML(random_state=seed).fit(X, constraints=pool.subset(found.chosen[:3])).metric_
    assert_allclose(found.metric_after(3), expected, atol=2e-3)
    Z = found.transform(X)
    assert_allclose(
        np.sum((Z[0] - Z[1]) ** 2), (X[0] - X[1]) @ found.metric @ (X[0] - X[1]), rtol=1e-8
    )


def test_the_papers_error_prefers_metrics_that_shrink():
    X, _, pool = draw(0)
    found = select_constraints(
        X, pool, 3, n_select=3, quality="error", patience=None, random_state=0
    )
    assert (np.diff(found.qualities) >= 0).all()
    assert found.qualities[-1] <= 0


@settings(max_examples=8)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["active", "online", "random", "printed"]),
    st.booleans(),
)
def test_a_seed_decides_everything_and_no_answer_is_chosen_twice(seed, strategy, closure):
    X, _, pool = draw(seed, n=30, n_pairs=12, noise=0.2)
    settings = {"n_select": 4, "strategy": strategy, "closure": closure, "patience": None}
    one = select_constraints(X, pool, 3, **settings, random_state=seed)
    two = select_constraints(X, pool, 3, **settings, random_state=seed)
    assert_array_equal(one.chosen, two.chosen)
    assert_array_equal(one.metric, two.metric)
    assert len(set(one.chosen)) == len(one.chosen) <= 4
    assert np.linalg.eigvalsh(one.metric).min() > 0
    assert set(np.unique(one.labels)) <= {0, 1, 2}


def test_what_cannot_be_chosen_is_counted_in_a_warning():
    X, _, _ = draw()
    X[1] = X[0]
    pool = Constraints(
        60, must_link=[(0, 1), (2, 3)], odd_one_out=[(0, 2, 5)], weights=[1.0, 1.0, 1.0]
    )
    with pytest.warns(UserWarning, match="2 answers of the pool cannot be chosen"):
        found = select_constraints(X, pool, 3, patience=None, random_state=0)
    assert_array_equal(found.chosen, [1])


def test_an_empty_pool_leaves_euclid():
    X, _, _ = draw()
    found = select_constraints(X, Constraints(60), 3, random_state=0)
    assert len(found.chosen) == 0
    assert_array_equal(found.metric, np.eye(4))
    assert_array_equal(np.unique(found.labels), [0, 1, 2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": "best"}, "strategy='best' is unknown"),
        ({"quality": "F1"}, "quality='F1' is unknown"),
        ({"n_select": -1}, "n_select=-1"),
        ({"patience": 0}, "patience=0"),
        ({"init": np.zeros((2, 4))}, r"init has shape \(2, 4\)"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_settings_end_in_one_line(wrong, message):
    X, _, pool = draw()
    with pytest.raises(ValueError, match=message):
        select_constraints(X, pool, 3, **wrong)
