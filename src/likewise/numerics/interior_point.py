"""A small semi-definite program with a hinge on pairs, solved to a certified gap.

    primal  min over Z >= 0        <L, Z> + 2 sum_k c_k max(0, 1 - t_k Z_ij)
    dual    max over 0 <= q <= c   2 sum_k q_k    s.t.   M = L - sum_k q_k t_k E_ij >= 0

k runs over pairs (i, j) with signs t_k = +1 or -1, and E_ij = e_i e_j' + e_j e_i': a pair counts in
both orders. All is dense, (p, p). With a basis U (p, r) the kernel is U Z U', and Z, L are (r, r).

A primal-dual interior-point method: the direction of Helmberg, Kojima and Monteiro with Mehrotra's
predictor and corrector. Every iterate is strictly feasible on both sides, for a hinge takes up what
a pair lacks, so the values of the two problems enclose the optimum from the first step on.
A step costs O(p^3 + m^3): two products of p x p matrices, three factorizations and an inverse. How
far it may go is estimated by a few Lanczos steps, and verified by the factors it ends in.
Reference: helmberg1996, mehrotra1992; the problem is that of hoi2007.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.sparse import csr_array

from likewise.numerics.definite import (
    factor,
    inverse,
    inverse_of,
    largest_step,
    sure_factor,
    symmetric,
)
from likewise.numerics.threads import one_thread_if_small

TOWARD_BOUNDARY = 0.9  # share of a feasible step that is taken; 0.95 stalled once
SHRINK = 0.8  # a step that leaves the cone, for a Lanczos estimate can be a little too long
SHORTEST = 1e-6  # a step below this is none: rounding has the word
RIDGE = 1e-14  # of the largest diagonal entry, where rounding has made B indefinite


class ConeOptimum(NamedTuple):
    """Both sides of the optimum."""

    Z: np.ndarray  # (p, p), or (r, r) with a basis; positive definite
    duals: np.ndarray  # (m,), strictly between 0 and the costs
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        """Certified: neither value is further than this from the optimum, relative to it."""
        return relative_gap(self.primal, self.dual)


def relative_gap(primal: float, dual: float) -> float:
    """The difference of the two values, relative to the dual's where that is above 1."""
    return (primal - dual) / max(1.0, dual)


@one_thread_if_small(lambda L, *_, **__: L.size)
def solve_pairs(
    L: np.ndarray,  # (p, p) positive definite; (r, r) with a basis
    pairs: np.ndarray,  # (m, 2)
    signs: np.ndarray,  # (m,) of +1 and -1
    costs: np.ndarray,  # (m,) > 0
    *,
    basis: np.ndarray | None = None,  # U (p, r)
    tol: float = 1e-7,
    max_iter: int = 100,
    enough: Callable[[ConeOptimum], bool] | None = None,  # is shown every iterate, and may end it
    start: tuple[np.ndarray, np.ndarray, float] | None = None,  # Z, q and about <Z, M> / p
) -> ConeOptimum:
    """Solve the program above until the relative gap is at most `tol`.

    A start must be strictly feasible: Z and M positive definite, q between 0 and the costs.
    """
    r, m = len(L), len(pairs)
    over = SignedPairs(pairs, signs, size=r if basis is None else len(basis), basis=basis)
    Z, q, mu = first_start(L, over, costs) if start is None else start
    M = L - over.matrix(q)
    Z_factor, M_factor = sure_factor(Z), sure_factor(M)
    e, w = slacks(1 - over.margins(Z), q, costs, mu)
    n_iter, stuck = 0, False
    while True:
        primal = np.vdot(L, Z) + 2 * costs @ np.maximum(1 - over.margins(Z), 0)
        found = ConeOptimum(Z, q, float(primal), float(2 * q.sum()), n_iter, converged=False)
        if found.gap <= tol or stuck or n_iter >= max_iter or (enough and enough(found)):
            return found._replace(converged=found.gap <= tol)
        n_iter += 1
        at = Iterate(Z, e, w, inverse_of(M_factor), 2 * (costs - q), 2 * q)
        s1, s2 = at.s1, at.s2
        mu = (np.vdot(Z, M) + e @ s1 + w @ s2) / (r + 2 * m)
        B = over.schur(Z, at.H)
        B[np.diag_indices(m)] += 4 * e / s1 + 4 * w / s2
        B_factor = factor_nearly(B)
        # Predictor: straight for the optimum.
        dq, D, dZ, de, dw = find_move(over, at, B_factor, 0.0, None, -e, -w)
        up = longest_step(Z, Z_factor, dZ, (e, de), (w, dw))
        down = longest_step(M, M_factor, -D, (s1, -2 * dq), (s2, 2 * dq))
        ahead = np.vdot(Z + up * dZ, M - down * D)
        ahead += (e + up * de) @ (s1 - 2 * down * dq) + (w + up * dw) @ (s2 + 2 * down * dq)
        # Corrector: the less that way gets, the more to the center, and its curvature too.
        target = mu * min(1.0, max(ahead, 0.0) / (mu * (r + 2 * m))) ** 3
        e_left = (target + 2 * de * dq) / s1 - e
        w_left = (target - 2 * dw * dq) / s2 - w
        dq, D, dZ, de, dw = find_move(over, at, B_factor, target, -(D @ dZ).T, e_left, w_left)
        up = longest_step(Z, Z_factor, dZ, (e, de), (w, dw))
        down = longest_step(M, M_factor, -D, (s1, -2 * dq), (s2, 2 * dq))
        up, Z, Z_factor = take_step(Z, Z_factor, dZ, up)
        down, M, M_factor = take_step(M, M_factor, -D, down)
        e, w, q = e + up * de, w + up * dw, q + down * dq
        stuck = max(up, down) == 0


