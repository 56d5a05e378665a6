"""ChoiceKernel: learn a kernel from people's answers, modeled as random choices.

    min_K  D(K, K0) + C sum_c w_c -log P_K(answer c)

    P_K: a softmax over the squared distances that the answer chose between (softmax.py)

D is the log-det divergence. K0 is taken in units of its mean squared distance times the sharpness,
which is how certain the start is about every choice. Strength and sharpness are chosen by held-out
answers, and so is the trust in each annotator (softmax_search.py).
Reference: amid2015 for the divergence, tamuz2011 and vandermaaten2012 for the choice, dawid1979 for
annotators. We differ from them in solving a convex problem around a start. If people disagree, a
random choice predicts their answers, and a margin (`SKLR`) does not.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import check_constraints, check_strength
from likewise.kernel_learning.joined_views import JoinedViews
from likewise.kernel_learning.softmax import choices_of, option_chances, option_sq_distances
from likewise.kernel_learning.softmax_search import fit_choices
from likewise.kernel_learning.start_kernels import (
    fit_unit_start,
    takes_sparse,
)
from likewise.maps import ChainedMap, by_map


class ChoiceKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a kernel from the choices of people, who may disagree.

    An answer is modeled as a random choice, where the nearer option is more likely. Use it if
    answers come from people, and to find out how certain an answer is (``choice_chances``) or whom
    to trust. Answers drawn from labels do not disagree; for those, ``SKLR`` clusters better.

    Parameters
    ----------
    start : {"gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine", "coordinates", \
            "precomputed"} or callable, default="gaussian"
        The kernel to start from, as for ``SKLR``.
    C : float or None, default=None
        How much unlikely answers cost, relative to moving the kernel. Raising it follows the
        answers more closely. None chooses by held-out answers, and takes 0.25 if fewer than 20 can
        be held out.
    sharpness : float or None, default=None
        How certain the start is about people's choices: its mean squared distance, in log-odds.
        Raising it makes the start harder to move. None chooses by held-out answers, or takes 2.
    annotator_noise : bool, default=False
        Learn how reliable each annotator is, and weigh answers accordingly. Takes about ten fits.
    views : sequence of int or None, default=None
        Widths of several feature tables that stand side by side in X (pixels, words, columns).
        Each gets the same mean squared length and then a weight, chosen by the answers
        (`JoinedViews`). None takes X as it is.
    n_components : float in (0, 1] or int, default=0.99
        Share of the starting kernel's trace that is kept, or the number of its directions. Raising
        it keeps finer directions and takes longer.
    n_landmarks : int or None, default=None
        Rows that represent all others in the starting kernel. None takes all rows up to 2,000, and
        1,000 if there are more.
    tol : float, default=1e-4
        Stop at this relative duality gap. Raising it stops earlier.
    max_iter : int, default=500
        Maximum number of steps.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks and the answers held out to choose by.

    Attributes
    ----------
    metric_ : ndarray of shape (n_directions, n_directions)
        The learned kernel in the start's coordinates.
    map_ : NystromMap, DiffusionMap, LinearMap or ChainedMap
        ``transform`` for any rows: the start's coordinates times the root of ``metric_``, behind
        the views as joined where there are any.
    view_weights_ : ndarray of shape (n_views,)
        Share of each view in the mean squared distance of the rows; 1 without views.
    choice_scale_ : float
        Squared distances in the learned space times this are log-odds of choices.
    threshold_ : float
        Squared distance below which a pair is more likely together than apart; nan without pairs.
    duals_ : ndarray of shape (n_answers,)
        How hard each answer pulls, >= 0, in the order of ``constraints.answers()``.
    violated_ : ndarray of int
        Positions of the answers that are not the most likely ones.
    C_ : float
        The strength used; 0 if the answers do not help and the start was left unchanged.
    sharpness_ : float
        The sharpness used.
    held_out_loss_ : float
        Mean log-loss of the answers held out to choose by; nan if nothing was chosen.
    trust_ : ndarray of shape (n_answers,)
        Chance that each answer was meant; all 1 without ``annotator_noise``.
    slips_ : ndarray of int
        Positions of the answers that are more likely slips than meant: trust below 1/2.
    annotators_ : ndarray of str
        Everyone who gave an answer; "" stands for all who are not named.
    reliabilities_ : ndarray of shape (n_annotators,)
        Share of each annotator's answers that were meant; the rest is guessing.
    divergence_ : float
        How far the kernel was moved.
    gap_ : float
        Relative duality gap: how far from the optimum the objective can be, at most.
    n_iter_ : int
        Steps made.
    n_answers_used_ : int
        Answers of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    References
    ----------
    amid2015, tamuz2011, vandermaaten2012

    See Also
    --------
    SKLR : A margin, for answers that do not contradict each other.

    Examples
    --------
    >>> from likewise import ChoiceKernel, Constraints
    >>> from likewise.datasets import load_wine
    >>> wine = load_wine()
    >>> X = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0)
    >>> answers = Constraints.from_labels(wine.y, n_odd_one_out=100, noise=0.2, random_state=0)
    >>> space = ChoiceKernel(random_state=0).fit(X, constraints=answers)
    >>> others = Constraints.from_labels(wine.y, n_odd_one_out=100, random_state=1)
    >>> chances = space.choice_chances(X, others)  # of the answer given first
    >>> (chances.argmax(axis=1) == 0).mean() > 0.8
    np.True_
    """

    def __init__(
        self,
        *,
        start="gaussian",
        C=None,
        sharpness=None,
        annotator_noise=False,
        views=None,
        n_components=0.99,
        n_landmarks=None,
        tol=1e-4,
        max_iter=500,
        random_state=None,
    ):
        self.start = start
        self.C = C
        self.sharpness = sharpness
        self.annotator_noise = annotator_noise
        self.views = views
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
            Answers of every kind. Without any, the kernel is the start's.

        Returns
        -------
        self : ChoiceKernel
        """
        check_strength("C", self.C)
        check_strength("sharpness", self.sharpness)
        X = by_map.validate(self, X, reset=True)
        constraints = check_constraints(constraints, n_samples=X.shape[0], y=y)
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        self.view_weights_, joined = np.ones(1), None
        if self.views is not None:
            check_views_fit(self)
            views = JoinedViews(self.views).fit(X, constraints=constraints)
            self.view_weights_, joined = views.weights_, views.map_
            X = joined.transform(X)
        start = fit_unit_start(
            self.start,
            X,
            n_components=self.n_components,
            n_landmarks=self.n_landmarks,
            forced=constraints.touched_rows(),
            random_state=rng,
        )
        fitted = fit_choices(
            start.Y,
            constraints,
            C=self.C,
            sharpness=self.sharpness,
            annotator_noise=self.annotator_noise,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed,
        )
        strength, chosen = fitted.strength, fitted.chosen
        if not chosen.converged:
            warnings.warn(
                f"ChoiceKernel stopped at max_iter={self.max_iter} with a relative duality gap of "
                f"{chosen.gap:.1e}, above tol={self.tol}. Raise max_iter or tol, or lower C.",
                ConvergenceWarning,
            )
        learned = start.map.times(fitted.root)
        self.metric_ = fitted.metric
        self.map_ = learned if joined is None else ChainedMap((joined, learned))
        self.C_, self.sharpness_ = strength.C, strength.sharpness
        self.held_out_loss_ = strength.log_loss
        self.choice_scale_ = strength.scale * strength.sharpness / start.sq_unit
        self.threshold_ = chosen.threshold * start.sq_unit / strength.sharpness
        self.duals_, self.violated_ = fitted.duals, np.flatnonzero(fitted.is_unlikely)
        self.trust_, self.slips_ = fitted.trust, np.flatnonzero(fitted.trust < 0.5)
        self.annotators_, self.reliabilities_ = fitted.annotators, fitted.reliabilities
        self.divergence_, self.gap_ = chosen.divergence, chosen.gap
        self.n_iter_ = max(chosen.n_iter, 1)  # scikit-learn asks for one where nothing is learned
        self.n_answers_used_ = int(np.count_nonzero(constraints.weights > 0))
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform
    kernel = by_map.kernel

    def choice_chances(self, X, constraints):
        """How likely people are to give each answer, or another one; also for new answers.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            The rows that the answers refer to.
        constraints : Constraints
            Answers, learned from or not; without pairs if ``threshold_`` is nan.

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
        Z = self.map_.transform(by_map.validate(self, X, reset=False))
        choices = choices_of(check_constraints(constraints, n_samples=len(Z)))
        if choices.has_threshold and np.isnan(self.threshold_):
            raise ValueError(
                "ChoiceKernel was fitted without pairs, so it has no threshold to judge them by. "
                "Fit it with pairs, or ask for the chances of triples only."
            )
        sq_dists = option_sq_distances(Z, choices, self.threshold_)
        chances = option_chances(self.choice_scale_ * sq_dists)[0]
        is_apart = choices.targets[:, 1] == 1
        chances[is_apart] = chances[is_apart][:, [1, 0, 2]]
        return chances

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self) and self.views is None
        tags.input_tags.pairwise = self.start == "precomputed"
        return tags


def check_views_fit(self: ChoiceKernel) -> None:
    """Views are tables of features: a kernel that is given has none."""
    if self.start == "precomputed":
        raise ValueError('views are of features, and start="precomputed" has a kernel. Drop one.')
