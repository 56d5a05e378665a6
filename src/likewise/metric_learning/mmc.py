"""MMC: the metric that keeps cannot-links far apart while must-links stay near.

    max_M  mean over cannot-links of ||v||_M   s.t.  mean over must-links of ||v||_M^2 <= 1, M >= 0

where ||v||_M^2 = v'Mv for the difference v of two rows, and the means are weighted. Not squaring
the cannot-links is what keeps M from always having rank one.

Write F(M) for the mean cannot-link distance and S for the must-link scatter, so that the
constraint is tr(SM) <= 1. Since F(tM) = sqrt(t) F(M), it can be divided out: maximize F(M) /
sqrt(tr(SM)) freely, then scale. In coordinates where S = I, and with M = L'L,

    f(L) = log ||L|| - log F(L'L)   with gradient   L / ||L||^2 - LG,
    G = (mean over cannot-links of vv' / ||v||_M) / F(M),

is minimized by L-BFGS. For tr(M) = 1 and any other B of trace 1, the inequality of the means,
||v||_B <= (s ||v||_M + ||v||_B^2 / (s ||v||_M)) / 2, averaged over the cannot-links at the best s,
gives

    F(M) <= optimum <= F(M) sqrt(largest eigenvalue of G),

so every fit proves how good it is; ``gap_`` is the relative distance between the two sides. For a
diagonal M the same holds with the largest diagonal entry of G in place of its eigenvalue.

Reference: xing2002. We differ from it in the solver (it alternates projections with gradient
steps), in using means instead of sums, which fixes the scale for any number of answers, and in
shrinking S towards a multiple of the identity: along a direction in which no must-link differs,
the problem as published is unbounded.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from likewise.constraints import check_constraints, warn_unused
from likewise.evaluation import violated_on_average
from likewise.maps import LinearMap, by_map
from likewise.metric_learning.factors import Descent, minimize_over_factors, span
from likewise.metric_learning.shrinkage import check_shrinkage, shrink
from likewise.numerics.pair_distances import mean_sq_distance
from likewise.numerics.psd import symmetric_root


class MMC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a Mahalanobis metric that spreads cannot-links while must-links stay near.

    Its optimum has few directions: about as many as separate the classes. With many clusters and
    few answers the rest of the space is missed; prefer ITML there.

    Parameters
    ----------
    diagonal : bool, default=False
        Only weigh the features, without rotating the space: faster with many features, and easier
        to interpret, but it usually separates less.
    shrinkage : "auto" or float in (0, 1], default="auto"
        How far the must-link scatter S moves towards ``tr(S) / n_features`` times the identity.
        Raising it relies less on directions where no must-link happens to differ; at 1 the
        must-links only set the scale. "auto" estimates the best share: large for few must-links,
        near 0 for many.
    tol : float, default=1e-5
        Stop when the objective is proved to be within this share of the optimum. Raising it stops
        earlier.
    max_iter : int, default=1000
        Maximum number of iterations; a warning says when it is reached.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        M, scaled so that the weighted mean of the squared must-link distances, at the shrunk S,
        is 1. The identity without answers.
    map_ : LinearMap
        ``transform`` for any rows: ``X @ map_.matrix``, the symmetric root of ``metric_``.
    objective_ : ndarray of shape (n_steps,)
        The weighted mean cannot-link distance at that scale, at the start and after each
        iteration; it rises. Empty without answers.
    gap_ : float
        The optimum is at most ``objective_[-1] * (1 + gap_)``.
    n_iter_ : int
        Iterations, at least 1.
    violated_ : ndarray of int
        Positions of the must-links farther apart and the cannot-links closer, under the learned
        metric, than rows are on average.
    n_answers_used_ : int
        Must-links and cannot-links of weight > 0.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    The weight of an answer is its weight in the mean of its kind. Multiplying X by a number divides
    ``map_.matrix`` by it: ``transform`` gives the same rows.

    References
    ----------
    xing2002

    Examples
    --------
    >>> from likewise.constraints import Constraints
    >>> from likewise.metric_learning.mmc import MMC
    >>> X = [[0, 0], [0, 5], [1, 0], [1, 5]]  # the first feature tells them apart
    >>> c = Constraints(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> MMC(shrinkage=0.1).fit(X, constraints=c).metric_.round(3)
    array([[0.8, 0. ],
           [0. , 0. ]])
    """

    def __init__(self, *, diagonal=False, shrinkage="auto", tol=1e-5, max_iter=1000):
        self.diagonal = diagonal
        self.shrinkage = shrinkage
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y=None, *, constraints=None):
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        constraints : Constraints, default=None
            Must-links and cannot-links about the rows of X. None keeps the identity.

        Returns
        -------
        self : MMC
        """
        X = by_map.validate(self, X, reset=True)
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        check_shrinkage(self.shrinkage)
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link", "cannot_link"))
        pairs, sign = constraints.signed_pairs()
        weights = constraints.weights[constraints.positions("must_link", "cannot_link")]
        diffs = X[pairs[:, 0]].astype(np.float64) - X[pairs[:, 1]]
        is_used = (weights > 0) & diffs.any(axis=1)
        near, far = is_used & (sign > 0), is_used & (sign < 0)
        if near.any() and far.any():
            spread = spread_diagonal if self.diagonal else spread_full
            scatter, n_effective = must_link_scatter(diffs[near], weights[near])
            scatter = shrink(scatter, self.shrinkage, n_effective)
            fitted = spread(diffs[far], weights[far], scatter, tol=self.tol, max_iter=self.max_iter)
        else:
            fitted = SpreadMetric(np.eye(X.shape[1]), np.empty(0), 0.0, 0, converged=True)
            if self.n_answers_used_:
                missing = "cannot-link" if near.any() else "must-link"
                warnings.warn(
                    f"MMC keeps the identity: no {missing} of weight > 0 joins rows that differ, "
                    "and it learns from both kinds."
                )
        if not fitted.converged:
            warnings.warn(
                f"MMC stopped after {fitted.n_iter} iterations, proved only within "
                f"{fitted.gap:.1e} of the optimum. Raise max_iter, tol or shrinkage.",
                ConvergenceWarning,
            )
        self.metric_, self.objective_ = fitted.metric, fitted.objective
        self.gap_ = fitted.gap
        self.n_iter_ = max(1, fitted.n_iter)  # scikit-learn's contract has no zero
        self.map_ = LinearMap(symmetric_root(self.metric_).T)
        sq_mean = mean_sq_distance(self.map_.transform(X))
        self.violated_ = violated_on_average(
            self.map_, X, constraints, sq_mean, ("must_link", "cannot_link")
        )
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform


class SpreadMetric(NamedTuple):
    metric: np.ndarray  # (d, d), positive semi-definite, tr(SM) = 1
    objective: np.ndarray  # (n_iter + 1,), rising: F(M) at tr(SM) = 1
    gap: float  # optimum <= objective[-1] (1 + gap)
    n_iter: int
    converged: bool


def must_link_scatter(diffs: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """S (d, d), the weighted mean of vv' over differences (m, d), and their effective number."""
    S = (diffs.T * (weights / weights.sum())) @ diffs
    return S, float(weights.sum() ** 2 / (weights @ weights))


