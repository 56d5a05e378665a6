"""Where constrained k-means starts: groups that people named, and points far apart.

A start that uses the must-links takes the largest must-linked group, then the group farthest from
those taken, with distances multiplied by the square root of both sizes; missing centers are drawn
as in k-means++. Few groups, or groups merged by a wrong answer, make a poor start, so only the
first start of a fit is made this way, the others are plain k-means++, and the best result is kept.
Reference: bilenko2004 (weighted farthest-first), arthur2007 (k-means++).
"""

from collections.abc import Iterator

import numpy as np

from likewise.numerics.threads import one_thread_if_small


def starting_centers(
    points: np.ndarray,  # (p, d) to draw from
    weights: np.ndarray,  # (p,)
    groups: np.ndarray,  # (g, d) means of the must-linked groups
    sizes: np.ndarray,  # (g,) their rows; those of one row do not count as groups
    *,
    n_clusters: int,
    n_init: int,
    rng,
) -> Iterator[np.ndarray]:
    """``n_init`` sets of centers, each (n_clusters, d)."""
    named = np.flatnonzero(sizes > 1)
    for start in range(n_init):
        given = named[:0]
        if start == 0 and len(named):
            given = named[farthest_first(groups[named], sizes[named], n_clusters)]
        yield spread(points, weights, groups[given], n_clusters, rng)


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


@one_thread_if_small(lambda points, *_: points.size)
def spread(
    points: np.ndarray, weights: np.ndarray, given: np.ndarray, n_clusters: int, rng
) -> np.ndarray:
    """Add points to the ``given`` centers by greedy k-means++: drawn by squared distance."""
    n_trials = 2 + int(np.log(n_clusters))
    sq_norms = np.einsum("ij,ij->i", points, points)

    def sq_distances(centers) -> np.ndarray:  # (len(centers), p)
        own = np.einsum("ij,ij->i", centers, centers)
        return np.maximum(sq_norms - 2 * centers @ points.T + own[:, None], 0)

    centers = given
    if not len(centers):
        centers = points[[rng.choice(len(points), p=weights / weights.sum())]]
    nearest = sq_distances(centers).min(axis=0)
    while len(centers) < n_clusters:
        mass = np.cumsum(nearest * weights)
        drawn = np.searchsorted(mass, rng.uniform(size=n_trials) * mass[-1])
        candidates = points[np.minimum(drawn, len(points) - 1)]
        after = np.minimum(nearest, sq_distances(candidates))  # (n_trials, p)
        best = int(np.argmin(after @ weights))
        nearest = after[best]
        centers = np.concatenate([centers, candidates[[best]]])
    return centers
