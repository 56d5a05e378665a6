"""Several feature tables of the same rows, weighed by the answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import (
    ChoiceKernel,
    Constraints,
    GuidedClustering,
    JoinedViews,
    load_model,
    save_model,
)
from likewise.evaluation import held_out_accuracy
from likewise.kernel_learning.joined_views import learn_view_weights, view_cost, view_distances
from likewise.kernel_learning.softmax import choices_of

Y = np.arange(90) % 3


def two_views(seed=0, loud=50.0):
    """A table that follows the classes, and a wider and louder one that does not."""
    rng = np.random.default_rng(seed)
    right = np.eye(3)[Y] + 0.5 * rng.normal(size=(90, 3))
    return np.hstack([right, loud * rng.normal(size=(90, 20)) + 7])


def answers_of(seed=0, n=120, **kinds):
    return Constraints.from_labels(Y, random_state=seed, **(kinds or {"n_odd_one_out": n}))


def test_without_answers_every_view_has_the_same_mean_squared_length():
    X = two_views()
    Z = JoinedViews([3, 20]).fit(X).transform(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose([np.square(Z[:, :3]).sum() / 90, np.square(Z[:, 3:]).sum() / 90], 0.5)


@pytest.mark.parametrize(
    "kinds", [{"n_odd_one_out": 120}, {"n_must_link": 200, "n_cannot_link": 200}]
)
def test_the_view_that_answers_follow_gets_the_weight(kinds):
    X = two_views()
    joined = JoinedViews([3, 20]).fit(X, constraints=answers_of(**kinds))
    assert joined.weights_[0] > 0.9
    assert_allclose(joined.weights_.sum(), 1)
    assert joined.n_answers_used_ == sum(kinds.values())


@pytest.mark.parametrize("draw", range(5))
def test_a_few_answers_that_all_fit_still_tell_wide_noise(draw):
    rng = np.random.default_rng(draw)
    X = np.hstack([np.eye(3)[Y] + rng.normal(size=(90, 3)) / 4, rng.normal(size=(90, 100))])
    joined = JoinedViews([3, 100]).fit(X, constraints=answers_of(draw, n=30))
    assert joined.weights_[0] > 0.9


@pytest.mark.parametrize("draw", range(3))
def test_of_three_views_noise_goes_and_two_that_help_stay(draw):
    rng = np.random.default_rng(draw)
    noise = rng.normal(size=(90, 100))
    useful = [np.eye(3)[Y] + 0.6 * rng.normal(size=(90, 3)) for _ in range(2)]
    X = np.hstack([useful[0], noise, useful[1]])
    joined = JoinedViews([3, 100, 3]).fit(X, constraints=answers_of(draw, n=200))
    assert joined.weights_[1] < 0.2
    assert joined.weights_[[0, 2]].min() > 0.3


def test_answers_that_follow_no_view_leave_the_weights_about_equal():
    X, rng = two_views(), np.random.default_rng(3)
    answers = Constraints.from_labels(rng.permutation(Y), n_odd_one_out=60, random_state=0)
    weights = JoinedViews([3, 20]).fit(X, constraints=answers).weights_
    assert 0.15 < weights[0] < 0.85


def test_fewer_than_20_answers_leave_them_equal():
    joined = JoinedViews([3, 20]).fit(two_views(), constraints=answers_of(n=19))
    assert_allclose(joined.weights_, 0.5)
    assert joined.n_answers_used_ == 0


def test_units_of_a_table_do_not_matter():
    X, answers = two_views(), answers_of()
    louder = X * np.repeat([1000.0, 0.001], [3, 20]) + 5
    one, other = (JoinedViews([3, 20]).fit(rows, constraints=answers) for rows in (X, louder))
    assert_allclose(one.weights_, other.weights_, rtol=1e-4)
    assert_allclose(one.transform(X), other.transform(louder), rtol=1e-3, atol=1e-6)


def test_the_order_of_views_goes_with_their_weights():
    X, answers = two_views(), answers_of()
    swapped = np.hstack([X[:, 3:], X[:, :3]])
    one = JoinedViews([3, 20]).fit(X, constraints=answers).weights_
    other = JoinedViews([20, 3]).fit(swapped, constraints=answers).weights_
    assert_allclose(one, other[::-1], rtol=1e-3)


@pytest.mark.parametrize("kinds", [{"n_odd_one_out": 30}, {"n_must_link": 15, "n_cannot_link": 15}])
def test_the_gradient_is_that_of_finite_differences(kinds):
    choices = choices_of(answers_of(**kinds))
    sq_dists = view_distances(two_views(loud=1.0), choices, np.array([0, 3, 23]))
    at = np.random.default_rng(0).normal(size=len(sq_dists))
    slope = view_cost(at, sq_dists, choices, 2)[1]
    finite = approx_fprime(at, lambda x: view_cost(x, sq_dists, choices, 2)[0], 1e-6)
    assert_allclose(slope, finite, rtol=1e-4, atol=1e-4)


def test_a_grid_finds_no_better_weights():
    Z, answers, edges = two_views(loud=0.3), answers_of(), np.array([0, 3, 23])
    choices = choices_of(answers)
    sq_dists = view_distances(Z, choices, edges)
    found = learn_view_weights(Z, answers, edges)
    axis = np.linspace(-6, 4, 41)
    costs = [[view_cost(np.array([a, b]), sq_dists, choices, 2)[0] for b in axis] for a in axis]
    i, j = np.unravel_index(np.argmin(costs), (41, 41))
    best = 2.0 ** axis[[i, j]]
    assert_allclose(found, best / best.sum(), atol=0.05)


def test_a_view_that_is_the_same_for_all_rows_does_no_harm():
    X = np.hstack([two_views()[:, :3], np.ones((90, 2))])
    Z = JoinedViews([3, 2]).fit(X, constraints=answers_of()).transform(X)
    assert np.isfinite(Z).all()


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([3, 21], "add up to 24 columns, and X has 23"),
        ([0, 23], "widths of 1 or more"),
        ([], "widths"),
    ],
)
def test_views_that_do_not_fit_are_refused(views, message):
    with pytest.raises(ValueError, match=message):
        JoinedViews(views).fit(two_views())


def test_people_s_choices_are_learned_in_the_joined_space(tmp_path):
    X, answers = two_views(), answers_of(n=100)
    space = ChoiceKernel(views=[3, 20], random_state=0).fit(X, constraints=answers)
    alone = ChoiceKernel(random_state=0).fit(X, constraints=answers)
    others = answers_of(seed=1)
    assert space.view_weights_[0] > 0.8
    joined_accuracy, accuracy = (
        held_out_accuracy(one.transform(X), others) for one in (space, alone)
    )
    assert joined_accuracy > accuracy + 0.1
    assert_allclose(space.kernel(X[:5], X), space.transform(X[:5]) @ space.transform(X).T)
    path = tmp_path / "space.likewise"
    save_model(space, path)
    assert_allclose(load_model(path).transform(X), space.transform(X))


def test_views_and_a_step_ahead_of_the_learner_are_the_same():
    X, answers = two_views(), answers_of(n=60)
    one = ChoiceKernel(views=[3, 20], C=0.2, sharpness=2.0, random_state=0)
    two = make_pipeline(JoinedViews([3, 20]), one.__class__(C=0.2, sharpness=2.0, random_state=0))
    two.fit(X, joinedviews__constraints=answers, choicekernel__constraints=answers)
    assert_allclose(one.fit(X, constraints=answers).transform(X), two.transform(X))


def test_views_have_no_meaning_for_a_kernel():
    with pytest.raises(ValueError, match="views are of features"):
        ChoiceKernel(views=[2, 2], start="precomputed").fit(np.eye(4))


def test_guided_clustering_weighs_its_views(tmp_path):
    X, answers = two_views(), answers_of(n=120)
    model = GuidedClustering(3, views=[3, 20], random_state=0).fit(X, constraints=answers)
    plain = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert adjusted_rand_score(Y, model.labels_) > adjusted_rand_score(Y, plain.labels_)
    assert model.view_weights_[0] > 0.65
    assert model.preparation_ == "views"
    assert "2 tables joined, with weights" in str(model.report_)
    path = tmp_path / "model.likewise"
    save_model(model, path)
    assert (load_model(path).predict(X) == model.predict(X)).all()


def test_views_and_another_preparation_are_refused():
    with pytest.raises(ValueError, match="Drop preparation"):
        GuidedClustering(views=[3, 20], preparation="unit").fit(two_views())


@parametrize_with_checks([JoinedViews()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
