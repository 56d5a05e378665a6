"""Cholesky factors of positive definite matrices and what is made of them."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri


def factor(A: np.ndarray) -> np.ndarray | None:
    """Lower Cholesky factor (its upper half is not set), or None where A is not definite."""
    C, failed = dpotrf(A, lower=1, clean=0)
    return None if failed else C


def inverse(A: np.ndarray) -> np.ndarray:
    """Symmetric inverse of a positive definite matrix."""
    C = factor(A)
    if C is None:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    H = np.tril(dpotri(C, lower=1)[0])
    H += np.tril(H, -1).T
    return H


def symmetric(A: np.ndarray) -> np.ndarray:
    """(A + A') / 2, exactly symmetric."""
    A = A + A.T
    A *= 0.5
    return A
