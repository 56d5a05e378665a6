"""Sparse neighbor graphs and their normalized Laplacian.

    L = (1 + delta) I - D^-1/2 W D^-1/2,   D = diag(sum_j |W_ij|)

W is the symmetric 0/1 graph of nearest rows, or comes from any symmetric similarity, even an
indefinite one. |x' D^-1/2 W D^-1/2 x| <= x'x because D is the absolute degree, so the eigenvalues
of L lie in [delta, 2 + delta]. A row without neighbors gets a self-loop of weight 1: its degree is
never 0.
Reference: hoi2007, section 2. We differ from it in saying delta (the paper does not), and in the
absolute degree.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, issparse

from likewise.kernels.distances import nearest_rows, smallest_columns

ASYMMETRY = 1e-8  # of the largest entry: more than rounding


def neighbor_graph(X, n_neighbors: int = 5) -> csr_array:
    """Symmetric 0/1 graph that joins each row to its nearest rows.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    n_neighbors : int, default=5
        Clipped to n - 1. Raising it connects more and blurs more. A row may end up with more
        neighbors, those that chose it. Equal rows are neighbors; among equal distances the lower
        index is chosen.

    Returns
    -------
    csr_array of shape (n, n)
        Zero diagonal.

    References
    ----------
    hoi2007

    Examples
    --------
    >>> neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.], [1., 0., 1.], [0., 1., 0.]])
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    indices, _ = nearest_rows(X, X, _clipped(n_neighbors, n), exclude_self=True)
    return _joined_either_way(indices)


