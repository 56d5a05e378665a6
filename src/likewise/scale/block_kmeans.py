"""k-means over blocks: Lloyd's rounds, the same as with all rows in one machine's memory.

    label_i = argmin_c |x_i - m_c|^2        block by block; a block returns sums and sizes alone
    m_c     = sum of the rows of c / how many they are

The start is k-means++ with restarts on a sample, run until it settles; from there few rounds over
all rows are needed. Centers are sent with every task, and sums are added in the order of the
blocks, so the result is the same to the bit for any number of workers, even if one dies.
Reference: lloyd1982; arthur2007 for the start.
"""

from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.cluster import check_enough_rows
from likewise.constraints import fit_and_label, refuse_answers_as_y
from likewise.maps import from_device, on_device
from likewise.numerics.array_library import is_array_elsewhere
from likewise.numerics.rows import sample_rows, validate_rows
from likewise.scale.blocks import Blocks, as_blocks, is_blockwise
from likewise.scale.learning import N_ROWS


class BlockKMeans(ClusterMixin, BaseEstimator):
    """Cluster rows that need not fit into memory by k-means.

    Use it on millions of rows, on files, on a Dask cluster or on a GPU. On rows that fit into
    memory scikit-learn's ``KMeans`` does the same.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    init : "k-means++" or array-like of shape (n_clusters, n_features), default="k-means++"
        "k-means++" runs k-means on a sample first. An array gives the centers to start from.
    n_rows : int, default=10_000
        Rows in that sample. Raising it gives a better start, and takes more memory.
    n_init : int, default=10
        Starts of k-means on the sample.
    max_iter : int, default=100
        Maximum number of rounds over all rows.
    tol : float, default=1e-4
        Stop when the centers move, in total, by less than this share of the mean variance of the
        features. Raising it stops earlier; with 0 it runs until nothing moves.
    device : str, default=None
        Work on a torch device, such as "cuda". Blocks are moved there in every round, unless they
        are tensors that are there already.
    n_jobs : int, default=None
        Threads to work with, through joblib; None is one.
    random_state : int, RandomState instance or None, default=None
        Draws the sample and the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        Sum of squared distances to the nearest center.
    n_iter_ : int
        Rounds made over all rows.
    n_features_in_ : int

    References
    ----------
    lloyd1982, arthur2007

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.scale import BlockKMeans, as_blocks
    >>> X = np.random.RandomState(0).normal(size=(3000, 2)) + np.repeat([[0], [9], [18]], 1000, 0)
    >>> model = BlockKMeans(3, random_state=0).fit(as_blocks(X, block_rows=500))
    >>> np.bincount(model.labels_)
    array([1000, 1000, 1000])
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_rows=N_ROWS,
        n_init=10,
        max_iter=100,
        tol=1e-4,
        device=None,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_rows = n_rows
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the clusters.

        Parameters
        ----------
        X : array-like, CSR, path, Dask array, torch tensor or Blocks
            As for `as_blocks`; `mapped` gives the rows of a learned space.
        y : None
            Ignored; it is here for scikit-learn.

        Returns
        -------
        self : BlockKMeans
        """
        refuse_answers_as_y(y, "BlockKMeans takes no constraints=; the learner of its rows may.")
        self._check_settings()
        blocks = self._as_blocks(X, reset=True)
        check_enough_rows(self.n_clusters, blocks.shape[0])
        result = lloyd(
            blocks,
            self._start(blocks),
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )
        self.cluster_centers_ = result.centers
        self.labels_, self.inertia_, self.n_iter_ = result.labels, result.inertia, result.n_iter
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The nearest center of each row.

        Parameters
        ----------
        X : array-like, CSR, path, Dask array, torch tensor or Blocks

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        blocks = self._as_blocks(X, reset=False)
        return nearest_centers(blocks, self.cluster_centers_, n_jobs=self.n_jobs).labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_settings(self) -> None:
        for name, least in (("n_clusters", 1), ("n_rows", 1), ("n_init", 1), ("max_iter", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)} must be at least {least}.")
        if not self.tol >= 0:
            raise ValueError(f"tol={self.tol} must be 0 or more.")
        if isinstance(self.init, str) and self.init != "k-means++":
            raise ValueError(f'init={self.init!r} must be "k-means++" or an array of centers.')

    def _as_blocks(self, X, *, reset: bool) -> Blocks:
        if not is_blockwise(X) and not is_array_elsewhere(X):
            X = validate_rows(
                self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
            )
        blocks = as_blocks(X)
        if reset:
            self.n_features_in_ = blocks.n_features
        elif blocks.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {blocks.n_features} features, but BlockKMeans is expecting "
                f"{self.n_features_in_} features as input."
            )
        if self.device is None:
            return blocks
        return blocks.map(partial(on_device, device=self.device), blocks.n_features)

    def _start(self, blocks: Blocks) -> np.ndarray:
        """Centers (k, d) to begin with, in float64."""
        if not isinstance(self.init, str):
            centers = np.array(self.init, dtype=np.float64)
            if centers.shape != (self.n_clusters, blocks.n_features):
                raise ValueError(
                    f"init has shape {centers.shape}; {self.n_clusters} clusters of "
                    f"{blocks.n_features} features need {self.n_clusters, blocks.n_features}."
                )
            return centers
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        n_wanted = max(self.n_rows, self.n_clusters)
        rows = sample_rows(blocks.shape[0], n_wanted, np.empty(0, dtype=np.int64), seed)
        sample = from_device(as_floats(blocks.take(rows, n_jobs=self.n_jobs)))
        start = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed).fit(sample)
        return start.cluster_centers_.astype(np.float64)


