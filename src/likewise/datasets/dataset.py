"""One small frozen record for every data set, whatever its source."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows, their classes, and what else came with them.

    Attributes
    ----------
    name : str
        What the set is called.
    X : ndarray of shape (n, d), csr_matrix of shape (n, d), list of n str, or None
        The rows. float64, or float32 where float64 would take more than 128 MiB; never scaled,
        never shuffled. Images are flattened. None for a set that has answers or edges only.
    y : ndarray of shape (n,), or None
        int64 class codes from 0, for every row.
    target_names : tuple of str
        The name of each code, or empty where the code is its own name (digits).
    feature_names : tuple of str
        The name of each column, or empty.
    extras : mapping of str to ndarray
        Further arrays under the names they have in the file, integers as int64, floats as float64.

    Examples
    --------
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> iris
    Dataset('iris': 150 rows, 4 features, 3 classes)
    >>> iris.target_names
    ('setosa', 'versicolor', 'virginica')
    >>> iris.take([0, 1, 149]).y
    array([0, 0, 2])
    """

    name: str
    X: Any = None
    y: np.ndarray | None = None
    target_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    extras: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def n_rows(self) -> int:
        """How many rows X and y have; 0 in a set that has neither."""
        if self.X is None:
            return 0 if self.y is None else len(self.y)
        return len(self.X) if isinstance(self.X, list) else self.X.shape[0]

    @property
    def n_classes(self) -> int:
        """How many classes occur in `y`; 0 without one."""
        return 0 if self.y is None else len(np.unique(self.y))

    def take(self, rows) -> "Dataset":
        """The same set with some of its rows, in the order given; `extras` has their numbers."""
        rows = np.arange(self.n_rows)[rows]  # a mask becomes numbers
        X: Any = [self.X[i] for i in rows] if isinstance(self.X, list) else self.X
        if X is self.X is not None:
            X = X[rows]
        y = None if self.y is None else self.y[rows]
        return replace(self, X=X, y=y, extras=MappingProxyType({"rows": rows}))

    def checksum(self) -> str:
        """SHA-256 of X and y, or, in a set without rows, of y and the extras."""
        arrays = {"y": self.y, **({} if self.X is not None else self.extras)}
        if isinstance(self.X, list):
            arrays |= {"text": np.frombuffer("\0".join(self.X).encode(), dtype=np.uint8)}
        elif sparse.issparse(self.X):
            arrays |= {"data": self.X.data, "columns": self.X.indices, "ends": self.X.indptr}
        else:
            arrays |= {"X": self.X}
        digest = hashlib.sha256()
        for key in sorted(arrays):
            if arrays[key] is not None:
                array = np.asarray(arrays[key])
                if array.dtype.kind in "iu":
                    array = array.astype(np.int64)  # scipy picks the width of sparse indices
                digest.update(f"{key} {array.dtype.str} {array.shape}".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        parts = []
        if self.X is not None:
            parts.append(f"{self.n_rows} rows")
            parts.append("text" if isinstance(self.X, list) else f"{self.X.shape[1]} features")
        if self.y is not None:
            parts.append(f"{self.n_classes} classes")
        if self.extras:
            parts.append("extras " + ", ".join(self.extras))
        return f"Dataset({self.name!r}: {', '.join(parts)})"
