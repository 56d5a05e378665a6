"""Clusters straight from what is known, without fitting a model.

Groups that are all known to be different are clusters: the one with the most known rows first, then
each next one that is known to be different from all before it. Other groups (rows that were kept
from one group, and not yet found to belong to another) are no clusters of their own: their rows go
to the likeliest cluster that they are not known to be different from.
"""

import numpy as np

from likewise.kernels import nearest_rows
from likewise.labeling.knowledge import Knowledge, spread_groups_known


def settled_groups(knowledge: Knowledge) -> np.ndarray:
    """(k,) groups that are pairwise known to be different, those with the most known rows first."""
    sizes = np.bincount(knowledge.groups[knowledge.known_rows], minlength=knowledge.n_groups)
    settled: list[int] = []
    for group in np.argsort(-sizes, kind="stable"):
        if knowledge.apart[group, settled].all():
            settled.append(int(group))
    return np.array(settled, dtype=np.int64)


def settled_memberships(knowledge: Knowledge) -> np.ndarray:
    """Memberships (n, k) in the settled groups; rows of other groups 0 where they are apart."""
    settled = settled_groups(knowledge)
    if len(settled) == knowledge.n_groups:
        memberships = knowledge.memberships[:, settled].copy()
    else:
        number = np.full(knowledge.n_groups + 1, -1)  # the last is for rows of no group
        number[settled] = np.arange(len(settled))
        memberships = spread_groups_known(knowledge.walks, number[knowledge.groups], len(settled))
        for group in np.setdiff1d(np.arange(knowledge.n_groups), settled):
            rows = knowledge.groups == group
            shares = memberships[rows].mean(axis=0) * ~knowledge.apart[group, settled]
            memberships[rows] = shares / (shares.sum() or 1.0)
    return fill_unreached(knowledge, memberships)


def fill_unreached(knowledge: Knowledge, memberships: np.ndarray) -> np.ndarray:
    """Rows that no walk reaches take the memberships of the nearest row that one does."""
    is_even = (memberships == memberships[:, :1]).all(axis=1)
    if memberships.shape[1] > 1 and is_even.any() and not is_even.all():
        nearest, _ = nearest_rows(knowledge.Z[is_even], knowledge.Z[~is_even], 1)
        memberships[is_even] = memberships[~is_even][nearest[:, 0]]
    return memberships
