"""How sure memberships may be: by hand, certificate, brute force, laws, and the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.guided.calibration import (
    are_like_others,
    evenness_by_groups,
    evenness_by_pairs,
    fit_evenness,
    slope_of_likelihood,
    spread_evenly,
)
from likewise.guided.known_groups import sharpen
from likewise.guided.outcome import evenness_without
from likewise.guided.pair_graphs import PairTrials, unseen_evenness
from likewise.guided.plain_clusters import cluster_plainly
from likewise.scale import as_blocks


def draw(seed):
    """Chances, what happened, and weights."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 60)
    chances = rng.beta(4, rng.choice([0.3, 2.0]), n)
    happened = rng.random(n) < rng.choice([0.5, 0.8, 1.0]) * chances
    return chances, happened, rng.integers(0, 3, n).astype(float), 1 / rng.integers(2, 10)


def shares_of(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.3), n)


# By hand


def test_two_of_five_certain_clusters_of_two_that_are_wrong_spread_half_by_hand():
    """-3 / (2 - e) + 2 / e - 1 / (1 - e) is zero at e = 1/2."""
    happened = np.array([1, 1, 1, 0, 0])
    assert_allclose(fit_evenness(np.ones(5), happened, base=0.5), 0.5, atol=1e-6)


def test_what_was_right_or_not_sure_enough_is_not_spread():
    assert fit_evenness(np.ones(5), np.ones(5), base=0.5) == 0
    assert fit_evenness(np.full(4, 0.6), np.array([1, 1, 1, 0]), base=0.5) == 0
    assert fit_evenness(np.empty(0), np.empty(0), base=0.5) == 0


@pytest.mark.parametrize("weight", [1e8, 1e12])
def test_answers_of_any_weight_spread_less_than_all(weight):
    """Of m that seemed sure and did not happen, in two clusters, m / (m + 1) is spread."""
    wrong, weights = np.zeros(3), np.full(3, weight)
    evenness = fit_evenness(np.ones(3), wrong, weights, base=0.5)
    assert 1 - 1e-7 < evenness < 1


def test_rows_are_like_most_of_the_others_of_their_cluster_by_hand():
    clusters = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3])
    groups = np.array([0, 0, 1, 0, 1, 2, 0, 1, 1])
    # in cluster 1 each of the two others has a group of its own, and that of the row is neither
    assert_array_equal(are_like_others(clusters, groups), [0.5, 0.5, 0, 0, 0, 0, np.nan, 1, 1])


def test_half_of_a_membership_spread_evenly_by_hand():
    assert_allclose(spread_evenly(np.array([[1.0, 0.0]]), 0.5), [[0.75, 0.25]])


# Certificate and second route


@given(st.integers(0, 10_000))
@settings(max_examples=50)
def test_the_slope_of_the_likelihood_is_zero_at_the_solution_or_falls_from_the_start(seed):
    chances, happened, weights, base = draw(seed)
    evenness = fit_evenness(chances, happened, weights, base=base)
    clipped = np.clip(chances, 1e-9, 1 - 1e-9)
    given_answers = clipped, happened.astype(float), weights, base
    if evenness == 0:
        assert slope_of_likelihood(0, *given_answers) <= 0
    else:
        step = 1e-6 * min(evenness, 1 - evenness)
        assert slope_of_likelihood(evenness - step, *given_answers) > 0
        assert slope_of_likelihood(evenness + step, *given_answers) < 0


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_it_is_the_best_of_ten_thousand_shares(seed):
    chances, happened, weights, base = draw(seed)
    e = np.linspace(0, 1, 10_001)[:-1, None]
    right = (1 - e) * np.clip(chances, 1e-9, 1 - 1e-9) + e * base
    objective = np.log(np.where(happened, right, 1 - right)) @ weights + np.log(1 - e[:, 0])
    evenness = fit_evenness(chances, happened, weights, base=base)
    assert_allclose(evenness, e[objective.argmax(), 0], atol=2e-4)


