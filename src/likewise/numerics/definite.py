"""Cholesky factors of positive definite matrices and what is made of them."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotri

FEW = 250  # rows up to which a dozen factors are cheaper than a Lanczos loop
BEYOND, SHRINK = 1.25, 0.85  # the first step tried, and what is left of one that fails
LANCZOS_STEPS = 15
SPANNED = 1e-10  # what is left of a Lanczos vector: there are no more directions


def factor(A: np.ndarray) -> np.ndarray | None:
    """Lower Cholesky factor (p, p), or None where the symmetric A is not positive definite."""
    C, failed = dpotrf(A.T, lower=1, clean=1)  # A' is A, and already in LAPACK's order
    return None if failed else C


def sure_factor(A: np.ndarray) -> np.ndarray:
    """The same of a matrix that must be positive definite."""
    C = factor(A)
    if C is None:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    return C


def inverse(A: np.ndarray) -> np.ndarray:
    """Symmetric inverse of a positive definite matrix."""
    return inverse_of(sure_factor(A))


def inverse_of(C: np.ndarray) -> np.ndarray:
    """Symmetric inverse of C C', C lower triangular."""
    H = dpotri(C, lower=1)[0].T  # upper half and zeros
    H = H + H.T
    H[np.diag_indices(len(H))] *= 0.5
    return H


def symmetric(A: np.ndarray) -> np.ndarray:
    """(A + A') / 2, exactly symmetric."""
    A = A + A.T
    A *= 0.5
    return A


def largest_step(A: np.ndarray, C: np.ndarray, move) -> float:
    """About the largest t for which A + t move is positive semi-definite, or some t > 1.

    C is the factor of A. For few rows t is found by trying, and up to 15 % too small. Else it is
    -1 over the least eigenvalue of inv(C) move inv(C)', by a few Lanczos steps: never too small and
    mostly a few percent too large, so verify by `factor` what is done with it.
    """
    if len(A) <= FEW:
        step = BEYOND
        while factor(np.asarray(A + step * move)) is None:
            step *= SHRINK
        return step
    least = least_ritz_value(
        lambda v: dtrsv(C, move @ dtrsv(C, v, lower=1, trans=1), lower=1), len(C)
    )
    return BEYOND if least >= -1 / BEYOND else -1 / least


def least_ritz_value(apply: Callable[[np.ndarray], np.ndarray], p: int) -> float:
    """Least eigenvalue of a symmetric operator on R^p over a Krylov space: an upper bound."""
    v = np.random.default_rng(0).standard_normal(p)
    V = np.empty((LANCZOS_STEPS, p))
    diagonal, off_diagonal = np.zeros(LANCZOS_STEPS), np.zeros(LANCZOS_STEPS)
    n_steps = 0
    for k in range(LANCZOS_STEPS):
        off_diagonal[k] = np.linalg.norm(v)
        if k and off_diagonal[k] <= SPANNED * np.abs(diagonal).max():
            break
        V[k] = v / off_diagonal[k]
        v = apply(V[k])
        diagonal[k] = V[k] @ v
        for _ in range(2):  # twice is enough
            v -= V[: k + 1].T @ (V[: k + 1] @ v)
        n_steps = k + 1
    return float(eigvalsh_tridiagonal(diagonal[:n_steps], off_diagonal[1:n_steps])[0])