def spread_full(
    diffs: np.ndarray, weights: np.ndarray, scatter: np.ndarray, *, tol: float, max_iter: int
) -> SpreadMetric:
    """The best M >= 0 for cannot-link differences (m, d), not all zero, and a scatter S > 0."""
    root = cholesky(scatter, lower=True)
    white = solve_triangular(root, diffs.T, lower=True).T  # here S is the identity
    basis = span(white)  # (d, r): along any other direction M costs and brings nothing
    Y = white @ basis
    n_directions = Y.shape[1]
    start = np.eye(n_directions) / np.sqrt(n_directions)
    fitted = maximize_spread(Y, weights, start, tol=tol, max_iter=max_iter)
    L = fitted.factor / np.linalg.norm(fitted.factor)
    back = solve_triangular(root, basis @ L.T, lower=True, trans="T")  # (d, r)
    return SpreadMetric(back @ back.T, np.exp(-fitted.objective), *fitted[2:])


def spread_diagonal(
    diffs: np.ndarray, weights: np.ndarray, scatter: np.ndarray, *, tol: float, max_iter: int
) -> SpreadMetric:
    """The best diagonal M >= 0; arguments as for the full one, of S only the diagonal counts."""
    root = np.sqrt(np.diag(scatter))
    varies = diffs.any(axis=0)
    Y = (diffs / root)[:, varies]
    start = np.full(Y.shape[1], 1 / np.sqrt(Y.shape[1]))
    fitted = maximize_spread(Y, weights, start, tol=tol, max_iter=max_iter)
    L = np.zeros(len(root))
    L[varies] = fitted.factor / np.linalg.norm(fitted.factor)
    return SpreadMetric(np.diag(np.square(L / root)), np.exp(-fitted.objective), *fitted[2:])


def maximize_spread(Y, weights, start: np.ndarray, *, tol: float, max_iter: int) -> Descent:
    """The best factor of M, or its diagonal, for differences Y (m, r) where S is the identity."""
    return minimize_over_factors(
        lambda L: shortfall(L, Y, weights),
        lambda L: optimality_gap(L, Y, weights),
        start,
        tol=tol,
        max_iter=max_iter,
    )


def shortfall(L: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """f(L) = log ||L|| - log F(L'L) and its gradient, for L (r, r) or the diagonal of one (r,)."""
    P, dist, mean_dist = stretch(L, Y, weights)
    pulled = P * (weights / (weights.sum() * dist))[:, None]
    LG = (pulled.T @ Y if L.ndim == 2 else np.einsum("ij,ij->j", pulled, Y)) / mean_dist
    sq_norm = np.vdot(L, L)
    return float(np.log(sq_norm) / 2 - np.log(mean_dist)), L / sq_norm - LG


def optimality_gap(L: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> float:
    """The optimum is at most 1 + this times the F reached at L, whatever L."""
    _, dist, mean_dist = stretch(L, Y, weights)
    shares = weights / (weights.sum() * dist * mean_dist) * np.vdot(L, L)
    if L.ndim == 2:
        return float(np.sqrt(eigvalsh((Y.T * shares) @ Y)[-1])) - 1
    return float(np.sqrt((shares @ np.square(Y)).max())) - 1


def stretch(
    L: np.ndarray, Y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mapped differences (m, r), their lengths (m,) and the weighted mean length."""
    P = Y @ L.T if L.ndim == 2 else Y * L
    dist = np.sqrt(np.einsum("ij,ij->i", P, P))
    mean_dist = weights @ dist / weights.sum()
    return P, np.maximum(dist, np.finfo(np.float64).tiny), mean_dist  # a zero row pulls nowhere
