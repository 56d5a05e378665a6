"""Steps that every k-means shares: means of clusters, and clusters that ran empty."""

import numpy as np
from scipy.sparse import csr_array


def cluster_means(X: np.ndarray, labels: np.ndarray, n_clusters: int, weights=None) -> np.ndarray:
    """Weighted mean of each cluster's rows, (n_clusters, d); an empty cluster's is zero."""
    weights = np.ones(len(labels)) if weights is None else weights
    members = csr_array((weights, labels, np.arange(len(labels) + 1)), (len(labels), n_clusters))
    sizes = np.bincount(labels, weights=weights, minlength=n_clusters)
    return (members.T @ X) / np.where(sizes > 0, sizes, 1)[:, None]


def refill_empty(labels: np.ndarray, costs: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels in which every cluster has a row: an empty one takes the costliest row there is.

    ``costs`` says how badly each row (or block of rows that moves as one) sits where it is. A row
    alone in its cluster stays there. Needs at least ``n_clusters`` rows.
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    costliest = iter(np.argsort(-costs, kind="stable"))
    for cluster in empty:
        row = next(row for row in costliest if sizes[labels[row]] > 1)
        sizes[labels[row]] -= 1
        sizes[cluster] += 1
        labels[row] = cluster
    return labels
