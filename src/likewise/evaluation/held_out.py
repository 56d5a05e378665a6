"""How many held-out answers the learned distances predict.

Every answer earns a credit between 0 and 1:

    odd_one_out  1 when the two named are the closest of the three pairs; shared among equals
    closer       1 when b is closer to a than c is; 1/2 when equal
    must_link    share of the cannot-links that are farther apart than it, equals half
    cannot_link  share of the must-links that are closer together than it, equals half
    undecided    none: it predicts nothing

Pairs need no threshold this way, so spaces of any scale compare: the mean credit of the must-links,
and that of the cannot-links, is the area under the ROC curve that separates them by distance. It
takes both kinds: must-links alone, or cannot-links alone, cannot be judged. Guessing earns 1/3 on
odd ones out and 1/2 on everything else. The accuracy is the mean credit by weight.
Reference: delong1988 for the standard error of the area.
"""

import numpy as np

from likewise.constraints import Constraints, check_constraints
from likewise.evaluation.satisfaction import (
    check_coordinates,
    weighted_mean,
)
from likewise.numerics.pair_distances import pair_sq_distances


def held_out_accuracy(Z, constraints) -> float:
    """The share of the answers that a space predicts; use answers it has not seen.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        All rows in the space that is judged: ``space.transform(X)``. For a clustering, one column
        per cluster with 1 where the row is in it.
    constraints : Constraints
        Answers that were held out: the second part of ``constraints.split()``.

    Returns
    -------
    float
        Between 0 and 1, answers counted by weight; nan when no answer can be judged.

    See Also
    --------
    answer_credits : The same, answer by answer.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import held_out_accuracy
    >>> Z = [[0.0], [1.0], [5.0], [6.0]]
    >>> held_out_accuracy(Z, Constraints(4, odd_one_out=[(0, 1, 2), (1, 2, 3)]))
    0.5
    >>> held_out_accuracy(Z, Constraints(4, must_link=[(0, 1), (0, 2)], cannot_link=[(1, 2)]))
    0.5
    """
    credits = answer_credits(Z, constraints)
    return weighted_mean(credits, check_constraints(constraints, n_samples=len(Z)).weights)


def answer_credits(Z, constraints) -> np.ndarray:
    """Credit of each answer, nan where it cannot be judged.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        All rows in the space that is judged.
    constraints : Constraints

    Returns
    -------
    ndarray of shape (n_answers,)
        Between 0 and 1, in the order of ``constraints.answers()``.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import answer_credits
    >>> answers = Constraints(3, odd_one_out=[(0, 1, 2), (1, 2, 0)], undecided=[(0, 1, 2)])
    >>> answer_credits([[0.0], [1.0], [5.0]], answers)
    array([ 1.,  0., nan])
    """
    Z = check_coordinates(Z)
    constraints = check_constraints(constraints, n_samples=len(Z))
    credits = np.full(constraints.n_answers, np.nan)
    odd, closer = constraints.odd_one_out, constraints.closer
    named, *others = (pair_sq_distances(Z, odd[:, ends]) for ends in ([0, 1], [0, 2], [1, 2]))
    n_equal = 1 + sum(named == other for other in others)
    is_closest = (named <= others[0]) & (named <= others[1])
    credits[constraints.positions("odd_one_out")] = is_closest / n_equal
    gap = pair_sq_distances(Z, closer[:, [0, 2]]) - pair_sq_distances(Z, closer[:, [0, 1]])
    credits[constraints.positions("closer")] = (1 + np.sign(gap)) / 2
    musts, cannots = constraints.positions("must_link"), constraints.positions("cannot_link")
    if is_judgeable(constraints)[np.concatenate([musts, cannots])].any():
        must_dists = pair_sq_distances(Z, constraints.must_link)
        cannot_dists = pair_sq_distances(Z, constraints.cannot_link)
        weights = constraints.weights
        credits[musts] = 1 - share_below(must_dists, cannot_dists, weights[cannots])
        credits[cannots] = share_below(cannot_dists, must_dists, weights[musts])
    return credits


def beats(
    credits: np.ndarray, others: np.ndarray, weights: np.ndarray, *, n_errors: float = 1.0
) -> bool:
    """Whether credits are above others for the same answers by more than `n_errors` of the gain."""
    gain, error = mean_and_error(credits - others, weights)
    return bool(gain > n_errors * error)


def mean_and_error(credits: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean along the last axis and its standard error; weights (n_answers,)."""
    means = np.average(credits, axis=-1, weights=weights)
    sq_gaps = (credits - means[..., None]) ** 2
    variances = np.average(sq_gaps, axis=-1, weights=weights)
    return means, np.sqrt(variances / max(len(weights) - 1, 1))


def gain_and_error(gains: np.ndarray, constraints: Constraints) -> tuple[float, float]:
    """Mean gain in credit of the answers that were judged, by weight, and its standard error.

    A credit of a pair is a share of the pairs of the other kind, so credits of pairs are not
    independent: the few must-links stand in those of all cannot-links. The two kinds are two
    samples, and the variance of the area under the curve is the sum of theirs (delong1988). As one
    sample of all pairs, a tenth of them must-links, its error would come out a third as large.
    """
    judged = is_judgeable(constraints)
    weights = np.where(judged, constraints.weights, 0.0)
    musts, cannots = constraints.positions("must_link"), constraints.positions("cannot_link")
    is_pair = np.isin(np.arange(constraints.n_answers), np.concatenate([musts, cannots]))
    pairs, variance = float(weights[is_pair].sum()), 0.0
    others = np.flatnonzero(judged & ~is_pair)
    samples = [(at[judged[at]], pairs) for at in (musts, cannots)]
    for at, weight in [*samples, (others, float(weights[others].sum()))]:
        if len(at):
            error = mean_and_error(gains[at], weights[at])[1]
            variance += (weight / weights.sum()) ** 2 * float(error) ** 2
    return weighted_mean(np.where(judged, gains, np.nan), weights), variance**0.5


def is_judgeable(constraints: Constraints) -> np.ndarray:
    """(n_answers,) which answers earn a credit that counts, whatever the space.

    Answers of weight 0 do not; nor do pairs when those of one kind have no weight at all.
    """
    has_weight = constraints.weights > 0
    judgeable = has_weight.copy()
    judgeable[constraints.positions("undecided", "undecided_pair")] = False
    if not all(has_weight[constraints.positions(k)].any() for k in ("must_link", "cannot_link")):
        judgeable[constraints.positions("must_link", "cannot_link")] = False
    return judgeable


def share_below(values: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each value, the weight share of the others that are smaller, equals half."""
    order = np.argsort(others, kind="stable")
    others, below = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    smaller = below[np.searchsorted(others, values, side="left")]
    not_larger = below[np.searchsorted(others, values, side="right")]
    return (smaller + not_larger) / (2 * below[-1])
