"""The rows that memberships are spread over: a draw of all, and more of groups with few of them.

    first    a uniform draw and the known rows: memberships over their graph, and of all rows by the
             nearest of these
    then     of each group with fewer than LEAST rows in it, more of the rows that are placed there;
             over those memberships are spread once more

A group of one row in three hundred has ten rows of a draw of 3,000: its walks end before they have
seen its border, and neighbors of its rows are those of a large group (decision 75).
"""

from typing import NamedTuple

import numpy as np

from likewise.guided.fewer_directions import along, anchor_directions
from likewise.guided.known_groups import GroupedRows, WeighedSpaces, cluster_by_groups
from likewise.guided.placed import share_by_neighbors

LEAST = 100  # rows of a group, where so many are placed there; at most half of its even share


class Spread(NamedTuple):
    """Memberships over a graph, and those of all rows beside it."""

    grouped: GroupedRows
    rows: np.ndarray  # (m,) of the graph, ascending
    Z: np.ndarray  # (n, r) all rows in the space with the most weight
    directions: np.ndarray | None  # (r, q) in which rows look for neighbors; None is all
    memberships: np.ndarray  # (n, k)


def spread_over(
    X: np.ndarray,
    groups: np.ndarray,
    weighed: WeighedSpaces,
    rows: np.ndarray,
    seeds: np.ndarray,
    n_clusters: int,
) -> Spread:
    """Memberships over the graph of some rows; the others take those of their neighbors."""
    grouped = cluster_by_groups(X[rows], groups[rows], weighed, seeds=seeds, n_clusters=n_clusters)
    Z = X if grouped.learner is None else grouped.learner.transform(X)
    memberships, there = grouped.memberships, anchor_directions(Z[rows])
    if len(rows) < len(X):
        memberships = share_by_neighbors(along(Z, there), along(Z[rows], there), memberships)
        memberships[rows] = grouped.memberships
    return Spread(grouped, rows, Z, there, memberships)


def add_small_groups(rows: np.ndarray, labels: np.ndarray, n_groups: int, seed: int) -> np.ndarray:
    """The rows, ascending, and more of those groups (n,) that have few of them."""
    wanted = min(LEAST, len(rows) // (2 * n_groups))
    missing = wanted - np.bincount(labels[rows], minlength=n_groups)
    rng = np.random.default_rng(seed)
    is_free = np.ones(len(labels), dtype=bool)
    is_free[rows] = False
    added = [rows]
    for group in np.flatnonzero(missing > 0):
        members = np.flatnonzero((labels == group) & is_free)
        added.append(rng.permutation(members)[: missing[group]])
    return np.sort(np.concatenate(added))