class Iterate(NamedTuple):
    Z: np.ndarray  # (r, r)
    e: np.ndarray  # (m,) what a pair lacks of its margin
    w: np.ndarray  # (m,) what it has beyond it
    H: np.ndarray  # (r, r), inverse of M
    s1: np.ndarray  # (m,) 2 (c - q), dual to e
    s2: np.ndarray  # (m,) 2 q, dual to w


def find_move(
    over: "SignedPairs", at: Iterate, B_factor, target, curvature, e_left, w_left
) -> tuple:
    """Moves of q, M (its negative), Z, e and w that bring Z M to target I and the like.

    `curvature` is the product of the predictor's moves of Z and M, (r, r), or None; `e_left` and
    `w_left` are what e and w would move by if q stood still.
    """
    Z, e, w, H, s1, s2 = at
    right = 2 * (1 - e + w - target * over.margins(H) - e_left + w_left)
    if curvature is not None:
        right += 2 * over.margins_of_product(curvature, H)
    dq = dpotrs(B_factor, right, lower=1)[0]
    D = over.matrix(dq)
    left = -(D @ Z).T if curvature is None else curvature - (D @ Z).T
    dZ = target * H - Z - symmetric(left @ H)
    return dq, D, dZ, e_left + 2 * dq * e / s1, w_left - 2 * dq * w / s2


