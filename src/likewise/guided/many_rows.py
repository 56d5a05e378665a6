"""All rows by what was learned from a sample of them, in one pass over their blocks.

    before   the nearest center of the features as prepared, found without answers
    labels   the nearest center in the learned space, or the memberships of the nearest anchors

Maps and anchors go to the device with a block; what comes back is two numbers per row.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.maps import Map, NeighborMap, from_device, on_device
from likewise.numerics.array_library import library_of
from likewise.scale import Blocks, label_all, label_rows

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


def conflict_messages(answers: Constraints) -> np.ndarray:
    """Contradictions in words; of many rows only those that answers refer to are looked at."""
    touched = answers.touched_rows()
    if answers.n_samples > MANY and not answers.exclusive and len(touched):
        names = touched.astype(str) if answers.ids is None else answers.ids[touched]
        answers = answers.restrict(touched)
        kinds = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided")
        answers = Constraints(ids=names, **{kind: getattr(answers, kind) for kind in kinds})
    return np.array([conflict.message for conflict in answers.conflicts()], dtype=str)
