"""What the constrained k-means have in common: checks, predict, and warnings about the outcome."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.constraints import Constraints
from likewise.kernels import sq_distances
from likewise.numerics.rows import validate_rows


def check_kmeans_settings(estimator, n_samples: int) -> None:
    """One error unless counts are integers >= 1 and there is a row for every cluster."""
    for name in ("n_clusters", "n_init", "max_iter"):
        check_scalar(getattr(estimator, name), name, (int, np.integer), min_val=1)
    check_scalar(estimator.tol, "tol", (int, float, np.number), min_val=0)
    check_enough_rows(estimator.n_clusters, n_samples)


def check_enough_rows(n_clusters: int, n_samples: int) -> None:
    """One error where there are more clusters than rows."""
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the rows of X, n_samples={n_samples}. "
            "Lower n_clusters, or give more rows."
        )


def size_bounds(
    min_size, max_size, n_clusters: int, n_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each cluster (k,), at least and at most; one error where the rows do not allow it."""
    lower = _sizes("min_size", min_size, 0, n_clusters)
    upper = _sizes("max_size", max_size, n_samples, n_clusters)
    for cluster in np.flatnonzero(lower > upper)[:1]:
        raise ValueError(
            f"min_size={lower[cluster]} is more than max_size={upper[cluster]}. Swap them."
        )
    if lower.sum() > n_samples:
        raise ValueError(
            f"{n_clusters} clusters of min_size={min_size} need {lower.sum()} rows, but X has "
            f"n_samples={n_samples}. Lower min_size or n_clusters."
        )
    if upper.sum() < n_samples:
        raise ValueError(
            f"{n_clusters} clusters of max_size={max_size} hold {upper.sum()} rows, but X has "
            f"n_samples={n_samples}. Raise max_size or n_clusters."
        )
    return lower, np.minimum(upper, n_samples)


def _sizes(name: str, sizes, default: int, n_clusters: int) -> np.ndarray:
    if sizes is None:
        return np.full(n_clusters, default)
    given = np.asarray(sizes)
    if given.dtype.kind not in "iu" or (given < 0).any():
        raise ValueError(f"{name}={sizes!r} must be a whole number >= 0, or one per cluster.")
    if given.ndim and given.shape != (n_clusters,):
        raise ValueError(
            f"{name} has shape {given.shape}, but n_clusters={n_clusters}. Give one size, or one "
            "per cluster."
        )
    return np.broadcast_to(given, n_clusters).astype(np.int64)


def check_choice(name: str, value, choices: tuple[str, ...]) -> None:
    """One error when a setting is not one of its choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}.")


def warn_conflicts(
    estimator, constraints: Constraints, *, outcome: str = "weighs one against the other"
) -> np.ndarray:
    """Positions of the cannot-links that contradict must-links; a warning counts them."""
    ends = constraints.closure().components[constraints.cannot_link]
    contradicted = constraints.positions("cannot_link")[ends[:, 0] == ends[:, 1]]
    if len(contradicted):
        warnings.warn(
            f"{len(contradicted)} cannot-links contradict must-links, beginning with "
            f"{constraints.describe(int(contradicted[0]))}. {type(estimator).__name__} "
            f"{outcome}; constraints.conflicts() shows each with its must-links.",
            UserWarning,
            stacklevel=3,
        )
    return contradicted


def order_clusters(labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels with the clusters that hold rows numbered first, and the cluster behind each number.

    The numbers left over stand for the last cluster again: equally near, so no row gets them.
    """
    found, labels = np.unique(labels, return_inverse=True)
    return labels, np.concatenate([found, np.repeat(found[-1], n_clusters - len(found))])


def predict_nearest(self, X):
    """The nearest center of each new row; constraints say nothing about new rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    check_is_fitted(self)
    X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
    return np.argmin(sq_distances(X, self.cluster_centers_), axis=1)


def warn_outcome(
    estimator, labels: np.ndarray, converged: bool, kept_together: str = "distinct rows"
) -> None:
    """Say when the iterations ran out, and when fewer clusters than asked for hold rows."""
    name = type(estimator).__name__
    if not converged:
        warnings.warn(
            f"{name} stopped at max_iter={estimator.max_iter} before the clusters settled. "
            "Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    n_found = len(np.unique(labels))
    if n_found < estimator.n_clusters:
        warnings.warn(
            f"{name} found {n_found} clusters, fewer than n_clusters={estimator.n_clusters}: "
            f"there are too few {kept_together}. Lower n_clusters.",
            ConvergenceWarning,
            stacklevel=3,
        )
