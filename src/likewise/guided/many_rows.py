"""All rows by what was learned from a sample of them, in one pass over their blocks.

    before   the nearest center of the features as prepared, found without answers
    labels   the nearest center in the learned space, or the memberships of the nearest anchors

Maps and anchors go to the device with a block; what comes back is two numbers per row. `model` is a
GuidedClustering throughout.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.guided.last_step import Finished, finish
from likewise.guided.outcome import Outcome, Placed, share_by_centers, share_by_neighbors
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
MANY = 1_000_000  # rows, beyond which contradictions are looked for among those of answers alone


class Assigner(NamedTuple):
    """What gives rows their clusters."""

    map_rows: Map  # to the learned space
    centers: np.ndarray  # (k, r)
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


def assigner_of(map_rows: Map, centers: np.ndarray, anchors, memberships) -> Assigner:
    """By anchors and their memberships where there are any, else by centers."""
    if anchors is None or memberships is None:
        return Assigner(map_rows, centers, None)
    return Assigner(map_rows, centers, NeighborMap(anchors, memberships, N_NEIGHBORS))


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
    else:
        share = partial(share_by_neighbors, anchors=anchors, memberships=memberships)
    Z = _learned_blocks(model, X)
    return np.concatenate(list(Z.run(share, what="assigning rows", n_jobs=model.n_jobs)))


def label_all_rows(
    model, X: Blocks, rows: np.ndarray, outcome: Outcome, before: Placed
) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that were clustered and, block by block, of all others; and what they were
    before anything was learned."""
    if len(rows) == X.shape[0]:
        return outcome.labels, before.labels
    at_first = assigner_of(model.map_.maps[0], before.centers, None, None)
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
        return np.concatenate(list(_learned_blocks(model, X).run(np.asarray, what="mapping rows")))

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
    return assigner_of(
        model.map_, model.cluster_centers_, model.anchors_, model.anchor_memberships_
    )


def _learned_blocks(model, X: Blocks) -> Blocks:
    n_directions = model.cluster_centers_.shape[1]
    return mapped(model.map_, X, device=model.device).map(from_device, n_directions)


def conflict_messages(answers: Constraints) -> np.ndarray:
    """Contradictions in words; of many rows only those that answers refer to are looked at."""
    touched = answers.touched_rows()
    if answers.n_samples > MANY and not answers.exclusive and len(touched):
        names = touched.astype(str) if answers.ids is None else answers.ids[touched]
        answers = answers.restrict(touched)
        kinds = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided")
        answers = Constraints(ids=names, **{kind: getattr(answers, kind) for kind in kinds})
    return np.array([conflict.message for conflict in answers.conflicts()], dtype=str)
