"""LogDetPairs: learn a kernel from pairs, as SKkm and LRK do.

    min_{K, t}  D(K, K0) + C sum_c w_c D(t_c, b_c)
    d_K(a, b) <= t_c,  b_c = near   for a must-link
    d_K(a, b) >= t_c,  b_c = far    for a cannot-link

It is ITML's problem with K in place of the metric. SKMS and SKkm (anand2014) take slack C = 100
and fixed bounds on a Gaussian kernel's distances, which lie in [0, 2]; LRK (kulis2006) keeps the
leading `n_components` directions of K0, and log-det divergence never leaves them.
We differ from anand2014 in the starting kernel, which tunes its own width, where they choose one
from a grid; and from kulis2006, which names no bounds, in taking percentiles of the distances.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from likewise.constraints import check_constraints, check_strength, warn_unused
from likewise.evaluation import violated_by_bounds
from likewise.kernel_learning.logdet_kernel import learn_metric, problem_rows
from likewise.kernel_learning.start_kernels import fit_start
from likewise.maps import by_map
from likewise.numerics.pair_distances import mean_sq_distance, percentile_bounds

SKMS_BOUNDS = (0.05, 1.95)  # of squared distances under a Gaussian kernel


class LogDetPairs(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a kernel from must-link and cannot-link pairs.

    The kernel form of ``ITML``: use it if the clusters are not convex in the features, or if there
    is a kernel and no features. If there are also triples, use ``SKLR``.

    Parameters
    ----------
    start : str or callable, default="gaussian"
        The kernel to start from, as for ``SKLR``.
    bounds : {"skms", "percentiles"} or tuple of two floats, default="percentiles"
        Squared kernel distances (near, far), in units of the start's mean squared distance.
        "percentiles" takes the 5th and 95th over pairs of rows; "skms" takes the smaller of the 1st
        and 0.05 and the larger of the 99th and 1.95, not in these units but absolute, which is
        meant for Gaussian kernels.
    C : float, default=1.0
        How much a pair that misses its bound costs, relative to moving the kernel; an answer of
        weight w has C w. Raising it follows the pairs more closely; SKkm takes 100.
    n_components : float in (0, 1] or int, default=0.99
        Share of the start's trace that is kept; an int keeps that many leading directions (LRK).
    n_landmarks : int or None, default=None
        Rows that represent all others in the starting kernel; None takes all rows up to 2,000, and
        1,000 if there are more.
    tol : float, default=1e-3
        Stop after a sweep that moves no squared distance by more than this share.
    max_iter : int, default=1000
        Maximum number of sweeps over the pairs.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks, the pairs for the percentiles and the order of every sweep.

    Attributes
    ----------
    metric_ : ndarray of shape (n_directions, n_directions)
        The learned kernel in the start's coordinates.
    map_ : NystromMap, DiffusionMap or LinearMap
        ``transform`` for any rows: the start's coordinates times the root of ``metric_``.
    bounds_ : tuple of two floats
        The squared distances (near, far) used, in units of the start's mean squared distance.
    duals_ : ndarray of shape (n_answers,)
        How hard each answer pulls, >= 0.
    violated_ : ndarray of int
        Positions of the pairs beyond their bounds under the learned kernel.
    divergence_ : float
        How far the kernel was moved.
    n_iter_ : int
        Sweeps made.
    n_answers_used_ : int
        Pairs of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    References
    ----------
    anand2014, kulis2006

    Examples
    --------
    >>> from likewise import Constraints, LogDetPairs
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_must_link=30, n_cannot_link=30, random_state=0)
    >>> lrk = LogDetPairs(n_components=10, random_state=0).fit(iris.X, constraints=answers)
    >>> lrk.transform(iris.X).shape
    (150, 10)
    """

    def __init__(
        self,
        *,
        start="gaussian",
        bounds="percentiles",
        C=1.0,
        n_components=0.99,
        n_landmarks=None,
        tol=1e-3,
        max_iter=1000,
        random_state=None,
    ):
        self.start = start
        self.bounds = bounds
        self.C = C
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Learn the kernel.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            Rows; for ``start="precomputed"`` their kernel (n_samples, n_samples).
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Its must-links and cannot-links are used. Without any, the kernel is the start's.

        Returns
        -------
        self : LogDetPairs
        """
        X = by_map.validate(self, X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        n_used = warn_unused(self, answers, used=("must_link", "cannot_link"))
        check_strength("C", self.C, way_out="Try 1, or np.inf for hard pairs.")
        rng = check_random_state(self.random_state)
        start = fit_start(
            self.start,
            X,
            n_components=self.n_components,
            n_landmarks=self.n_landmarks,
            forced=answers.touched_rows(),
            random_state=rng,
        )
        Y = start.transform(X, dtype=np.float64)
        sq_unit = mean_sq_distance(Y)
        near, far = self._sq_bounds(Y, sq_unit, rng)
        pairs_alone = answers.subset(answers.positions("must_link", "cannot_link"))
        rows = problem_rows(pairs_alone)
        fitted = learn_metric(
            Y,
            rows,
            sq_bounds=(near, far),
            margin=1.0,
            pair_strengths=self.C * pairs_alone.weights[rows.pair_answers],
            triple_strengths=np.empty(0),
            loss="log_det",
            tol=self.tol,
            max_iter=self.max_iter,
            rng=rng,
        )
        if not fitted.converged:
            warnings.warn(
                f"LogDetPairs stopped at max_iter={self.max_iter} before every pair settled. Raise "
                "max_iter or tol, or lower C: the pairs may contradict each other.",
                ConvergenceWarning,
            )
        self.duals_ = np.zeros(answers.n_answers)
        self.duals_[answers.positions("must_link", "cannot_link")] = fitted.answer_duals(
            pairs_alone.n_answers
        )
        self.metric_, self.map_ = fitted.metric, start.times(fitted.root)
        self.divergence_, self.n_iter_ = fitted.divergence, fitted.n_iter
        self.bounds_ = near / sq_unit, far / sq_unit
        self.violated_ = violated_by_bounds(self.map_, X, answers, (near, far))
        self.n_answers_used_ = n_used
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform
    kernel = by_map.kernel

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.start != "precomputed"
        tags.input_tags.pairwise = self.start == "precomputed"
        return tags

    def _sq_bounds(self, Y: np.ndarray, sq_unit: float, rng) -> tuple[float, float]:
        if not isinstance(self.bounds, str):
            near, far = self.bounds
            if not 0 < near <= far:
                raise ValueError(f"bounds={self.bounds} must be (near, far), 0 < near <= far.")
            return near * sq_unit, far * sq_unit
        if self.bounds == "percentiles":
            return percentile_bounds(Y, rng, (5, 95))
        if self.bounds == "skms":
            near, far = percentile_bounds(Y, rng, (1, 99))
            return min(near, SKMS_BOUNDS[0]), max(far, SKMS_BOUNDS[1])
        raise ValueError(f"bounds={self.bounds!r} is neither 'skms' nor 'percentiles'.")
