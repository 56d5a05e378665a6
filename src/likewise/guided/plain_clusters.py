"""Clusters without answers: k-means in the features, or on a map of which rows are neighbors.

    kept = (s - e) / (1 - e)    s: share of the edges between neighbors that lie inside clusters,
                                e: the same if clusters of these sizes were drawn at random

k-means makes clusters round and of one width, whatever lies between them. On a map that only
neighbors pull together (kernels/layout.py) rows with a path of neighbors between them come close,
and k-means on it follows digits, clothes and topics better. Its areas grow with the number of
rows, however, so that it cuts large clusters in two, and where neighbors say nothing new it is the
worse of the two. So the map is taken where its clusters keep neighbors together clearly better than
those of k-means in the features do: `kept` rises by 0.02. Labels are never seen.
Decision 74 has the measurements. Reference: vandermaaten2008 for the map.
"""

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from likewise.constraints import Constraints
from likewise.evaluation import percent
from likewise.guided.fewer_directions import along, anchor_directions
from likewise.guided.placed import (
    Placed,
    largest_first,
    mean_of,
    place,
    share_by_distance,
    share_by_neighbors,
)
from likewise.kernels import lay_out, neighbor_graph, sq_distances
from likewise.numerics.rows import sample_rows
from likewise.numerics.threads import one_thread_if_small

MAP_ROWS = 3000  # that are laid out; the others take the memberships of their neighbors
FEWEST_ROWS = 50  # distinct ones, and
FEWEST_MEMBERS = 5  # of them per cluster, or there is nothing to follow
N_NEIGHBORS = 10
CLEARLY = 0.02  # by which neighbors must be kept better


def cluster_plainly(X: np.ndarray, n_clusters: int, n_init: int, seed: int) -> Placed:
    """Clusters of rows (n, d) by k-means or, where neighbors ask for it, on a map."""
    placed = place(X, Constraints(len(X)), n_clusters, n_init, seed)
    rows = sample_rows(len(X), MAP_ROWS, np.empty(0, dtype=np.int64), seed)
    anchors, first, counts = np.unique(X[rows], axis=0, return_index=True, return_counts=True)
    if n_clusters < 2 or len(anchors) < max(FEWEST_ROWS, FEWEST_MEMBERS * n_clusters):
        return placed
    graph = neighbor_graph(anchors, N_NEIGHBORS)
    memberships = share_on_map(anchors, counts, n_clusters, n_init, seed)
    kept = share_kept(graph, memberships.argmax(axis=1))
    kept_before = share_kept(graph, placed.labels[rows[first]])
    if kept < kept_before + CLEARLY:
        return placed
    there = anchor_directions(anchors)
    labels = share_near(X, anchors, memberships, there).argmax(axis=1)
    order = largest_first(labels, n_clusters)
    labels = np.argsort(order)[labels]
    centers = np.array([mean_of(X, labels == cluster) for cluster in range(n_clusters)])
    why = (
        f"on a map of which rows are neighbors, whose clusters keep {percent(kept)} of neighbors "
        f"together beyond chance; those of k-means in the features, {percent(kept_before)}"
    )
    return Placed(labels, centers, anchors, memberships[:, order], there, why)


def share_plainly(X: np.ndarray, found: Placed) -> np.ndarray:
    """Memberships (n, k) of rows by clusters that were found without answers."""
    if found.anchors is None or found.memberships is None:
        sq_dists = sq_distances(X, found.centers)
        return share_by_distance(sq_dists, sq_dists.min(axis=1).mean() / 2)
    return share_near(X, found.anchors, found.memberships, found.directions)


def share_some(X: np.ndarray, rows: np.ndarray, found: Placed) -> np.ndarray:
    """The same of some of the rows, in the unit of all."""
    if found.anchors is None:
        return share_plainly(X, found)[rows]
    return share_plainly(X[rows], found)


def how_far(X: np.ndarray, found: Placed) -> np.ndarray:
    """(n,) how far rows are from what is typical of their cluster: larger is farther."""
    if found.anchors is None:
        return np.asarray(sq_distances(X, found.centers).min(axis=1))
    return 1 - share_plainly(X, found).max(axis=1)


def share_near(X, anchors: np.ndarray, memberships: np.ndarray, directions) -> np.ndarray:
    """Memberships (n, k) of rows by the anchors that are nearest in some directions."""
    return share_by_neighbors(along(X, directions), along(anchors, directions), memberships)


@one_thread_if_small(lambda X, *_: X.size)
def share_on_map(
    X: np.ndarray, counts: np.ndarray, n_clusters: int, n_init: int, seed: int
) -> np.ndarray:
    """Memberships (n, k) of distinct rows by k-means on their map; `counts` of them are equal."""
    flat = lay_out(X).astype(np.float64)
    model = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(flat, sample_weight=counts)
    sq_dists = sq_distances(flat, model.cluster_centers_)
    return share_by_distance(sq_dists, np.average(sq_dists.min(axis=1), weights=counts) / 2)


def share_kept(graph: csr_array, labels: np.ndarray) -> float:
    """Share of the edges inside clusters beyond chance: 1 all of them, 0 no more than by chance."""
    i, j = graph.nonzero()
    inside = float(np.mean(labels[i] == labels[j]))
    by_chance = float(np.square(np.bincount(labels[i]) / len(i)).sum())
    return (inside - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
