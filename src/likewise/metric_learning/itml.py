"""ITML: the metric nearest to Euclid under which must-links are near and cannot-links far.

    min_{M, t}  D(M, I) + C sum_c w_c D(t_c, b_c),    D(M, I) = tr M - log det M - d,
                                                          D(t, b) = t / b - log(t / b) - 1
    v'Mv <= t_c,  b_c = near   for every must-link difference v
    v'Mv >= t_c,  b_c = far    for every cannot-link difference v

near and far are squared distances, w_c is the weight of an answer, t_c the target it ends up with;
with C = inf every target is its bound. Each pair has a dual >= 0, and at all times

    inv(M) = I + sum_c sign_c dual_c vv'    and    1 / t_c = 1 / b_c - sign_c dual_c / (C w_c),

so one step changes one dual until v'Mv = t_c, or the dual is 0: an exact Bregman projection.

Reference: davis2007, algorithm 1. We differ from it in the step for C (its gamma) != 1 (the printed
one is not a projection; ours agrees with an interior-point solver), in a new random order in every
sweep (a fixed one needs many times more sweeps), in the bounds (default_bounds; the paper's
percentiles 5 and 95 ask more of cannot-links and less of must-links, and gave worse clusters), and
in the stopping rule, which looks at the distances and not at the duals.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from likewise.constraints import check_constraints, check_strength, warn_unused
from likewise.evaluation import violated_by_bounds
from likewise.maps import LinearMap, by_map
from likewise.numerics.logdet_sweeps import sweep_pairs
from likewise.numerics.pair_distances import (
    differences,
    mean_sq_distance,
    pair_sq_distances,
    percentile_bounds,
    sample_sq_distances,
)
from likewise.numerics.psd import symmetric_root
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

PERCENTILES = (5, 95)  # of squared distances: near and far in the paper
FAR_SHARE = 0.4  # of the mean squared distance: what a cannot-link should reach
SAME_ROW = 1e-18  # a squared difference below this share of `far` is rounding
LEAST_EIGENVALUE = (
    1e-10  # of inv(M), relative to the largest: old duals that give less are not a start
)


class ITML(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a Mahalanobis metric from must-link and cannot-link pairs.

    Parameters
    ----------
    C : float, default=1.0
        How much a pair that misses its bound costs, relative to moving the metric. Raising it
        follows the pairs more closely; ``np.inf`` makes them hard. An answer of weight w has C w,
        so weight 2 is the same answer twice, and weight 0 leaves it out.
    bounds : tuple of two floats, "percentiles" or None, default=None
        Squared distances (near, far) that must-links should not exceed and cannot-links should
        reach, in units of the mean squared distance of rows. None takes 0.4 for far, and for near
        the smaller of 0.2 and the 1st percentile; "percentiles" takes the 5th and 95th, as the
        paper does. Moving them apart asks more of every pair.
    tol : float, default=1e-3
        Stop after a sweep in which no squared distance was further from its target than this
        share. Raising it stops earlier.
    max_iter : int, default=1000
        Maximum number of sweeps over the pairs. Raising it gives contradictory pairs more time to
        settle.
    warm_start : bool, default=False
        Start from the duals of the last fit instead of from zero: after ``fit(X, constraints=c)``,
        ``fit(X, constraints=c + new)`` has only the new answers left to learn. The optimum is the
        same.
    random_state : int, RandomState instance or None, default=None
        Draws the pairs for the bounds (if X has more than 63 rows) and the order of every sweep.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        The learned M: the squared distance of x and y is ``(x - y) @ metric_ @ (x - y)``.
    map_ : LinearMap
        ``transform`` for any rows: ``X @ map_.matrix``, the symmetric root of ``metric_``.
    duals_ : ndarray of shape (n_answers,)
        How hard each answer pulls, in the order of ``constraints.answers()``; 0 for an answer that
        is satisfied without pulling, and for those that are not used.
    bounds_ : tuple of two floats
        The squared distances (near, far) used, in units of the mean squared distance of rows.
    violated_ : ndarray of int
        Positions of the pairs beyond their bounds under the learned metric.
    n_answers_used_ : int
        Pairs of weight > 0.
    n_iter_ : int
        Sweeps made.
    n_features_in_ : int
        Features seen in ``fit``.

    Notes
    -----
    Multiplying X by a number changes neither the metric nor the clusters: the bounds follow. The
    features are not rescaled.

    References
    ----------
    davis2007

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ITML, Constraints
    >>> X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0]])
    >>> answers = Constraints(n_samples=4, must_link=[(0, 1)], cannot_link=[(0, 2)])
    >>> itml = ITML(bounds=(0.2, 1.8), C=np.inf).fit(X, constraints=answers)  # mean: 5
    >>> np.abs(itml.transform(X).round(6))
    array([[0., 0.],
           [0., 1.],
           [3., 0.],
           [3., 1.]])
    """

    def __init__(
        self,
        *,
        C=1.0,
        bounds=None,
        tol=1e-3,
        max_iter=1000,
        warm_start=False,
        random_state=None,
    ):
        self.C = C
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Its must-links and cannot-links are used. Without any, the metric is the identity.

        Returns
        -------
        self : ITML
        """
        start = getattr(self, "duals_", np.empty(0)) if self.warm_start else np.empty(0)
        X = by_map.validate(self, X, reset=True)
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        n_used = warn_unused(self, constraints, used=("must_link", "cannot_link"))
        check_strength("C", self.C, way_out="Try 1, or np.inf for hard pairs.")
        rng = check_random_state(self.random_state)
        sq_unit = mean_sq_distance(X)
        near, far = self._sq_bounds(X, sq_unit, rng)

        pairs, sign = constraints.signed_pairs()
        answers = constraints.positions("must_link", "cannot_link")
        apart = pair_sq_distances(X, pairs) > SAME_ROW * far
        if (stuck := np.count_nonzero(~apart & (sign < 0))) > 0:
            warnings.warn(
                f"{stuck} cannot-links join identical rows, which no metric can tell apart; "
                "they were left out."
            )
        used = apart & (constraints.weights[answers] > 0)
        pairs, sign, answers = pairs[used], sign[used].astype(np.float64), answers[used]
        fitted = project_onto_pairs(
            X,
            pairs,
            sign,
            np.where(sign > 0, near, far),
            self.C * constraints.weights[answers],
            start=np.pad(start, (0, max(0, constraints.n_answers - len(start))))[answers],
            tol=self.tol,
            max_iter=self.max_iter,
            rng=rng,
        )
        if not fitted.converged:
            warnings.warn(
                f"ITML stopped at max_iter={self.max_iter} before every pair settled. Raise "
                "max_iter or tol, or lower C: the pairs may contradict each other.",
                ConvergenceWarning,
            )
        self.metric_, self.n_iter_ = fitted.metric, fitted.n_iter
        self.duals_ = np.zeros(constraints.n_answers)
        self.duals_[answers] = fitted.duals
        self.bounds_ = near / sq_unit, far / sq_unit
        self.n_answers_used_ = n_used
        self.map_ = LinearMap(symmetric_root(self.metric_).T)
        self.violated_ = violated_by_bounds(self.map_, X, constraints, (near, far))
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform

    def _sq_bounds(self, X, sq_unit: float, rng) -> tuple[float, float]:
        if self.bounds is None:
            return default_bounds(X, rng)
        if isinstance(self.bounds, str):
            if self.bounds != "percentiles":
                raise ValueError(
                    f'bounds={self.bounds!r} is unknown. Use "percentiles" or two numbers.'
                )
            return percentile_bounds(X, rng, PERCENTILES)
        near, far = self.bounds
        if not 0 < near <= far < np.inf:
            raise ValueError(
                f"bounds={self.bounds} must be (near, far) with 0 < near <= far, in units of the "
                "mean squared distance. Leave it None to take them from the data."
            )
        return near * sq_unit, far * sq_unit

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Projected(NamedTuple):
    metric: np.ndarray  # (d, d), positive definite
    duals: np.ndarray  # (m,), >= 0: how hard each pair pulls
    n_iter: int
    converged: bool


@one_thread_if_small(lambda rows, *_, **__: rows.shape[1] ** 2)
def project_onto_pairs(
    rows: np.ndarray,  # (n, d)
    pairs: np.ndarray,  # (m, 2) into rows; no two rows of a pair are the same
    sign: np.ndarray,  # (m,) +1.0 must-link, -1.0 cannot-link
    sq_bounds: np.ndarray,  # (m,) > 0
    strengths: np.ndarray,  # (m,) > 0: C times weight, inf for hard
    *,
    start: np.ndarray,  # (m,) duals to start from
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
) -> Projected:
    """Sweeps of projections, each in a new order, until the distances stop changing."""
    M, duals = resume(rows, pairs, sign, sq_bounds, strengths, start)
    sweeps = range(1, max_iter + 1)
    for n_iter in track(sweeps, "ITML: sweeps over the pairs", may_end_early=True):
        swept = sweep_pairs(
            M,
            rows,
            pairs,
            duals,
            sign=sign,
            sq_targets=sq_bounds,
            strengths=strengths,
            loss="log_det",
            order=rng.permutation(len(pairs)),
        )
        if swept.largest_move <= tol:
            return Projected(M, duals, n_iter, converged=True)
    return Projected(M, duals, max_iter, converged=False)


def resume(rows, pairs, sign, sq_bounds, strengths, start) -> tuple[np.ndarray, np.ndarray]:
    """M and duals at given duals, or at zero if these do not give a metric."""
    M = np.eye(rows.shape[1])
    duals = np.where(sign > 0, np.minimum(start, strengths / sq_bounds), start)  # 1 / t_c >= 0
    if not duals.any():
        return M, duals
    for block, V in differences(rows, pairs):
        M += (V.T * (sign * duals)[block]) @ V
    values, vectors = np.linalg.eigh(M)
    if values[0] <= LEAST_EIGENVALUE * values[-1]:
        return np.eye(len(M)), np.zeros(len(pairs))
    return np.ascontiguousarray((vectors / values) @ vectors.T), duals


def default_bounds(X: np.ndarray, rng: np.random.RandomState) -> tuple[float, float]:
    """Must-links nearer than nearly all pairs of rows, cannot-links just not near."""
    sq_dists = sample_sq_distances(X, rng)
    positive = sq_dists[sq_dists > 0]
    if len(positive) == 0:
        return 1.0, 1.0  # all rows are the same: no pair will use them
    far = FAR_SHARE * float(sq_dists.mean())
    near = min(float(np.percentile(sq_dists, 1)), far / 2)
    return max(near, min(float(positive.min()), far / 2)), far
