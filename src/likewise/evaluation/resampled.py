"""How sure a result is: intervals by resampling the answers, or the people who gave them.

    theta*_b = theta(answers of the units drawn with replacement),   b = 1 .. n_draws
    interval = quantiles of theta*_b at F(-z) and F(z)
    z        = sqrt(n / (n - 1)) times the quantile (1 + level) / 2 of Student's t, n - 1 degrees

A unit is a person where many answered, else a question: answers of one person, and answers to one
question, are alike, and intervals that took them for independent would be too narrow. Draws of n
units vary less than n units do, and how much they vary is known from n only: z, through the normal
distribution F, makes up for both.
Reference: efron1979 for the bootstrap, hesterberg2015 for z.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from scipy.stats import t as student_t
from sklearn.base import clone

from likewise.constraints import Constraints, check_constraints
from likewise.evaluation.held_out import answer_credits, is_judgeable, share_below
from likewise.evaluation.satisfaction import check_coordinates, weighted_mean
from likewise.numerics.pair_distances import pair_sq_distances
from likewise.progress import track

MANY_PEOPLE = 10  # from so many on, people are drawn and not questions

Unit = Literal["auto", "person", "question"]


class Interval(NamedTuple):
    """An estimate with an interval.

    Attributes
    ----------
    estimate : float
        From all answers.
    low, high : float
        The interval; nan where nothing can be judged.
    by : str
        What was drawn: "person" or "question".
    n_units : int
        How many of them there are.
    """

    estimate: float
    low: float
    high: float
    by: str
    n_units: int


class MembershipIntervals(NamedTuple):
    """How far memberships depend on who happened to be asked what.

    Attributes
    ----------
    low, high : ndarray of shape (n_samples, n_clusters)
        Intervals of ``predict_proba``, in the order of the model's clusters.
    stable : ndarray of shape (n_samples,)
        Share of the models from redrawn answers that put a row in the same cluster.
    by : str
        What was drawn: "person" or "question".
    n_units : int
        How many of them there are.
    """

    low: np.ndarray
    high: np.ndarray
    stable: np.ndarray
    by: str
    n_units: int


def accuracy_interval(
    Z, constraints, *, level=0.9, n_draws=500, by: Unit = "auto", random_state=0
) -> Interval:
    """The share of the answers that a space predicts, with an interval.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        All rows in the space that is judged: ``space.transform(X)``.
    constraints : Constraints
        Answers that were held out.
    level : float, default=0.9
        Chance that the interval holds the share among all such answers. Raising it widens it.
    n_draws : int, default=500
        How often answers are drawn again. More make the ends steadier.
    by : {"auto", "person", "question"}, default="auto"
        What is drawn: all answers of a person, or all answers to a question. "auto" takes people
        where ten or more answered, which says how well other people are predicted.
    random_state : int or Generator, default=0

    Returns
    -------
    Interval

    See Also
    --------
    held_out_accuracy : The share alone.

    References
    ----------
    efron1979, hesterberg2015

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints
    >>> from likewise.evaluation import accuracy_interval
    >>> y = np.arange(60) % 3
    >>> answers = Constraints.from_labels(y, n_odd_one_out=100, noise=0.2, random_state=0)
    >>> found = accuracy_interval(np.eye(3)[y], answers)
    >>> found.low < 0.8 < found.high, found.by
    (True, 'question')
    """
    Z = check_coordinates(Z)
    answers = check_constraints(constraints, n_samples=len(Z))
    check_draws(level, n_draws)
    units, by = units_of(answers, by)
    score = reweighted_accuracy(Z, answers)
    rng = np.random.default_rng(random_state)
    scores = np.array([score(counts[units]) for counts in drawn_counts(units, n_draws, rng)])
    n_units = int(units.max(initial=-1)) + 1
    can_be_judged = np.isfinite(scores).any()
    ends = quantiles(scores, widened_level(level, n_units)) if can_be_judged else (np.nan, np.nan)
    whole = score(np.ones(answers.n_answers))
    return Interval(whole, float(ends[0]), float(ends[1]), by, n_units)


def membership_intervals(
    model, X, constraints, *, level=0.9, n_draws=20, by: Unit = "auto", random_state=0
) -> MembershipIntervals:
    """Intervals for the memberships of rows, from models of answers drawn again.

    Parameters
    ----------
    model : fitted GuidedClustering
        Or any clusterer with ``predict_proba``, ``n_clusters`` and ``n_clusters_``. It stays as it
        is; copies with its number of clusters are fitted to drawn answers, so this takes
        `n_draws` times as long as its ``fit``.
    X : array-like of shape (n_samples, n_features)
        The rows of its ``fit``.
    constraints : Constraints
        The answers of its ``fit``.
    level : float, default=0.9
        Chance that an interval holds a membership, over draws of as many answers. Raising it
        widens them and asks for more draws.
    n_draws : int, default=20
        How many models are fitted. More make the ends steadier.
    by : {"auto", "person", "question"}, default="auto"
        What is drawn: all answers of a person, or all answers to a question. "auto" takes people
        where ten or more answered.
    random_state : int or Generator, default=0

    Returns
    -------
    MembershipIntervals

    References
    ----------
    efron1979, hesterberg2015

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.evaluation import membership_intervals
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = 3 * y[:, None] + rng.normal(size=(40, 2))
    >>> answers = Constraints.from_labels(y, n_pairs=30, random_state=0)
    >>> model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    >>> found = membership_intervals(model, X, answers, n_draws=3)
    >>> found.low.shape, bool((found.stable > 0.5).mean() > 0.8)
    ((40, 2), True)
    """
    shares = model.predict_proba(X)
    answers = check_constraints(constraints, n_samples=len(shares))
    check_draws(level, n_draws)
    units, by = units_of(answers, by)
    rng = np.random.default_rng(random_state)
    labels, drawn, same = shares.argmax(axis=1), [], np.zeros(len(shares))
    draws = track(drawn_counts(units, n_draws, rng), "redrawing answers", total=n_draws)
    for counts in draws:
        picked = np.repeat(np.arange(answers.n_answers), counts[units].astype(int))
        again = clone(model).set_params(n_clusters=model.n_clusters_)
        other = again.fit(X, constraints=answers.subset(picked)).predict_proba(X)
        drawn.append(in_the_order_of(shares, other))
        same += drawn[-1].argmax(axis=1) == labels
    n_units = int(units.max(initial=-1)) + 1
    low, high = quantiles(np.array(drawn), widened_level(level, n_units))
    return MembershipIntervals(low, high, same / n_draws, by, n_units)


def check_draws(level: float, n_draws: int) -> None:
    """One error for what cannot be an interval."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1.")
    if n_draws < 1:
        raise ValueError(f"n_draws={n_draws!r} must be 1 or more.")


