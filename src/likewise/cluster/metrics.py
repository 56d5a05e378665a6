"""Squared distances under one metric or several, each diagonal or full, and the best metric.

Diagonal metrics are (g, d), full ones (g, d, d); g is 1, one metric for all clusters, or the number
of clusters. The best metric of a scatter S with mass m, between two bounds on its eigenvalues,

    argmin_A  tr(A S) - m log det A   s.t.  low I <= A <= high I,

has the eigenvectors of S and eigenvalues m / s, clipped; where s <= 0 it takes the upper bound.
"""

import numpy as np

from likewise.numerics.partitions import cluster_means


def sq_to_centers(
    rows: np.ndarray, own: np.ndarray, centers: np.ndarray, metrics: np.ndarray
) -> np.ndarray:
    """Squared distance of every row to every center under the center's metric, (n, k).

    ``own`` is ``sq_lengths(rows, metrics)``: the same for all centers, and most of the work.
    """
    pulls = metrics * centers if metrics.ndim == 2 else (metrics @ centers[:, :, None])[:, :, 0]
    sq_dists = rows @ (-2 * pulls.T)
    sq_dists += own
    sq_dists += (pulls * centers).sum(axis=1)
    return np.maximum(sq_dists, 0, out=sq_dists)


def sq_lengths(diffs: np.ndarray, metrics: np.ndarray) -> np.ndarray:
    """Squared length of every difference under every metric, (m, g)."""
    if metrics.ndim == 2:
        return diffs**2 @ metrics.T
    products = (np.einsum("ij,ij->i", diffs @ metric, diffs) for metric in metrics)
    return np.stack(list(products), axis=1)


def log_dets(metrics: np.ndarray) -> np.ndarray:
    """(g,)"""
    if metrics.ndim == 2:
        return np.log(metrics).sum(axis=1)
    return np.linalg.slogdet(metrics)[1]


def scatters(rows: np.ndarray, labels: np.ndarray, means: np.ndarray, *, full: bool) -> np.ndarray:
    """Sum over each cluster's rows of (x - mean)(x - mean)', (k, d, d); its diagonal, (k, d)."""
    n_clusters = len(means)
    if not full:
        masses = np.bincount(labels, minlength=n_clusters)[:, None]
        return masses * cluster_means((rows - means[labels]) ** 2, labels, n_clusters)
    blocks = (rows[labels == h] - means[h] for h in range(n_clusters))
    return np.stack([block.T @ block for block in blocks])


def outer_sums(diffs: np.ndarray, weights: np.ndarray, *, full: bool) -> np.ndarray:
    """For every column of weights (m, k) the weighted sum of vv', (k, d, d), or its diagonal."""
    if not full:
        return weights.T @ diffs**2
    return np.stack([diffs.T @ (diffs * column[:, None]) for column in weights.T])


def best_metrics(scatter: np.ndarray, masses: np.ndarray, low: float, high: float) -> np.ndarray:
    """The minimizer above for each scatter (g, d, d) or diagonal (g, d), with masses (g,)."""
    if scatter.ndim == 2:
        return clipped(masses[:, None], scatter, low, high)
    values, vectors = np.linalg.eigh(scatter)
    return (vectors * clipped(masses[:, None], values, low, high)[:, None, :]) @ np.swapaxes(
        vectors, 1, 2
    )


def clipped(masses: np.ndarray, values: np.ndarray, low: float, high: float) -> np.ndarray:
    """masses / values between the bounds, the upper bound where values are not positive."""
    enough = values * high > masses
    return np.maximum(np.where(enough, masses / np.where(enough, values, 1.0), high), low)
