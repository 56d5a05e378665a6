"""Clusters in a chosen space, and what is kept of how they were made.

by centers     k-means, with a price on every pair that it violates; the others by distance
by neighbors   memberships spread from known groups; the others by those of their neighbors
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from likewise.cluster import PCKMeans
from likewise.constraints import Constraints
from likewise.evaluation import satisfied_answers
from likewise.guided.known_groups import (
    GroupedRows,
    cluster_by_groups,
    follow_the_data,
    share_by_distance,
)
from likewise.guided.spaces import AS_THEY_ARE, Choice
from likewise.kernels import interpolation_weights, sq_distances
from likewise.numerics.rows import sample_rows
from likewise.numerics.threads import one_thread_if_small

PRICE = 0.5  # of a violated pair, in half mean squared distances
GRAPH_ROWS = 3000  # that groups are spread over; the others take the memberships of their neighbors
TRIAL_ROWS = 1000  # that spaces are weighed on, known rows among them


class Outcome(NamedTuple):
    """Clusters of the rows that were learned from."""

    choice: Choice
    learner: BaseEstimator | None  # fitted; None for the features as they are
    Z: np.ndarray  # (n, r) the rows in the space that was chosen
    labels: np.ndarray  # (n,) the largest cluster first
    centers: np.ndarray  # (k, r)
    doubtful: np.ndarray  # positions of the answers that were set aside
    pulls: np.ndarray  # (n_answers,)
    why_n_clusters: str
    anchors: np.ndarray | None = None  # (m, r) rows that memberships were spread over
    anchor_memberships: np.ndarray | None = None  # (m, k)


class Placed(NamedTuple):
    labels: np.ndarray  # (n,)
    centers: np.ndarray  # (k, r)


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


def spread_groups(
    X: np.ndarray, answers: Constraints, groups: np.ndarray, *, n_init: int, seed: int
) -> Outcome:
    """Clusters from the rows whose group is known, unless the groups do not follow the data."""
    known, n_groups = np.flatnonzero(groups >= 0), int(groups.max()) + 1
    rows = sample_rows(len(X), GRAPH_ROWS, known, seed)
    why_n_clusters = f"{n_groups}, the groups that answers name"
    is_learned, p_value = follow_the_data(X[rows], groups[rows], seed)
    pulls, nothing = np.zeros(answers.n_answers), np.empty(0)
    if not is_learned:
        placed = place(X, Constraints(len(X)), n_groups, n_init, seed)
        why = (
            f"{AS_THEY_ARE.name}: the known rows do not predict each other better than with "
            f"permuted groups (p = {p_value:.2f}), so nothing is learned from them."
        )
        unknown = np.full(answers.n_answers, np.nan)
        choice = Choice(None, (), nothing, nothing, -1, why, unknown)
        none = np.empty(0, dtype=np.int64)
        return Outcome(choice, None, X, placed.labels, placed.centers, none, pulls, why_n_clusters)

    trial_rows = sample_rows(len(rows), TRIAL_ROWS, np.searchsorted(rows, known), seed)
    grouped = cluster_by_groups(X[rows], groups[rows], trial_rows=trial_rows, seed=seed)
    Z = X if grouped.learner is None else grouped.learner.transform(X)
    anchors = Z[rows]
    memberships = grouped.memberships
    if len(rows) < len(X):
        memberships = share_by_neighbors(Z, anchors, grouped.memberships)
        memberships[rows] = grouped.memberships
    labels = memberships.argmax(axis=1)
    order = largest_first(labels, n_groups)
    labels = np.argsort(order)[labels]
    centers = np.array([mean_of(Z, labels == cluster) for cluster in range(n_groups)])
    credits = pair_credits(answers, groups, grouped.held_out)
    doubtful_rows = known[grouped.is_doubtful]
    is_doubtful = np.array(
        [
            bool(np.isin(answers.points_of(i), doubtful_rows).any())
            for i in range(answers.n_answers)
        ],
        dtype=bool,
    )
    is_violated = satisfied_answers(None, answers, labels) == 0  # by a contradiction
    doubtful = np.flatnonzero(np.asarray(is_doubtful, dtype=bool) | is_violated)
    doubtful = doubtful[np.argsort(credits[doubtful], kind="stable")]
    choice = Choice(
        None,
        grouped.names,
        grouped.hits,
        np.sqrt(grouped.hits * (1 - grouped.hits) / max(len(known) - 1, 1)),
        int(np.argmax(grouped.weights)),
        explain(grouped, len(known), p_value),
        credits,
    )
    return Outcome(
        choice,
        grouped.learner,
        Z,
        labels,
        centers,
        doubtful,
        pulls,
        why_n_clusters,
        anchors,
        grouped.memberships[:, order],
    )


def explain(grouped: GroupedRows, n_known: int, p_value: float) -> str:
    n_used = int(np.count_nonzero(grouped.weights > 0.01))
    top = int(np.argmax(grouped.weights))
    tested = "" if np.isnan(p_value) else f" (p = {p_value:.3f})"
    spaces = "1 space" if n_used == 1 else f"{n_used} spaces"
    return (
        f"{n_known} known rows predict each other's groups{tested}; they are spread by {spaces}, "
        f"most by {grouped.names[top]}, which predicts {grouped.hits[top]:.0%} of them."
    )


def pair_credits(answers: Constraints, groups: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """(n_answers,) chance of each pair by the memberships of rows that were held out."""
    known = np.flatnonzero(groups >= 0)
    at = np.full(len(groups), -1)
    at[known] = np.arange(len(known))
    credits = np.full(answers.n_answers, np.nan)
    pairs, sign = answers.signed_pairs()
    places = at[pairs]
    are_known = (places >= 0).all(axis=1)
    together = (held_out[places[:, 0]] * held_out[places[:, 1]]).sum(axis=1)
    chances = np.where(sign > 0, together, 1 - together)
    positions = answers.positions("must_link", "cannot_link")
    credits[positions[are_known]] = chances[are_known]
    return credits


def mean_of(Z: np.ndarray, is_member: np.ndarray) -> np.ndarray:
    """The mean of the members; of all rows where there are none."""
    return Z[is_member].mean(axis=0) if is_member.any() else Z.mean(axis=0)


def share_by_neighbors(Z, anchors: np.ndarray, memberships: np.ndarray) -> np.ndarray:
    """Memberships (n, k) of rows by those of their nearest anchors."""
    return interpolation_weights(Z, anchors) @ memberships


def share_by_centers(Z, centers: np.ndarray, sq_unit: float) -> np.ndarray:
    """Memberships (n, k) of rows by their squared distances to centers."""
    return share_by_distance(sq_distances(Z, centers), sq_unit)
