"""Diffusion coordinates: near is what a random walk over the neighbor graph soon confuses.

    P = D^-1/2 W D^-1/2 = V diag(w) V',   coordinates  z_i = c (w_r^t v_ri / sqrt(d_i))_r

over the leading eigenpairs, with c such that the mean squared norm is 1. Found piece by piece over
the connected pieces of the graph: there each leading eigenvalue 1 is simple, where a Lanczos
solver over the whole would have to find it repeated. A new row gets a weighted mean of the
coordinates of its k nearest training rows, at distances d_1 <= ... <= d_k < R, R the distance to
the next one:

    weight_j  proportional to  ((R - d_j) / d_j)^2

It is exactly 1 on a training row (shared equally by training rows that coincide), and 0 where the
set of neighbors changes. So the map is continuous, but where a row is equally far from all of its
k + 1 nearest, and returns the training coordinates of training rows.
Reference: coifman2006; franke1980 for the weights. We differ from the usual Nystrom extension,
which averages the neighbors and divides by w_r: it moves training rows, and blows up where w_r is
small.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from likewise.kernels.distances import nearest_rows
from likewise.kernels.graph import neighbor_graph, normalized_adjacency
from likewise.numerics.eigen import eigh
from likewise.numerics.psd import CUTOFF, fix_signs

SMALL = 400  # rows up to which a dense eigen-solver is faster and surer than a sparse one


@dataclass(frozen=True, eq=False)
class DiffusionMap:
    """Rows to diffusion coordinates, and their inner products; made by `diffusion_map`.

    Examples
    --------
    >>> from likewise.kernels import diffusion_map
    >>> to_coordinates = diffusion_map([[0.0], [1.0], [2.0], [9.0], [10.0]], n_neighbors=2)
    >>> to_coordinates.transform([[0.5], [9.5]]).shape == (2, len(to_coordinates.eigenvalues))
    True
    """

    rows: np.ndarray  # (n, d), dense or CSR, as given
    coordinates: np.ndarray  # (n, q), of the training rows
    eigenvalues: np.ndarray  # (q,), falling, in (0, 1]
    n_neighbors: int  # of the extension to new rows

    def transform(self, X) -> np.ndarray:
        """Coordinates (m, q) of any rows."""
        return interpolation_weights(X, self.rows, self.n_neighbors) @ self.coordinates

    def __call__(self, X, Y=None) -> np.ndarray:
        """Kernel values (n, m): inner products of coordinates; Y=None means X."""
        Z = self.transform(X)
        return Z @ (Z if Y is None else self.transform(Y)).T


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
        `transform(X)` gives coordinates, `k(X, Y)` their inner products.

    References
    ----------
    coifman2006, franke1980

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    >>> Z = diffusion_map(X, n_neighbors=2, n_components=2).transform([[0.5], [101.5]])
    >>> (Z @ Z.T).round(6)  # two pieces that no walk joins
    array([[1., 0.], [0., 1.]])
    """
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    W = neighbor_graph(X, n_neighbors)
    coordinates, eigenvalues = diffusion_coordinates(W, n_components=n_components, steps=steps)
    return DiffusionMap(X, coordinates, eigenvalues, n_neighbors)


def diffusion_coordinates(W, *, n_components: int = 40, steps: float = 3):
    """Diffusion coordinates from the symmetric weights (n, n) of a graph, dense or sparse.

    Parameters
    ----------
    W : array-like or sparse of shape (n, n)
        Weights of the edges.
    n_components : int, default=40
        Coordinates at most. Raising it keeps finer detail.
    steps : float, default=3
        Length of the walk. Raising it blurs what few steps tell apart.

    Returns
    -------
    coordinates : ndarray of shape (n, q)
        Mean squared norm 1.
    eigenvalues : ndarray of shape (q,)
        Falling, in (0, 1].

    References
    ----------
    coifman2006

    Examples
    --------
    >>> from likewise.kernels import diffusion_coordinates
    >>> chain = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    >>> coordinates, eigenvalues = diffusion_coordinates(chain, n_components=2)
    >>> eigenvalues
    array([1.])
    """
    if n_components < 1:
        raise ValueError(f"n_components={n_components} leaves no coordinate. Use 1 or more.")
    if not steps >= 0:
        raise ValueError(f"steps={steps} is negative: a walk has a length. Use 3.")
    P, degrees = normalized_adjacency(W)
    values, vectors = leading_eigenpairs(P, n_components)
    Z = vectors * values**steps / np.sqrt(degrees)[:, None]
    return Z / np.sqrt(np.square(Z).sum() / len(Z)), values


