"""Diffusion coordinates as a map: found on the graph of the training rows, and for new ones too.

A new row gets a weighted mean of the coordinates of its nearest training rows, and a training row
its own (`likewise.kernels.interpolation_weights`).
Reference: coifman2006, franke1980.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from likewise.kernels import diffusion_coordinates, interpolate, neighbor_graph
from likewise.maps.map import Map


@dataclass(frozen=True, eq=False)
class DiffusionMap(Map):
    """Rows to diffusion coordinates; made by `diffusion_map`.

    Attributes
    ----------
    rows : array or CSR of shape (n, d)
        The training rows, as given.
    coordinates : array of shape (n, n_directions)
        Those of the training rows.
    eigenvalues : array of shape (n_directions,)
        Of the walk, falling, in (0, 1].
    n_neighbors : int
        Whose coordinates a new row gets the weighted mean of.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> from likewise.maps import diffusion_map
    >>> to_coordinates = diffusion_map([[0.0], [1.0], [2.0], [9.0], [10.0]], n_neighbors=2)
    >>> to_coordinates.transform([[0.5], [9.5]]).shape == (2, len(to_coordinates.eigenvalues))
    True
    """

    rows: np.ndarray  # (n, d), dense or CSR, as given
    coordinates: np.ndarray  # (n, q), of the training rows
    eigenvalues: np.ndarray  # (q,), falling, in (0, 1]: of the walk, before any factor
    n_neighbors: int  # of the extension to new rows

    in_double: ClassVar[bool] = True  # small distances decide, and float32 loses them first

    @property
    def n_directions(self) -> int:
        return self.coordinates.shape[1]

    def times(self, matrix) -> "DiffusionMap":
        """The map followed by a matrix (n_directions, q), as one."""
        return replace(self, coordinates=self.coordinates @ matrix)

    def _coordinates_of(self, X, dtype):
        return interpolate(X, self.rows, self.coordinates, self.n_neighbors)


def diffusion_map(X, *, n_neighbors: int = 10, n_components: int = 40, steps: float = 3):
    """Fit diffusion coordinates on the graph of nearest rows.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Training rows; kept, not copied.
    n_neighbors : int, default=10
        Of the graph, and of the extension to new rows; clipped to n - 1. Raising it smooths.
    n_components : int, default=40
        How many coordinates. Raising it keeps finer structure. It is raised to the number of
        connected pieces of the graph, and lowered to the number of positive eigenvalues.
    steps : float, default=3
        Length t of the walk. Raising it favors the coarse structure.

    Returns
    -------
    DiffusionMap
        `transform(X)` gives coordinates, `kernel(X, Y)` their inner products.

    References
    ----------
    coifman2006, franke1980

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.maps import diffusion_map
    >>> X = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    >>> Z = diffusion_map(X, n_neighbors=2, n_components=2).transform([[0.5], [101.5]])
    >>> (Z @ Z.T).round(6)  # two pieces that no walk joins
    array([[1., 0.], [0., 1.]])
    """
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    W = neighbor_graph(X, n_neighbors)
    coordinates, eigenvalues = diffusion_coordinates(W, n_components=n_components, steps=steps)
    return DiffusionMap(X, coordinates, eigenvalues, n_neighbors)
