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

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from likewise.kernels.distances import as_rows, nearest_rows
from likewise.kernels.graph import normalized_adjacency
from likewise.numerics.array_library import is_array_elsewhere, library_of
from likewise.numerics.eigen import eigh
from likewise.numerics.psd import CUTOFF, fix_signs
from likewise.numerics.threads import one_thread_if_small

SMALL = 400  # rows up to which a dense eigen-solver is faster and surer than a sparse one
DENSE = 5000  # and up to which it takes over where the sparse one does not settle
PATIENCE = 300  # restarts before that
ROUGH = 1e-6  # of eigenvalues, where there are more
TRACE = 1e-15  # of a step over an edge: beside steps that sum to 1 it is lost in rounding


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


def leading_eigenpairs(
    P: csr_array | np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """Largest positive eigenvalues (q,) of a symmetric P, falling, and their vectors (n, q)."""
    if isinstance(P, np.ndarray) and _is_tied_to_all(P):
        values, vectors = _largest_eigenpairs(P, n_components)
        kept = values > CUTOFF * values[0]
        return np.minimum(values[kept], 1.0), vectors[:, kept]
    P = _without_traces(P)
    n_pieces, piece = connected_components(P, directed=False)
    n_components = max(n_components, n_pieces)  # or whole pieces would end up at the origin
    order = np.argsort(piece, kind="stable")
    P = P[order][:, order]
    ends = np.cumsum(np.bincount(piece))
    pieces = [(start, P[start:end, start:end]) for start, end in zip(np.r_[0, ends[:-1]], ends)]
    found = [
        (start, *_largest_eigenpairs(Q, _first_count(n_components, Q.shape[0] / len(order))))
        for start, Q in pieces
    ]
    last = np.sort(np.concatenate([values for _, values, _ in found]))[-n_components:][0]
    for p, (start, Q) in enumerate(pieces):  # a piece that may hold more of the largest
        n_found = len(found[p][1])
        if n_found < min(n_components, Q.shape[0]) and found[p][1][-1] >= last:
            found[p] = (start, *_largest_eigenpairs(Q, n_components))
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


def _is_tied_to_all(P: np.ndarray) -> bool:
    """Whether one row is tied to all others, so that P is one piece, without looking further."""
    return any((np.abs(row) >= TRACE).all() for row in P)


def _without_traces(P) -> csr_array:
    """P without entries that rounding hides: pieces that these alone connect are pieces."""
    P = csr_array(P)
    if not (np.abs(P.data) < TRACE).any():
        return P
    P = P.copy()
    P.data[np.abs(P.data) < TRACE] = 0
    P.eliminate_zeros()
    return P


def _first_count(n_components: int, share: float) -> int:
    """How many eigenvalues of a piece with this share of the rows are looked for at first."""
    return min(n_components, int(2 * n_components * share) + 10)


def diffusion_kernel(X, Y=None, *, rows, coordinates, n_neighbors: int):
    """Inner products (n, m) of the diffusion coordinates of any rows.

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)
        Y=None means X.
    rows : array-like or CSR of shape (t, d)
        Training rows.
    coordinates : ndarray of shape (t, q)
        Theirs, by `diffusion_coordinates`.
    n_neighbors : int
        Training rows that a row's coordinates are a mean of.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> diffusion_kernel([[0.5]], rows=line, coordinates=line, n_neighbors=2)
    array([[0.25]])
    """
    Z = interpolate(X, rows, coordinates, n_neighbors)
    return Z @ (Z if Y is None else interpolate(Y, rows, coordinates, n_neighbors)).T


def interpolate(X, rows, coordinates, n_neighbors: int):
    """Weighted means (m, q) of the coordinates (n, q) of the nearest training rows (n, d)."""
    return combine(coordinates, *_nearest_weights(X, rows, n_neighbors))


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
    columns, weights = _nearest_weights(X, rows, n_neighbors)
    return _as_csr(columns, weights, as_rows(rows).shape[0])


def weights_by_distance(sq_dists):
    """Weights (m, k + 1) from the squared distances to the nearest rows, nearest first."""
    xp = library_of(sq_dists)
    dists = xp.sqrt(sq_dists)
    nearest, reach = dists[:, :1], dists[:, -1:]
    ones = xp.ones_like(dists)
    # (R - d_j)/d_j times d_1: finite on a training row, where d_1 = 0.
    ratio = xp.where(dists > 0, nearest / xp.where(dists > 0, dists, ones), ones)
    weights = ((reach - dists) * ratio) ** 2
    weights = xp.where(nearest == reach, ones, weights)  # all equally far
    return weights / xp.sum(weights, axis=1)[:, None]


def combine(coordinates, columns, weights):
    """Rows (n, q) that are weighted sums of a few coordinates (m, q) each: those of `columns`."""
    if not is_array_elsewhere(coordinates):
        return _as_csr(columns, weights, len(coordinates)) @ coordinates
    xp = library_of(coordinates)
    chosen = xp.take(coordinates, xp.reshape(columns, (-1,)), axis=0)
    chosen = xp.reshape(chosen, (*columns.shape, coordinates.shape[1]))
    return (weights[:, None, :] @ chosen)[:, 0, :]


def _nearest_weights(X, rows, n_neighbors: int):
    n = as_rows(rows).shape[0]
    k = min(n_neighbors, n - 1) or 1
    columns, sq_dists = nearest_rows(X, rows, min(k + 1, n))
    return columns, weights_by_distance(sq_dists)


def _as_csr(columns: np.ndarray, weights: np.ndarray, n: int) -> csr_array:
    ends = np.arange(0, columns.size + 1, columns.shape[1])
    return csr_array((weights.ravel(), columns.ravel(), ends), shape=(len(columns), n))


@one_thread_if_small(lambda P, k: P.shape[0] * k)  # Lanczos: one vector at a time
def _largest_eigenpairs(P: csr_array | np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    n = P.shape[0]
    if n <= max(SMALL, 3 * k):
        values, vectors = eigh(_full(P), n_largest=k)
    else:
        start = np.random.default_rng(0).uniform(-1, 1, n)  # fixed: same graph, same coordinates
        try:
            n_rounds = PATIENCE if n <= DENSE else None
            values, vectors = eigsh(P, k=k, which="LA", v0=start, maxiter=n_rounds)
        except ArpackNoConvergence:  # the leading eigenvalues can hardly be told apart
            if n <= DENSE:
                values, vectors = eigh(_full(P), n_largest=k)
            else:
                values, vectors = eigsh(P, k=k, ncv=4 * k + 40, which="LA", v0=start, tol=ROUGH)
    falling = np.argsort(-values, kind="stable")
    return values[falling], fix_signs(vectors[:, falling])


def _full(P: csr_array | np.ndarray) -> np.ndarray:
    return P if isinstance(P, np.ndarray) else P.toarray()
