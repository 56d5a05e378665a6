"""Labels that keep every cannot-link, each point as near to its center as the others allow.

Whether k clusters can keep all cannot-links is graph coloring, NP-complete. Only the k-core can
make it hard: a point with fewer than k neighbors always finds a free cluster, so such points are
peeled off, round by round, and assigned last, those that would lose most first. The core is
searched most-constrained point first, with backtracking, within a budget of steps.
Reference: brelaz1979 (most constrained first).
"""

import heapq
from typing import NamedTuple

import numpy as np

from likewise.cluster.coloring import color_classes, neighbor_lists

N_CLIQUE_STARTS = 1000  # points from which a clique is grown; a clique is proof, missing one is not


class ColorClass(NamedTuple):
    points: np.ndarray  # no two of them are linked
    position: np.ndarray  # for each link of theirs: which of the points it leaves
    others: np.ndarray  # and where it leads


class Apart(NamedTuple):
    """Cannot-links among points 0 .. p - 1, prepared for assigning again and again."""

    neighbors: list[list[int]]
    core: list[int]  # each has k neighbors or more inside the core
    rounds: list[np.ndarray]  # all others, in an order that never gets stuck
    classes: list[ColorClass]


class Search(NamedTuple):
    labels: np.ndarray | None  # (p,); None when not found
    exhausted: bool  # every assignment was tried: there is none


def prepare_links(links: np.ndarray, n_points: int, n_clusters: int) -> Apart:
    """Peel the k-core and color the graph of the cannot-links (q, 2), each given once."""
    neighbors = neighbor_lists(links, n_points)
    degrees = np.array([len(others) for others in neighbors], dtype=np.int64)
    remaining = np.ones(n_points, dtype=bool)
    rounds = []
    layer = np.flatnonzero(degrees < n_clusters)
    while len(layer):
        rounds.append(layer)
        remaining[layer] = False
        for point in layer.tolist():
            for other in neighbors[point]:
                degrees[other] -= 1
        layer = np.flatnonzero(remaining & (degrees < n_clusters))
    ends = np.concatenate([links, links[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    starts = np.searchsorted(ends[:, 0], np.arange(n_points + 1))
    classes = []
    for points in color_classes(links, n_points):
        counts = starts[points + 1] - starts[points]
        position = np.repeat(np.arange(len(points)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        classes.append(ColorClass(points, position, ends[starts[points][position] + within, 1]))
    return Apart(neighbors, np.flatnonzero(remaining).tolist(), rounds[::-1], classes)


def find_clique(apart: Apart, n_clusters: int) -> list[int]:
    """n_clusters + 1 points, each kept apart from every other, if greedy growing finds them."""
    inside = set(apart.core)
    degree = {point: sum(other in inside for other in apart.neighbors[point]) for point in inside}
    for start in sorted(apart.core, key=lambda point: -degree[point])[:N_CLIQUE_STARTS]:
        clique = [start]
        candidates = inside.intersection(apart.neighbors[start])
        while candidates and len(clique) <= n_clusters:
            clique.append(max(sorted(candidates), key=lambda point: degree[point]))
            candidates.intersection_update(apart.neighbors[clique[-1]])
        if len(clique) > n_clusters:
            return sorted(clique)
    return []


def assign(costs: np.ndarray, apart: Apart, *, budget: int) -> Search:
    """Labels that keep every cannot-link at little cost; ``costs`` is (p, k)."""
    n_clusters = costs.shape[1]
    preferences = np.argsort(costs, axis=1, kind="stable").tolist()
    best_two = np.partition(costs, min(1, n_clusters - 1), axis=1)[:, :2]
    regrets = best_two[:, -1] - best_two[:, 0]
    found = search_core(apart, preferences, regrets, n_clusters, budget)
    if found.labels is None:
        return found
    labels = found.labels.tolist()
    for points in apart.rounds:
        for point in points[np.argsort(-regrets[points], kind="stable")].tolist():
            taken = {labels[other] for other in apart.neighbors[point]}
            labels[point] = next(label for label in preferences[point] if label not in taken)
    return Search(np.array(labels, dtype=np.int64), exhausted=False)


def search_core(
    apart: Apart, preferences: list[list[int]], regrets: np.ndarray, n_clusters: int, budget: int
) -> Search:
    """Labels of the core, -1 outside: depth first, the fewest clusters left first."""
    inside = set(apart.core)
    neighbors = {v: [u for u in apart.neighbors[v] if u in inside] for v in apart.core}
    rank = {v: (-len(neighbors[v]), -float(regrets[v])) for v in apart.core}
    uses = {v: [0] * n_clusters for v in apart.core}  # how many neighbors have each label
    blocked = dict.fromkeys(apart.core, 0)  # how many labels some neighbor has
    labels: dict[int, int] = {}
    members = [0] * n_clusters
    queue = [(0, *rank[v], v) for v in apart.core]
    heapq.heapify(queue)
    trail: list[tuple[int, list[int]]] = []  # points assigned, with the labels still to try
    n_steps = 0

    def put(v: int, label: int) -> None:
        labels[v] = label
        members[label] += 1
        for u in neighbors[v]:
            uses[u][label] += 1
            if uses[u][label] == 1:
                blocked[u] += 1
                if u not in labels:
                    heapq.heappush(queue, (-blocked[u], *rank[u], u))

    def take_back(v: int) -> None:
        label = labels.pop(v)
        members[label] -= 1
        for u in neighbors[v]:
            uses[u][label] -= 1
            if uses[u][label] == 0:
                blocked[u] -= 1
                if u not in labels:
                    heapq.heappush(queue, (-blocked[u], *rank[u], u))
        heapq.heappush(queue, (-blocked[v], *rank[v], v))

    def most_constrained() -> int:
        while True:
            saturation, _, _, v = heapq.heappop(queue)
            if v not in labels and -saturation == blocked[v]:
                return v

    while len(labels) < len(inside):
        v = most_constrained()
        choices = [label for label in preferences[v] if uses[v][label] == 0]
        # Clusters without members yet are alike as to what is possible: one of them is enough.
        unused = [label for label in choices if members[label] == 0]
        choices = [label for label in choices if members[label] or label == unused[0]][::-1]
        while not choices:
            heapq.heappush(queue, (-blocked[v], *rank[v], v))
            if not trail:
                return Search(None, exhausted=True)
            v, choices = trail.pop()
            take_back(v)
        if n_steps == budget:
            return Search(None, exhausted=False)
        n_steps += 1
        put(v, choices.pop())
        trail.append((v, choices))
    found = np.full(len(apart.neighbors), -1)
    found[list(labels)] = list(labels.values())
    return Search(found, exhausted=False)


def improve(labels: np.ndarray, costs: np.ndarray, apart: Apart) -> np.ndarray:
    """One sweep: every point to the cheapest cluster that none of its neighbors is in."""
    labels = labels.copy()
    for points, position, others in apart.classes:
        open_costs = costs[points]
        open_costs[position, labels[others]] = np.inf
        labels[points] = np.argmin(open_costs, axis=1)
    return labels
