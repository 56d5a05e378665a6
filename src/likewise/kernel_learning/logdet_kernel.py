"""The kernel nearest to a start, in log-det divergence, that satisfies triples and pairs.

    min_K  D(K, K0) + sum_c loss_c(K),     D(K, K0) = tr(K inv(K0)) - log det(K inv(K0)) - r

    closer (a, b, c)       gamma d(a, b) <= d(a, c),  gamma: the margin
    odd one out (a, b, o)  gamma d(a, b) <= d(a, o)  and  gamma d(a, b) <= d(b, o)
    undecided (a, b, c)    d(a, b) = d(a, c) = d(b, c)
    must-link, cannot-link d(a, b) <= near,  d(a, b) >= far

In coordinates Y with K0 = Y Y' the unknown is M with K = Y M Y', from M = I. Only the span of the
rows that answers refer to ever changes, so if these are fewer than the coordinates, the problem is
solved in their span, exactly: M = I + B (M_B - I) B'. Its size does not depend on n.

Solved by sweeps of projections (numerics.logdet_sweeps), whose duals are the answers' pull.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from likewise.constraints import Constraints
from likewise.numerics.logdet_sweeps import sweep_pairs, sweep_triples
from likewise.numerics.pair_distances import pair_sq_distances
from likewise.numerics.psd import symmetric_root
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

COLLAPSED = 1e-10  # smallest eigenvalue of M, relative, at which a direction is lost
CHECK_EVERY = 10  # sweeps between looks at the eigenvalues; they cost as much as a few sweeps


class AnswerRows(NamedTuple):
    """Answers as rows of the problem, and the answer that each row comes from."""

    pairs: np.ndarray  # (p, 2)
    sign: np.ndarray  # (p,) +1.0 near, -1.0 far
    pair_answers: np.ndarray  # (p,)
    triples: np.ndarray  # (t, 3) of (i, j, k): ratio d(i, j) <= d(i, k)
    is_equality: np.ndarray  # (t,)
    triple_answers: np.ndarray  # (t,)


class LearnedKernel(NamedTuple):
    rows: AnswerRows
    metric: np.ndarray  # M (r, r): K = Y M Y'
    root: np.ndarray  # (r, r) symmetric, its square is M: Z = Y root
    pair_duals: np.ndarray  # (p,)
    triple_duals: np.ndarray  # (t,) of either sign for equalities
    divergence: float  # D(K, K0)
    n_iter: int
    converged: bool
    collapsed: bool  # the answers contradict each other: hard constraints have no solution

    def answer_duals(self, n_answers: int) -> np.ndarray:
        """How hard each answer pulls: the sum of the sizes of its rows' duals, (n_answers,)."""
        return np.bincount(
            np.concatenate([self.rows.pair_answers, self.rows.triple_answers]),
            weights=np.abs(np.concatenate([self.pair_duals, self.triple_duals])),
            minlength=n_answers,
        )


def problem_rows(constraints: Constraints) -> AnswerRows:
    """Every answer of weight > 0, as rows of the problem."""
    has_weight = constraints.weights > 0
    pairs, sign = constraints.signed_pairs()
    pair_answers = constraints.positions("must_link", "cannot_link")
    odd, closer, undecided = constraints.odd_one_out, constraints.closer, constraints.undecided
    triples = np.concatenate(
        [odd, odd[:, [1, 0, 2]], closer]
        + [undecided[:, [0, 1, 2]], undecided[:, [1, 2, 0]], undecided[:, [2, 0, 1]]]
    )
    kinds = ("odd_one_out",) * 2 + ("closer",) + ("undecided",) * 3
    triple_answers = np.concatenate([constraints.positions(kind) for kind in kinds])
    is_equality = np.arange(len(triples)) >= 2 * len(odd) + len(closer)
    p, t = has_weight[pair_answers], has_weight[triple_answers]
    return AnswerRows(
        pairs[p],
        sign[p].astype(np.float64),
        pair_answers[p],
        triples[t],
        is_equality[t],
        triple_answers[t],
    )


def learn_from_answers(
    Y: np.ndarray,
    answers: Constraints,
    *,
    C: float,
    sq_bounds: tuple[float, float],
    margin: float,
    loss: str = "hinge",
    tol: float,
    max_iter: int = 500,
    seed: int = 0,
) -> LearnedKernel:
    """`learn_metric` with one strength C for every answer, times its weight."""
    rows = problem_rows(answers)
    return learn_metric(
        Y,
        rows,
        sq_bounds=sq_bounds,
        margin=margin,
        pair_strengths=C * answers.weights[rows.pair_answers],
        triple_strengths=C * answers.weights[rows.triple_answers],
        loss=loss,
        tol=tol,
        max_iter=max_iter,
        rng=np.random.RandomState(seed),
    )


