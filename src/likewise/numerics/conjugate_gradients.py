"""Conjugate gradients for many right-hand sides at once.

    A X = B,   A symmetric positive definite, given only as products A @ V

Each column takes its own steps; all columns share one product per iteration, so a sparse A is read
once for all of them. With condition number c, the error of a column falls at least by the factor
(sqrt(c) - 1) / (sqrt(c) + 1) per iteration.
Reference: hestenes1952.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class SolvedSystem(NamedTuple):
    X: np.ndarray  # (n, k)
    n_iter: int
    converged: bool


def solve_columns(
    multiply: Callable[[np.ndarray], np.ndarray],  # (n, k) to (n, k)
    B: np.ndarray,  # (n, k)
    *,
    tol: float,
    max_iter: int,
) -> SolvedSystem:
    """Columns X with |A x - b| <= tol |b|, from X = 0."""
    X = np.zeros_like(B)
    residuals = B.copy()
    directions = B.copy()
    sq_norms = np.square(residuals).sum(axis=0)  # (k,)
    sq_goals = tol**2 * sq_norms
    for n_iter in range(max_iter + 1):
        if (sq_norms <= sq_goals).all():
            return SolvedSystem(X, n_iter, converged=True)
        if n_iter == max_iter:
            break
        products = multiply(directions)
        curvatures = np.einsum("ij,ij->j", directions, products)
        steps = np.divide(sq_norms, curvatures, out=np.zeros_like(sq_norms), where=curvatures > 0)
        X += steps * directions
        residuals -= steps * products
        previous, sq_norms = sq_norms, np.square(residuals).sum(axis=0)
        turns = np.divide(sq_norms, previous, out=np.zeros_like(sq_norms), where=previous > 0)
        directions = residuals + turns * directions
    return SolvedSystem(X, max_iter, converged=False)
