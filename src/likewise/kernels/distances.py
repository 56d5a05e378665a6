"""Squared Euclidean distances and nearest rows, exact and in blocks.

    |x - y|^2 = |x|^2 + |y|^2 - 2 x'y

The right side is one matrix product, but it cancels when x and y are close and far from the
origin: equal rows end up 1e-8 apart. So dense rows are first centered on the mean of Y, and the
pairs that still cancel are computed again from their differences. Every squared distance is then
good to about 1e-8 of itself, and equal rows are at 0. Rows may be dense or CSR, float32 or
float64; the arithmetic is in float64.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

BLOCK_ENTRIES = 2**20  # 8 MB of float64: the passes over a block stay in cache
CANCELLED = 1e-7  # |x - y|^2 below this share of |x|^2 + |y|^2 has lost half its digits


def as_rows(X):
    """The same rows in float64, dense or CSR, copied only when needed."""
    return csr_array(X, dtype=np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)


def sq_distances(X, Y=None) -> np.ndarray:
    """Squared distances between the rows of X and the rows of Y.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    Y : array-like or CSR of shape (m, d), default=None
        None means X; the result is then exactly symmetric with a diagonal of zeros.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> sq_distances([[0.0, 0.0], [3.0, 4.0]])
    array([[ 0., 25.], [25.,  0.]])
    """
    is_square = Y is None or Y is X
    X, Y = _centered(X, X if is_square else Y)
    sq = _expand(X, Y, row_norms(X, squared=True), row_norms(Y, squared=True))
    return (sq + sq.T) / 2 if is_square else sq


def sq_distance_blocks(X, Y) -> Iterator[tuple[slice, np.ndarray]]:
    """Squared distances from a few rows of X at a time to all of Y: (which rows, their block).

    Parameters
    ----------
    X, Y : array-like or CSR of shape (n, d) and (m, d)

    Examples
    --------
    >>> for rows, block in sq_distance_blocks([[0.0], [3.0]], [[1.0]]):
    ...     print(rows, block.ravel())
    slice(0, 2, None) [1. 4.]
    """
    X, Y = _centered(X, Y)
    X_norms, Y_norms = row_norms(X, squared=True), row_norms(Y, squared=True)
    for rows in row_blocks(X.shape[0], Y.shape[0]):
        yield rows, _expand(X[rows], Y, X_norms[rows], Y_norms)


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows so that a block of this many columns stays near 8 MB.

    Parameters
    ----------
    n_rows, n_columns : int
        Of the whole.

    Examples
    --------
    >>> list(row_blocks(3, 400_000))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    step = max(1, BLOCK_ENTRIES // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def nearest_rows(X, rows, n_neighbors: int, *, exclude_self: bool = False):
    """Exact nearest rows, nearest first; among equals the lower index first.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    rows : array-like or CSR of shape (m, d)
        Where the neighbors are looked for.
    n_neighbors : int
        At most m, or m - 1 when `exclude_self`.
    exclude_self : bool, default=False
        X is `rows`, and no row is its own neighbor. It goes by index, so equal rows are neighbors.

    Returns
    -------
    indices : ndarray of shape (n, n_neighbors)
    sq_dists : ndarray of shape (n, n_neighbors)

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0]]
    >>> indices, sq_dists = nearest_rows(X, X, 1, exclude_self=True)
    >>> indices.ravel(), sq_dists.ravel()
    (array([1, 0, 1]), array([1., 1., 4.]))
    """
    indices = np.empty((X.shape[0] if issparse(X) else len(X), n_neighbors), dtype=np.int64)
    sq_dists = np.empty(indices.shape)
    for block, sq in sq_distance_blocks(X, rows):
        if exclude_self:
            sq[np.arange(len(sq)), np.arange(block.start, block.stop)] = np.inf
        indices[block] = smallest_columns(sq, n_neighbors)
        sq_dists[block] = np.take_along_axis(sq, indices[block], axis=1)
    return indices, sq_dists


def smallest_columns(values: np.ndarray, k: int) -> np.ndarray:
    """Columns (n, k) of the k smallest values of each row, by (value, column)."""
    if k == 0:
        return np.empty((len(values), 0), dtype=np.int64)
    last = np.partition(values, k - 1, axis=1)[:, [k - 1]]
    chosen = values <= last
    # Where more than k are chosen: of those equal to the last, take the first.
    tied = np.flatnonzero(np.count_nonzero(chosen, axis=1) > k)
    below, equal = values[tied] < last[tied], values[tied] == last[tied]
    room = k - below.sum(axis=1, keepdims=True)
    chosen[tied] = below | (equal & (equal.cumsum(axis=1) <= room))
    columns = (np.flatnonzero(chosen) % values.shape[1]).reshape(len(values), k)
    order = np.take_along_axis(values, columns, axis=1).argsort(axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def _centered(X, Y):
    X, Y = as_rows(X), as_rows(Y)
    if issparse(X) or issparse(Y):
        return X, Y
    center = Y.mean(axis=0)
    return X - center, Y - center


def _expand(X, Y, X_norms, Y_norms) -> np.ndarray:
    sq = safe_sparse_dot(X, Y.T, dense_output=True)
    sq *= -2
    sq += X_norms[:, None]
    sq += Y_norms
    # First by a bound for the whole row, which costs one pass, then exactly for those few.
    suspects = np.flatnonzero(sq < CANCELLED * (X_norms[:, None] + Y_norms.max(initial=0.0)))
    i, j = np.divmod(suspects, sq.shape[1])
    cancelled = sq[i, j] < CANCELLED * (X_norms[i] + Y_norms[j])
    i, j = i[cancelled], j[cancelled]
    for few in row_blocks(len(i), X.shape[1]):
        sq[i[few], j[few]] = row_norms(X[i[few]] - Y[j[few]], squared=True)
    return sq
