"""The nearest of many rows: in float32 which ones it may be, in float64 which ones it is.

    s(x, y) = |y|^2 - 2 x'y        ranks the y as |x - y|^2 does, in one product
    near y  : s32(x, y) <= m_k + 2 e,    |s32 - s| <= e = (d + 4) u (2 |x| max|y| + max|y|^2)

m_k is the k-th smallest of the minima of groups of y: k rows are at most that far, and looking for
it costs one pass over s instead of a selection. e is the usual bound of a sum of d + 1 products in
float32 (u = 2^-24), whatever their order, so that no nearest row is left out. Of a dozen rows that
remain the distances are computed from differences, which never cancel.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from likewise.numerics.array_library import is_array_elsewhere

FEWEST = 256  # rows to look among, and
FEWEST_PER_FEATURE = 3  # per feature: below, a plain selection is as quick
HALVINGS = 5  # of the rows, column beside column, until minima of groups of 32 are left
GROUP = 2**HALVINGS
MOST_FEATURES = 512  # beyond, the bound on the error lets too many candidates through
ENTRIES = 2**19  # of a block: 2 MB of float32, which stay in cache
RANKED = 2048  # rows whose candidates are ranked at once
ROOM = 40  # candidates beyond k that a row may have; with more it is left to a full selection
UNIT = 2.0**-24
RANGE = (1e-12, 1e12)  # lengths whose squares are far from the ends of float32


def has_candidates(X, Y, k: int) -> bool:
    """Whether looking for candidates first is exact and pays: dense rows, and many of them."""
    if is_array_elsewhere(X) or issparse(X) or issparse(Y) or X.shape[1] > MOST_FEATURES:
        return False
    return k > 0 and len(Y) >= max(FEWEST, FEWEST_PER_FEATURE * X.shape[1], GROUP * k)


def nearest_candidates(X: np.ndarray, Y: np.ndarray, k: int):
    """Of centered rows: k nearest of Y (n, k), their squared distances, and rows not decided.

    Nearest first, among equals the lower index first. What stands at rows that are not decided
    (many equally far, or lengths that float32 cannot square) means nothing.
    """
    indices = np.zeros((len(X), k), dtype=np.int64)
    sq_dists = np.zeros((len(X), k))
    lengths, far = np.sqrt(row_norms(X, squared=True)), np.sqrt(row_norms(Y, squared=True).max())
    is_open = ~(lengths < RANGE[1]) | ~(RANGE[0] < far < RANGE[1])
    if is_open.all():
        return indices, sq_dists, np.arange(len(X))
    with np.errstate(over="ignore", invalid="ignore"):  # of rows that are left open
        slacks = 2 * (X.shape[1] + 4) * UNIT * far * (2 * lengths + far)
        left = np.empty((len(X), X.shape[1] + 1), dtype=np.float32)
        left[:, :-1], left[:, -1] = -2 * X, 1
    left[is_open, :-1], slacks[is_open] = 0, 0  # float32 cannot hold these
    right = np.zeros((X.shape[1] + 1, -(-len(Y) // GROUP) * GROUP), dtype=np.float32)
    right[:-1, : len(Y)], right[-1] = Y.T, np.inf  # behind the last row nothing is near
    right[-1, : len(Y)] = row_norms(Y, squared=True)
    step = max(1, ENTRIES // right.shape[1])
    for rows in _slices(slice(0, len(X)), RANKED):
        found = []
        for few in _slices(rows, step):
            i, j = _near_pairs(left[few] @ right, slacks[few], k)
            is_open[few] |= np.bincount(i, minlength=few.stop - few.start) > k + ROOM
            if is_open[few].any():
                is_kept = ~is_open[few][i]
                i, j = i[is_kept], j[is_kept]
            found.append((i + few.start - rows.start, j))
        i, j = map(np.concatenate, zip(*found))
        _rank(X[rows], Y, i, j, indices[rows], sq_dists[rows])
    return indices, sq_dists, np.flatnonzero(is_open)


def _slices(rows: slice, step: int) -> Iterator[slice]:
    for start in range(rows.start, rows.stop, step):
        yield slice(start, min(start + step, rows.stop))


def _near_pairs(ranks: np.ndarray, slacks: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns, in order, of those that may be among the k nearest."""
    minima = ranks
    for _ in range(HALVINGS):
        half = minima.shape[1] // 2
        minima = np.minimum(minima[:, :half], minima[:, half:])
    bounds = np.partition(minima, k - 1, axis=1)[:, k - 1].astype(np.float64) + slacks
    # Rounded up, so that the comparison in float32 leaves nothing out.
    limits = np.nextafter(bounds.astype(np.float32), np.float32(np.inf))
    near = np.flatnonzero(ranks <= limits[:, None])
    i = near // ranks.shape[1]
    return i, near - i * ranks.shape[1]


def _rank(X, Y, i: np.ndarray, j: np.ndarray, indices: np.ndarray, sq_dists: np.ndarray) -> None:
    """The nearest of the candidates, by their distances in float64, into the last two."""
    counts = np.bincount(i, minlength=len(X))
    (decided,) = np.nonzero(counts)
    if not len(decided):
        return
    width, k = int(counts.max()), indices.shape[1]
    is_filled = np.arange(width) < counts[decided, None]
    columns = np.zeros((len(decided), width), dtype=np.int64)
    values = np.full((len(decided), width), np.inf)
    columns[is_filled], values[is_filled] = j, row_norms(X[i] - Y[j], squared=True)
    order = values.argsort(axis=1, kind="stable")[:, :k]
    indices[decided] = np.take_along_axis(columns, order, axis=1)
    sq_dists[decided] = np.take_along_axis(values, order, axis=1)
