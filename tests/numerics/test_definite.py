"""Cholesky factors, inverses, and how far a matrix may move before it is no longer definite."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from likewise.numerics import definite
from likewise.numerics.definite import factor, inverse, inverse_of, largest_step, symmetric


def test_factors_and_inverses_of_definite_matrices():
    A = np.array([[4.0, 1.0], [1.0, 2.0]])
    assert_allclose(factor(A), np.linalg.cholesky(A))
    assert factor(-A) is None
    assert_allclose(inverse(A) @ A, np.eye(2), atol=1e-15)
    assert_allclose(inverse_of(factor(A)), inverse(A))
    assert_allclose(symmetric(np.array([[1.0, 2.0], [4.0, 3.0]])), [[1, 3], [3, 3]])
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        inverse(-A)


def test_the_largest_step_by_hand():
    A = np.diag([1.0, 4.0])
    assert 0.85 * 0.5 < largest_step(A, factor(A), np.diag([-0.5, -8.0])) < 0.5
    assert largest_step(A, factor(A), np.diag([1.0, 0.0])) > 1


@pytest.mark.parametrize("p", [1, 5, 40])
def test_lanczos_finds_the_edge_of_the_cone_and_trying_stays_within(monkeypatch, p):
    rng = np.random.RandomState(p)
    A = rng.randn(p, 2 * p)
    A = A @ A.T
    move = symmetric(rng.randn(p, p)) - 2 * np.trace(A) * np.eye(p)
    C = np.linalg.cholesky(A)
    exact = -1 / np.linalg.eigvalsh(np.linalg.solve(C, np.linalg.solve(C, move).T))[0]
    tried = largest_step(A, factor(A), move)
    assert 0.85 * exact <= tried <= exact
    monkeypatch.setattr(definite, "FEW", 0)
    found = largest_step(A, factor(A), move)
    assert exact * (1 - 1e-8) <= found <= exact * (1.1 if p > 15 else 1 + 1e-8)
    assert_allclose(largest_step(A, factor(A), csr_array(move)), found, rtol=1e-10)
