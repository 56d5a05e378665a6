"""Descent over a factor, and the directions that vectors reach."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.metric_learning.factors import minimize_over_factors, span


def bowl(L):
    """Half the squared distance from the identity; its own gap, for the optimum is 0."""
    return 0.5 * np.vdot(L - np.eye(2), L - np.eye(2)), L - np.eye(2)


def test_a_descent_ends_where_its_gap_says():
    start = np.array([[3.0, 1.0], [0.0, 2.0]])
    found = minimize_over_factors(bowl, lambda L: bowl(L)[0], start, tol=1e-12, max_iter=100)
    assert found.converged
    assert found.gap <= 1e-12
    assert_allclose(found.factor, np.eye(2), atol=1e-5)
    assert found.objective[0] == bowl(start)[0]
    assert found.objective[-1] == pytest.approx(bowl(found.factor)[0])
    assert (np.diff(found.objective) <= 0).all()
    assert found.n_iter == len(found.objective) - 1


def test_a_start_that_is_good_enough_is_returned_unchanged():
    found = minimize_over_factors(bowl, lambda L: bowl(L)[0], np.eye(2), tol=0.0, max_iter=100)
    assert found.converged
    assert found.n_iter == 0
    assert (found.factor == np.eye(2)).all()


def test_a_gap_that_never_closes_ends_the_descent_at_the_floor_of_rounding():
    found = minimize_over_factors(bowl, lambda L: 1.0, 5 * np.eye(2), tol=0.1, max_iter=10_000)
    assert not found.converged
    assert found.n_iter < 100
    assert found.objective[-1] == pytest.approx(0, abs=1e-12)


def test_max_iter_is_kept():
    found = minimize_over_factors(
        bowl, lambda L: 1.0, np.array([[9.0, 1.0], [2.0, -4.0]]), tol=0.1, max_iter=2
    )
    assert found.n_iter == 2


@pytest.mark.parametrize("n_rows", [1, 2, 50])
def test_the_span_has_the_directions_of_the_rows_and_no_more(n_rows):
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    vectors = rng.normal(size=(n_rows, 2)) @ directions.T
    basis = span(vectors)
    assert basis.shape == (6, min(n_rows, 2))
    assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    assert_allclose(vectors @ basis @ basis.T, vectors, atol=1e-12)


def test_nothing_spans_nothing():
    assert span(np.zeros((3, 4))).shape == (4, 0)
