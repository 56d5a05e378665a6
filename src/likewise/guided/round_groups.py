"""Are groups round? Then rows beyond the graph go to the nearest mean, and not to their neighbors.

    by neighbors   the memberships of the nearest other rows of the graph
    by means       the nearest mean, in the features, of the groups that rows of the graph have

The graph knows more about its own rows than ten of them tell about another: among 3,000 rows in 32
dimensions most neighbors of a row of a small group are of large ones. Both ways are tried on the
rows of the graph: how many get the group that they have there, each group counted alike? Means are
taken where they lead neighbors in the features by two standard errors, and are not behind neighbors
in the learned space by two. Then rows of the graph go to the nearest mean, too, but for the known
ones, so that `predict` says of them what `fit` did. Means cost a row a thirtieth (decision 90).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from likewise.guided.fewer_directions import along, anchor_directions
from likewise.guided.placed import mean_of, share_by_distance
from likewise.kernels import combine, nearest_rows, sq_distances, weights_by_distance

N_NEIGHBORS = 10  # as in kernels.interpolation_weights
N_ERRORS = 2.0  # standard errors
LEAST = 1e-12  # a chance below counts as this


class RoundGroups(NamedTuple):
    """Groups whose means place rows of the graph better than neighbors do."""

    means: np.ndarray  # (k, d)
    sq_unit: float  # of memberships by squared distances to them
    share_by_means: float  # of the rows of the graph that they place as it does, groups alike
    share_by_neighbors: float  # the same by neighbors in the features


def find_round_groups(
    X: np.ndarray, memberships: np.ndarray, learned: np.ndarray | None
) -> RoundGroups | None:
    """Means of the groups of the rows of a graph (m, d); None where neighbors place them better.

    `memberships` (m, k) are those over the graph; `learned` are its rows where others look for
    their neighbors, None if that is in the features.
    """
    own, k = memberships.argmax(axis=1), memberships.shape[1]
    means = np.array([mean_of(X, own == group) for group in range(k)])
    sq_dists = sq_distances(X, means)
    by_means = sq_dists.argmin(axis=1) == own
    by_neighbors = place_by_others(along(X, anchor_directions(X)), memberships) == own
    lead, error = mean_lead(by_means, by_neighbors, own)
    if lead <= N_ERRORS * error:
        return None
    if learned is not None:
        by_learned = place_by_others(learned, memberships) == own
        lead, error = mean_lead(by_means, by_learned, own)
        if lead < -N_ERRORS * error:
            return None
    shares = [mean_lead(right, np.zeros_like(own), own)[0] for right in (by_means, by_neighbors)]
    return RoundGroups(means, fit_unit(sq_dists, memberships), *shares)


def place_by_others(Z: np.ndarray, memberships: np.ndarray) -> np.ndarray:
    """(m,) groups of rows by the memberships (m, k) of the nearest other rows."""
    columns, sq_dists = nearest_rows(Z, Z, min(N_NEIGHBORS + 1, len(Z) - 1), exclude_self=True)
    return combine(memberships, columns, weights_by_distance(sq_dists)).argmax(axis=1)


def mean_lead(first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """How many more rows (m,) the first gets right, a mean over groups, and its standard error."""
    leads = first.astype(float) - second
    found = [leads[groups == group] for group in np.unique(groups)]
    errors = [np.mean(lead**2) / len(lead) for lead in found]
    return float(np.mean([lead.mean() for lead in found])), float(np.sqrt(sum(errors)) / len(found))


def fit_unit(sq_dists: np.ndarray, memberships: np.ndarray) -> float:
    """The unit in which memberships by squared distances (m, k) are most like those given."""
    usual = sq_dists.min(axis=1).mean() / 2 or 1.0

    def loss(log_factor):
        shares = share_by_distance(sq_dists, usual * np.exp(log_factor))
        return -(memberships * np.log(np.maximum(shares, LEAST))).sum()

    found = minimize_scalar(loss, bounds=(-5.0, 2.0), method="bounded")
    return float(usual * np.exp(found.x))
