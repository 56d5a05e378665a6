"""Walks over the graph of the rows, by its leading directions, and distances beside them.

    K = inv(I - ALPHA S) = Phi Phi' + I or so,    Phi by the largest eigenvalues of S

They do not change during a session.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from likewise.cluster import DistanceField, field_covariance
from likewise.kernels import leading_eigenpairs
from likewise.numerics.threads import one_thread

ALPHA = 0.98  # a step over the graph, as in GraphPropagation
NOISE = 0.05  # variance of an answer, beside K's of 1 and more: its neighbors stay a little open
N_DIRECTIONS = 100  # of the walks; more follow single rows, and questions get no better by them
FEW_ROWS = 2000  # K itself is kept: one inverse instead of a system for every answer
MOST_DIRECTIONS = 300  # where the graph has more pieces than that


class Walks:
    """Walks over a graph, by the leading eigenvectors of its matrix, and distances beside them.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        Normalized adjacency.
    Z : ndarray of shape (n, d), default=None
        Prepared rows; None leaves distances out.
    """

    def __init__(self, S: csr_array, Z: np.ndarray | None = None):
        self.S = S
        self.distances = None if Z is None else DistanceField(Z)

    @cached_property
    def coordinates(self) -> np.ndarray:
        """(n, r) rows Phi, for inv(I - alpha S) = Phi Phi' by its largest eigenvalues."""
        values, vectors = leading_eigenpairs(self.S, N_DIRECTIONS)
        return (vectors / np.sqrt(1 - ALPHA * values))[:, :MOST_DIRECTIONS]

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """(n, n) K = inv(I - alpha S); None where there are many rows."""
        return field_covariance(self.S, alpha=ALPHA) if self.S.shape[0] <= FEW_ROWS else None

    @one_thread()
    def between(self, rows: Iterable[int], others: Iterable[int]) -> np.ndarray:
        """(len(rows), len(others)) walks from each of the rows to each of the others."""
        Phi = self.coordinates
        return Phi[np.asarray(rows, dtype=int)] @ Phi[np.asarray(others, dtype=int)].T
