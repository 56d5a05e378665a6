"""What NPK and SimpleNPK share: pairs over a graph of the rows, and a map for new ones."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

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
    """A kernel over the rows, K = Y Y', and what is known of the optimum."""

    Y: np.ndarray  # (n, rank)
    duals: np.ndarray  # (n_pairs,), of the merged pairs
    primal: float
    dual: float
    gap: float
    n_iter: int


def fit_on_graph(learner, X, y, constraints):
    """Fit NPK or SimpleNPK; without pairs the kernel is the inverse of L, cut to 40 directions.

    ``learner._solve`` takes the Laplacian and the pairs, of which there is at least one.
    """
    X = by_map.validate(learner, X, reset=True)
    answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
    warn_unused(learner, answers, used=("must_link", "cannot_link"))
    learner._check_settings()
    W = affinity_graph(X, learner.affinity, learner.n_neighbors)
    merged = merge_pairs(answers)
    if len(merged.pairs):
        solved = learner._solve(laplacian(W, delta=learner.delta), merged)
    else:
        solved = GraphKernel(start_embedding(W, learner.delta), np.empty(0), 0.0, 0.0, 0.0, 1)
    learner.duals_ = np.zeros(answers.n_answers)
    learner.duals_[merged.answers] = merged.shares * solved.duals[merged.pair_of]
    learner.embedding_, learner.n_iter_ = solved.Y, solved.n_iter
    learner.primal_value_, learner.dual_value_ = solved.primal, solved.dual
    learner.gap_ = solved.gap
    is_wrong = merged.signs * row_products(solved.Y, merged.pairs) <= 0
    learner.violated_ = np.sort(merged.answers[is_wrong[merged.pair_of]])
    learner.n_answers_used_ = len(merged.answers)
    is_precomputed = learner.affinity == "precomputed"
    rows = np.asarray(X.diagonal(), dtype=np.float64) if is_precomputed else X
    n_neighbors = learner.n_neighbors or len(solved.Y)
    learner.map_ = NeighborMap(rows, solved.Y, n_neighbors, is_precomputed)
    learner._n_features_out = learner.map_.n_directions
    return learner


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
    """Coordinates (n, q) of the inverse of L, its leading directions: what holds without pairs."""
    P, _ = normalized_adjacency(W)
    values, vectors = leading_eigenpairs(P, N_START)
    return vectors / np.sqrt(1 + delta - values)
