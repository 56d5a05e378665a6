"""Rows of length 1: their inner products are cosines.

    z(x) = y / |y|,   y = weights f(x),   f(x) = x or log(1 + x)

With inverse document frequencies as weights, and the logarithm, counts of words become tf-idf. A
row of zeros stays one.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from likewise.maps.linear_map import divide_columns
from likewise.maps.map import Map
from likewise.numerics.array_library import library_of


@dataclass(frozen=True, eq=False)
class UnitLengthMap(Map):
    """Features times weights, as logarithms if wanted, each row divided by its length.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.maps import UnitLengthMap
    >>> UnitLengthMap(np.array([3.0, 1.0])).transform([[1.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    in_double: ClassVar[bool] = True  # angles between rows that are nearly parallel need it

    weights: np.ndarray  # (d,), above 0
    takes_log: bool = False  # of 1 + x first, for counts

    @property
    def n_directions(self) -> int:
        return self.weights.shape[0]

    def _coordinates_of(self, X, dtype):
        xp = library_of(X)
        if issparse(X):
            X = csr_array(X, dtype=np.float64)
            X = divide_columns(X.log1p() if self.takes_log else X, 1 / self.weights)
            lengths = np.sqrt(X.multiply(X).sum(axis=1))
            return diags_array(1 / np.where(lengths > 0, lengths, 1)) @ X
        X = xp.astype(X, xp.float64, copy=False)
        X = divide_columns(xp.log1p(X) if self.takes_log else X, 1 / self.weights)
        lengths = xp.sqrt(xp.sum(X * X, axis=1, keepdims=True))
        return X / xp.where(lengths > 0, lengths, xp.ones_like(lengths))
