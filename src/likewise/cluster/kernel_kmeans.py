"""Kernel k-means: k-means in the space of a kernel, from the kernel's values alone.

    min over labels of  sum_i |phi(x_i) - mean of its cluster|^2
    |phi(x_i) - mean_h|^2 = K_ii - 2 mean_{j in h} K_ij + mean_{j, l in h} K_jl

Lloyd's steps with whole matrices: for one-hot labels U and cluster sizes s, K U / s has all the
middle terms. Rows that must be together move as one: summing K over each such group of rows once
makes the same problem over the groups. On K = Z Z' it is k-means on Z.
Reference: dhillon2004; must-linked rows as in hoi2007, section 4; "farthest" starts as in the code
of amid2015. We differ from that code in filling a cluster that ran empty, where it divides by zero.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.clusterer_checks import check_kmeans_settings, warn_outcome
from likewise.constraints import check_constraints, fit_and_label, warn_unused
from likewise.evaluation import violated_answers
from likewise.kernels import KERNEL_NAMES, check_similarity, kernel_function, row_blocks
from likewise.numerics.partitions import refill_empty
from likewise.numerics.rows import validate_rows
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

FEW = 0.25  # of the rows: if fewer move, correcting sums is cheaper than recomputing them
ROUNDING = 1e-10  # a share of the trace: an objective that rises by less has not risen


class KernelKMeans(ClusterMixin, BaseEstimator):
    """Cluster in the space of a kernel, keeping must-linked rows together.

    With "precomputed" it clusters by any learned kernel: ``space.kernel(X, X)``.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find; each gets at least one row.
    kernel : str or callable, default="linear"
        "linear" (which is plain k-means), "polynomial", "rbf", "cosine", "gaussian" (self-tuning),
        "diffusion", "precomputed", or a function of two sets of rows. With an indefinite kernel, a
        step can raise the objective: the run then stops, and a warning says what to do.
    kernel_params : dict, default=None
        Settings of the kernel, such as ``{"bandwidth": "median"}``.
    init : {"k-means++", "farthest"} or array-like of shape (n_samples,), default="k-means++"
        How a start is made: first rows drawn by squared distance in the space of the kernel; or a
        random row and then those farthest from all taken so far, as in the code of amid2015; or
        the labels to start from, which makes a single start.
    n_init : int, default=10
        Starts; the one with the least inertia is kept. Raising it takes longer and finds better
        clusters.
    max_iter : int, default=300
        Steps in one start.
    tol : float, default=0.0
        A start ends when a step lowers the objective by no more than this share of it; at 0, when
        no row moves any more. amid2015 uses 1e-6. Raising it stops earlier.
    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        Sum of squared distances to the means of the clusters, in the space of the kernel.
    objective_ : ndarray of shape (n_iter,)
        The inertia after every step of the start that was kept; it never rises.
    n_iter_ : int
    cluster_sq_norms_ : ndarray of shape (n_clusters,)
        Squared norms of the means.
    X_fit_ : ndarray or CSR of shape (n_samples, n_features)
        The rows given, which ``predict`` compares new rows with; not kept for "precomputed".
    kernel_function_ : callable
        The kernel as fitted to those rows; not kept for "precomputed".
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    n_answers_used_ : int
        Must-links among the answers given.
    n_features_in_ : int

    Notes
    -----
    A step takes n^2 k operations, and the kernel n^2 numbers. Beyond about ten thousand rows, use
    ``transform`` of a learned space and scikit-learn's ``KMeans``.

    References
    ----------
    dhillon2004

    Examples
    --------
    Two rings, which no straight line parts:

    >>> from sklearn.datasets import make_circles
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise.cluster import KernelKMeans
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> narrow = {"bandwidth": 0.3}
    >>> rings = KernelKMeans(2, kernel="rbf", kernel_params=narrow, random_state=0).fit(X)
    >>> adjusted_rand_score(y, rings.labels_)
    1.0
    >>> rings.predict([[0.0, 0.3], [1.0, 0.0]]) == rings.labels_[[y.argmax(), y.argmin()]]
    array([ True,  True])
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        kernel="linear",
        kernel_params=None,
        init="k-means++",
        n_init=10,
        max_iter=300,
        tol=0.0,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Cluster the rows.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            Rows; for "precomputed" their kernel (n_samples, n_samples).
        y : ignored
        constraints : Constraints, default=None
            Must-linked rows are kept in one cluster. Other answers cannot be used.

        Returns
        -------
        self
        """
        X = self._validate(X, reset=True)
        check_kmeans_settings(self, X.shape[0])
        constraints = check_constraints(constraints, n_samples=X.shape[0], y=y)
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link",))
        groups = constraints.closure().components  # (n,), in the order of their first rows
        kernel = kernel_function(self.kernel, X, **(self.kernel_params or {}))
        K = kernel(X)
        if self.kernel != "precomputed":  # that one was checked already
            check_similarity(K)
        G, sizes, sq_norms = sum_over_groups(K, groups)
        if len(G) < self.n_clusters:
            raise ValueError(
                f"The must-links leave {len(G)} groups of rows, too few for "
                f"n_clusters={self.n_clusters}. Lower n_clusters, or drop must-links."
            )
        runs = [
            lloyd_kernel(
                G,
                start,
                self.n_clusters,
                sizes=sizes,
                sq_norms=sq_norms,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for start in track(self._starts(G, sizes, groups), "clustering", self.n_init)
        ]
        # The first of equals: which of them is least by rounding would differ between machines.
        close = min(run.inertia for run in runs) + ROUNDING * np.abs(sq_norms).sum()
        best = next(run for run in runs if run.inertia <= close)
        if best.rose:
            warnings.warn(
                "The kernel is indefinite: a step raised the objective, and the labels before it "
                "were kept. Use kernel='precomputed' on likewise.numerics.psd.drop_negative(K).",
                ConvergenceWarning,
            )
        else:
            warn_outcome(self, best.labels, best.converged)
        self.labels_ = best.labels[groups].astype(np.int32)
        self.violated_ = violated_answers(None, constraints, self.labels_)
        self.inertia_, self.objective_, self.n_iter_ = best.inertia, best.objective, best.n_iter
        sums = G @ one_hot(best.labels, self.n_clusters)
        self.cluster_sq_norms_ = mean_products(sums, best.labels, sizes)[1]
        if self.kernel != "precomputed":
            self.X_fit_, self.kernel_function_ = X, kernel
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The cluster whose mean is nearest to each new row; must-links are not used here.

        Parameters
        ----------
        X : array-like or CSR of shape (n_rows, n_features)
            New rows; for "precomputed" their kernel values with the rows of ``fit``,
            (n_rows, n_samples).

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        members = one_hot(self.labels_, self.n_clusters)
        members /= members.sum(axis=0)
        labels = np.empty(X.shape[0], dtype=np.int32)
        for rows in row_blocks(X.shape[0], len(members)):
            K = X[rows]
            if self.kernel != "precomputed":
                K = self.kernel_function_(K, self.X_fit_)
            labels[rows] = np.argmin(self.cluster_sq_norms_ - 2 * (K @ members), axis=1)
        return labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _validate(self, X, *, reset):
        if not callable(self.kernel) and self.kernel not in KERNEL_NAMES:
            raise ValueError(
                f"kernel={self.kernel!r} is unknown. Use a function or one of "
                f"{', '.join(KERNEL_NAMES)}."
            )
        sparse = False if self.kernel == "precomputed" else "csr"
        dtypes = [np.float64, np.float32]
        return validate_rows(self, X, reset=reset, accept_sparse=sparse, dtype=dtypes)

    def _starts(self, G, sizes, groups):
        """Labels of the groups to start from, one array per start."""
        rng = check_random_state(self.random_state)
        if not isinstance(self.init, str):
            labels = column_or_1d(self.init)
            if len(labels) != len(groups) or not np.isin(labels, range(self.n_clusters)).all():
                raise ValueError(
                    f"init must give each of the {len(groups)} rows a label "
                    f"from 0 to {self.n_clusters - 1}."
                )
            yield labels[np.unique(groups, return_index=True)[1]].astype(np.int64)
            return
        choosers = {"k-means++": choose_plus_plus, "farthest": choose_farthest}
        if self.init not in choosers:
            raise ValueError(f"init={self.init!r} is unknown. Use {' or '.join(choosers)}.")
        for _ in range(self.n_init):
            seeds = choosers[self.init](G, sizes, self.n_clusters, rng)
            yield np.argmin(sq_distances_to(G, sizes, seeds), axis=1)


class KernelClusters(NamedTuple):
    """Where Lloyd's steps ended."""

    labels: np.ndarray  # (n,)
    inertia: float
    objective: np.ndarray  # (n_iter,), after every step
    n_iter: int
    converged: bool
    rose: bool  # a step would have raised the objective: the kernel is indefinite


