"""Color classes of a graph: points that no edge joins, which can all move at once.

A sweep that visits linked points one after another is slow in Python. Points of one color share no
edge, so none of them sees the others' moves: moving a whole class at once is the same sweep.
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array


def neighbor_lists(edges: np.ndarray, n_points: int) -> list[list[int]]:
    """The neighbors of every point, from edges (m, 2)."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(ends), dtype=np.int8)
    graph = csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(n_points, n_points))
    neighbors, starts = graph.indices.tolist(), graph.indptr.tolist()
    return [neighbors[begin:end] for begin, end in pairwise(starts)]


def color_classes(edges: np.ndarray, n_points: int) -> list[np.ndarray]:
    """Split the points into classes without inner edges: greedy, most neighbors first."""
    neighbors = neighbor_lists(edges, n_points)
    colors = [-1] * n_points
    for point in sorted(range(n_points), key=lambda point: -len(neighbors[point])):
        taken = {colors[other] for other in neighbors[point]}
        color = 0
        while color in taken:
            color += 1
        colors[point] = color
    by_color = np.argsort(colors, kind="stable")
    sizes = np.bincount(colors) if n_points else np.empty(0, dtype=np.int64)
    return np.split(by_color, np.cumsum(sizes)[:-1]) if n_points else []
