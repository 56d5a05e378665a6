"""All rows by what was learned from a sample of them, in one pass over their blocks.

    before   the nearest center of the features as prepared, or (up to 200,000 rows) anchors, found
             without answers
    labels   the nearest center in the learned space, or the memberships of the nearest anchors,
             in as many directions as tell which these are (fewer_directions.py)

Maps and anchors go to the device with a block; what comes back is two numbers per row. `model` is a
GuidedClustering throughout.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.guided.calibration import spread_evenly
from likewise.guided.fewer_directions import along, center_directions, map_along
from likewise.guided.last_step import Finished, finish
from likewise.guided.outcome import Outcome, share_by_centers
from likewise.guided.placed import Placed, share_by_neighbors
from likewise.guided.raw_rows import as_numbers, named_blocks
from likewise.maps import Map, NeighborMap, by_map, from_device, on_device
from likewise.numerics.array_library import library_of
from likewise.scale import (
    Blocks,
    as_blocks,
    fingerprint_of,
    is_blockwise,
    label_all,
    label_rows,
    mapped,
)

N_NEIGHBORS = 10  # anchors that share a row, as in kernels.interpolation_weights
ANCHORED_BEFORE = 200_000  # rows, beyond which those before learning go by centers alone
MANY = 1_000_000  # rows, beyond which contradictions are looked for among those of answers alone


class Assigner(NamedTuple):
    """What gives rows their clusters."""

    map_rows: Map  # to the directions of the learned space that matter
    centers: np.ndarray  # (k, q)
    shares: NeighborMap | None  # from there to memberships, where there are anchors

    def like(self, rows) -> "Assigner":
        """The same where the rows are."""
        shares = None if self.shares is None else self.shares.like(rows)
        return self._replace(map_rows=self.map_rows.like(rows), shares=shares)

    def labels_of(self, rows) -> np.ndarray:
        """(b,) clusters of rows."""
        Z = self.map_rows.transform(rows)
        if self.shares is None:
            return label_rows(Z, self.centers).labels
        return from_device(library_of(Z).argmax(self.shares.transform(Z), axis=1))


def by_centers(map_rows: Map, centers: np.ndarray) -> Assigner:
    directions = center_directions(centers)
    return Assigner(map_along(map_rows, directions), along(centers, directions), None)


def by_anchors(map_rows: Map, centers: np.ndarray, anchors, memberships, directions) -> Assigner:
    shares = NeighborMap(along(anchors, directions), memberships, N_NEIGHBORS)
    return Assigner(map_along(map_rows, directions), along(centers, directions), shares)


def by_placed(map_rows: Map, placed: Placed) -> Assigner:
    if placed.anchors is None or placed.memberships is None:
        return by_centers(map_rows, placed.centers)
    anchors, directions = placed.anchors, placed.directions
    return by_anchors(map_rows, placed.centers, anchors, placed.memberships, directions)


def assign_all(
    X: Blocks,
    assigners: tuple[Assigner, ...],
    *,
    device: str | None = None,
    n_jobs: int | None = None,
    checkpoint=None,
    fingerprint: bytes = b"",
) -> np.ndarray:
    """(n_assigners, n) clusters of all rows by each of the assigners, in one pass."""
    if device is not None and X.client is None:  # a cluster's workers move them themselves
        is_single = str(X.dtype).endswith("float32")
        there = on_device(np.empty(0, np.float32 if is_single else np.float64), device)
        assigners = tuple(one.like(there) for one in assigners)
    return label_all(
        X,
        partial(assign_block, assigners=assigners, device=device),
        n_labels=len(assigners),
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        fingerprint=fingerprint,
    )


def assign_block(rows, assigners: tuple[Assigner, ...], device: str | None) -> np.ndarray:
    """(n_assigners, b) clusters of one block."""
    if device is not None:
        rows = on_device(rows, device)
        assigners = tuple(one.like(rows) for one in assigners)
    return np.stack([one.labels_of(rows) for one in assigners])


def as_rows(model, X):
    """Rows as numbers (n, n_features) the way ``fit`` took them."""
    X = X if model.features_ is None else model.features_.transform(X)
    return by_map.validate(model, X, reset=False)


def as_row_blocks(model, X) -> Blocks:
    """The same block by block, where rows come so or are many."""
    X = as_numbers(model.features_, X)
    if is_blockwise(X):
        return named_blocks(model, X)
    return as_blocks(by_map.validate(model, X, reset=False))


def label_blocks(model, X: Blocks) -> np.ndarray:
    """(n,) clusters of rows that are numbers."""
    return assign_all(X, (_assigner(model),), device=model.device, n_jobs=model.n_jobs)[0]


def share_blocks(model, X: Blocks) -> np.ndarray:
    """(n, k) memberships of rows that are numbers."""
    anchors, memberships = model.anchors_, model.anchor_memberships_
    if anchors is None or memberships is None:
        centers, sq_unit = model.cluster_centers_, model.membership_unit_
        share = partial(share_by_centers, centers=centers, sq_unit=sq_unit)
        Z = _mapped_here(model, model.map_, X)
    else:
        there = _directions_of(model)
        anchors = along(anchors, there)
        share = partial(share_by_neighbors, anchors=anchors, memberships=memberships)
        Z = _mapped_here(model, map_along(model.map_, there), X)
    evenness = getattr(model, "evenness_", 0.0)  # that of a model saved before there was any
    share = partial(share_evenly, share=share, evenness=evenness)
    found = list(Z.run(share, what="assigning rows", n_jobs=model.n_jobs))
    return np.concatenate(found or [np.empty((0, model.n_clusters_))])


def share_evenly(Z, share: Callable, evenness: float) -> np.ndarray:
    """Memberships (b, k) of one block, a part of them spread evenly."""
    return spread_evenly(share(Z), evenness)


def label_all_rows(
    model, X: Blocks, rows: np.ndarray, outcome: Outcome, before: Placed
) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that were clustered and, block by block, of all others; and what they were
    before anything was learned."""
    if len(rows) == X.shape[0]:
        return outcome.labels, before.labels
    if X.shape[0] > ANCHORED_BEFORE:  # it is for the report, and would take most of the time
        before = before._replace(anchors=None)
    at_first = by_placed(model.map_.maps[0], before)
    arrays = (outcome.labels, outcome.Z, before.centers, outcome.centers, outcome.anchors)
    labels, labels_before = assign_all(
        X,
        (_assigner(model), at_first),
        device=model.device,
        n_jobs=model.n_jobs,
        checkpoint=model.checkpoint,
        fingerprint=fingerprint_of(X, rows, *arrays),
    )
    labels[rows], labels_before[rows] = outcome.labels, before.labels
    return labels, labels_before


