"""How sure memberships may be: the share of them that answers want spread evenly over the clusters.

    max_e  log(1 - e) + sum_i w_i log Bernoulli(happened_i; (1 - e) p_i + e b)      0 <= e < 1

    of rows    p_i: the largest membership of a known row, b = 1 / k; it happened that its group is
               the one that most of the other known rows of its cluster are in
    of pairs   p_i: the chance that both rows are in one cluster, the sum of the products of their
               memberships; it happened that people put them together. A share e of the memberships
               is 1 - (1 - e)^2 of p_i, and b = 1 / k

    memberships = (1 - e) memberships + e / k

The memberships must not know the answers: those of clusters without answers, where nothing is
learned, or learned without a fold of them. Clusters on a map hold nearly all of every row, whatever
the classes are; what is nearly 1 everywhere has no order that a power of it could use, but a share
of it can be wrong anywhere. The row's cluster stays the same. The objective is concave in e: its
slope is zero at the solution, or negative at 0. log(1 - e) counts as one more answer that happened
for sure. We differ from guo2017 in that: it fits a power.
"""

import numpy as np
from scipy.optimize import brentq

TINY = 1e-9  # chances are no nearer to 0 and 1


def spread_evenly(memberships: np.ndarray, evenness: float) -> np.ndarray:
    """Memberships (n, k) of which a share is the same in all clusters."""
    return (1 - evenness) * memberships + evenness / memberships.shape[1]


def evenness_by_groups(memberships: np.ndarray, groups: np.ndarray) -> float:
    """The share, by known rows' memberships (m, k) found without their groups (m,)."""
    happened = are_like_others(memberships.argmax(axis=1), groups)
    is_judged = ~np.isnan(happened)
    chances = memberships.max(axis=1)[is_judged]
    return fit_evenness(chances, happened[is_judged], base=1 / memberships.shape[1])


def evenness_by_pairs(
    first: np.ndarray, second: np.ndarray, sign: np.ndarray, weights: np.ndarray
) -> float:
    """The share, by memberships (m, k) of both rows of pairs, found without them."""
    together = (first * second).sum(axis=1)
    spread = fit_evenness(together, sign > 0, weights, base=1 / first.shape[1])
    return float(1 - np.sqrt(1 - spread))


def fit_evenness(
    chances: np.ndarray, happened: np.ndarray, weights: np.ndarray | None = None, *, base: float
) -> float:
    """e at the maximum, by chances (m,) of what happened or not; 0 where that is at most there."""
    chances = np.clip(chances, TINY, 1 - TINY)
    happened = np.asarray(happened, dtype=float)
    weights = np.ones(len(chances)) if weights is None else weights

    def slope(evenness):
        return slope_of_likelihood(evenness, chances, happened, weights, base)

    if slope(0) <= 0:
        return 0.0
    most = 1 - TINY
    return float(brentq(slope, 0, most)) if slope(most) < 0 else most  # beyond, by huge weights


def slope_of_likelihood(
    evenness: float, chances: np.ndarray, happened: np.ndarray, weights: np.ndarray, base: float
) -> float:
    """Derivative of the objective; falls with `evenness`."""
    evened = (1 - evenness) * chances + evenness * base
    slopes = (base - chances) * (happened / evened - (1 - happened) / (1 - evened))
    return float(weights @ slopes - 1 / (1 - evenness))


def are_like_others(clusters: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(m,) whether most of the other rows of a row's cluster are in its group; nan without others.

    Where several groups have most, so large a share of it.
    """
    n_rows = np.zeros((clusters.max(initial=0) + 1, groups.max(initial=0) + 1))
    np.add.at(n_rows, (clusters, groups), 1)
    own = np.arange(len(groups)), groups
    n_others = n_rows[clusters]  # (m, n_groups)
    n_others[own] -= 1
    most = n_others.max(axis=1, keepdims=True)
    are_most = n_others == most
    return np.where(most[:, 0] > 0, are_most[own] / are_most.sum(axis=1), np.nan)
