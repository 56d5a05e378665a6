"""How many answers a result honors, by kind.

    must_link    in one cluster
    cannot_link  in two
    odd_one_out  |z_a - z_b| < |z_a - z_odd|  and  < |z_b - z_odd|
    closer       |z_a - z_b| < |z_a - z_c|

Pairs speak of clusters and are judged by labels; triples speak of distances and are judged by
coordinates. Equal distances do not honor a triple. "Can't tell" asks for nothing and is not judged.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, column_or_1d

from likewise.constraints import check_constraints
from likewise.numerics.pair_distances import pair_sq_distances

KINDS = ("must_link", "cannot_link", "odd_one_out", "closer")  # undecided is never judged


@dataclass(frozen=True)
class Satisfaction:
    """Shares of answers honored.

    Attributes
    ----------
    share : float
        Of all answers judged, by weight; nan when none was. ``float(result)`` is the same.
    shares : dict of str to float
        The same for each kind.
    counts : dict of str to int
        How many answers of each kind were judged, whatever their weight.
    """

    share: float
    shares: dict[str, float]
    counts: dict[str, int]

    def __float__(self) -> float:
        return self.share


def satisfaction_score(constraints, labels=None, *, Z=None) -> Satisfaction:
    """Tell which share of the answers a clustering and a space honor.

    Parameters
    ----------
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, for the pairs. Pairs are not judged without it.
    Z : array-like of shape (n_samples, n_features), default=None
        The coordinates of each row, for the triples. Triples are not judged without it.

    Returns
    -------
    Satisfaction
        ``.share``, ``.shares`` and ``.counts`` by kind.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import satisfaction_score
    >>> c = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2), (0, 3)], closer=[(0, 1, 3)])
    >>> result = satisfaction_score(c, [0, 0, 0, 1], Z=[[0.0], [1.0], [2.0], [9.0]])
    >>> result.shares["cannot_link"], result.share
    (0.5, 0.75)
    """
    honored = honored_answers(constraints, labels, Z=Z)
    constraints = check_constraints(constraints, n_samples=len(Z if labels is None else labels))
    weights = constraints.weights
    counts, shares = {}, {}
    for kind in KINDS:
        at = constraints.positions(kind)
        counts[kind] = int(np.count_nonzero(~np.isnan(honored[at])))
        shares[kind] = weighted_mean(honored[at], weights[at])
    return Satisfaction(weighted_mean(honored, weights), shares, counts)


def honored_answers(constraints, labels=None, *, Z=None) -> np.ndarray:
    """Answer by answer: 1 where it holds, 0 where it is broken, nan where it is not judged.

    Parameters
    ----------
    constraints : Constraints
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, for the pairs.
    Z : array-like of shape (n_samples, n_features), default=None
        The coordinates of each row, for the triples.

    Returns
    -------
    ndarray of shape (n_answers,)

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import honored_answers
    >>> c = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)], closer=[(0, 1, 2)])
    >>> honored_answers(c, [0, 0, 1])
    array([ 1.,  0., nan])
    """
    if labels is None and Z is None:
        raise ValueError("Give labels to judge pairs by, or Z to judge triples by, or both.")
    labels = None if labels is None else column_or_1d(labels)
    Z = None if Z is None else check_coordinates(Z)
    for rows in (labels, Z):
        if rows is not None:
            constraints = check_constraints(constraints, n_samples=len(rows))
    honored = np.full(constraints.n_answers, np.nan)
    if labels is not None:
        pairs, sign = constraints.signed_pairs()
        together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        honored[constraints.positions("must_link", "cannot_link")] = together == (sign > 0)
    if Z is not None:
        smaller, larger, answers = constraints.distance_inequalities()
        holds = pair_sq_distances(Z, smaller) < pair_sq_distances(Z, larger)
        honored[answers] = 1.0
        honored[answers[~holds]] = 0.0  # both inequalities of an odd one out
    return honored


def check_coordinates(Z) -> np.ndarray:
    """Z as finite floats (n_samples, n_features)."""
    return check_array(Z, dtype=[np.float64, np.float32], ensure_min_samples=0, input_name="Z")


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Mean of the values that are not nan; nan when none of them weighs anything."""
    judged = ~np.isnan(values)
    total = weights[judged].sum()
    return float(values[judged] @ weights[judged] / total) if total > 0 else float("nan")
