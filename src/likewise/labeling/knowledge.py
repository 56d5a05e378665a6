"""What is known about the rows after every answer, quickly enough to choose the next question.

    groups       components that answers join, where must-links and cannot-links disagree by weight
    F[:, g]      mean over the known rows r of group g of  w_r = inv(I - alpha S) e_r
    memberships  rows of F divided by their sums, as in cluster/propagation.py

S does not change during a session, so the walks w_r of a row are solved once and kept. An answer
about one row then costs one linear system with one right-hand side, whatever was asked before.
They are solved one row at a time, so that they are the same to the last bit in whatever order the
answers came: a replayed session chooses the same questions.

Components are joined greedily, the pair with the largest weight (must-links minus cannot-links,
added up over all rows of the two) first, as long as it is positive. Without contradictions these
are the components of the must-links; with them, one wrong must-link does not join two groups that
many answers keep apart.
Reference: zhu2003 and zhou2004 for the memberships, keuper2015 for joining.
"""

import heapq
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from likewise.cluster import share_walks, solve_walks
from likewise.constraints import Constraints
from likewise.kernels import leading_eigenpairs
from likewise.numerics.threads import one_thread

ALPHA = 0.98  # a step over the graph, as in GraphPropagation
TOL = 1e-9
N_DIRECTIONS = 100  # of the walks; more follow single rows, and questions get no better by them
MOST_DIRECTIONS = 300  # where the graph has more pieces than that
LEAST_WEIGHT = 1e-9  # between two components; below, the answers cancel out


class Walks:
    """Walks over a graph from single rows, each solved when it is first asked for.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        Normalized adjacency.
    """

    def __init__(self, S: csr_array):
        self.S = S
        self._columns: dict[int, np.ndarray] = {}

    @cached_property
    def coordinates(self) -> np.ndarray:
        """(n, r) rows Phi, for inv(I - alpha S) = Phi Phi' by its largest eigenvalues."""
        values, vectors = leading_eigenpairs(self.S, N_DIRECTIONS)
        return (vectors / np.sqrt(1 - ALPHA * values))[:, :MOST_DIRECTIONS]

    def from_rows(self, rows: Iterable[int]) -> np.ndarray:
        """(n, m), column j: inv(I - alpha S) e for e at rows[j]. Columns are not to be changed."""
        columns = [self._solved(int(row)) for row in rows]
        return np.column_stack(columns) if columns else np.empty((self.S.shape[0], 0))

    def _solved(self, row: int) -> np.ndarray:
        if row not in self._columns:
            start = np.zeros((self.S.shape[0], 1))
            start[row] = 1.0
            self._columns[row] = solve_walks(self.S, start, alpha=ALPHA, tol=TOL).X[:, 0]
        return self._columns[row]


class Knowledge(NamedTuple):
    """Everything known about the rows that are thought about; rows are positions among them."""

    Z: np.ndarray  # (n, d) prepared rows
    S: csr_array  # (n, n) normalized adjacency of the self-tuning graph
    groups: np.ndarray  # (n,) group of each known row, numbered by their first rows; -1 unknown
    apart: np.ndarray  # (g, g) bool, symmetric: groups known to be different
    n_groups: int
    memberships: np.ndarray  # (n, g), rows sum to 1; all alike where no walk comes; (n, 0) if g = 0
    asked: frozenset  # of tuples of rows that were asked about, see `Question.keys`
    walks: Walks  # from any row; kept from answer to answer
    settled_rows: frozenset = frozenset()  # looked at often enough, whatever speaks against it
    n_reviews: int = 0  # looks at a row that was looked at before
    n_changed: int = 0  # of these, with another answer

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

    Pass the `walks` of the last knowledge: only rows that are new are then solved for. Answers of
    weight 0 do not count. A row that a counted pair refers to is known, if only as a group of one.
    """
    walks = Walks(S) if walks is None else walks
    groups, apart = join_components(constraints)
    memberships = spread_groups_known(walks, groups, len(apart))
    return Knowledge(Z, S, groups, apart, len(apart), memberships, frozenset(asked), walks)


@one_thread()
def spread_groups_known(walks: Walks, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Memberships (n, g) from the known groups (n,); known rows have 1 in their own."""
    if not n_groups:
        return np.empty((len(groups), 0))
    known = np.flatnonzero(groups >= 0)
    members = np.eye(n_groups)[groups[known]]  # (m, g)
    F = walks.from_rows(known) @ (members / members.sum(axis=0))
    memberships = share_walks(walks.S, F, alpha=ALPHA, tol=TOL)
    memberships[~memberships.any(axis=1)] = 1 / n_groups
    memberships[known] = members
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
