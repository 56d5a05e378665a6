"""Strength by held-out answers, and who to trust."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import Constraints
from likewise.kernel_learning import softmax_search
from likewise.kernel_learning.softmax_search import choose_strength, fit_choices


def blobs(seed=0, n=90, r=6):
    """Rows of three classes in a few of the directions, with a mean squared distance of 1."""
    rng = np.random.RandomState(seed)
    y = np.repeat([0, 1, 2], n // 3)
    X = rng.normal(size=(n, r))
    X[:, :2] += 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    return X / np.sqrt(2 * X.var(axis=0).sum()), y


def choose(Y, answers, C=None, sharpness=None, annotator_noise=False):
    return choose_strength(
        Y, answers, C=C, sharpness=sharpness, annotator_noise=annotator_noise, seed=0
    )


def fit(Y, answers, **settings):
    defaults = {"C": None, "sharpness": None, "annotator_noise": False}
    return fit_choices(Y, answers, tol=1e-4, max_iter=500, seed=0, **(defaults | settings))


def test_with_too_few_answers_nothing_is_tried():
    Y, y = blobs()
    found = choose(Y, Constraints.from_labels(y, n_odd_one_out=15, random_state=0))
    assert (found.C, found.sharpness, found.n_trials) == (0.25, 2.0, 0)
    assert np.isnan(found.log_loss)


def test_what_is_given_is_kept():
    Y, y = blobs()
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)
    assert choose(Y, answers, C=0.7, sharpness=3.0)[:2] == (0.7, 3.0)
    assert choose(Y, answers, C=0.7).C == 0.7
    assert choose(Y, answers, sharpness=3.0).sharpness == 3.0


def test_right_answers_are_followed_more_closely_than_noisy_ones():
    Y, y = blobs()
    right = Constraints.from_labels(y, n_odd_one_out=200, random_state=0)
    noisy = Constraints.from_labels(y, n_odd_one_out=200, noise=0.4, random_state=0)
    follow_right, follow_noisy = choose(Y, right), choose(Y, noisy)
    assert follow_right.C * follow_right.sharpness > 2 * follow_noisy.C * follow_noisy.sharpness
    assert follow_right.log_loss < follow_noisy.log_loss


@pytest.mark.parametrize("n_answers", [30, 200, 1000])
def test_answers_that_mean_nothing_leave_the_start_alone(n_answers):
    Y, _ = blobs()
    rng = np.random.RandomState(0)
    triples = np.array([rng.choice(90, 3, replace=False) for _ in range(n_answers)])
    fitted = fit(Y, Constraints(90, odd_one_out=triples))
    assert fitted.strength.C == 0
    assert_array_equal(fitted.metric, np.eye(6))
    assert not fitted.duals.any()


def test_the_climb_finds_the_best_of_a_whole_grid():
    Y, y = blobs(1)
    answers = Constraints.from_labels(y, n_odd_one_out=300, noise=0.2, random_state=1)
    best = choose(Y, answers)
    grid = [
        choose(Y, answers, C=C, sharpness=sharpness).log_loss
        for C in 2.0 ** np.arange(-5, 3)
        for sharpness in (0.5, 2.0, 8.0)
    ]
    assert best.log_loss <= min(grid) + 0.01


def test_many_answers_are_judged_by_one_fold_that_tells_the_same(monkeypatch):
    Y, y = blobs()
    answers = Constraints.from_labels(y, n_odd_one_out=600, noise=0.2, random_state=0)
    by_three = choose(Y, answers)
    monkeypatch.setattr(softmax_search, "MANY", 600)
    by_one = choose(Y, answers)
    assert by_one.log_loss != by_three.log_loss
    one, three = by_one.C * by_one.sharpness, by_three.C * by_three.sharpness
    assert 0.25 <= one / three <= 4


def panel(y, shares, n_answers, seed=0):
    """Answers of annotators with shares of wrong ones, and which are wrong."""
    told, wrong = Constraints(len(y)), []
    for i, (name, share) in enumerate(shares.items()):
        kinds = {"n_odd_one_out": n_answers, "random_state": seed + i}
        right = Constraints.from_labels(y, **kinds).odd_one_out
        said = Constraints.from_labels(y, noise=share, **kinds).odd_one_out
        told += Constraints(len(y), odd_one_out=said, annotators=[name] * n_answers)
        wrong.append((said != right).any(axis=1))
    return told, np.concatenate(wrong)


def test_reliability_is_recovered_and_slips_are_found():
    Y, y = blobs()
    shares = {"careful": 0.0, "hasty": 0.2, "contrary": 1.0}
    told, is_wrong = panel(y, shares, 150)
    fitted = fit(Y, told, annotator_noise=True)
    assert_array_equal(fitted.annotators, ["careful", "contrary", "hasty"])
    assert_allclose(fitted.reliabilities, [1.0, 0.0, 0.7], atol=0.15)
    suspected = fitted.trust < 0.5
    assert is_wrong[suspected].mean() > 0.9
    assert suspected[is_wrong].mean() > 0.8


def test_slips_are_found_where_directions_are_enough_to_explain_every_one():
    Y, y = blobs(r=85)
    told, is_wrong = panel(y, {"hasty": 0.2}, 200)
    suspected = fit(Y, told, C=1.0, sharpness=2.0, annotator_noise=True).trust < 0.5
    assert is_wrong[suspected].mean() > 0.75
    assert suspected[is_wrong].mean() > 0.5


def test_trusting_the_right_people_learns_more():
    Y, y = blobs()
    told, _ = panel(y, {"a": 0.0, "b": 0.0, "contrary": 1.0}, 100)
    fresh = Constraints.from_labels(y, n_odd_one_out=500, random_state=99)
    a, b, odd = fresh.odd_one_out.T

    def right(fitted):
        Z = Y @ fitted.root
        near = np.square(Z[a] - Z[b]).sum(axis=1)
        return (near < np.square(Z[a] - Z[odd]).sum(axis=1)).mean()

    assert right(fit(Y, told, annotator_noise=True)) > right(fit(Y, told))


def test_undecided_answers_are_no_slips_and_the_unnamed_are_one_annotator():
    Y, y = blobs()
    told = Constraints.from_labels(y, n_odd_one_out=100, n_undecided=20, noise=0.1, random_state=0)
    told = Constraints(90, odd_one_out=told.odd_one_out, undecided=told.undecided)
    fitted = fit(Y, told, annotator_noise=True)
    assert_array_equal(fitted.annotators, [""])
    assert (fitted.trust[told.positions("undecided")] == 1).all()
    assert fitted.reliabilities[0] == pytest.approx(0.85, abs=0.1)


def test_without_answers_the_start_stays():
    Y, _ = blobs()
    fitted = fit(Y, Constraints(90), annotator_noise=True)
    assert_array_equal(fitted.metric, np.eye(6))
    assert fitted.chosen.converged
