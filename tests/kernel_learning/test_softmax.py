"""Kernels under which people's choices are likely: the convex problem and its certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.linalg import inv
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, brentq
from scipy.sparse import issparse
from scipy.special import expit

from likewise import Constraints
from likewise.kernel_learning import softmax
from likewise.kernel_learning.softmax import (
    calibrate,
    choices_of,
    embed_root,
    learn_choices,
    log_loss,
    objective,
    option_chances,
    option_sq_distances,
    pull_laplacian,
    rest_of,
    span_of_rows,
    split_directions,
)
from tests.clarabel import solve_by_clarabel

seeds = st.integers(0, 10_000)
KINDS = {
    "n_odd_one_out": 12,
    "n_closer": 8,
    "n_undecided": 4,
    "n_must_link": 5,
    "n_cannot_link": 6,
}


def draw(seed, n=15, r=4, **kinds):
    """Rows, and answers of every kind, some of them wrong."""
    rng = np.random.RandomState(seed)
    y = np.repeat([0, 1, 2], n // 3)
    answers = Constraints.from_labels(y, **(kinds or KINDS), noise=0.3, random_state=seed)
    return rng.normal(size=(n, r)), answers


def learn(Y, answers, C=1.0, tol=1e-9, **settings):
    return learn_choices(Y, choices_of(answers), C=C, tol=tol, max_iter=3000, **settings)


def test_one_closer_answer_moves_the_two_distances_as_on_paper():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    fitted = learn(Y, Constraints(3, closer=[(0, 1, 2)]), C=0.5)
    # d(0, 1) = M_00, d(0, 2) = M_11, and with p the chance of the other answer
    # 1 - 1 / M_00 + C p = 0 and 1 - 1 / M_11 - C p = 0.
    p = brentq(lambda p: expit(1 / (1 + 0.5 * p) - 1 / (1 - 0.5 * p)) - p, 0, 1)
    assert_allclose(fitted.metric, np.diag([1 / (1 + 0.5 * p), 1 / (1 - 0.5 * p)]), atol=1e-6)
    assert_allclose(fitted.chances, [[1 - p, p, 0]], atol=1e-6)


def test_a_must_link_shrinks_its_distance_and_raises_the_threshold_as_on_paper():
    Y = np.array([[0.0], [1.0]])
    fitted = learn(Y, Constraints(2, must_link=[(0, 1)]), C=0.5)
    # The threshold starts at the mean squared distance, 1/2, and T = t / (1/2) pays as M does.
    p = brentq(lambda p: expit(1 / (1 + 0.5 * p) - 0.5 / (1 - 0.25 * p)) - p, 0, 1)
    assert_allclose(fitted.metric, [[1 / (1 + 0.5 * p)]], atol=1e-6)
    assert_allclose(fitted.threshold, 0.5 / (1 - 0.25 * p), atol=1e-6)
    assert np.isnan(learn(Y, Constraints(2)).threshold)


def test_every_kind_offers_its_options():
    answers = Constraints(
        6,
        must_link=[(0, 1)],
        cannot_link=[(1, 0)],
        odd_one_out=[(0, 1, 2)],
        closer=[(3, 4, 5)],
        undecided=[(2, 1, 0)],
    )
    choices = choices_of(answers)
    ends = [
        [tuple(choices.pairs[i]) for i in row if i < len(choices.pairs)] for row in choices.options
    ]
    threshold = (6, 7)
    assert ends[0] == ends[1] == [(0, 1), threshold]
    assert ends[2] == [(0, 1), (0, 2), (1, 2)]
    assert ends[3] == [(3, 4), (3, 5)]
    assert ends[4] == [(1, 2), (0, 2), (0, 1)]
    assert len(choices.pairs) == 6  # the same pair is one pair
    assert_allclose(
        choices.targets, [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1 / 3, 1 / 3, 1 / 3]]
    )


@given(seeds, st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=15)
def test_the_optimum_carries_its_own_proof(seed, C):
    Y, answers = draw(seed)
    fitted = learn(Y, answers, C)
    choices = choices_of(answers)
    G = Y.T @ (pull_laplacian(fitted.chances, choices, C, len(Y) + 2)[: len(Y), : len(Y)] @ Y)
    assert fitted.converged
    assert -1e-12 <= fitted.gap <= 1e-9
    assert_allclose(inv(fitted.metric), np.eye(4) + G, atol=1e-3 * max(1, np.abs(G).max()))
    assert_allclose(fitted.chances.sum(axis=1), 1)


@given(seeds)
@settings(max_examples=10)
def test_the_gap_never_undercuts_the_distance_to_the_optimum(seed):
    Y, answers = draw(seed)
    choices = choices_of(answers)
    rng = np.random.RandomState(seed)
    best = learn(Y, answers, tol=1e-10).root
    Y = softmax._with_threshold(Y)
    least = objective(best, Y, choices, 1.0)[0]
    for size in (1e-3, 1e-2):
        W = best + size * rng.normal(size=best.shape)
        value = objective(W, Y, choices, 1.0)[0]
        gap = softmax.duality_gap(W, Y, choices, 1.0) * max(1, abs(value))
        assert np.isfinite(gap) or size > 1e-3  # farther away there may be no dual point: inf
        assert gap >= value - least - 1e-8


@given(seeds)
@settings(max_examples=8)
def test_the_gradient_is_that_of_finite_differences(seed):
    Y, answers = draw(seed, r=3)
    choices, Y = choices_of(answers), softmax._with_threshold(Y)
    W = np.eye(4) + 0.2 * np.random.RandomState(seed).normal(size=(4, 4))
    slopes = approx_fprime(
        W.ravel(), lambda w: objective(w.reshape(4, 4), Y, choices, 0.7)[0], 1e-7
    )
    assert_allclose(objective(W, Y, choices, 0.7)[1].ravel(), slopes, rtol=1e-4, atol=1e-4)


def test_an_interior_point_solver_agrees():
    Y, answers = draw(3, n=9, r=3, n_odd_one_out=5, n_closer=3, n_undecided=2)
    M = cp.Variable((3, 3), PSD=True)
    loss = 0
    for answer in answers.answers():
        a, b, c = Y[list(answer.points)]
        ends = [(a, b), (a, c)] + ([] if answer.kind == "closer" else [(b, c)])
        sq_dists = cp.hstack([cp.trace(M @ np.outer(p - q, p - q)) for p, q in ends])
        said = cp.sum(sq_dists) / 3 if answer.kind == "undecided" else sq_dists[0]
        loss += said + cp.log_sum_exp(-sq_dists)
    problem = cp.Problem(cp.Minimize(cp.trace(M) - cp.log_det(M) + 0.8 * loss))
    point_tol = solve_by_clarabel(problem).point_tol(1e-4)
    fitted = learn(Y, answers, 0.8)
    assert_allclose(fitted.metric, M.value, atol=point_tol)


def test_whole_matrices_and_chosen_pairs_give_the_same(monkeypatch):
    Y, answers = draw(1)
    monkeypatch.setattr(softmax, "DENSE_PAIRS", 0.0)
    dense = learn(Y, answers)
    assert not issparse(pull_laplacian(dense.chances, choices_of(answers), 1.0, len(Y) + 2))
    monkeypatch.setattr(softmax, "DENSE_PAIRS", 1.0)
    sparse = learn(Y, answers)
    assert issparse(pull_laplacian(sparse.chances, choices_of(answers), 1.0, len(Y) + 2))
    assert_allclose(dense.metric, sparse.metric, atol=1e-6)


def test_the_span_of_few_rows_holds_all_that_is_learned():
    Y, answers = draw(2, n=9, r=30)
    whole = learn(Y, answers)
    basis, small = span_of_rows(Y)
    assert small.shape == (9, 9)
    assert_allclose(basis.T @ basis, np.eye(9), atol=1e-10)
    in_span = learn(small, answers).metric
    assert_allclose(np.eye(30) + basis @ (in_span - np.eye(9)) @ basis.T, whole.metric, atol=1e-4)
    assert span_of_rows(Y[:, :5])[0] is None


@given(seeds)
@settings(max_examples=8)
def test_the_order_of_answers_does_not_matter_and_turning_the_rows_turns_the_metric(seed):
    Y, answers = draw(seed)
    turn = np.linalg.qr(np.random.RandomState(seed).normal(size=(4, 4)))[0]
    shuffled = answers.subset(np.random.RandomState(seed).permutation(answers.n_answers))
    metric = learn(Y, answers).metric
    assert_allclose(learn(Y, shuffled).metric, metric, atol=1e-4)
    assert_allclose(learn(Y @ turn, answers).metric, turn.T @ metric @ turn, atol=1e-4)


def test_a_weight_of_two_is_the_answer_given_twice_and_of_zero_not_given():
    Y, answers = draw(5)
    weights = np.arange(answers.n_answers) % 3
    told = [answers.subset(weights >= times) for times in (1, 2)]
    weighted = choices_of(answers)._replace(weights=weights.astype(float))
    by_weight = learn_choices(Y, weighted, C=1.0, tol=1e-9, max_iter=3000)
    assert_allclose(by_weight.metric, learn(Y, told[0] + told[1]).metric, atol=1e-4)


def test_going_on_from_a_root_ends_where_a_fresh_start_does():
    Y, answers = draw(7)
    fresh = learn(Y, answers, C=2.0)
    onward = learn(Y, answers, C=2.0, root=learn(Y, answers, C=0.5).root)
    assert_allclose(onward.metric, fresh.metric, atol=1e-4)


@pytest.mark.parametrize("C", [0.01, 4.0])
def test_a_trial_ends_near_the_optimum_wherever_it_comes_from(C):
    Y, answers = draw(7, n=30, r=10, n_odd_one_out=200)
    best = learn(Y, answers, C=C)
    root = learn(Y, answers, C=0.25).root
    trial = learn(Y.astype(np.float32), answers, C=C, tol=1e-3, root=root, certify=False)
    choices = choices_of(answers)
    values = [objective(one.root.astype(float), Y, choices, C)[0] for one in (trial, best)]
    assert values[0] <= 1.01 * values[1]


def test_single_precision_tells_much_the_same():
    Y, answers = draw(8)
    double = learn(Y, answers)
    single = learn(Y.astype(np.float32), answers, tol=1e-4, certify=False)
    assert single.root.dtype == np.float32
    assert_allclose(single.metric, double.metric, atol=0.05)


def test_stronger_answers_are_likelier():
    Y, answers = draw(9)
    choices = choices_of(answers)
    losses = [
        log_loss(learn(Y, answers, C).sq_dists, choices.targets, choices.weights)
        for C in (0.01, 0.3, 10.0)
    ]
    assert losses[0] > losses[1] > losses[2]


def test_too_few_steps_are_not_called_converged():
    Y, answers = draw(10)
    fitted = learn_choices(Y, choices_of(answers), C=10.0, tol=1e-9, max_iter=2)
    assert not fitted.converged
    assert fitted.n_iter == 2


def test_chances_and_loss_are_those_of_a_softmax():
    sq_dists = np.array([[1.0, 2.0, np.inf], [0.0, 0.0, 0.0], [900.0, 0.0, 1.0]])
    chances, _ = option_chances(sq_dists)
    assert_allclose(chances[0], [expit(1.0), expit(-1.0), 0])
    assert_allclose(chances[1], 1 / 3)
    targets = np.array([[1.0, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0]])
    weights = np.array([2.0, 1.0, 0.0])
    expected = (2 * -np.log(expit(1.0)) + np.log(3)) / 3
    assert_allclose(log_loss(sq_dists, targets, weights), expected)
    half_guessed = (2 * -np.log(0.5 * expit(1.0) + 0.25) + np.log(3)) / 3
    assert_allclose(log_loss(sq_dists, targets, weights, guessed=0.5), half_guessed)


def test_calibration_finds_the_scale_that_made_the_answers():
    rng = np.random.RandomState(0)
    sq_dists = rng.exponential(size=(20_000, 3))
    chances, _ = option_chances(2.5 * sq_dists)
    said = (rng.uniform(size=(20_000, 1)) > chances.cumsum(axis=1)[:, :2]).sum(axis=1)
    scale, loss = calibrate(sq_dists, np.eye(3)[said], np.ones(20_000))
    assert_allclose(scale, 2.5, rtol=0.05)
    assert loss < log_loss(sq_dists, np.eye(3)[said], np.ones(20_000))


def test_distances_of_options_are_those_of_the_rows():
    Z = np.array([[0.0], [1.0], [3.0]])
    answers = Constraints(3, odd_one_out=[(0, 1, 2)], closer=[(2, 1, 0)], must_link=[(0, 2)])
    found = option_sq_distances(Z, choices_of(answers), threshold=7.0)
    expected = {"must_link": [9, 7, np.inf], "odd_one_out": [1, 9, 4], "closer": [4, 9, np.inf]}
    assert_array_equal(found, [expected[kind] for kind in answers.kinds])


@pytest.mark.parametrize("kinds", [{"n_odd_one_out": 40}, {"n_odd_one_out": 20, "n_pairs": 20}])
def test_directions_that_stay_enter_value_gradient_and_gap(kinds):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    Y = rng.normal(size=(30, 6)) * [3, 2, 1, 0.5, 0.3, 0.2] / 3
    choices = choices_of(Constraints.from_labels(y, random_state=0, **kinds))
    leading, others = split_directions(Y, 3)
    assert leading.tolist() == [0, 1, 2]
    rest = rest_of(Y[:, others], choices)
    part = learn_choices(Y[:, leading], choices, C=0.3, tol=1e-8, max_iter=500, rest=rest)
    assert part.converged
    whole = embed_root(part.root, leading, 6)
    full = learn_choices(Y, choices, C=0.3, tol=1.0, max_iter=0, root=whole)
    assert_allclose(full.sq_dists, part.sq_dists)  # the same distances by both routes
    assert_allclose(full.divergence, part.divergence)
    best = learn_choices(Y, choices, C=0.3, tol=1e-8, max_iter=500, root=whole)
    from_start = learn_choices(Y, choices, C=0.3, tol=1e-8, max_iter=500)
    assert_allclose(best.sq_dists, from_start.sq_dists, rtol=1e-3)


def test_few_directions_are_all_learned_at_once():
    leading, others = split_directions(np.random.default_rng(0).normal(size=(20, 12)), 10)
    assert len(leading) == 12
    assert not len(others)
    assert rest_of(np.empty((20, 0)), None) is None
