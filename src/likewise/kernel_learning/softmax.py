"""The kernel nearest to a start, in log-det divergence, under which people's answers are likely.

    min_K  D(K, K0) + C sum_i w_i l_i(K),     D(K, K0) = tr(K inv(K0)) - log det(K inv(K0)) - r

    l_i = <target_i, d_i> + log sum exp(-d_i)      d_i: squared distances between the options of i

    odd one out (a, b, o)  options d(a, b), d(a, o), d(b, o)     target (1, 0, 0)
    closer (a, b, c)       options d(a, b), d(a, c)              target (1, 0)
    undecided (a, b, c)    options d(a, b), d(a, c), d(b, c)     target (1/3, 1/3, 1/3)
    must-link (a, b)       options d(a, b), t                    target (1, 0)
    cannot-link (a, b)     options d(a, b), t                    target (0, 1)

An answer is modeled as a choice by a softmax over squared distances; a pair of rows is together if
it is closer than a threshold t, which is learned too. The scale of K0 is how certain the start is
about every choice, and the divergence keeps it there: if the scale were free, it would grow with
every answer that happens to fit. The threshold is the squared distance of two extra rows, apart
from all others, so leaving its start costs as much as it does for the kernel.

In coordinates Y with K0 = Y Y' the unknown is M = W W' with K = Y M Y'. The problem is convex in M.
It is solved by L-BFGS in W, whose stationary points with W invertible are those in M; answers are
added up by pair of rows, so the cost of a step does not depend on how many there are. With the
chances p_i that M gives to the options, and G = C sum_i w_i sum_j (target_ij - p_ij) v_j v_j', v_j
the difference of coordinates of option j, the dual value

    log det(I + G) + C sum_i w_i entropy(p_i)

bounds the optimum from below wherever I + G is positive definite: the gap to it is the certificate.

Reference: the choice is that of tamuz2011 and vandermaaten2012 without their exponents, the
divergence is amid2015's. We differ from both in having a convex problem around a start.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, lu_factor, lu_solve, qr
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array
from scipy.special import xlogy

from likewise.constraints import Constraints
from likewise.numerics.pair_distances import pair_sq_distances
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

MEMORY = 8  # steps that L-BFGS remembers
DENSE_PAIRS = 0.01  # share of all pairs of rows from which whole matrices beat chosen pairs
MANY_DIRECTIONS = 1.25  # times the leading ones: fewer than that are all learned at once
FEWER = 0.7  # rows per direction below which the span of the rows is worth finding
MIN_DECREASE = 1e-4  # of what the slope promises: Armijo's rule
SHORTEST_STEP = 1e-7
PATIENCE = 3  # steps over which progress is called slow: the first ones from a root are short
LOG_SCALES = (-3.0, 3.0)  # calibration searches e^-3 to e^3
OPTIONS = ([0, 1], [0, 2], [1, 2])


class Choices(NamedTuple):
    """Answers as choices between squared distances of pairs of rows; 2 or 3 options each."""

    pairs: np.ndarray  # (q, 2) distinct pairs of rows; rows n and n + 1 hold the threshold
    options: np.ndarray  # (m, 3) places in `pairs`; q where there is no third option
    targets: np.ndarray  # (m, 3) the answer, as shares of the options
    weights: np.ndarray  # (m,)
    has_threshold: bool


class Rest(NamedTuple):
    """Directions that keep the start's distances while others are learned."""

    sq_dists: np.ndarray  # (q,) of the pairs of some choices
    spread: float  # mean squared distance


class Chosen(NamedTuple):
    metric: np.ndarray  # M (r, r): K = Y M Y'
    root: np.ndarray  # W of the problem solved, to start the next one from
    threshold: float  # t; nan without pairs
    chances: np.ndarray  # (m, 3) of each option
    sq_dists: np.ndarray  # (m, 3) of each option; inf where there is none
    divergence: float  # D(K, K0)
    gap: float  # relative duality gap; nan when not asked for
    n_iter: int
    converged: bool


