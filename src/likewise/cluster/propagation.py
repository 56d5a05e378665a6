"""Propagation over the graph of neighbors: known groups spread to the rows near them.

    F = inv(I - alpha S) Y,   S = D^-1/2 W D^-1/2,   memberships = rows of F divided by their sums

W is the graph of nearest rows in units of the local density. Where answers tell apart all groups
that they refer to (labels do), Y[i, g] = 1 / (known rows of group g) in its known rows, and 0 in
all others. F adds up all walks that begin at known rows, each step counted alpha times.

Where they do not (pairs drawn at random leave most groups unrelated), or where there are not as
many groups as clusters, clusters come from the pairs, which are spread over the graph too:

    B = inv(I - .8 S) C,    C[i, c] = 1 / sqrt(rows of component c) for its rows
    A = W + 2 B Z B' / max |B Z B'|,  Z[c, c] = 1 for must-linked rows,  Z[c, d] = -1 for c, d apart

and k-means on the k leading eigenvectors of A, normalized by its absolute row sums, each row scaled
to length 1. These clusters are then the Y of the first problem, with alpha = .5. A group that
answers name keeps its known rows as Y; only a cluster that no answer names takes its rows from A.

Solved by conjugate gradients over the sparse graph. A new row takes the memberships of its nearest
rows by the weights of `interpolation_weights`, which return the memberships of the rows of fit.
Reference: zhou2004 for F, zhu2003 for dividing by the known rows, lu2013 for spreading pairs. We
differ from lu2013 in adding the spread pairs with their signs, in absolute row sums, and in how a
component of must-links counts: by the root of its rows, however many pairs made it.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.cluster.cluster_count import choose_n_clusters
from likewise.cluster.clusterer_checks import warn_conflicts
from likewise.cluster.kernel_kmeans import one_hot
from likewise.constraints import Constraints, check_constraints, fit_and_label, warn_unused
from likewise.evaluation import violated_answers
from likewise.kernels import (
    choose_landmarks,
    diffusion_coordinates,
    interpolation_weights,
    leading_eigenpairs,
    normalized_adjacency,
    self_tuning_graph,
)
from likewise.numerics.conjugate_gradients import SolvedSystem, solve_columns
from likewise.numerics.rows import validate_rows

PAIR_ALPHA = 0.8  # how far pairs spread: lu2013 uses it on all its data
STRENGTH = 2.0  # of spread pairs beside W; with 200 pairs on seven sets ARI .744, with 1 .728
CLUSTER_ALPHA = 0.5  # a row that has a cluster is mostly its own evidence
CORE_ROWS = 2000  # that clusters from pairs are found on: A is dense
ROUNDING = 100  # times tol: what a walk that is solved for is surely above
MAX_ITER = 1000  # at alpha = .98 about 130 iterations reach 1e-12


class GraphPropagation(ClusterMixin, BaseEstimator):
    """Spread the groups that a few answers name over the graph of nearest rows.

    Use it with few answers: labels of 10 to 100 rows (``Constraints.from_partial_labels``), or
    pairs. It follows the dense regions of the features as they are; where classes do not, learn a
    space first (``SKLR``, ``ITML``) and propagate in that one.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Clusters to find. With more clusters than groups in the answers, the others come from the
        data; with fewer, the groups most alike share a cluster. "auto" takes the number of groups
        where answers tell all of them apart, and looks for a number in the data otherwise.
    n_neighbors : int, default=10
        Of the graph, and of new rows. Raising it smooths, and joins regions that are apart.
    alpha : float, default=0.98
        What a step over the graph keeps, between 0 and 1. Raising it lets far known rows count
        more.
    n_landmarks : int, default=10_000
        With more rows than this, the graph has so many: all that answers refer to, and a uniform
        draw of the others; all other rows are then treated like new rows. Raising it follows finer
        structure; neighbors take time in its square, and a saved model holds these rows.
    n_init : int, default=10
        Starts of k-means, where clusters come from pairs or data. Raising it takes longer.
    tol : float, default=1e-12
        Relative residual that the linear system is solved to. Raising it saves time, and rows
        that only long walks reach take their memberships from the nearest others instead.
    random_state : int, RandomState or None, default=None
        Draws the landmarks and the starts of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The largest membership of each row. First the groups that answers name, in the order of
        their first rows, then the other clusters, in that order too.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Share of each cluster in each row; every row sums to 1. Known rows of a group have 1 there;
        must-linked rows have the same.
    n_clusters_ : int
    landmarks_ : ndarray of shape (n_landmarks,)
        Rows in the graph, ascending.
    X_fit_ : ndarray or CSR of shape (n_landmarks, n_features)
        Those rows, which new rows are compared with.
    landmark_memberships_ : ndarray of shape (n_landmarks, n_clusters)
        Their memberships.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    n_iter_ : int
        Iterations of the last linear system.
    n_answers_used_ : int
        Pairs among the answers given.
    n_features_in_ : int

    See Also
    --------
    GuidedClustering : Chooses among learned spaces and clusters by held-out answers.

    Notes
    -----
    Two components of must-links are different groups only when cannot-links say so. Weights of
    answers are not used, but an answer of weight 0 is left out.

    References
    ----------
    zhou2004, zhu2003, lu2013

    Examples
    --------
    Ten labels for a thousand images of digits:

    >>> import numpy as np
    >>> from likewise import Constraints, GraphPropagation
    >>> from likewise.datasets import load_digits
    >>> digits = load_digits()
    >>> X, y = digits.X[:1000] / 16, np.asarray(digits.y[:1000])
    >>> known = np.full(1000, -1)
    >>> known[:30] = y[:30]
    >>> model = GraphPropagation().fit(X, constraints=Constraints.from_partial_labels(known))
    >>> model.n_clusters_, model.memberships_.shape
    (10, (1000, 10))
    >>> from sklearn.metrics import adjusted_rand_score
    >>> adjusted_rand_score(y, model.labels_) > 0.8
    True
    """

    def __init__(
        self,
        n_clusters="auto",
        *,
        n_neighbors=10,
        alpha=0.98,
        n_landmarks=10_000,
        n_init=10,
        tol=1e-12,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_landmarks = n_landmarks
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Find the memberships of all rows.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Must-links and cannot-links; other answers cannot be used. Without any, this is spectral
            clustering of the graph.

        Returns
        -------
        self : GraphPropagation
        """
        X = self._validate(X, reset=True)
        n = X.shape[0]
        self._check_settings(n)
        constraints = check_constraints(constraints, n_samples=n, y=y)
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link", "cannot_link"))
        pairs = constraints.positions("must_link", "cannot_link")
        counted = constraints.subset(pairs[constraints.weights[pairs] > 0])
        warn_conflicts(self, counted, outcome="follows the must-links")
        rng = check_random_state(self.random_state)
        rows = np.arange(n)
        if n > self.n_landmarks:
            answered = counted.touched_rows()
            rows = np.sort(choose_landmarks(X, self.n_landmarks, forced=answered, random_state=rng))
        self.landmarks_, self.X_fit_ = rows, X[rows]
        known = known_components(counted.restrict(rows))
        W = self_tuning_graph(self.X_fit_, self.n_neighbors)
        self.n_clusters_ = self._count(W, counted.restrict(rows), known, rng)
        spread = propagate(
            self.X_fit_,
            W,
            known,
            n_clusters=self.n_clusters_,
            n_neighbors=self.n_neighbors,
            alpha=self.alpha,
            n_init=self.n_init,
            tol=self.tol,
            rng=rng,
        )
        self.landmark_memberships_, self.n_iter_ = spread.memberships, spread.n_iter
        self.memberships_ = spread.memberships if len(rows) == n else self._spread_to(X)
        self.labels_ = np.argmax(self.memberships_, axis=1).astype(np.int32)
        self.violated_ = violated_answers(None, constraints, self.labels_)
        self._warn(spread, known)
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The cluster of each row: the largest membership.

        Parameters
        ----------
        X : array-like or CSR of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return np.argmax(self.predict_proba(X), axis=1).astype(np.int32)

    def predict_proba(self, X):
        """Memberships of any rows: those of their nearest rows in the graph, by weight.

        Parameters
        ----------
        X : array-like or CSR of shape (n_rows, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_rows, n_clusters)
            Every row sums to 1.
        """
        check_is_fitted(self)
        return self._spread_to(self._validate(X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validate(self, X, *, reset):
        dtypes = [np.float64, np.float32]
        return validate_rows(self, X, reset=reset, accept_sparse="csr", dtype=dtypes)

    def _spread_to(self, X):
        weights = interpolation_weights(X, self.X_fit_, self.n_neighbors)
        return weights @ self.landmark_memberships_

    def _check_settings(self, n: int) -> None:
        for name in ("n_neighbors", "n_landmarks", "n_init"):
            check_scalar(getattr(self, name), name, (int, np.integer), min_val=1)
        for name in ("alpha", "tol"):
            value = getattr(self, name)
            is_share = isinstance(value, (int, float, np.number)) and 0 < value < 1
            if not is_share:
                raise ValueError(f"{name}={value!r} must lie between 0 and 1, both excluded.")
        if self.n_clusters == "auto":
            return
        check_scalar(self.n_clusters, "n_clusters", (int, np.integer), min_val=1)
        if n < self.n_clusters:
            raise ValueError(
                f"n_samples={n} should be >= n_clusters={self.n_clusters}. "
                "Lower n_clusters, or give more rows."
            )

    def _count(self, W, answers: Constraints, known: "Known", rng) -> int:
        if self.n_clusters != "auto":
            return int(self.n_clusters)
        if known.are_all_apart and known.n_components > 1:
            return known.n_components
        coordinates, _ = diffusion_coordinates(W)
        return int(choose_n_clusters(coordinates, answers, random_state=rng).n_clusters)

    def _warn(self, spread: "SpreadMemberships", known: "Known") -> None:
        if not spread.converged:
            warnings.warn(
                f"The memberships are not solved to tol={self.tol:g} after {MAX_ITER} iterations. "
                "Raise tol, or lower alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if known.are_all_apart and known.n_components > self.n_clusters_:
            warnings.warn(
                f"Answers keep {known.n_components} groups apart, more than n_clusters="
                f"{self.n_clusters_}: the groups most alike share a cluster. Raise n_clusters.",
                UserWarning,
                stacklevel=3,
            )
        n_found = len(np.unique(self.labels_))
        if n_found < self.n_clusters_:
            warnings.warn(
                f"GraphPropagation found {n_found} clusters, fewer than n_clusters="
                f"{self.n_clusters_}: no row has its largest membership in the others. "
                "Lower n_clusters.",
                ConvergenceWarning,
                stacklevel=3,
            )


class Known(NamedTuple):
    """What pairs say about the rows of a graph."""

    components: np.ndarray  # (n,), the must-link component of each answered row; others -1
    n_components: int
    apart: np.ndarray  # (m, 2), components known to be apart, each pair once

    @property
    def are_all_apart(self) -> bool:
        """Every two components are known to be apart: each is a group of its own."""
        return len(self.apart) == self.n_components * (self.n_components - 1) // 2

    @property
    def sizes(self) -> np.ndarray:
        """Rows in each component."""
        return np.bincount(self.components[self.components >= 0], minlength=self.n_components)


class SpreadMemberships(NamedTuple):
    memberships: np.ndarray  # (n, n_clusters), rows sum to 1
    n_iter: int
    converged: bool


def known_components(constraints: Constraints) -> Known:
    """The must-link components that answers refer to, numbered by their first rows."""
    closure = constraints.closure()
    answered = constraints.touched_rows()
    names, numbers = np.unique(closure.components[answered], return_inverse=True)
    components = np.full(constraints.n_samples, -1)
    components[answered] = numbers
    return Known(components, len(names), np.searchsorted(names, closure.cannot_link))


def propagate(
    X,
    W: csr_array,
    known: Known,
    *,
    n_clusters: int,
    n_neighbors: int,
    alpha: float,
    n_init: int,
    tol: float,
    rng,
) -> SpreadMemberships:
    """Memberships of the rows X of a graph W from the groups, or the pairs, that are known."""
    are_groups = known.are_all_apart and 0 < known.n_components <= n_clusters
    seeds = known.components  # (n,), the cluster of a row that memberships spread from, or -1
    if not are_groups or known.n_components < n_clusters:
        core = core_rows(known, rng)
        W_core = W if len(core) == len(seeds) else self_tuning_graph(X[core], n_neighbors)
        clusters = np.full(len(seeds), -1)
        clusters[core] = cluster_by_pairs(
            W_core,
            known._replace(components=known.components[core]),
            n_clusters=n_clusters,
            n_init=n_init,
            tol=tol,
            rng=rng,
        )
        if are_groups:
            seeds = add_clusters(known.components, clusters, known.n_components, n_clusters)
        else:
            seeds = clusters
            alpha = CLUSTER_ALPHA if len(core) == len(seeds) else alpha
    Y = one_hot(seeds, n_clusters)
    if are_groups:
        Y /= np.maximum(Y.sum(axis=0), 1)
    S, _ = normalized_adjacency(W)
    memberships, n_iter, converged = spread_over(S, Y, alpha=alpha, tol=tol)
    is_reached = memberships.any(axis=1)
    if not is_reached.all():  # pieces of the graph where nothing is known
        weights = interpolation_weights(X[~is_reached], X[is_reached], n_neighbors)
        memberships[~is_reached] = weights @ memberships[is_reached]
    answered = known.components >= 0
    if are_groups:
        memberships[answered] = one_hot(known.components[answered], n_clusters)
    elif answered.any():  # must-linked rows share theirs
        members = one_hot(known.components[answered], known.n_components)
        means = members.T @ memberships[answered] / known.sizes[:, None]
        memberships[answered] = means[known.components[answered]]
    return SpreadMemberships(memberships, n_iter, converged)


def solve_walks(S: csr_array, Y: np.ndarray, *, alpha: float, tol: float) -> SolvedSystem:
    """F = inv(I - alpha S) Y: the walks that begin in each column of Y, a step counted alpha."""
    return solve_columns(lambda V: V - alpha * (S @ V), Y, tol=tol, max_iter=MAX_ITER)


def spread_over(S: csr_array, Y: np.ndarray, *, alpha: float, tol: float) -> SpreadMemberships:
    """Rows of F divided by their sums; 0 in pieces of the graph where Y is 0.

    Walks so long that what is left of them is rounding begin anew where the shorter ones ended.
    """
    solved = solve_walks(S, Y, alpha=alpha, tol=tol)
    memberships = np.zeros_like(Y)
    F, is_reached = solved.X, np.zeros(len(Y), dtype=bool)
    while True:
        totals = np.maximum(F, 0.0).sum(axis=1)
        is_new = ~is_reached & (totals > ROUNDING * tol * totals.max())
        memberships[is_new] = np.maximum(F[is_new], 0.0) / totals[is_new, None]
        is_reached |= is_new
        if is_reached.all() or not is_new.any():
            return SpreadMemberships(memberships, solved.n_iter, solved.converged)
        F = solve_walks(S, memberships, alpha=alpha, tol=tol).X


def spread_memberships(
    W: csr_array, groups: np.ndarray, n_groups: int, *, alpha: float, tol: float
) -> np.ndarray:
    """Memberships (n, k) over a graph from known groups (n,), -1 for unknown; 0 out of reach."""
    Y = one_hot(groups, n_groups)
    S, _ = normalized_adjacency(W)
    return spread_over(S, Y / np.maximum(Y.sum(axis=0), 1), alpha=alpha, tol=tol).memberships


def cluster_by_pairs(
    W: csr_array, known: Known, *, n_clusters: int, n_init: int, tol: float, rng
) -> np.ndarray:
    """Clusters (n,) of the rows of a graph whose weights the pairs have raised and lowered.

    Numbered in the order of their first rows; rows of one component are in one cluster.
    """
    A = W
    if known.n_components:
        A = csr_array(W + STRENGTH * spread_pairs(W, known, tol=tol))
    _, vectors = leading_eigenpairs(normalized_adjacency(A)[0], n_clusters)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    Z = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fit says when clusters are missing
        labels = KMeans(n_clusters, n_init=n_init, random_state=rng).fit_predict(Z)
    answered = known.components >= 0
    if answered.any():
        votes = one_hot(known.components, known.n_components).T @ one_hot(labels, n_clusters)
        labels[answered] = np.argmax(votes, axis=1)[known.components[answered]]
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def spread_pairs(W: csr_array, known: Known, *, tol: float) -> np.ndarray:
    """What pairs say about every two rows (n, n): 1 alike, -1 apart at most, 0 nothing."""
    sizes = known.sizes
    members = one_hot(known.components, known.n_components) / np.sqrt(np.maximum(sizes, 1))
    B = solve_walks(normalized_adjacency(W)[0], members, alpha=PAIR_ALPHA, tol=tol).X
    Z = np.diag((sizes > 1).astype(np.float64))  # a row alone says nothing about its neighbors
    a, b = known.apart.T
    Z[a, b] = Z[b, a] = -1.0
    influence = B @ Z @ B.T
    return influence / (np.abs(influence).max() or 1.0)


def core_rows(known: Known, rng) -> np.ndarray:
    """Rows, ascending, to find clusters on: half of them at most are rows with answers."""
    n = len(known.components)
    if n <= CORE_ROWS:
        return np.arange(n)
    answered = np.flatnonzero(known.components >= 0)
    if len(answered) > CORE_ROWS // 2:
        answered = rng.choice(answered, CORE_ROWS // 2, replace=False)
    others = np.setdiff1d(np.arange(n), answered)
    drawn = rng.choice(others, min(CORE_ROWS - len(answered), len(others)), replace=False)
    return np.sort(np.concatenate([answered, drawn]))


def add_clusters(
    groups: np.ndarray, clusters: np.ndarray, n_groups: int, n_clusters: int
) -> np.ndarray:
    """Known groups (n,), and where none is known the clusters that stand for no group.

    Each group stands for the cluster that has most of its rows, no two for the same.
    """
    both = (groups >= 0) & (clusters >= 0)
    shared = one_hot(groups[both], n_groups).T @ one_hot(clusters[both], n_clusters)
    _, taken = linear_sum_assignment(-shared)
    number = np.full(n_clusters, -1)
    number[np.setdiff1d(np.arange(n_clusters), taken)] = np.arange(n_groups, n_clusters)
    return np.where(groups >= 0, groups, np.where(clusters >= 0, number[clusters], -1))
