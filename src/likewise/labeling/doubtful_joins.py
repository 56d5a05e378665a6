"""Answers that alone join two parts of a group: how doubtful each is, and which others outvote.

    join   a must-link without which its component falls into two parts A and B
    p      = B_AB^s / sum_e B_Ae^s and the same from B, averaged: that the parts are one group, by
             the mean walks B to each other beside those to all other components e
    wrong  = r (1 - p) / (r (1 - p) + (1 - r) p),  r the error rate: that the answer is wrong
    votes  = must-links minus cannot-links between A and B, by weight

One wrong "together" makes one group of two, and everything said about either then makes it worse.
So a doubtful join is asked about again, by other rows of the two parts (what_to_ask.py), and a join
that has no majority does not count, unless the walks speak for it.
Reference: tarjan1974 for finding all bridges of a graph in one walk.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likewise.cluster import known_components
from likewise.constraints import Constraints

SHARPNESS = 3.0  # of shares of walks, as in settled_groups
LIKELY = 0.5  # p from which an even vote leaves two parts together
LEAST_VOTES = 1e-9
CLEARLY = 0.5  # votes against a likely join that undo it: half a look

Between = Callable[[np.ndarray, np.ndarray], np.ndarray]  # walks (a, b) from rows to others


class Join(NamedTuple):
    """Two parts of a component that one must-link joins."""

    position: int  # of the must-link among the answers
    part: np.ndarray  # (a,) rows on one side
    others: np.ndarray  # (b,) rows on the other
    likely: float
    votes: float

    def wrong(self, error_rate: float) -> float:
        """The chance that the answer is wrong."""
        against = error_rate * (1 - self.likely)
        return against / (against + (1 - error_rate) * self.likely or 1.0)

    @property
    def is_outvoted(self) -> bool:
        return self.votes < (-CLEARLY if self.likely >= LIKELY else LEAST_VOTES)


def without_outvoted(constraints: Constraints, between: Between) -> Constraints:
    """The answers without joins that others outvote; the least likely one goes first."""
    while contradicts_itself(constraints):
        outvoted = [join for join in find_joins(constraints, between) if join.is_outvoted]
        if not outvoted:
            break
        worst = min(outvoted, key=lambda join: (join.likely, join.position))
        kept = np.delete(np.arange(constraints.n_answers), worst.position)
        constraints = constraints.subset(kept)
    return constraints


def contradicts_itself(constraints: Constraints) -> bool:
    """Whether must-links join rows that a cannot-link keeps apart."""
    counted = constraints.subset(constraints.weights > 0)
    if not len(counted.cannot_link):
        return False
    ends = known_components(counted).components[counted.cannot_link]
    return bool((ends[:, 0] == ends[:, 1]).any())


def find_joins(constraints: Constraints, between: Between) -> list[Join]:
    """All joins, by component."""
    pairs, sign = constraints.signed_pairs()
    positions = constraints.positions("must_link", "cannot_link")
    weights = constraints.weights[positions] * sign
    is_counted = (weights != 0) & (pairs[:, 0] != pairs[:, 1])
    pairs, positions, weights = pairs[is_counted], positions[is_counted], weights[is_counted]
    known, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    trees = walk_trees(ends[weights > 0], len(known))
    if all(not tree.bridges for tree in trees):
        return []
    walks = np.maximum(between(known, known), 0.0)
    np.fill_diagonal(walks, 0.0)
    component = np.empty(len(known), dtype=np.int64)
    for g, tree in enumerate(trees):
        component[tree.order] = g
    to_components = walks @ np.eye(len(trees))[component] / np.bincount(component)
    must_at = np.flatnonzero(weights > 0)
    joins = []
    for g, tree in enumerate(trees):
        inside = (component[ends] == g).all(axis=1)
        for link, start, end in tree.bridges:
            part = tree.order[start:end]
            others = np.concatenate([tree.order[:start], tree.order[end:]])
            is_across = np.isin(ends, part).sum(axis=1) == 1
            likely = chance_of_one_group(walks, np.delete(to_components, g, axis=1), part, others)
            votes = float(weights[is_across & inside].sum())
            position = int(positions[must_at[link]])
            joins.append(Join(position, known[part], known[others], likely, votes))
    return joins


def chance_of_one_group(
    walks: np.ndarray, elsewhere: np.ndarray, part: np.ndarray, others: np.ndarray
) -> float:
    """p, from walks (m, m) between known rows and mean ones (m, e) to the other components."""
    between = walks[np.ix_(part, others)].mean()
    shares = []
    for rows in (part, others):
        powers = np.append(elsewhere[rows].mean(axis=0), between) ** SHARPNESS
        shares.append(powers[-1] / powers.sum() if powers.sum() > 0 else 1.0)
    return float(np.mean(shares))


class Tree(NamedTuple):
    """A depth-first walk over a component."""

    order: np.ndarray  # (m,) its rows as they are met
    bridges: list[tuple[int, int, int]]  # link, start, end: it alone leads to order[start:end]


def walk_trees(links: np.ndarray, n_rows: int) -> list[Tree]:
    """Components and bridges of the graph of links (m, 2) between so many rows."""
    neighbors: list[list[tuple[int, int]]] = [[] for _ in range(n_rows)]
    for link, (a, b) in enumerate(links.tolist()):
        neighbors[a].append((b, link))
        neighbors[b].append((a, link))
    met = np.full(n_rows, -1)  # place in the order of the component
    trees = []
    for root in range(n_rows):
        if met[root] >= 0:
            continue
        order, lowest, bridges = [root], {root: 0}, []
        met[root] = 0
        stack = [(root, -1, iter(neighbors[root]))]
        while stack:
            row, came_by, rest = stack[-1]
            step = next(rest, None)
            if step is not None:
                other, link = step
                if met[other] < 0:
                    met[other] = lowest[other] = len(order)
                    order.append(other)
                    stack.append((other, link, iter(neighbors[other])))
                elif link != came_by:
                    lowest[row] = min(lowest[row], met[other])
                continue
            stack.pop()
            if stack:
                parent = stack[-1][0]
                lowest[parent] = min(lowest[parent], lowest[row])
                if lowest[row] == met[row]:
                    bridges.append((came_by, int(met[row]), len(order)))
        trees.append(Tree(np.array(order), bridges))
    return trees
