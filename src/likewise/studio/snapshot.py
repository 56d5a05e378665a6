"""Snapshots: the clusters and the map at one moment, with numbers that clusters keep.

A cluster of a new snapshot takes the number of the old cluster that it shares most rows with, one
to one, and the smallest free number otherwise. Numbers are colors: what a person looks at does not
change its color because a model was fitted again.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from likewise.labeling import Event

N_TYPICAL = 6  # rows of a cluster's card
N_BORDERLINE = 4
N_LIKELIEST = 3  # clusters of a row
NO_CLUSTER = 255  # of a row that belongs nowhere; also where there are more clusters than colors
MOST_NEAR = 500  # rows that a typical one is chosen from


class ClusterCard(NamedTuple):
    """A cluster in a few rows."""

    number: int  # kept from snapshot to snapshot
    size: int
    share_known: float  # of its rows, that an answer is about
    typical: tuple[int, ...]
    borderline: tuple[int, ...]
    words: tuple[str, ...] = ()  # what sets it apart: "high age", "plan=gold"
    columns: tuple[str, ...] = ()  # that these are about


class Snapshot(NamedTuple):
    """What was learned from the first `n_events` events."""

    version: int
    n_events: int
    labels: np.ndarray  # (n,) int32 numbers of clusters, -1 for nowhere
    likeliest: np.ndarray  # (n, 3) int32 numbers of clusters, -1 for none
    shares: np.ndarray  # (n, 3) float32 memberships in these
    clusters: tuple[ClusterCard, ...]
    places: np.ndarray  # (n, 2) float32, on the map
    layout: int  # grows when rows move on the map
    n_fitted: int = 0  # models fitted so far
    doubts: tuple[tuple[str, float, Any], ...] = ()  # id of an answer, its chance, the other choice
    conflicts: tuple[tuple[str, tuple[str, ...]], ...] = ()  # message, ids of answers
    trouble: str = ""  # what went wrong with the last model, in a line


class Failed(NamedTuple):
    """No snapshot, and why."""

    error: str
    is_last: bool  # the learner ends with it


def stable_numbers(old: np.ndarray | None, new: np.ndarray) -> np.ndarray:
    """The number of each new cluster (k,), for labels (n,) from 0, -1 for none.

    A cluster that is like no old one gets the smallest number that no other has.
    """
    n_new = int(new.max(initial=-1)) + 1
    numbers = np.full(n_new, -1)
    if old is not None and n_new and old.max(initial=-1) >= 0:
        both = (old >= 0) & (new >= 0)
        shared = np.zeros((n_new, int(old.max()) + 1), dtype=np.int64)
        np.add.at(shared, (new[both], old[both]), 1)
        for cluster, number in zip(*linear_sum_assignment(-shared)):
            if shared[cluster, number]:
                numbers[cluster] = number
    fresh = np.flatnonzero(numbers < 0)
    free = np.setdiff1d(np.arange(2 * n_new + len(fresh)), numbers)
    numbers[fresh] = free[: len(fresh)]
    return numbers


def likeliest_clusters(memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clusters (n, 3) that a row most probably belongs to, and its memberships in them."""
    n_rows, n_clusters = memberships.shape
    kept = min(N_LIKELIEST, n_clusters)
    order = np.argsort(-memberships, axis=1, kind="stable")[:, :kept]
    clusters = np.full((n_rows, N_LIKELIEST), -1, dtype=np.int32)
    shares = np.zeros((n_rows, N_LIKELIEST), dtype=np.float32)
    clusters[:, :kept] = order
    shares[:, :kept] = np.take_along_axis(memberships, order, axis=1)
    return clusters, shares


def typical_of(rows: np.ndarray, shares: np.ndarray, places: np.ndarray) -> tuple[int, ...]:
    """Rows of a cluster that are surely in it, and nearest to the middle of those.

    `shares` (m,) and `places` (m, r) are of these rows.
    """
    sure = np.argsort(-shares, kind="stable")[:MOST_NEAR]
    middle = np.median(places[sure], axis=0)
    sq_dists = np.square(places[sure] - middle).sum(axis=1)
    return tuple(int(row) for row in rows[sure[np.argsort(sq_dists, kind="stable")[:N_TYPICAL]]])


def borderline_of(rows: np.ndarray, shares: np.ndarray) -> tuple[int, ...]:
    """Rows of a cluster that nearly belong to another; `shares` (m, 3), the largest first."""
    margins = shares[:, 0] - shares[:, 1]
    doubtful = np.argsort(margins, kind="stable")[:N_BORDERLINE]
    return tuple(int(row) for row in rows[doubtful[margins[doubtful] < 1]])


def cluster_names(events: Iterable[Event], labels: np.ndarray) -> dict[int, str]:
    """Names that people gave, by the number of the cluster that has most of the rows named.

    The last name of a cluster holds; an empty one takes it away.
    """
    given: dict[int, str] = {}
    for event in events:
        if event.kind == "name" and event.question is not None:
            numbers = labels[list(event.question.rows)]
            numbers = numbers[numbers >= 0]
            if len(numbers):
                given[int(np.bincount(numbers).argmax())] = str(event.choice)
    return {number: name for number, name in given.items() if name}


def map_colors(labels: np.ndarray) -> np.ndarray:
    """Numbers of clusters as bytes; 255 for none, and for numbers that no byte holds."""
    return np.where((labels < 0) | (labels >= NO_CLUSTER), NO_CLUSTER, labels).astype(np.uint8)


def pairs_across(rows: Sequence[int], places: np.ndarray | None) -> list[tuple[int, int]]:
    """Pairs of rows that lie far apart, to find out whether they are one cluster.

    Along the direction in which the rows spread most: the ends, and each end with the middle.
    """
    order = np.asarray(rows)
    if places is not None and len(order) > 2:
        centered = places[order] - places[order].mean(axis=0)
        direction = np.linalg.svd(centered, full_matrices=False)[2][0]
        order = order[np.argsort(centered @ direction, kind="stable")]
    first, middle, last = int(order[0]), int(order[len(order) // 2]), int(order[-1])
    pairs = [(first, last)]
    if middle not in (first, last):
        pairs += [(first, middle), (middle, last)]
    return pairs
