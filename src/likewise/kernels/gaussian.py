"""A Gaussian kernel whose width follows the density of the data.

    k(x, y) = exp(-|x - y|^2 / (sigma_x sigma_y))
    sigma_x = distance from x to its l-th nearest training row

A training row is not its own neighbor. A new row that equals a training row is that training row,
so k on the training rows is the training kernel, exactly; sigma_x jumps there by one neighbor, and
is continuous elsewhere. The kernel is not positive semi-definite in general (z-scored iris, l = 99:
smallest eigenvalue -0.05): `likewise.numerics.psd` drops the negative part and says how much it
was.
Reference: amid2015, equation 19, after zelnik2004. We differ from the authors' code, which counts
each row as its own first neighbor (`count_self=True` does so too) and first z-scores the features.
"""

from dataclasses import dataclass

import numpy as np
from array_api_compat import device

from likewise.kernels.distances import as_rows, sq_distance_blocks, sq_distances
from likewise.kernels.pointwise import exponential
from likewise.numerics.array_library import is_array_elsewhere, library_of


@dataclass(frozen=True, eq=False)
class SelfTuningGaussian:
    """The kernel k(X, Y) around training rows; made by `self_tuning_gaussian`.

    Examples
    --------
    >>> from likewise.kernels import self_tuning_gaussian
    >>> kernel = self_tuning_gaussian([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> kernel([[0.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 0.368]])
    """

    rows: np.ndarray  # (n, d), dense or CSR, as given
    sigmas: np.ndarray  # (n,), positive: how far each training row reaches
    n_neighbors: int  # l, after clipping
    count_self: bool

    def __call__(self, X, Y=None) -> np.ndarray:
        """Kernel values (n, m) between any rows X and Y; Y=None means X."""
        K = sq_distances(X, Y)
        if Y is not None:
            K = zero_where_equal(K, X, Y)
        if Y is self.rows and X is not Y:  # the same distances tell how far X reaches
            X_sigmas = self._filled(lth_smallest(K, self.n_neighbors, count_self=self.count_self))
        else:
            X_sigmas = self.scales(X)
        Y_sigmas = X_sigmas if Y is None else self.scales(Y)
        K /= -X_sigmas[:, None]
        K /= Y_sigmas
        return exponential(K)

    def scales(self, X) -> np.ndarray:
        """sigma (n,) of any rows; where it would be 0, the smallest sigma of the training rows."""
        if X is self.rows:
            return self.sigmas
        return self._filled(
            neighbor_scales(X, self.rows, self.n_neighbors, count_self=self.count_self)
        )

    def _filled(self, sigmas):
        return library_of(sigmas).where(sigmas > 0, sigmas, self.sigmas.min())


def self_tuning_gaussian(X, *, n_neighbors: int = 100, count_self: bool = False):
    """Fit the width of each training row.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Training rows; kept, not copied.
    n_neighbors : int, default=100
        Which neighbor sets the width, clipped to n - 1. Raising it makes the kernel smoother.
    count_self : bool, default=False
        True counts a row as its own first neighbor, as the code of amid2015 does.

    Returns
    -------
    SelfTuningGaussian
        Call it on rows: `k(X, Y)`.

    References
    ----------
    amid2015, zelnik2004

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> k = self_tuning_gaussian(X, n_neighbors=1)
    >>> k.sigmas
    array([1., 1., 2.])
    >>> k([[2.0]], X).round(3)  # its nearest training row is at distance 1
    array([[0.018, 0.368, 0.607]])
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors} leaves no neighbor to measure. Use 1 or more.")
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    n_neighbors = min(n_neighbors, X.shape[0] if count_self else X.shape[0] - 1)
    sigmas = neighbor_scales(X, X, n_neighbors, count_self=count_self)
    smallest = sigmas[sigmas > 0].min(initial=np.inf)
    # l coincident neighbors: the width would be 0 and the kernel 0/0.
    sigmas = np.where(sigmas > 0, sigmas, smallest if np.isfinite(smallest) else 1.0)
    return SelfTuningGaussian(X, sigmas, n_neighbors, count_self)


def neighbor_scales(X, rows, n_neighbors: int, *, count_self: bool):
    """Distance (n,) from each row of X to its l-th nearest of `rows`, possibly 0."""
    X = as_rows(X)
    where = device(X) if is_array_elsewhere(X) else None
    sigmas = library_of(X).zeros(X.shape[0], dtype=X.dtype, device=where)
    for block, sq in sq_distance_blocks(X, rows):
        sq = zero_where_equal(sq, X[block], rows)
        sigmas[block] = lth_smallest(sq, n_neighbors, count_self=count_self)
    return sigmas


def zero_where_equal(sq_dists, X, rows):
    """The same, with 0 between a row and one that equals it: NumPy's squared distances have it."""
    if not is_array_elsewhere(sq_dists):
        return sq_dists
    xp = library_of(sq_dists)
    closest = xp.argmin(sq_dists, axis=1)
    is_equal = xp.all(xp.take(rows, closest, axis=0) == X, axis=1)
    columns = xp.arange(sq_dists.shape[1], device=device(sq_dists))
    at = (columns[None, :] == closest[:, None]) & is_equal[:, None]
    return xp.where(at, xp.zeros_like(sq_dists), sq_dists)


def lth_smallest(sq_dists, n_neighbors: int, *, count_self: bool):
    """Distance (n,) to the l-th nearest of the rows that squared distances (n, m) lead to."""
    xp = library_of(sq_dists)
    if n_neighbors == 0:  # a single training row has no neighbor
        return xp.zeros_like(sq_dists[:, 0])
    if is_array_elsewhere(sq_dists):
        nearest = xp.sort(sq_dists, axis=1)
    else:
        nearest = np.partition(sq_dists, n_neighbors - 1, axis=1)
    sq_last = xp.asarray(nearest[:, n_neighbors - 1], copy=True)
    if not count_self:  # one training row on top of x is x itself: skip it, and take one further
        (same,) = xp.nonzero(xp.min(nearest[:, :n_neighbors], axis=1) == 0)
        sq_last[same] = xp.min(nearest[same, n_neighbors:], axis=1)
    return xp.sqrt(sq_last)