class SignedPairs:
    """What the pairs do to matrices: the margins t_k X_ij, and the sum of q_k t_k E_ij."""

    def __init__(
        self,
        pairs: np.ndarray,
        signs: np.ndarray,
        *,
        size: int,  # p
        basis: np.ndarray | None = None,  # U (p, r)
    ):
        self.i, self.j = pairs.T
        self.signs = signs.astype(np.float64)
        self.basis = basis
        self.size = size

    def matrix(self, q: np.ndarray):
        """Sum of q_k t_k E_ij: sparse (p, p), or dense (r, r) with a basis."""
        values = q * self.signs
        rows, columns = np.r_[self.i, self.j], np.r_[self.j, self.i]
        D = csr_array((np.r_[values, values], (rows, columns)), shape=(self.size, self.size))
        return D if self.basis is None else self.basis.T @ (D @ self.basis)

    def rows(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of X, or of U X, of the first and the second point of every pair, (m, .) each."""
        if self.basis is None:
            return X[self.i], X[self.j]
        return self.basis[self.i] @ X, self.basis[self.j] @ X

    def columns(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of columns."""
        if self.basis is None:
            return np.take(X, self.i, axis=1), np.take(X, self.j, axis=1)
        return X @ self.basis[self.i].T, X @ self.basis[self.j].T

    def margins(self, X: np.ndarray) -> np.ndarray:
        """t_k X_ij of a symmetric X."""
        if self.basis is None:
            return self.signs * X[self.i, self.j]
        return self.signs * np.einsum("kr,kr->k", self.basis[self.i] @ X, self.basis[self.j])

    def margins_of_product(self, A: np.ndarray, H: np.ndarray) -> np.ndarray:
        """t_k times the symmetric part of A H at (i, j), H symmetric, without forming A H."""
        (A_i, A_j), (H_i, H_j) = self.rows(A), self.rows(H)
        both = np.einsum("kr,kr->k", A_i, H_j) + np.einsum("kr,kr->k", A_j, H_i)
        return self.signs * both / 2

    def schur(self, Z: np.ndarray, H: np.ndarray) -> np.ndarray:
        """B_kl = t_k t_l <E_k, Z E_l H>, symmetrized: what a move of q_l does to margin k."""
        (Z_i, Z_j), (H_i, H_j) = self.rows(Z), self.rows(H)
        (Z_ii, Z_ij), (H_ii, H_ij) = self.columns(Z_i), self.columns(H_i)
        Z_jj, H_jj = self.columns(Z_j)[1], self.columns(H_j)[1]
        B = Z_ii * H_jj
        B += Z_jj * H_ii
        cross = Z_ij * H_ij.T
        B += cross
        B += cross.T
        B *= self.signs
        B *= self.signs[:, None]
        return B


def first_start(L: np.ndarray, over: SignedPairs, costs: np.ndarray):
    """Z between I and inv(L), and half of the largest duals 2^-n c that keep M definite."""
    Z = inverse(L)
    Z *= len(L) / np.trace(Z)
    Z[np.diag_indices(len(L))] += 1.0
    q = costs / 2
    while factor(np.asarray(L - over.matrix(2 * q))) is None:
        q = q / 2
    return Z, q, 1.0


def slacks(lack: np.ndarray, q: np.ndarray, costs: np.ndarray, mu: float):
    """What pairs lack, e, and have beyond, w: e - w = lack, as near as can be to the central path.

    On it, e is mu / 2 (c - q) and w is mu / 2 q; the one that would be too small gives way.
    """
    e, w = mu / (2 * (costs - q)), mu / (2 * q)
    more = lack - (e - w)
    return e + np.maximum(more, 0), w + np.maximum(-more, 0)


def longest_step(A: np.ndarray, C: np.ndarray, move, *slacks) -> float:
    """Share of a step, at most 1, that stays well within A + share move >= 0 and slacks >= 0."""
    limits = [longest_share(slack, dslack) for slack, dslack in slacks]
    return min(1.0, TOWARD_BOUNDARY * min(largest_step(A, C, move), *limits))


def take_step(A: np.ndarray, C: np.ndarray, move, step: float):
    """The step taken, A moved by it, and its factor; a step that proves too long is cut."""
    while step >= SHORTEST:
        moved = np.asarray(A + step * move)
        moved_factor = factor(moved)
        if moved_factor is not None:
            return step, moved, moved_factor
        step *= SHRINK
    return 0.0, A, C


def longest_share(values: np.ndarray, moves: np.ndarray) -> float:
    """How much of the moves (m,) takes the first of the positive values (m,) to zero."""
    shares = -moves / values
    return 1 / max(shares.max(initial=0.0), 1e-300)


def factor_nearly(B: np.ndarray) -> np.ndarray:
    """Cholesky factor of a matrix that is definite but for rounding."""
    ridge = 0.0
    while (C := factor(B)) is None:
        more = max(10 * ridge, RIDGE * B.diagonal().max())
        B[np.diag_indices(len(B))] += more - ridge
        ridge = more
    return C
