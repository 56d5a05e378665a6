"""A kernel by name: what an estimator's `start=` may be.

A kernel here is a callable k(X, Y) -> (n, m) in float64, Y=None meaning X. Some need the training
rows first (the width of an RBF, the reach of each row, the graph), so the lookup takes them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from likewise.kernels.diffusion import diffusion_coordinates, diffusion_kernel
from likewise.kernels.distances import as_rows, sq_distances
from likewise.kernels.gaussian import SelfTuningGaussian, self_tuning_gaussian
from likewise.kernels.graph import check_similarity, neighbor_graph
from likewise.kernels.pointwise import cosine, exponential, linear, polynomial, rbf, rbf_theta
from likewise.numerics.array_library import is_array_elsewhere, library_of

KERNEL_NAMES = ("gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine", "precomputed")
DIAGONAL_ROWS = 256  # rows at a time: a block is formed to read its diagonal


def kernel_function(start: str | Callable, X, **settings: Any) -> Callable[..., np.ndarray]:
    """Turn a name, or a callable, into a kernel fitted to training rows.

    Parameters
    ----------
    start : str or callable
        "gaussian" (self-tuning), "diffusion", "rbf", "linear", "polynomial", "cosine",
        "precomputed", or a callable on two sets of rows.
    X : array-like or CSR of shape (n, d)
        Training rows; for "precomputed" their symmetric kernel (n, n).
    **settings
        Of the named kernel: `n_neighbors`, `bandwidth`, `degree`, ... For a callable, passed on.

    Returns
    -------
    callable
        `k(A, B)` of shape (len(A), len(B)). For "precomputed" A holds kernel values with the
        training rows already and is returned as it is.

    Examples
    --------
    >>> k = kernel_function("rbf", [[0.0], [2.0]], bandwidth="mean")
    >>> k([[0.0]], [[2.0]]).round(3)
    array([[0.368]])
    """
    if callable(start):
        return partial(_checked, start, settings)
    match start:
        case "gaussian":
            return self_tuning_gaussian(X, **settings)
        case "diffusion":
            return _diffusion(X, **settings)
        case "rbf":
            return partial(rbf, theta=rbf_theta(X, **settings))
        case "polynomial":
            return partial(polynomial, **settings)
    plain = {"linear": linear, "cosine": cosine}
    if start not in (*plain, "precomputed"):
        raise ValueError(
            f"start={start!r} is unknown. Use a callable or one of {', '.join(KERNEL_NAMES)}."
        )
    if settings:
        raise TypeError(f"start={start!r} takes no settings; got {', '.join(settings)}.")
    return plain[start] if start in plain else partial(_as_given, n_rows=len(check_similarity(X)))


def kernel_oracle(kernel: Callable, X) -> tuple[np.ndarray, Callable[[int], np.ndarray]]:
    """Diagonal (n,) and columns of kernel(X, X) without forming it: for `pivoted_cholesky`.

    Parameters
    ----------
    kernel : callable
        ``k(X, Y)`` gives an (n, m) array.
    X : ndarray or CSR of shape (n, d)

    Examples
    --------
    >>> diagonal, column = kernel_oracle(linear, np.array([[1.0], [2.0]]))
    >>> diagonal, column(1)
    (array([1., 4.]), array([2., 4.]))
    """
    diagonal = kernel_diagonal(kernel, X)
    if isinstance(kernel, SelfTuningGaussian):
        sigmas = kernel.scales(X)  # once, not for every column
        return diagonal, lambda i: exponential(
            sq_distances(X, X[i : i + 1]) / -sigmas[:, None] / sigmas[i]
        )[:, 0]
    return diagonal, lambda i: kernel(X, X[i : i + 1])[:, 0]


def kernel_diagonal(kernel: Callable, X):
    """k(x, x) of every row, (n,): known to be 1, or read off small blocks."""
    is_gaussian = isinstance(kernel, SelfTuningGaussian) or getattr(kernel, "func", None) is rbf
    n = X.shape[0]
    diagonal = library_of(X).ones_like(X[:, 0]) if is_array_elsewhere(X) else np.ones(n)
    for begin in range(0, 0 if is_gaussian else n, DIAGONAL_ROWS):
        rows = slice(begin, begin + DIAGONAL_ROWS)
        diagonal[rows] = kernel(X[rows], X[rows]).diagonal()
    return diagonal


def _diffusion(X, n_neighbors: int = 10, **settings):
    coordinates, _ = diffusion_coordinates(neighbor_graph(X, n_neighbors), **settings)
    return partial(diffusion_kernel, rows=X, coordinates=coordinates, n_neighbors=n_neighbors)


def _checked(function, settings, X, Y=None) -> np.ndarray:
    Y = X if Y is None else Y
    K = function(X, Y, **settings)
    K = K.toarray() if issparse(K) else np.asarray(K, dtype=np.float64)
    shape = as_rows(X).shape[0], as_rows(Y).shape[0]
    if K.shape != shape:
        raise ValueError(
            f"The kernel returned shape {K.shape} for rows of {shape[0]} and {shape[1]}."
        )
    return K


def _as_given(K, train=None, *, n_rows: int):
    K = K if is_array_elsewhere(K) else np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[1] != n_rows:
        raise ValueError(
            f"A precomputed kernel has a column for each of {n_rows} training rows, not {K.shape}."
        )
    return K