def self_tuning_graph(
    X, n_neighbors: int = 10, *, scale_neighbor: int = 7, one_sided: float = 1.0
) -> csr_array:
    """Symmetric graph of nearest rows, weighted by distances in units of the local density.

    The weight of the edge between i and j is ``exp(-|x_i - x_j|^2 / (sigma_i sigma_j))``, where
    ``sigma_i`` is the distance from row i to its `scale_neighbor`-th neighbor.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    n_neighbors : int, default=10
        As in `neighbor_graph`.
    scale_neighbor : int, default=7
        Which neighbor sets the unit, clipped to `n_neighbors`. Raising it evens out the weights.
    one_sided : float, default=1.0
        What the weight of an edge is multiplied by if only one of its rows has the other among its
        neighbors. Lowering it weakens the edges that lead from sparse regions into others, and
        keeps the graph connected.

    Returns
    -------
    csr_array of shape (n, n)
        Zero diagonal, weights from 0 to 1; edges whose weight rounds to 0 are left out.

    References
    ----------
    zelnik2004; ozaki2011 for edges that both rows share.

    Examples
    --------
    >>> self_tuning_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray().round(3)
    array([[0.   , 0.368, 0.   ], [0.368, 0.   , 0.135], [0.   , 0.135, 0.   ]])
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if scale_neighbor < 1:
        raise ValueError(f"scale_neighbor={scale_neighbor} measures no neighbor. Use 1 or more.")
    k = _clipped(n_neighbors, n)
    indices, sq_dists = nearest_rows(X, X, k, exclude_self=True)
    if not k:  # a single row
        return csr_array((n, n), dtype=np.float64)
    scales = np.sqrt(sq_dists[:, min(scale_neighbor, k) - 1])
    smallest = scales[scales > 0].min(initial=np.inf)
    # So many coincident neighbors that the unit would be 0 and the weight 0/0.
    scales = np.where(scales > 0, scales, smallest if np.isfinite(smallest) else 1.0)
    i, j = np.repeat(np.arange(n), k), indices.ravel()
    weights = np.exp(-sq_dists.ravel() / (scales[i] * scales[j]))
    W = csr_array((weights, (i, j)), shape=(n, n))
    if one_sided == 1:
        W = csr_array(W.maximum(W.T))
    else:
        mutual = W.minimum(W.T)
        W = csr_array(one_sided * W.maximum(W.T) + (1 - one_sided) * mutual)
    W.eliminate_zeros()
    return W


def similarity_graph(S, n_neighbors: int | None = 5) -> csr_array:
    """Symmetric graph that joins each row to those most similar to it, weighted by similarity.

    Parameters
    ----------
    S : array-like or sparse of shape (n, n)
        Symmetric; may have negative entries. In a sparse S only the stored entries can be chosen.
    n_neighbors : int or None, default=5
        Clipped to n - 1. Raising it connects more. None keeps every entry off the diagonal.

    Returns
    -------
    csr_array of shape (n, n)
        Zero diagonal.

    References
    ----------
    hoi2007

    Examples
    --------
    >>> S = [[1.0, 0.9, 0.1], [0.9, 1.0, -0.5], [0.1, -0.5, 1.0]]
    >>> similarity_graph(S, n_neighbors=1).toarray()
    array([[0. , 0.9, 0.1], [0.9, 0. , 0. ], [0.1, 0. , 0. ]])
    """
    S = check_similarity(S)
    n = S.shape[0]
    if n_neighbors is None:
        joined = csr_array(np.ones((n, n)) - np.eye(n)) if not issparse(S) else _off_diagonal(S)
    elif issparse(S):
        joined = _joined_either_way(_most_similar_stored(S, _clipped(n_neighbors, n)))
    else:
        dissimilarity = -S
        np.fill_diagonal(dissimilarity, np.inf)
        joined = _joined_either_way(smallest_columns(dissimilarity, _clipped(n_neighbors, n)))
    W = csr_array(joined.multiply(S))
    W.eliminate_zeros()
    return W


def normalized_adjacency(W) -> tuple[csr_array, np.ndarray]:
    """P = D^-1/2 W D^-1/2 and the degrees (n,); rows without neighbors get a self-loop of 1.

    Parameters
    ----------
    W : array-like or sparse of shape (n, n)
        Symmetric weights; negative ones count by their size in the degrees.

    See Also
    --------
    normalized_similarity : The same of weights that are hardly ever 0.

    Examples
    --------
    >>> P, degrees = normalized_adjacency([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> P.toarray(), degrees
    (array([[0., 1., 0.], [1., 0., 0.], [0., 0., 1.]]), array([2., 2., 1.]))
    """
    W = csr_array(W, dtype=np.float64)
    degrees = np.asarray(abs(W).sum(axis=1)).ravel()
    isolated = degrees == 0
    degrees = np.where(isolated, 1.0, degrees)
    P = W.tocoo()
    i, j = P.coords
    P.data = P.data / np.sqrt(
        degrees[i] * degrees[j]
    )  # the same product both ways: exactly symmetric
    return csr_array(P + diags_array(isolated.astype(np.float64))), degrees


def normalized_similarity(A: np.ndarray) -> np.ndarray:
    """D^-1/2 A D^-1/2 of a full array (n, n), which stays one.

    Examples
    --------
    >>> normalized_similarity(np.array([[1.0, -1.0], [-1.0, 7.0]]))
    array([[ 0.5  , -0.25 ],
           [-0.25 ,  0.875]])
    """
    degrees = np.array([np.abs(row).sum() for row in A])
    roots = np.sqrt(np.where(degrees == 0, 1.0, degrees))
    P = A / roots
    P /= roots[:, None]
    P[degrees == 0, degrees == 0] = 1.0
    return P


def laplacian(W, *, delta: float = 0.01) -> csr_array:
    """Normalized Laplacian of a graph, made positive definite.

    Parameters
    ----------
    W : array-like or sparse of shape (n, n)
        Symmetric weights, of either sign.
    delta : float, default=0.01
        Smallest possible eigenvalue. Raising it lets a kernel learned from L vary more freely over
        the graph.

    Returns
    -------
    csr_array of shape (n, n)

    References
    ----------
    hoi2007

    Examples
    --------
    >>> laplacian([[0.0, 1.0], [1.0, 0.0]], delta=0.5).toarray()
    array([[ 1.5, -1. ], [-1. ,  1.5]])
    """
    if delta < 0:
        raise ValueError(
            f"delta={delta} is negative: L would not be positive semi-definite. Use 0.01."
        )
    P, _ = normalized_adjacency(W)
    return csr_array((1 + delta) * eye_array(P.shape[0]) - P)


def check_similarity(S):
    """S in float64, dense or CSR; one error when it is not square, finite and symmetric."""
    S = csr_array(S, dtype=np.float64) if issparse(S) else np.asarray(S, dtype=np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"A similarity matrix is square; this one has shape {S.shape}.")
    if not np.isfinite(S.data if issparse(S) else S).all():
        raise ValueError(
            "The similarity matrix has NaN or infinite entries. Fill or drop their rows."
        )
    gap = abs(S - S.T)
    if gap.max() > ASYMMETRY * abs(S).max():
        i, j = np.unravel_index(gap.argmax(), gap.shape)
        raise ValueError(
            f"S[{i}, {j}] = {S[i, j]:g} but S[{j}, {i}] = {S[j, i]:g}. Use (S + S') / 2."
        )
    return S


def _clipped(n_neighbors: int, n: int) -> int:
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors} leaves every row alone. Use 1 or more.")
    return min(n_neighbors, n - 1)


def _joined_either_way(indices) -> csr_array:
    """0/1 graph that joins i and j when either chose the other; -1 stands for no neighbor."""
    n, k = indices.shape
    i, j = np.repeat(np.arange(n), k), indices.ravel()
    i, j = i[j >= 0], j[j >= 0]
    chosen = csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return csr_array(chosen.maximum(chosen.T))


def _off_diagonal(S: csr_array) -> csr_array:
    i, j = S.nonzero()
    return csr_array((np.ones((i != j).sum()), (i[i != j], j[i != j])), shape=S.shape)


def _most_similar_stored(S: csr_array, k: int) -> np.ndarray:
    """Columns (n, k) of the largest stored entries off the diagonal; -1 where there are fewer."""
    entries = S.tocoo()
    i, j = entries.coords
    off = i != j
    i, j, values = i[off], j[off], entries.data[off]
    order = np.lexsort((j, -values, i))
    i, j = i[order], j[order]
    rank = np.arange(len(i)) - np.searchsorted(i, i)
    columns = np.full((S.shape[0], k), -1, dtype=np.int64)
    columns[i[rank < k], rank[rank < k]] = j[rank < k]
    return columns
