"""Which answers cost the most, and which to leave out.

A wrong answer is one that the other answers contradict. A learner that may violate answers at a
price (SKLR) finds a space that most of them agree on. There,

    a pair    is doubted by what it costs by itself in k-means (centroid_prices.py, "isolated"),
    a triple  by how hard the learner had to pull, up to its limit, and beyond that by how far its
              distances still are from what it asks: dual / C + sum max(0, 2 d_near - d_far).

The two have no common unit, so each answer's place among its likes, pairs or triples, is its score.
"Can't tell" is never wrong. All this was chosen by flipping a tenth of the answers
(docs/experiments/duals.md): the prices of the linear program blame the neighbors of a wrong answer
with it, and multipliers alone are all the same at their limit.
Reference: randel2021, Algorithm 3, for leaving out the most costly share.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, check_random_state, check_scalar

from likewise.cluster import check_choice
from likewise.constraints import Constraints, check_constraints
from likewise.duals.dissimilarity import len_of
from likewise.duals.prices import constraint_prices, learner_duals
from likewise.kernel_learning import SKLR
from likewise.numerics.pair_distances import pair_sq_distances

MEASURES = ("isolated", "lp", "duals")
MARGIN = 2.0  # SKLR's: how many times larger the far distance should be
C = 1.0  # of the SKLR fitted here: strong enough to learn, not to bend to wrong answers
TOL = 1e-2  # near enough to rank by
STANDS_OUT = 2.0  # standard deviations above the mean doubt


@dataclass(frozen=True, eq=False)
class CostlyAnswers:
    """Answers that cost something, by themselves.

    Attributes
    ----------
    positions : ndarray of int
        The answers to review, the most costly first.
    ranking : ndarray of shape (n_answers,)
        All positions, the most costly first.
    scores : ndarray of shape (n_answers,)
        In [0, 1]: the share of the answers of its kind that cost no more.
    """

    positions: np.ndarray
    ranking: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True, eq=False)
class FilteredConstraints:
    """Answers kept, and those left out.

    Attributes
    ----------
    constraints : Constraints
        What is kept.
    dropped : ndarray of int
        Positions of the answers left out, the most costly first.
    scores : ndarray of shape (n_answers,)
        As in `CostlyAnswers`.
    """

    constraints: Constraints
    dropped: np.ndarray
    scores: np.ndarray


def costly_answers(
    X, constraints, n_clusters, *, by="isolated", learner="sklr", centers=None, random_state=None
) -> CostlyAnswers:
    """Rank the answers by what each costs by itself.

    The most costly are often wrong; `likewise.doubtful_answers` asks what was learned without them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Answers of every kind.
    n_clusters : int
        At least 2; used for the pairs.
    by : {"isolated", "lp", "duals"}, default="isolated"
        What a pair is doubted by: its price by itself, the best at finding wrong ones, or in the
        linear program of all; or, for all kinds of answers, the multipliers of the learner.
    learner : "sklr", fitted learner or None, default="sklr"
        The space to look in: of an `SKLR` fitted to the answers now, of a learner fitted to them
        before, or X as it is.
    centers : array-like of shape (n_clusters, n_directions), default=None
        Centers of the clusters in that space, when there are some already. None finds them by
        k-means.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    CostlyAnswers
        ``.positions`` of the answers to review, most doubtful first: pairs that cost
        something, triples that the distances contradict or whose doubt stands out among triples.
        ``.ranking`` of all answers, ``.scores``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.duals import costly_answers
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> right = Constraints.from_labels(iris.y, n_pairs=60, random_state=0)
    >>> wrong = Constraints(150, must_link=[(0, 140)], odd_one_out=[(1, 141, 2)])
    >>> sorted(costly_answers(iris.X, wrong + right, 3, random_state=0).positions[:2].tolist())
    [0, 1]
    """
    check_choice("by", by, MEASURES)
    constraints = check_constraints(constraints, n_samples=len_of(X))
    rng = check_random_state(random_state)
    learner = resolve(learner, X, constraints, rng)
    if by == "duals" and learner is None:
        raise ValueError("by='duals' needs a learner: keep learner='sklr', or pass a fitted one.")
    Z = check_array(X if learner is None else learner.transform(X), dtype=[np.float64, np.float32])
    pairs = constraints.positions("must_link", "cannot_link")
    doubts, stands_out = doubt_triples(constraints, Z, learner)
    if len(pairs):
        priced = constraint_prices(
            Z,
            constraints.subset(pairs),
            n_clusters,
            solver="lp" if by == "lp" else "isolated",
            centers=centers,
            random_state=rng,
        )
        doubts[pairs], stands_out[pairs] = priced.prices, priced.prices > 0
    if by == "duals":
        doubts = learner_duals(learner, constraints).copy()
        stands_out = doubts > 0
    doubts[constraints.weights == 0] = 0.0
    scores = place_among_likes(doubts, np.isin(np.arange(constraints.n_answers), pairs))
    ranking = np.lexsort((-doubts, -scores))
    return CostlyAnswers(ranking[(stands_out & (doubts > 0))[ranking]], ranking, scores)


def filter_constraints(
    X,
    constraints,
    n_clusters,
    *,
    drop_share=0.7,
    keep="all",
    by="isolated",
    learner="sklr",
    random_state=None,
) -> FilteredConstraints:
    """Leave out the most costly of the answers that cost something.

    For learners that take every answer at its word. One that may break answers, as `SKLR` does by
    default, did as well with all of them in our trials.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
    n_clusters : int
    drop_share : float, default=0.7
        Of the answers that cost something, the share that is left out, rounded down. Raising it
        trusts fewer of them.
    keep : {"all", "costly"}, default="all"
        Keep the answers that cost nothing too, or, as the paper, only the costly ones that are not
        left out: the others are satisfied anyway.
    by : {"isolated", "lp", "duals"}, default="isolated"
        What a pair is doubted by, as in `costly_answers`.
    learner : "sklr", fitted learner or None, default="sklr"
        The space to look in, as in `costly_answers`.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    FilteredConstraints
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
    >>> filtered = filter_constraints(iris.X, answers, 3, drop_share=0.5, random_state=0)
    >>> int(filtered.dropped[0])
    0
    """
    check_choice("keep", keep, ("all", "costly"))
    check_scalar(drop_share, "drop_share", (int, float), min_val=0, max_val=1)
    constraints = check_constraints(constraints, n_samples=len_of(X))
    ranked = costly_answers(
        X, constraints, n_clusters, by=by, learner=learner, random_state=random_state
    )
    costly = ranked.positions
    dropped = costly[: int(drop_share * len(costly))]
    is_kept = np.full(constraints.n_answers, keep == "all")
    is_kept[costly] = True
    is_kept[dropped] = False
    return FilteredConstraints(constraints.subset(is_kept), dropped, ranked.scores)


def resolve(learner, X, constraints: Constraints, rng):
    """The fitted learner that is meant, or None."""
    if learner is None or hasattr(learner, "transform"):
        return learner
    check_choice("learner", learner, ("sklr",))
    return SKLR(C=C, tol=TOL, random_state=rng).fit(X, constraints=constraints)


def doubt_triples(constraints: Constraints, Z: np.ndarray, learner) -> tuple:
    """How much each triple is to be doubted, and whether it stands out, (n_answers,) each.

    It does when the distances contradict it, or by its doubt among the triples.
    """
    smaller, larger, answers = constraints.distance_inequalities()
    near, far = pair_sq_distances(Z, smaller), pair_sq_distances(Z, larger)
    unit = 2 * float(Z.var(axis=0).sum()) or 1.0  # the mean squared distance
    short = np.maximum(MARGIN * near - far, 0.0) / unit
    doubts = np.zeros(constraints.n_answers)
    np.add.at(doubts, answers, short)
    decided = np.unique(answers)
    strength = getattr(learner, "C_", np.inf)
    if np.isfinite(strength):
        doubts[decided] += learner_duals(learner, constraints)[decided] / strength
    stands_out = np.zeros(constraints.n_answers, dtype=bool)
    if len(decided):
        usual = doubts[decided].mean() + STANDS_OUT * doubts[decided].std()
        stands_out[decided] = doubts[decided] > usual
    stands_out[answers[near >= far]] = True
    return doubts, stands_out


def place_among_likes(doubts: np.ndarray, is_pair: np.ndarray) -> np.ndarray:
    """The share of its likes, pairs or others, doubted no more than an answer; 0 without doubt."""
    places = np.zeros(len(doubts))
    for group in (is_pair, ~is_pair):
        among = np.sort(doubts[group])
        places[group] = np.searchsorted(among, doubts[group], "right") / max(len(among), 1)
    return np.where(doubts > 0, places, 0.0)
