"""Coordinates for new rows of a kernel that was learned on a graph of the training rows.

    z(x) = sum_j w_j(x) z_j        over the k nearest training rows

The weights are those of `likewise.kernels.interpolation_weights`: continuous, summing to 1, and 1
on a training row itself. A new row of a precomputed similarity comes as its similarities s(x, j)
with the training rows. They say how far it is from each once its own length is known:

    d(x, j)^2 = s(x, x) + s(j, j) - 2 s(x, j),    s(x, x) = max_j s(x, j)^2 / s(j, j)

which is never negative, whatever the similarity, and 0 on a training row wherever
|s(i, j)|^2 <= s(i, i) s(j, j), as every kernel and every similarity scaled to s(i, i) = 1 has it.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from likewise.kernels import combine, interpolate, map_blocks, smallest_columns, weights_by_distance
from likewise.maps.map import Map, dense
from likewise.numerics.array_library import is_array_elsewhere, library_of


@dataclass(frozen=True, eq=False)
class NeighborMap(Map):
    """Rows to weighted means of the coordinates of their nearest training rows.

    Attributes
    ----------
    rows : array or CSR of shape (n, d)
        The training rows; with ``precomputed`` their similarity to themselves, (n,).
    coordinates : array of shape (n, n_directions)
        Those of the training rows.
    n_neighbors : int
        How many training rows count.
    precomputed : bool, default=False
        Whether rows come as similarities to the training rows.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.maps import NeighborMap
    >>> rows, coordinates = np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [1.0], [0.0]])
    >>> NeighborMap(rows, coordinates, n_neighbors=2).transform([[1.0], [0.5]])
    array([[1. ], [0.5]])
    """

    rows: np.ndarray  # (n, d) training rows, dense or CSR; precomputed: their s(j, j), (n,)
    coordinates: np.ndarray  # (n, q)
    n_neighbors: int
    precomputed: bool = False

    in_double: ClassVar[bool] = True  # small distances decide, and float32 loses them first

    @property
    def n_directions(self) -> int:
        return self.coordinates.shape[1]

    def times(self, matrix) -> "NeighborMap":
        """The map followed by a matrix (n_directions, q), as one."""
        return replace(self, coordinates=self.coordinates @ matrix)

    def _coordinates_of(self, X, dtype):
        if self.precomputed:
            return map_blocks(self._block, X, X.shape[1], self.n_directions)
        return interpolate(X, self.rows, self.coordinates, self.n_neighbors)

    def _block(self, S):
        return combine(self.coordinates, *similarity_weights(S, self.rows, self.n_neighbors))


def similarity_weights(S, lengths, n_neighbors: int):
    """Nearest training rows (m, k) by similarities (m, n) and their s(j, j), and their weights."""
    S = S if is_array_elsewhere(S) else np.asarray(dense(S), dtype=np.float64)
    xp = library_of(S)
    (unknown,) = xp.nonzero((lengths < 0) | ((lengths == 0) & xp.any(S != 0, axis=0)))
    if len(unknown):
        j = int(unknown[0])
        raise ValueError(
            f"New rows need the similarity of each training row with itself, and S[{j}, {j}] = "
            f"{float(lengths[j]):g}. Fit on a similarity with a positive diagonal, or use kernel_."
        )
    positive = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    own = xp.max(S**2 / positive, axis=1)[:, None]
    sq_dists = own + lengths - 2 * S
    sq_dists = xp.where(sq_dists > 0, sq_dists, xp.zeros_like(sq_dists))
    nearest = smallest_columns(sq_dists, min(n_neighbors + 1, len(lengths)))
    return nearest, weights_by_distance(xp.take_along_axis(sq_dists, nearest, axis=1))
