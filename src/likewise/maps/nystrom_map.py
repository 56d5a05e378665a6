"""The Nystrom map: coordinates for any row from its kernel values with a few landmarks.

    z(x) = W' k(landmarks, x),   W W' = K_mm^+      so that   Z Z' = K_nm K_mm^+ K_mn

New rows go through the same map, and a PSD kernel is exact on pairs with a landmark. K_mm^+ leaves
out negative eigenvalues and those below 1e-10 of the largest, so an indefinite kernel is served
too. What is learned afterwards is a factor of W.
Reference: williams2001. We differ from scikit-learn's Nystroem, which turns negative eigenvalues
positive.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from likewise.kernels import map_blocks
from likewise.maps.map import Map
from likewise.numerics.psd import CUTOFF, positive_part


@dataclass(frozen=True, eq=False)
class NystromMap(Map):
    """Rows to coordinates through their kernel with landmarks; made by `nystrom_map`.

    Attributes
    ----------
    base_kernel : callable
        ``k(X, Y) -> (n, m)``.
    landmarks : array or CSR of shape (m, d)
    whitening : array of shape (m, n_directions)
        What turns a row's kernel with the landmarks into its coordinates.
    negative_share : float
        Of the spectrum of the landmarks' kernel, which was dropped.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> from likewise.kernels import linear
    >>> from likewise.maps import nystrom_map
    >>> to_coordinates = nystrom_map(linear, [[1.0, 0.0], [0.0, 2.0]])
    >>> Z = to_coordinates.transform([[3.0, 4.0]])
    >>> round(float(Z[0] @ Z[0]), 6)
    25.0
    """

    base_kernel: Callable  # k(X, Y) -> (n, m)
    landmarks: np.ndarray  # (m, d), dense or CSR
    whitening: np.ndarray  # W (m, r)
    negative_share: float  # of the spectrum of K_mm, dropped

    @property
    def n_directions(self) -> int:
        return self.whitening.shape[1]

    def times(self, matrix) -> "NystromMap":
        """The map followed by a matrix (n_directions, q), as one."""
        return replace(self, whitening=self.whitening @ matrix)

    def _coordinates_of(self, X, dtype):
        return map_blocks(self._block, X, *self.whitening.shape)

    def _block(self, rows):
        return self.base_kernel(rows, self.landmarks) @ self.whitening


def nystrom_map(kernel: Callable, landmarks, *, share: float = 1.0, cutoff: float = CUTOFF):
    """Fit the map on the landmarks alone.

    Parameters
    ----------
    kernel : callable
        `kernel(X, Y)` is the (n, m) matrix of values.
    landmarks : array-like or CSR of shape (m, d)
        Rows, for instance `X[choose_landmarks(X, 500)]`.
    share : float, default=1.0
        Share of the trace of the landmarks' kernel to keep. Raising it gives more coordinates.
    cutoff : float, default=1e-10
        Eigenvalues up to `cutoff` times the largest are dropped. Raising it drops more.

    Returns
    -------
    NystromMap
        `transform(X)` gives coordinates (n, r).

    References
    ----------
    williams2001

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.kernels import linear
    >>> from likewise.maps import nystrom_map
    >>> Z = nystrom_map(linear, np.eye(2)).transform([[3.0, 4.0]])
    >>> (Z @ Z.T).round(6)
    array([[25.]])
    """
    landmarks = (
        landmarks if hasattr(landmarks, "shape") else np.asarray(landmarks, dtype=np.float64)
    )
    part = positive_part(kernel(landmarks, landmarks), share=share, cutoff=cutoff)
    return NystromMap(kernel, landmarks, part.vectors / np.sqrt(part.values), part.negative_share)
