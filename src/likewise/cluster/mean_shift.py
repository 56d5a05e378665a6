"""Mean shift in a learned space: clusters are the peaks of the density, however many there are.

    y <- sum_i w(|y - z_i|) z_i / sum_i w(|y - z_i|)     from every row, until it stops moving

with w = 1 up to the bandwidth h and 0 beyond ("flat"), or w = exp(-2 |y - z_i|^2 / h^2)
("gaussian": its standard deviation is h / 2, so that both reach about as far). Peaks nearer than h
to a denser one are merged into it, and each row belongs to the nearest remaining peak.

The answers determine the bandwidth: must-linked rows should end up together. As in anand2014, their
distances are turned into a number of neighbors, because distances alone say nothing about rows
without answers: for every must-link we count the rows no farther from either end than the other
end, take the median k of the counts, and h is the mean distance from a row to its k-th nearest
(itself being the first).
References: comaniciu2002; anand2014 for the idea of the bandwidth. The median and the mean, and
one h for all rows, are our choice: we could not check the paper's exact rule. We work on rows Z
with Z Z' = K instead of on K, which is the same.
"""

import warnings
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import check_constraints, fit_and_label, warn_unused
from likewise.evaluation import violated_answers
from likewise.kernels import check_similarity, nearest_rows, sq_distance_blocks, sq_distances
from likewise.numerics.psd import positive_part
from likewise.numerics.rows import validate_rows

SETTLED = 1e-3  # a climb ends when it moves less than this share of the bandwidth
SAME_PLACE = 1e-6  # climbs that come this close, in bandwidths, continue as one
ON_THE_RIM = 1e-7  # rows exactly at the bandwidth are included, whatever the rounding
SMALLEST = 1e-6  # bandwidth, in spreads of the data: duplicates alone would make it 0
MAX_DRAWN = 500  # rows and must-links that the bandwidth is estimated from
DEFAULT_SHARE = 0.3  # of the rows are neighbors, if there are no must-links: as in scikit-learn


