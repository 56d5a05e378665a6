"""Which metric fits, and how sure that is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import ITML, Constraints, metric_fitness
from likewise.datasets import make_metric_clusters
from likewise.duals import constraint_prices, dissimilarity_matrix, fitness_of_sets
from likewise.duals.fitness import rank
from likewise.duals.medoid_prices import price_by_program
from likewise.duals.priced_pairs import pairs_of


@pytest.fixture(scope="module")
def strips():
    data = make_metric_clusters("mahalanobis", 60, random_state=0)
    return data.X, data.y, Constraints.from_labels(data.y, n_pairs=40, random_state=0)


def test_the_metric_the_classes_were_made_by_fits_best(strips):
    X, _, c = strips
    found = metric_fitness(X, c, 3, ["euclidean", "mahalanobis"], n_sets=4, random_state=0)
    assert found.best == "mahalanobis"
    assert found.wins[0] >= 0.75
    assert found.set_shares.shape == (4, 2)
    assert_allclose(found.shares, found.set_shares.mean(axis=0))


def test_the_count_is_equation_20(strips):
    X, y, c = strips
    classes = np.abs(y[:, None] - y) + 0.1 * np.abs(X[:, None, 1] - X[:, 1])  # nothing is broken
    metrics = {"euclidean": "euclidean", "classes": classes}
    found = metric_fitness(X, c, 3, metrics, n_sets=0, random_state=0)
    assert found.names == ["classes", "euclidean"]
    assert found.counts[0] == 60 * 40  # no multiplier at any row
    assert found.counts[1] < 60 * 40
    assert found.shares[0] == 1
    assert np.isnan(found.standard_errors).all()


def test_the_unit_of_a_metric_gives_it_no_advantage(strips):
    X, _, c = strips
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    found = metric_fitness(X, c, 3, {"one": D, "large": D * 2.0**20}, n_sets=2, random_state=0)
    assert_array_equal(found.set_shares[:, 0], found.set_shares[:, 1])
    assert_array_equal(found.counts[0], found.counts[1])
    assert_array_equal(found.wins, 0.5)


def test_a_space_is_learned_from_other_answers_than_it_is_judged_by(strips):
    X, _, c = strips
    learned_from = []

    class Spy(ITML):
        def fit(self, X, y=None, *, constraints=None):
            learned_from.append(constraints)
            return super().fit(X, constraints=constraints)

    found = metric_fitness(
        X, c, 3, {"learned": Spy(random_state=0), "euclidean": "euclidean"}, random_state=0
    )
    assert len(learned_from) == len(found.set_shares) == 5
    assert all(one.n_answers < c.n_answers for one in learned_from)
    assert found.best == "learned"
    fitted = ITML(random_state=0).fit(X, constraints=c)
    as_it_is = metric_fitness(X, c, 3, [fitted, "euclidean"], n_sets=2, random_state=0)
    assert as_it_is.best == "ITML"
    assert as_it_is.set_shares.shape == (2, 2)


def test_ranking_is_by_mean_share_then_count():
    shares = np.array([[0.5, 0.9, 0.9], [0.5, 0.7, 0.7]])
    counts = np.array([[9, 1, 2], [9, 1, 2]])
    found = rank(["a", "b", "c"], shares, counts, "share")
    assert found.names == ["c", "b", "a"]
    assert_allclose(found.wins, [0.5, 0.5, 0.0])
    assert_allclose(found.standard_errors[0], np.std([0.9, 0.7], ddof=1) / np.sqrt(2))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 1}, "n_clusters == 1"),
        ({"n_sets": -1}, "n_sets == -1"),
        ({"metrics": ["euclidean", "euclidean"]}, "Two metrics are called 'euclidean'"),
        ({"constraints": Constraints(60)}, "needs must-links or cannot-links"),
    ],
)
def test_a_mistake_is_one_clear_error(strips, settings, words):
    X, _, c = strips
    with pytest.raises(ValueError, match=words):
        metric_fitness(X, **{"constraints": c, "n_clusters": 3, **settings})


def test_by_the_count_of_the_paper_the_ranking_is_that_of_equation_20():
    shares = np.array([[0.9, 0.8], [0.9, 0.8]])
    counts = np.array([[10, 20], [30, 20]])
    assert rank(["a", "b"], shares, counts + [[0, 1]], "count").names == ["b", "a"]
    assert rank(["a", "b"], shares, counts, "count").names == ["a", "b"]  # a tie: by the share
    assert_allclose(rank(["a", "b"], shares, counts, "count").wins, [0.5, 0.5])


def test_exact_zeros_are_those_of_the_whole_program():
    """Few columns and the proof for the others, against HiGHS over all of them."""
    data = make_metric_clusters("manhattan", 36, random_state=1)
    D = dissimilarity_matrix(data.X, "manhattan")
    sets = [Constraints.from_labels(data.y, n_pairs=15, random_state=seed) for seed in range(2)]
    exact, _ = fitness_of_sets(D, sets, 3, 0.1, seed=0, exact=True)
    for share, answers in zip(exact, sets):
        whole = price_by_program(D, 3, pairs_of(answers), 0.1)
        kept = constraint_prices(
            D, answers, 3, model="k-medoids", metric="precomputed", solver="lp", random_state=0
        )
        assert_allclose(kept.bound, whole.bound, rtol=1e-9)
        assert share == np.mean(kept.prices == 0)
    rough, _ = fitness_of_sets(D, sets, 3, 0.1, seed=0)
    assert (rough <= exact + 1e-9).all()  # rounded, a price is spread over more pairs
