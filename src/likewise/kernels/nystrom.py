"""The Nystrom map: coordinates for any row from its kernel values with a few landmarks.

    z(x) = W' k(landmarks, x),   W W' = K_mm^+      so that   Z Z' = K_nm K_mm^+ K_mn

New rows go through the same map, and a PSD kernel is exact on pairs with a landmark. K_mm^+ leaves
out negative eigenvalues and those below 1e-10 of the largest, so an indefinite kernel is served
too.
Reference: williams2001. We differ from scikit-learn's Nystroem, which turns negative eigenvalues
positive.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likewise.kernels.distances import row_blocks
from likewise.numerics.psd import CUTOFF, positive_part


@dataclass(frozen=True, eq=False)
class NystromMap:
    """Rows to coordinates through landmarks; made by `nystrom_map`.

    Examples
    --------
    >>> from likewise.kernels import linear, nystrom_map
    >>> to_coordinates = nystrom_map(linear, [[1.0, 0.0], [0.0, 2.0]])
    >>> Z = to_coordinates.transform([[3.0, 4.0]])
    >>> round(float(Z[0] @ Z[0]), 6)
    25.0
    """

    kernel: Callable  # k(X, Y) -> (n, m)
    landmarks: np.ndarray  # (m, d), dense or CSR
    whitening: np.ndarray  # W (m, r)
    negative_share: float  # of the spectrum of K_mm, dropped

    def transform(self, X) -> np.ndarray:
        """Coordinates (n, r), a block of rows at a time."""
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        Z = np.empty((X.shape[0], self.whitening.shape[1]))
        for rows in row_blocks(X.shape[0], len(self.whitening)):
            Z[rows] = self.kernel(X[rows], self.landmarks) @ self.whitening
        return Z


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
    >>> Z = nystrom_map(linear, np.eye(2)).transform([[3.0, 4.0]])
    >>> (Z @ Z.T).round(6)
    array([[25.]])
    """
    landmarks = (
        landmarks if hasattr(landmarks, "shape") else np.asarray(landmarks, dtype=np.float64)
    )
    part = positive_part(kernel(landmarks, landmarks), share=share, cutoff=cutoff)
    return NystromMap(kernel, landmarks, part.vectors / np.sqrt(part.values), part.negative_share)
