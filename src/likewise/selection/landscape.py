"""What a question can be about: rows in a space, their groups, and what is known about both.

A row belongs to group g with probability

    p_ig  ~  exp(-(d_ig - min_g d_ig) / scale),   0 where the answers keep the row from the group

where d_ig is its squared distance to the group and the scale is the median of what lies between
the nearest and the second nearest group.
"""

from typing import NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import KMeans

from likewise.constraints import Constraints
from likewise.kernels import sq_distances
from likewise.numerics.partitions import cluster_means

DEFAULT_CLUSTERS = 8


class Landscape(NamedTuple):
    """Rows that may be asked about, and what is known about them."""

    rows: np.ndarray  # (p,) row numbers of X
    Z: np.ndarray  # (p, r) their coordinates
    components: np.ndarray  # (p,) rows known to belong together have the same number
    is_touched: np.ndarray  # (p,) whether some answer refers to the row
    labels: np.ndarray | None  # (p,) their clusters, where the space has any
    n_clusters: int


class RowGroups(NamedTuple):
    """Groups that a row can be asked to belong to."""

    representatives: np.ndarray  # (g,) positions of the rows that a row is shown with
    sq_dists: np.ndarray  # (p, g) of every row to every group
    known: np.ndarray  # (p, g) +1 together with the representative, -1 apart, 0 not known


def survey(
    space, X, constraints: Constraints, rows: np.ndarray, n_clusters: int | None
) -> Landscape:
    """The landscape of some rows of X in a fitted space, or as they are."""
    Z = take_rows(X, rows) if space is None else space.transform(take_rows(X, rows))
    Z = np.asarray(Z.toarray() if issparse(Z) else Z, dtype=np.float64)
    labels = getattr(space, "labels_", None)
    if labels is not None and len(labels) == constraints.n_samples:
        labels = np.unique(np.asarray(labels)[rows], return_inverse=True)[1]
        n_clusters = int(labels.max()) + 1
    else:
        labels, n_clusters = None, min(n_clusters or DEFAULT_CLUSTERS, len(rows))
    is_touched = np.isin(rows, constraints.touched_rows())
    components = constraints.closure().components[rows]
    return Landscape(rows, Z, components, is_touched, labels, n_clusters)


def take_rows(X, rows: np.ndarray):
    """X[rows], also of a dataframe: a model that was fitted to names wants to see them again."""
    if issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "columns"):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    return np.asarray(X)[rows]


def cluster_groups(landscape: Landscape, constraints: Constraints, seed: int) -> RowGroups:
    """The clusters as groups, each stood for by a row of its best known part, near the center."""
    labels = landscape.labels
    if labels is None:
        labels = KMeans(landscape.n_clusters, n_init=1, random_state=seed).fit_predict(landscape.Z)
    sq_dists = sq_distances(landscape.Z, cluster_means(landscape.Z, labels, landscape.n_clusters))
    _, component, sizes = np.unique(landscape.components, return_inverse=True, return_counts=True)
    representatives = []
    for cluster in np.unique(labels):
        inside = np.flatnonzero(labels == cluster)
        order = np.lexsort((sq_dists[inside, cluster], -sizes[component[inside]]))
        representatives.append(inside[order[0]])
    return describe_groups(landscape, constraints, np.array(representatives), sq_dists)


def answered_groups(landscape: Landscape, constraints: Constraints) -> RowGroups:
    """Rows known to belong together as groups, as many as are known to be apart from each other.

    The largest first; without any answers, one typical row is a group. The distance to a group is
    that to the nearest of its rows.
    """
    closure = constraints.closure()
    places = np.flatnonzero(landscape.is_touched)
    if not len(places):
        places = sq_distances(landscape.Z, landscape.Z.mean(axis=0)[None]).argmin(axis=0)
    _, first, sizes = np.unique(landscape.components[places], return_index=True, return_counts=True)
    taken: list[int] = []
    for place in places[first[np.argsort(-sizes, kind="stable")]]:
        pairs = [(landscape.rows[place], landscape.rows[other]) for other in taken]
        if (closure.known(pairs) == -1).all():
            taken.append(int(place))
    to_groups = [
        sq_distances(
            landscape.Z, landscape.Z[landscape.components == landscape.components[place]]
        ).min(axis=1)
        for place in taken
    ]
    return describe_groups(landscape, constraints, np.array(taken), np.stack(to_groups, axis=1))


def describe_groups(landscape, constraints, representatives, sq_dists) -> RowGroups:
    """Groups with what the answers say of every row and every representative."""
    pairs = np.stack(
        np.broadcast_arrays(landscape.rows[:, None], landscape.rows[representatives]), axis=-1
    ).reshape(-1, 2)
    known = constraints.closure().known(pairs).reshape(sq_dists.shape)
    return RowGroups(representatives, sq_dists, known)


def memberships(groups: RowGroups) -> np.ndarray:
    """Probabilities (p, g); a row that is kept from every group has zeros."""
    sq_dists = np.where(groups.known == -1, np.inf, groups.sq_dists)
    nearest = sq_dists.min(axis=1, keepdims=True)
    nearest[~np.isfinite(nearest)] = 0
    P = np.exp(-(sq_dists - nearest) / scale_of(groups.sq_dists))
    P[(groups.known == 1).any(axis=1)] = 0
    P[groups.known == 1] = 1
    return P / np.maximum(P.sum(axis=1, keepdims=True), np.finfo(float).tiny)


def scale_of(sq_dists: np.ndarray) -> float:
    """The median step from the nearest to the second nearest group."""
    if sq_dists.shape[1] < 2:
        return 1.0
    two = np.partition(sq_dists, 1, axis=1)[:, :2]
    steps = two[:, 1] - two[:, 0]
    positive = steps[steps > 0]
    return float(np.median(positive)) if len(positive) else 1.0
