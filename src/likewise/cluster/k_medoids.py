"""k-medoids: k of the rows stand for all, by any dissimilarity, with must-links and cannot-links.

    min over k rows M and labels   sum_i d(x_i, its medoid in M) s.t.  every medoid in its own
    cluster, must-linked rows in one cluster, cannot-linked rows in two

Rows joined by must-links move as one, their dissimilarities added. method="swap" searches by swaps
and violates as few cannot-links as it can; method="exact" is the mixed-integer program, in which
all hold. Both are in medoid_search.py.
References: schubert2021, randel2021. We differ from the latter in that a medoid lies in its own
cluster.
"""

import warnings
from numbers import Integral

import numpy as np
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.medoid_search import Medoids, exact_medoids, keep_apart, swap_medoids
from likewise.constraints import (
    Closure,
    Constraints,
    InconsistentConstraints,
    check_constraints,
    fit_and_label,
    warn_unused,
)
from likewise.evaluation import violated_answers
from likewise.kernels import row_blocks, sq_distances
from likewise.numerics.rows import validate_rows

FITTED_TO_ROWS = ("seuclidean", "mahalanobis")  # their scale would depend on the rows given


class KMedoids(ClusterMixin, BaseEstimator):
    """Cluster around rows of the data, by any dissimilarity.

    It needs all dissimilarities: time and memory grow with the square of the rows, and 5,000 rows
    take seconds.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str or callable, default="euclidean"
        A metric of scikit-learn's `pairwise_distances`, a function of two rows, or "precomputed":
        X is then the matrix (n, n) of dissimilarities >= 0, from each row to each possible medoid.
    method : {"swap", "exact"}, default="swap"
        "swap" searches: it is fast, must-links hold, and it violates as few cannot-links as it can,
        with a warning. "exact" proves that nothing is better: for a few hundred rows. All pairs
        hold, or it raises an error.
    n_init : int, default=3
        Starts of the search; the best is kept. Raising it takes longer and may find better medoids.
    max_iter : int, default=100
        Maximum number of passes of one search. Two to five are usual.
    time_limit : float, default=None
        Seconds for the proof of "exact". If they run out, the best solution so far is kept, with a
        warning that states the gap.
    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    medoid_indices_ : ndarray of shape (n_clusters,)
        The rows that are medoids, ascending. Each has its own label.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The medoids themselves. Missing if the dissimilarities were precomputed.
    inertia_ : float
        Sum of the dissimilarities of all rows to their medoids.
    gap_ : float
        The largest share of `inertia_` by which it could be lowered; 0 if proved best. Only with
        "exact".
    n_iter_ : int
        Passes of the best search.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    n_answers_used_ : int

    References
    ----------
    schubert2021, randel2021

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.cluster import KMedoids
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> KMedoids(2, random_state=0).fit(X).medoid_indices_
    array([1, 4])
    >>> c = Constraints(6, must_link=[(2, 3)], cannot_link=[(0, 1)])
    >>> KMedoids(3, method="exact", random_state=0).fit_predict(X, constraints=c)
    array([0, 1, 1, 1, 2, 2])
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        metric="euclidean",
        method="swap",
        n_init=3,
        max_iter=100,
        time_limit=None,
        random_state=None,
    ):
        self.n_clusters, self.metric, self.method = n_clusters, metric, method
        self.n_init, self.max_iter, self.time_limit = n_init, max_iter, time_limit
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    def fit(self, X, y=None, *, constraints=None):
        """Find the medoids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        y : ignored
        constraints : Constraints, default=None
            Its must-links and cannot-links are used.
        """
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        self._check_settings(X)
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link", "cannot_link"))
        closure = constraints.closure()
        self._check_pairs(constraints, closure)
        costs = component_costs(X, self.metric, closure.components)
        found = self._search(costs, constraints, closure)
        if self.method == "exact":
            known = None if n_broken(constraints, found.labels[closure.components]) else found
            found = exact_medoids(
                costs,
                self.n_clusters,
                owners=closure.components,
                apart=closure.cannot_link,
                time_limit=self.time_limit,
                start=known,
            )
            self.gap_ = (found.cost - found.bound) / found.cost if found.cost > 0 else 0.0
        order = np.argsort(found.medoids)
        self.medoid_indices_ = found.medoids[order]
        self.labels_ = np.argsort(order)[found.labels][closure.components]
        self.violated_ = violated_answers(None, constraints, self.labels_)
        self.inertia_, self.n_iter_ = found.cost, max(1, found.n_iter)
        if self.metric != "precomputed":
            self.cluster_centers_ = X[self.medoid_indices_]
        self._warn(X, constraints, found)
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The cluster whose medoid is nearest, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), or (n_rows, n_samples) if precomputed
            Precomputed: dissimilarities to the rows of ``fit``; only the medoids' columns are used.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        if self.metric == "precomputed":
            return X[:, self.medoid_indices_].argmin(axis=1)
        return dissimilarities(X, self.cluster_centers_, self.metric).argmin(axis=1)

    def _search(self, costs, constraints: Constraints, closure: Closure) -> Medoids:
        """The best of `n_init` searches by swaps: fewest cannot-links broken, then least cost."""
        rng = check_random_state(self.random_state)
        rivals = apart_weights(constraints, closure)
        owners = closure.components
        found = []
        for _ in range(self.n_init):
            start = draw_medoids(costs, self.n_clusters, owners, rng)
            searched = swap_medoids(costs, start, owners=owners, max_iter=self.max_iter)
            if rivals.nnz:
                searched = keep_apart(
                    costs, searched, rivals, owners=owners, max_iter=self.max_iter
                )
            found.append(searched)
        return min(found, key=lambda one: (n_broken(constraints, one.labels[owners]), one.cost))

    def _check_settings(self, X):
        if self.method not in ("swap", "exact"):
            raise ValueError(f"method={self.method!r} is unknown. Use 'swap' or 'exact'.")
        for name in ("n_clusters", "n_init", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number >= 1.")
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}.")
        if self.metric in FITTED_TO_ROWS:
            raise ValueError(
                f"metric={self.metric!r} depends on which rows it is given. "
                "Scale or transform X first and use 'euclidean'."
            )
        if self.metric == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"Precomputed dissimilarities are square; X has shape {X.shape}.")
            if X.min() < 0:
                i, j = np.unravel_index(X.argmin(), X.shape)
                raise ValueError(
                    f"Negative values in data: X[{i}, {j}] = {X[i, j]:g}. Dissimilarities are >= 0."
                )

    def _check_pairs(self, constraints: Constraints, closure: Closure):
        if closure.n_components < self.n_clusters:
            raise InconsistentConstraints(
                f"The must-links leave {closure.n_components} groups of rows, fewer than "
                f"n_clusters={self.n_clusters}. Lower n_clusters, or drop must-links."
            )
        if self.method == "exact":
            positions = constraints.positions("must_link", "cannot_link")
            for clash in constraints.subset(positions).conflicts():
                raise InconsistentConstraints(
                    f"{clash.message} Drop one of them, or use method='swap'.",
                    witness=tuple(int(i) for i in positions[[clash.answer, *clash.witness]]),
                )

    def _warn(self, X, constraints: Constraints, found: Medoids):
        """Warn about what falls short of what was asked for."""
        if self.method == "exact" and not found.converged:
            warnings.warn(
                f"KMedoids stopped at time_limit={self.time_limit} s: inertia_ may be up to "
                f"{self.gap_:.2%} above the best. Raise time_limit.",
                ConvergenceWarning,
            )
        elif not found.converged:
            warnings.warn(
                f"KMedoids stopped at max_iter={self.max_iter} while swaps still helped. Raise it.",
                ConvergenceWarning,
            )
        broken = n_broken(constraints, self.labels_)
        if broken:
            warnings.warn(
                f"KMedoids violates {broken} of {len(constraints.cannot_link)} cannot-links. See "
                "constraints.conflicts(), raise n_clusters or n_init, or use method='exact'.",
                UserWarning,
            )
        if self.metric == "precomputed":
            among = X[np.ix_(self.medoid_indices_, self.medoid_indices_)]
        else:
            among = dissimilarities(self.cluster_centers_, self.cluster_centers_, self.metric)
        n_places = self.n_clusters - np.count_nonzero(np.tril(among == 0, -1).any(axis=1))
        if n_places < self.n_clusters:
            warnings.warn(
                f"Only {n_places} of n_clusters={self.n_clusters} medoids differ: X has too few "
                "distinct rows. Lower n_clusters.",
                ConvergenceWarning,
            )


def dissimilarities(X, Y, metric) -> np.ndarray:
    """From each row of X to each row of Y, (n, m) in float64; if Euclidean, equal rows are at 0."""
    if metric in ("euclidean", "l2"):
        return np.sqrt(sq_distances(X, Y))
    if metric == "sqeuclidean":
        return sq_distances(X, Y)
    return pairwise_distances(X, Y, metric=metric).astype(np.float64, copy=False)


def component_costs(X, metric, components: np.ndarray) -> np.ndarray:
    """What each component, rows that move as one, pays at each medoid, (n_components, n).

    Memory is n_components times n: rows are taken a few at a time, so a long chain of must-links
    stays small.
    """
    n = len(X)
    costs = np.zeros((components.max() + 1, n))
    by_component = np.argsort(components, kind="stable")
    for span in row_blocks(n, n):
        rows = by_component[span]
        block = X[rows] if metric == "precomputed" else dissimilarities(X[rows], X, metric)
        present, starts = np.unique(components[rows], return_index=True)
        costs[present] += np.add.reduceat(block, starts, axis=0, dtype=np.float64)
    return costs


def draw_medoids(costs, n_clusters: int, owners: np.ndarray, rng) -> np.ndarray:
    """Columns (k,) of different rows, each drawn by what rows still pay: k-means++ for medoids."""
    sizes = np.bincount(owners)
    near = np.full(len(costs), np.inf)
    is_free = np.ones(len(owners), dtype=bool)  # its component has no medoid yet
    medoids = np.empty(n_clusters, dtype=np.int64)
    for slot in range(n_clusters):
        odds = np.where(is_free, near[owners] / sizes[owners], 0.0)
        if not 0 < odds.sum() < np.inf:  # the first, or only copies of medoids are left
            odds = is_free.astype(np.float64)
        medoids[slot] = rng.choice(len(owners), p=odds / odds.sum())
        near = np.minimum(near, costs[:, medoids[slot]])
        is_free &= owners != owners[medoids[slot]]
    return medoids


def apart_weights(constraints: Constraints, closure: Closure):
    """Weight of the cannot-links between two components: sparse, symmetric, (n_comp, n_comp)."""
    ends = closure.components[constraints.cannot_link]
    weights = constraints.weights[constraints.positions("cannot_link")]
    counts = (ends[:, 0] != ends[:, 1]) & (weights > 0)
    i, j = ends[counts].T
    shape = (closure.n_components, closure.n_components)
    once = coo_array((weights[counts], (i, j)), shape=shape)
    return (once + once.T).tocsr()


def n_broken(constraints: Constraints, labels: np.ndarray) -> int:
    """How many cannot-links have both rows in one cluster."""
    return int(np.count_nonzero(np.equal(*labels[constraints.cannot_link].T)))
