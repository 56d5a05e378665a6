"""Dissimilarities of all rows to each other, under the metrics that prices and fitness compare.

Beside what scikit-learn's `pairwise_distances` knows: "mahalanobis", by the covariance of the rows;
"damerau_levenshtein", between sequences; a matrix or a learned space as its own metric.
"""

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array

from likewise.cluster import dissimilarities
from likewise.duals.sequences import edit_distances
from likewise.numerics.rows import check_rows

SMALLEST_VARIANCE = 1e-12  # of the largest: directions in which the rows do not vary are left out


def dissimilarity_matrix(X, metric="euclidean") -> np.ndarray:
    """Dissimilarity of each row of X to each other.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d), or sequence of n sequences
        Rows; for "damerau_levenshtein" strings or lists of symbols; for "precomputed" the
        dissimilarities (n, n).
    metric : str, callable, array of shape (n, n) or fitted transformer, default="euclidean"
        "euclidean", "manhattan", "chebyshev", "mahalanobis", "cosine", "damerau_levenshtein",
        "precomputed", any other name of scikit-learn's `pairwise_distances`, a function of two
        rows, the dissimilarities themselves, or something fitted whose ``transform`` maps X to a
        space that is then taken as Euclidean.

    Returns
    -------
    ndarray of shape (n, n)

    References
    ----------
    damerau1964, lowrance1975

    Examples
    --------
    >>> from likewise.duals import dissimilarity_matrix
    >>> dissimilarity_matrix(["abcd", "acbd", "xabcd"], "damerau_levenshtein")
    array([[0., 1., 1.], [1., 0., 2.], [1., 2., 0.]])
    """
    if hasattr(metric, "transform"):
        return dissimilarity_matrix(metric.transform(X), "euclidean")
    if isinstance(metric, str) and metric == "damerau_levenshtein":
        return edit_distances(X)
    if not isinstance(metric, str) and not callable(metric):
        return check_dissimilarities(metric, len_of(X))
    if isinstance(metric, str) and metric == "precomputed":
        return check_dissimilarities(X, len_of(X))
    is_mahalanobis = isinstance(metric, str) and metric == "mahalanobis"
    X = check_rows(
        X, accept_sparse=False if is_mahalanobis else "csr", dtype=[np.float64, np.float32]
    )
    if is_mahalanobis:
        return dissimilarities(whiten(X), None, "euclidean")
    if isinstance(metric, str) and metric == "euclidean":
        return dissimilarities(X, None, metric)
    try:
        D = pairwise_distances(X, metric=metric)
    except ValueError as error:
        raise ValueError(f"metric={metric!r} cannot be used: {error}") from None
    return check_dissimilarities(D, len(D))


def whiten(X) -> np.ndarray:
    """Rows whose Euclidean distances are the Mahalanobis distances of X."""
    centered = X - X.mean(axis=0)
    _, values, directions = np.linalg.svd(centered, full_matrices=False)
    kept = values**2 > SMALLEST_VARIANCE * values[0] ** 2
    return centered @ (directions[kept].T / values[kept]) * np.sqrt(max(len(X) - 1, 1))


def check_dissimilarities(D, n: int) -> np.ndarray:
    """A finite matrix (n, n) of numbers >= 0, or one error."""
    D = check_array(D, dtype=np.float64, input_name="dissimilarities")
    if D.shape != (n, n):
        raise ValueError(f"Dissimilarities have shape {D.shape}, but there are {n} rows.")
    if D.min() < 0:
        i, j = np.unravel_index(D.argmin(), D.shape)
        raise ValueError(f"Dissimilarity [{i}, {j}] is {D[i, j]:g}; it must be >= 0.")
    return D


def len_of(X) -> int:
    """How many rows: a sparse matrix has no length."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
