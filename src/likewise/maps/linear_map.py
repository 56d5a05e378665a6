"""A linear map, with a shift and a scale of the features before it.

    z(x) = matrix' ((x - center) / scale)

Metric learners end as the matrix alone, with M = matrix matrix'. scikit-learn's linear
transformers are of this form too (`as_map`). The shift is part of z, so inner products are those of
shifted rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.sparsefuncs import inplace_column_scale

from likewise.maps.map import Map, dense
from likewise.numerics.array_library import library_of


@dataclass(frozen=True, eq=False)
class LinearMap(Map):
    """Rows times a matrix, shifted and scaled before, each where it is there.

    Attributes
    ----------
    matrix : array of shape (d, n_directions), default=None
        None is the identity.
    center : array of shape (d,), default=None
        Taken off first.
    scale : array of shape (d,), default=None
        What the features are then divided by.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.maps import LinearMap
    >>> LinearMap(np.array([[2.0], [1.0]]), center=np.array([1.0, 0.0])).transform([[3.0, 4.0]])
    array([[8.]])
    """

    matrix: np.ndarray | None = None  # (d, q); None is the identity
    center: np.ndarray | None = None  # (d,), taken off first
    scale: np.ndarray | None = None  # (d,), by which the features are then divided

    def __post_init__(self):
        if self.matrix is None and self.center is None and self.scale is None:
            raise ValueError("LinearMap has no matrix, center or scale. Use scale=np.ones(d).")

    @property
    def n_directions(self) -> int:
        given = (one for one in (self.matrix, self.center, self.scale) if one is not None)
        return next(given).shape[-1]

    def times(self, matrix) -> "LinearMap":
        """The map followed by a matrix (n_directions, q), as one."""
        return replace(self, matrix=matrix if self.matrix is None else self.matrix @ matrix)

    def _coordinates_of(self, X, dtype):
        xp = library_of(X)
        dtype = xp.result_type(X.dtype, dtype)
        if issparse(X):
            X = csr_array(X, dtype=dtype)
        else:
            X = xp.astype(X, dtype, copy=False)
        if self.center is not None:
            X = dense(X) - xp.astype(self.center, dtype, copy=False)
        if self.scale is not None:
            X = divide_columns(X, self.scale)
        if self.matrix is not None:
            X = X @ xp.astype(self.matrix, dtype, copy=False)
        return X


def divide_columns(X, scale):
    """Every column by its own number; sparse rows stay sparse."""
    if not issparse(X):
        return X / library_of(X).astype(scale, X.dtype, copy=False)
    X = X.copy()
    inplace_column_scale(X, 1 / scale)
    return X
