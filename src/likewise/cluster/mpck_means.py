"""MPCK-Means: clusters, and the metric under which they are round, from rows and pairs.

    min  sum_i ||x_i - mu_h||^2_h - log det A_h                                     h = l_i
       + sum_{must-links (i, j)}   w_ij [l_i != l_j] (||x_i - x_j||^2_h + ||x_i - x_j||^2_g) / 2
       + sum_{cannot-links (i, j)} w_ij [l_i = l_j] (||v_h||^2_h - ||x_i - x_j||^2_h)      g = l_j
       + s sum_h (tr(A_h C) - log det A_h)                                       ||x||^2_h = x'A_h x

Violating a must-link costs more the farther apart its rows are, violating a cannot-link more the
closer they are; v_h joins two rows far apart under A_h, C is the covariance of all rows. Updated in
turn: labels (soft_pairs.py), means, metrics in closed form, v_h. With v_h held fixed, as it is
after some steps, no step raises the sum.
Reference: bilenko2004. We differ from it in counting every pair once, as given and without those
it implies; in the last line, s extra rows that vary as all rows do, without which the metrics of
small clusters are singular; in v_h, found by walking to the farthest row and back; in eigenvalues
between two bounds; in starts (center_starts.py), and in choosing among them by the pairs, not by
the sum, which favors clusters that are thin in an irrelevant direction.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.cluster.center_starts import starting_centers
from likewise.cluster.clusterer_checks import (
    check_choice,
    check_kmeans_settings,
    order_clusters,
    warn_conflicts,
    warn_outcome,
)
from likewise.cluster.metrics import (
    best_metrics,
    log_dets,
    outer_sums,
    scatters,
    sq_lengths,
    sq_to_centers,
)
from likewise.cluster.soft_pairs import Moves, prepare_moves, reseed, sweep, violated
from likewise.constraints import check_constraints, fit_and_label, warn_unused
from likewise.numerics.partitions import cluster_means
from likewise.numerics.rows import validate_rows
from likewise.numerics.threads import one_thread_if_small

N_HOPS = 2  # steps to the farthest row in one walk
N_WALKS = 20  # then the farthest rows are held, or labels and prices could chase each other
MANY_BROKEN = 0.05  # share of the pairs: right pairs are hardly ever violated
A_FEW = 10  # violated pairs that mean nothing yet
EIGENVALUE_BOUNDS = 1e-6, 1e6  # of a metric, where the mean variance of the rows is 1


class MPCKMeans(ClusterMixin, BaseEstimator):
    """Learn a metric and cluster by it at the same time, from the rows and from pairs.

    Use it if the features are in different units, correlated, or partly irrelevant; with few rows
    per feature, use a diagonal metric. If Euclidean distances already fit, :class:`PCKMeans` is the
    simpler choice. Do not use it if many answers are wrong: they distort the metric, and the
    clusters can be worse than without any answers. It warns when it violates more than one pair in
    twenty.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    metric : {"full", "diagonal"}, default="full"
        A full metric costs ``n_features ** 3`` per step; a diagonal one only weighs the features.
    metric_per_cluster : bool, default=False
        One metric per cluster instead of one for all: clusters may have different shapes, and there
        is that much more to learn from the same rows.
    distance : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every row to length 1 first.
    C : float, default=0.3
        Price of a pair, times the weight of its answer; the paper has 1. Raising it violates fewer
        pairs; lower it if many answers may be wrong.
    shrinkage : float, default=0.03
        Share of extra rows, which vary as the whole data do, added to every metric's scatter.
        Raising it moves the metrics toward the inverse covariance of the data; 0 is the paper's.
    n_init : int, default=10
        Starts; the one whose centers and metrics by themselves violate the fewest pairs is kept,
        and of several such the one with the least objective.
    max_iter : int, default=100
        Steps of one start.
    tol : float, default=1e-5
        A start ends when a step changes the objective by less than this per row and feature.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters; of rows of length 1 when ``distance="cosine"``.
    metrics_ : ndarray of shape (n_metrics, n_features, n_features) or (n_metrics, n_features)
        Full metrics or the diagonals of diagonal ones; one for all clusters or one for each.
    objective_ : ndarray of shape (n_iter,)
        The objective after every step of the start that was kept. In the first 20 steps it may
        rise when rows farther apart are found, which makes cannot-links cost more.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    conflicts_ : ndarray of int
        Positions of the cannot-links that contradict a path of must-links.
    n_iter_ : int
    n_answers_used_ : int
        Must-links and cannot-links among the constraints.

    See Also
    --------
    PCKMeans : The same in the Euclidean metric.

    References
    ----------
    bilenko2004

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.cluster.mpck_means import MPCKMeans
    >>> X = [[0.0, 0.0], [0.0, 9.0], [0.1, 5.0], [1.0, 0.0], [1.0, 9.0], [1.1, 4.0]]
    >>> c = Constraints(6, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 3)])
    >>> model = MPCKMeans(2, metric="diagonal", random_state=0).fit(X, constraints=c)
    >>> bool(model.labels_[2] == model.labels_[0] != model.labels_[5])
    True
    >>> bool(model.metrics_[0, 0] > 100 * model.metrics_[0, 1])  # the second feature hardly counts
    True
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        metric="full",
        metric_per_cluster=False,
        distance="euclidean",
        C=0.3,
        shrinkage=0.03,
        n_init=10,
        max_iter=100,
        tol=1e-5,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_per_cluster = metric_per_cluster
        self.distance = distance
        self.C = C
        self.shrinkage = shrinkage
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Cluster the rows of X and learn the metric.

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
        for name in ("C", "shrinkage"):
            check_scalar(getattr(self, name), name, (int, float, np.number), min_val=0)
        check_choice("metric", self.metric, ("full", "diagonal"))
        check_choice("distance", self.distance, ("euclidean", "cosine"))
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link", "cannot_link"))
        self.conflicts_ = warn_conflicts(self, constraints)

        rows = prepare_rows(X, self.distance)
        center = rows.mean(axis=0)
        rows = rows - center
        variance = float(np.mean(rows**2)) or 1.0  # so that the unit of the data does not matter
        rows = rows / np.sqrt(variance)
        closure = constraints.closure()
        pairs, sign = constraints.signed_pairs()
        moves = prepare_moves(pairs, sign > 0, closure.components)
        positions = constraints.positions("must_link", "cannot_link")
        weights = self.C * constraints.weights[positions]
        starts = starting_centers(
            rows,
            np.ones(len(rows)),
            cluster_means(rows, closure.components, closure.n_components),
            closure.sizes,
            n_clusters=self.n_clusters,
            n_init=self.n_init,
            rng=check_random_state(self.random_state),
        )
        fits = (
            fit_labels_and_metrics(
                rows,
                moves,
                weights,
                centers,
                full=self.metric == "full",
                one_each=self.metric_per_cluster,
                shrinkage=self.shrinkage,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            for centers in starts
        )

        def broken_and_objective(fitted: MPCKFit) -> tuple[float, float]:
            alone = nearest(rows, fitted.centers, fitted.metrics)
            return float(weights[violated(alone, moves)].sum()), float(fitted.objective[-1])

        best = min(fits, key=broken_and_objective)
        self.labels_, order = order_clusters(best.labels, self.n_clusters)
        self.cluster_centers_ = center + best.centers[order] * np.sqrt(variance)
        metrics = best.metrics[order] if self.metric_per_cluster else best.metrics
        self.metrics_ = metrics / variance
        # log det (A / variance) = log det A - d log variance, once for every row.
        self.objective_ = best.objective + (1 + self.shrinkage) * rows.size * np.log(variance)
        self.violated_ = positions[violated(best.labels, moves)]
        self.n_iter_ = len(best.objective)
        warn_outcome(self, self.labels_, best.converged)
        if self.C > 0 and len(self.violated_) > max(MANY_BROKEN * len(positions), A_FEW):
            warnings.warn(
                f"MPCKMeans violates {len(self.violated_)} of {len(positions)} pairs. Some may be "
                "wrong, and wrong pairs mislead its metric: compare with PCKMeans.",
                stacklevel=2,
            )
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The cluster of least ``||x - center||^2 - log det`` in its metric, for each new row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        center = self.cluster_centers_.mean(axis=0)
        rows = prepare_rows(X, self.distance) - center
        return nearest(rows, self.cluster_centers_ - center, self.metrics_)


class MPCKFit(NamedTuple):
    labels: np.ndarray  # (n,)
    centers: np.ndarray  # (k, d)
    metrics: np.ndarray  # (g, d) or (g, d, d)
    objective: np.ndarray  # after every step, with the v_h of that step
    converged: bool


@one_thread_if_small(lambda rows, *_, **__: rows.size)
def fit_labels_and_metrics(
    rows: np.ndarray,  # (n, d), around 0, of mean variance 1
    moves: Moves,
    weights: np.ndarray,  # (m,) of the pairs
    centers: np.ndarray,
    *,
    full: bool,
    one_each: bool,
    shrinkage: float,
    max_iter: int,
    tol: float,
    n_walks: int = N_WALKS,
) -> MPCKFit:
    """Labels, means, metrics and farthest rows in turn, from the Euclidean metric.

    Four corners whose clusters differ in the first feature, and in the second hardly less: k-means
    from these centers would do, and the must-link makes the second feature count for less.

    >>> rows = np.array([[-1.0, -0.9], [-1.0, 0.9], [1.0, -0.9], [1.0, 0.9]])
    >>> moves = prepare_moves(np.array([[0, 1]]), np.array([True]), np.array([0, 0, 1, 2]))
    >>> settings = {"full": False, "one_each": False, "shrinkage": 0.1, "max_iter": 20, "tol": 0}
    >>> centers = np.array([[-1.0, 0], [1.0, 0]])
    >>> fitted = fit_labels_and_metrics(rows, moves, np.ones(1), centers, **settings)
    >>> fitted.labels.tolist(), bool(fitted.metrics[0, 0] > fitted.metrics[0, 1])
    ([0, 0, 1, 1], True)
    """
    n_clusters, n_features = centers.shape
    unit = np.eye(n_features) if full else np.ones(n_features)
    metrics = np.repeat(unit[None], n_clusters if one_each else 1, axis=0)
    added = shrinkage * len(rows) / len(metrics)  # rows more for every metric
    spread = rows.T @ rows if full else (rows**2).sum(axis=0)
    diffs = rows[moves.pairs[:, 0]] - rows[moves.pairs[:, 1]]
    far = Far(np.zeros(len(metrics), dtype=np.int64), np.zeros((len(metrics), n_features)))
    objective: list[float] = []
    labels = np.empty(0, dtype=np.int64)
    for _ in range(max_iter):
        own = sq_lengths(rows, metrics)
        if len(objective) < n_walks:
            far = walk_far(rows, own, far, metrics, diffs[~moves.must])
        floors = np.broadcast_to(-log_dets(metrics), n_clusters)
        unary = sq_to_centers(rows, own, centers, metrics) + floors
        before = labels if len(labels) else np.argmin(unary, axis=1)
        prices = pair_prices(diffs, far.diffs, weights, moves.must, metrics, n_clusters)
        labels = reseed(sweep(before, unary, prices, moves), unary, floors, moves)
        masses = np.bincount(labels, minlength=n_clusters)
        means = cluster_means(rows, labels, n_clusters)
        centers = np.where(masses[:, None] > 0, means, centers)

        scatter = scatters(rows, labels, centers, full=full)
        scatter += broken_scatter(labels, diffs, far.diffs, weights, moves, n_clusters, full=full)
        if not one_each:
            scatter, masses = scatter.sum(axis=0, keepdims=True), masses.sum(keepdims=True)
        scatter += added * spread / len(rows)
        weighed = masses + added
        metrics = best_metrics(scatter, weighed, *EIGENVALUE_BOUNDS)
        objective.append(float((metrics * scatter).sum() - weighed @ log_dets(metrics)))
        change = abs(objective[-2] - objective[-1]) if len(objective) > 1 else np.inf
        if change <= tol * rows.size:
            return MPCKFit(labels, centers, metrics, np.array(objective), converged=True)
    return MPCKFit(labels, centers, metrics, np.array(objective), converged=False)


class Far(NamedTuple):
    anchors: np.ndarray  # (g,) a row far out under each metric
    diffs: np.ndarray  # (g, d) from there to the row farthest from it


def walk_far(
    rows: np.ndarray, own: np.ndarray, far: Far, metrics: np.ndarray, cannot_diffs: np.ndarray
) -> Far:
    """The farthest rows under each metric, or nearly: found from the end of the last walk.

    Never shorter than a cannot-link, so that none has a negative price.
    """
    if not len(cannot_diffs):
        return far
    anchors = far.anchors
    for _ in range(N_HOPS):
        previous = anchors
        anchors = np.argmax(sq_to_centers(rows, own, rows[anchors], metrics), axis=0)
    found = rows[anchors] - rows[previous]
    each = np.arange(len(metrics))
    lengths = sq_lengths(np.concatenate([found, cannot_diffs]), metrics)  # (g + c, g)
    candidates = np.vstack([lengths[each, each], lengths[len(found) :]])  # (1 + c, g)
    longest = np.argmax(candidates, axis=0)
    is_pair = (longest > 0)[:, None]
    return Far(anchors, np.where(is_pair, cannot_diffs[longest - 1], found))


def pair_prices(
    diffs: np.ndarray,
    far_diffs: np.ndarray,
    weights: np.ndarray,
    must: np.ndarray,
    metrics: np.ndarray,
    n_clusters: int,
) -> np.ndarray:
    """What breaking each pair costs by the cluster of its rows, (m, k): see soft_pairs.py."""
    lengths = sq_lengths(diffs, metrics)  # (m, g)
    longest = np.diagonal(sq_lengths(far_diffs, metrics))  # (g,)
    prices = np.where(must[:, None], lengths / 2, longest - lengths)
    return np.broadcast_to(weights[:, None] * np.maximum(prices, 0), (len(diffs), n_clusters))


def broken_scatter(
    labels: np.ndarray,
    diffs: np.ndarray,
    far_diffs: np.ndarray,
    weights: np.ndarray,
    moves: Moves,
    n_clusters: int,
    *,
    full: bool,
) -> np.ndarray:
    """What broken pairs add to the scatter of each cluster, (k, d, d) or (k, d)."""
    broken = np.flatnonzero(violated(labels, moves))
    first, second = labels[moves.pairs[broken]].T
    at, is_must = np.arange(len(broken)), moves.must[broken]
    shares = np.zeros((len(broken), n_clusters))
    shares[at, first] = np.where(is_must, weights[broken] / 2, -weights[broken])
    shares[at[is_must], second[is_must]] = weights[broken][is_must] / 2
    cannot = np.bincount(first[~is_must], weights[broken][~is_must], minlength=n_clusters)
    far_diffs = np.broadcast_to(far_diffs, (n_clusters, far_diffs.shape[1]))
    return outer_sums(diffs[broken], shares, full=full) + outer_sums(
        far_diffs, np.diag(cannot), full=full
    )


@one_thread_if_small(lambda rows, *_: rows.size)
def nearest(rows: np.ndarray, centers: np.ndarray, metrics: np.ndarray) -> np.ndarray:
    """The cheapest cluster for each row regardless of pairs, (n,)."""
    sq_dists = sq_to_centers(rows, sq_lengths(rows, metrics), centers, metrics)
    return np.argmin(sq_dists - log_dets(metrics), axis=1)


def prepare_rows(X: np.ndarray, distance: str) -> np.ndarray:
    """The rows in float64, of length 1 for cosine distances."""
    X = X.astype(np.float64)
    return normalize(X) if distance == "cosine" else X
