"""Rows in clusters: k-means, with a price on every pair that it violates."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from likewise.cluster import PCKMeans
from likewise.constraints import Constraints
from likewise.kernels import interpolation_weights
from likewise.numerics.threads import one_thread_if_small

PRICE = 0.5  # of a violated pair, in half mean squared distances


class Placed(NamedTuple):
    labels: np.ndarray  # (n,) the largest cluster first
    centers: np.ndarray  # (k, r)
    anchors: np.ndarray | None = None  # (m, r) rows whose memberships their neighbors take,
    memberships: np.ndarray | None = None  # (m, k) and these; None: by the nearest center
    directions: np.ndarray | None = None  # (r, q) in which they are looked for; None is all
    why: str = ""


@one_thread_if_small(lambda Z, *_, **__: Z.size)
def place(Z, answers: Constraints, n_clusters: int, n_init: int, seed: int) -> Placed:
    """k-means, then soft pairs from its centers where there are any; the largest cluster first."""
    model = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(Z)
    if len(answers.positions("must_link", "cannot_link")):
        model = PCKMeans(n_clusters, C=PRICE, init=model.cluster_centers_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it would say stands in the report
            model.fit(Z, constraints=answers)
    order = largest_first(model.labels_, n_clusters)
    return Placed(np.argsort(order)[model.labels_], model.cluster_centers_[order])


def largest_first(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Clusters by falling size."""
    return np.argsort(-np.bincount(labels, minlength=n_clusters), kind="stable")


def mean_of(Z: np.ndarray, is_member: np.ndarray) -> np.ndarray:
    """The mean of the members; of all rows where there are none."""
    return Z[is_member].mean(axis=0) if is_member.any() else Z.mean(axis=0)


def share_by_distance(sq_dists: np.ndarray, sq_unit: float) -> np.ndarray:
    """Softmax (n, k) of squared distances in a unit; each row sums to 1."""
    odds = np.exp(-(sq_dists - sq_dists.min(axis=1, keepdims=True)) / (sq_unit or 1.0))
    return odds / odds.sum(axis=1, keepdims=True)


def share_by_neighbors(Z, anchors: np.ndarray, memberships: np.ndarray) -> np.ndarray:
    """Memberships (n, k) of rows by those of their nearest anchors."""
    return interpolation_weights(Z, anchors) @ memberships
