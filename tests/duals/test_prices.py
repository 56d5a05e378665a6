"""constraint_prices as people call it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr

from likewise import SKLR, Constraints, constraint_prices, dissimilarity_matrix
from likewise.datasets import load_iris
from likewise.duals.prices import SOLVERS


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.X, data.y, Constraints.from_labels(data.y, n_pairs=80, random_state=0)


@pytest.mark.parametrize(
    ("model", "solver"), [(model, solver) for model in SOLVERS for solver in SOLVERS[model]]
)
def test_every_solver_prices_what_is_violated(model, solver):
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(15, 2), rng.randn(15, 2) + 9])
    c = Constraints(30, must_link=[(0, 1), (2, 20)], cannot_link=[(3, 25), (4, 5)])
    found = constraint_prices(X, c, 2, model=model, solver=solver, random_state=0)
    assert_array_equal(found.satisfied, [True, False, True, False])
    assert_array_equal(found.prices > 0, ~found.satisfied)
    assert_allclose(np.abs(found.multipliers).sum(axis=1), found.prices)
    assert found.multipliers.shape == (4, 2 if model == "mssc" else 30)
    assert (found.multipliers[2:] <= 0).all()
    assert found.settled or solver in ("subgradient", "alternating")
    assert found.priced.all()
    if solver != "isolated":
        assert found.bound > found.cost * (1 - 1e-3)


@pytest.mark.parametrize("model", ["mssc", "k-medoids"])
def test_rankings_hardly_depend_on_eps(iris, model):
    X, _, c = iris
    prices = [
        constraint_prices(X, c, 3, model=model, eps=eps, random_state=0).prices
        for eps in (0.05, 0.1, 0.2)
    ]
    broken = prices[1] > 0
    assert broken.sum() > 4
    for other in (prices[0], prices[2]):
        assert spearmanr(prices[1], other)[0] > 0.9


def test_given_centers_are_kept_and_rows_outside_pairs_count_in_the_bound(iris):
    X, y, c = iris
    centers = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    found = constraint_prices(X, c, 3, centers=centers)
    sq_dists = ((X[:, None] - centers) ** 2).sum(axis=-1)
    assert_array_equal(found.labels, sq_dists.argmin(axis=1))
    assert_allclose(found.cost, sq_dists.min(axis=1).sum())
    assert found.bound > found.cost
    assert found.bound < found.cost + found.prices.sum()


def test_moving_the_data_moves_no_price(iris):
    X, y, c = iris
    centers = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    shift = np.array([5.0, -2.0, 7.0, 100.0])
    here = constraint_prices(X, c, 3, centers=centers)
    there = constraint_prices(X + shift, c, 3, centers=centers + shift)
    assert_allclose(there.prices.sum(), here.prices.sum(), rtol=1e-6)
    twice = constraint_prices(2 * X, c, 3, centers=2 * centers)
    assert_allclose(twice.prices.sum(), 4 * here.prices.sum(), rtol=1e-6)
    assert_allclose(twice.bound, 4 * here.bound)


def test_any_metric_is_its_matrix(iris):
    X, _, c = iris
    rows = np.arange(0, 150, 5)
    X, c = X[rows], Constraints.from_labels(load_iris().y[rows], n_pairs=12, random_state=1)
    settings = {"model": "k-medoids", "random_state": 0}
    for metric in ("manhattan", "cosine", "mahalanobis", lambda a, b: np.abs(a - b).max()):
        named = constraint_prices(X, c, 3, metric=metric, **settings)
        D = dissimilarity_matrix(X, metric)
        given = constraint_prices(D, c, 3, metric="precomputed", **settings)
        assert_array_equal(named.prices, given.prices)
        assert named.bound == given.bound


def test_weightless_answers_neither_have_a_price_nor_change_one(iris):
    X, _, c = iris
    more = Constraints(150, must_link=[(0, 140)], weights=[0.0])
    alone, with_it = (constraint_prices(X, one, 3, random_state=0) for one in (c, c + more))
    assert_array_equal(with_it.prices, [*alone.prices, 0.0])
    assert not with_it.priced[-1]
    assert not with_it.satisfied[-1]


def test_a_triple_has_the_price_its_learner_gave_it_and_no_invented_pair(iris):
    X, y, _ = iris
    rows = np.flatnonzero(np.arange(150) % 3 == 0)
    X, y = X[rows], y[rows]
    c = Constraints.from_labels(y, n_pairs=20, n_odd_one_out=15, n_closer=5, random_state=0)
    c = c + Constraints(50, undecided=[(0, 20, 40)])
    learner = SKLR(C=0.3, random_state=0).fit(X, constraints=c)
    without, with_it = (
        constraint_prices(X, c, 3, learner=one, random_state=0) for one in (None, learner)
    )
    triples = c.positions("odd_one_out", "closer", "undecided")
    links = c.positions("must_link", "cannot_link")
    assert_array_equal(without.prices[triples], 0)
    assert not without.priced[triples].any()
    assert_array_equal(with_it.prices[triples], learner.duals_[triples])
    assert with_it.priced.all()
    assert_array_equal(with_it.prices[links], without.prices[links])
    a, b, odd = c.odd_one_out.T
    d = dissimilarity_matrix(X)
    assert_array_equal(
        with_it.satisfied[c.positions("odd_one_out")],
        (d[a, b] < d[a, odd]) & (d[a, b] < d[b, odd]),
    )
    assert with_it.satisfied[-1]


def test_no_answers_cost_nothing(iris):
    X = iris[0]
    for model in SOLVERS:
        found = constraint_prices(X, Constraints(150), 3, model=model, random_state=0)
        assert found.prices.shape == (0,)
        assert_allclose(found.bound, found.cost, rtol=1e-3)


def test_contradictory_answers_end_in_finite_prices(iris):
    X = iris[0]
    c = Constraints(150, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 1)])
    for model, solvers in SOLVERS.items():
        for solver in set(solvers) - {"lp"} if model == "k-medoids" else solvers:
            found = constraint_prices(X, c, 3, model=model, solver=solver, random_state=0)
            assert np.isfinite(found.prices).all()
            assert found.prices[2:].sum() > 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "spectral"}, "model='spectral' is not one of 'mssc', 'k-medoids'"),
        ({"solver": "lagrangian"}, "solver='lagrangian' is not one of"),
        ({"metric": "cosine"}, "metric='cosine' needs model='k-medoids'"),
        ({"eps": 1.0}, "eps == 1.0, must be < 1"),
        ({"n_clusters": 1}, "n_clusters == 1, must be >= 2"),
        ({"centers": [[0.0, 0.0]]}, "centers have shape (1, 2)"),
        ({"learner": object()}, "has no duals_"),
        ({"n_clusters": 151, "model": "k-medoids"}, "n_samples=150 should be >= n_clusters=151"),
        ({"metric": "nothing", "model": "k-medoids"}, "metric='nothing' cannot be used"),
        ({"metric": -np.eye(150), "model": "k-medoids"}, "Dissimilarity [0, 0] is -1"),
        ({"metric": np.eye(3), "model": "k-medoids"}, "there are 150 rows"),
    ],
)
def test_a_mistake_is_one_clear_error(iris, settings, words):
    X, _, c = iris
    settings = {"n_clusters": 3, "random_state": 0, **settings}
    with pytest.raises(ValueError) as error:  # noqa: PT011
        constraint_prices(X, c, **settings)
    assert words in str(error.value)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("model", SOLVERS)
def test_rows_that_are_all_the_same_cost_nothing(model):
    c = Constraints(8, must_link=[(0, 1)], cannot_link=[(0, 5)])
    found = constraint_prices(np.ones((8, 2)), c, 3, model=model, random_state=0)
    assert_array_equal(found.prices, 0)


def test_metrics_take_sparse_rows_or_say_that_they_do_not():
    X = np.abs(np.random.RandomState(0).randn(9, 4))
    for metric in ("euclidean", "cosine", "manhattan"):
        D = dissimilarity_matrix(csr_matrix(X), metric)
        assert_allclose(D, dissimilarity_matrix(X, metric), atol=1e-12)
    with pytest.raises(TypeError, match="dense"):
        dissimilarity_matrix(csr_matrix(X), "mahalanobis")


def test_mahalanobis_is_the_distance_of_whitened_rows():
    X = np.random.RandomState(0).randn(20, 3) @ np.diag([1.0, 10.0, 0.1])
    inverse = np.linalg.inv(np.cov(X.T))
    v = X[3] - X[7]
    assert_allclose(dissimilarity_matrix(X, "mahalanobis")[3, 7], np.sqrt(v @ inverse @ v))
    flat = np.column_stack([X, X[:, 0]])  # a column that says nothing new
    assert_allclose(
        dissimilarity_matrix(flat, "mahalanobis"), dissimilarity_matrix(X, "mahalanobis")
    )


def test_a_learner_of_other_answers_is_refused(iris):
    X, _, c = iris
    learner = SKLR(C=0.3, tol=1e-2, random_state=0).fit(X, constraints=c.subset(np.arange(9)))
    with pytest.raises(ValueError, match="fitted to 9 answers, but there are 80"):
        constraint_prices(X, c, 3, learner=learner, random_state=0)
