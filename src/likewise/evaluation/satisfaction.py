"""How many answers a result satisfies, by kind.

    must_link    in one cluster
    cannot_link  in two
    odd_one_out  |z_a - z_b| < |z_a - z_odd|  and  < |z_b - z_odd|
    closer       |z_a - z_b| < |z_a - z_c|

Pairs are about clusters and are judged by labels; triples are about distances and are judged by
coordinates. Equal distances do not satisfy a triple. "Can't tell" asks for nothing and is not
judged.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, column_or_1d

from likewise.constraints import check_constraints
from likewise.numerics.pair_distances import pair_sq_distances

KINDS = ("must_link", "cannot_link", "odd_one_out", "closer")  # undecided is never judged


@dataclass(frozen=True)
class Satisfaction:
    """Shares of answers satisfied.

    Attributes
    ----------
    share : float
        Of all answers judged, by weight; nan when none was.
    shares : dict of str to float
        The same for each kind.
    counts : dict of str to int
        How many answers of each kind were judged, whatever their weight.
    """

    share: float
    shares: dict[str, float]
    counts: dict[str, int]


def satisfaction_score(Z, constraints, labels=None) -> float:
    """The share of the answers that a clustering and a space satisfy.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features) or None
        The coordinates of each row, for the triples. Triples are not judged without it.
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, for the pairs. Pairs are not judged without it.

    Returns
    -------
    float
        Between 0 and 1, answers counted by weight; nan when no answer can be judged.

    See Also
    --------
    satisfaction_report : The same by kind of answer.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import satisfaction_score
    >>> c = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2), (0, 3)])
    >>> satisfaction_score(None, c, [0, 0, 1, 0])
    0.6666666666666666
    """
    return satisfaction_report(Z, constraints, labels).share


def satisfaction_report(Z, constraints, labels=None) -> Satisfaction:
    """The shares of the answers, by kind, that a clustering and a space satisfy.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features) or None
        The coordinates of each row, for the triples. Triples are not judged without it.
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, for the pairs. Pairs are not judged without it.

    Returns
    -------
    Satisfaction
        ``.share``, ``.shares`` and ``.counts`` by kind.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import satisfaction_report
    >>> c = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2), (0, 3)], closer=[(0, 1, 3)])
    >>> result = satisfaction_report([[0.0], [1.0], [2.0], [9.0]], c, [0, 0, 0, 1])
    >>> result.shares["cannot_link"], result.share
    (0.5, 0.75)
    """
    satisfied = satisfied_answers(Z, constraints, labels)
    constraints = check_constraints(constraints, n_samples=len(Z if labels is None else labels))
    weights = constraints.weights
    counts, shares = {}, {}
    for kind in KINDS:
        at = constraints.positions(kind)
        counts[kind] = int(np.count_nonzero(~np.isnan(satisfied[at])))
        shares[kind] = weighted_mean(satisfied[at], weights[at])
    return Satisfaction(weighted_mean(satisfied, weights), shares, counts)


def satisfied_answers(Z, constraints, labels=None) -> np.ndarray:
    """Answer by answer: 1 where it is satisfied, 0 where violated, nan where it is not judged.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features) or None
        The coordinates of each row, for the triples.
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, for the pairs.

    Returns
    -------
    ndarray of shape (n_answers,)

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import satisfied_answers
    >>> c = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)], closer=[(0, 1, 2)])
    >>> satisfied_answers(None, c, [0, 0, 1])
    array([ 1.,  0., nan])
    """
    if labels is None and Z is None:
        raise ValueError("Give labels to judge pairs by, or Z to judge triples by, or both.")
    labels = None if labels is None else column_or_1d(labels)
    Z = None if Z is None else check_coordinates(Z)
    for rows in (labels, Z):
        if rows is not None:
            constraints = check_constraints(constraints, n_samples=len(rows))
    satisfied = np.full(constraints.n_answers, np.nan)
    if labels is not None:
        pairs, sign = constraints.signed_pairs()
        together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        satisfied[constraints.positions("must_link", "cannot_link")] = together == (sign > 0)
    if Z is not None:
        smaller, larger, answers = constraints.distance_inequalities()
        holds = pair_sq_distances(Z, smaller) < pair_sq_distances(Z, larger)
        satisfied[answers] = 1.0
        satisfied[answers[~holds]] = 0.0  # both inequalities of an odd one out
    return satisfied


def violated_answers(Z, constraints, labels=None) -> np.ndarray:
    """Positions of the answers that labels, for pairs, and coordinates, for triples, violate.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features) or None
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None

    Returns
    -------
    ndarray of int
        In the order of ``constraints.answers()``.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import violated_answers
    >>> c = Constraints(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 1)])
    >>> violated_answers(None, c, [0, 0, 1])
    array([1, 2])
    """
    return np.flatnonzero(satisfied_answers(Z, constraints, labels) == 0)


def check_coordinates(Z) -> np.ndarray:
    """Z as finite floats (n_samples, n_features)."""
    return check_array(Z, dtype=[np.float64, np.float32], ensure_min_samples=0, input_name="Z")


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Mean of the values that are not nan; nan when none of them weighs anything."""
    judged = ~np.isnan(values)
    total = weights[judged].sum()
    return float(values[judged] @ weights[judged] / total) if total > 0 else float("nan")
