"""What NPK and SimpleNPK share: pairs over a graph of the rows, and a map for new ones.

Both take `fit_on_graph` and `kernel_of_rows` as their own ``fit`` and ``kernel_``.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import check_constraints, warn_unused
from likewise.kernel_learning.merged_pairs import merge_pairs
from likewise.kernels import (
    laplacian,
    leading_eigenpairs,
    neighbor_graph,
    normalized_adjacency,
    similarity_graph,
)
from likewise.maps import NeighborMap, by_map

AFFINITIES = ("euclidean", "precomputed")
N_START = 40  # directions of the inverse of L that are kept where there are no pairs


class GraphKernel(NamedTuple):
    """A kernel over the rows, K = Y Y', and what is known about the optimum."""

    Y: np.ndarray  # (n, rank)
    duals: np.ndarray  # (n_pairs,), of the merged pairs
    primal: float
    dual: float
    gap: float
    n_iter: int


def fit_on_graph(self, X, y=None, *, constraints=None):
    """Learn the kernel.

    Parameters
    ----------
    X : array-like or CSR of shape (n_samples, n_features)
        Rows; for ``affinity="precomputed"`` their similarity (n_samples, n_samples).
    y : None
        Ignored; it is here for scikit-learn.
    constraints : Constraints, default=None
        Its must-links and cannot-links are used. Without any, the kernel is the inverse of L,
        cut to its 40 leading directions.

    Returns
    -------
    self : estimator
    """
    X = by_map.validate(self, X, reset=True)
    answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
    warn_unused(self, answers, used=("must_link", "cannot_link"))
    self._check_settings()
    W = affinity_graph(X, self.affinity, self.n_neighbors)
    merged = merge_pairs(answers)
    if len(merged.pairs):
        solved = self._solve(laplacian(W, delta=self.delta), merged)
    else:
        solved = GraphKernel(start_embedding(W, self.delta), np.empty(0), 0.0, 0.0, 0.0, 1)
    self.duals_ = np.zeros(answers.n_answers)
    self.duals_[merged.answers] = merged.shares * solved.duals[merged.pair_of]
    self.embedding_, self.n_iter_ = solved.Y, solved.n_iter
    self.primal_value_, self.dual_value_ = solved.primal, solved.dual
    self.gap_ = solved.gap
    is_wrong = merged.signs * row_products(solved.Y, merged.pairs) <= 0
    self.violated_ = np.sort(merged.answers[is_wrong[merged.pair_of]])
    self.n_answers_used_ = len(merged.answers)
    is_precomputed = self.affinity == "precomputed"
    rows = np.asarray(X.diagonal(), dtype=np.float64) if is_precomputed else X
    n_neighbors = self.n_neighbors or len(solved.Y)
    self.map_ = NeighborMap(rows, solved.Y, n_neighbors, is_precomputed)
    self._n_features_out = self.map_.n_directions
    return self


def kernel_of_rows(self) -> np.ndarray:
    """Learned kernel of the training rows (n_samples, n_samples)."""
    check_is_fitted(self)
    return self.embedding_ @ self.embedding_.T


def row_products(Y: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """K_ij (m,) of K = Y Y', for pairs (m, 2)."""
    return np.einsum("kr,kr->k", Y[pairs[:, 0]], Y[pairs[:, 1]])


def affinity_graph(X, affinity: str, n_neighbors: int | None) -> csr_array:
    """The symmetric graph (n, n) of rows, or of a precomputed similarity."""
    if affinity not in AFFINITIES:
        raise ValueError(f"affinity={affinity!r} must be {' or '.join(map(repr, AFFINITIES))}.")
    if affinity == "precomputed":
        return similarity_graph(X, n_neighbors)
    if n_neighbors is None:
        raise ValueError("n_neighbors=None keeps every entry of a precomputed similarity. Use 5.")
    return neighbor_graph(X, n_neighbors)


def start_embedding(W: csr_array, delta: float) -> np.ndarray:
    """Coordinates (n, q) of the leading directions of the inverse of L, used without pairs."""
    P, _ = normalized_adjacency(W)
    values, vectors = leading_eigenpairs(P, N_START)
    return vectors / np.sqrt(1 + delta - values)
