import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import ITML, Constraints, LogDetPairs
from likewise.datasets import load_iris
from likewise.kernel_learning import fit_start
from likewise.numerics.pair_distances import mean_sq_distance


def answers_of(y, n=20, seed=0):
    return Constraints.from_labels(y, n_must_link=n, n_cannot_link=n, random_state=seed)


def test_with_a_linear_kernel_it_is_itml():
    # second route: the same optimum over another matrix
    data = load_iris()
    answers = answers_of(data.y)
    common = {"bounds": (0.05, 0.9), "tol": 1e-9, "max_iter": 20_000, "random_state": 0}
    metric = ITML(**common).fit(data.X, constraints=answers).metric_
    space = LogDetPairs(start="linear", n_components=1.0, **common).fit(data.X, constraints=answers)
    assert_allclose(space.kernel(data.X), data.X @ metric @ data.X.T, rtol=1e-4, atol=1e-4)


def test_hard_pairs_end_on_the_right_side_of_their_bounds_with_complementary_duals():
    data = load_iris()
    answers = answers_of(data.y, n=5)
    space = LogDetPairs(C=np.inf, bounds=(0.5, 1.0), tol=1e-9, max_iter=20_000)
    Z = space.fit(data.X, constraints=answers).transform(data.X)
    pairs, sign = answers.signed_pairs()
    sq_dists = np.square(Z[pairs[:, 0]] - Z[pairs[:, 1]]).sum(axis=1)
    sq_unit = mean_sq_distance(fit_start("gaussian", data.X).transform(data.X))
    slack = sign * (sq_unit * np.where(sign > 0, 0.5, 1.0) - sq_dists)
    assert (slack >= -1e-6).all()
    assert_allclose(space.duals_ * slack, 0, atol=1e-5)


def test_the_rank_never_changes():
    data = load_iris()
    space = LogDetPairs(n_components=7, random_state=0).fit(data.X, constraints=answers_of(data.y))
    assert np.linalg.matrix_rank(space.kernel(data.X), tol=1e-8) == 7


def test_skms_bounds_are_those_of_the_paper_on_a_gaussian_kernel():
    data = load_iris()
    sq_unit = mean_sq_distance(fit_start("gaussian", data.X).transform(data.X))
    bounds = LogDetPairs(bounds="skms", random_state=0).fit(data.X).bounds_
    near, far = sq_unit * np.array(bounds)
    assert near <= 0.05
    assert_allclose(far, 1.95)


def test_answers_it_cannot_use_are_counted():
    X = load_iris().X
    with pytest.warns(UserWarning, match="cannot use 1 closer"):
        LogDetPairs().fit(X, constraints=Constraints(len(X), closer=[(0, 1, 2)]))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0}, "C=0 must be > 0"),
        ({"bounds": "tight"}, "bounds='tight' is neither"),
        ({"bounds": (1.0, 0.5)}, "must be \\(near, far\\)"),
        ({"n_components": 0}, "n_components=0 leaves no direction"),
    ],
)
def test_a_wrong_setting_is_one_error(setting, message):
    with pytest.raises(ValueError, match=message):
        LogDetPairs(**setting).fit(load_iris().X)


@parametrize_with_checks([LogDetPairs(), LogDetPairs(n_components=2)])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)
