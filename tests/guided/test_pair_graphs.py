"""Clusters from pairs over joined graphs: by hand, laws, and what noise may do."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_wine
from likewise.guided import pair_graphs
from likewise.guided.outcome import are_mostly_pairs
from likewise.guided.pair_graphs import (
    FREE,
    HELD,
    PRICED,
    PairTrials,
    are_trusted,
    chances,
    choose_step,
    clean_checks,
    doubt_answers,
    fit_power_and_errors,
    join_graphs,
    last_steps,
    memberships_of,
    never_contradict,
    strongest_edges,
    to_power,
    unseen_credits,
)


def draw(y, n, seed=0, noise=0.0):
    return Constraints.from_labels(
        y, n_must_link=n // 2, n_cannot_link=n // 2, noise=noise, random_state=seed
    )


def trials_of(hits, right=0.9):
    hits = np.asarray(hits, dtype=float)
    n = hits.shape[-1]
    nothing = np.full((n, 2), np.nan)
    return PairTrials(nothing, nothing, hits, np.broadcast_to(right, n), np.full(n, np.nan))


def some_pairs(n):
    return Constraints(2 * n, must_link=np.arange(2 * n).reshape(n, 2))


def test_chances_of_pairs_by_hand():
    first, second = np.array([[0.8, 0.2]] * 2), np.array([[0.5, 0.5], [0.9, 0.1]])
    assert_allclose(chances(first, second, np.array([1, -1]), 1.0), [0.5, 1 - 0.74])


def test_the_chance_that_an_answer_is_wrong_is_bayes_rule():
    assert_allclose(doubt_answers(np.array([0.5, 0.02]), 0.05), [0.05, 0.049 / (0.049 + 0.019)])


def test_wrong_answers_do_not_make_memberships_flat():
    """Four of five pairs are as sure memberships say; the fifth is a wrong answer, not a doubt."""
    first = np.tile([[0.999, 0.001]], (200, 1))
    sign = np.where(np.arange(200) % 5 == 0, -1, 1)
    sharpness, rate = fit_power_and_errors(partial(chances, first, first, sign))
    assert sharpness > 0.4  # without a rate of errors .25 fits best
    assert rate >= 0.1


def test_odds_to_a_power_by_hand():
    assert_allclose(to_power(np.array([0.8, 0.5, 0.2]), 2.0), [16 / 17, 0.5, 1 / 17])


def test_what_one_way_alone_contradicts_is_not_doubted():
    """The clusters of the average are sure and wrong about 10 of 60; the ways differ there."""
    pairs, contradicted = some_pairs(60), np.arange(60) < 10
    first = np.where(contradicted[:, None], [[0.01, 0.99]], [[0.99, 0.01]])
    second = np.tile([[0.99, 0.01]], (60, 1))
    for by_ways, n_doubted in ((0.4, 0), (0.02, 10)):
        right = np.where(contradicted, by_ways, 0.95)
        trials = PairTrials(first, second, np.ones((3, 60)), right, np.full(60, np.nan))
        unseen = unseen_credits(trials, pairs)
        wrong = doubt_answers(unseen.credits, unseen.error_rate)
        assert np.count_nonzero(wrong > 0.5) == n_doubted


def test_many_answers_are_wrong_where_far_more_are_contradicted_than_expected():
    """Of 20 answers 6 are contradicted; memberships expect 6, or 1."""
    flat, contradicted = np.tile([[0.5, 0.5]], (20, 1)), np.arange(20) < 6
    for margin, least in ((0.2, 0.0), (0.45, 0.2)):
        right = np.where(contradicted, 0.5 - margin, 0.5 + margin)
        trials = PairTrials(flat, flat, np.ones((3, 20)), right, np.full(20, np.nan))
        rate = unseen_credits(trials, some_pairs(20)).error_rate
        assert rate >= least
        assert least or rate < 0.2


def test_answers_hold_unless_held_out_ones_say_otherwise():
    hits = np.ones((3, 40))
    assert choose_step(trials_of(hits), some_pairs(40), 0.05, False) == HELD
    assert choose_step(trials_of(hits), some_pairs(40), 0.2, True) == HELD
    assert choose_step(trials_of(hits), some_pairs(40), 0.2, False) == FREE  # too many wrong
    hits[HELD, :20] = hits[PRICED, :10] = 0
    assert choose_step(trials_of(hits), some_pairs(40), 0.05, False) == FREE


def test_no_answer_is_doubted_where_holding_helps_or_where_contradictions_are_expected():
    hits, pairs = np.ones((3, 40)), some_pairs(40)
    contradicted = np.arange(40) < 12
    unsure, sure = np.where(contradicted, 0.3, 0.7), np.where(contradicted, 0.02, 0.98)
    assert are_trusted(trials_of(hits, unsure), pairs, 0.2)  # as many as expected: hard data
    assert not are_trusted(trials_of(hits, sure), pairs, 0.2)  # 12 of 40 where 1 is expected
    assert not are_trusted(trials_of(hits, unsure), pairs, 0.3)  # nor are data as hard as that
    hits[FREE, :4] = 0  # holding helps by two standard errors
    assert are_trusted(trials_of(hits, sure), pairs, 0.2)
    assert not are_trusted(trials_of(hits, sure), pairs, 0.3)
    hits[FREE, :20] = 0  # by more
    assert are_trusted(trials_of(hits, sure), pairs, 0.3)
    hits[FREE], hits[HELD, :20] = 1, 0  # holding hurts
    assert not are_trusted(trials_of(hits, sure), pairs, 0.2)


def test_answers_that_check_each_other_are_those_of_careful_people_about_hard_data():
    hits = np.ones((3, 19))
    contradicted = np.where(np.arange(19) < 6, 0.02, 0.98)  # more than memberships expect
    ring = [(i, (i + 1) % 10) for i in range(10)]
    chords = [(i, i + 2) for i in range(9)]
    assert are_trusted(trials_of(hits, contradicted), Constraints(20, must_link=ring + chords), 0.3)
    chain = [(i, i + 1) for i in range(19)]  # the same, but none checks another
    assert not are_trusted(trials_of(hits, contradicted), Constraints(20, must_link=chain), 0.3)
    wrong = Constraints(20, must_link=ring + chords[:8], cannot_link=[(0, 5)])
    assert not are_trusted(trials_of(hits, contradicted), wrong, 0.3)


def test_checks_of_answers_by_hand():
    ring = [(0, 1), (1, 2), (2, 0)]
    assert clean_checks(Constraints(6, must_link=ring)) == 1
    assert clean_checks(Constraints(6, must_link=ring, cannot_link=[(0, 3), (1, 3), (2, 4)])) == 2
    assert clean_checks(Constraints(6, must_link=ring, cannot_link=[(0, 3), (0, 1), (1, 3)])) == 0
    assert clean_checks(Constraints(6)) == 0


def test_the_last_steps_by_hand():
    E = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    answers = Constraints(6, must_link=[(0, 3)], cannot_link=[(1, 2)])
    held, _, free = last_steps(E, answers, np.array([[0.1], [1.1]]))
    assert_array_equal(free, [0, 0, 0, 1, 1, 1])
    assert held[0] == held[3]
    assert held[1] != held[2]
    assert_array_equal(held[[4, 5]], [1, 1])
    contradicted = answers + Constraints(6, cannot_link=[(0, 3)])
    held, priced, _ = last_steps(E, contradicted, np.array([[0.1], [1.1]]))
    assert_array_equal(held, priced)


def test_a_row_that_answers_moved_belongs_to_its_new_cluster_alone():
    E, centers = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]])
    memberships = memberships_of(E, np.array([1, 1]), centers, 1.0)
    assert_array_equal(memberships[0], [0, 1])
    assert_allclose(memberships.sum(axis=1), 1)


def test_the_order_of_the_rows_does_not_change_the_joined_graphs():
    rng = np.random.default_rng(0)
    y, order = np.repeat([0, 1, 2], 30), rng.permutation(90)
    X = rng.normal(size=(90, 3)) + y[:, None]
    answers = draw(y, 40)
    A = join_graphs([X, X**3], answers)
    back = np.argsort(order)
    moved = Constraints(
        90, must_link=back[answers.must_link], cannot_link=back[answers.cannot_link]
    )
    permuted = join_graphs([X[order], X[order] ** 3], moved)
    assert_allclose(permuted, A[np.ix_(order, order)], atol=1e-5)
    edges = strongest_edges(A, 5).toarray()
    assert_allclose(strongest_edges(permuted, 5).toarray(), edges[np.ix_(order, order)], atol=1e-5)


@pytest.mark.parametrize("block", [1, 3, 20])
def test_edges_are_the_same_however_many_rows_are_looked_at_at_once(monkeypatch, block):
    A = np.random.RandomState(0).randn(20, 20)
    A += A.T
    whole = strongest_edges(A, 4).toarray()
    monkeypatch.setattr(pair_graphs, "BLOCK", block)
    assert_allclose(strongest_edges(A, 4).toarray(), whole)


def test_the_strongest_edges_by_hand():
    A = np.array([[9.0, 3, 1, -2], [3, 9, 2, 0], [1, 2, 9, -1], [-2, 0, -1, 9]])
    edges = strongest_edges(A, 1).toarray()
    by_hand = np.zeros((4, 4))
    by_hand[0, 1] = by_hand[1, 0] = 6  # each is the other's strongest
    by_hand[1, 2] = by_hand[2, 1] = 2
    assert_allclose(edges, by_hand, atol=1e-10)
    assert (edges.sum(axis=1) > 0).all()  # a row that all others push away keeps an edge
    assert_allclose(np.diag(strongest_edges(A).toarray()), 0)  # fewer rows than edges


def test_right_answers_hold_and_help():
    wine = load_wine()
    answers = draw(np.asarray(wine.y), 100)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    plain = GuidedClustering(3, random_state=0).fit(wine.X).labels_
    gain = adjusted_rand_score(wine.y, model.labels_) - adjusted_rand_score(wine.y, plain)
    assert gain > 0.04
    assert len(model.doubtful_) <= 2
    assert set(model.violated_) <= set(model.doubtful_)


def test_a_tenth_of_wrong_answers_is_found_and_does_no_harm():
    wine = load_wine()
    y = np.asarray(wine.y)
    answers = draw(y, 200, noise=0.1)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    pairs, sign = answers.signed_pairs()
    is_wrong = (y[pairs[:, 0]] == y[pairs[:, 1]]) != (sign > 0)
    assert is_wrong[model.doubtful_].sum() >= 15  # of 20
    assert is_wrong[model.doubtful_].mean() > 0.8
    plain = GuidedClustering(3, random_state=0).fit(wine.X).labels_
    assert adjusted_rand_score(y, model.labels_) >= adjusted_rand_score(y, plain)


def test_mostly_triples_are_left_to_learned_spaces():
    y = np.repeat([0, 1], 30)
    pairs = draw(y, 20)
    triples = Constraints.from_labels(y, n_odd_one_out=30, random_state=0)
    assert are_mostly_pairs(pairs)
    assert not are_mostly_pairs(pairs + triples)
    assert not are_mostly_pairs(triples)


def test_a_model_of_pairs_is_the_same_after_a_file(tmp_path):
    wine = load_wine()
    model = GuidedClustering(3, random_state=0)
    model.fit(wine.X, constraints=draw(np.asarray(wine.y), 60))
    save_model(model, tmp_path / "m.likewise")
    again = load_model(tmp_path / "m.likewise")
    assert_array_equal(again.predict(wine.X), model.predict(wine.X))
    assert_allclose(again.predict_proba(wine.X), model.predict_proba(wine.X))


def test_answers_that_check_each_other_often_and_never_disagree_are_right_by_hand():
    ring = [(i, (i + 1) % 30) for i in range(30)]  # 29 span it, one checks
    chords = [(i, (i + 7) % 30) for i in range(10)]
    apart = [(i, 30 + i % 2) for i in range(12)]  # 2 say it, 10 check; 30 and 31 are alone
    enough = Constraints(40, must_link=ring + chords[:9], cannot_link=apart)
    assert never_contradict(enough)
    assert not never_contradict(Constraints(40, must_link=ring + chords[:8], cannot_link=apart))
    one_wrong = Constraints(40, must_link=ring + chords, cannot_link=[*apart, (0, 15)])
    assert not never_contradict(one_wrong)
    again = Constraints(40, must_link=ring * 2, cannot_link=[])  # the same questions check nothing
    assert not never_contradict(again)
    assert not never_contradict(Constraints(40))


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_few_wrong_answers_among_many_contradict_the_others(noise):
    y = np.arange(150) % 3
    pairs = {"n_must_link": 200, "n_cannot_link": 200}
    for seed in range(5):
        assert never_contradict(Constraints.from_labels(y, **pairs, random_state=seed))
        wrong = Constraints.from_labels(y, **pairs, noise=noise, random_state=seed)
        assert not never_contradict(wrong)
