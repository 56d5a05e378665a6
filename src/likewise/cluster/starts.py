"""Where constrained k-means begins: groups that people named, and points far apart.

A start that uses the must-links takes the largest must-linked group, then the group farthest from
those taken, distances times the square root of both sizes; what is missing is drawn as in
k-means++. Few groups make a poor start, so only the first start of a fit is made this way and the
others are plain k-means++ over the groups; the objective chooses.
Reference: bilenko2004 (weighted farthest-first), arthur2007 (k-means++).
"""

from collections.abc import Iterator

import numpy as np


def starting_centers(
    points: np.ndarray, sizes: np.ndarray, n_clusters: int, n_init: int, rng
) -> Iterator[np.ndarray]:
    """``n_init`` sets of centers, (n_clusters, d), from groups of ``sizes`` rows."""
    groups = np.flatnonzero(sizes > 1)
    for start in range(n_init):
        if start == 0 and len(groups):
            chosen = groups[farthest_first(points[groups], sizes[groups], n_clusters)]
        else:
            chosen = np.empty(0, dtype=np.int64)
        yield points[spread(points, sizes, chosen, n_clusters, rng)]


def farthest_first(points: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:
    """Up to ``n_clusters`` groups: the largest, then always the farthest, large ones preferred."""
    chosen = [int(np.argmax(sizes))]
    reach = np.full(len(points), np.inf)
    while len(chosen) < min(n_clusters, len(points)):
        last = chosen[-1]
        weighted = np.sqrt(((points - points[last]) ** 2).sum(axis=1) * sizes * sizes[last])
        reach = np.minimum(reach, weighted)
        reach[chosen] = -1
        chosen.append(int(np.argmax(reach)))
    return np.array(chosen)


def spread(
    points: np.ndarray, sizes: np.ndarray, chosen: np.ndarray, n_clusters: int, rng
) -> np.ndarray:
    """Fill ``chosen`` up to ``n_clusters`` by greedy k-means++: drawn by squared distance."""
    n_trials = 2 + int(np.log(n_clusters))
    sq_norms = np.einsum("ij,ij->i", points, points)

    def sq_distances(rows) -> np.ndarray:  # (len(rows), n)
        cross = points[rows] @ points.T
        return np.maximum(sq_norms - 2 * cross + sq_norms[rows][:, None], 0)

    picked = [int(row) for row in chosen]
    if not picked:
        picked = [int(rng.choice(len(points), p=sizes / sizes.sum()))]
    nearest = sq_distances(picked).min(axis=0)
    while len(picked) < n_clusters:
        mass = np.cumsum(nearest * sizes)
        drawn = np.searchsorted(mass, rng.uniform(size=n_trials) * mass[-1])
        candidates = np.minimum(drawn, len(points) - 1)
        after = np.minimum(nearest, sq_distances(candidates))  # (n_trials, n)
        best = int(np.argmin(after @ sizes))
        nearest = after[best]
        picked.append(int(candidates[best]))
    return np.array(picked)
