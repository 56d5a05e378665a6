"""As many directions of a learned space as tell which center, or which anchors, are near.

    centers   |z - c|^2 = |P'z - P'c|^2 + (a part that is the same for every c),
              P an orthonormal basis of the differences of centers: exact
    anchors   P = the 64 directions in which the anchors vary most

A learned space may have hundreds of directions, and what a row costs grows with them. Most say
nothing about neighborhoods: with 64 directions rows get the cluster that all of them give in 98 to
99.7 % of the cases, and the clusters are as good (docs/decisions/0073-fewer-directions.md).
"""

import numpy as np
from scipy.linalg import eigh, qr

from likewise.maps import ChainedMap, DiffusionMap, LinearMap, Map, NeighborMap, NystromMap

MOST_DIRECTIONS = 64
FOLDED = (DiffusionMap, LinearMap, NeighborMap, NystromMap)  # a matrix becomes part of these


def anchor_directions(anchors: np.ndarray | None) -> np.ndarray | None:
    """P (r, 64) for anchors (m, r); None where no direction is left out."""
    if anchors is None or anchors.shape[1] <= MOST_DIRECTIONS:
        return None
    centered = np.asarray(anchors, dtype=np.float64) - anchors.mean(axis=0)
    r = anchors.shape[1]
    _, vectors = eigh(centered.T @ centered, subset_by_index=(r - MOST_DIRECTIONS, r - 1))
    return np.ascontiguousarray(vectors[:, ::-1])


def center_directions(centers: np.ndarray) -> np.ndarray | None:
    """P (r, k - 1) for centers (k, r); None where no direction is left out."""
    k, r = centers.shape
    if k < 2 or r <= max(k, MOST_DIRECTIONS):
        return None
    return qr((centers[1:] - centers[0]).T.astype(np.float64), mode="economic")[0]


def along(Z, directions: np.ndarray | None):
    """Rows of the learned space in these directions; None is all."""
    return Z if directions is None else Z @ directions


def map_along(map_rows: Map, directions: np.ndarray | None) -> Map:
    """The map followed by `along`, as one where that is cheaper."""
    if directions is None:
        return map_rows
    *before, last = map_rows.maps if isinstance(map_rows, ChainedMap) else (map_rows,)
    if not isinstance(last, FOLDED):
        return ChainedMap((*before, last, LinearMap(directions)))
    folded = last.times(directions)
    return ChainedMap((*before, folded)) if before else folded
