"""Clusters from known groups: by hand, against brute force, laws, the null, and new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_digits, load_iris, load_wine
from likewise.guided import outcome
from likewise.guided.known_groups import (
    FIELD,
    GRAPH,
    MATCHED,
    MEANS,
    N_FOLDS,
    PRIORS,
    Space,
    combine,
    deal_rows,
    doubt_rows,
    fit_sharpness,
    follow_the_data,
    groups_of,
    nearness_between,
    own_credit,
    share_by_clusters,
    share_by_distance,
    share_by_fields,
    share_by_nearest,
    sharpen,
    spread_in,
    weigh,
)
from likewise.guided.placed import Placed
from likewise.guided.plain_clusters import share_plainly


def some_labels(y, n_known, seed=0):
    """Labels of a few rows, every class among them; -1 for the others."""
    rng = np.random.default_rng(seed)
    firsts = [rng.choice(np.flatnonzero(y == label)) for label in np.unique(y)]
    others = rng.choice(np.setdiff1d(np.arange(len(y)), firsts), n_known - len(firsts), False)
    known = np.full(len(y), -1)
    known[[*firsts, *others]] = y[[*firsts, *others]]
    return known


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    X, y = data.X[::4] / 16, np.asarray(data.y)[::4]
    known = some_labels(y, 40)
    model = GuidedClustering(10, random_state=0)
    return X, y, known, model.fit(X, constraints=Constraints.from_partial_labels(known))


# Which answers name groups


def test_labels_of_some_rows_name_groups_and_pairs_at_random_do_not():
    labels = Constraints.from_partial_labels([0, 0, -1, 1, -1, 2])
    assert_array_equal(groups_of(labels, 3), [0, 0, -1, 1, -1, 2])
    assert_array_equal(groups_of(labels, "auto"), [0, 0, -1, 1, -1, 2])
    assert_array_equal(groups_of(labels, 4), [0, 0, -1, 1, -1, 2])  # one that no answer names
    assert groups_of(labels, 2) is None  # more groups than clusters
    one_row_each = Constraints.from_partial_labels([0, -1, -1, 1, -1, 2])
    assert groups_of(one_row_each, 4) is None
    assert groups_of(labels, 2) is None
    unrelated = Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 5)])
    assert groups_of(unrelated, 3) is None
    assert groups_of(Constraints(6), 3) is None


def test_answers_of_weight_zero_name_no_group():
    pairs = {"must_link": [(0, 1)], "cannot_link": [(0, 2), (0, 3), (2, 3)]}
    assert_array_equal(groups_of(Constraints(4, **pairs), 3), [0, 0, 1, 2])
    silent = Constraints(4, **pairs, weights=[1.0, 1.0, 0.0, 0.0])
    assert_array_equal(groups_of(silent, 2), [0, 0, 1, -1])
    triples = Constraints(4, **pairs, odd_one_out=[(0, 1, 2)])
    assert groups_of(triples, 3) is None


# The test: do known rows predict each other?


def test_the_credit_of_known_rows_by_hand():
    walks = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    # Row 0: one other of its group sends 3, the one of the other group 1: 3/4. Row 2 is alone.
    assert own_credit(walks, np.array([0, 0, 1])) == pytest.approx(0.75 + 0.75)


def test_true_groups_pass_and_permuted_ones_pass_in_one_case_in_twenty():
    iris = load_iris()
    known = some_labels(np.asarray(iris.y), 30)
    assert follow_the_data(iris.X, known, seed=0) == (True, 1 / 500)
    rows = np.flatnonzero(known >= 0)
    passed = []
    for seed in range(60):
        permuted = known.copy()
        permuted[rows] = np.random.default_rng(seed).permutation(known[rows])
        passed.append(follow_the_data(iris.X, permuted, seed=seed)[0])
    assert sum(passed) <= 7  # more in one of a hundred draws at 5 %


def test_nearness_by_hand():
    nearness = nearness_between(np.array([[0.0], [1.0], [3.0]]))
    assert_allclose(nearness, [[0, 1, 1 / 2], [1, 0, 1 / 2], [1 / 2, 1, 0]])


def test_units_and_turns_of_the_features_do_not_change_the_test():
    iris = load_iris()
    known = some_labels(np.asarray(iris.y) % 2, 24)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))
    as_it_is = follow_the_data(iris.X, known, seed=0)
    assert follow_the_data(100 * iris.X @ turn, known, seed=0) == as_it_is


def test_where_no_group_has_two_rows_a_prior_decides():
    X = np.arange(8.0)[:, None]
    is_learned, p_value = follow_the_data(X, np.array([0, -1, -1, -1, -1, -1, -1, 1]), seed=0)
    assert is_learned
    assert np.isnan(p_value)


def test_permuted_labels_give_the_result_without_answers():
    wine = load_wine()
    X, known = wine.X, some_labels(np.asarray(wine.y), 40)
    rows = np.flatnonzero(known >= 0)
    known[rows] = np.random.default_rng(5).permutation(known[rows])
    answers = Constraints.from_partial_labels(known)
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert "nothing is learned" in model.report_.why
    assert_array_equal(model.labels_, model.report_.labels_before)
    assert_array_equal(model.labels_, GuidedClustering(3, random_state=0).fit(X).labels_)


# Joining spaces


def test_six_hits_outweigh_the_prior_against_means():
    priors = np.array([PRIORS[GRAPH], PRIORS[MEANS]])
    assert_allclose(weigh(np.array([10, 16]), priors), [0.5, 0.5])
    assert weigh(np.array([10, 10]), priors)[0] > 0.95


def test_the_nearest_known_row_of_each_group_by_hand():
    Z = np.array([[0.0], [1.0], [3.0], [9.0]])
    shares = share_by_nearest(Z, np.array([0, -1, 1, 1]), 3)
    assert_allclose(shares[1], [16 / 17, 1 / 17, 0], atol=2e-3)  # 1 and 2 away: 1 to 2 ** 4
    assert_allclose(shares[[0, 2]], [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert_allclose(shares.sum(axis=1), 1)
    far = share_by_nearest(1000 * Z, np.array([0, -1, 1, 1]), 3)
    assert_allclose(far, shares)  # a power has no unit


def test_copies_of_known_rows_share_alike():
    shares = share_by_nearest(np.zeros((4, 2)), np.array([0, 1, -1, -1]), 2)
    assert_allclose(shares, 0.5)


def test_two_hits_outweigh_the_prior_for_the_clusters_without_answers():
    priors = np.array([PRIORS[GRAPH], PRIORS[MATCHED]])
    assert_allclose(weigh(np.array([12, 10]), priors), [0.5, 0.5])
    assert weigh(np.array([8, 10]), priors)[1] > 0.8


def test_clusters_without_answers_are_those_of_the_groups_they_match_by_hand():
    X = np.array([[0.0], [0.2], [4.0], [4.2], [9.0], [9.2]])
    centers = np.array([[9.1], [0.1], [4.1]])
    groups = np.array([-1, 0, -1, -1, 1, -1])
    found = share_plainly(X, Placed(np.array([1, 1, 2, 2, 0, 0]), centers))
    shares = share_by_clusters(found, groups, 3)
    assert_array_equal(shares.argmax(axis=1), [0, 0, 2, 2, 1, 1])
    assert_allclose(shares.sum(axis=1), 1)
    named = share_by_clusters(found, groups, 2)  # a row in the middle is of either group
    assert_array_equal(named.argmax(axis=1)[[0, 1, 4, 5]], [0, 0, 1, 1])
    assert_allclose(named.sum(axis=1), 1)


def test_without_any_known_row_near_every_group_is_as_likely():
    shares = share_by_clusters(np.eye(2), np.array([0, -1]), 1)
    assert_allclose(shares, 1.0)


def test_a_geometric_mean_by_hand():
    shares = np.array([[[0.8, 0.2]], [[0.5, 0.5]]])
    assert_allclose(combine(shares, np.array([0.5, 0.5])), [[2 / 3, 1 / 3]])
    assert_allclose(combine(shares, np.array([1.0, 0.0])), shares[0])


def test_sharper_memberships_sum_to_one_and_keep_their_order():
    assert_allclose(sharpen(np.array([[0.75, 0.25]]), 2.0), [[0.9, 0.1]])
    assert_allclose(share_by_distance(np.array([[0.0, np.log(3.0)]]), 1.0), [[0.75, 0.25]])


def test_sure_and_right_memberships_are_sharpened_and_sure_and_wrong_ones_dulled():
    shares = np.tile([0.7, 0.3], (50, 1))
    assert fit_sharpness(shares, np.zeros(50, dtype=int)) > 1.5
    assert fit_sharpness(shares, np.arange(50) % 2) < 0.7


def test_memberships_that_say_nothing_get_the_power_that_is_expected():
    assert fit_sharpness(np.full((6, 2), 0.5), np.arange(6) % 2) == pytest.approx(np.e, rel=1e-4)


@given(st.lists(st.integers(0, 4), min_size=6, max_size=40), st.integers(0, 100))
@settings(max_examples=30)
def test_rows_of_a_group_are_spread_over_the_folds(names, seed):
    names = np.array(names)
    folds = deal_rows(names, seed)
    sizes = np.bincount(folds, minlength=N_FOLDS)
    assert sizes.max() - sizes.min() <= 1
    for name in np.unique(names):
        per_fold = np.bincount(folds[names == name], minlength=N_FOLDS)
        assert per_fold.max() - per_fold.min() <= 1


def test_a_known_row_is_doubted_when_a_wrong_answer_is_the_likelier_story():
    shares = np.array([[0.9, 0.1], [0.1, 0.9], [0.04, 0.96], [0.02, 0.98]])
    assert_array_equal(doubt_rows(shares, np.array([0, 0, 0, 1])), [False, False, True, False])
    last = doubt_rows(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 1]))
    assert_array_equal(last, [False, False])  # a group keeps one of its rows


# The whole


def test_forty_labels_of_digits_are_worth_more_than_clusters_without_them(digits):
    _, y, known, model = digits
    free = known < 0
    before = adjusted_rand_score(y[free], model.report_.labels_before[free])
    assert adjusted_rand_score(y[free], model.labels_[free]) > before + 0.1
    assert len(model.violated_) == 0 or len(model.doubtful_)


def test_predict_agrees_with_the_labels_and_memberships_sum_to_one(digits):
    X, _, known, model = digits
    shares = model.predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1)
    assert (model.predict(X)[known < 0] == model.labels_[known < 0]).mean() >= 0.98


def test_names_of_groups_do_not_matter(digits):
    X, _, known, model = digits
    renamed = np.where(known < 0, -1, (known + 3) % 10)
    answers = Constraints.from_partial_labels(renamed)
    same = GuidedClustering(10, random_state=0).fit(X, constraints=answers)
    assert adjusted_rand_score(model.labels_, same.labels_) == 1


def test_a_saved_model_predicts_the_same(digits, tmp_path):
    X, _, _, model = digits
    save_model(model, tmp_path / "m.likewise")
    loaded = load_model(tmp_path / "m.likewise")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_rows_beyond_the_graph_take_the_memberships_of_their_neighbors(digits, monkeypatch):
    X, y, known, _ = digits
    monkeypatch.setattr(outcome, "GRAPH_ROWS", 200)
    answers = Constraints.from_partial_labels(known)
    model = GuidedClustering(10, random_state=0).fit(X, constraints=answers)
    assert len(model.anchors_) == 200
    assert adjusted_rand_score(y, model.labels_) > 0.75
    assert (model.predict(X) == model.labels_).mean() > 0.98


def test_a_row_with_a_wrong_label_is_doubtful_and_set_aside():
    iris = load_iris()
    y = np.asarray(iris.y)
    known = some_labels(y, 45)
    setosa = np.flatnonzero(known == 0)
    known[setosa[0]] = 2
    answers = Constraints.from_partial_labels(known)
    model = GuidedClustering(3, random_state=0).fit(iris.X, constraints=answers)
    doubted = {row for i in model.doubtful_ for row in answers.points_of(int(i))}
    assert setosa[0] in doubted
    assert model.labels_[setosa[0]] == model.labels_[setosa[1]]
    assert model.doubts_[model.doubtful_[0]] > 0.5


def test_an_answer_that_contradicts_the_groups_is_doubtful(digits):
    X, _, known, _ = digits
    same = np.flatnonzero(known == known[known >= 0][0])[:2]
    answers = Constraints.from_partial_labels(known)
    answers = answers + Constraints(len(X), cannot_link=[tuple(same)])
    model = GuidedClustering(10, random_state=0).fit(X, constraints=answers)
    contradiction = answers.n_answers - 1
    assert answers.answer(contradiction).kind == "cannot_link"
    assert contradiction in model.doubtful_
    assert contradiction in model.violated_


def test_fields_spread_in_a_space_that_is_named_for_them():
    rng = np.random.default_rng(0)
    Z, groups = rng.normal(size=(40, 2)), np.full(40, -1)
    groups[:6] = np.arange(6) % 2
    fields = Space("smooth fields", None, FIELD)
    assert_allclose(spread_in(Z, fields, groups), share_by_fields(Z, groups, 2))
    over_graph = spread_in(Z, Space("the neighbor graph", None), groups)
    assert np.abs(over_graph - share_by_fields(Z, groups, 2)).max() > 0.05
