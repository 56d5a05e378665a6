"""A bound that no clusters can beat: what k-means under rules costs at least, over all labelings.

A labeling of groups g of s_g rows is the matrix Y with Y[g, h] = sqrt(s_g s_h) / (rows of their
cluster) where g and h are together, 0 elsewhere. With A the inner products of the sums of groups,
each sum divided by sqrt(s_g), its k-means cost is  sum_i ||x_i||^2 - <A, Y>, and

    Y is a projection of rank k with Y sqrt(s) = sqrt(s)     (P)
    lower <= Y <= upper: 0 where groups are apart, and by the sizes that clusters may have   (W)

Whatever the symmetric matrix U of prices for (W), the most that <A, Y> can be is at most

    max_(P) <A - U, Y> + max_(W) <U, Y>  =  eigenvalues + a sum over entries

where the first term is the k largest eigenvalues of A - U, that of sqrt(s) being one of the k by
force. So every U proves a bound; ADMM over the convex hull of (P) and (W) finds a good one.
Reference: peng2007 for the relaxation. We differ from it in the sizes, in moving must-linked rows
as one, and in the bound by eigenvalues, which holds however early the solver stops.
"""

from typing import NamedTuple

import numpy as np

from likewise.numerics.eigen import eigh
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

OVER = 1.6  # relaxation of ADMM's steps
CHECK_EVERY = 10  # steps between bounds, each of which takes another eigenvalue problem
PATIENCE = 5  # bounds without progress after which it ends
BALANCE = 1.5  # by which the step size follows the residuals


class Program(NamedTuple):
    """max <A, Y> over labelings of p groups, as above."""

    A: np.ndarray  # (p, p)
    root: np.ndarray  # (p,) the direction of sqrt(s), of length 1
    n_clusters: int
    lower: np.ndarray  # (p, p)
    upper: np.ndarray  # (p, p)


class Bounded(NamedTuple):
    most: float  # no labeling has a larger <A, Y>
    prices: np.ndarray  # (p, p) U, which proves it
    converged: bool


def partition_program(
    sums: np.ndarray,  # (p, d) of the rows of each group, the mean of all rows being 0
    sizes: np.ndarray,  # (p,)
    apart: np.ndarray,  # (q, 2) groups never in one cluster
    n_clusters: int,
    smallest: int,  # rows that a cluster has at least
    largest: int,  # and at most
) -> Program:
    """The program of groups of rows."""
    roots = np.sqrt(sizes.astype(np.float64))
    rows = np.maximum(sizes[:, None] + sizes, smallest).astype(np.float64)  # together in a cluster
    np.fill_diagonal(rows, np.maximum(sizes, smallest))
    upper = np.outer(roots, roots) / rows
    upper[apart[:, 0], apart[:, 1]] = upper[apart[:, 1], apart[:, 0]] = 0.0
    lower = np.diag(sizes / float(largest))
    points = sums / roots[:, None]
    root = roots / np.linalg.norm(roots)
    return Program(points @ points.T, root, n_clusters, lower, upper)


@one_thread_if_small(lambda program, **_: program.A.size)
def bound_partitions(program: Program, *, enough: float, worth: float, max_iter: int) -> Bounded:
    """The least bound found on <A, Y>; it ends early below ``enough``, or without progress.

    A bound that is not lower by ``worth`` counts as none.
    """
    A, root, k, lower, upper = program
    scale = float(np.linalg.norm(A)) / np.sqrt(k) or 1.0
    W, prices = np.outer(root, root), np.zeros_like(A)  # prices are in units of the step size
    best = Bounded(most_at(program, np.zeros_like(A)), np.zeros_like(A), converged=False)
    n_idle, n_vectors = 0, 4 * k + 10
    for step in track(range(1, max_iter + 1), "proving a bound", may_end_early=True):
        Y, n_vectors = nearest_projection(W - prices + A / scale, root, k, n_vectors)
        blend = OVER * Y + (1 - OVER) * W
        before, W = W, np.clip(blend + prices, lower, upper)
        prices += blend - W
        if step % CHECK_EVERY:
            continue
        most = most_at(program, scale * prices)
        n_idle = 0 if best.most - most > worth else n_idle + 1
        if most < best.most:
            best = Bounded(most, scale * prices, converged=False)
        if best.most <= enough or n_idle == PATIENCE:
            return best._replace(converged=True)
        apart, moved = np.linalg.norm(Y - W), np.linalg.norm(W - before)
        change = BALANCE if apart > 2 * moved else 1 / BALANCE if moved > 2 * apart else 1.0
        scale, prices = scale * change, prices / change
    return best


def most_at(program: Program, prices: np.ndarray) -> float:
    """What <A, Y> is at most, proved by prices U; rounding is on the safe side."""
    A, root, k, lower, upper = program
    M = A - prices
    largest = eigh(beside(M, root), n_largest=k - 1)[0] if k > 1 else np.empty(0)
    by_entry = np.maximum(prices * lower, prices * upper).sum()
    rounding = 10 * len(A) * k * np.finfo(float).eps * np.linalg.norm(M)
    return float(root @ M @ root + largest.sum() + by_entry + rounding)


def beside(M: np.ndarray, root: np.ndarray) -> np.ndarray:
    """M in the directions at right angles to ``root``, whose own eigenvalue becomes the least."""
    along = M @ root
    cross = np.outer(root, along)
    return M - cross - cross.T + (root @ along - 2 * np.linalg.norm(M)) * np.outer(root, root)


def nearest_projection(
    M: np.ndarray, root: np.ndarray, k: int, n_vectors: int
) -> tuple[np.ndarray, int]:
    """The nearest matrix in the hull of (P), and how many vectors to look for next time.

    Its eigenvalues are those of M, moved down alike, between 0 and 1, k - 1 beside that of root.
    """
    inner, p = beside(M, root), len(M)
    while True:
        values, vectors = eigh(inner, n_largest=min(n_vectors, p))
        level = level_of(values, k - 1)
        if n_vectors >= p or values[0] <= level:
            break
        n_vectors *= 2
    shares = np.clip(values - level, 0.0, 1.0)
    some = shares > 0
    Y = np.outer(root, root) + (vectors[:, some] * shares[some]) @ vectors[:, some].T
    return Y, max(2 * int(some.sum()) + 5, 4 * k + 10)


def level_of(values: np.ndarray, total: float) -> float:
    """The level t at which clip(values - t, 0, 1) sums to ``total``."""
    levels = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.clip(values - levels[:, None], 0.0, 1.0).sum(axis=1)  # falling
    at = int(np.searchsorted(-sums, -total))  # the first level whose sum is at most the total
    if at == 0 or sums[at - 1] == sums[at]:
        return float(levels[at])
    share = (sums[at - 1] - total) / (sums[at - 1] - sums[at])
    return float(levels[at - 1] + share * (levels[at] - levels[at - 1]))
