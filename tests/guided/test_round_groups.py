"""Where groups are round, rows beyond the graph go to the nearest mean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import Constraints, GuidedClustering
from likewise.guided import known_groups, outcome, round_groups
from likewise.guided.known_groups import FIELD
from likewise.guided.placed import share_by_distance
from likewise.guided.round_groups import find_round_groups, fit_unit, mean_lead, place_by_others
from likewise.kernels import interpolation_weights

NEVER = 1e9  # standard errors
RIGHT = np.array([True, True, False, False])


def test_each_group_counts_alike():
    groups = np.array([0, 0, 0, 1])
    lead, error = mean_lead(np.array([True, True, True, False]), np.zeros(4), groups)
    assert (lead, error) == (0.5, np.sqrt(1 / 3) / 2)
    assert mean_lead(RIGHT, RIGHT, groups) == (0.0, 0.0)
    assert mean_lead(~RIGHT, RIGHT, np.array([0, 0, 1, 1])) == (0.0, 0.5)


def test_rows_are_placed_by_others_as_they_would_be_without_themselves(seed):
    rng = np.random.RandomState(seed)
    Z, memberships = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(4), size=40)
    found = place_by_others(Z, memberships)
    for i in range(40):
        others = np.delete(np.arange(40), i)
        shares = interpolation_weights(Z[[i]], Z[others]) @ memberships[others]
        assert found[i] == shares.argmax()


def test_the_unit_of_memberships_by_distance_is_found_again(seed):
    rng = np.random.RandomState(seed)
    sq_dists = rng.chisquare(5, size=(500, 3))
    unit = rng.uniform(0.5, 2)
    assert_allclose(fit_unit(sq_dists, share_by_distance(sq_dists, unit)), unit, rtol=1e-3)


def test_clouds_are_round_and_rings_are_not(seed):
    rng = np.random.RandomState(seed)
    groups = np.repeat([0, 1], 400)
    memberships = np.eye(2)[groups]
    clouds = rng.normal(size=(800, 16)) + 2 * groups[:, None] / np.sqrt(4)
    found = find_round_groups(clouds, memberships, None)
    assert found.share_by_means > found.share_by_neighbors
    assert_allclose(found.means[1], clouds[400:].mean(axis=0))
    angles = rng.uniform(0, 2 * np.pi, 800)
    rings = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 + 2 * groups[:, None])
    assert find_round_groups(rings, memberships, None) is None


def test_a_learned_space_that_neighbors_are_better_in_is_kept(seed):
    rng = np.random.RandomState(seed)
    groups = np.repeat([0, 1], 400)
    memberships = np.eye(2)[groups]
    clouds = rng.normal(size=(800, 16)) + groups[:, None]
    assert find_round_groups(clouds, memberships, None) is not None
    apart = groups[:, None] + 0.01 * rng.normal(size=(800, 2))
    assert find_round_groups(clouds, memberships, apart) is None
    assert find_round_groups(clouds, memberships, rng.normal(size=(800, 2))) is not None


@pytest.fixture(scope="module")
def rows_and_groups():
    rng = np.random.RandomState(0)
    y = rng.choice(5, 3000, p=[*[0.97 / 4] * 4, 0.03])
    X = rng.normal(size=(3000, 32)) + 0.6 * rng.normal(size=(5, 32))[y]
    known = np.full(3000, -1)
    for group in range(5):
        known[np.flatnonzero(y == group)[:5]] = group
    return X, y, known


def test_a_small_round_group_is_found_better_by_its_mean(rows_and_groups, monkeypatch):
    X, y, known = rows_and_groups
    monkeypatch.setattr(outcome, "GRAPH_ROWS", 500)
    answers = Constraints.from_partial_labels(known)
    shares = []
    for n_errors in (NEVER, round_groups.N_ERRORS):
        monkeypatch.setattr(round_groups, "N_ERRORS", n_errors)
        model = GuidedClustering(5, random_state=0).fit(X, constraints=answers)
        small = model.labels_ == model.labels_[np.flatnonzero(y == 4)[0]]
        shares.append((small & (y == 4)).sum() / (small | (y == 4)).sum())
    assert shares[1] > shares[0]
    assert model.anchors_ is None
    assert model.learner_ is None
    assert "nearest mean" in model.report_.why
    unknown = known < 0
    assert_array_equal(model.predict(X)[unknown], model.labels_[unknown])
    for group in range(5):  # rows that people named stay where they said
        assert len(np.unique(model.labels_[known == group])) == 1
    chances = model.predict_proba(X).max(axis=1)
    names = np.array([np.bincount(y[model.labels_ == c]).argmax() for c in range(5)])
    assert chances.mean() == pytest.approx((names[model.labels_] == y).mean(), abs=0.05)


def test_density_is_asked_for_in_the_learned_space_however_round_groups_are(
    rows_and_groups, monkeypatch
):
    X, _, known = rows_and_groups
    monkeypatch.setattr(outcome, "GRAPH_ROWS", 500)
    monkeypatch.setitem(known_groups.PRIORS, FIELD, -100.0)  # or the features are the space
    answers = Constraints.from_partial_labels(known)
    found = []
    for n_errors in (NEVER, round_groups.N_ERRORS):
        monkeypatch.setattr(round_groups, "N_ERRORS", n_errors)
        model = GuidedClustering(last_step="density", random_state=0).fit(X, constraints=answers)
        found.append((model.learner_ is None, model.membership_unit_, "mean" in model.report_.why))
        assert_array_equal(model.transform(X[:5]).shape, (5, model.cluster_centers_.shape[1]))
    assert found[0] == found[1]
    assert not found[1][0]


def test_known_rows_in_doubt_go_where_the_means_say(rows_and_groups, monkeypatch):
    X, y, known = rows_and_groups
    monkeypatch.setattr(outcome, "GRAPH_ROWS", 500)
    known, far = known.copy(), 10 * np.eye(1, 32)[0]
    X = X + far * (y == 1)[:, None]
    wrong = np.flatnonzero(known == 1)[0]
    known[wrong] = 0
    model = GuidedClustering(5, random_state=0)
    model.fit(X, constraints=Constraints.from_partial_labels(known))
    assert "nearest mean" in model.report_.why
    assert len(model.doubtful_)
    labels = model.labels_
    assert labels[wrong] == labels[np.flatnonzero(known == 1)[-1]]
    assert labels[wrong] != labels[np.flatnonzero(known == 0)[-1]]


def test_nothing_changes_where_all_rows_are_in_the_graph(rows_and_groups, monkeypatch):
    X, _, known = rows_and_groups
    answers = Constraints.from_partial_labels(known[:600])
    found = []
    for n_errors in (NEVER, round_groups.N_ERRORS):
        monkeypatch.setattr(round_groups, "N_ERRORS", n_errors)
        model = GuidedClustering(5, random_state=0).fit(X[:600], constraints=answers)
        found.append(model.labels_)
    assert_array_equal(*found)
    assert model.anchors_ is not None
