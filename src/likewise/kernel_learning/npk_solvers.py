"""Three ways to solve NPK's problem on the rows that pairs refer to.

    min over Z >= 0   <S, Z> + 2 sum_k c_k max(0, 1 - t_k Z_ij)

S (p, p) is what elimination leaves of the Laplacian on those rows. In this room a problem holds
its inverse G, from which S on fewer rows is again an inverse: inv(G[A, A]).

solve_exactly   certified optimum: interior points, on a working set of pairs. Most pairs end beyond
                their margin with dual 0, and a row without any remaining pair is dropped too.
climb_barrier   coordinate ascent on the dual with a log-det barrier; every step in closed form.
climb_paper     hoi2007, section 3: coordinate ascent to the edge of the cone, where it stalls, and
                then their equation (6) on the null space it ended in.

Each returns a kernel of low rank and a dual point, and with them a certified gap.
Reference: hoi2007. We differ from it in solve_exactly and climb_barrier; climb_paper stops just
before the edge and inverts M again after every step, because rounding would ruin updates of it.
"""

from typing import NamedTuple

import numpy as np

from likewise.numerics.definite import factor, inverse, inverse_of, symmetric
from likewise.numerics.eigen import eigh
from likewise.numerics.interior_point import ConeOptimum, SignedPairs, relative_gap, solve_pairs
from likewise.numerics.psd import fix_signs
from likewise.numerics.threads import one_thread_if_small

FEW = 200  # pairs that are solved all at once
FIRST = 0.1  # share of the pairs in the first working set: those the graph contradicts most
GROW = 0.7  # how much a working set may grow in a round
LOOSE = 3e-2  # gap that is enough to see which pairs are missing
NEW_DUAL = 0.1  # of a pair that joins the working set, relative to the mean
DROP_ROUNDS = 8  # after which nothing leaves any more, so that it ends
CUTOFFS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # of the largest eigenvalue: what may go
BARRIER_FALL, BARRIER_END = 0.2, 1e-5  # mu falls by the first until it is the second
SETTLED = 1e-5  # sum of the moves of a sweep, relative to that of the duals: mu can fall
FRACTION = 0.9999  # of a step to the edge of the cone, where M has no inverse
EDGE = 1e-10  # eigenvalues of M below this are on the edge: H could not be trusted
STALLED = 1e-6  # gain of a sweep, relative to the dual value
WORSE = 1e-3  # that a cut may make a gap above tol
NULL, NEARLY_NULL = 1e-5, 0.05  # eigenvalues of M, of the largest, that count as zero in (6)


class PairProblem(NamedTuple):
    G: np.ndarray  # (p, p), inverse of S
    pairs: np.ndarray  # (m, 2), among the p rows
    signs: np.ndarray  # (m,) of +1 and -1
    costs: np.ndarray  # (m,), > 0


class PairKernel(NamedTuple):
    """Z = Y Y' on some of the p rows; on all others it follows from the graph."""

    rows: np.ndarray  # (a,) of the p
    pull: np.ndarray  # (a, r) inv(G[rows, rows]) Y: G[:, rows] @ pull is Y on all p rows
    duals: np.ndarray  # (m,) in [0, costs]
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        return relative_gap(self.primal, self.dual)