def units_of(answers: Constraints, by: Unit) -> tuple[np.ndarray, Unit]:
    """(n_answers,) the unit of each answer, and what a unit is."""
    if by not in ("auto", "person", "question"):
        raise ValueError(f'by={by!r} must be "auto", "person" or "question".')
    if answers.annotators is None:
        if by == "person":
            raise ValueError("The answers name nobody. Give Constraints(annotators=...).")
        return answers.questions(), "question"
    names, people = np.unique(answers.annotators.astype(str), return_inverse=True)
    n_named = np.count_nonzero(names != "")
    if by == "question" or (by == "auto" and n_named < MANY_PEOPLE):
        return answers.questions(), "question"
    return people, "person"


def drawn_counts(units: np.ndarray, n_draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """How often each unit is drawn, with replacement; as many as there are."""
    n_units = int(units.max(initial=-1)) + 1
    for _ in range(n_draws):
        yield np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)


def reweighted_accuracy(Z: np.ndarray, answers: Constraints) -> Callable[[np.ndarray], float]:
    """The accuracy as a function of how often each answer counts.

    A pair's credit depends on the pairs of the other kind, so it is found again each time.
    """
    credits, weights = answer_credits(Z, answers), answers.weights
    musts, cannots = answers.positions("must_link"), answers.positions("cannot_link")
    has_pairs = is_judgeable(answers)[np.concatenate([musts, cannots])].any()
    must_dists = pair_sq_distances(Z, answers.must_link)
    cannot_dists = pair_sq_distances(Z, answers.cannot_link)

    def score(counts: np.ndarray) -> float:
        counted, drawn = weights * counts, credits.copy()
        if has_pairs:
            of_must, of_cannot = counted[musts], counted[cannots]
            if of_must.any() and of_cannot.any():
                drawn[musts] = 1 - share_below(must_dists, cannot_dists, of_cannot)
                drawn[cannots] = share_below(cannot_dists, must_dists, of_must)
            else:
                drawn[np.concatenate([musts, cannots])] = np.nan
        return weighted_mean(drawn, counted)

    return score


def widened_level(level: float, n_units: int) -> float:
    """The share of draws of so few units that an interval of this level takes."""
    if n_units < 2:
        return 1.0  # one unit is the same in every draw: nothing is known
    t_quantile = student_t.ppf((1 + level) / 2, n_units - 1)
    return float(2 * norm.cdf(np.sqrt(n_units / (n_units - 1)) * t_quantile) - 1)


def quantiles(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of an interval, along the first axis, of the draws that could be judged."""
    low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def in_the_order_of(shares: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Memberships (n, k) with clusters in the order in which they overlap most with `shares`.

    Clusters that answers drawn again do not find have memberships of 0.
    """
    overlap = shares.T @ others
    own, theirs = linear_sum_assignment(-overlap)
    ordered = np.zeros_like(shares)
    ordered[:, own] = others[:, theirs]
    return ordered