class KernelMeanShift(ClusterMixin, BaseEstimator):
    """Find clusters as the peaks of the density in a learned space, without giving their number.

    Must-linked rows set the bandwidth; they are not forced together. Use it on a learned space:
    with many raw features, where all distances are similar, it finds one peak in all or one per
    row. With n rows and s starts, a round takes n times s distances.

    Parameters
    ----------
    bandwidth : float, default=None
        How far a climb looks. Raising it gives fewer clusters. None takes it from the must-links,
        or, without any, from scikit-learn's `estimate_bandwidth`.
    kernel : {"linear", "precomputed"}, default="linear"
        "linear": X has rows in a Euclidean space, such as every learner's `transform` returns.
        "precomputed": X is the kernel (n, n), and is factored first.
    profile : {"flat", "gaussian"}, default="flat"
        Rows within the bandwidth count equally, or less the farther away they are.
    n_starts : int, default=None
        Climb from this many rows, drawn at random; None from all. Lowering it is faster, and may
        miss small clusters.
    max_iter : int, default=300
        Maximum number of rounds.
    random_state : int, RandomState or None, default=None
        Draws the starts and, with more than 500 rows, those that the bandwidth is estimated from.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        0 is the densest cluster.
    cluster_centers_ : ndarray of shape (n_clusters, n_dims)
        The peaks, densest first; for a precomputed kernel in the coordinates Z with Z Z' = K.
    bandwidth_ : float
    negative_share_ : float
        For a precomputed kernel, the share of its spectrum that was negative and was dropped.
    basis_ : ndarray of shape (n_samples, n_dims)
        For a precomputed kernel: rows of it times this are the coordinates Z.
    n_iter_ : int
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate, in the order of ``constraints.answers()``.
    n_answers_used_ : int
        Must-links that the bandwidth was estimated from.

    References
    ----------
    comaniciu2002, anand2014

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.cluster import KernelMeanShift
    >>> Z = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> c = Constraints(6, must_link=[(0, 1), (3, 5)])
    >>> model = KernelMeanShift().fit(Z, constraints=c)
    >>> model.labels_, model.predict([[9.0]])
    (array([0, 0, 0, 1, 1, 1]), array([1]))
    """

    def __init__(
        self,
        *,
        bandwidth=None,
        kernel="linear",
        profile="flat",
        n_starts=None,
        max_iter=300,
        random_state=None,
    ):
        self.bandwidth, self.kernel, self.profile = bandwidth, kernel, profile
        self.n_starts, self.max_iter, self.random_state = n_starts, max_iter, random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X, y=None, *, constraints=None):
        """Climb to the peaks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        y : ignored
        constraints : Constraints, default=None
            Its must-links set the bandwidth, unless that is given.
        """
        self._check_settings()
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        n_usable = warn_unused(self, constraints, used=("must_link",))
        rng = check_random_state(self.random_state)
        Z = self._factor(X) if self.kernel == "precomputed" else X.astype(np.float64)
        if self.bandwidth is None:
            weights = constraints.weights[constraints.positions("must_link")]
            self.bandwidth_ = must_link_bandwidth(Z, constraints.must_link, weights, rng)
        else:
            self.bandwidth_ = float(self.bandwidth)
        self.n_answers_used_ = n_usable if self.bandwidth is None else 0
        starts = Z
        if self.n_starts is not None and self.n_starts < len(Z):
            starts = Z[np.sort(rng.choice(len(Z), self.n_starts, replace=False))]
        peaks, self.n_iter_, converged = shift_to_peaks(
            Z, starts, self.bandwidth_, profile=self.profile, max_iter=self.max_iter
        )
        if not converged:
            warnings.warn(
                f"KernelMeanShift stopped at max_iter={self.max_iter} before every climb ended. "
                "Raise it, or the bandwidth.",
                ConvergenceWarning,
            )
        centers = merge_peaks(Z, peaks, self.bandwidth_, profile=self.profile).astype(X.dtype)
        is_used, self.labels_ = np.unique(_nearest(Z, centers), return_inverse=True)
        self.cluster_centers_ = centers[is_used]
        self.violated_ = violated_answers(None, constraints, self.labels_)
        return self

    fit_predict = fit_and_label

    def predict(self, X):
        """The cluster whose peak is nearest, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), or (n_rows, n_samples) if precomputed
            Precomputed: kernel values with the rows of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        return _nearest(
            X @ self.basis_ if self.kernel == "precomputed" else X, self.cluster_centers_
        )

    def _factor(self, K) -> np.ndarray:
        """Z (n, r) with Z Z' = K, and the `basis_` that gives new rows theirs: Z = K basis_."""
        part = positive_part(check_similarity(K))
        self.negative_share_ = part.negative_share
        self.basis_ = part.vectors / np.sqrt(part.values)
        return part.vectors * np.sqrt(part.values)

    def _check_settings(self):
        if self.kernel not in ("linear", "precomputed"):
            raise ValueError(f"kernel={self.kernel!r} is unknown. Use 'linear' or 'precomputed'.")
        if self.profile not in ("flat", "gaussian"):
            raise ValueError(f"profile={self.profile!r} is unknown. Use 'flat' or 'gaussian'.")
        if self.bandwidth is not None and not 0 < self.bandwidth < np.inf:
            raise ValueError(f"bandwidth={self.bandwidth} must be positive, or None.")
        for name in ("n_starts", "max_iter"):
            value = getattr(self, name)
            if name == "n_starts" and value is None:
                continue
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number >= 1.")