def choices_of(constraints: Constraints) -> Choices:
    """Every answer as a choice, in the order of the answers."""
    n, m = constraints.n_samples, constraints.n_answers
    ends = np.full((m, 3, 2), -1)
    targets = np.zeros((m, 3))
    for kind in ("odd_one_out", "undecided", "closer"):
        at, rows = constraints.positions(kind), getattr(constraints, kind)
        for option, columns in enumerate(OPTIONS[:2] if kind == "closer" else OPTIONS):
            ends[at, option] = rows[:, columns]
        targets[at] = [1 / 3] * 3 if kind == "undecided" else [1, 0, 0]
    at = constraints.positions("must_link", "cannot_link")
    pairs, sign = constraints.signed_pairs()
    ends[at, 0], ends[at, 1] = pairs, (n, n + 1)
    targets[at, 0], targets[at, 1] = sign > 0, sign < 0
    codes = np.sort(ends, axis=2) @ [n + 2, 1]
    codes[ends[:, :, 0] < 0] = (n + 2) ** 2  # no such option: sorts behind all pairs
    distinct, options = np.unique(codes, return_inverse=True)
    options = options.reshape(m, 3)
    distinct = distinct[distinct < (n + 2) ** 2]
    pairs = np.column_stack(np.divmod(distinct, n + 2))
    return Choices(pairs, options, targets, constraints.weights, bool(len(at)))


