"""Answers that cannot all be true, each with the shortest set of others that proves it.

Pairs:    a cannot-link (i, j) contradicts a path of must-links from i to j.
Triples:  an answer about three rows says that one distance is smaller than another. Take a node
          for every unordered pair of rows and an edge for every "smaller than"; "can't tell" gives
          edges both ways. Pairs known to be together lie below those known to be apart. An
          inequality is contradicted when a path leads back from its larger side to its smaller.

Rules:    a path of must-links that joins two rows of one exclusive group contradicts the group.

Finding them takes one pass of connected components, so a million answers take seconds; a witness
is computed when it is first used. Nothing here raises: a contradiction is data.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from likewise.constraints.closure import Closure, link_graph, pair_codes

PAIR_LEVEL = -1  # the edge from "together" to "apart" is no answer; the paths at its ends are


class InconsistentConstraints(ValueError):
    """Hard constraints that cannot all be satisfied; ``witness`` has the answers that prove it.

    Parameters
    ----------
    message : str
        One line: what contradicts what, and the way out.
    witness : tuple of int, default=()
        Positions, in ``constraints.answers()``, of the answers that together prove it.

    Examples
    --------
    >>> from likewise import COPKMeans, Constraints, InconsistentConstraints
    >>> answers = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)])
    >>> try:
    ...     COPKMeans(2).fit([[0.0], [1.0], [2.0]], constraints=answers)
    ... except InconsistentConstraints as error:
    ...     print(error.witness)
    (1, 0)
    """

    def __init__(self, message: str, witness: tuple[int, ...] = ()):
        super().__init__(message)
        self.witness = witness


@dataclass(frozen=True)
class Conflict:
    """One answer and the shortest list of others that contradicts it.

    Attributes
    ----------
    answer : int
        Position of the answer in ``constraints.answers()``.
    witness : tuple of int
        Positions of the other answers: they and this one cannot all be true.
    message : str
        The same in words.
    """

    answer: int
    witness: tuple[int, ...]
    message: str

    def __str__(self) -> str:
        return self.message


class Conflicts(Sequence):
    """Every contradiction, in the order of the answers; a witness is computed when first used.

    ``len`` counts them, ``answers`` has their positions, indexing and iterating give each as a
    ``Conflict``. A cannot-link is listed once for itself; of contradictory triples each is listed
    with the shortest cycle through it, so two such triples appear twice, once from each side. After
    the answers that contradict each other come the must-links that contradict an exclusive group.
    """

    def __init__(self, constraints, closure: Closure):
        self._constraints = constraints
        self._links = _MustLinks(constraints, closure)
        # Exclusive groups say nothing about distances.
        self._order = _DistanceOrder(constraints, replace(closure, exclusive=()))
        clashing_pairs = self._links.contradicted()
        answers = np.union1d(clashing_pairs, self._order.contradicted()).astype(np.int64)
        self._is_pair = np.isin(answers, clashing_pairs)
        self._joined = joined_in_groups(constraints.exclusive, closure.components)
        self.n_against_groups = len(self._joined)
        firsts = [self._links.why_together(i, j)[0] for _, i, j in self._joined]
        self.answers = np.concatenate([answers, np.array(firsts, dtype=np.int64)])

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        answer = int(self.answers[index])
        index = range(len(self))[index]
        if index >= len(self._is_pair):
            return self._against_group(*self._joined[index - len(self._is_pair)])
        if self._is_pair[index]:
            path = self._links.path(*self._constraints.points_of(answer))
            witness = self._links.answers_along(path)
            trail = "-".join(self._constraints.row_name(row) for row in path)
            message = (
                f"{self._constraints.describe(answer)} contradicts the must-link path {trail}."
            )
        else:
            witness = self._order.witness(answer, self._links)
            others = "; ".join(self._constraints.describe(other) for other in witness)
            message = f"{self._constraints.describe(answer)} contradicts {others}."
        return Conflict(answer, witness, message)

    def _against_group(self, group: int, i: int, j: int) -> Conflict:
        path = self._links.path(i, j)
        answer, *others = self._links.answers_along(path)
        trail = "-".join(self._constraints.row_name(row) for row in path)
        names = " and ".join(self._constraints.row_name(row) for row in (i, j))
        message = (
            f"exclusive[{group}] keeps {names} apart, but the must-link path {trail} joins them."
        )
        return Conflict(answer, tuple(others), message)

    def __repr__(self) -> str:
        return f"<{len(self)} conflicts>"


def joined_in_groups(groups, components: np.ndarray) -> list[tuple[int, int, int]]:
    """An exclusive group and two of its rows that must-links join: one for each such component."""
    joined = []
    for number, rows in enumerate(groups):
        own = components[rows]
        names, first, counts = np.unique(own, return_index=True, return_counts=True)
        for name, at in zip(names[counts > 1], first[counts > 1]):
            second = rows[np.flatnonzero(own == name)[1]]
            joined.append((number, int(rows[at]), int(second)))
    return joined


class _MustLinks:
    """Shortest paths over the must-links, and which answer each step is."""

    def __init__(self, constraints, closure: Closure):
        self.closure = closure
        self.n_samples = constraints.n_samples
        self.pairs = constraints.must_link
        self.positions = constraints.positions("must_link")
        self.cannot_link = constraints.cannot_link
        self.apart_positions = constraints.positions("cannot_link")
        codes = pair_codes(self.pairs, self.n_samples)
        self.codes, first = np.unique(codes, return_index=True)
        self.answer_of = self.positions[first]
        self.tree = lru_cache(maxsize=4)(self._tree)

    def contradicted(self) -> np.ndarray:
        ends = self.closure.components[self.cannot_link]
        return self.apart_positions[ends[:, 0] == ends[:, 1]]

    def _tree(self, source: int) -> np.ndarray:
        graph = link_graph(self.pairs, self.n_samples).tocsr()
        return breadth_first_order(graph, source, directed=False)[1]

    def path(self, start: int, end: int) -> list[int]:
        """Rows from start to end along the fewest must-links."""
        predecessors = self.tree(int(end))
        rows = [int(start)]
        while rows[-1] != end:
            rows.append(int(predecessors[rows[-1]]))
        return rows

    def answers_along(self, path: list[int]) -> tuple[int, ...]:
        steps = np.stack([path[:-1], path[1:]], axis=1).astype(np.int64)
        positions = np.searchsorted(self.codes, pair_codes(steps, self.n_samples))
        return tuple(int(answer) for answer in self.answer_of[positions])

    def why_together(self, i: int, j: int) -> tuple[int, ...]:
        return self.answers_along(self.path(i, j))

    def why_apart(self, i: int, j: int) -> tuple[int, ...]:
        """One cannot-link between the two components, and the paths from it to i and j."""
        component = self.closure.components
        ends = component[self.cannot_link]
        straight = (ends == component[[i, j]]).all(axis=1)
        crossed = (ends == component[[j, i]]).all(axis=1)
        at = int(np.flatnonzero(straight | crossed)[0])
        near_i, near_j = self.cannot_link[at] if straight[at] else self.cannot_link[at][::-1]
        return (
            *self.why_together(i, near_i),
            int(self.apart_positions[at]),
            *self.why_together(near_j, j),
        )


class _DistanceOrder:
    """The graph of "this distance is smaller than that one" over unordered pairs of rows."""

    def __init__(self, constraints, closure: Closure):
        lower, upper, answers = constraints.distance_inequalities()
        undecided = constraints.undecided
        n = self.n_samples = constraints.n_samples
        equal_from = undecided[:, [0, 1, 0, 1, 0, 2, 0, 2, 1, 2, 1, 2]].reshape(-1, 2)
        equal_to = undecided[:, [0, 2, 1, 2, 0, 1, 1, 2, 0, 1, 0, 2]].reshape(-1, 2)
        tails, heads = np.concatenate([lower, equal_from]), np.concatenate([upper, equal_to])
        self.codes, nodes = np.unique(
            pair_codes(np.concatenate([tails, heads]), n), return_inverse=True
        )
        tails, heads = nodes[: len(tails)], nodes[len(tails) :]
        known = closure.known(self._rows_of(np.arange(len(self.codes))))
        together, apart = np.flatnonzero(known == 1), np.flatnonzero(known == -1)
        self.together, self.apart = len(self.codes), len(self.codes) + 1  # two nodes more
        n_pair_edges = len(together) + 1 + len(apart)
        self.tails = np.concatenate([tails, together, [self.together], apart * 0 + self.apart])
        self.heads = np.concatenate([heads, together * 0 + self.together, [self.apart], apart])
        self.edge_answers = np.concatenate(
            [
                answers,
                np.repeat(constraints.positions("undecided"), 6),
                np.full(n_pair_edges, PAIR_LEVEL),
            ]
        )
        self.strict = slice(len(answers))
        self.equal = slice(len(answers), len(answers) + 6 * len(undecided))
        self.to_together = self._equal_steps_to(together)
        self.to_apart = self._equal_steps_to(apart)
        self.by_tail = np.argsort(self.tails, kind="stable")
        n_nodes = len(self.codes) + 2
        self.starts = np.searchsorted(self.tails[self.by_tail], np.arange(n_nodes + 1))
        ones = np.ones(len(self.tails), dtype=np.int8)
        graph = coo_array((ones, (self.tails, self.heads)), shape=(n_nodes, n_nodes))
        self.knots = connected_components(graph, directed=True, connection="strong")[1]

    def _rows_of(self, nodes: np.ndarray) -> np.ndarray:
        codes = self.codes[nodes]
        return np.stack([codes // self.n_samples, codes % self.n_samples], axis=1)

    def _equal_steps_to(self, goals: np.ndarray) -> np.ndarray:
        """How many "can't tell" answers lie between each node and the nearest goal."""
        n_nodes = len(self.codes) + 2
        steps = np.full(n_nodes, np.inf)
        ends = self.tails[self.equal], self.heads[self.equal]
        if len(goals) and len(ends[0]):
            graph = coo_array((np.ones(len(ends[0])), ends), shape=(n_nodes, n_nodes)).tocsr()
            steps = dijkstra(graph, unweighted=True, indices=goals, min_only=True)
        return steps

    def contradicted(self) -> np.ndarray:
        """Strict answers inside a knot, and "can't tell" between a pair apart and one together."""
        tails, heads = self.tails[self.strict], self.heads[self.strict]
        in_knot = self.knots[tails] == self.knots[heads]
        torn = self._leads_together(self.tails[self.equal], self.heads[self.equal])
        return np.union1d(
            self.edge_answers[self.strict][in_knot], self.edge_answers[self.equal][torn]
        )

    def _leads_together(self, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """Edges on a way of "can't tell" from a pair that is apart to a pair that is together."""
        reachable = np.isfinite(self.to_apart[tails]) & np.isfinite(self.to_together[heads])
        nearer = self.to_together[heads] < self.to_together[tails]
        farther = self.to_apart[tails] < self.to_apart[heads]
        return reachable & nearer & farther

    def witness(self, answer: int, links: _MustLinks) -> tuple[int, ...]:
        """The other answers on the shortest strict cycle through this one."""
        edges = np.flatnonzero(self.edge_answers == answer)
        if edges[0] < self.strict.stop:
            in_knot = self.knots[self.tails[edges]] == self.knots[self.heads[edges]]
            cycles = [self._way(self.heads[e], self.tails[e]) for e in edges[in_knot]]
        else:  # from "apart" to one side of the answer, and from its other side to "together"
            torn = edges[self._leads_together(self.tails[edges], self.heads[edges])]
            cycles = [
                self._way(self.apart, self.tails[e]) + self._way(self.heads[e], self.together)
                for e in torn
            ]
        explained = self._explain(min(cycles, key=len), links)
        return tuple(other for other in dict.fromkeys(explained) if other != answer)

    def _way(self, start: int, goal: int) -> list[tuple]:
        """The edges of a shortest path, breadth first."""
        came_by: dict = {start: None}
        queue = deque([start])
        while goal not in came_by:
            node = queue.popleft()
            for e in self.by_tail[self.starts[node] : self.starts[node + 1]]:
                if self.heads[e] not in came_by:
                    came_by[self.heads[e]] = e
                    queue.append(self.heads[e])
        steps, node = [], goal
        while came_by[node] is not None:
            e = came_by[node]
            steps.append((self.tails[e], self.heads[e], int(self.edge_answers[e])))
            node = self.tails[e]
        return steps[::-1]

    def _explain(self, steps: list[tuple], links: _MustLinks) -> list[int]:
        """Answers along the steps; a step to or from the two extra nodes is a path of pairs."""
        answers: list[int] = []
        for tail, head, answer in steps:
            if head == self.together:
                answers += links.why_together(*self._rows_of(np.array([tail]))[0])
            elif tail == self.apart:
                answers += links.why_apart(*self._rows_of(np.array([head]))[0])
            elif tail != self.together:
                answers.append(answer)
        return answers
