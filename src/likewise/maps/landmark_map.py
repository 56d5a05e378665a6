"""Rows as combinations of their nearest landmarks, by weights that a kernel's space gives.

    z(x) = sum_j w_j(x) z_j,   w = argmin |phi(x) - sum_j w_j phi(x_j)|^2   s.t.  sum_j w_j = 1

A ridge that vanishes on a landmark steadies the weights: the landmark is mapped to itself. The
systems are solved in float64 on a device too, since near a landmark they are next to singular.
Reference: yeung2007. We differ from it in the ridge.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from array_api_compat import device

from likewise.kernels import combine, kernel_diagonal, map_blocks, smallest_columns
from likewise.maps.map import Map
from likewise.numerics.array_library import is_array_elsewhere, library_of

RIDGE = 1e-3  # of the squared distance to the nearest landmark: steadies the local weights
ROUNDING = 1e-10  # of the mean squared distance to them: keeps the system regular on a landmark
MAX_PASSES = 100  # far beyond where the nearest landmarks stop changing


@dataclass(frozen=True, eq=False)
class LandmarkMap(Map):
    """Rows to combinations of the coordinates of their nearest landmarks.

    Attributes
    ----------
    base_kernel : callable
        ``k(X, Y) -> (n, m)``.
    landmarks : array or CSR of shape (m, d)
    gram : array of shape (m, m)
        The kernel of the landmarks.
    coordinates : array of shape (m, n_directions)
        Those of the landmarks.
    n_neighbors : int
        How many landmarks a row is a combination of.
    n_passes : int, default=1
        Beyond 1, the nearest landmarks are chosen again in the learned space.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.kernels import linear
    >>> from likewise.maps import LandmarkMap
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> to_corners = LandmarkMap(linear, corners, linear(corners), np.eye(3), n_neighbors=3)
    >>> to_corners.transform([[0.0, 1.0]]).round(3)
    array([[0., 0., 1.]])
    """

    base_kernel: Callable  # k(X, Y) -> (n, m)
    landmarks: np.ndarray  # (m, d), dense or CSR
    gram: np.ndarray  # (m, m), the kernel of the landmarks
    coordinates: np.ndarray  # (m, q)
    n_neighbors: int
    n_passes: int = 1  # beyond 1: nearest landmarks are chosen again in the learned space

    in_double: ClassVar[bool] = True

    def __post_init__(self):
        if not 1 <= self.n_passes <= MAX_PASSES:  # also of a model file: it is a loop of transform
            raise ValueError(f"n_passes={self.n_passes} must be between 1 and {MAX_PASSES}.")

    @property
    def n_directions(self) -> int:
        return self.coordinates.shape[1]

    def _coordinates_of(self, X, dtype):
        n_columns = max(len(self.gram), self.n_neighbors**2)
        Z = map_blocks(self._block, X, n_columns, self.n_directions)
        for _ in range(1, self.n_passes):
            Z = map_blocks(self._again, Z, n_columns, self.n_directions)
        return Z

    def _block(self, rows):
        own, cross = kernel_diagonal(self.base_kernel, rows), self.base_kernel(rows, self.landmarks)
        return self._combine(own, cross, self.gram)

    def _again(self, Z):
        own = library_of(Z).sum(Z**2, axis=1)
        return self._combine(own, Z @ self.coordinates.T, self.coordinates @ self.coordinates.T)

    def _combine(self, own, cross, gram):
        return combine(self.coordinates, *local_weights(own, cross, gram, self.n_neighbors))


def local_weights(own, cross, gram, n_neighbors: int):
    """Nearest landmarks (n, k) in a kernel's space, and weights (n, k), summing to 1, of them.

    `own` (n,) is k(x, x), `cross` (n, m) k(x, landmarks) and `gram` (m, m) the landmarks' kernel.
    """
    xp, k = library_of(own), min(n_neighbors, len(gram))
    sq_dists = own[:, None] + xp.linalg.diagonal(gram) - 2 * cross
    nearest = smallest_columns(xp.where(sq_dists > 0, sq_dists, xp.zeros_like(sq_dists)), k)
    near = xp.take_along_axis(cross, nearest, axis=1)
    pairs = xp.reshape(nearest[:, :, None] * len(gram) + nearest[:, None, :], (-1,))
    grams = xp.reshape(xp.take(xp.reshape(gram, (-1,)), pairs), (*nearest.shape, k))
    G = grams + own[:, None, None] - near[:, :, None] - near[:, None, :]
    closest = G[:, 0, 0]
    closest = xp.where(closest > 0, closest, xp.zeros_like(closest))
    mean = xp.linalg.trace(G) / k
    # On a landmark the ridge is next to nothing, and its own weight is all there is.
    ridge = RIDGE * closest + ROUNDING * xp.where(mean > 0, mean, xp.ones_like(mean))
    where = device(own) if is_array_elsewhere(own) else None
    G = G + ridge[:, None, None] * xp.eye(k, dtype=G.dtype, device=where)
    weights = xp.linalg.solve(G, xp.ones_like(near)[:, :, None])[:, :, 0]
    return nearest, weights / xp.sum(weights, axis=1)[:, None]
