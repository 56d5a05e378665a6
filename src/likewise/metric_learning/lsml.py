"""LSML: the metric nearest to a prior under which the pairs called closer are closer.

    min_M  sum_c w_c (sqrt(a_c) - sqrt(b_c))_+^2  +  prior_weight (tr(M P^-1) - log det(M P^-1) - d)

where answer c says that a_c = u'Mu should be smaller than b_c = v'Mv, u and v being differences of
rows, the weights w_c sum to 1, and P is the prior, by default the identity. Lengths are in units of
their root mean square under the prior, so ``prior_weight`` means the same whatever the scale of X.

The loss is convex in M: a + b - 2 sqrt(ab) is, since the geometric mean is concave, and its least
value over a' >= a, which is the positive part, is convex too. The log-det term is a barrier: M
stays positive definite. In coordinates where P = I, and with M = L'L, the gradient over L is 2 LG
with

    G = prior_weight (I - M^-1) + sum_c w_c ((1 - sqrt(b/a)) uu' + (1 - sqrt(a/b)) vv'),  a_c > b_c;

it vanishes only where G does, so L-BFGS over L finds the one optimum. With g the eigenvalues of
LGL' / prior_weight, convexity of the loss and the exact least value of the linear and the log-det
part give

    objective - optimum <= prior_weight sum_i (g_i - log(1 + g_i)),

which proves every fit; ``gap_`` is this bound relative to the objective.

Reference: liu2012. We differ from it in the solver (it tries ten step lengths along the gradient),
in ``prior_weight``, which is 1 there, and in the unit of length.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigvalsh, inv
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from likewise.constraints import check_constraints, warn_unused
from likewise.evaluation import violated_answers
from likewise.maps import LinearMap, by_map
from likewise.metric_learning.factors import minimize_over_factors, span
from likewise.numerics.psd import symmetric_root


class LSML(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a Mahalanobis metric from answers that compare distances.

    Parameters
    ----------
    prior : array-like of shape (n_features, n_features) or None, default=None
        The metric to stay near, symmetric and positive definite. None is the identity.
    prior_weight : float, default=1e-3
        Weight of staying near the prior. Raising it changes the metric less and protects against
        wrong answers; if the answers are known to be right, 1e-4 or 1e-5 follows them more closely.
    tol : float, default=1e-4
        Stop when the objective is proved to be within this share of the optimum. Raising it stops
        earlier.
    max_iter : int, default=1000
        Maximum number of iterations; a warning says when it is reached.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        M, positive definite. The prior without answers.
    map_ : LinearMap
        ``transform`` for any rows: ``X @ map_.matrix``, the symmetric root of ``metric_``.
    objective_ : ndarray of shape (n_steps,)
        At the prior and after each iteration; it falls. Empty without answers.
    gap_ : float
        The optimum is at least ``objective_[-1] * (1 - gap_)``.
    n_iter_ : int
        Iterations, at least 1.
    violated_ : ndarray of int
        Positions of the answers that the learned distances order differently.
    n_answers_used_ : int
        Answers of weight > 0, of the kinds closer and odd_one_out.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    A "closer" answer is one comparison, an odd one out two, each with the weight of its answer;
    only the ratios of the weights matter. Contradictory answers are balanced against each other.
    Multiplying X by a number does not change ``metric_`` if the prior is the identity.

    References
    ----------
    liu2012

    Examples
    --------
    >>> from likewise.constraints import Constraints
    >>> from likewise.metric_learning.lsml import LSML
    >>> X = [[0.0, 0.0], [0.0, 2.0], [1.0, 0.0]]
    >>> c = Constraints(3, closer=[(0, 1, 2)])  # the first feature matters more than it seems
    >>> sq_dist = LSML(prior_weight=1e-6).fit(X, constraints=c).metric_.diagonal() * [1, 4]
    >>> sq_dist.round(2)
    array([1.6, 1.6])
    """

    def __init__(self, *, prior=None, prior_weight=1e-3, tol=1e-4, max_iter=1000):
        self.prior = prior
        self.prior_weight = prior_weight
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
            Answers of the kinds closer and odd_one_out about the rows of X. None keeps the prior.

        Returns
        -------
        self : LSML
        """
        X = by_map.validate(self, X, reset=True)
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        if not self.prior_weight > 0:
            raise ValueError(f"prior_weight={self.prior_weight} must be > 0. Try 1e-5 for little.")
        root = prior_root(self.prior, X.shape[1])
        self.n_answers_used_ = warn_unused(self, constraints, used=("odd_one_out", "closer"))
        smaller, larger, answers = constraints.distance_inequalities()
        weights = constraints.weights[answers]
        u = (X[smaller[:, 0]].astype(np.float64) - X[smaller[:, 1]]) @ root.T
        v = (X[larger[:, 0]].astype(np.float64) - X[larger[:, 1]]) @ root.T
        length = root_mean_square(u, v, weights)
        if length > 0:
            fitted = fit_comparisons(
                u / length,
                v / length,
                weights,
                prior_weight=self.prior_weight,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        else:
            if self.n_answers_used_:
                warnings.warn(
                    "LSML keeps the prior: no answer of weight > 0 refers to rows that differ."
                )
            fitted = Compared(np.eye(X.shape[1]), np.empty(0), 0.0, 0, converged=True)
        if not fitted.converged:
            warnings.warn(
                f"LSML stopped after {fitted.n_iter} iterations, proved only within "
                f"{fitted.gap:.1e} of the optimum. Raise max_iter, tol or prior_weight.",
                ConvergenceWarning,
            )
        self.metric_ = root.T @ fitted.metric @ root
        self.objective_, self.gap_ = fitted.objective, fitted.gap
        self.n_iter_ = max(1, fitted.n_iter)  # scikit-learn's contract has no zero
        self.map_ = LinearMap(symmetric_root(self.metric_).T)
        self.violated_ = violated_answers(self.map_.transform(X), constraints)
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform


class Compared(NamedTuple):
    metric: np.ndarray  # (d, d), positive definite
    objective: np.ndarray  # (n_iter + 1,), falling
    gap: float  # optimum >= objective[-1] (1 - gap)
    n_iter: int
    converged: bool


def prior_root(prior, n_features: int) -> np.ndarray:
    """A factor R (d, d) with R'R = prior, or one error that says what is wrong with the prior."""
    if prior is None:
        return np.eye(n_features)
    P = np.asarray(prior, dtype=np.float64)
    if P.shape != (n_features, n_features):
        raise ValueError(f"prior has shape {P.shape}, but X has {n_features} features.")
    if not np.allclose(P, P.T) or eigvalsh(P)[0] <= 0:
        raise ValueError("prior must be symmetric and positive definite. Try prior + 1e-6 I.")
    return cholesky(P)