def test_the_slope_is_that_of_the_likelihood_by_finite_differences():
    chances, happened, weights, base = draw(3)

    def objective(e):
        right = (1 - e) * chances + e * base
        return np.log(np.where(happened, right, 1 - right)) @ weights + np.log(1 - e)

    for e in (0.1, 0.5, 0.9):
        numeric = (objective(e + 1e-6) - objective(e - 1e-6)) / 2e-6
        found = slope_of_likelihood(e, chances, happened.astype(float), weights, base)
        assert_allclose(found, numeric, rtol=1e-5)


# Laws


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_order_does_not_matter_and_a_weight_of_two_is_two_answers(seed):
    chances, happened, weights, base = draw(seed)
    evenness = fit_evenness(chances, happened, weights, base=base)
    order = np.random.default_rng(seed).permutation(len(chances))
    again = fit_evenness(chances[order], happened[order], weights[order], base=base)
    assert_allclose(again, evenness, atol=1e-9)
    n_times = weights.astype(int)
    repeated = np.repeat(chances, n_times), np.repeat(happened, n_times)
    assert_allclose(fit_evenness(*repeated, base=base), evenness, atol=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_one_more_that_did_not_happen_spreads_more(seed):
    chances, happened, weights, base = draw(seed)
    chances = np.maximum(chances, base)
    more = np.append(chances, 0.99), np.append(happened, False), np.append(weights, 1.0)
    before = fit_evenness(chances, happened, weights, base=base)
    assert before <= fit_evenness(*more, base=base) < 1


@given(st.integers(0, 10_000), st.floats(0, 0.99))
@settings(max_examples=30)
def test_rows_keep_their_cluster_and_sum_to_one(seed, evenness):
    shares = shares_of(20, 4, seed)
    evened = spread_evenly(shares, evenness)
    assert_allclose(evened.sum(axis=1), 1)
    assert_array_equal(evened.argmax(axis=1), shares.argmax(axis=1))


def test_clusters_have_no_order_and_groups_no_name():
    shares, groups = shares_of(60, 3), np.random.default_rng(1).integers(0, 4, 60)
    evenness = evenness_by_groups(shares, groups)
    assert 0 < evenness < 1
    assert evenness_by_groups(shares[:, [2, 0, 1]], 3 - groups) == pytest.approx(evenness)


def test_pairs_about_clusters_without_answers_count_by_their_weights(blobs):
    X, y = blobs
    plain = cluster_plainly(X, 2, 1, 0)
    some = answers_of(y, "pairs").signed_pairs()
    first, second = some[0][:40], some[0][40:70]
    once = Constraints(300, must_link=first, cannot_link=second, weights=[2.0] * 40 + [1.0] * 30)
    twice = Constraints(300, must_link=np.concatenate([first, first]), cannot_link=second)
    evenness = evenness_without(X, once, plain, None)
    assert 0 < evenness < 1
    assert evenness == pytest.approx(evenness_without(X, twice, plain, None))
    assert evenness_without(X, Constraints(300, closer=[(0, 1, 2)]), plain, None) == 0


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_held_out_pairs_judge_memberships_as_sharp_as_they_are_given(seed):
    rng = np.random.default_rng(seed)
    first, second = shares_of(30, 3, seed), shares_of(30, 3, seed + 1)
    first[:4] = np.nan  # not judged
    pairs = np.arange(60).reshape(30, 2)
    answers = Constraints(
        60, must_link=pairs[:9], cannot_link=pairs[9:], weights=rng.integers(0, 3, 30)
    )
    nothing = np.full(30, np.nan)
    evenness = unseen_evenness(PairTrials(first, second, nothing, nothing, nothing), answers, 2.5)
    sharp = sharpen(first, 2.5), sharpen(second, 2.5)
    n_times = answers.weights.astype(int)
    n_times[:4] = 0
    again = [np.repeat(shares, n_times, axis=0) for shares in sharp]
    sign = np.repeat(np.repeat([1, -1], [9, 21]), n_times)
    assert evenness == pytest.approx(evenness_by_pairs(*again, sign, np.ones(len(sign))))


def test_the_share_that_made_the_answers_is_found_again():
    rng = np.random.default_rng(0)
    shares, true = shares_of(20_000, 4), 0.3
    clusters = [rng.choice(4, p=row) for row in spread_evenly(shares, true)]
    assert evenness_by_groups(shares, np.array(clusters)) == pytest.approx(true, abs=0.02)
    pairs = rng.integers(0, len(shares), (20_000, 2))
    together = (np.array(clusters)[pairs[:, 0]] == np.array(clusters)[pairs[:, 1]]) * 2 - 1
    first, second = shares[pairs[:, 0]], shares[pairs[:, 1]]
    found = evenness_by_pairs(first, second, together, np.ones(len(pairs)))
    assert found == pytest.approx(true, abs=0.02)


# The whole


@pytest.fixture(scope="module")
def blobs():
    """Two clear clusters that have nothing to do with the two classes, three of four in one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 8 * np.eye(2)[np.arange(300) % 2]
    return X, (rng.random(300) < 0.25).astype(int)


def answers_of(y, kind):
    if kind == "pairs":
        return Constraints.from_labels(y, n_pairs=100, random_state=0)
    return Constraints.from_partial_labels(np.where(np.arange(len(y)) < 100, y, -1))


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_where_nothing_is_learned_answers_say_how_sure_the_clusters_are(blobs, kind, tmp_path):
    X, y = blobs
    plain = GuidedClustering(2, random_state=0).fit(X)
    model = GuidedClustering(2, random_state=0).fit(X, constraints=answers_of(y, kind))
    assert "nothing is learned" in model.report_.why
    assert_array_equal(model.labels_, plain.labels_)
    assert plain.evenness_ == 0
    assert plain.predict_proba(X).max(axis=1).mean() > 0.95
    shares = model.predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(shares.argmax(axis=1), model.labels_)
    assert_allclose(shares, spread_evenly(plain.predict_proba(X), model.evenness_))
    if kind == "labels":  # three of four of a cluster are in the class that most of it is in
        assert 0.65 < shares.max(axis=1).mean() < 0.85
    else:  # rows of a cluster are together as often as any
        chance = (shares[:150] * shares[150:]).sum(axis=1)
        assert_allclose(chance.mean(), np.mean(y[:150] == y[150:]), atol=0.15)
    save_model(model, tmp_path / "m.likewise")
    assert_array_equal(load_model(tmp_path / "m.likewise").predict_proba(X), shares)
    assert_allclose(model.predict_proba(as_blocks(X)), shares)


def test_labels_of_clear_clusters_leave_them_sure(blobs):
    X, _ = blobs
    y = np.arange(300) % 2
    for kind in ("labels", "pairs"):
        model = GuidedClustering(2, random_state=0).fit(X, constraints=answers_of(y, kind))
        assert model.predict_proba(X).max(axis=1).mean() > 0.9


def test_pairs_about_classes_that_overlap_leave_their_clusters_as_sure_as_they_are_right():
    """Without held-out pairs memberships are sure of 99 of 100 rows, and right about 83."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = np.column_stack([rng.normal(size=400) + 2 * y, rng.normal(size=(400, 3))])
    pairs = Constraints.from_labels(y, n_must_link=60, n_cannot_link=60, random_state=0)
    model = GuidedClustering(2, random_state=0).fit(X, constraints=pairs)
    free = np.setdiff1d(np.arange(400), pairs.touched_rows())
    sure = model.predict_proba(X)[free].max(axis=1).mean()
    right = np.mean(model.labels_[free] == y[free])
    right = max(right, 1 - right)
    assert abs(sure - right) < 0.08
    sure_before = (sure - model.evenness_ / 2) / (1 - model.evenness_)
    assert sure_before - right > 0.1