@one_thread_if_small(lambda K, *_, **__: K.size)
def lloyd_kernel(K, labels, n_clusters, *, sizes=None, sq_norms=None, tol=0.0, max_iter=300):
    """Lloyd's steps over rows, or over groups of rows given as the sums of K over them.

    ``sizes`` (n,) are the rows in each group and ``sq_norms`` (n,) the sums of K_ii over it; by
    default every group is one row.
    """
    sizes = np.ones(len(K)) if sizes is None else sizes
    sq_norms = K.diagonal() if sq_norms is None else sq_norms
    rounding = ROUNDING * np.abs(sq_norms).sum()
    rows = np.arange(len(K))

    def costs_of(labels, sums):
        """(n, n_clusters) what each group would cost in each cluster, and the inertia now."""
        products, mean_sq_norms = mean_products(sums, labels, sizes)
        costs = sq_norms[:, None] - 2 * products + sizes[:, None] * mean_sq_norms
        costs[:, np.bincount(labels, minlength=n_clusters) == 0] = np.inf
        return costs, costs[rows, labels].sum()

    sums = K @ one_hot(labels, n_clusters)
    costs, inertia = costs_of(labels, sums)
    objective = []
    for n_iter in range(1, max_iter + 1):
        moved = np.argmin(costs, axis=1)
        moved = refill_empty(moved, costs[rows, moved], n_clusters)
        settled = np.array_equal(moved, labels)
        sums = sums_after(K, sums, labels, moved)
        moved_costs, moved_inertia = (costs, inertia) if settled else costs_of(moved, sums)
        fall = inertia - moved_inertia
        if fall < -rounding:
            objective.append(inertia)
            return KernelClusters(labels, inertia, np.array(objective), n_iter, False, rose=True)
        labels, costs, inertia = moved, moved_costs, moved_inertia
        objective.append(inertia)
        if settled or fall <= tol * abs(inertia):
            return KernelClusters(labels, inertia, np.array(objective), n_iter, True, rose=False)
    return KernelClusters(labels, inertia, np.array(objective), max_iter, False, rose=False)