class Lloyd(NamedTuple):
    centers: np.ndarray  # (k, d)
    labels: np.ndarray  # (n,) int32
    inertia: float
    n_iter: int


class Assigned(NamedTuple):
    labels: np.ndarray  # (n,) int32
    inertia: float  # sum of squared distances


def lloyd(
    blocks: Blocks, centers: np.ndarray, *, max_iter: int, tol: float, n_jobs: int | None = None
) -> Lloyd:
    """Lloyd's rounds from given centers until they settle, then labels by the last centers."""
    for n_iter in range(1, max_iter + 1):
        by_block = blocks.run(sum_clusters, centers, what=f"k-means, round {n_iter}", n_jobs=n_jobs)
        sums, sizes, sq_norms = reduce(add_sums, by_block)
        sums, sizes = fill_empty(blocks, centers, sums, sizes, n_jobs)
        moved = sums / sizes[:, None]
        sq_shift = np.square(moved - centers).sum()
        centers = moved
        variances = sq_norms / blocks.shape[0] - np.square(sums.sum(axis=0) / blocks.shape[0])
        if sq_shift <= tol * max(variances.mean(), 0):
            break
    labels, inertia = nearest_centers(blocks, centers, n_jobs=n_jobs)
    return Lloyd(centers, labels, inertia, n_iter)


class Sums(NamedTuple):
    sums: np.ndarray  # (k, d) of the rows of each cluster
    sizes: np.ndarray  # (k,)
    sq_norms: np.ndarray  # (d,) of all rows


def add_sums(some: Sums, others: Sums) -> Sums:
    return Sums(*(one + other for one, other in zip(some, others)))


def sum_clusters(rows, centers: np.ndarray) -> Sums:
    """What one block contributes to the next centers, in float64."""
    rows = as_floats(rows)
    labels, _ = assign_rows(rows, centers_like(rows, centers))
    sums, sizes = cluster_sums(rows, labels, len(centers))
    moved = (from_device(array) for array in (sums, sizes, (rows * rows).sum(axis=0)))
    return Sums(*(array.astype(np.float64, copy=False) for array in moved))


