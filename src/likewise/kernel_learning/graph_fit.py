"""What NPK and SimpleNPK share: pairs over a graph of the rows, and a map for new ones."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from likewise.constraints import Constraints
from likewise.kernel_learning.pairs import MergedPairs, merge_pairs
from likewise.kernels import (
    laplacian,
    leading_eigenpairs,
    neighbor_graph,
    normalized_adjacency,
    similarity_graph,
)
from likewise.maps import NeighborMap

AFFINITIES = ("euclidean", "precomputed")
N_START = 40  # directions of the inverse of L that are kept where there are no pairs


class Solved(NamedTuple):
    """A kernel over the rows, K = Y Y', and what is known of the optimum."""

    Y: np.ndarray  # (n, rank)
    duals: np.ndarray  # (n_pairs,), of the merged pairs
    primal: float
    dual: float
    gap: float
    n_iter: int


class GraphFit(NamedTuple):
    map: NeighborMap
    duals: np.ndarray  # (n_answers,)
    solved: Solved
    n_answers_used: int


def fit_on_graph(
    X,
    answers: Constraints,
    *,
    affinity: str,
    n_neighbors: int | None,
    delta: float,
    solve: Callable[[csr_array, MergedPairs], Solved],
) -> GraphFit:
    """Solve for the pairs over the graph of X; without any, the inverse of L, cut to 40 directions.

    `X` is rows (n, d) or, for "precomputed", their similarity (n, n). `solve` takes the Laplacian
    and the pairs, of which there is at least one.
    """
    W = affinity_graph(X, affinity, n_neighbors)
    merged = merge_pairs(answers)
    if len(merged.pairs):
        solved = solve(laplacian(W, delta=delta), merged)
    else:
        solved = Solved(start_embedding(W, delta), np.empty(0), 0.0, 0.0, 0.0, 1)
    duals = np.zeros(answers.n_answers)
    duals[merged.answers] = merged.shares * solved.duals[merged.pair_of]
    is_precomputed = affinity == "precomputed"
    rows = np.asarray(X.diagonal(), dtype=np.float64) if is_precomputed else X
    to_rows = NeighborMap(rows, solved.Y, n_neighbors or len(solved.Y), is_precomputed)
    return GraphFit(to_rows, duals, solved, len(merged.answers))


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