def must_link_bandwidth(Z, must_link, weights, rng) -> float:
    """Bandwidth at which must-linked rows end up together; without any, that of scikit-learn.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
    must_link : ndarray of shape (m, 2)
    weights : ndarray of shape (m,)
        Weight of each must-link in the median; those of weight 0 do not count.
    rng : RandomState

    Returns
    -------
    float
        Positive, also when many rows are equal.
    """
    must_link, weights = must_link[weights > 0], weights[weights > 0]
    k = max(2, int(DEFAULT_SHARE * len(Z)))
    if len(must_link):
        drawn = _draw(len(must_link), rng)
        counts = rows_within(Z, must_link[drawn])
        k = np.quantile(counts, 0.5, weights=weights[drawn].repeat(2), method="inverted_cdf")
    _, sq_dists = nearest_rows(Z[_draw(len(Z), rng)], Z, min(int(k), len(Z)))
    spread = np.sqrt(Z.var(axis=0).sum())
    bandwidth = max(np.sqrt(sq_dists[:, -1]).mean(), SMALLEST * spread)
    return float(bandwidth) or 1.0  # all rows are equal: any will do


def rows_within(Z, pairs) -> np.ndarray:
    """For both ends of every pair, (2 m,), how many rows are no farther than the other end."""
    near, far = pairs.ravel(), pairs[:, ::-1].ravel()
    counts = np.empty(len(near), dtype=np.int64)
    for rows, sq in sq_distance_blocks(Z[near], Z):
        sq_reach = sq[np.arange(len(sq)), far[rows]]
        counts[rows] = (sq <= sq_reach[:, None] * (1 + ON_THE_RIM)).sum(axis=1)
    return counts


def shift_to_peaks(Z, starts, bandwidth: float, *, profile: str, max_iter: int):
    """Shift each start to the mean around it until it stays: peaks, rounds, whether all ended.

    Climbs that meet continue as one, so there may be fewer peaks than starts.
    """
    grain = SAME_PLACE * bandwidth
    places = np.unique(starts, axis=0)
    ended = []
    for n_iter in range(1, max_iter + 1):
        means, _ = local_means(Z, places, bandwidth, profile)
        still = np.sqrt(((means - places) ** 2).sum(axis=1)) <= SETTLED * bandwidth
        ended.append(means[still])
        _, first = np.unique(np.round(means[~still] / grain), axis=0, return_index=True)
        places = means[~still][first]
        if not len(places):
            return np.concatenate(ended), n_iter, True
    return np.concatenate([*ended, places]), max_iter, False


def local_means(Z, places, bandwidth: float, profile: str):
    """Weighted mean of the rows around each place, (p, d), and the weight there, (p,)."""
    means, mass = np.empty_like(places), np.empty(len(places))
    for rows, sq in sq_distance_blocks(places, Z):
        if profile == "flat":
            weights = (sq <= bandwidth**2 * (1 + ON_THE_RIM)).astype(np.float64)
        else:
            weights = np.exp(-2 * sq / bandwidth**2)
        mass[rows] = weights.sum(axis=1)
        means[rows] = (weights @ Z) / mass[rows, None]
    return means, mass


def merge_peaks(Z, peaks, bandwidth: float, *, profile: str) -> np.ndarray:
    """Peaks (c, d) of which no two are within a bandwidth, the densest first and kept."""
    _, mass = local_means(Z, peaks, bandwidth, profile)
    order = np.lexsort((*peaks.T[::-1], -mass))  # equally dense: by their coordinates
    peaks, kept = peaks[order], []
    while len(peaks):
        kept.append(peaks[0])
        peaks = peaks[sq_distances(peaks, peaks[:1])[:, 0] > bandwidth**2]
    return np.array(kept)


def _nearest(Z, centers) -> np.ndarray:
    return nearest_rows(Z, centers, 1)[0][:, 0]


def _draw(n: int, rng) -> np.ndarray:
    """All of n, or MAX_DRAWN of them at random, ascending."""
    return np.arange(n) if n <= MAX_DRAWN else np.sort(rng.choice(n, MAX_DRAWN, replace=False))
