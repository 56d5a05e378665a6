"""SKLR: learn a kernel from odd-one-out, closer and can't-tell answers, and from pairs.

    min_K  D(K, K0) + C sum_c w_c max(0, tr(K C_c))        loss="hinge", the default
    min_K  D(K, K0)   s.t.  tr(K C_c) <= 0                 loss="hard"
    min_K  D(K, K0) + C sum_c w_c -log P_K(answer c)       loss="softmax", for people's answers

    tr(K C_c) = gamma d_K(i, j) - d_K(i, k)   for an answer that j is closer to i than k is
    P_K: a softmax over the squared distances between which the answer chose (softmax.py)

D is the log-det divergence and d_K a squared kernel distance (logdet.py has the whole list). K0 is
taken in units of its mean squared distance, so C and the bounds on pairs have no unit.
Reference: amid2015. We differ from it in four ways; loss="paper" goes back on the first three.
1. Its projections, without duals, end at some feasible kernel, 6 to 55 % above the least divergence
   and dependent on the order. Ours keep the duals and reach the optimum.
2. It prints a cut of K0 at .99 of the Frobenius norm, which leaves so few directions that answers
   clash. We cut at .99 of the trace, as the authors' code does (`rank_by`).
3. The code z-scores the features and counts a row as its own neighbor. We do neither.
4. People err: answers are soft by default, with C chosen by held-out answers. Where they disagree
   with each other, a choice with chances ("softmax") foretells them and a margin does not.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import Constraints, check_constraints
from likewise.evaluation import ahead_of_first, answer_credits, select
from likewise.kernel_learning.logdet import Learned, learn_from_answers, violated_answers
from likewise.kernel_learning.softmax import choices_of, option_chances, option_sq_distances
from likewise.kernel_learning.softmax_search import fit_choices
from likewise.kernel_learning.starts import fit_start
from likewise.maps import ChainedMap, NystromMap, as_map
from likewise.numerics.psd import symmetric_root
from likewise.numerics.rows import validate_rows

LOSSES = {
    "hinge": "hinge",
    "squared_hinge": "squared_hinge",
    "hard": "hinge",
    "paper": "paper",
    "softmax": "softmax",
}
C_DEFAULT = 0.3
# Standard errors by which each must be better. A smaller C gives answers up, and what predicts
# wrong ones no worse may cluster far worse: it has to be better beyond doubt.
C_RIVALS = {1.0: 1.0, 3.0: 1.0, 0.1: 2.0}
N_SPLITS = 3
TRIAL_TOL = 1e-2  # enough to tell one C from another
BROKEN = 1e-3  # relative: closer to its limit than this an answer counts as honored
BOUNDS = (0.1, 1.6)  # must-links at most, cannot-links at least, in mean squared distances


class SKLR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a kernel from odd-one-out, closer, undecided and pair answers.

    Use it when people compare: which is the odd one out, which is closer; it takes pairs in the
    same fit. With pairs alone and features that mean something, ``ITML`` is smaller and faster.

    Parameters
    ----------
    start : {"gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine", "coordinates", \
            "precomputed"} or callable, default="gaussian"
        The kernel to start from. "gaussian" tunes its width to each row's neighborhood; "diffusion"
        follows the graph of nearest neighbors; "coordinates" takes X as the coordinates of a start
        that was made before; "precomputed" takes X as the kernel itself.
    loss : {"hinge", "squared_hinge", "hard", "paper", "softmax"}, default="hinge"
        What a broken answer costs: its violation, the violation squared, everything ("hard": no
        answer may break), or "paper": the published projections, with z-scored features. "softmax"
        takes answers as choices that people make by chance, the nearer the likelier: use it when
        people disagree, and when you want to know how sure to be (``choice_chances``).
    C : float or None, default=None
        How much broken answers cost beside moving the kernel. Raising it follows the answers more
        closely. None chooses by held-out answers, and takes 0.3 (softmax: 0.25) when under 20 can
        be held out. Not used by "hard" and "paper".
    gamma : float, default=2.0
        How many times larger the squared distance to the odd one must be. Raising it asks for more.
        Not used by "softmax".
    bounds : tuple of two floats, default=(0.1, 1.6)
        Squared distances that must-links should not exceed and cannot-links should reach, in units
        of the starting kernel's mean squared distance. "softmax" learns a threshold instead.
    sharpness : float or None, default=None
        How sure the start is of people's choices: its mean squared distance, in log-odds. Raising
        it makes the start harder to move. None chooses by held-out answers, or takes 2. Used by
        "softmax" alone.
    annotator_noise : bool, default=False
        Learn how reliable each annotator is, and trust answers accordingly. Takes some ten fits.
        Used by "softmax" alone.
    share : float, default=0.99
        Share of the starting kernel that is kept. Raising it keeps finer directions and costs time.
    rank_by : {"trace", "frobenius"}, default="trace"
        What is shared. "frobenius" is printed in the paper and keeps far too few directions.
    n_landmarks : int or None, default=None
        Rows that stand for all in the starting kernel. None takes all up to 2,000 rows and 1,000
        beyond.
    tol : float, default=1e-4
        Stop after a sweep that moves no squared distance by more than this share; "softmax" stops
        at this relative duality gap. Raising it stops earlier.
    max_iter : int, default=500
        Most sweeps over the answers; with "softmax", most steps.
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
        Positions of the answers that the learned kernel still breaks.
    divergence_ : float
        How far the kernel was moved.
    C_ : float
        The strength used; inf where answers are hard, 0 where "softmax" found that the answers do
        not help and left the start as it was.
    n_iter_ : int
        Sweeps or steps made.
    n_answers_used_ : int
        Answers of weight > 0.
    sharpness_ : float
        The sharpness used. This and what follows is there with ``loss="softmax"`` alone.
    choice_scale_ : float
        Squared distances in the learned space times this are log-odds of choices.
    threshold_ : float
        Squared distance under which a pair is rather together than not; nan without pairs.
    gap_ : float
        Relative duality gap: how far from the optimum the objective can be, at most.
    held_out_loss_ : float
        Mean log-loss of the answers held out to choose by; nan where nothing was chosen.
    trust_ : ndarray of shape (n_answers,)
        Chance that each answer was meant; all 1 without ``annotator_noise``.
    suspects_ : ndarray of int
        Positions of the answers that are rather slips than meant: trust below 1/2.
    annotators_ : ndarray of str
        Everybody who gave an answer, "" for all who are not named.
    reliabilities_ : ndarray of shape (n_annotators,)
        Share of each annotator's answers that were meant; the rest is guessing.
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
        gamma=2.0,
        bounds=BOUNDS,
        sharpness=None,
        annotator_noise=False,
        share=0.99,
        rank_by="trace",
        n_landmarks=None,
        tol=1e-4,
        max_iter=500,
        random_state=None,
    ):
        self.start = start
        self.loss = loss
        self.C = C
        self.gamma = gamma
        self.bounds = bounds
        self.sharpness = sharpness
        self.annotator_noise = annotator_noise
        self.share = share
        self.rank_by = rank_by
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
        X = self._validate(X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        standardize = as_map(StandardScaler().fit(X)) if self.loss == "paper" else None
        X = X if standardize is None else standardize.transform(X)
        start = fit_start(
            self.start,
            X,
            share=self.share,
            by=self.rank_by,
            n_landmarks=self.n_landmarks,
            forced=answers.touched_rows(),
            random_state=rng,
            **({"count_self": True} if self._counts_self() else {}),
        )
        Y = start.transform(X, dtype=np.float64)
        sq_unit = 2 * Y.var(axis=0).sum()  # the mean squared distance
        sq_unit = sq_unit if sq_unit > 0 else 1.0
        Y = Y / np.sqrt(sq_unit)
        if self.loss == "softmax":
            root, is_violated = self._fit_choices(Y, answers, sq_unit, seed)
        else:
            root, is_violated = self._fit_margins(Y, answers, seed)
        learned = start.times(root)
        self.map_ = learned if standardize is None else ChainedMap((standardize, learned))
        self.violated_ = np.flatnonzero(is_violated)
        self.n_answers_used_ = int(np.count_nonzero(answers.weights > 0))
        self._n_features_out = self.map_.n_directions
        return self

    def transform(self, X):
        """Map rows to the space whose squared Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            For ``start="precomputed"``: kernel values with the training rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_directions)
        """
        check_is_fitted(self)
        return self.map_.transform(self._validate(X, reset=False))

    def kernel(self, X, Y=None, *, residual=False):
        """The learned kernel between rows: ``transform(X) @ transform(Y).T``.

        Parameters
        ----------
        X, Y : array-like or CSR
            Rows; Y=None means X.
        residual : bool, default=False
            Add what the start's coordinates leave out of the starting kernel, as equation (18) of
            the paper does. Closer to the start for rows far from the landmarks, but then the kernel
            is no inner product of ``transform``.

        Returns
        -------
        K : ndarray of shape (n, m)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        Y = X if Y is None else self._validate(Y, reset=False)
        K = self.map_.kernel(X, Y)
        return K + self._left_out(X, Y) if residual else K

    @available_if(lambda self: self.loss == "softmax")
    def choice_chances(self, X, constraints):
        """How likely people are to answer as they did, or otherwise; for answers not learned from.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            The rows that the answers speak of.
        constraints : Constraints
            Answers, learned from or not; with ``threshold_`` unknown, no pairs.

        Returns
        -------
        ndarray of shape (n_answers, 3)
            The first column is the chance of the answer given: that (a, b) is the closest pair of
            an odd-one-out, that b is the closer one, that the pair is together (must-link) or apart
            (cannot-link). Then those of the other answers: closest pairs (a, odd), (b, odd); c
            closer; the other kind of link. For "undecided" the closest pairs (a, b), (a, c),
            (b, c).
        """
        check_is_fitted(self)
        Z = self.transform(X)
        choices = choices_of(check_constraints(constraints, n_samples=len(Z)))
        if choices.has_threshold and np.isnan(self.threshold_):
            raise ValueError("SKLR was fitted without pairs, so it has no threshold to judge them.")
        sq_dists = option_sq_distances(Z, choices, self.threshold_)
        chances = option_chances(self.choice_scale_ * sq_dists)[0]
        is_apart = choices.targets[:, 1] == 1
        chances[is_apart] = chances[is_apart][:, [1, 0, 2]]
        return chances

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.loss != "paper" and self.start != "precomputed"
        tags.input_tags.pairwise = self.start == "precomputed"
        return tags

    def _check_settings(self):
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} is unknown. Use one of {', '.join(LOSSES)}.")
        if self.C is not None and not self.C > 0:
            raise ValueError(f"C={self.C} must be > 0. Leave it out to have it chosen.")
        if self.sharpness is not None and not self.sharpness > 0:
            raise ValueError(f"sharpness={self.sharpness} must be > 0, or None to have it chosen.")
        if not self.gamma >= 1:
            raise ValueError(f"gamma={self.gamma} must be >= 1: the odd one is no closer.")
        near, far = self.bounds
        if not 0 < near <= far:
            raise ValueError(f"bounds={self.bounds} must be (near, far) with 0 < near <= far.")

    def _validate(self, X, *, reset):
        takes_sparse = self.loss != "paper" and self.start != "precomputed"
        return validate_rows(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if takes_sparse else False,
        )

    def _counts_self(self):
        return self.loss == "paper" and self.start == "gaussian"

    def _left_out(self, X, Y) -> np.ndarray | float:
        """The starting kernel (n, m) less the inner products of the start's coordinates."""
        *before, learned = self.map_.maps if isinstance(self.map_, ChainedMap) else (self.map_,)
        if not isinstance(learned, NystromMap):
            return 0.0  # the coordinates are all there is
        if self.start == "precomputed":
            raise ValueError("residual=True needs the rows; a precomputed kernel has none.")
        for one in before:
            X, Y = one.transform(X), one.transform(Y)
        start = learned.times(np.linalg.inv(symmetric_root(self.metric_)))
        return learned.base_kernel(X, Y) - start.kernel(X, Y)

    def _fit_margins(self, Y, answers: Constraints, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Projections; the root of the metric, and which answers (n_answers,) stay broken."""
        self.C_ = self._choose_strength(Y, answers, seed)
        fitted = self._learn(Y, answers, self.C_, self.tol, seed)
        self._warn(fitted)
        self.duals_ = fitted.answer_duals(answers.n_answers)
        self.metric_ = fitted.metric
        self.divergence_, self.n_iter_ = fitted.divergence, fitted.n_iter
        return fitted.root, violated_answers(
            Y @ fitted.root, answers, gamma=self.gamma, sq_bounds=self.bounds, tol=BROKEN
        )

    def _fit_choices(self, Y, answers: Constraints, sq_unit: float, seed: int):
        """Softmax; the root of the metric, and which answers (n_answers,) are not the likeliest."""
        found = fit_choices(
            Y,
            answers,
            C=self.C,
            sharpness=self.sharpness,
            annotator_noise=self.annotator_noise,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed,
        )
        if not found.chosen.converged:
            warnings.warn(
                f"SKLR stopped at max_iter={self.max_iter} with a relative duality gap of "
                f"{found.chosen.gap:.1e}, above tol={self.tol}. Raise max_iter or tol, or lower C.",
                ConvergenceWarning,
            )
        strength, chosen = found.strength, found.chosen
        self.C_, self.sharpness_ = strength.C, strength.sharpness
        self.held_out_loss_ = strength.log_loss
        self.choice_scale_ = strength.scale * strength.sharpness / sq_unit
        self.threshold_ = chosen.threshold * sq_unit / strength.sharpness
        self.metric_, self.duals_ = found.metric, found.duals
        self.divergence_, self.gap_ = chosen.divergence, chosen.gap
        self.n_iter_ = max(chosen.n_iter, 1)  # scikit-learn asks for one where nothing is learned
        self.trust_, self.suspects_ = found.trust, np.flatnonzero(found.trust < 0.5)
        self.annotators_, self.reliabilities_ = found.annotators, found.reliabilities
        return found.root, found.is_unlikely

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

    def _learn(self, Y, answers: Constraints, C: float, tol: float, seed: int) -> Learned:
        return learn_from_answers(
            Y,
            answers,
            C=C,
            sq_bounds=self.bounds,
            gamma=self.gamma,
            loss=LOSSES[self.loss],
            tol=tol,
            max_iter=self.max_iter,
            seed=seed,
        )

    def _warn(self, fitted: Learned):
        if fitted.collapsed:
            warnings.warn(
                "The answers contradict each other, so no kernel honors all of them; this one was "
                'kept from collapsing. Use loss="hinge".',
                ConvergenceWarning,
            )
        elif not fitted.converged:
            warnings.warn(
                f"SKLR stopped at max_iter={self.max_iter} before every answer settled. Raise "
                "max_iter or tol, or lower C: the answers may contradict each other.",
                ConvergenceWarning,
            )
