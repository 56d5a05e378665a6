"""Propagation over the graph of neighbors: known groups spread to the rows near them.

    F = inv(I - alpha S) Y,   S = D^-1/2 W D^-1/2,   memberships = rows of F divided by their sums

W is the graph of nearest rows in units of the local density. If answers keep apart all groups that
they refer to (labels do), Y[i, g] = 1 / (known rows of group g) in its known rows, and 0 in all
others. F adds up all walks that start at known rows, where each step counts alpha times.

If they do not (random pairs leave most groups unrelated), or if there are fewer groups than
clusters, clusters come from the pairs, which are spread over the graph too:

    B = inv(I - .8 S) C,    C[i, c] = 1 / sqrt(rows of component c) for its rows
    A = W + 2 B Z B' / max |B Z B'|,  Z[c, c] = 1 for must-linked rows,  Z[c, d] = -1 for c, d apart

and k-means on the k leading eigenvectors of A, normalized by its absolute row sums, each row scaled
to length 1. These clusters are then the Y of the first problem, with alpha = .5. A group that
answers name keeps its known rows as Y; only a cluster that no answer names takes its rows from A.

Of many rows only some are in the graph: those that answers refer to and a uniform draw, in which
groups with few rows (LEAST_SHARE) then take the places of rows of large ones, and F is solved anew.

Solved by conjugate gradients over the sparse graph. A new row takes the memberships of its nearest
rows by the weights of `interpolation_weights`, which return the memberships of the rows of fit.
Reference: zhou2004 for F, zhu2003 for dividing by the known rows, lu2013 for spreading pairs. We
differ from lu2013 in adding the spread pairs with their signs, in absolute row sums, and in how a
component of must-links counts: by the root of the number of its rows, not by its pairs.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.cluster.cluster_count import choose_n_clusters
from likewise.cluster.clusterer_checks import warn_conflicts
from likewise.cluster.membership_spread import (
    Known,
    SpreadMemberships,
    known_components,
    propagate,
)
from likewise.constraints import Constraints, check_constraints, fit_and_label, warn_unused
from likewise.evaluation import violated_answers
from likewise.kernels import (
    choose_landmarks,
    diffusion_coordinates,
    interpolation_weights,
    self_tuning_graph,
)
from likewise.numerics.rows import sample_rows, validate_rows

BLOCK_ROWS = 2**16
LEAST_SHARE = 0.03  # of the graph's rows, that a small group gets where it has as many
POOL = 10  # rows that are looked at for those, beside each one in the graph


class GraphPropagation(ClusterMixin, BaseEstimator):
    """Spread the groups that a few answers name over the graph of nearest rows.

    Use it with few answers: labels of 10 to 100 rows (``Constraints.from_partial_labels``), or
    pairs. It follows the dense regions of the features; if classes do not, learn a space first
    (``SKLR``, ``ITML``) and propagate in that space.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Clusters to find. With more clusters than groups in the answers, the others come from the
        data; with fewer, the most similar groups share a cluster. "auto" takes the number of groups
        if answers keep all of them apart, and otherwise chooses a number from the data.
    n_neighbors : int, default=10
        Neighbors in the graph, and of new rows. Raising it smooths, and joins separate regions.
    alpha : float, default=0.98
        Share that a step over the graph keeps, between 0 and 1. Raising it gives more weight to
        known rows that are far away.
    n_landmarks : int, default=10_000
        Maximum number of rows in the graph. With more rows, it contains all that answers refer to
        and a sample of the others, with more rows of small groups where answers name all groups;
        the rest are treated like new rows. Raising it follows finer structure; finding neighbors
        takes time in its square, and a saved model contains these rows.
    n_init : int, default=10
        Starts of k-means, if clusters come from pairs or data. Raising it takes longer.
    tol : float, default=1e-12
        Relative residual to which the linear system is solved. Raising it saves time, and rows that
        only long walks reach take their memberships from the nearest other rows instead.
    random_state : int, RandomState or None, default=None
        Draws the landmarks and the starts of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster with the largest membership of each row. The groups that answers name come
        first, in the order of their first rows, then the other clusters in the same order.
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
    Two components of must-links are different groups only if cannot-links say so. Weights of
    answers are not used, except that an answer of weight 0 is left out.

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
        rows, answered = np.arange(n), counted.touched_rows()
        if n > self.n_landmarks:
            rows = np.sort(choose_landmarks(X, self.n_landmarks, forced=answered, random_state=rng))
        spread, known = self._spread_over(X, rows, counted, rng)
        if len(rows) < n and known.are_all_apart and known.n_components == self.n_clusters_ > 1:
            exchanged = self._with_small_groups(X, answered, rng)
            if len(np.setdiff1d(exchanged, rows)):
                rows = exchanged
                spread, known = self._spread_over(X, rows, counted, rng)
        self.n_iter_ = spread.n_iter
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

    def _spread_over(self, X, rows: np.ndarray, answers: Constraints, rng):
        """Memberships of the rows of the graph, which are kept, and what is known about them."""
        self.landmarks_, self.X_fit_ = rows, X[rows]
        known = known_components(answers.restrict(rows))
        W = self_tuning_graph(self.X_fit_, self.n_neighbors)
        self.n_clusters_ = self._count(W, answers.restrict(rows), known, rng)
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
        self.landmark_memberships_ = spread.memberships
        return spread, known

    def _with_small_groups(self, X, answered: np.ndarray, rng) -> np.ndarray:
        """Rows for the graph, as many as now, by where rows beside it are placed."""
        rows = self.landmarks_
        pool = sample_rows(X.shape[0], (POOL + 1) * len(rows), rows, rng.randint(2**31 - 1))
        is_there, is_answered = np.isin(pool, rows), np.isin(pool, answered)
        labels = np.empty(len(pool), dtype=np.int64)
        labels[is_there] = self.landmark_memberships_.argmax(axis=1)
        labels[~is_there] = self._spread_to(X[pool[~is_there]]).argmax(axis=1)
        chosen = exchange_rows(is_there, is_answered, labels, self.n_clusters_, rng)
        return pool[chosen]

    def _spread_to(self, X):
        memberships = np.empty((X.shape[0], self.landmark_memberships_.shape[1]))
        for start in range(0, X.shape[0], BLOCK_ROWS):  # weights take more than memberships do
            block = slice(start, start + BLOCK_ROWS)
            weights = interpolation_weights(X[block], self.X_fit_, self.n_neighbors)
            memberships[block] = weights @ self.landmark_memberships_
        return memberships

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
        counted = choose_n_clusters(coordinates, answers, X=coordinates, random_state=rng)
        return int(counted.n_clusters)

    def _warn(self, spread: "SpreadMemberships", known: "Known") -> None:
        if not spread.converged:
            warnings.warn(
                f"The memberships are not solved to tol={self.tol:g} after {spread.n_iter} "
                "iterations. Raise tol, or lower alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if known.are_all_apart and known.n_components > self.n_clusters_:
            warnings.warn(
                f"Answers keep {known.n_components} groups apart, more than n_clusters="
                f"{self.n_clusters_}: the most similar groups share a cluster. Raise n_clusters.",
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


def exchange_rows(
    is_there: np.ndarray, is_kept: np.ndarray, labels: np.ndarray, n_groups: int, rng
) -> np.ndarray:
    """Positions of as many rows as are there, ascending, with enough of every group.

    A group with fewer than LEAST_SHARE of them (or half of an even share) gets rows of its own that
    are not there, for rows of groups that have more; those that are kept stay.
    """
    n_rows = int(np.count_nonzero(is_there))
    wanted = min(int(LEAST_SHARE * n_rows), n_rows // (2 * n_groups))
    counts = np.bincount(labels[is_there], minlength=n_groups)
    chosen = is_there.copy()
    for group in np.flatnonzero(counts < wanted):
        others = rng.permutation(np.flatnonzero((labels == group) & ~is_there))
        chosen[others[: wanted - int(counts[group])]] = True
    large = is_there & ~is_kept & (counts > 2 * wanted)[labels]
    n_more = int(np.count_nonzero(chosen)) - n_rows
    chosen[rng.permutation(np.flatnonzero(large))[:n_more]] = False
    return np.flatnonzero(chosen)
