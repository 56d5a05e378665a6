"""What every learner ends as: rows to coordinates whose inner products are the learned kernel.

    kernel(X, Y) = transform(X) @ transform(Y).T        of any rows, new ones too

A map is a small frozen record of arrays. NumPy rows (dense, and CSR where the arithmetic allows it)
are worked on in float64, or for linear maps in their own float type; the result has the type of the
rows. `like` moves the arrays to another library and device, and from there rows of it are mapped.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from likewise.maps.map_devices import move_like
from likewise.numerics.array_library import is_array_elsewhere, library_of
from likewise.numerics.threads import one_thread_if_small


class Map(ABC):
    """Coordinates for any rows; a subclass says how they are found.

    Every fitted learner has one, as ``map_``. It needs no estimator and checks no rows.
    """

    in_double: ClassVar[bool] = False  # whether a device, too, computes it in float64

    @property
    @abstractmethod
    def n_directions(self) -> int:
        """How many coordinates a row gets."""

    @abstractmethod
    def _coordinates_of(self, X, dtype):
        """Coordinates (n, q) of rows (n, d), in `dtype` or a wider float type, or sparse."""

    def transform(self, X, *, dtype=None):
        """Coordinates of rows.

        Parameters
        ----------
        X : array-like, CSR or array of the map's own library, of shape (n, d)
        dtype : dtype, default=None
            Float type of the result; None is that of X.

        Returns
        -------
        Z : array of shape (n, n_directions)
        """
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        xp = library_of(X)
        if X.dtype not in (xp.float32, xp.float64):
            X = X.astype(np.float64)
        dtype = X.dtype if dtype is None else dtype
        return xp.astype(dense(self.apply(X, dtype)), dtype, copy=False)

    @one_thread_if_small(lambda self, X, dtype: X.shape[0] * max(X.shape[1], self.n_directions))
    def apply(self, X, dtype):
        """Coordinates (n, q) of an array of rows as they are made: in a wider type, or sparse."""
        if self.in_double and is_array_elsewhere(X):
            X = library_of(X).astype(X, library_of(X).float64)
        return self._coordinates_of(X, dtype)

    def kernel(self, X, Y=None):
        """Inner products of coordinates, (n, m); Y=None means X. NumPy's are in float64."""
        dtype = X.dtype if is_array_elsewhere(X) else np.float64
        Z = self.transform(X, dtype=dtype)
        return Z @ (Z if Y is None else self.transform(Y, dtype=dtype)).T

    def like(self, rows) -> Self:
        """The same map for rows of this library, on this device and of this float type.

        Parameters
        ----------
        rows : array
            For instance a torch tensor on a GPU; it may have no rows.

        Returns
        -------
        Map

        Raises
        ------
        TypeError
            What the map holds cannot go there: sparse rows, or a kernel that is a user's own.
        """
        return move_like(self, rows)


def dense(X):
    """Sparse rows as an array, others as they are."""
    return X.toarray() if issparse(X) else X
