"""COP-KMeans: k-means that keeps every must-link and every cannot-link, and sizes where asked.

    min  sum_i ||x_i - mu_{l_i}||^2   s.t.  l_i = l_j  for every must-link (i, j)
                                            l_i != l_j for every cannot-link (i, j), and for every
                                                       two rows of an exclusive group
                                            min_size <= rows of a cluster <= max_size

Rows that must be together move as one point with the weight of all of them. Those without
cannot-links are assigned all at once; the others in an order that leaves the constrained ones a
choice (feasible.py), and then every Lloyd step keeps what is satisfied, so the inertia never rises.
When no single group can move any more, all are assigned again, exactly (linked_groups.py): of the
best start alone, since that takes longer than all starts. With sizes every step is an assignment
under all rules (ruled_kmeans.py).
Reference: wagstaff2001. We differ from it in never giving up halfway: it assigns rows in random
order and fails at the first row without a possible cluster; we backtrack, and report what clashes
(infeasible.py). bradley2000 has the sizes.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from likewise.cluster.assignment import Rules
from likewise.cluster.center_starts import starting_centers
from likewise.cluster.clusterer_checks import (
    check_kmeans_settings,
    order_clusters,
    predict_nearest,
    size_bounds,
    warn_outcome,
)
from likewise.cluster.feasible import Apart, assign, improve, prepare_links
from likewise.cluster.infeasible import (
    clique_of,
    raise_clique,
    raise_contradiction,
    raise_irreducible,
    raise_large_exclusive,
    raise_large_group,
)
from likewise.cluster.linked_groups import Ties, no_ties, solve_tied
from likewise.cluster.ruled_kmeans import (
    NoLabels,
    RuledFit,
    WeightedGroups,
    fit_by_rules,
    group_costs,
)
from likewise.constraints import (
    Closure,
    Constraints,
    InconsistentConstraints,
    check_constraints,
    fit_and_label,
    warn_unused,
)
from likewise.evaluation import violated_answers
from likewise.numerics.partitions import cluster_means, refill_empty
from likewise.numerics.rows import validate_rows

ROUNDING = 1e-12  # a share of the largest cost: anything below counts as zero


class COPKMeans(ClusterMixin, BaseEstimator):
    """Cluster so that every must-link and cannot-link holds, or say why that is impossible.

    Exclusive groups hold as well, and sizes where they are given.

    Use it if the answers are certain. If some may be wrong, use :class:`PCKMeans`, which may
    violate them.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find. Cannot-links among m groups of rows may need up to m of them.
    n_init : int, default=5
        Starts; the one with the least inertia is kept. More starts take longer and find better
        clusters. The first is made of must-linked groups, the others by k-means++.
    max_iter : int, default=300
        Maximum number of Lloyd steps in one start.
    tol : float, default=1e-4
        A start ends when a step lowers the inertia by less than this share of it.
    budget : int, default=10_000
        Steps of one search for labels that keep all cannot-links. Raise it if an error says that
        none were found; it matters only if many rows have ``n_clusters`` cannot-links or more.
    min_size, max_size : int or array-like of shape (n_clusters,), default=None
        Rows of a cluster, at least and at most: one number, or one for each cluster. The nearer
        they are to each other, the farther rows may lie from their center.
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
        The inertia after every step of the start that was kept; it never rises.
    n_iter_ : int
    gap_ : float
        With sizes: by which share of the inertia other labels could lie nearer to these centers, at
        most; 0 where the labels are proved to be the best. nan without sizes.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    n_answers_used_ : int
        Must-links and cannot-links among the constraints.

    See Also
    --------
    PCKMeans : The same with a price for every violated pair.

    References
    ----------
    wagstaff2001; bradley2000 for sizes.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.cluster.cop_kmeans import COPKMeans
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> c = Constraints(4, must_link=[(1, 2)], cannot_link=[(2, 3)])
    >>> labels = COPKMeans(2, random_state=0).fit(X, constraints=c).labels_
    >>> bool(labels[1] == labels[2] != labels[3])
    True
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=5,
        max_iter=300,
        tol=1e-4,
        budget=10_000,
        min_size=None,
        max_size=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.budget = budget
        self.min_size = min_size
        self.max_size = max_size
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

        Raises
        ------
        InconsistentConstraints
            If the pairs contradict each other or need more than ``n_clusters`` clusters, with the
            answers that prove it; or if the search ran out of budget, and then it says so.
        """
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        check_kmeans_settings(self, len(X))
        lower, upper = size_bounds(self.min_size, self.max_size, self.n_clusters, len(X))
        used = ("must_link", "cannot_link", "exclusive")
        self.n_answers_used_ = warn_unused(self, constraints, used=used)
        raise_contradiction(constraints)
        closure = constraints.closure()
        is_sized = bool((lower > 0).any() or (upper < len(X)).any())
        n_clusters = self.n_clusters if is_sized else min(self.n_clusters, closure.n_components)
        raise_large_exclusive(constraints, n_clusters)
        raise_large_group(constraints, upper)
        links = closure.apart_pairs()
        linked = np.unique(links)
        raise_clique(constraints, clique_of(links, linked, n_clusters), n_clusters)

        center = X.mean(axis=0, dtype=np.float64)
        rows = X - center
        points = cluster_means(rows, closure.components, closure.n_components)
        sizes = closure.sizes.astype(np.float64)
        starts = starting_centers(
            points,
            sizes,
            points,
            sizes,
            n_clusters=n_clusters,
            n_init=self.n_init,
            rng=check_random_state(self.random_state),
        )
        self.gap_ = np.nan
        best: RuledFit | COPFit
        scatters = sizes * (points**2).sum(axis=1)
        if is_sized:
            ruled = self._fit_sizes(constraints, (points, sizes, scatters), starts, lower, upper)
            best, self.gap_ = ruled, ruled.gap
        else:
            apart = prepare_links(np.searchsorted(linked, links), len(linked), n_clusters)
            groups = LinkedGroups(points, sizes, linked, apart, scatters, ties_of(closure, linked))
            best = self._fit_pairs(constraints, groups, starts, n_clusters)
        inner = float(((rows - points[closure.components]) ** 2).sum())  # scatter inside the groups
        self.labels_, order = best.labels[closure.components], np.arange(self.n_clusters)
        if not is_sized:  # sizes may belong to the clusters one by one
            self.labels_, order = order_clusters(self.labels_, self.n_clusters)
        self.cluster_centers_ = center + best.centers[order]
        self.violated_ = violated_answers(None, constraints, self.labels_)
        self.objective_ = best.objective + inner
        self.inertia_ = float(self.objective_[-1])
        self.n_iter_ = len(best.objective)
        warn_outcome(self, self.labels_, best.converged, "distinct rows or must-linked groups")
        return self

    fit_predict = fit_and_label

    predict = predict_nearest

    def _fit_pairs(self, constraints, groups: "LinkedGroups", starts, n_clusters: int) -> "COPFit":
        """The best of the starts that keep every pair, or the error that says why there is none."""
        best, linked = None, groups.linked
        for centers in starts:
            costs = group_costs(groups, centers)[linked]
            found = assign(costs, groups.apart, budget=self.budget)
            linked_labels = found.labels
            if linked_labels is None and not found.exhausted:
                linked_labels = solve_tied(costs, groups.ties).labels
            if found.exhausted:
                nothing = np.zeros(n_clusters, dtype=np.int64)
                raise_irreducible(constraints, n_clusters, nothing, nothing + constraints.n_samples)
            if linked_labels is None:
                continue
            labels = np.zeros(len(groups.points), dtype=np.int64)
            labels[linked] = linked_labels
            fitted = settle(groups, labels, centers, self.max_iter, self.tol)
            if best is None or fitted.objective[-1] < best.objective[-1]:
                best = fitted
        if best is None:
            raise InconsistentConstraints(
                "No clusters that satisfy every pair were found within the budget of "
                f"{self.budget} steps in any of {self.n_init} starts; there may be some. Raise "
                "budget or n_clusters, or use PCKMeans, which may violate pairs."
            )
        return change_places(groups, best, max_iter=self.max_iter, tol=self.tol)

    def _fit_sizes(self, constraints, groups: tuple, starts, lower, upper) -> RuledFit:
        """The best of the starts under all rules, or the error that says why there is none."""
        closure = constraints.closure()
        rules = Rules(closure.sizes, lower, upper, ties_of(closure))
        try:
            return fit_by_rules(
                WeightedGroups(*groups), rules, starts, max_iter=self.max_iter, tol=self.tol
            )
        except NoLabels as none:
            if none.is_proved:
                raise_irreducible(constraints, self.n_clusters, lower, upper)
        raise InconsistentConstraints(
            "No clusters that satisfy every pair and size were found; there may be some. Widen "
            "min_size and max_size, or raise n_clusters."
        )


def hold_pairs(
    X: np.ndarray, constraints: Constraints, centers: np.ndarray, *, budget: int = 10_000
) -> np.ndarray | None:
    """The cheapest labels (n,) at given centers that keep every pair; None where none are found.

    Rows without pairs go to the nearest center, must-linked rows together to the nearest of their
    mean, and those with cannot-links as near as the others leave them. These are a program of their
    own: moved one by one they often stay where two groups ought to change places.
    """
    closure = constraints.closure()
    links = closure.apart_pairs()
    linked = np.unique(links)
    if constraints.conflicts():
        return None
    apart = prepare_links(np.searchsorted(linked, links), len(linked), len(centers))
    sizes = closure.sizes.astype(np.float64)
    points = cluster_means(X, closure.components, closure.n_components)
    costs = group_costs(WeightedGroups(points, sizes, sizes * (points**2).sum(axis=1)), centers)
    labels = np.argmin(costs, axis=1)
    if len(linked):
        found = assign(costs[linked], apart, budget=budget).labels
        if found is not None:
            found = improve(found, costs[linked], apart)
        solved = solve_tied(costs[linked], ties_of(closure, linked), found).labels
        if solved is None:
            return None
        labels[linked] = solved
    return labels[closure.components]


class COPFit(NamedTuple):
    labels: np.ndarray  # (p,) of the groups
    centers: np.ndarray  # (k, d)
    objective: np.ndarray  # inertia of the groups after every step
    converged: bool


class LinkedGroups(NamedTuple):
    """Must-linked groups of rows, each as one point, and the cannot-links between them."""

    points: np.ndarray  # (p, d) their means; the mean of all rows is 0
    sizes: np.ndarray  # (p,)
    linked: np.ndarray  # groups with cannot-links, which ``apart`` numbers from 0
    apart: Apart

    scatters: np.ndarray  # (p,) size times squared norm
    ties: Ties  # the same links, over the linked groups alone


def ties_of(closure: Closure, linked: np.ndarray | None = None) -> Ties:
    """What keeps must-linked groups apart: of all groups, or of the linked ones alone."""
    ties = no_ties()._replace(apart=closure.cannot_link, exclusive=closure.exclusive)
    return ties if linked is None else ties.restrict(linked, closure.n_components)


def change_places(groups: LinkedGroups, fitted: COPFit, *, max_iter: int, tol: float) -> COPFit:
    """Go on where no single group can move any more: all linked ones are assigned again, at once.

    It ends when that is no better.
    """
    linked, history = groups.linked, fitted.objective
    while len(linked) and fitted.converged:
        costs = group_costs(groups, fitted.centers)[linked]
        reassigned = solve_tied(costs, groups.ties, fitted.labels[linked]).labels
        if reassigned is None:
            break
        rows = np.arange(len(linked))
        gain = costs[rows, fitted.labels[linked]].sum() - costs[rows, reassigned].sum()
        if gain <= tol * history[-1] or len(history) >= max_iter:
            break
        labels = fitted.labels.copy()
        labels[linked] = reassigned
        centers, _ = move_centers(groups, labels, fitted.centers)
        fitted = settle(groups, labels, centers, max_iter - len(history), tol)
        history = np.concatenate([history, fitted.objective])
    return fitted._replace(objective=history)


def move_centers(
    groups: LinkedGroups, labels: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The means of the clusters, an empty one staying where it was, and their masses (k,)."""
    masses = np.bincount(labels, weights=groups.sizes, minlength=len(centers))
    means = cluster_means(groups.points, labels, len(centers), groups.sizes)
    return np.where(masses[:, None] > 0, means, centers), masses


def settle(
    groups: LinkedGroups, labels: np.ndarray, centers: np.ndarray, max_iter: int, tol: float
) -> COPFit:
    """Groups to the nearest center their neighbors leave open, centers to the means, in turn."""
    linked, apart, scatters = groups.linked, groups.apart, groups.scatters
    n_clusters, nothing = len(centers), ROUNDING * scatters.max()
    objective: list[float] = []
    for _ in range(max_iter):
        costs = group_costs(groups, centers)
        moved = np.argmin(costs, axis=1)
        moved[linked] = improve(labels[linked], costs[linked], apart)
        own_costs = costs[np.arange(len(costs)), moved]
        filled = refill_empty(moved, own_costs, n_clusters)
        moved = np.where(own_costs > nothing, filled, moved)  # on its center one gains nothing
        centers, masses = move_centers(groups, moved, centers)
        objective.append(float(scatters.sum() - masses @ (centers**2).sum(axis=1)))
        gain = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
        if np.array_equal(moved, labels) or gain <= tol * objective[-1]:
            return COPFit(moved, centers, np.array(objective), converged=True)
        labels = moved
    return COPFit(labels, centers, np.array(objective), converged=False)
