"""Squared distances of chosen pairs of rows, and the bounds that learners take from them."""

from collections.abc import Iterator

import numpy as np

PAIRS_AT_ONCE = 4096  # differences formed together: some megabytes whatever the number of pairs
N_SAMPLED_PAIRS = 2000  # for percentiles: the 5th and the 95th to about half a percent


def differences(X: np.ndarray, pairs: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Differences of pairs of rows in float64, some thousand pairs at a time."""
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        block = slice(start, start + PAIRS_AT_ONCE)
        V = X[pairs[block, 0]].astype(np.float64, copy=False)
        V -= X[pairs[block, 1]]
        yield block, V


def pair_sq_distances(X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """|x_i - x_j|^2 for each pair (m, 2); the order in a pair changes no bit of it."""
    sq_dists = np.empty(len(pairs))
    for block, V in differences(X, pairs):
        sq_dists[block] = np.einsum("ij,ij->i", V, V)
    return sq_dists


def mean_sq_distance(X: np.ndarray) -> float:
    """Mean of |x_i - x_j|^2 over all pairs of rows; 1 where all rows are the same.

    It is twice the total variance. Bounds on distances are given in this unit.
    """
    sq_unit = 2 * float(X.var(axis=0, dtype=np.float64).sum())
    return sq_unit if sq_unit > 0 else 1.0


def sample_sq_distances(X: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Squared distances of all pairs of rows, of a sample of them where they are many."""
    n_samples = len(X)
    if n_samples * (n_samples - 1) // 2 <= N_SAMPLED_PAIRS:
        pairs = np.column_stack(np.triu_indices(n_samples, 1))
    else:
        i = rng.randint(n_samples, size=N_SAMPLED_PAIRS)
        pairs = np.column_stack([i, (i + rng.randint(1, n_samples, N_SAMPLED_PAIRS)) % n_samples])
    return pair_sq_distances(X, pairs)


def percentile_bounds(
    X: np.ndarray, rng: np.random.RandomState, percentiles: tuple[float, float]
) -> tuple[float, float]:
    """Squared distances that so many in 100 pairs of rows stay under; never an n x n matrix."""
    sq_dists = sample_sq_distances(X, rng)
    positive = sq_dists[sq_dists > 0]
    if len(positive) == 0:
        return 1.0, 1.0  # all rows are the same: no pair will use them
    near, far = np.percentile(sq_dists, percentiles)
    return float(max(near, positive.min())), float(max(far, positive.min()))