def sums_after(K, sums, labels, moved) -> np.ndarray:
    """K summed over the clusters (n, k) after some rows moved: late steps move few."""
    rows = np.flatnonzero(moved != labels)
    n_clusters = sums.shape[1]
    if len(rows) > FEW * len(K):
        return K @ one_hot(moved, n_clusters)
    return sums + K[rows].T @ (one_hot(moved[rows], n_clusters) - one_hot(labels[rows], n_clusters))


def mean_products(sums, labels, sizes) -> tuple[np.ndarray, np.ndarray]:
    """Products of each group with each cluster's mean (n, k), and the squared norms of the means.

    ``sums`` (n, k) are those of K over each cluster. An empty cluster's mean is the origin.
    """
    members = one_hot(labels, sums.shape[1])
    n_rows = np.maximum(sizes @ members, 1)
    products = sums / n_rows
    return products, (members * products).sum(axis=0) / n_rows


def one_hot(labels, n_clusters) -> np.ndarray:
    """(n, n_clusters) 1 where a row is in a cluster."""
    return (labels[:, None] == np.arange(n_clusters)).astype(np.float64)


def sum_over_groups(K, groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K summed over groups of rows (m, m), rows in each group, and sums of K_ii over each.

    Groups are numbered in the order of their first rows.
    """
    n, m = len(K), groups.max() + 1
    if m == n:
        return K, np.ones(n), K.diagonal()
    members = csr_array((np.ones(n), (groups, np.arange(n))), shape=(m, n))
    G = members @ (members @ K).T
    return G, np.bincount(groups).astype(np.float64), members @ K.diagonal()


def sq_distances_to(G, sizes, seeds) -> np.ndarray:
    """Squared distances of the groups' means to those of some groups, (n, len(seeds)), >= 0."""
    sq_norms = G.diagonal() / sizes**2
    products = G[:, seeds] / (sizes[:, None] * sizes[seeds])
    return np.maximum(sq_norms[:, None] + sq_norms[seeds] - 2 * products, 0)


def choose_plus_plus(G, sizes, n_clusters, rng) -> np.ndarray:
    """Greedy k-means++ (arthur2007) over groups: drawn by squared distance times size."""
    n_trials = 2 + int(np.log(n_clusters))
    seeds = [rng.choice(len(G), p=sizes / sizes.sum())]
    nearest = sq_distances_to(G, sizes, seeds)[:, 0]
    while len(seeds) < n_clusters:
        nearest[seeds] = 0.0
        mass = nearest * sizes
        if not mass.any():  # all that is left coincides with a seed
            mass = np.ones(len(G))
            mass[seeds] = 0.0
        candidates = rng.choice(len(G), n_trials, p=mass / mass.sum())
        after = np.minimum(nearest[:, None], sq_distances_to(G, sizes, candidates))
        best = np.argmin(sizes @ after)
        seeds.append(candidates[best])
        nearest = after[:, best]
    return np.array(seeds)


def choose_farthest(G, sizes, n_clusters, rng) -> np.ndarray:
    """A random group, then always the one that ranks highest among the farthest from every seed."""
    seeds = [rng.choice(len(G))]
    worst_rank = np.zeros(len(G), dtype=np.int64)
    while len(seeds) < n_clusters:
        order = np.argsort(-sq_distances_to(G, sizes, seeds[-1:])[:, 0], kind="stable")
        rank = np.empty(len(G), dtype=np.int64)
        rank[order] = np.arange(len(G))
        worst_rank = np.maximum(worst_rank, rank)
        worst_rank[seeds] = len(G)
        seeds.append(np.argmin(worst_rank))
    return np.array(seeds)
