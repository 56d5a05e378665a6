"""Outliers, sizes, exclusive groups and density, at the end of GuidedClustering."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, GuidedClustering, InconsistentConstraints, load_model, save_model
from likewise.datasets import load_wine
from likewise.guided.last_step import (
    best_limit,
    cluster_by_density,
    find_outliers,
    keep_rules,
    n_clusters_for,
)
from likewise.guided.routes import cluster_by_answers
from likewise.report import write_report
from tests.guided.test_guided_clustering import EXPECTED


@parametrize_with_checks(
    [GuidedClustering(2, n_init=2, min_size=1, outliers=0.1, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def three():
    """Three groups of 20, 40 and 60 rows, and six rows far from all."""
    rng = np.random.RandomState(0)
    sizes = (20, 40, 60, 6)
    centers = np.repeat([[0, 0], [6, 0], [0, 6], [0, 0]], sizes, axis=0)
    X = rng.normal(size=(126, 2)) + centers
    X[-6:] = [[40, 40], [-40, 40], [40, -40], [-40, -40], [60, 0], [0, 60]]
    y = np.repeat([0, 1, 2, 3], sizes)
    return X, y, Constraints.from_labels(y[:-6], n_pairs=40, random_state=0).with_rows(126)


def test_a_place_goes_to_the_row_that_gives_up_least_by_hand():
    shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    none = Constraints(4)
    two = np.array([2, 2])
    labels, n_let_go = keep_rules(shares, np.array([0, 0, 0, 1]), none, two, two)
    assert_array_equal(labels, [0, 0, 1, 1])
    assert n_let_go == 0


def test_the_pair_of_least_weight_gives_way_to_a_rule():
    c = Constraints(3, must_link=[(0, 1), (1, 2)], weights=[1.0, 0.5], exclusive=[[0, 2]])
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2]])
    labels, n_let_go = keep_rules(
        shares, np.zeros(3, dtype=int), c, np.zeros(2, int), np.full(2, 3)
    )
    assert_array_equal(labels, [0, 0, 1])
    assert n_let_go == 1


def test_sizes_that_no_pair_stands_against_are_refused_where_impossible():
    groups = Constraints(4, exclusive=[[0, 1, 2]])
    with pytest.raises(InconsistentConstraints, match="keeps 3 rows apart"):
        keep_rules(np.full((4, 2), 0.5), np.zeros(4, int), groups, np.zeros(2, int), np.full(2, 4))


@pytest.mark.parametrize(
    ("k", "sizes", "expected"),
    [(3, (None, None), 3), (3, (None, 20), 6), (9, (30, None), 4), (2, (None, None), 2)],
)
def test_the_number_of_clusters_follows_the_sizes(k, sizes, expected):
    assert n_clusters_for(k, Constraints(120), *sizes) == expected
    assert n_clusters_for(2, Constraints(9, exclusive=[[0, 1, 2]]), None, None) == 3


def test_clusters_have_the_sizes_and_keep_the_groups(three):
    X, _, answers = three
    answers = answers.with_exclusive([[60, 61, 62], [0, 20]])
    model = GuidedClustering(3, min_size=38, max_size=46, random_state=0)
    model.fit(X, constraints=answers)
    sizes = np.bincount(model.labels_)
    assert sizes.min() >= 38
    assert sizes.max() <= 46
    assert len(set(model.labels_[[60, 61, 62]])) == 3
    assert model.labels_[0] != model.labels_[20]
    assert "rules: " in str(model.report_)
    free = GuidedClustering(3, random_state=0).fit(X, constraints=answers.with_exclusive(None))
    kept = np.setdiff1d(model.violated_, free.violated_)
    assert len(kept) == 0


def test_the_number_of_clusters_is_raised_where_it_is_free(three):
    X, _, _ = three
    model = GuidedClustering(max_size=25, random_state=0).fit(X)
    assert model.n_clusters_ == 6
    assert np.bincount(model.labels_).max() <= 25
    with pytest.raises(ValueError, match="2 clusters of max_size=25 hold 50 rows"):
        GuidedClustering(2, max_size=25, random_state=0).fit(X)


def test_rows_far_from_all_are_outliers_and_new_rows_are_not(three, tmp_path):
    X, _, answers = three
    model = GuidedClustering(3, outliers="auto", random_state=0).fit(X, constraints=answers)
    assert (model.labels_[-6:] == -1).all()
    assert (model.labels_ == -1).sum() <= 12
    assert model.nearest_labels_.min() == 0
    inside = model.labels_ >= 0
    assert_array_equal(model.labels_[inside], model.nearest_labels_[inside])
    assert model.predict(X[-6:]).min() >= 0
    save_model(model, tmp_path / "m.likewise")
    assert_array_equal(load_model(tmp_path / "m.likewise").labels_, model.labels_)
    write_report(tmp_path / "report.html", model, X, constraints=answers)
    share = GuidedClustering(3, outliers=6 / 126, random_state=0).fit(X, constraints=answers)
    assert_array_equal(np.flatnonzero(share.labels_ == -1), np.arange(120, 126))


def test_people_decide_what_belongs_nowhere():
    factors = np.array([1.0, 1.1, 1.2, 1.3, 1.35, 1.4, 9.0, 1.0])
    said = Constraints(
        8,
        must_link=[(0, 6), (1, 2)],
        cannot_link=[(3, 0), (4, 0), (5, 0)],
        weights=[1, 1, 0, 0, 0],
    )
    is_outlier, why = find_outliers(factors, said, "auto")
    # Rows 3 to 5 were said to belong nowhere, from 1.3 on; row 6 was put together with row 0.
    assert_array_equal(np.flatnonzero(is_outlier), [3, 4, 5])
    assert why.startswith("3 rows, by a local outlier factor above 1.25")
    is_outlier, _ = find_outliers(factors, Constraints(8), "auto")
    assert_array_equal(np.flatnonzero(is_outlier), [6])
    is_outlier, _ = find_outliers(factors, said, 0.125)
    assert_array_equal(np.flatnonzero(is_outlier), [3, 4, 5])


def test_the_best_limit_counts_both_sides_alike():
    assert best_limit(np.array([2.0, 3.0]), np.array([1.0, 1.2])) == pytest.approx(1.35)
    assert best_limit(np.array([0.5]), np.array([0.6])) == pytest.approx(1.05)


def test_density_leaves_rows_out_and_reports_what_it_violates(three):
    X, _, answers = three
    wrong = answers + Constraints(126, must_link=[(0, 125)])
    model = GuidedClustering(last_step="density", min_size=10, random_state=0)
    model.fit(X, constraints=wrong)
    assert (model.labels_[-6:] == -1).all()
    assert wrong.n_answers - 1 in model.violated_
    assert "lie densely" in model.report_.why_n_clusters
    assert model.nearest_labels_.min() == 0


def test_clusters_by_density_have_a_unit_and_memberships_of_their_own(three):
    X, _, answers = three
    learned = cluster_by_answers(
        X, answers, 3, learner="auto", n_init=1, n_jobs=None, seed=0
    )._replace(sq_unit=7.0, evenness=0.5)
    found = cluster_by_density(learned, 10)
    assert (found.sq_unit, found.evenness, found.anchors) == (None, 0.0, None)


def test_nothing_changes_where_nothing_is_asked(three):
    X, _, answers = three
    plain = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    wide = GuidedClustering(3, max_size=126, random_state=0).fit(X, constraints=answers)
    assert_array_equal(plain.labels_, plain.nearest_labels_)
    assert plain.report_.last_step == ""
    assert np.mean(plain.labels_ != wide.labels_) < 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_size": 0}, "min_size=0 must be a whole number >= 1"),
        ({"max_size": 2.5}, "max_size=2.5 must be a whole number"),
        ({"outliers": 0.7}, 'outliers=0.7 must be "auto", a share up to 0.5'),
        ({"outliers": "some"}, "outliers='some' must be"),
        ({"last_step": "spectral"}, "last_step='spectral' is unknown. Use one of auto, density"),
        ({"last_step": "density", "outliers": 0.1}, "finds outliers itself"),
    ],
)
def test_a_setting_that_is_not_possible_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GuidedClustering(2, **settings).fit(load_wine().X)
