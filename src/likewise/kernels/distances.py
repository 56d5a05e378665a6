"""Squared Euclidean distances and nearest rows, exact and in blocks.

    |x - y|^2 = |x|^2 + |y|^2 - 2 x'y

The right side is one matrix product, but it cancels when x and y are close and far from the
origin: equal rows end up 1e-8 apart. So dense rows are first centered on the mean of Y, and the
pairs that still cancel are computed again from their differences. Every squared distance is then
good to about 1e-8 of itself, and equal rows are at 0. Rows may be dense or CSR, float32 or
float64; the arithmetic is in float64.
Rows of another array library (torch tensors, on a GPU or not) are taken too. Theirs is the
arithmetic of their own float type: nothing is computed again but the distances of nearest rows.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from likewise.kernels.near_candidates import has_candidates, nearest_candidates
from likewise.kernels.near_elsewhere import nearest_elsewhere, smallest_elsewhere
from likewise.numerics.array_library import is_array_elsewhere, library_of

BLOCK_ENTRIES = 2**20  # 8 MB of float64: the passes over a block stay in cache
DEVICE_ENTRIES = 2**26  # a device wants large matrices
CANCELLED = 1e-7  # |x - y|^2 below this share of |x|^2 + |y|^2 has lost half its digits


def as_rows(X):
    """The same rows in float64, dense or CSR, copied only when needed; tensors as they are."""
    if is_array_elsewhere(X):
        return X
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
    sq = _expand(X, Y, _sq_norms(X), _sq_norms(Y))
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
    X_norms, Y_norms = _sq_norms(X), _sq_norms(Y)
    for rows in row_blocks(X.shape[0], Y.shape[0], entries=_block_entries(X)):
        yield rows, _expand(X[rows], Y, X_norms[rows], Y_norms)


def row_blocks(n_rows: int, n_columns: int, *, entries: int | None = None) -> Iterator[slice]:
    """Slices of rows so that a block of this many columns stays near 8 MB.

    Parameters
    ----------
    n_rows, n_columns : int
        Of the whole.
    entries : int, default=None
        Of a block; None is 2**20. Raising it takes more memory, and suits a GPU.

    Examples
    --------
    >>> list(row_blocks(3, 400_000))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    step = max(1, (entries or BLOCK_ENTRIES) // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def map_blocks(function: Callable, X, n_columns: int, n_directions: int):
    """`function(rows)`, (n, n_directions), a block of rows at a time.

    Parameters
    ----------
    function : callable
        From rows (b, d) to (b, n_directions).
    X : ndarray, CSR or array of another library, of shape (n, d)
    n_columns : int
        Entries that a row takes on the way: blocks are cut so that theirs fit into the cache.
    n_directions : int

    Examples
    --------
    >>> map_blocks(lambda rows: rows[:, :1] * 2, np.array([[1.0, 5.0], [2.0, 6.0]]), 1, 1)
    array([[2.], [4.]])
    """
    blocks = row_blocks(X.shape[0], n_columns, entries=_block_entries(X))
    if is_array_elsewhere(X):
        return library_of(X).concat([function(X[rows]) for rows in blocks])
    Z = np.empty((X.shape[0], n_directions))
    for rows in blocks:
        Z[rows] = function(X[rows])
    return Z


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
    if is_array_elsewhere(X):
        X, rows = _centered(X, rows)
        return nearest_elsewhere(X, rows, n_neighbors, exclude_self, DEVICE_ENTRIES)
    X, rows = as_rows(X), as_rows(rows)
    if not exclude_self and has_candidates(X, rows, n_neighbors):
        return _nearest_of_candidates(X, rows, n_neighbors)
    return _nearest_of_all(X, rows, n_neighbors, exclude_self=exclude_self)


def _nearest_of_candidates(X: np.ndarray, rows: np.ndarray, n_neighbors: int):
    """The same by way of a few candidates, and by all where too many rows are equally far."""
    X_centered, centered_rows = _centered(X, rows)
    indices, sq_dists, undecided = nearest_candidates(X_centered, centered_rows, n_neighbors)
    if len(undecided):
        found = _nearest_of_all(X[undecided], rows, n_neighbors)
        indices[undecided], sq_dists[undecided] = found
    return indices, sq_dists


def _nearest_of_all(X, rows, n_neighbors: int, *, exclude_self: bool = False):
    indices = np.empty((X.shape[0], n_neighbors), dtype=np.int64)
    sq_dists = np.empty((X.shape[0], n_neighbors))
    for block, sq in sq_distance_blocks(X, rows):
        if exclude_self:
            sq[np.arange(len(sq)), np.arange(block.start, block.stop)] = np.inf
        indices[block] = smallest_columns(sq, n_neighbors)
        sq_dists[block] = np.take_along_axis(sq, indices[block], axis=1)
    return indices, sq_dists


def smallest_columns(values, k: int):
    """Columns (n, k) of the k smallest values of each row, by (value, column)."""
    if is_array_elsewhere(values):
        return smallest_elsewhere(values, k)
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
    center = library_of(Y).mean(Y, axis=0)
    return X - center, Y - center


def _sq_norms(X):
    if is_array_elsewhere(X):
        return library_of(X).sum(X * X, axis=1)
    return row_norms(X, squared=True)


def _block_entries(X) -> int:
    return DEVICE_ENTRIES if is_array_elsewhere(X) else BLOCK_ENTRIES


def _expand(X, Y, X_norms, Y_norms):
    sq = safe_sparse_dot(X, Y.T, dense_output=True)
    sq *= -2
    sq += X_norms[:, None]
    sq += Y_norms
    if is_array_elsewhere(sq):
        xp = library_of(sq)
        return xp.where(sq > 0, sq, xp.zeros_like(sq))
    return _without_cancellation(sq, X, Y, X_norms, Y_norms)


def _without_cancellation(sq, X, Y, X_norms, Y_norms) -> np.ndarray:
    """Recompute, from the differences, squared distances that lost their digits."""
    # First by a bound for the whole row, which costs one pass, then exactly for those few.
    candidates = np.flatnonzero(sq < CANCELLED * (X_norms[:, None] + Y_norms.max(initial=0.0)))
    i, j = np.divmod(candidates, sq.shape[1])
    cancelled = sq[i, j] < CANCELLED * (X_norms[i] + Y_norms[j])
    i, j = i[cancelled], j[cancelled]
    for block in row_blocks(len(i), X.shape[1]):
        sq[i[block], j[block]] = row_norms(X[i[block]] - Y[j[block]], squared=True)
    return sq
