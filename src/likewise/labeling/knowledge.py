"""What is known about the rows after every answer, quickly enough to choose the next question.

    groups       components that answers join, where must-links and cannot-links disagree by weight
    memberships  of a Gaussian field with covariance K = inv(I - alpha S) whose values are known at
                 the known rows, as in `interpolate_groups`; half as much, of one whose covariance
                 falls with distance (cluster/distance_field.py)
    Phi          K = Phi Phi' + I or so, by its largest eigenvalues: walks between known rows

Memberships are one sparse linear system with a column for each group, whatever was asked before and
in whatever order: a replayed session comes to the same state to the last bit, at the cost of one
answer. Phi does not change during a session.

Components are joined greedily, the pair with the largest weight (must-links minus cannot-links,
added up over all rows of the two) first, as long as it is positive. Without contradictions these
are the components of the must-links; with them, one wrong must-link does not join two groups that
many answers keep apart.
Reference: zhu2003 for Gaussian fields over a graph, keuper2015 for joining.
"""

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from likewise.cluster import add_distances, interpolate_groups
from likewise.constraints import Constraints
from likewise.labeling.doubtful_joins import without_outvoted
from likewise.labeling.likely_groups import LikelyGroups
from likewise.labeling.walks import ALPHA, NOISE, Walks
from likewise.numerics.threads import one_thread

TOL = 1e-7  # memberships are exact to about 1e-6
LEAST_WEIGHT = 1e-9  # between two components; below, the answers cancel out


class Founder(NamedTuple):
    """A row that was said to begin a new group."""

    row: int
    n_before: int  # answers before it
    n_new: int  # looks that said so
    elsewhere: tuple[int, ...]  # rows of the groups that other looks put it into

    def at(self, position: np.ndarray) -> "Founder":
        """The same with row i renamed position[i]."""
        elsewhere = tuple(int(position[row]) for row in self.elsewhere)
        return self._replace(row=int(position[self.row]), elsewhere=elsewhere)


class Knowledge(NamedTuple):
    """Everything known about the rows that are thought about; rows are positions among them."""

    Z: np.ndarray  # (n, d) prepared rows
    S: csr_array  # (n, n) normalized adjacency of the self-tuning graph
    groups: np.ndarray  # (n,) group of each known row, numbered by their first rows; -1 unknown
    apart: np.ndarray  # (g, g) bool, symmetric: groups known to be different
    n_groups: int
    memberships: np.ndarray  # (n, g), rows sum to 1; all alike where no walk comes; (n, 0) if g = 0
    asked: frozenset  # of tuples of rows that were asked about, see `Question.keys`
    walks: Walks  # between any rows; kept from answer to answer
    pairs: Constraints  # that made the groups
    settled_rows: frozenset = frozenset()  # looked at often enough, whatever speaks against it
    founders: tuple[Founder, ...] = ()  # rows that were said to begin a new group
    n_reviews: int = 0  # looks at a row that was looked at before
    n_changed: int = 0  # of these, with another answer
    is_uniform: np.ndarray | None = None  # (n,) rows that are a uniform draw of all; None is all
    likely: LikelyGroups | None = None  # where people answer pairs and err

    @property
    def known_rows(self) -> np.ndarray:
        """(m,) rows whose group is known, ascending."""
        return np.flatnonzero(self.groups >= 0)


def learn_quickly(
    Z: np.ndarray,
    S: csr_array,
    constraints: Constraints,
    *,
    asked: Iterable[tuple[int, ...]] = (),
    walks: Walks | None = None,
) -> Knowledge:
    """What the pairs among the answers say about all rows.

    Pass the `walks` of the last knowledge: they stay the same. Answers of weight 0 do not count. A
    row that a counted pair refers to is known, if only as a group of one.
    """
    walks = Walks(S, Z) if walks is None else walks
    pairs = without_outvoted(constraints, walks.between)
    groups, apart = join_components(pairs)
    memberships = spread_groups_known(walks, groups, len(apart))
    asked = frozenset(asked)
    return Knowledge(Z, S, groups, apart, len(apart), memberships, asked, walks, pairs)


def with_likely_groups(knowledge: Knowledge, likely: LikelyGroups) -> Knowledge:
    """The same with the groups that are settled on among the likely ones, all apart."""
    n_groups = int(likely.groups.max()) + 1
    groups = np.full(len(knowledge.groups), -1)
    groups[likely.rows] = likely.groups
    return knowledge._replace(
        groups=groups,
        apart=~np.eye(n_groups, dtype=bool),
        n_groups=n_groups,
        memberships=spread_groups_known(knowledge.walks, groups, n_groups),
        likely=likely,
    )


@one_thread()
def spread_groups_known(walks: Walks, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Memberships (n, g) from the known groups (n,); known rows have 1 in their own."""
    if not n_groups:
        return np.empty((len(groups), 0))
    memberships = interpolate_groups(
        *(walks.S, groups, n_groups),
        alpha=ALPHA,
        tol=TOL,
        noise=NOISE,
        covariance=walks.covariance,
    )
    memberships[~memberships.any(axis=1)] = 1 / n_groups
    if walks.distances is not None:
        memberships = add_distances(memberships, walks.distances.spread(groups, n_groups))
    known = np.flatnonzero(groups >= 0)
    memberships[known] = np.eye(n_groups)[groups[known]]
    return memberships


def join_components(constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Components (n,) of the rows that counted pairs refer to, others -1; which are apart (g, g).

    Components are numbered by their first rows.
    """
    pairs, sign = constraints.signed_pairs()
    weights = sign * constraints.weights[constraints.positions("must_link", "cannot_link")]
    links = net_weights(pairs[weights != 0], weights[weights != 0])
    joined = {row: row for row in links}
    waiting = [
        (-weight, a, b)
        for a, others in links.items()
        for b, weight in others.items()
        if a < b and weight > LEAST_WEIGHT
    ]
    heapq.heapify(waiting)
    members = {row: [row] for row in links}
    while waiting:
        weight, a, b = heapq.heappop(waiting)
        if a not in members or b not in members or links[a].get(b) != -weight:
            continue  # one of them was joined to another since
        for row in members.pop(b):
            joined[row] = a
            members[a].append(row)
        del links[a][b]
        for c, more in links.pop(b).items():
            if c == a:
                continue
            del links[c][b]
            links[a][c] = links[c][a] = links[a].get(c, 0.0) + more
            if links[a][c] > LEAST_WEIGHT:
                heapq.heappush(waiting, (-links[a][c], min(a, c), max(a, c)))
    groups = np.full(constraints.n_samples, -1)
    firsts = sorted(members)
    number = {first: g for g, first in enumerate(firsts)}
    for row, first in joined.items():
        groups[row] = number[first]
    apart = np.zeros((len(firsts), len(firsts)), dtype=bool)
    for a in firsts:
        for b, weight in links[a].items():
            apart[number[a], number[b]] = weight < -LEAST_WEIGHT
    return groups, apart


def net_weights(pairs: np.ndarray, weights: np.ndarray) -> dict[int, dict[int, float]]:
    """Must-links minus cannot-links between each two rows, both ways."""
    links: dict[int, dict[int, float]] = {}
    for (a, b), weight in zip(pairs.tolist(), weights.tolist()):
        links.setdefault(a, {})
        links.setdefault(b, {})
        links[a][b] = links[b][a] = links[a].get(b, 0.0) + weight
    return links
