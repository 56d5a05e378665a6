"""A Mahalanobis metric through a factor, M = L'L: what the learners of this room share.

    min_L  f(L)    by L-BFGS, until a bound on how far f is from its optimum is small enough

M = L'L is positive semi-definite for every L, so nothing has to be projected. The problems are
convex in M, not in L; that the optimum was found is therefore never assumed but proved by ``gap``,
a bound that the caller derives from convexity in M and that holds for every L.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from likewise.numerics.threads import one_thread_if_small

GAP_EVERY = 5  # iterations between two gaps, each of which costs an eigendecomposition
MEMORY = 20  # pairs of vectors L-BFGS keeps; more do not help here
FIRST_STEP = 0.1  # of the start: scipy's own is of length 1, which can end at a singular L
FLOOR = 4 * np.finfo(np.float64).eps  # a relative fall of f below this is rounding
RANK_TOL = 1e-10  # directions below this, relative to the largest singular value, are rounding


class Descent(NamedTuple):
    factor: np.ndarray  # as the start
    objective: np.ndarray  # (n_iter + 1,), falling: at the start, then after each iteration
    gap: float  # bound on the distance from the optimum, as the caller measures it
    n_iter: int
    converged: bool  # gap <= tol


@one_thread_if_small(lambda value_and_gradient, gap, start, **_: start.size)
def minimize_over_factors(
    value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
    gap: Callable[[np.ndarray], float],
    start: np.ndarray,
    *,
    tol: float,
    max_iter: int,
) -> Descent:
    """L-BFGS from ``start`` until gap(L) <= tol, max_iter, or f cannot fall in floating point."""
    unit = FIRST_STEP * np.abs(start).max()
    best, reached = start, gap(start)
    objective = [value_and_gradient(start)[0]]

    def in_units(x):
        value, gradient = value_and_gradient(unit * x.reshape(start.shape))
        return value, unit * gradient.ravel()

    def watch(intermediate_result: OptimizeResult) -> None:
        nonlocal best, reached
        best = unit * intermediate_result.x.reshape(start.shape)
        objective.append(float(intermediate_result.fun))
        if len(objective) % GAP_EVERY == 0:
            reached = gap(best)
            if reached <= tol:
                raise StopIteration

    while reached > tol and len(objective) <= max_iter:
        n_before = len(objective)
        n_left = max_iter + 1 - n_before
        options = {
            "maxiter": n_left,
            "maxfun": 100 * n_left,
            "maxcor": MEMORY,
            "maxls": 50,
            "ftol": FLOOR,
            "gtol": 0.0,
        }
        x = best.ravel() / unit
        minimize(in_units, x, jac=True, method="L-BFGS-B", callback=watch, options=options)
        reached = gap(best)
        floor = FLOOR * max(1.0, abs(objective[-1]))
        if objective[n_before - 1] - objective[-1] <= floor:  # a fresh memory did not help either
            break
    history = np.array(objective)
    return Descent(best, history, float(reached), len(history) - 1, bool(reached <= tol))


def span(vectors: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d, r) of the directions that the rows (m, d) reach."""
    triangle = np.linalg.qr(vectors, mode="r")  # as many rows as the smaller side
    _, lengths, directions = np.linalg.svd(triangle, full_matrices=False)
    return directions[lengths > RANK_TOL * lengths.max(initial=0.0)].T
