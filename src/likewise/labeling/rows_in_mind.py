"""The rows that a session thinks about, and how it places the others beside them.

Up to 10,000 rows all are thought about. Beyond, a uniform sample is, and every row that an answer
refers to; the others take the memberships of the nearest of them, by weights that are found once.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_array

from likewise.guided import fit_preparation
from likewise.kernels import interpolation_weights, normalized_adjacency, self_tuning_graph
from likewise.labeling.knowledge import Walks
from likewise.numerics.rows import check_scale

N_NEIGHBORS = 10
ONE_SIDED = 0.1  # weight of edges that one of two rows has, beside 1 of those that both have
N_PLACING = 2000  # of the rows thought about, that the others are placed by


class RowsInMind:
    """Prepared rows, their graph, and how the other rows lie beside them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    rows : ndarray of shape (n,)
        Those thought about, ascending.
    seed : int
    """

    def __init__(self, X, rows: np.ndarray, *, preparation: str, seed: int):
        self.X, self.rows = X, rows
        prepared = fit_preparation(X[rows], preparation, seed=seed)
        self._prepared, self.why_prepared = prepared.map, prepared.why
        self.Z = np.asarray(self._prepared.transform(X[rows]))
        graph = self_tuning_graph(self.Z, N_NEIGHBORS, one_sided=ONE_SIDED)
        self.S: csr_array = normalized_adjacency(graph)[0]
        self.walks = Walks(self.S, self.Z)
        self.position = np.full(X.shape[0], -1)
        self.position[rows] = np.arange(len(rows))
        self._seed = seed

    @cached_property
    def _placing(self) -> tuple[np.ndarray, np.ndarray, csr_array]:
        """The other rows, some of those thought about, and weights of these for each of those."""
        others = np.flatnonzero(self.position < 0)
        rng = np.random.default_rng(self._seed)
        n_placing = min(N_PLACING, len(self.rows))
        some = np.sort(rng.choice(len(self.rows), n_placing, replace=False))
        Z = np.asarray(self._prepared.transform(self.X[others]))
        return others, some, interpolation_weights(Z, self.Z[some], N_NEIGHBORS)

    def keys_at(self, keys: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
        """What was asked, by position among the rows thought about."""
        return {tuple(sorted(self.position[list(key)].tolist())) for key in keys}

    def spread_to_all(self, memberships: np.ndarray) -> np.ndarray:
        """Memberships (n_samples, k) of all rows, from those of the rows thought about."""
        if len(self.rows) == self.X.shape[0]:
            return memberships
        others, some, weights = self._placing
        spread = np.empty((self.X.shape[0], memberships.shape[1]))
        spread[self.rows] = memberships
        spread[others] = weights @ memberships[some]
        return spread


def choose_rows(n_samples: int, n_wanted: int, forced: np.ndarray, seed: int) -> np.ndarray:
    """A uniform sample that depends on the seed alone, and the forced rows, ascending."""
    if n_samples <= n_wanted:
        return np.arange(n_samples)
    drawn = np.random.default_rng(seed).choice(n_samples, n_wanted, replace=False, shuffle=False)
    return np.union1d(drawn, forced)


def numbers_of(X):
    """X as numbers (n, d), dense or CSR."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    check_scale(X)
    return X
