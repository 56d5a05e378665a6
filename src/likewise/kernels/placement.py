"""Rows placed on a map among the rows that are on it already.

A row goes to the mean of its nearest laid-out rows, weighted by their closeness in the learned
space and, as forces would, by 1 / (1 + d^2) of their distance on the map from its nearest: a row
between two clusters goes to one of them, not to the empty place between.

The nearest are looked for in cells: the laid-out rows are cut into cells, and a row looks into
those whose centers are closest to the center of its own. So a million rows take seconds; a few
neighbors across the border of a far cell are missed.
"""

import numpy as np
from sklearn.cluster import KMeans

from likewise.kernels.diffusion import weights_by_distance
from likewise.kernels.distances import nearest_rows

N_NEAREST = 10
CELL_ROWS = 50  # laid-out rows a cell, on average
N_LOOKED_INTO = 8  # cells
CELL_STEPS = 10  # of k-means: cells need not be the best
BLOCK_ROWS = 20_000


def place_rows(Z: np.ndarray, laid: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Layout (n, 2) of all rows (n, r) from that of the rows `laid` (m,), which stay in place."""
    landmarks = Z[laid]
    n_cells = max(len(laid) // CELL_ROWS, 1)
    cells = KMeans(n_cells, n_init=1, max_iter=CELL_STEPS, random_state=0).fit(landmarks)
    centers = cells.cluster_centers_.astype(Z.dtype)
    n_near = min(N_LOOKED_INTO, n_cells)
    candidates = [
        np.flatnonzero(np.isin(cells.labels_, near))
        for near in nearest_rows(centers, centers, n_near)[0]
    ]
    placed = np.empty((len(Z), 2))
    for start in range(0, len(Z), BLOCK_ROWS):
        block = Z[start : start + BLOCK_ROWS]
        own = nearest_rows(block, centers, 1)[0][:, 0]
        order = np.argsort(own, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(own[order])) + 1):
            among = candidates[own[rows[0]]]
            spots = _among(block[rows], landmarks[among], flat[among])
            placed[start + rows] = spots
    placed[laid] = flat
    return placed


def _among(rows: np.ndarray, landmarks: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Places (n, 2) of rows among landmarks whose places are known."""
    nearest, sq_dists = nearest_rows(rows, landmarks, min(N_NEAREST, len(landmarks)))
    spots = flat[nearest]  # (n, k, 2)
    sq_apart = ((spots - spots[:, :1]) ** 2).sum(axis=2)
    weights = weights_by_distance(sq_dists) / (1 + sq_apart)
    return (weights[:, :, None] * spots).sum(axis=1) / weights.sum(axis=1)[:, None]
