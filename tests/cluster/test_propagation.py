"""Memberships that spread over the graph, from groups and from pairs."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster import GraphPropagation, membership_spread, propagation
from likewise.cluster.membership_spread import (
    cluster_by_pairs,
    known_components,
    propagate,
    signed_graph,
    solve_walks,
    spread_pairs,
)
from likewise.cluster.propagation import exchange_rows
from likewise.constraints import Constraints
from likewise.kernels import interpolation_weights, normalized_adjacency, self_tuning_graph
from likewise.model_file import load_model, save_model

SEEDS = st.integers(0, 10_000)


FOUR_CLASSES = "takes whatever has predict_proba for a classifier, of four classes"
EXPECTED = {f"check_estimator_sparse_{kind}": FOUR_CLASSES for kind in ("array", "matrix")}


@parametrize_with_checks(
    [GraphPropagation(), GraphPropagation(2)], expected_failed_checks=lambda estimator: EXPECTED
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def draw_labels(seed, n=60, n_clusters=3, n_known=9, spread=2.0):
    """Rows, their classes, and a few of these, at least one per class."""
    X, y = make_blobs(n, 2, centers=n_clusters, cluster_std=spread, random_state=seed)
    rng = np.random.default_rng(seed)
    first = [rng.choice(np.flatnonzero(y == g)) for g in range(n_clusters)]
    others = rng.choice(n, n_known - n_clusters, replace=False)
    known = np.full(n, -1)
    known[first], known[others] = y[first], y[others]
    return X, y, known


def fit_labels(X, known, **settings):
    return GraphPropagation(**settings).fit(X, constraints=Constraints.from_partial_labels(known))


# ---- by hand


def test_by_hand_a_path_of_three_rows_is_shared_by_its_ends():
    """S has 1/sqrt(2) between neighbors: F of the middle is the same for both ends."""
    W = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    S, _ = normalized_adjacency(W)
    F = solve_walks(S, np.array([[1.0, 0], [0, 0], [0, 1.0]]), alpha=0.5, tol=1e-14).X
    r = 0.5 / np.sqrt(2)  # (I - alpha S) (x, y, z) = (x - r y, y - r (x + z), z - r y) = (1, 0, 0)
    middle = r / (1 - 2 * r**2)
    assert_allclose(F[:, 0], [1 + r * middle, middle, r * middle])
    assert_allclose(F[:, 1], F[::-1, 0])
    X = np.array([[0.0], [1.0], [2.0]])
    known = known_components(Constraints(3, cannot_link=[(0, 2)]))
    spread = propagate(
        X, W, known, n_clusters=2, n_neighbors=1, alpha=0.5, n_init=1, tol=1e-14, rng=None
    )
    assert_allclose(spread.memberships, [[1, 0], [0.5, 0.5], [0, 1]])


def test_known_rows_count_by_their_share_of_the_group():
    """Two known rows on the left, one on the right: the row in the middle is not outvoted."""
    W = csr_array(np.ones((4, 4)) - np.eye(4))
    known = known_components(Constraints(4, must_link=[(0, 1)], cannot_link=[(0, 3)]))
    spread = propagate(
        np.eye(4), W, known, n_clusters=2, n_neighbors=3, alpha=0.9, n_init=1, tol=1e-14, rng=None
    )
    assert_allclose(spread.memberships, [[1, 0], [1, 0], [0.5, 0.5], [0, 1]])


def test_components_that_no_answer_keeps_apart_are_not_groups():
    known = known_components(Constraints(9, must_link=[(1, 2), (4, 5)], cannot_link=[(5, 7)]))
    assert_array_equal(known.components, [-1, 0, 0, -1, 1, 1, -1, 2, -1])
    assert_array_equal(known.apart, [[1, 2]])
    assert not known.are_all_apart
    apart = Constraints(9, cannot_link=[(1, 5), (2, 7)]) + Constraints(9, must_link=[(1, 2)])
    assert not known_components(apart).are_all_apart  # nothing is said about 5 and 7
    assert known_components(apart + Constraints(9, cannot_link=[(5, 7)])).are_all_apart


def test_two_must_links_of_one_blob_end_in_one_cluster():
    """Nobody said that the two are apart, and the data says that they are not."""
    X, y = make_blobs([40, 40], 2, centers=[[0, 0], [9, 9]], random_state=0)
    first, second = np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:1]
    c = Constraints(80, must_link=[first[:2], first[2:]], cannot_link=[(first[0], second[0])])
    model = GraphPropagation(2, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert len(model.violated_) == 0


# ---- certificate


@given(SEEDS, st.floats(0.05, 0.99))
@settings(max_examples=20)
def test_memberships_solve_the_system_and_every_free_row_is_the_mean_of_its_neighbors(seed, alpha):
    X, _, known = draw_labels(seed, n_known=12)
    W = self_tuning_graph(X, 10)
    S, _ = normalized_adjacency(W)
    Y = (known[:, None] == np.arange(3)) / np.bincount(known[known >= 0])
    solved = solve_walks(S, Y, alpha=alpha, tol=1e-12)
    assert solved.converged
    residual = solved.X - alpha * (S @ solved.X) - Y
    assert (np.linalg.norm(residual, axis=0) <= 1e-11 * np.linalg.norm(Y, axis=0)).all()
    assert (solved.X >= -1e-12).all()
    # Harmonic: up to degrees, F of a row that is not known is alpha times the sum over neighbors.
    free = known < 0
    assert_allclose(solved.X[free], alpha * (S @ solved.X)[free], atol=1e-11)
    model = fit_labels(X, known, alpha=alpha)
    assert_allclose(model.memberships_.sum(axis=1), 1)
    assert (model.memberships_ >= 0).all()
    order = np.unique(known[known >= 0], return_index=True)[1].argsort()  # groups by first row
    totals = solved.X.sum(axis=1)
    reached = free & (totals > 1e-9 * totals.max())
    expected = solved.X[reached][:, order] / totals[reached, None]
    assert_allclose(model.memberships_[reached], expected, atol=1e-6)


# ---- second route


@given(SEEDS)
@settings(max_examples=15)
def test_sparse_memberships_equal_those_of_a_dense_solve(seed):
    X, _, known = draw_labels(seed)
    S = normalized_adjacency(self_tuning_graph(X, 10))[0].toarray()
    groups = known_components(Constraints.from_partial_labels(known)).components
    Y = (groups[:, None] == np.arange(3)).astype(float)
    F = np.linalg.solve(np.eye(len(X)) - 0.9 * S, Y / Y.sum(axis=0))
    F[groups >= 0] = Y[groups >= 0]
    expected = F / F.sum(axis=1, keepdims=True)
    reached = F.sum(axis=1) > 1e-9 * F.sum(axis=1).max()
    assert_allclose(
        fit_labels(X, known, alpha=0.9).memberships_[reached], expected[reached], atol=1e-7
    )


@given(SEEDS)
@settings(max_examples=10)
def test_with_one_known_row_per_group_it_is_label_spreading(seed):
    """There dividing by the known rows changes nothing, and known rows alone are clamped here."""
    X, _, known = draw_labels(seed, n_known=3)
    spreading = LabelSpreading(
        kernel=lambda rows, _: self_tuning_graph(rows, 10).toarray(),
        alpha=0.9,
        max_iter=2000,
        tol=1e-14,
    )
    theirs = spreading.fit(X, known).label_distributions_
    ours = fit_labels(X, known, alpha=0.9)
    order = np.argsort([np.flatnonzero(known == g)[0] for g in range(3)])
    free = (known < 0) & (theirs.sum(axis=1) > 0.5)
    assert_allclose(ours.memberships_[free], theirs[free][:, order], atol=1e-6)


@given(SEEDS)
@settings(max_examples=10)
def test_spread_pairs_are_the_sum_over_all_implied_pairs(seed):
    """Written out pair by pair: B_i Z B_j' with each component's rows sharing its weight."""
    X, y, _ = draw_labels(seed, n=30)
    c = Constraints.from_labels(y, n_must_link=6, n_cannot_link=6, random_state=seed)
    known = known_components(c)
    W = self_tuning_graph(X, 5)
    P = np.linalg.inv(np.eye(30) - 0.8 * normalized_adjacency(W)[0].toarray())
    closure = c.closure()
    total = np.zeros((30, 30))
    size = closure.sizes[closure.components]
    for i, j in np.ndindex(30, 30):
        same = closure.components[i] == closure.components[j] and size[i] > 1
        sign = 1.0 if same else min(0, int(closure.known([(i, j)])[0]))
        total += sign / np.sqrt(size[i] * size[j]) * np.outer(P[i], P[j])
    spread = total / np.abs(total).max()
    assert_allclose(spread_pairs(W, known, tol=1e-13), spread, atol=1e-9)
    assert_allclose(signed_graph(W, known, tol=1e-13), W.toarray() + 2 * spread, atol=1e-9)
    nothing = known_components(Constraints(30))
    assert signed_graph(W, nothing, tol=1e-13) is W


# ---- laws


@given(SEEDS)
@settings(max_examples=10)
def test_names_of_groups_order_of_answers_and_the_form_of_answers_do_not_matter(seed):
    X, _, known = draw_labels(seed)
    model = fit_labels(X, known)
    rng = np.random.default_rng(seed)
    renamed = np.where(known >= 0, rng.permutation(3)[known] + 5, -1)
    assert_array_equal(fit_labels(X, renamed).memberships_, model.memberships_)
    closure = Constraints.from_partial_labels(known).closure()
    c = Constraints(
        len(X),
        must_link=rng.permutation(closure.must_link_pairs())[:, ::-1],
        cannot_link=rng.permutation(closure.cannot_link_pairs()),
    )
    again = GraphPropagation().fit(X, constraints=c)
    assert_allclose(again.memberships_, model.memberships_)


@given(SEEDS)
@settings(max_examples=10)
def test_order_of_the_rows_unit_and_place_of_the_features_do_not_matter(seed):
    X, _, known = draw_labels(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    model = fit_labels(X, known, alpha=0.9)
    moved = fit_labels(1000 * X[order] + 7, known[order], alpha=0.9)

    def by_class(model, known):  # columns in the order of the classes, not of their first rows
        return model.memberships_[:, [model.labels_[known == g][0] for g in range(3)]]

    assert_allclose(by_class(moved, known[order]), by_class(model, known)[order], atol=1e-6)


@given(SEEDS)
@settings(max_examples=8)
def test_order_and_repeats_of_pairs_do_not_matter(seed):
    X, y, _ = draw_labels(seed, spread=1.0)
    c = Constraints.from_labels(y, n_must_link=6, n_cannot_link=6, random_state=seed)
    again = Constraints(
        len(X),
        must_link=np.concatenate([c.must_link[::-1, ::-1], c.must_link]),
        cannot_link=c.cannot_link[::-1, ::-1],
    )
    one, other = (GraphPropagation(3, random_state=0).fit(X, constraints=p) for p in (c, again))
    assert_allclose(one.memberships_, other.memberships_)


def test_sparse_rows_and_single_precision_give_the_same(seed):
    X, _, known = draw_labels(seed)
    dense = fit_labels(X, known)
    assert_allclose(fit_labels(csr_array(X), known).memberships_, dense.memberships_, atol=1e-8)
    assert_array_equal(fit_labels(X.astype(np.float32), known).labels_, dense.labels_)
    assert_array_equal(dense.predict(csr_array(X)), dense.labels_)


def test_same_seed_same_memberships(seed):
    X, y, _ = draw_labels(seed)
    c = Constraints.from_labels(y, n_must_link=4, n_cannot_link=4, random_state=seed)
    one, other = (
        GraphPropagation(3, n_landmarks=50, random_state=seed).fit(X, constraints=c) for _ in "ab"
    )
    assert_array_equal(one.memberships_, other.memberships_)


# ---- how many clusters


def test_clusters_beyond_the_known_groups_come_from_the_data(seed):
    X, y = make_blobs(200, 2, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=seed)
    known = np.full(200, -1)
    for g in (0, 1):
        known[np.flatnonzero(y == g)[:3]] = g
    model = fit_labels(X, known, n_clusters=4, random_state=seed)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert set(model.labels_[known >= 0]) == {0, 1}  # groups that answers name come first


def test_more_groups_than_clusters_are_merged_by_likeness_and_reported(seed):
    X, y = make_blobs(150, 2, centers=[[0, 0], [3, 0], [20, 0]], random_state=seed)
    known = np.full(150, -1)
    for g in range(3):
        known[np.flatnonzero(y == g)[:1]] = g
    with pytest.warns(UserWarning, match="keep 3 groups apart, more than n_clusters=2"):
        model = fit_labels(X, known, n_clusters=2, random_state=seed)
    assert_array_equal(np.unique(model.labels_), [0, 1])
    assert len(model.violated_) >= 1


def test_auto_takes_the_groups_if_all_are_kept_apart_and_looks_at_the_data_otherwise():
    X, y = make_blobs(120, 2, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    known = np.full(120, -1)
    known[np.unique(y, return_index=True)[1]] = np.arange(4)
    assert fit_labels(X, known).n_clusters_ == 4
    pair = Constraints(
        120,
        cannot_link=[np.flatnonzero(y == 0)[:1].tolist() + np.flatnonzero(y == 1)[:1].tolist()],
        must_link=[np.flatnonzero(y == 2)[:2]],
    )
    assert GraphPropagation(random_state=0).fit(X, constraints=pair).n_clusters_ == 4


def test_without_answers_it_finds_rings_that_k_means_cannot(seed):
    X, y = make_circles(300, factor=0.4, noise=0.04, random_state=seed)
    model = GraphPropagation(2, random_state=seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert adjusted_rand_score(y, KMeans(2, n_init=3, random_state=seed).fit_predict(X)) < 0.1
    assert model.n_answers_used_ == 0


# ---- answers


def test_known_rows_keep_their_groups_even_among_others(seed):
    X, y, known = draw_labels(seed, spread=0.5)
    wrong = np.flatnonzero(known < 0)[0]
    known[wrong] = (y[wrong] + 1) % 3
    model = fit_labels(X, known)
    assert len(model.violated_) == 0
    assert_array_equal(model.memberships_.max(axis=1)[known >= 0], 1)


def test_must_linked_rows_share_their_memberships(seed):
    X, y, _ = draw_labels(seed)
    c = Constraints.from_labels(y, n_must_link=8, n_cannot_link=5, random_state=seed)
    model = GraphPropagation(3, random_state=seed).fit(X, constraints=c)
    a, b = c.must_link.T
    assert_allclose(model.memberships_[a], model.memberships_[b])
    cannot = model.labels_[c.cannot_link]
    assert_array_equal(model.violated_, c.positions("cannot_link")[cannot[:, 0] == cannot[:, 1]])


def test_a_cannot_link_inside_a_component_is_reported_and_left_out():
    X, _, known = draw_labels(0)
    c = Constraints.from_partial_labels(known)
    i, j = c.must_link[0]
    with pytest.warns(UserWarning, match="1 cannot-links contradict.*follows the must-links"):
        model = GraphPropagation().fit(X, constraints=c + Constraints(len(X), cannot_link=[(i, j)]))
    assert_allclose(model.memberships_, GraphPropagation().fit(X, constraints=c).memberships_)
    assert_array_equal(model.violated_, [c.n_answers])


def test_answers_of_weight_zero_and_of_other_kinds_change_nothing():
    X, _, known = draw_labels(0)
    c = Constraints.from_partial_labels(known)
    free = np.flatnonzero(known < 0)
    more = Constraints(len(X), must_link=[free[:2]], odd_one_out=[free[2:5]], weights=[0.0, 1.0])
    with pytest.warns(UserWarning, match="cannot use 1 odd_one_out"):
        model = GraphPropagation().fit(X, constraints=c + more)
    assert_array_equal(model.memberships_, GraphPropagation().fit(X, constraints=c).memberships_)


# ---- new rows, many rows


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_predict_agrees_with_the_labels_of_free_rows(kind, seed):
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[:600]
    X, y = X[rows] / 16, y[rows]
    known = np.where(rng.random(600) < 0.1, y, -1)
    c = Constraints.from_partial_labels(known)
    if kind == "pairs":
        c = Constraints.from_labels(y, n_must_link=30, n_cannot_link=30, random_state=seed)
    free = np.setdiff1d(np.arange(600), c.touched_rows())
    for n_landmarks in (10_000, 300):
        model = GraphPropagation(10, n_landmarks=n_landmarks, random_state=seed)
        model.fit(X, constraints=c)
        assert np.mean(model.predict(X)[free] == model.labels_[free]) >= 0.98
        assert_allclose(model.predict_proba(X)[free].sum(axis=1), 1)
        assert len(model.X_fit_) == min(n_landmarks, 600)


def test_pairs_make_clusters_of_digits_better_than_the_graph_alone(seed):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    c = Constraints.from_labels(y, n_must_link=50, n_cannot_link=50, random_state=seed)
    with_pairs, alone = (
        GraphPropagation(10, random_state=seed).fit(X, constraints=given) for given in (c, None)
    )
    free = np.setdiff1d(np.arange(600), c.touched_rows())
    gain = adjusted_rand_score(y[free], with_pairs.labels_[free])
    gain -= adjusted_rand_score(y[free], alone.labels_[free])
    assert gain > 0.05, gain


def test_new_rows_get_the_classes_of_new_images(seed):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    known = np.full(1000, -1)
    known[:100] = y[:100]
    model = fit_labels(X[:1000], known)
    old = adjusted_rand_score(y[:1000], model.labels_)
    new = adjusted_rand_score(y[1000:], model.predict(X[1000:]))
    assert min(old, new) > 0.75, (old, new)  # k-means: .65; other people wrote the new ones


def test_a_model_of_many_rows_keeps_landmarks_and_every_answered_row(tmp_path, seed):
    X, y = make_blobs(4000, 3, centers=5, random_state=seed)
    known = np.full(4000, -1)
    known[:40] = y[:40]
    model = fit_labels(X, known, n_landmarks=500, random_state=seed)
    assert len(model.landmarks_) == len(model.X_fit_) == 500
    assert set(range(40)) <= set(model.landmarks_)
    assert_array_equal(model.X_fit_, X[model.landmarks_])
    assert_array_equal(model.predict(X), model.labels_)
    save_model(model, tmp_path / "model")
    assert_array_equal(
        load_model(tmp_path / "model").predict_proba(X[:50]), model.predict_proba(X[:50])
    )


def test_memberships_of_many_rows_are_found_in_blocks_and_are_those_of_one(monkeypatch, seed):
    X, y = make_blobs(1000, 3, centers=5, cluster_std=2.0, random_state=seed)
    known = np.where(np.arange(1000) < 40, y, -1)
    model = fit_labels(X, known, n_landmarks=300, random_state=seed)
    sizes = []

    def counted(rows, *others):
        sizes.append(len(rows))
        return interpolation_weights(rows, *others)

    monkeypatch.setattr(propagation, "BLOCK_ROWS", 128)
    monkeypatch.setattr(propagation, "interpolation_weights", counted)
    again = fit_labels(X, known, n_landmarks=300, random_state=seed)
    assert max(sizes) <= 128
    assert_allclose(again.memberships_, model.memberships_, rtol=1e-12)
    assert_allclose(model.predict_proba(X), model.memberships_, rtol=1e-12)


def test_small_groups_take_the_places_of_rows_of_large_ones():
    labels = np.repeat([0, 1, 2], [300, 90, 10])
    is_there = np.zeros(400, dtype=bool)
    is_there[:95] = is_there[300:304] = is_there[390] = True  # 95, 4 and 1 of the groups
    is_kept = np.arange(400) < 10
    rng = np.random.RandomState(0)
    chosen = exchange_rows(is_there, is_kept, labels, 3, rng)
    assert_array_equal(np.bincount(labels[chosen]), [93, 4, 3])
    assert np.isin(np.flatnonzero(is_kept), chosen).all()
    assert np.isin([390, *range(300, 304)], chosen).all()
    is_there[390:] = True  # all there are
    chosen = exchange_rows(is_there, is_kept, labels, 3, rng)
    assert_array_equal(chosen, np.flatnonzero(is_there))


def test_a_small_group_of_many_rows_is_found_better_with_more_of_its_rows(monkeypatch):
    rng = np.random.RandomState(0)
    y = rng.choice(6, 20_000, p=[0.247, 0.247, 0.247, 0.247, 0.008, 0.004])
    X = rng.normal(size=(20_000, 32)) + rng.normal(scale=0.8, size=(6, 32))[y]
    known = np.full(20_000, -1)
    for group in range(6):
        known[np.flatnonzero(y == group)[:5]] = group
    found, scores = [], []
    for share in (0.0, propagation.LEAST_SHARE):
        monkeypatch.setattr(propagation, "LEAST_SHARE", share)
        model = fit_labels(X, known, n_landmarks=2000, random_state=0)
        assert len(model.landmarks_) == 2000
        assert np.isin(np.flatnonzero(known >= 0), model.landmarks_).all()
        first = np.array([np.flatnonzero(known == group)[0] for group in range(6)])
        is_found = model.labels_[first][y] == model.labels_
        found.append(is_found[y > 3].mean())
        scores.append(adjusted_rand_score(y, model.labels_))
    assert found[1] > found[0] + 0.05, found
    assert scores[1] > scores[0] - 0.01, scores


def test_pairs_over_more_rows_than_the_core_give_the_clusters_of_all(monkeypatch, seed):
    X, y = make_blobs(400, 3, centers=4, cluster_std=0.7, random_state=3)
    c = Constraints.from_labels(y, n_must_link=20, n_cannot_link=20, random_state=seed)
    labels = GraphPropagation(4, random_state=seed).fit(X, constraints=c).labels_
    monkeypatch.setattr(membership_spread, "CORE_ROWS", 100)
    small = GraphPropagation(4, random_state=seed).fit(X, constraints=c).labels_
    assert adjusted_rand_score(labels, small) > 0.98
    monkeypatch.setattr(membership_spread, "CORE_ROWS", 40)  # fewer than the rows with answers
    assert (
        adjusted_rand_score(
            labels, GraphPropagation(4, random_state=0).fit(X, constraints=c).labels_
        )
        > 0.9
    )


# ---- the edge of what can be asked


def test_a_region_that_no_known_row_reaches_goes_to_the_nearest_rows():
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(10, 11, 20), np.linspace(13, 14, 20)])[
        :, None
    ]
    known = np.full(60, -1)
    known[[0, 25]] = 0, 1
    model = fit_labels(X, known, n_neighbors=3)
    assert_array_equal(model.labels_, np.repeat([0, 1, 1], 20))
    assert_allclose(model.memberships_.sum(axis=1), 1)


def test_a_walk_of_many_steps_along_a_ring_still_decides(seed):
    angles = np.linspace(0, 2 * np.pi, 800, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.concatenate([ring, 1.2 * ring])
    known = np.full(1600, -1)
    known[[0, 1200]] = 0, 1  # at opposite ends
    model = fit_labels(X, known, n_neighbors=6)
    assert_array_equal(model.labels_, np.repeat([0, 1], 800))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_clustered(n):
    model = GraphPropagation(1).fit(np.arange(n, dtype=float)[:, None])
    assert_array_equal(model.labels_, np.zeros(n))


def test_equal_rows_leave_clusters_empty_and_say_so():
    with pytest.warns(ConvergenceWarning, match="fewer than n_clusters=3"):
        model = GraphPropagation(3, random_state=0).fit(np.ones((30, 2)))
    assert_allclose(model.memberships_.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_clusters": 0}, "n_clusters == 0"),
        ({"n_clusters": 9}, "n_samples=4 should be >= n_clusters=9"),
        ({"alpha": 1.0}, "alpha=1.0 must lie between 0 and 1"),
        ({"tol": 0}, "tol=0 must lie between 0 and 1"),
        ({"n_landmarks": 0}, "n_landmarks == 0"),
        ({"n_neighbors": 0}, "n_neighbors == 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        GraphPropagation(**given).fit(np.arange(4.0)[:, None])


def test_a_system_that_is_not_solved_is_reported(monkeypatch):
    X, _, known = draw_labels(0)
    monkeypatch.setattr(membership_spread, "MAX_ITER", 2)
    with pytest.warns(ConvergenceWarning, match="not solved to tol=1e-12 after 2 iterations"):
        fit_labels(X, known)


@given(SEEDS, st.integers(2, 5))
@settings(max_examples=10)
def test_answers_at_random_never_end_in_nan(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)).round(int(rng.integers(0, 3)))  # equal rows among them
    pairs = rng.choice(40, (12, 2), replace=True)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    c = Constraints(40, must_link=pairs[::2], cannot_link=pairs[1::2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GraphPropagation(n_clusters, random_state=seed).fit(X, constraints=c)
    assert_allclose(model.memberships_.sum(axis=1), 1)
    assert model.memberships_.shape == (40, n_clusters)


def test_clusters_by_pairs_are_numbered_by_their_first_rows(seed):
    X, _, _ = draw_labels(seed, spread=0.5)
    known = known_components(Constraints(len(X)))
    labels = cluster_by_pairs(
        self_tuning_graph(X), known, n_clusters=3, n_init=2, tol=1e-10, rng=np.random.RandomState(0)
    )
    first = np.unique(labels, return_index=True)[1]
    assert (np.diff(first) > 0).all()
