"""SKLR: learn a kernel from odd-one-out, closer and can't-tell answers, and from pairs.

    min_K  D(K, K0) + C sum_c w_c max(0, tr(K C_c))        loss="hinge", the default
    min_K  D(K, K0)   s.t.  tr(K C_c) <= 0                 loss="hard"

    tr(K C_c) = gamma d_K(i, j) - d_K(i, k)   for an answer that j is closer to i than k is;
                                              gamma is the margin

D is the log-det divergence and d_K a squared kernel distance (logdet_kernel.py has the whole
list). K0 is taken in units of its mean squared distance, so C and the bounds on pairs have no unit.
Reference: amid2015. We differ from it in four ways; loss="paper" undoes the first and the third.
Its algorithm 1 to the letter is SKLR(loss="paper", rank_by="frobenius", factor="cholesky").
1. Its projections, without duals, end at some feasible kernel, 6 to 55% above the least divergence
   and dependent on the order. Ours keep the duals and reach the optimum.
2. It states an incomplete Cholesky of K0 to .99 of the Frobenius norm (`factor`, `rank_by`). We
   take eigenvectors to .99 of the trace, as the authors' code does; eigenvectors to .99 of the
   norm are so few that answers clash.
3. The code z-scores the features and counts a row as its own neighbor. We do neither.
4. People make mistakes: answers are soft by default, with C chosen by held-out answers. For people
   who disagree with each other there is `ChoiceKernel` (choices.py).
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import Constraints, check_constraints, check_strength
from likewise.evaluation import ahead_of_first, answer_credits, select
from likewise.kernel_learning.logdet_kernel import LearnedKernel, learn_from_answers, misses_margins
from likewise.kernel_learning.start_kernels import (
    fit_unit_start,
    takes_sparse,
)
from likewise.maps import ChainedMap, NystromMap, as_map, by_map
from likewise.numerics.psd import symmetric_root

LOSSES = {
    "hinge": "hinge",
    "squared_hinge": "squared_hinge",
    "hard": "hinge",
    "paper": "paper",
}
FACTORS = ("eigen", "cholesky")
C_DEFAULT = 0.3
# Standard errors by which each must be better. A smaller C gives up answers, and a kernel that
# predicts equally well may cluster far worse: a smaller C must be better beyond doubt.
C_RIVALS = {1.0: 1.0, 3.0: 1.0, 0.1: 2.0}
N_SPLITS = 3
TRIAL_TOL = 1e-2  # enough to tell one C from another
BROKEN = 1e-3  # relative: an answer closer to its limit than this counts as satisfied
BOUNDS = (0.1, 1.6)  # must-links at most, cannot-links at least, in mean squared distances


class SKLR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a kernel from odd-one-out, closer, undecided and pair answers.

    Use it for comparisons: which is the odd one out, which is closer; it takes pairs in the same
    fit. With pairs alone and meaningful features, ``ITML`` is smaller and faster; if people
    disagree, use ``ChoiceKernel``.

    Parameters
    ----------
    start : {"gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine", "coordinates", \
            "precomputed"} or callable, default="gaussian"
        The kernel to start from. "gaussian" tunes its width to each row's neighborhood; "diffusion"
        follows the graph of nearest neighbors; "coordinates" takes X as the coordinates of an
        existing start; "precomputed" takes X as the kernel itself.
    loss : {"hinge", "squared_hinge", "hard", "paper"}, default="hinge"
        What a violated answer costs: its violation, the violation squared, or any amount ("hard":
        no answer may be violated); "paper" is the published projections, with z-scored features.
    C : float or None, default=None
        How much violated answers cost, relative to moving the kernel. Raising it follows the
        answers more closely. None chooses by held-out answers, and takes 0.3 if fewer than 20 can
        be held out. Not used by "hard" and "paper".
    margin : float, default=2.0
        How many times larger the squared distance to the odd one must be. Raising it asks for more.
    bounds : tuple of two floats, default=(0.1, 1.6)
        Squared distances that must-links should not exceed and cannot-links should reach, in units
        of the starting kernel's mean squared distance.
    n_components : float in (0, 1] or int, default=0.99
        Share of the starting kernel that is kept, or the number of its directions. Raising it keeps
        finer directions and takes longer.
    rank_by : {"trace", "frobenius"}, default="trace"
        What the share refers to. "frobenius" is the paper's, for ``factor="cholesky"``; it keeps
        far too few eigenvectors.
    factor : {"eigen", "cholesky"}, default="eigen"
        How the directions of the starting kernel are found: by the eigenvectors of the landmarks'
        kernel, or by an incomplete Cholesky of all rows', as in the paper. The latter chooses its
        landmarks itself and forms no n x n matrix, so ``n_landmarks`` may be large; it keeps more
        directions for the same share. "diffusion" and "coordinates" have their own directions.
    n_landmarks : int or None, default=None
        Rows that represent all others in the starting kernel. None takes all rows up to 2,000, and
        1,000 if there are more.
    tol : float, default=1e-4
        Stop after a sweep that moves no squared distance by more than this share. Raising it stops
        earlier.
    max_iter : int, default=500
        Maximum number of sweeps over the answers.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks, the order of every sweep and the answers held out to choose C.

    Attributes
    ----------
    metric_ : ndarray of shape (n_directions, n_directions)
        The learned kernel in the start's coordinates.
    map_ : NystromMap, DiffusionMap, LinearMap or ChainedMap
        ``transform`` for any rows: the start's coordinates times the root of ``metric_``.
    duals_ : ndarray of shape (n_answers,)
        How hard each answer pulls, >= 0, in the order of ``constraints.answers()``.
    violated_ : ndarray of int
        Positions of the answers that the learned kernel still violates.
    divergence_ : float
        How far the kernel was moved.
    C_ : float
        The strength used; inf if answers are hard.
    n_iter_ : int
        Sweeps made.
    n_answers_used_ : int
        Answers of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    References
    ----------
    amid2015

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import SKLR, Constraints
    >>> from likewise.datasets import load_wine
    >>> wine = load_wine()
    >>> X = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0)
    >>> answers = Constraints.from_labels(wine.y, n_odd_one_out=100, random_state=0)
    >>> space = SKLR(random_state=0).fit(X, constraints=answers)
    >>> labels = KMeans(3, n_init=10, random_state=0).fit_predict(space.transform(X))
    >>> adjusted_rand_score(wine.y, labels) > 0.9
    True
    """

    def __init__(
        self,
        *,
        start="gaussian",
        loss="hinge",
        C=None,
        margin=2.0,
        bounds=BOUNDS,
        n_components=0.99,
        rank_by="trace",
        factor="eigen",
        n_landmarks=None,
        tol=1e-4,
        max_iter=500,
        random_state=None,
    ):
        self.start = start
        self.loss = loss
        self.C = C
        self.margin = margin
        self.bounds = bounds
        self.n_components = n_components
        self.rank_by = rank_by
        self.factor = factor
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
            Answers of every kind. Without any, the kernel is the start's.

        Returns
        -------
        self : SKLR
        """
        self._check_settings()
        X = by_map.validate(self, X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        standardize = as_map(StandardScaler().fit(X)) if self.loss == "paper" else None
        X = X if standardize is None else standardize.transform(X)
        start = fit_unit_start(
            self.start,
            X,
            n_components=self.n_components,
            by=self.rank_by,
            factor=self.factor,
            n_landmarks=self.n_landmarks,
            forced=answers.touched_rows(),
            random_state=rng,
            **({"count_self": True} if self._counts_self() else {}),
        )
        self.C_ = self._choose_strength(start.Y, answers, seed)
        fitted = self._learn(start.Y, answers, self.C_, self.tol, seed)
        self._warn(fitted)
        learned = start.map.times(fitted.root)
        self.map_ = learned if standardize is None else ChainedMap((standardize, learned))
        self.metric_, self.duals_ = fitted.metric, fitted.answer_duals(answers.n_answers)
        self.divergence_, self.n_iter_ = fitted.divergence, fitted.n_iter
        is_violated = misses_margins(
            start.Y @ fitted.root, answers, margin=self.margin, sq_bounds=self.bounds, tol=BROKEN
        )
        self.violated_ = np.flatnonzero(is_violated)
        self.n_answers_used_ = int(np.count_nonzero(answers.weights > 0))
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform

    def kernel(self, X, Y=None, *, residual=False):
        """The learned kernel between rows: ``transform(X) @ transform(Y).T``.

        Parameters
        ----------
        X, Y : array-like or CSR
            Rows; Y=None means X.
        residual : bool, default=False
            Add the part of the starting kernel that the start's coordinates leave out, as equation
            (18) of the paper does. This is closer to the start for rows far from the landmarks, but
            the kernel is then not an inner product of ``transform``.

        Returns
        -------
        K : ndarray of shape (n, m)
        """
        check_is_fitted(self)
        X = by_map.validate(self, X, reset=False)
        Y = X if Y is None else by_map.validate(self, Y, reset=False)
        K = self.map_.kernel(X, Y)
        return K + self._left_out(X, Y) if residual else K

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.loss != "paper" and takes_sparse(self)
        tags.input_tags.pairwise = self.start == "precomputed"
        return tags

    def _check_settings(self):
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} is unknown. Use one of {', '.join(LOSSES)}.")
        check_strength("C", self.C)
        if self.factor not in FACTORS:
            raise ValueError(f"factor={self.factor!r} is unknown. Use {' or '.join(FACTORS)}.")
        if not self.margin >= 1:
            raise ValueError(f"margin={self.margin} must be >= 1: the odd one must not be closer.")
        near, far = self.bounds
        if not 0 < near <= far:
            raise ValueError(f"bounds={self.bounds} must be (near, far) with 0 < near <= far.")

    def _counts_self(self):
        return self.loss == "paper" and self.start == "gaussian"

    def _left_out(self, X, Y) -> np.ndarray | float:
        """The starting kernel (n, m) less the inner products of the start's coordinates."""
        *before, learned = self.map_.maps if isinstance(self.map_, ChainedMap) else (self.map_,)
        if not isinstance(learned, NystromMap):
            return 0.0  # the coordinates are all there is
        if self.start == "precomputed":
            raise ValueError("residual=True needs the rows; a precomputed kernel has none.")
        for earlier in before:
            X, Y = earlier.transform(X), earlier.transform(Y)
        start = learned.times(np.linalg.inv(symmetric_root(self.metric_)))
        return learned.base_kernel(X, Y) - start.kernel(X, Y)

    def _choose_strength(self, Y, answers: Constraints, seed: int) -> float:
        """C as given, or by held-out answers."""
        if self.loss in ("hard", "paper"):
            return np.inf
        if self.C is not None:
            return self.C

        def trial(C, fit_part, held_out):
            fitted = self._learn(Y, fit_part, C, max(self.tol, TRIAL_TOL), seed)
            return answer_credits(Y @ fitted.root, held_out)

        strengths = (C_DEFAULT, *C_RIVALS)
        selected = select(
            strengths,
            trial,
            answers,
            rule=ahead_of_first(list(C_RIVALS.values())),
            n_splits=N_SPLITS,
            random_state=seed,
            what="choosing C",
        )
        return strengths[selected.chosen or 0]

    def _learn(self, Y, answers: Constraints, C: float, tol: float, seed: int) -> LearnedKernel:
        return learn_from_answers(
            Y,
            answers,
            C=C,
            sq_bounds=self.bounds,
            margin=self.margin,
            loss=LOSSES[self.loss],
            tol=tol,
            max_iter=self.max_iter,
            seed=seed,
        )

    def _warn(self, fitted: LearnedKernel):
        if fitted.collapsed:
            warnings.warn(
                "The answers contradict each other, so no kernel satisfies all of them; this one "
                'was kept from collapsing. Use loss="hinge".',
                ConvergenceWarning,
            )
        elif not fitted.converged:
            warnings.warn(
                f"SKLR stopped at max_iter={self.max_iter} before every answer settled. Raise "
                "max_iter or tol, or lower C: the answers may contradict each other.",
                ConvergenceWarning,
            )
