"""JoinedViews: several feature tables of the same rows as one, weighed by the answers.

    z(x) = [ sqrt(w_v) (x_v - mean_v) / length_v ]  over the views v
    length_v^2 = mean |x_v - mean_v|^2

    min_{w > 0}  sum_i c_i -log P_w(answer i) + WEIGHT_COST sum_v w_v
                 + OCTAVE_COST sum_v (log2 w_v / mean)^2

    P_w: a softmax over the squared distances sum_v w_v d_v that the answer chose between

Every view has mean squared length 1 before it is weighed: a table of many columns, or of large
numbers, counts no more than another. Squared distances are linear in the weights, so the answers'
part is convex. A wide table of noise has nearly the same distance between all rows: the answers do
not mind it, so a weight must cost something, and that of noise goes to about 0. It also bounds the
weights where all answers fit. Where no view helps, all get small, and the last part, a prior some
five octaves wide, makes them equal. Their sum scales distances to log-odds and is not part of the
result: the weights returned add up to 1. Too few answers leave them equal.
Reference: the choice is that of softmax.py.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from likewise.constraints import Constraints, check_constraints
from likewise.evaluation import MIN_HELD_OUT
from likewise.kernel_learning.softmax import Choices, choices_of, log_loss, option_chances
from likewise.maps import LinearMap, by_map
from likewise.numerics.pair_distances import pair_sq_distances

OCTAVE_COST = 0.02
WEIGHT_COST = 2.0
START_SCALE = 2.0  # of squared distances in log-odds: where the search begins
LARGEST = 12.0  # octaves from there


class JoinedViews(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Join several feature tables of the same rows, with weights that the answers choose.

    Use it where rows have pictures and words, or columns of several kinds: stack the tables side by
    side, and say how wide each is. It is what ``ChoiceKernel(views=...)`` and
    ``GuidedClustering(views=...)`` do first; in a pipeline it goes ahead of any learner.

    Parameters
    ----------
    views : sequence of int or None, default=None
        Number of columns of each table, in their order in X. None is one table.

    Attributes
    ----------
    weights_ : ndarray of shape (n_views,)
        Share of each view in the mean squared distance; they add up to 1.
    map_ : LinearMap
        ``transform`` for any rows.
    n_answers_used_ : int
        Answers the weights were chosen by; 0 where they are equal for lack of answers.
    n_features_in_ : int

    References
    ----------
    vandermaaten2012

    See Also
    --------
    KernelAlignment : Weights of kernels by pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints, JoinedViews
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> pictures, noise = np.eye(3)[y] + rng.normal(size=(60, 3)) / 4, rng.normal(size=(60, 100))
    >>> answers = Constraints.from_labels(y, n_odd_one_out=200, random_state=0)
    >>> joined = JoinedViews([3, 100]).fit(np.hstack([pictures, noise]), constraints=answers)
    >>> joined.weights_[0] > 0.95
    np.True_
    """

    def __init__(self, views=None):
        self.views = views

    def fit(self, X, y=None, *, constraints=None):
        """Choose the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The tables side by side.
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Answers of every kind. With fewer than 20 the views weigh the same.

        Returns
        -------
        self : JoinedViews
        """
        X = by_map.validate(self, X, reset=True)
        answers = check_constraints(constraints, n_samples=len(X), y=y)
        edges = edges_of(self.views, X.shape[1])
        center = X.mean(axis=0, dtype=np.float64)
        sq_lengths = np.add.reduceat(X.var(axis=0, dtype=np.float64), edges[:-1])
        is_flat = sq_lengths <= 0  # a view that is the same for every row
        lengths = np.sqrt(np.where(is_flat, 1.0, sq_lengths))
        widths = np.diff(edges)
        unit = LinearMap(center=center, scale=np.repeat(lengths, widths))
        Z = unit.transform(X)
        self.weights_ = np.full(len(widths), 1 / len(widths))
        self.n_answers_used_ = 0
        if len(widths) > 1 and np.count_nonzero(answers.weights > 0) >= MIN_HELD_OUT:
            self.weights_ = learn_view_weights(Z, answers, edges)
            self.n_answers_used_ = int(np.count_nonzero(answers.weights > 0))
        scale = lengths / np.sqrt(self.weights_)
        self.map_ = LinearMap(center=center, scale=np.repeat(scale, widths))
        self._n_features_out = X.shape[1]
        return self

    transform = by_map.transform


def edges_of(views: Sequence[int] | None, n_features: int) -> np.ndarray:
    """Where each view begins, and the number of columns; one error where they do not add up."""
    widths = [n_features] if views is None else [int(width) for width in views]
    if not widths or min(widths) < 1:
        raise ValueError(f"views={views!r} must be widths of 1 or more.")
    if sum(widths) != n_features:
        raise ValueError(
            f"views={tuple(widths)} add up to {sum(widths)} columns, and X has {n_features}."
        )
    return np.concatenate([[0], np.cumsum(widths)])


def learn_view_weights(Z: np.ndarray, answers: Constraints, edges: np.ndarray) -> np.ndarray:
    """(n_views,) weights that make the answers likeliest, adding up to 1."""
    choices = choices_of(answers)
    sq_dists = view_distances(Z, choices, edges)
    n_views = len(edges) - 1
    start = np.full(n_views, np.log2(START_SCALE / n_views / 2))
    if choices.has_threshold:  # one more distance, of pairs alone
        start = np.append(start, np.log2(START_SCALE))
    found = minimize(
        view_cost,
        start,
        args=(sq_dists, choices, n_views),
        jac=True,
        method="L-BFGS-B",
        bounds=[(middle - LARGEST, middle + LARGEST) for middle in start],
    )
    weights = 2.0 ** found.x[:n_views]
    return weights / weights.sum()


def view_distances(Z: np.ndarray, choices: Choices, edges: np.ndarray) -> np.ndarray:
    """(n_views or one more for a threshold, m, 3) squared distances of the options by view."""
    last = len(choices.pairs) - choices.has_threshold
    parts = []
    for begin, end in pairwise(edges):
        sq_dists = np.zeros(len(choices.pairs) + 1)
        part = np.ascontiguousarray(Z[:, begin:end], dtype=np.float64)
        sq_dists[:last] = pair_sq_distances(part, choices.pairs[:last])
        parts.append(sq_dists[choices.options])
    if choices.has_threshold:
        sq_dists = np.zeros(len(choices.pairs) + 1)
        sq_dists[last:-1] = 1.0
        parts.append(sq_dists[choices.options])
    return np.array(parts)


def view_cost(
    log2_weights: np.ndarray, sq_dists: np.ndarray, choices: Choices, n_views: int
) -> tuple[float, np.ndarray]:
    """Minus the log-likelihood of all answers, with the priors, and its gradient in log2 w."""
    weights = 2.0**log2_weights
    total = np.tensordot(weights, sq_dists, axes=1)
    total = np.where(choices.options < len(choices.pairs), total, np.inf)
    chances = option_chances(total)[0]
    pulls = choices.weights[:, None] * (choices.targets - chances)
    octaves = log2_weights[:n_views] - log2_weights[:n_views].mean()
    cost = choices.weights.sum() * log_loss(total, choices.targets, choices.weights)
    cost += OCTAVE_COST * np.square(octaves).sum()
    cost += WEIGHT_COST * weights[:n_views].sum()
    slope = np.tensordot(sq_dists, pulls, axes=2) * weights * np.log(2)
    slope[:n_views] += 2 * OCTAVE_COST * octaves
    slope[:n_views] += WEIGHT_COST * weights[:n_views] * np.log(2)
    return float(cost), slope