def root_mean_square(u: np.ndarray, v: np.ndarray, weights: np.ndarray) -> float:
    """Length of the typical difference that is compared, 0 when there is none."""
    if not weights.any():
        return 0.0
    sq_lengths = np.einsum("ij,ij->i", u, u) + np.einsum("ij,ij->i", v, v)
    return float(np.sqrt(weights @ sq_lengths / (2 * weights.sum())))


def fit_comparisons(
    smaller: np.ndarray,
    larger: np.ndarray,
    weights: np.ndarray,
    *,
    prior_weight: float,
    tol: float,
    max_iter: int,
) -> Compared:
    """M for the prior I, from differences (m, d) that should be smaller and larger, not all 0."""
    basis = span(np.concatenate([smaller, larger]))  # (d, r): elsewhere the prior is the optimum
    n_features, n_reached = basis.shape
    u, v, weights = smaller @ basis, larger @ basis, weights / weights.sum()

    def value_and_gradient(L):  # in units of the prior's weight: of size 1, however small that is
        value, gradient = residual(L, u, v, weights, prior_weight)
        return value / prior_weight, gradient / prior_weight

    def gap(L):
        value, gradient = value_and_gradient(L)
        bound = distance_bound(L, gradient)
        return bound / value if value > 0 else bound

    fitted = minimize_over_factors(
        value_and_gradient, gap, np.eye(n_reached), tol=tol, max_iter=max_iter
    )
    inside = fitted.factor.T @ fitted.factor
    M = np.eye(n_features) + basis @ (inside - np.eye(n_reached)) @ basis.T
    return Compared((M + M.T) / 2, prior_weight * fitted.objective, *fitted[2:])


def residual(
    L: np.ndarray, u: np.ndarray, v: np.ndarray, weights: np.ndarray, prior_weight: float
) -> tuple[float, np.ndarray]:
    """The objective at M = L'L (r, r) for the prior I, and its gradient over L."""
    Lu, Lv = u @ L.T, v @ L.T
    a, b = np.linalg.norm(Lu, axis=1), np.linalg.norm(Lv, axis=1)  # distances, not squared
    excess = np.maximum(a - b, 0.0)
    share_u = weights * excess / np.where(a > 0, a, 1.0)  # w (1 - sqrt(b/a)), 0 where satisfied
    share_v = weights * excess / np.where(b > 0, b, np.inf)  # -w (1 - sqrt(a/b)); v = 0 where b = 0
    pull = (Lu.T * share_u) @ u - (Lv.T * share_v) @ v
    gradient = 2 * pull + 2 * prior_weight * (L - inv(L).T)
    divergence = np.vdot(L, L) - 2 * np.linalg.slogdet(L)[1] - len(L)
    return float(weights @ excess**2 + prior_weight * divergence), gradient


def distance_bound(L: np.ndarray, gradient: np.ndarray) -> float:
    """How far the objective at L can be from the optimum, in units of the prior's weight."""
    LGL = gradient @ L.T / 2
    g = eigvalsh((LGL + LGL.T) / 2)
    return float(np.sum(g - np.log1p(g))) if g[0] > -1 else np.inf