@one_thread_if_small(lambda problem, **_: problem.G.size)
def solve_exactly(problem: PairProblem, *, tol: float, max_iter: int) -> PairKernel:
    """The optimum, certified to a relative gap of `tol`."""
    costs = problem.costs
    working = first_working_set(problem)
    part, start = restrict(problem, working), None
    n_iter = n_rounds = 0
    while True:
        found = solve_pairs(
            part.S,
            part.pairs,
            part.signs,
            part.costs,
            tol=tol / 2,  # the other half is for cutting the rank
            max_iter=max_iter,
            enough=None if working.all() else Scout(problem, part, ~working),
            start=start,
        )
        n_iter, n_rounds = n_iter + found.n_iter, n_rounds + 1
        duals = np.zeros(len(costs))
        duals[working] = found.duals
        margins = margins_of(problem, part.rows, part.S @ np.linalg.cholesky(found.Z))
        lacking = ~working & (margins < 1)
        primal = found.primal + 2 * costs[lacking] @ (1 - margins[lacking])
        if not (found.converged or lacking.any() or start is None):
            start = None  # where rounding ends a carried-over run, one from the beginning may do
            continue
        is_over = not lacking.any() or found.gap > LOOSE  # the latter: out of steps
        if is_over or relative_gap(primal, found.dual) <= tol / 2:
            return cut_rank(problem, part.rows, part.S, found.Z, duals, n_iter, tol)
        if n_rounds <= DROP_ROUNDS:  # on the central path dual times slack is the same for all
            working &= duals >= found.duals.mean() * (margins - 1)
        room = max(FEW // 10, int(GROW * working.sum()))
        worst = np.argsort(np.where(lacking, margins, np.inf), kind="stable")[:room]
        working[worst[lacking[worst]]] = True
        last, part = part, restrict(problem, working)
        start = carry_over(problem, last, found, part, duals[working])


class Part(NamedTuple):
    """The problem on some pairs and their rows alone."""

    rows: np.ndarray  # (a,) of the p
    S: np.ndarray  # (a, a)
    pairs: np.ndarray  # among these rows
    signs: np.ndarray
    costs: np.ndarray


def restrict(problem: PairProblem, working: np.ndarray) -> Part:
    G, pairs, signs, costs = problem
    rows, local = np.unique(pairs[working], return_inverse=True)
    S = inverse(G[np.ix_(rows, rows)])
    return Part(rows, S, local.reshape(-1, 2), signs[working], costs[working])


class Scout:
    """Whether pairs outside the working set miss their margin: then continuing is pointless.

    It checks again, more closely, whenever the gap has fallen to a tenth.
    """

    def __init__(self, problem: PairProblem, part: Part, outside: np.ndarray):
        self.problem, self.part, self.outside = problem, part, outside
        self.look_at = LOOSE

    def __call__(self, found: ConeOptimum) -> bool:
        if found.gap > self.look_at:
            return False
        self.look_at = found.gap / 10
        pull = self.part.S @ np.linalg.cholesky(found.Z)
        margins = margins_of(self.problem, self.part.rows, pull)
        return bool((margins[self.outside] < 1 - found.gap).any())


def carry_over(problem: PairProblem, last: Part, found: ConeOptimum, part: Part, duals: np.ndarray):
    """A start on other pairs, as central as the last iterate was on the last.

    Z on rows that are new follows from the graph, as everywhere, and gets mu inv(M) on top to be
    definite. Pairs that are new get a small dual.
    """
    mu = (found.primal - found.dual) / (len(last.rows) + 2 * len(last.pairs))
    over = SignedPairs(part.pairs, part.signs, size=len(part.rows))
    q = np.minimum(np.where(duals > 0, duals, NEW_DUAL * found.duals.mean()), 0.9 * part.costs)
    while (M_factor := factor(part.S - over.matrix(q))) is None:
        q = 0.9 * q
    F = problem.G[np.ix_(part.rows, last.rows)] @ last.S
    return symmetric(F @ found.Z @ F.T + mu * inverse_of(M_factor)), q, mu


def first_working_set(problem: PairProblem) -> np.ndarray:
    """(m,) the pairs that the graph contradicts most; all pairs if they are few."""
    G, pairs, signs, _ = problem
    working = np.ones(len(pairs), dtype=bool)
    if len(pairs) > FEW:
        i, j = pairs.T
        cosines = signs * G[i, j] / np.sqrt(G[i, i] * G[j, j])
        working[np.argsort(cosines, kind="stable")[max(FEW // 2, int(FIRST * len(pairs))) :]] = 0
    return working


@one_thread_if_small(lambda problem, **_: problem.G.size)
def climb_barrier(problem: PairProblem, *, tol: float, max_iter: int) -> PairKernel:
    """Maximize 2 sum q + mu log det M one dual at a time, for ever smaller mu.

    Z = mu inv(M) is its primal side, but lags far behind the duals; equation (6) does better.
    """
    G, pairs, signs, costs = problem
    S = inverse(G)
    over = SignedPairs(pairs, signs, size=len(S))
    q, H, mu = np.zeros(len(pairs)), G.copy(), 1.0
    n_iter, settled = 0, False
    while n_iter < max_iter and not (settled and mu <= BARRIER_END):
        mu = max(BARRIER_END, BARRIER_FALL * mu) if settled else mu
        before = q.copy()
        for k, ((i, j), t) in enumerate(zip(pairs, signs)):
            step = barrier_step(H[i, i], H[j, j], t * H[i, j], mu / 2)
            step = np.clip(q[k] + step, 0, costs[k]) - q[k]
            q[k] += step
            move_pair(H, i, j, -t * step)
        H = inverse(S - over.matrix(q))  # the updates gather rounding
        settled = np.abs(q - before).sum() <= SETTLED * q.sum()
        n_iter += 1
    return recover(problem, S, q, n_iter, tol, settled, null=NEARLY_NULL)


def barrier_step(a: float, d: float, b: float, h: float) -> float:
    """Where 2 step + 2 h log((1 - step b)^2 - step^2 a d) is largest: the better of two forms."""
    D = a * d - b * b
    root = np.sqrt(a * d + (h * D) ** 2)
    if b + h * D >= 0:
        return (1 - 2 * h * b) / (root + b + h * D)
    return (root - b - h * D) / D


@one_thread_if_small(lambda problem, **_: problem.G.size)
def climb_paper(problem: PairProblem, *, tol: float, max_iter: int, rng) -> PairKernel:
    """The paper's sequential minimal optimization, and its recovery of Z by equation (6)."""
    G, pairs, signs, costs = problem
    S = inverse(G)
    M, q, H = S.copy(), np.zeros(len(pairs)), G
    n_iter, stalled = 0, False
    while n_iter < max_iter and not stalled:
        before = q.sum()
        for k in rng.permutation(len(pairs)):
            (i, j), t = pairs[k], signs[k]
            to_edge = 1 / (np.sqrt(H[i, i] * H[j, j]) + t * H[i, j])
            step = min(FRACTION * to_edge, costs[k] - q[k])
            M[[i, j], [j, i]] -= t * step
            if factor(M - EDGE * np.eye(len(M))) is None:  # the pair is blocked
                M[[i, j], [j, i]] += t * step
            else:
                q[k] += step
                H = inverse(M)
        n_iter += 1
        stalled = q.sum() - before <= STALLED * q.sum()
    return recover(problem, S, q, n_iter, tol, stalled, null=NULL)


def recover(problem, S, q, n_iter, tol, settled, *, null) -> PairKernel:
    """Equation (6): the best Z = U B U' over the null space U of M, by interior points."""
    _, pairs, signs, costs = problem
    values, vectors = eigh(S - SignedPairs(pairs, signs, size=len(S)).matrix(q))
    U = vectors[:, values <= max(null * values[-1], values[0])]
    small = solve_pairs(U.T @ S @ U, pairs, signs, costs, basis=U, tol=tol / 2)
    found = cut_rank(problem, np.arange(len(S)), S, U @ small.Z @ U.T, q, n_iter, tol)
    return found._replace(converged=settled)


def move_pair(H: np.ndarray, i: int, j: int, s: float) -> None:
    """inv(M + s E_ij) from H = inv(M), in place (Sherman-Morrison-Woodbury)."""
    h_i, h_j = H[i].copy(), H[j].copy()
    a, d, b = h_i[i], h_j[j], h_i[j]
    share = s / ((1 + s * b) ** 2 - s * s * a * d)
    left = np.stack([h_i, h_j])
    core = share * np.array([[-s * d, 1 + s * b], [1 + s * b, -s * a]])
    H -= left.T @ (core @ left)


def cut_rank(
    problem: PairProblem,
    rows: np.ndarray,
    S: np.ndarray,  # (a, a) on these rows
    Z: np.ndarray,  # (a, a)
    duals: np.ndarray,
    n_iter: int,
    tol: float,
) -> PairKernel:
    """The least rank among cuts of Z whose certified gap is within `tol`, or as good as Z's."""
    values, vectors = eigh(Z)
    values, vectors = np.maximum(values[::-1], 0.0), fix_signs(vectors[:, ::-1])
    dual = float(2 * duals.sum())

    def leading(r: int) -> PairKernel:
        Y = vectors[:, :r] * np.sqrt(values[:r])
        pull = S @ Y
        hinge = np.maximum(1 - margins_of(problem, rows, pull), 0)
        primal = float(np.vdot(Y, pull) + 2 * problem.costs @ hinge)
        good = relative_gap(primal, dual) <= tol
        return PairKernel(rows, pull, duals, primal, dual, n_iter, converged=good)

    nothing, whole = leading(0), leading(len(Z))
    if nothing.gap <= tol:
        return nothing
    allowed = max(tol, (1 + WORSE) * whole.gap)
    ranks = [int(np.count_nonzero(values > cutoff * values[0])) for cutoff in CUTOFFS]
    return next((cut for cut in map(leading, ranks) if cut.gap <= allowed), whole)


def margins_of(problem: PairProblem, rows: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """t_k Z_ij (m,) of all pairs, from a factor on some rows."""
    Y = problem.G[:, rows] @ pull
    i, j = problem.pairs.T
    return problem.signs * np.einsum("kr,kr->k", Y[i], Y[j])