def span_of_rows(Y: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Principal axes (r, p) of the rows and their coordinates there, if that saves directions."""
    if len(Y) > FEWER * Y.shape[1]:
        return None, Y
    vectors = np.linalg.eigh(Y @ Y.T)[1][:, ::-1]
    basis = qr(Y.T @ vectors, mode="economic")[0]
    return basis, Y @ basis


def split_directions(Y: np.ndarray, n_leading: int) -> tuple[np.ndarray, np.ndarray]:
    """The directions (columns) of largest variance and the others; all lead where few do not."""
    order = np.argsort(-Y.var(axis=0), kind="stable")
    if Y.shape[1] <= MANY_DIRECTIONS * n_leading:
        n_leading = Y.shape[1]
    return np.sort(order[:n_leading]), np.sort(order[n_leading:])


def rest_of(Y: np.ndarray, choices: Choices) -> Rest | None:
    """What directions that are not learned add to the squared distances of the options."""
    if not Y.shape[1]:
        return None
    sq_dists = np.zeros(len(choices.pairs))
    last = len(choices.pairs) - choices.has_threshold
    sq_dists[:last] = pair_sq_distances(Y, choices.pairs[:last])
    return Rest(sq_dists, float(2 * Y.var(axis=0).sum()))


def embed_root(root: np.ndarray, leading: np.ndarray, n_directions: int) -> np.ndarray:
    """W of the leading directions, and of a threshold, as one of all directions."""
    has_threshold = len(root) > len(leading)
    at = np.append(leading, n_directions) if has_threshold else leading
    W = np.eye(n_directions + has_threshold, dtype=root.dtype)
    W[np.ix_(at, at)] = root
    return W


@one_thread_if_small(lambda Y, *_, **__: Y.size)
def learn_choices(
    Y: np.ndarray,  # (n, r) coordinates of the start, scaled; float32 will do for a trial
    choices: Choices,
    *,
    C: float,
    tol: float,
    max_iter: int,
    root: np.ndarray | None = None,  # W of a problem nearby
    certify: bool = True,  # False: stop where progress is slow, without a proof
    rest: Rest | None = None,  # of directions that stay as they are
) -> Chosen:
    """L-BFGS from M = I, or from a root, until the relative duality gap is at most `tol`."""
    n_directions = Y.shape[1]
    if choices.has_threshold:
        Y = _with_threshold(Y, 0.0 if rest is None else rest.spread)
    W = np.eye(Y.shape[1], dtype=Y.dtype)
    if root is not None and root.shape == W.shape:  # a threshold more or less: from the start
        W = root.astype(Y.dtype)
    value, gradient, chances = objective(W, Y, choices, C, rest)
    scaling = _diagonal(Y, choices, C)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
    slow, gap, n_iter, converged = tol, np.nan, 0, max_iter == 0
    values = deque([value], maxlen=PATIENCE + 1)
    iterations = range(1, max_iter + 1)
    for n_iter in track(iterations, "learning from choices", may_end_early=True):  # noqa: B007
        direction = _descent(gradient, scaling, steps)
        slope = -float(np.vdot(direction, gradient))
        step = 1.0
        while step > SHORTEST_STEP:
            trial = W - step * direction
            new_value, new_gradient, new_chances = objective(trial, Y, choices, C, rest)
            if new_value <= value + MIN_DECREASE * step * slope:
                break
            step /= 3
        else:  # rounding hides any decrease
            gap = duality_gap(W, Y, choices, C, rest) if certify else gap
            converged = not certify or gap <= tol
            break
        move, bend = trial - W, new_gradient - gradient
        curvature = float(np.vdot(move, bend))
        if curvature > 0:
            steps.append((move, bend, curvature))
        W, value, gradient, chances = trial, new_value, new_gradient, new_chances
        values.append(value)
        decrease = (values[0] - value) / max(1.0, abs(value))
        if len(values) > PATIENCE and decrease <= slow:
            gap = duality_gap(W, Y, choices, C, rest) if certify else gap
            if not certify or gap <= tol:
                converged = True
                break
            slow = decrease / 4
    M = (W @ W.T)[:n_directions, :n_directions]
    divergence = root_divergence(W, lu_factor(W, check_finite=False)[0])
    threshold = float(Y[-2, -1] * (W[-1] @ W[-1]) * Y[-2, -1]) if choices.has_threshold else np.nan
    sq_dists = _option_distances(Y @ W, choices, rest)
    return Chosen(M, W, threshold, chances, sq_dists, divergence, gap, n_iter, converged)


def option_chances(sq_dists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Chances (m, 3) of options at squared distances (m, 3), and the log of their divisor (m,)."""
    nearest = sq_dists.min(axis=1, keepdims=True)
    likelihoods = np.exp(nearest - sq_dists)
    total = likelihoods.sum(axis=1, keepdims=True)
    return likelihoods / total, (np.log(total) - nearest)[:, 0]


def option_sq_distances(Z: np.ndarray, choices: Choices, threshold: float) -> np.ndarray:
    """Squared distances (m, 3) of the options in the space of Z; inf where there is none."""
    sq_dists = np.empty(len(choices.pairs) + 1)
    sq_dists[-1] = np.inf
    last = len(choices.pairs) - choices.has_threshold  # n and n + 1 sort behind all rows
    sq_dists[:last] = pair_sq_distances(Z, choices.pairs[:last])
    sq_dists[last:-1] = threshold
    return sq_dists[choices.options]


def log_loss(
    sq_dists: np.ndarray, targets: np.ndarray, weights: np.ndarray, guessed: float = 0.0
) -> float:
    """Weighted mean of -log of the chance of each answer, if a share is guessed."""
    _, log_totals = option_chances(sq_dists)
    log_chances = -(targets * np.where(targets > 0, sq_dists, 0.0)).sum(axis=1) - log_totals
    if guessed:
        n_options = np.isfinite(sq_dists).sum(axis=1)
        mixed = np.log((1 - guessed) * np.exp(log_chances) + guessed / n_options)
        log_chances = np.where(targets.max(axis=1) == 1.0, mixed, log_chances)
    return float(-log_chances @ weights / weights.sum())


def calibrate(
    sq_dists: np.ndarray, targets: np.ndarray, weights: np.ndarray, guessed: float = 0.0
) -> tuple[float, float]:
    """The factor on squared distances at which answers are likeliest, and their log-loss there."""
    found = minimize_scalar(
        lambda log_scale: log_loss(np.exp(log_scale) * sq_dists, targets, weights, guessed),
        bounds=LOG_SCALES,
        method="bounded",
    )
    return float(np.exp(found.x)), float(found.fun)


def objective(
    W: np.ndarray, Y: np.ndarray, choices: Choices, C: float, rest: Rest | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """The objective at M = W W', its gradient in W, and the chances of all options."""
    V = Y @ W
    sq_dists = _option_distances(V, choices, rest)
    chances, log_totals = option_chances(sq_dists)
    answer_sq_dists = (choices.targets * np.where(choices.targets > 0, sq_dists, 0.0)).sum(axis=1)
    pull = pull_laplacian(chances, choices, C, len(Y)).astype(Y.dtype) @ V
    factors = lu_factor(W, check_finite=False)
    inverse_t = lu_solve(factors, np.eye(len(W), dtype=W.dtype), trans=1, check_finite=False)
    value = root_divergence(W, factors[0]) + C * (choices.weights @ (answer_sq_dists + log_totals))
    return float(value), 2 * (Y.T @ pull + W - inverse_t), chances


def duality_gap(
    W: np.ndarray, Y: np.ndarray, choices: Choices, C: float, rest: Rest | None = None
) -> float:
    """Relative gap to the dual value of the chances that M = W W' gives; inf where none exists."""
    W, Y = W.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    value, _, chances = objective(W, Y, choices, C, rest)
    G = Y.T @ (pull_laplacian(chances, choices, C, len(Y)) @ Y)
    try:
        root = cholesky(G + np.eye(len(G)), lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return np.inf
    entropies = -xlogy(chances, chances).sum(axis=1)
    if rest is not None:  # the distances that stay enter the dual linearly
        stays = np.append(rest.sq_dists, 0.0)[choices.options]
        entropies = entropies + ((choices.targets - chances) * stays).sum(axis=1)
    dual = 2 * np.log(np.diag(root)).sum() + C * (choices.weights @ entropies)
    return float((value - dual) / max(1.0, abs(value)))


def pull_laplacian(chances: np.ndarray, choices: Choices, C: float, n: int):
    """C sum_i w_i sum_j (target_ij - p_ij) (e_a - e_b)(e_a - e_b)' over n rows: G = Y' this Y."""
    pulls = C * choices.weights[:, None] * (choices.targets - chances)
    n_pairs = len(choices.pairs)
    pull = np.bincount(choices.options.ravel(), pulls.ravel(), minlength=n_pairs)[:n_pairs]
    i, j = choices.pairs.T
    degrees = np.bincount(i, pull, n) + np.bincount(j, pull, n)
    if _is_dense(choices, n):
        L = np.diag(degrees)
        L[i, j] = L[j, i] = -pull
        return L
    rows = np.arange(n)
    places = np.concatenate([i, j, rows]), np.concatenate([j, i, rows])
    return coo_array((np.concatenate([-pull, -pull, degrees]), places), shape=(n, n)).tocsr()


def root_divergence(W: np.ndarray, factors: np.ndarray) -> float:
    """D(M, I) of M = W W', from the LU factors of W."""
    log_det = np.log(np.abs(np.diag(factors)), dtype=np.float64).sum()
    return float(np.square(W).sum(dtype=np.float64) - 2 * log_det - len(W))


def _is_dense(choices: Choices, n: int) -> bool:
    return len(choices.pairs) > DENSE_PAIRS * n**2


def _option_distances(V: np.ndarray, choices: Choices, rest: Rest | None) -> np.ndarray:
    sq_dists = _sq_distances(V, choices)
    if rest is not None:
        sq_dists = sq_dists + rest.sq_dists
    return np.append(sq_dists, np.inf)[choices.options]


def _sq_distances(V: np.ndarray, choices: Choices) -> np.ndarray:
    if not _is_dense(choices, len(V)):
        return pair_sq_distances(V, choices.pairs)
    K = V @ V.T
    norms, (i, j) = K.diagonal(), choices.pairs.T
    return np.maximum(norms[i] + norms[j] - 2 * K[i, j], 0.0).astype(np.float64)


def _diagonal(Y: np.ndarray, choices: Choices, C: float) -> np.ndarray:
    """About the inverse of the Hessian's diagonal at W = I, which L-BFGS starts from.

    Differences of rows along two directions have variances 2 s_a and 2 s_b, and the chances of
    three options vary by at most 2/3: 1 + 4 (2/3) C m s_a s_b for M, four times that for W.
    """
    spread = Y.var(axis=0)
    strength = 8 / 3 * C * choices.weights.sum()
    return (0.25 / (1 + strength * np.outer(spread, spread))).astype(Y.dtype)


def _with_threshold(Y: np.ndarray, sq_rest: float = 0.0) -> np.ndarray:
    """Two more rows, apart from all others by a direction of their own, as far as rows are."""
    sq_start = 2 * Y.var(axis=0).sum() + sq_rest
    wider = np.zeros((len(Y) + 2, Y.shape[1] + 1), dtype=Y.dtype)
    wider[:-2, :-1] = Y
    wider[-2, -1] = np.sqrt(sq_start if sq_start > 0 else 1.0)
    return wider


def _descent(gradient: np.ndarray, scaling: np.ndarray, steps) -> np.ndarray:
    """The two loops of L-BFGS: the gradient times an inverse Hessian learned from steps."""
    direction = gradient.copy()
    shares = []
    for move, bend, curvature in reversed(steps):
        share = float(np.vdot(move, direction)) / curvature
        direction -= share * bend
        shares.append(share)
    direction *= scaling
    if steps:
        _, bend, curvature = steps[-1]
        direction *= curvature / float(np.vdot(bend, scaling * bend))
    for (move, bend, curvature), share in zip(steps, reversed(shares)):
        direction += (share - float(np.vdot(bend, direction)) / curvature) * move
    return direction