@one_thread_if_small(lambda Y, *_, **__: min(Y.shape) ** 2)
def learn_metric(
    Y: np.ndarray,  # (n, r) coordinates of the start
    rows: AnswerRows,
    *,
    sq_bounds: tuple[float, float],  # near, far
    margin: float,
    pair_strengths: np.ndarray,  # (p,) inf: hard
    triple_strengths: np.ndarray,  # (t,)
    loss: str,  # of numerics.logdet_sweeps
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
) -> LearnedKernel:
    """Sweep over the answers, in a new random order each time, until no dual moves."""
    basis, Y, pairs, triples = _reduce(Y, rows)
    M = np.eye(Y.shape[1])
    pair_duals, triple_duals = np.zeros(len(pairs)), np.zeros(len(triples))
    sq_targets = np.where(rows.sign > 0, *sq_bounds)
    ratios = np.where(rows.is_equality, 1.0, margin)
    is_hard = bool(np.isinf(pair_strengths).any() or np.isinf(triple_strengths).any())

    def sweep() -> float:
        moves = [0.0]
        if len(pairs):
            swept = sweep_pairs(
                M,
                Y,
                pairs,
                pair_duals,
                sign=rows.sign,
                sq_targets=sq_targets,
                strengths=pair_strengths,
                loss=loss,
                order=rng.permutation(len(pairs)),
                ignore_below=tol,
            )
            moves.append(swept.largest_move)
        if len(triples):
            swept = sweep_triples(
                M,
                Y,
                triples,
                triple_duals,
                ratios=ratios,
                is_equality=rows.is_equality,
                strengths=triple_strengths,
                loss=loss,
                order=rng.permutation(len(triples)),
                ignore_below=tol,
            )
            moves.append(swept.largest_move)
        return max(moves)

    sane = M.copy(), pair_duals.copy(), triple_duals.copy()
    n_iter, converged, collapsed = 0, False, False
    sweeps = range(1, max_iter + 1)
    for n_iter in track(sweeps, "projecting onto answers", may_end_early=True):
        converged = sweep() <= tol
        if is_hard and (converged or n_iter % CHECK_EVERY == 0 or n_iter == max_iter):
            collapsed = _has_collapsed(M)
            if collapsed:
                M, pair_duals, triple_duals = sane
                converged = False
                break
            sane = M.copy(), pair_duals.copy(), triple_duals.copy()
        if converged:
            break
    divergence = float(np.trace(M) - np.linalg.slogdet(M)[1] - len(M))
    root = symmetric_root(M)
    if basis is not None:
        M, root = expand(basis, M), expand(basis, root)
    duals = pair_duals, triple_duals
    return LearnedKernel(rows, M, root, *duals, divergence, n_iter, converged, collapsed)


def misses_margins(
    Z: np.ndarray, constraints: Constraints, *, margin: float, sq_bounds: tuple, tol: float
) -> np.ndarray:
    """Which answers (n_answers,) are violated by more than a share `tol` in the space of Z."""
    rows = problem_rows(constraints)

    violated = np.zeros(constraints.n_answers, dtype=bool)
    targets = np.where(rows.sign > 0, *sq_bounds)
    beyond = rows.sign * (pair_sq_distances(Z, rows.pairs) - targets) > tol * targets
    near = pair_sq_distances(Z, rows.triples[:, [0, 1]])
    far = pair_sq_distances(Z, rows.triples[:, [0, 2]])
    larger = np.maximum(near, far)
    excess = np.where(rows.is_equality, np.abs(near - far), margin * near - far)
    violated[rows.pair_answers[beyond]] = True
    violated[rows.triple_answers[excess > tol * larger]] = True
    return violated


def _reduce(Y: np.ndarray, rows: AnswerRows):
    """The span of the rows that answers refer to, if it is smaller than the whole space."""
    points, places = np.unique(
        np.concatenate([rows.pairs.ravel(), rows.triples.ravel()]), return_inverse=True
    )
    pairs = places[: rows.pairs.size].reshape(-1, 2)
    triples = places[rows.pairs.size :].reshape(-1, 3)
    touched = Y[points]
    if len(points) >= Y.shape[1]:
        return None, touched, pairs, triples
    basis = qr(touched.T, mode="economic")[0]  # (r, p) orthonormal
    return basis, touched @ basis, pairs, triples


def expand(basis: np.ndarray, small: np.ndarray) -> np.ndarray:
    """The identity (r, r) outside the span of the basis; the same for M and for its root."""
    return np.eye(len(basis)) + basis @ (small - np.eye(len(small))) @ basis.T


def _has_collapsed(M: np.ndarray) -> bool:
    if not np.isfinite(M).all():
        return True
    values = np.linalg.eigvalsh(M)
    return bool(values[0] <= COLLAPSED * max(values[-1], 1.0))  # 1: where it started
