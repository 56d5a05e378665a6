"""Many linear systems at once, each checked by its own residual."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.numerics.conjugate_gradients import solve_columns


def test_by_hand_a_diagonal_system_takes_as_many_steps_as_it_has_eigenvalues():
    A = np.diag([1.0, 2.0, 2.0, 4.0])
    solved = solve_columns(
        A.__matmul__, np.array([[1.0], [2.0], [4.0], [4.0]]), tol=1e-12, max_iter=9
    )
    assert_allclose(solved.X.ravel(), [1, 1, 2, 1])
    assert (solved.n_iter, solved.converged) == (3, True)


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_every_column_is_solved_to_its_own_tolerance(seed):
    rng = np.random.default_rng(seed)
    n, k = rng.integers(1, 30), rng.integers(1, 6)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (Q * rng.uniform(1, 100, n)) @ Q.T
    B = rng.normal(size=(n, k)) * 10.0 ** rng.integers(-6, 6, k)  # of very different lengths
    B[:, 0] = 0
    solved = solve_columns(A.__matmul__, B, tol=1e-10, max_iter=10 * n)
    assert solved.converged
    lengths = np.linalg.norm(B, axis=0)
    assert (np.linalg.norm(A @ solved.X - B, axis=0) <= 1e-9 * lengths).all()
    assert_allclose(solved.X, np.linalg.solve(A, B), atol=1e-7 * lengths.max(), rtol=1e-6)
    assert_array_equal(solved.X[:, 0], 0)


def test_too_few_iterations_are_reported_and_the_best_so_far_is_returned():
    A = np.diag(np.arange(1.0, 50.0))
    solved = solve_columns(A.__matmul__, np.ones((49, 1)), tol=1e-12, max_iter=5)
    assert (solved.n_iter, solved.converged) == (5, False)
    error = solved.X.ravel() - 1 / np.arange(1.0, 50.0)
    start = 1 / np.arange(1.0, 50.0)
    assert error @ A @ error < start @ A @ start