def leading_eigenpairs(P: csr_array, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest positive eigenvalues (q,) of a symmetric P, falling, and their vectors (n, q)."""
    n_pieces, piece = connected_components(P, directed=False)
    n_components = max(n_components, n_pieces)  # or whole pieces would end up at the origin
    order = np.argsort(piece, kind="stable")
    P = P[order][:, order]
    ends = np.cumsum(np.bincount(piece))
    found = [
        (start, *_largest_eigenpairs(P[start:end, start:end], n_components))
        for start, end in zip(np.r_[0, ends[:-1]], ends)
    ]
    every_value = np.concatenate([values for _, values, _ in found])
    of_piece = np.repeat(np.arange(n_pieces), [len(values) for _, values, _ in found])
    within = np.concatenate([np.arange(len(values)) for _, values, _ in found])
    best = np.argsort(-every_value, kind="stable")[:n_components]
    best = best[every_value[best] > CUTOFF * every_value[best[0]]]
    vectors = np.zeros((len(order), len(best)))
    for column, (p, r) in enumerate(zip(of_piece[best], within[best])):
        start, _, found_vectors = found[p]
        vectors[order[start : start + len(found_vectors)], column] = found_vectors[:, r]
    return np.minimum(every_value[best], 1.0), vectors


def interpolation_weights(X, rows, n_neighbors: int = 10) -> csr_array:
    """Weights over the nearest training rows that are continuous and reproduce the training rows.

    Parameters
    ----------
    X : array-like or CSR of shape (m, d)
    rows : array-like or CSR of shape (n, d)
        Training rows.
    n_neighbors : int, default=10
        Rows that share the weight, clipped to n - 1. Raising it smooths.

    Returns
    -------
    csr_array of shape (m, n)
        Not negative, each row sums to 1.

    References
    ----------
    franke1980

    Examples
    --------
    >>> interpolation_weights([[0.0], [1.0]], [[0.0], [2.0], [9.0]], n_neighbors=2).toarray()
    array([[1. , 0. , 0. ], [0.5, 0.5, 0. ]])
    """
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    k = min(n_neighbors, n - 1) or 1
    indices, sq_dists = nearest_rows(X, rows, min(k + 1, n))
    return weights_by_distance(indices, sq_dists, n)


def weights_by_distance(indices: np.ndarray, sq_dists: np.ndarray, n: int) -> csr_array:
    """The same from the k + 1 nearest of n rows, nearest first, and their squared distances."""
    dists = np.sqrt(sq_dists)
    nearest, reach = dists[:, :1], dists[:, -1:]
    # (R - d_j)/d_j times d_1: finite on a training row, where d_1 = 0.
    ratio = np.divide(nearest, dists, out=np.ones_like(dists), where=dists > 0)
    weights = np.square((reach - dists) * ratio)
    weights[(nearest == reach).ravel()] = 1.0  # all equally far
    weights /= weights.sum(axis=1, keepdims=True)
    starts = np.arange(0, indices.size + 1, indices.shape[1])
    return csr_array((weights.ravel(), indices.ravel(), starts), shape=(len(indices), n))


def _largest_eigenpairs(P: csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    n = P.shape[0]
    if n <= max(SMALL, 3 * k):
        values, vectors = eigh(P.toarray(), n_largest=k)
    else:
        start = np.random.default_rng(0).uniform(-1, 1, n)  # fixed: same graph, same coordinates
        values, vectors = eigsh(P, k=k, which="LA", v0=start)
    falling = np.argsort(-values, kind="stable")
    return values[falling], fix_signs(vectors[:, falling])
