"""Eliminate all but a few rows of a sparse positive definite matrix, exactly.

    L = [[L_UU, L_UV], [L_VU, L_VV]],   S = L_VV - L_VU inv(L_UU) L_UV = inv(inv(L)[V, V])

S (p, p) says of V all that L says: min over x_U of x'Lx = x_V' S x_V. A sparse factorization that
comes to V last leaves the factors of S in its last corner, at the price of the factorization alone:
no inverse, and no solve a row of V. Where a graph has no small separators (neighbors in many
dimensions) the factors fill up; then inv(L)[V, V] is found by conjugate gradients, all columns of a
block at once, which converge at the rate that the spectrum of L allows: for a normalized Laplacian
in some ten steps a digit, whatever its size.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import splu

from likewise.numerics.definite import inverse, symmetric
from likewise.numerics.threads import one_thread_if_small

MEDIUM = 10_000  # rows up to which factors are cheap even when they fill
WIDE = 0.05  # of the rows in one layer around a row: no small separators
BLOCK = 64  # columns solved at once
TOL, MAX_STEPS = 1e-14, 1000  # of conjugate gradients


class Eliminated(NamedTuple):
    """What is left of L on the rows V, and how to solve with L."""

    schur: np.ndarray  # S (p, p), symmetric positive definite
    inverse: np.ndarray  # inv(L)[V, V] (p, p), its inverse
    solve: Callable[[np.ndarray], np.ndarray]  # (n, k) -> inv(L) times it, for small k


@one_thread_if_small(lambda L, kept: len(kept) ** 2)
def eliminate(L: csr_array, kept: np.ndarray) -> Eliminated:
    """Reduce L (n, n) to the rows `kept` (p,), by factors or by conjugate gradients."""
    if L.shape[0] <= MEDIUM or widest_layer(L) <= WIDE * L.shape[0]:
        return eliminate_by_factors(L, kept)
    return eliminate_by_gradients(L, kept)


def eliminate_by_factors(L: csr_array, kept: np.ndarray) -> Eliminated:
    """Factorize twice: once to learn a good order, once in that order with V last."""
    n = L.shape[0]
    is_kept = np.zeros(n, dtype=bool)
    is_kept[kept] = True
    good = np.argsort(factorize(L, "MMD_AT_PLUS_A").perm_c)
    order = np.concatenate([good[~is_kept[good]], kept])
    factors = factorize(L[order][:, order], "NATURAL")
    place = factors.perm_c[n - len(kept) :]
    lower = factors.L.tocsr()[place][:, place].toarray()
    upper = factors.U.tocsr()[place][:, place].toarray()
    schur = symmetric(lower @ upper)

    def solve(B: np.ndarray) -> np.ndarray:
        X = np.empty_like(B)
        X[order] = factors.solve(B[order])
        return X

    return Eliminated(schur, inverse(schur), solve)


def eliminate_by_gradients(L: csr_array, kept: np.ndarray) -> Eliminated:
    """Solve for the columns of V a block at a time, keeping only their rows of V."""
    p = len(kept)
    solved = np.empty((p, p))
    for start in range(0, p, BLOCK):
        some = np.arange(start, min(start + BLOCK, p))
        B = np.zeros((L.shape[0], len(some)))
        B[kept[some], some - start] = 1.0
        solved[:, some] = solve_by_gradients(L, B)[kept]
    solved = symmetric(solved)
    return Eliminated(inverse(solved), solved, lambda B: solve_by_gradients(L, B))


def solve_by_gradients(L: csr_array, B: np.ndarray) -> np.ndarray:
    """inv(L) B by conjugate gradients on every column (n, k) at once."""
    X = np.zeros_like(B)
    R, P = B.copy(), B.copy()
    sq_norms = np.einsum("ij,ij->j", R, R)
    goal = TOL**2 * np.maximum(sq_norms, np.finfo(float).tiny)
    for _ in range(MAX_STEPS):
        if (sq_norms <= goal).all():
            break
        LP = L @ P
        steps = sq_norms / np.maximum(np.einsum("ij,ij->j", P, LP), np.finfo(float).tiny)
        X += steps * P
        R -= steps * LP
        before, sq_norms = sq_norms, np.einsum("ij,ij->j", R, R)
        P *= sq_norms / np.maximum(before, np.finfo(float).tiny)
        P += R
    return X


def widest_layer(L: csr_array) -> int:
    """Most rows at one distance, in steps over the graph of L, from a row of its largest piece."""
    _, piece = connected_components(L, directed=False)
    first = int(np.argmax(piece == np.bincount(piece).argmax()))
    steps = dijkstra(abs(L), unweighted=True, indices=first)
    return int(np.bincount(steps[np.isfinite(steps)].astype(np.int64)).max())


def factorize(L: csr_array, order: str):
    """Sparse factors of a symmetric definite matrix: pivots on the diagonal, rows like columns."""
    return splu(L.tocsc(), permc_spec=order, diag_pivot_thresh=0.0, options={"SymmetricMode": True})
