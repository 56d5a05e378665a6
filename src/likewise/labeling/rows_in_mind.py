"""The rows that a session thinks about, and how it places the others beside them.

Up to 10,000 rows all are thought about. Beyond, a uniform sample is, and every row that an answer
refers to; the others take the memberships of the nearest of them, by weights that are found once.
These are kept in 6 bytes each and used in blocks, so that ten million rows are placed in a GB.

After some answers half of the sample is drawn anew, from a larger one, where it tells more:

    P(i) ~ doubt_i / sum(doubt) + w_i / sum(w),    doubt_i = (1 - P_i1 + P_i2)^2,  w_i = 1 / n_g(i)

with the two largest memberships of row i, and the number of rows placed in its group. The other
half stays uniform: by it alone the quality of the clusters is judged.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_array

from likewise.guided import fit_preparation
from likewise.kernels import interpolation_weights, normalized_adjacency, self_tuning_graph
from likewise.labeling.knowledge import Walks
from likewise.numerics.rows import check_scale
from likewise.progress import track

N_NEIGHBORS = 10
ONE_SIDED = 0.1  # weight of edges that one of two rows has, beside 1 of those that both have
N_PLACING = 2000  # of the rows thought about, that the others are placed by
N_POOL = 100_000  # rows that a new half of the sample is drawn from
BLOCK_ROWS = 2**16  # of X, placed at a time


class Nearest(NamedTuple):
    """Weights of the few nearest of the placing rows, for rows that are not thought about."""

    rows: np.ndarray  # (b,)
    columns: np.ndarray  # (b, k) uint16
    weights: np.ndarray  # (b, k) float32

    def share(self, memberships: np.ndarray) -> np.ndarray:
        """Memberships (b, n_groups) from those of the placing rows."""
        ends = np.arange(0, self.columns.size + 1, self.columns.shape[1])
        content = self.weights.ravel().astype(np.float64), self.columns.ravel(), ends
        shape = len(self.rows), len(memberships)
        return csr_array(content, shape=shape) @ memberships


class RowsInMind:
    """Prepared rows, their graph, and how the other rows lie beside them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    rows : ndarray of shape (n,)
        Those thought about, ascending.
    seed : int
    uniform : ndarray, default=None
        Those of the rows that are a uniform draw; None is all.
    """

    def __init__(
        self, X, rows: np.ndarray, *, preparation: str, seed: int, uniform: np.ndarray | None = None
    ):
        self.X, self.rows = X, rows
        self.is_uniform = None if uniform is None else np.isin(rows, uniform)
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
    def _placing(self) -> tuple[np.ndarray, list[Nearest]]:
        """Some of the rows thought about, and weights of these for all others, block by block."""
        some, placed = self._placing_rows, []
        for start in track(range(0, self.X.shape[0], BLOCK_ROWS), "placing rows"):
            others = start + np.flatnonzero(self.position[start : start + BLOCK_ROWS] < 0)
            if len(others):
                placed.append(self._nearest(others))
        return some, placed

    @cached_property
    def _placing_rows(self) -> np.ndarray:
        rng = np.random.default_rng(self._seed)
        n_placing = min(N_PLACING, len(self.rows))
        return np.sort(rng.choice(len(self.rows), n_placing, replace=False))

    def _nearest(self, others: np.ndarray) -> Nearest:
        Z = np.asarray(self._prepared.transform(self.X[others]))
        weights = interpolation_weights(Z, self.Z[self._placing_rows], N_NEIGHBORS)
        shape = len(others), -1
        columns = weights.indices.reshape(shape).astype(np.uint16)
        return Nearest(others, columns, weights.data.reshape(shape).astype(np.float32))

    def draw_telling(self, memberships: np.ndarray, n_drawn: int, seed: int) -> np.ndarray:
        """Other rows, in doubt or of small groups by the memberships of those thought about."""
        rng = np.random.default_rng([self._seed, seed])
        n_pool = min(N_POOL, self.X.shape[0])
        pool = np.sort(rng.choice(self.X.shape[0], n_pool, replace=False, shuffle=False))
        pool = pool[self.position[pool] < 0]
        shares = self._nearest(pool).share(memberships[self._placing_rows])
        largest = np.partition(shares, -2, axis=1)[:, -2:]
        doubts = np.square(1 - largest[:, 1] + largest[:, 0])
        groups = shares.argmax(axis=1)
        rarity = 1 / np.bincount(groups)[groups]
        odds = doubts / (doubts.sum() or 1) + rarity / rarity.sum()
        n_drawn = min(n_drawn, len(pool))
        return rng.choice(pool, n_drawn, replace=False, p=odds / odds.sum())

    def keys_at(self, keys: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
        """What was asked, by position among the rows thought about."""
        return {tuple(sorted(self.position[list(key)].tolist())) for key in keys}

    def spread_to_all(self, memberships: np.ndarray) -> np.ndarray:
        """Memberships (n_samples, k) of all rows, from those of the rows thought about."""
        spread = np.empty((self.X.shape[0], memberships.shape[1]))
        for rows, shares in self._in_blocks(memberships):
            spread[rows] = shares
        return spread

    def largest_of_all(self, memberships: np.ndarray) -> np.ndarray:
        """(n_samples,) the group with the largest membership of each row, in little memory."""
        labels = np.empty(self.X.shape[0], dtype=np.int64)
        for rows, shares in self._in_blocks(memberships):
            labels[rows] = shares.argmax(axis=1)
        return labels

    def _in_blocks(self, memberships: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield self.rows, memberships
        if len(self.rows) < self.X.shape[0]:
            some, placed = self._placing
            for block in placed:
                yield block.rows, block.share(memberships[some])


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
