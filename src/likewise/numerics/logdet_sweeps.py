"""Log-det projections, many at a time: the shared engine of ITML, SKLR and their relatives.

    min_M  tr(M inv(M0)) - log det(M inv(M0)) + sum_c loss_c(M)

    pair     v'Mv <= target (must-link, sign +1) or >= target (cannot-link, sign -1)
    triple   ratio * u'Mu <= w'Mw, or equal to it

Every constraint has one dual, and inv(M) = inv(M0) + sum_c dual_c C_c holds at all times, with
C = sign vv' for a pair and ratio uu' - ww' for a triple. A projection changes one dual so that
its own constraint is optimal, all others held; sweeps of such steps climb the concave dual.
A new random order in every sweep is not a nicety: on 20,000 pairs of digits it needs 13 sweeps
where a fixed order is far from the optimum after 200.

How the steps are blocked. For the vectors V of b constraints let W = V M and S = W V'. One
step takes M to M + Y_c' D_c Y_c, where Y_c = V_c M at that moment and D_c is 1 x 1 or 2 x 2.
Row c of S, brought up to date by the steps before it, is all a step needs to know, so the
sequence runs on the small S alone, as an LDL' factorization would, and leaves U = strictly
upper part of D S. Then Y solves (I - U)' Y = W and the block ends with one product,
M += Y' D Y. It is the same sequence of projections as one at a time, up to rounding.

Reference: davis2007 for pairs, amid2015 for triples. We differ from amid2015 in keeping the
duals (plain projections, its algorithm, are loss="paper") and in the closed form of the step.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm, dtrsm

from likewise.numerics import loops

LOSSES = {
    "hinge": loops.HINGE,  # strength * violation: the dual stays in [0, strength]; inf is hard
    "squared_hinge": loops.SQUARED_HINGE,  # strength / 2 * violation squared
    "log_det": loops.LOG_DET,  # strength * D(sq_dist, target) while violated; pairs only
    "paper": loops.PAPER,  # project on what is violated, never step back: feasible, not optimal
}
COMPILED_FROM = 4000  # constraints a sweep: below, Python ends before numba's code is loaded
PAIRS_A_BLOCK, TRIPLES_A_BLOCK = 48, 32  # measured: benchmarks/logdet_projections.py --blocks


class Swept(NamedTuple):
    largest_move: float  # of any step, relative to the distances of its constraint
    n_moved: int  # constraints whose dual changed


def sweep_pairs(
    M: np.ndarray,  # (r, r) positive definite, C-contiguous float64; changed in place
    rows: np.ndarray,  # (n, r)
    pairs: np.ndarray,  # (m, 2) into rows
    duals: np.ndarray,  # (m,) >= 0, zeros at the start; changed in place
    *,
    sign: np.ndarray,  # (m,) +1.0: at most the target, -1.0: at least
    sq_targets: np.ndarray,  # (m,) > 0
    strengths: np.ndarray,  # (m,) > 0; inf: the constraint is hard
    loss: str = "hinge",
    order: np.ndarray | None = None,  # which pairs, in which order; None: all, as they stand
    ignore_below: float = 0.0,  # loss="paper": relative violations up to this are left alone
    block_size: int = PAIRS_A_BLOCK,
) -> Swept:
    """Project M onto every pair once."""
    order = np.arange(len(pairs)) if order is None else order
    visit = _by_size(loops.visit_pairs, len(order))
    largest_move, n_moved = 0.0, 0
    for start in range(0, len(order), block_size):
        block = order[start : start + block_size]
        V = _difference(rows, pairs[block, 0], pairs[block, 1])
        columns = (sign[block], sq_targets[block], strengths[block])
        swept = _project_block(visit, M, V, duals, block, columns, LOSSES[loss], ignore_below)
        largest_move, n_moved = max(largest_move, swept.largest_move), n_moved + swept.n_moved
    _symmetrize(M)
    return Swept(largest_move, n_moved)


def sweep_triples(
    M: np.ndarray,  # (r, r) positive definite, C-contiguous float64; changed in place
    rows: np.ndarray,  # (n, r)
    triples: np.ndarray,  # (m, 3) of (i, j, k): ratio * d(i, j) <= d(i, k)
    duals: np.ndarray,  # (m,) zeros at the start; changed in place
    *,
    ratios: np.ndarray,  # (m,) > 0
    is_equality: np.ndarray,  # (m,) bool: ratio * d(i, j) = d(i, k); the dual has either sign
    strengths: np.ndarray,  # (m,) > 0; inf: the constraint is hard
    loss: str = "hinge",
    order: np.ndarray | None = None,
    ignore_below: float = 0.0,
    block_size: int = TRIPLES_A_BLOCK,
) -> Swept:
    """Project M onto every relative constraint once."""
    if loss == "log_det":
        raise ValueError('loss="log_det" needs a target, which a triple has not: use "hinge".')
    order = np.arange(len(triples)) if order is None else order
    visit = _by_size(loops.visit_triples, len(order))
    largest_move, n_moved = 0.0, 0
    for start in range(0, len(order), block_size):
        block = order[start : start + block_size]
        V = np.empty((2 * len(block), rows.shape[1]))
        V[0::2] = _difference(rows, triples[block, 0], triples[block, 1])
        V[1::2] = _difference(rows, triples[block, 0], triples[block, 2])
        columns = (ratios[block], is_equality[block], strengths[block])
        swept = _project_block(visit, M, V, duals, block, columns, LOSSES[loss], ignore_below)
        largest_move, n_moved = max(largest_move, swept.largest_move), n_moved + swept.n_moved
    _symmetrize(M)
    return Swept(largest_move, n_moved)


def _by_size(visit, n_constraints):
    return visit if n_constraints >= COMPILED_FROM else visit.py_func


def _difference(rows, i, j):
    """float64 differences of chosen rows, whatever the float type of a large `rows`."""
    V = rows[i].astype(np.float64, copy=False)
    V -= rows[j]
    return V


def _project_block(visit, M, V, duals, block, columns, loss, ignore_below):
    """The steps of one block on its Gram matrix, then their sum on M."""
    n_vectors, r = V.shape
    rank = n_vectors // len(block)
    W = V @ M
    gram = W @ V.T
    shares = np.zeros_like(gram)  # U': what each step adds to the rows after it
    cores = np.zeros((len(block), rank, rank))  # D
    block_duals = duals[block]
    largest_move = visit(gram, shares, cores, block_duals, *columns, loss, ignore_below)
    moved = np.flatnonzero(cores[:, 0, 0])
    if len(moved):
        duals[block] = block_duals
        if len(moved) < len(block):
            kept = (rank * moved[:, None] + np.arange(rank)).ravel()
            W, shares, cores = W[kept], shares[np.ix_(kept, kept)], cores[moved]
        # To Fortran the transposes are the arrays as they lie in memory: nothing is copied.
        Y = dtrsm(1.0, -shares.T, W.T, side=1, diag=1, overwrite_b=1).T
        DY = (cores @ Y.reshape(len(moved), rank, r)).reshape(-1, r)
        dgemm(1.0, Y.T, DY.T, beta=1.0, c=M.T, trans_b=1, overwrite_c=1)
    return Swept(largest_move, len(moved))


def _symmetrize(M):
    M += M.T.copy()
    M *= 0.5