def finish_rows(model, X: Blocks, Z: np.ndarray, answers: Constraints) -> Finished:
    """Outliers set aside and rules kept (last_step.py); `Z` are the rows that were learned from."""

    def map_all() -> np.ndarray:
        Z_blocks = _mapped_here(model, model.map_, X)
        return np.concatenate(list(Z_blocks.run(np.asarray, what="mapping rows")))

    return finish(
        model.labels_,
        answers,
        model.n_clusters_,
        Z=Z,
        map_all=map_all,
        memberships=lambda: share_blocks(model, X),
        min_size=model.min_size,
        max_size=model.max_size,
        outliers=model.outliers,
    )


def _assigner(model) -> Assigner:
    anchors, memberships = model.anchors_, model.anchor_memberships_
    if anchors is None or memberships is None:
        return by_centers(model.map_, model.cluster_centers_)
    return by_anchors(
        model.map_, model.cluster_centers_, anchors, memberships, _directions_of(model)
    )


def _directions_of(model) -> np.ndarray | None:
    """None for all, as in a model saved before there were fewer."""
    return getattr(model, "anchor_directions_", None)


def _mapped_here(model, map_rows: Map, X: Blocks) -> Blocks:
    there = mapped(map_rows, X, device=model.device)
    return there.map(from_device, map_rows.n_directions)


def conflict_messages(answers: Constraints) -> np.ndarray:
    """Contradictions in words; of many rows only those that answers refer to are looked at."""
    touched = answers.touched_rows()
    if answers.n_samples > MANY and not answers.exclusive and len(touched):
        names = touched.astype(str) if answers.ids is None else answers.ids[touched]
        answers = answers.restrict(touched)
        kinds = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided")
        answers = Constraints(ids=names, **{kind: getattr(answers, kind) for kind in kinds})
    return np.array([conflict.message for conflict in answers.conflicts()], dtype=str)
