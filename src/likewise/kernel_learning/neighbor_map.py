"""Coordinates for new rows of a kernel that was learned on a graph of the training rows.

    z(x) = sum_j w_j(x) z_j        over the k nearest training rows

The weights are those of `likewise.kernels.interpolation_weights`: continuous, summing to 1, and 1
on a training row itself. A new row of a precomputed similarity comes as its similarities s(x, j)
with the training rows. They say how far it is from each once its own length is known:

    d(x, j)^2 = s(x, x) + s(j, j) - 2 s(x, j),    s(x, x) = max_j s(x, j)^2 / s(j, j)

which is never negative, whatever the similarity, and 0 on a training row wherever
|s(i, j)|^2 <= s(i, i) s(j, j), as every kernel and every similarity scaled to s(i, i) = 1 has it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from likewise.kernels import (
    interpolation_weights,
    neighbor_graph,
    normalized_adjacency,
    row_blocks,
    similarity_graph,
)
from likewise.kernels.diffusion import leading_eigenpairs, weights_by_distance
from likewise.kernels.distances import smallest_columns

AFFINITIES = ("euclidean", "precomputed")
N_START = 40  # directions of the inverse of L that are kept where there are no pairs


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """Rows to weighted means of the coordinates of their nearest training rows."""

    rows: np.ndarray  # (n, d) training rows, dense or CSR; precomputed: their s(j, j), (n,)
    coordinates: np.ndarray  # (n, q)
    n_neighbors: int
    precomputed: bool

    def transform(self, X) -> np.ndarray:
        """Coordinates (m, q) of rows (m, d), or of similarities (m, n) with the training rows."""
        if not self.precomputed:
            return interpolation_weights(X, self.rows, self.n_neighbors) @ self.coordinates
        Z = np.empty((X.shape[0], self.coordinates.shape[1]))
        for some in row_blocks(*X.shape):
            Z[some] = similarity_weights(X[some], self.rows, self.n_neighbors) @ self.coordinates
        return Z


def similarity_weights(S, lengths: np.ndarray, n_neighbors: int) -> csr_array:
    """Weights (m, n) over training rows from similarities (m, n) with them and their s(j, j)."""
    S = S.toarray() if issparse(S) else np.asarray(S, dtype=np.float64)
    unknown = np.flatnonzero((lengths < 0) | ((lengths == 0) & (S != 0).any(axis=0)))
    if len(unknown):
        j = unknown[0]
        raise ValueError(
            f"New rows need the similarity of each training row with itself, and S[{j}, {j}] = "
            f"{lengths[j]:g}. Fit on a similarity with a positive diagonal, or use kernel_."
        )
    own = (np.square(S) / np.where(lengths > 0, lengths, 1.0)).max(axis=1, keepdims=True)
    sq_dists = np.maximum(own + lengths - 2 * S, 0.0)
    nearest = smallest_columns(sq_dists, min(n_neighbors + 1, len(lengths)))
    return weights_by_distance(nearest, np.take_along_axis(sq_dists, nearest, axis=1), len(lengths))


def affinity_graph(X, affinity: str, n_neighbors: int | None) -> csr_array:
    """The symmetric graph (n, n) of rows, or of a precomputed similarity."""
    if affinity not in AFFINITIES:
        raise ValueError(f"affinity={affinity!r} must be {' or '.join(map(repr, AFFINITIES))}.")
    if affinity == "precomputed":
        return similarity_graph(X, n_neighbors)
    if n_neighbors is None:
        raise ValueError("n_neighbors=None keeps every entry of a precomputed similarity. Use 5.")
    return neighbor_graph(X, n_neighbors)


def neighbor_map(X, coordinates: np.ndarray, affinity: str, n_neighbors: int | None) -> NeighborMap:
    """The map of training rows X to their coordinates, ready for new rows."""
    precomputed = affinity == "precomputed"
    rows = np.asarray(X.diagonal(), dtype=np.float64) if precomputed else X
    return NeighborMap(rows, coordinates, n_neighbors or len(coordinates), precomputed)


def start_embedding(W: csr_array, delta: float) -> np.ndarray:
    """Coordinates (n, q) of the inverse of L, its leading directions: what holds without pairs."""
    P, _ = normalized_adjacency(W)
    values, vectors = leading_eigenpairs(P, N_START)
    return vectors / np.sqrt(1 + delta - values)
