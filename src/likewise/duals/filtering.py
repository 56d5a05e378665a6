"""Which answers to doubt, and which to leave out.

A wrong answer is one that the other answers speak against. A learner that may break answers at a
price (SKLR) finds the space that most of them agree on; there, an answer costs

    a pair         what it costs by itself in k-means of that space (centroids.py, "isolated")
    an odd one out d(a, b) - min(d(a, odd), d(b, odd)), in squared distances, where above 0
    a closer       d(a, b) - d(a, c), likewise

and the most costly are doubted first. "Can't tell" is never wrong. Found by flipping a tenth of the
pairs (docs/experiments/duals.md): prices that are shared among all pairs, as those of the linear
program, blame the neighbors of a wrong answer too, and a learner's multipliers are all the same at
their limit.
Reference: randel2021, Algorithm 3, for leaving out the most costly share.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state, check_scalar

from likewise.cluster.checks import check_choice
from likewise.constraints import Constraints, check_constraints
from likewise.duals.dissimilarity import len_of
from likewise.duals.prices import constraint_prices, learner_duals
from likewise.kernel_learning import SKLR
from likewise.numerics.pair_distances import pair_sq_distances

MEASURES = ("isolated", "lp", "subgradient", "duals")


class Suspects(NamedTuple):
    """Answers that are likely wrong."""

    positions: np.ndarray  # of those that cost something, the most doubtful first
    scores: np.ndarray  # (n_answers,) >= 0: what each costs


class Filtered(NamedTuple):
    """Answers kept, and those left out."""

    constraints: Constraints  # what is kept
    dropped: np.ndarray  # positions of what is not, the most costly first
    scores: np.ndarray  # (n_answers,)


def suspect_answers(
    X, constraints, n_clusters, *, by="isolated", learner="sklr", centers=None, random_state=None
) -> Suspects:
    """Rank the answers by how likely they are wrong.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Answers of every kind.
    n_clusters : int
        At least 2; used for the pairs.
    by : {"isolated", "lp", "subgradient", "duals"}, default="isolated"
        What a pair costs: by itself, which is the best at finding wrong ones; in the linear
        program of all, exactly or nearly; or, for all kinds of answers, the multipliers of the
        learner.
    learner : "sklr", fitted learner or None, default="sklr"
        The space to look in: of an `SKLR` fitted to the answers now, of a learner fitted to them
        before, or X as it is.
    centers : array-like of shape (n_clusters, n_directions), default=None
        Centers of the clusters in that space, when there are some already. None finds them by
        k-means.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    Suspects
        ``.positions`` of the answers that the space speaks against, most doubtful first, and
        ``.scores`` of all, in squared distances of the space; multipliers for "duals".

    Examples
    --------
    >>> from likewise import Constraints, suspect_answers
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> right = Constraints.from_labels(iris.y, n_pairs=60, random_state=0)
    >>> wrong = Constraints(150, must_link=[(0, 140)], odd_one_out=[(1, 141, 2)])
    >>> suspect_answers(iris.X, wrong + right, 3, random_state=0).positions[:2]
    array([0, 1])
    """
    check_choice("by", by, MEASURES)
    constraints = check_constraints(constraints, n_samples=len_of(X))
    rng = check_random_state(random_state)
    learner = resolve(learner, X, constraints, rng)
    if by == "duals":
        if learner is None:
            raise ValueError(
                "by='duals' needs a learner: leave it at 'sklr', or give a fitted one."
            )
        return order(learner_duals(learner, constraints))
    Z = check_array(X if learner is None else learner.transform(X), dtype=[np.float64, np.float32])
    scores = contradictions(constraints, Z)
    pairs = constraints.positions("must_link", "cannot_link")
    if len(pairs):
        found = constraint_prices(
            Z, constraints.subset(pairs), n_clusters, solver=by, centers=centers, random_state=rng
        )
        scores[pairs] = found.prices
    return order(scores)


def filter_constraints(
    X,
    constraints,
    n_clusters,
    *,
    share=0.7,
    keep="all",
    by="isolated",
    learner="sklr",
    random_state=None,
) -> Filtered:
    """Leave out the most costly of the answers that cost something.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
    n_clusters : int
    share : float, default=0.7
        Of the answers that cost something, the share that is left out, rounded down. Raising it
        trusts fewer of them.
    keep : {"all", "costly"}, default="all"
        Keep the answers that cost nothing too, or, as the paper, only the costly ones that are not
        left out: the others hold anyway.
    by, learner, random_state
        As in `suspect_answers`.

    Returns
    -------
    Filtered
        ``.constraints``, ``.dropped``, ``.scores``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, filter_constraints
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> right = Constraints.from_labels(iris.y, n_pairs=60, random_state=0)
    >>> answers = Constraints(150, must_link=[(0, 140)]) + right
    >>> filtered = filter_constraints(iris.X, answers, 3, share=0.5, random_state=0)
    >>> int(filtered.dropped[0])
    0
    """
    check_choice("keep", keep, ("all", "costly"))
    check_scalar(share, "share", (int, float), min_val=0, max_val=1)
    constraints = check_constraints(constraints, n_samples=len_of(X))
    costly, scores = suspect_answers(
        X, constraints, n_clusters, by=by, learner=learner, random_state=random_state
    )
    dropped = costly[: int(share * len(costly))]
    is_kept = np.ones(constraints.n_answers, dtype=bool)
    if keep == "costly":
        is_kept = scores > 0
    is_kept[dropped] = False
    return Filtered(constraints.subset(is_kept), dropped, scores)


def resolve(learner, X, constraints: Constraints, rng):
    """The fitted learner that is meant, or None."""
    if learner is None or hasattr(learner, "transform"):
        return learner
    check_choice("learner", learner, ("sklr",))
    return SKLR(random_state=rng).fit(X, constraints=constraints)


def contradictions(constraints: Constraints, Z: np.ndarray) -> np.ndarray:
    """By how much squared distances break each triple, (n_answers,); 0 where they do not."""
    smaller, larger, answers = constraints.distance_inequalities()
    excess = pair_sq_distances(Z, smaller) - pair_sq_distances(Z, larger)
    scores = np.zeros(constraints.n_answers)
    np.maximum.at(scores, answers, excess)
    return scores


def order(scores: np.ndarray) -> Suspects:
    """The most doubtful first."""
    ranked = np.argsort(-scores, kind="stable")
    return Suspects(ranked[scores[ranked] > 0], scores)
