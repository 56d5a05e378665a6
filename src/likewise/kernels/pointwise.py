"""Kernels that need nothing but two rows: linear, polynomial, cosine, and RBF with a named width.

    linear      x'y
    polynomial  (gamma x'y + coef0)^degree
    cosine      x'y / (|x| |y|)
    rbf         exp(-|x - y|^2 / theta)

Each takes rows X (n, d) and Y (m, d), dense or CSR, and returns the (n, m) matrix in float64;
Y=None means X. Arrays of another library give one of it, in their own float type.
Reference: yeung2007 learns over an RBF without stating its width; theta = mean squared distance is
the rule that comes nearest to its figures.
"""

from typing import Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis

from likewise.kernels.distances import as_rows, sq_distances
from likewise.numerics.array_library import is_array_elsewhere, library_of

MEDIAN_SAMPLE = 2000  # rows: two million pairs settle a median to about a percent


def linear(X, Y=None) -> np.ndarray:
    """Inner products x'y of rows.

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)
        Y=None means X.

    Examples
    --------
    >>> linear([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """
    X = as_rows(X)
    return safe_sparse_dot(X, (X if Y is None else as_rows(Y)).T, dense_output=True)


def polynomial(X, Y=None, *, degree: int = 3, gamma: float | None = None, coef0: float = 1.0):
    """Polynomial kernel (gamma x'y + coef0)^degree.

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)
    degree : int, default=3
        Raising it brings in products of more features.
    gamma : float, default=None
        Scale of the inner product, 1 / d when None. Raising it favors the highest powers.
    coef0 : float, default=1.0
        Raising it favors the lowest powers. Negative values lose positive semi-definiteness.

    Examples
    --------
    >>> polynomial([[1.0, 2.0]], [[3.0, 4.0]], degree=2, gamma=1.0)
    array([[144.]])
    """
    K = linear(X, Y)
    K *= 1 / as_rows(X).shape[1] if gamma is None else gamma
    K += coef0
    return K**degree


def cosine(X, Y=None) -> np.ndarray:
    """Cosine of the angle between rows; a row of zeros has cosine 0 with every row, itself too.

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)
        Y=None means X.

    Examples
    --------
    >>> cosine([[2.0, 0.0]], [[0.0, 1.0], [5.0, 0.0]])
    array([[0., 1.]])
    """
    return linear(_unit_rows(X), None if Y is None else _unit_rows(Y))


def rbf(X, Y=None, *, theta: float) -> np.ndarray:
    """Gaussian kernel ``exp(-|x - y|^2 / theta)``.

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)
    theta : float
        A squared length, without a factor 2. Raising it makes more rows look alike.

    Examples
    --------
    >>> rbf([[0.0]], [[0.0], [2.0]], theta=4.0).round(3)
    array([[1.   , 0.368]])
    """
    K = sq_distances(X, Y)
    K /= -theta
    return exponential(K)


def exponential(K):
    """exp of every entry, in place where NumPy holds them: K may be large."""
    return library_of(K).exp(K) if is_array_elsewhere(K) else np.exp(K, out=K)


def rbf_theta(
    X, bandwidth: Literal["median", "mean", "scale"] | float = "mean", *, random_state=0
) -> float:
    """Width of `rbf` by a named rule.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    bandwidth : {"mean", "median", "scale"} or float, default="mean"
        "mean": the mean squared distance of two different rows, in closed form from the variances.
        "median": the median of the positive squared distances, on 2,000 rows drawn when there are
        more. "scale": d times the variance of all entries, which is scikit-learn's gamma="scale".
        A number is taken as theta itself.
    random_state : int or RandomState, default=0
        Draws the rows of "median".

    Returns
    -------
    float
        Positive; 1.0 when all rows are equal.

    References
    ----------
    yeung2007

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0]]  # squared distances 1, 4, 9
    >>> round(rbf_theta(X), 6), rbf_theta(X, "median")
    (4.666667, 4.0)
    """
    if not isinstance(bandwidth, str):
        if not 0 < bandwidth < np.inf:
            raise ValueError(f"bandwidth={bandwidth} is not a positive number. Use 'mean'.")
        return float(bandwidth)
    rules = {"mean": _mean_sq_distance, "median": _median_sq_distance, "scale": _total_variance}
    if bandwidth not in rules:
        raise ValueError(f"bandwidth={bandwidth!r} is unknown. Use one of {sorted(rules)}.")
    return rules[bandwidth](as_rows(X), check_random_state(random_state)) or 1.0


def _unit_rows(X):
    if not is_array_elsewhere(X):
        return normalize(as_rows(X))
    xp = library_of(X)
    lengths = xp.sqrt(xp.sum(X * X, axis=1))[:, None]
    return X / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


def _mean_sq_distance(X, rng) -> float:
    n = X.shape[0]
    return float(2 * n / (n - 1) * _variances(X).sum()) if n > 1 else 0.0


def _median_sq_distance(X, rng) -> float:
    if X.shape[0] > MEDIAN_SAMPLE:
        X = X[rng.choice(X.shape[0], MEDIAN_SAMPLE, replace=False)]
    sq = sq_distances(X)[np.triu_indices(X.shape[0], k=1)]
    return float(np.median(sq[sq > 0])) if (sq > 0).any() else 0.0


def _total_variance(X, rng) -> float:
    n, d = X.shape
    if not issparse(X):
        return float(d * X.var())
    return float(d * (X.multiply(X).sum() / (n * d) - (X.sum() / (n * d)) ** 2))


def _variances(X) -> np.ndarray:
    return mean_variance_axis(X, axis=0)[1] if issparse(X) else X.var(axis=0)
