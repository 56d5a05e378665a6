"""Clusters for groups that no answer names: fewer groups are known than clusters are asked for.

    seeds   = the known rows, and of every cluster without answers that matches no known group the
              half of its rows that are most typical: nearest to its center, or by its map
    M       = memberships spread from the seeds, as for known groups
    M[:, u] = c M[:, u] of the unnamed groups u, with the largest c <= 1 at which they win no larger
              share of the rows than rows of unseen groups may be, by the known rows; c >= 1/20

Of n rows drawn at random, f1 are alone in their group: f1 / n estimates the share of all rows whose
group was not drawn. One more row alone, and one standard error, are allowed for. Still the share is
uncertain: rows that are twenty times as likely in an unnamed group stay there.
Reference: good1953 for the share of unseen groups.
"""

import numpy as np

from likewise.cluster import add_clusters

CORE = 0.5  # share of a cluster's rows that stand for a group that no answer names
LEAST_FACTOR = 1 / 20  # of memberships in unnamed groups


def seed_unnamed(
    groups: np.ndarray, clusters: np.ndarray, sq_dists: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Groups (n,) of the known rows and of rows that stand for unnamed groups; -1 for the others.

    Parameters
    ----------
    groups : ndarray of shape (n,)
        The group of each known row, -1 for the others.
    clusters : ndarray of shape (n,)
        Clusters found without answers.
    sq_dists : ndarray of shape (n,)
        Squared distances to their centers, or any other number that grows with them.
    """
    n_groups = int(groups.max()) + 1
    numbered = add_clusters(groups, clusters, n_groups, n_clusters)
    seeds = groups.copy()
    for group in range(n_groups, n_clusters):
        members = np.flatnonzero(numbered == group)
        nearest = members[np.argsort(sq_dists[members], kind="stable")]
        if not len(nearest):  # all rows of that cluster are known: a row far from all centers
            free = np.flatnonzero(seeds < 0)
            nearest = free[np.argsort(-sq_dists[free], kind="stable")[:1]]
        seeds[nearest[: int(np.ceil(CORE * len(nearest)))]] = group
    return seeds


def unseen_share(groups: np.ndarray) -> float:
    """The largest share of rows that groups without a known row may have, in all probability."""
    sizes = np.bincount(groups[groups >= 0])
    n_known = sizes.sum()
    share = (np.count_nonzero(sizes == 1) + 1) / (n_known + 1)
    return float(min(share + np.sqrt(share * (1 - share) / n_known), 1.0))


def limit_unnamed(memberships: np.ndarray, n_groups: int, share: float) -> np.ndarray:
    """Memberships (n, k) whose columns from `n_groups` on win at most a share of the rows.

    Rows where they are twenty times as likely are theirs even so, and each keeps its most typical.
    """
    named, unnamed = memberships[:, :n_groups], memberships[:, n_groups:]
    if unnamed.shape[1] == 0:
        return memberships
    tiny = np.finfo(float).tiny
    leads = np.log(np.maximum(unnamed.max(axis=1), tiny)) - np.log(
        np.maximum(named.max(axis=1), tiny)
    )
    log_factor = min(0.0, max(np.log(LEAST_FACTOR), -float(np.quantile(leads, 1 - share))))
    limited = np.hstack([named, unnamed * np.exp(log_factor)])
    limited /= limited.sum(axis=1, keepdims=True)
    typical = unnamed.argmax(axis=0)  # no cluster is empty
    limited[typical] = np.eye(memberships.shape[1])[n_groups + np.arange(unnamed.shape[1])]
    return limited
