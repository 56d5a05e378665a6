"""PCK-Means: k-means with a price for every pair it violates.

    min  1/2 sum_i ||x_i - mu_{l_i}||^2 + sum_{must-links (i, j)}   w_ij [l_i != l_j]
                                        + sum_{cannot-links (i, j)} w_ij [l_i = l_j]

Solved by descent: labels given the centers (soft_pairs.py) and centers as means, in turn; the sum
never rises. Answers may contradict each other: the side with more weight wins.
Reference: basu2004. We differ from it in the unit of the price, half the mean squared distance of
the rows to their mean, so that clusters do not depend on the unit of the data (``relative=False``
is the paper's); in also moving must-linked groups as a whole, since moving one row at a time gets
stuck; in pairs counted as given, without those that they imply; and in starts (center_starts.py).
With sizes or exclusive groups, which hold, labels are assigned under these rules (assignment.py).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_scalar

from likewise.cluster.assignment import Rules
from likewise.cluster.center_starts import starting_centers
from likewise.cluster.clusterer_checks import (
    check_choice,
    check_kmeans_settings,
    order_clusters,
    predict_nearest,
    size_bounds,
    warn_conflicts,
    warn_outcome,
)
from likewise.cluster.infeasible import raise_large_exclusive
from likewise.cluster.linked_groups import Ties
from likewise.cluster.ruled_kmeans import NoLabels, WeightedGroups, fit_by_rules
from likewise.cluster.soft_pairs import (
    Moves,
    prepare_moves,
    reseed,
    sweep,
    violated,
)
from likewise.constraints import (
    InconsistentConstraints,
    check_constraints,
    fit_and_label,
    warn_unused,
)
from likewise.numerics.partitions import cluster_means
from likewise.numerics.rows import validate_rows
from likewise.numerics.threads import one_thread_if_small


class PCKMeans(ClusterMixin, BaseEstimator):
    """Cluster so that most pairs are satisfied, unless the data contradict them too strongly.

    Use it if some answers may be wrong. If all are certain, :class:`COPKMeans` keeps every one.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    C : float, default=0.5
        Price of violating a pair, times the weight of its answer. 0 is plain k-means; raising it
        violates fewer pairs. Lower it if many answers may be wrong, raise it if few are.
    relative : bool, default=True
        Whether the price is in units of what a row at the mean squared distance from the mean of
        all rows costs in one cluster. False takes ``C`` as an absolute price, as the paper does:
        then clusters depend on the unit of the rows.
    init : "k-means++" or array-like of shape (n_clusters, n_features), default="k-means++"
        The centers of a single start; or "k-means++" for ``n_init`` starts, the first made of
        must-linked groups, the others by k-means++.
    min_size, max_size : int or array-like of shape (n_clusters,), default=None
        Rows of a cluster, at least and at most; they always hold, and so do exclusive groups.
    n_init : int, default=5
        Starts; the one with the least objective is kept. Raising it finds better clusters and takes
        longer.
    max_iter : int, default=300
        Steps of one start.
    tol : float, default=1e-4
        A start ends when a step lowers the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    inertia_ : float
        Sum of squared distances of the rows to the centers of their clusters.
    objective_ : ndarray of shape (n_iter,)
        The objective after every step of the start that was kept; it never rises.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    conflicts_ : ndarray of int
        Positions of the cannot-links that contradict a path of must-links.
    n_iter_ : int
    n_answers_used_ : int
        Must-links and cannot-links among the constraints.

    See Also
    --------
    COPKMeans : Keeps every pair.
    MPCKMeans : Also learns a metric.

    References
    ----------
    basu2004

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.cluster.pck_means import PCKMeans
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> c = Constraints(5, must_link=[(2, 3)])
    >>> labels = PCKMeans(2, C=2, random_state=0).fit(X, constraints=c).labels_
    >>> bool(labels[2] == labels[3] != labels[1])
    True
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        C=0.5,
        relative=True,
        init="k-means++",
        min_size=None,
        max_size=None,
        n_init=5,
        max_iter=300,
        tol=1e-4,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.C = C
        self.relative = relative
        self.init = init
        self.min_size = min_size
        self.max_size = max_size
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        constraints : Constraints, default=None
            Must-links and cannot-links between rows of X; other answers are counted in a warning.

        Returns
        -------
        self
        """
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        check_kmeans_settings(self, len(X))
        if isinstance(self.init, str):
            check_choice("init", self.init, ("k-means++",))
        check_scalar(self.C, "C", (int, float, np.number), min_val=0)
        lower, upper = size_bounds(self.min_size, self.max_size, self.n_clusters, len(X))
        used = ("must_link", "cannot_link", "exclusive")
        self.n_answers_used_ = warn_unused(self, constraints, used=used)
        raise_large_exclusive(constraints, self.n_clusters)
        self.conflicts_ = warn_conflicts(self, constraints)

        center = X.mean(axis=0, dtype=np.float64)
        rows = X - center
        unit = (rows**2).sum() / (2 * len(rows)) if self.relative else 1.0
        closure = constraints.closure()
        pairs, sign = constraints.signed_pairs()
        moves = prepare_moves(pairs, sign > 0, closure.components)
        positions = constraints.positions("must_link", "cannot_link")
        price = self.C * unit * constraints.weights[positions]
        if isinstance(self.init, str):
            starts = starting_centers(
                rows,
                np.ones(len(rows)),
                cluster_means(rows, closure.components, closure.n_components),
                closure.sizes,
                n_clusters=self.n_clusters,
                n_init=self.n_init,
                rng=check_random_state(self.random_state),
            )
        else:
            starts = iter([self._given_centers(X.shape[1]) - center])
        is_ruled = bool((lower > 0).any() or (upper < len(X)).any() or constraints.exclusive)
        if is_ruled:
            soft = Ties(pairs[:0], constraints.exclusive, pairs, sign > 0, 2 * price)
            rules = Rules(np.ones(len(X), dtype=np.int64), lower, upper, soft)
            best = fit_soft_by_rules(rows, rules, starts, max_iter=self.max_iter, tol=self.tol)
            self._store(X, center, best, moves, positions, best.labels, np.arange(self.n_clusters))
            return self
        fits = (
            fit_labels_and_centers(
                rows, moves, price, centers, max_iter=self.max_iter, tol=self.tol
            )
            for centers in starts
        )
        best = min(fits, key=lambda fitted: fitted.objective[-1])
        labels, order = order_clusters(best.labels, self.n_clusters)
        self._store(X, center, best, moves, positions, labels, order)
        return self

    fit_predict = fit_and_label

    predict = predict_nearest

    def _store(self, X, center, best: "PCKFit", moves: Moves, positions, labels, order) -> None:
        """What was found, with labels by the clusters in the given order."""
        self.labels_ = labels
        self.cluster_centers_ = center + best.centers[order]
        self.inertia_ = float(((X - self.cluster_centers_[self.labels_]) ** 2).sum())
        self.objective_ = best.objective
        self.violated_ = positions[violated(best.labels, moves)]
        self.n_iter_ = len(best.objective)
        warn_outcome(self, self.labels_, best.converged)

    def _given_centers(self, n_features: int) -> np.ndarray:
        centers = check_array(self.init, dtype=np.float64, input_name="init")
        if centers.shape != (self.n_clusters, n_features):
            raise ValueError(
                f"init has shape {centers.shape}, but n_clusters={self.n_clusters} centers of "
                f"{n_features} features are needed."
            )
        return centers


class PCKFit(NamedTuple):
    labels: np.ndarray  # (n,)
    centers: np.ndarray  # (k, d)
    objective: np.ndarray  # after every step
    converged: bool


@one_thread_if_small(lambda rows, *_, **__: rows.size)
def fit_labels_and_centers(
    rows: np.ndarray,  # (n, d), around 0
    moves: Moves,
    price: np.ndarray,  # (m,) of breaking each pair
    centers: np.ndarray,
    *,
    max_iter: int,
    tol: float,
) -> PCKFit:
    """Labels given the centers, centers given the labels, until the objective settles."""
    n_clusters = len(centers)
    half_sq_norms = (rows**2).sum(axis=1) / 2
    # A must-link is paid at both ends, half a price each: soft_pairs.py.
    shares = np.where(moves.must, price / 2, price)
    prices = np.repeat(shares[:, None], n_clusters, axis=1)
    objective: list[float] = []
    labels = np.empty(0, dtype=np.int64)
    for _ in range(max_iter):
        unary = rows @ -centers.T
        unary += (centers**2).sum(axis=1) / 2
        unary += half_sq_norms[:, None]
        before = labels if len(labels) else np.argmin(unary, axis=1)
        labels = sweep(before, unary, prices, moves)
        labels = reseed(labels, unary, np.zeros(n_clusters), moves)
        masses = np.bincount(labels, minlength=n_clusters)
        means = cluster_means(rows, labels, n_clusters)
        centers = np.where(masses[:, None] > 0, means, centers)
        scatter = half_sq_norms.sum() - masses @ (centers**2).sum(axis=1) / 2
        objective.append(float(scatter + price[violated(labels, moves)].sum()))
        gain = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
        if gain <= tol * abs(objective[-1]):
            return PCKFit(labels, centers, np.array(objective), converged=True)
    return PCKFit(labels, centers, np.array(objective), converged=False)


def fit_soft_by_rules(
    rows: np.ndarray,  # (n, d), around 0
    rules: Rules,  # with the pairs as soft ones, at twice their price: costs here are not halved
    starts: Iterable[np.ndarray],
    *,
    max_iter: int,
    tol: float,
) -> PCKFit:
    """The same objective among labels that keep sizes and exclusive groups."""
    groups = WeightedGroups(rows, np.ones(len(rows)), (rows**2).sum(axis=1))
    try:
        best = fit_by_rules(groups, rules, starts, max_iter=max_iter, tol=tol)
    except NoLabels:
        raise InconsistentConstraints(
            "No clusters that keep the sizes and the exclusive groups were found. Widen min_size "
            "and max_size, or raise n_clusters."
        ) from None
    return PCKFit(best.labels, best.centers, best.objective / 2, best.converged)