def nearest_centers(blocks: Blocks, centers: np.ndarray, *, n_jobs: int | None = None) -> Assigned:
    """Find the nearest center of each row, a block at a time.

    Parameters
    ----------
    blocks : Blocks
    centers : ndarray of shape (n_clusters, n_features)
    n_jobs : int, default=None
        Threads to work with.

    Returns
    -------
    Assigned
        ``labels`` (n,), and ``inertia``, the sum of squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> rows = scale.as_blocks(np.array([[0.0], [1.0], [9.0]]))
    >>> scale.nearest_centers(rows, np.array([[0.0], [10.0]])).labels
    array([0, 0, 1], dtype=int32)
    """
    assigned = list(blocks.run(label_rows, centers, what="assigning rows", n_jobs=n_jobs))
    labels = [block.labels for block in assigned] or [np.empty(0, dtype=np.int32)]
    return Assigned(np.concatenate(labels), float(sum(block.inertia for block in assigned)))


def label_rows(rows, centers: np.ndarray) -> Assigned:
    """Find the nearest center of each row of one block.

    Parameters
    ----------
    rows : array, CSR or torch tensor of shape (b, n_features)
    centers : ndarray of shape (n_clusters, n_features)

    Returns
    -------
    Assigned
        ``labels`` (b,), and ``inertia``, the sum of squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> scale.label_rows(np.array([[0.0], [9.0]]), np.array([[0.0], [10.0]])).inertia
    1.0
    """
    rows = as_floats(rows)
    labels, sq_dists = map(from_device, assign_rows(rows, centers_like(rows, centers)))
    return Assigned(labels.astype(np.int32), float(sq_dists.sum(dtype=np.float64)))


def fill_empty(
    blocks: Blocks, centers: np.ndarray, sums: np.ndarray, sizes: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Give each empty cluster one of the rows farthest from their centers, as scikit-learn does."""
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return sums, sizes
    farthest = blocks.run(
        farthest_rows, centers, len(empty), what="filling empty clusters", n_jobs=n_jobs
    )
    rows, labels, sq_dists = (np.concatenate(parts) for parts in zip(*farthest))
    sums, sizes = sums.copy(), sizes.copy()
    for cluster, at in zip(empty, np.argsort(-sq_dists, kind="stable")):
        old = labels[at]
        sums[cluster], sizes[cluster] = rows[at], 1
        sums[old] -= rows[at]
        sizes[old] -= 1
    sizes[sizes == 0] = 1  # its only row went away: it is at the origin until the next round
    return sums, sizes


def farthest_rows(rows, centers: np.ndarray, n: int):
    """The n rows of a block farthest from their centers, with labels and squared distances."""
    rows = as_floats(rows)
    labels, sq_dists = map(from_device, assign_rows(rows, centers_like(rows, centers)))
    at = np.argsort(-sq_dists, kind="stable")[:n]
    return np.asarray(from_device(rows)[at], dtype=np.float64), labels[at], sq_dists[at]


def as_floats(rows):
    """Rows unchanged, except dense, and integers as float64."""
    rows = rows.toarray() if issparse(rows) else rows
    if is_array_elsewhere(rows) or rows.dtype in (np.float32, np.float64):
        return rows
    return rows.astype(np.float64)


def centers_like(rows, centers: np.ndarray):
    """Centers in the array library, on the device and in the float type of the rows."""
    if not is_array_elsewhere(rows):
        return centers.astype(rows.dtype, copy=False)
    return on_device(centers, rows.device).to(rows.dtype)


def assign_rows(X, centers):
    """The nearest center (n,) of each row and the squared distance (n,) to it."""
    xp = array_namespace(X, centers)
    middle = xp.mean(centers, axis=0)  # cancels less
    X, centers = X - middle, centers - middle
    closeness = X @ centers.T - xp.sum(centers * centers, axis=1) / 2
    labels = xp.argmax(closeness, axis=1)
    sq_dists = xp.sum(X * X, axis=1) - 2 * xp.max(closeness, axis=1)
    return labels, xp.where(sq_dists > 0, sq_dists, xp.zeros_like(sq_dists))


def cluster_sums(X, labels, n_clusters: int):
    """Sums (k, d) of the rows of each cluster and how many they are (k,)."""
    xp = array_namespace(X, labels)
    names = xp.arange(n_clusters, dtype=labels.dtype, device=device(X))
    members = xp.astype(labels[:, None] == names[None, :], X.dtype)  # (n, k)
    return members.T @ X, xp.sum(members, axis=0, dtype=xp.float64)
