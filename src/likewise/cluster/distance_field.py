"""Groups as smooth functions of the rows themselves, beside those over the graph.

    R_ij = exp(-|z_i - z_j|^2 / s),    s the median squared distance of two rows
    G    = R_:A inv(R_AA + NOISE I) Y,    A the known rows, Y their groups

The graph knows where rows lie densely, and nothing beyond the next border; distances know which
side of the data a row is on. With few answers the graph is ahead, with a hundred the two together
are, and most where classes are no clusters. Columns of R are kept, one for each known row, so that
an answer costs one of them.
Reference: rasmussen2006, sections 2.2 and 5.4.2, for the mean and for leaving one row out.
"""

from functools import cached_property

import numpy as np

from likewise.cluster.membership_spread import even_out
from likewise.numerics.threads import one_thread

NOISE = 0.1
DISTANCE_WEIGHT = 0.5  # of memberships by distances, beside 1 of those over the graph
LEAST = 1e-12  # membership
SAMPLE = 500  # rows that the median distance is taken over


class DistanceField:
    """What known rows say about others by their distances.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Prepared rows.
    """

    def __init__(self, Z: np.ndarray):
        self.Z = Z
        self._columns: dict[int, np.ndarray] = {}

    @cached_property
    def _sq_norms(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    @cached_property
    def _scale(self) -> float:
        """The median squared distance of two rows, of some; 1 where they are all the same."""
        some = np.unique(np.linspace(0, len(self.Z) - 1, SAMPLE).astype(int))
        Z = self.Z[some]
        sq_dists = self._sq_norms[some][:, None] + self._sq_norms[some] - 2 * Z @ Z.T
        median = float(np.median(sq_dists[np.triu_indices(len(some), 1)])) if len(some) > 1 else 0.0
        return median if median > 1e-12 * self._sq_norms.max(initial=0.0) else 1.0

    def columns(self, rows: np.ndarray) -> np.ndarray:
        """(n, m) likeness R of every row to each of the rows."""
        for row in rows.tolist():
            if row not in self._columns:
                sq_dists = self._sq_norms + self._sq_norms[row] - 2 * self.Z @ self.Z[row]
                self._columns[row] = np.exp(-np.maximum(sq_dists, 0.0) / self._scale)
        return np.stack([self._columns[row] for row in rows.tolist()], axis=1)

    @one_thread()
    def spread(self, groups: np.ndarray, n_groups: int) -> np.ndarray:
        """Memberships (n, k) of all rows from known groups (n,), -1 for unknown."""
        known = np.flatnonzero(groups >= 0)
        R = self.columns(known)
        return even_by_size(R @ np.linalg.solve(noisy(R[known]), np.eye(n_groups)[groups[known]]))

    @one_thread()
    def leave_one_out(self, known: np.ndarray, own: np.ndarray, n_groups: int) -> np.ndarray:
        """Memberships (m, k) of known rows, each from the others: Y_i - (Q Y)_i / Q_ii."""
        R, Y = self.columns(known), np.eye(n_groups)[own]
        Q = np.linalg.inv(noisy(R[known]))
        shares = rows_to_one(R @ (Q @ Y)).mean(axis=0)
        return even_out(rows_to_one(Y - (Q @ Y) / np.diag(Q)[:, None]), shares)


def add_distances(memberships: np.ndarray, by_distance: np.ndarray) -> np.ndarray:
    """The weighted mean of memberships over the graph and by distances."""
    return (memberships + DISTANCE_WEIGHT * by_distance) / (1 + DISTANCE_WEIGHT)


def noisy(R: np.ndarray) -> np.ndarray:
    return R + NOISE * np.eye(len(R))


def even_by_size(G: np.ndarray) -> np.ndarray:
    """Rows that sum to 1, groups evened out as over the graph."""
    memberships = rows_to_one(G)
    return even_out(memberships, memberships.mean(axis=0))


def rows_to_one(G: np.ndarray) -> np.ndarray:
    kept = np.maximum(G, LEAST)
    return kept / kept.sum(axis=1, keepdims=True)
