"""What pairs cost in k-medoids, where the centers are rows and may be any k of them.

    min sum_ic D_ic x_i^c   s.t.  sum_c x_i^c = 1,  0 <= x_i^c <= y_c <= 1,  sum_c y_c = k,
                                  x_i^c + x_j^c <= y_c + eps  cannot-links,
                                  |x_i^c - x_j^c| <= eps      must-links

The Lagrangian over u (assignment rows) and the pairs' multipliers has an exact inner solution,

    L = sum u + sum of the k smallest rho_c + eps (sum eta - sum |nu|),
    rho_c = sum_i min(0, D_ic + P_ic - u_i) + sum eta^c,

P being what the multipliers add to the costs: every value of L is a bound. Its maximum is that of
the linear program. L has corners; we climb a smooth function above it instead, in which every
min(0, w) and the choice of the k smallest are rounded by a width that shrinks in a few stages, with
a quasi-Newton method (L-BFGS-B), and report L itself. Multipliers of centers that no solution opens
are 0, so the climb runs over the few columns that could be opened and looks for missed ones at the
end.

How near the climb came is proved, not judged by the length of its last step: the y of the rounded
choice is kept, and what x costs at the best under that y is at least the program's value. Rows of
no pair take the cheapest columns that y opens; the rows of the pairs are a small linear program.
Where that proves too little, y is free too, over the columns that are open, if they are few. Where
the proof still leaves more than some widths open, the climb goes on.

References: randel2021, (12)-(19); nesterov2005 (rounding). We differ from the former in the
cannot-links: the paper's (16) has x_i^c + x_j^c <= 1 + eps, the same partitions and a worse bound
(tight=False); and in the climb, whose usual step rule left some tenths of a percent undone in our
trials.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.optimize import Bounds, OptimizeResult, linprog, minimize

from likewise.cluster import Medoids, draw_medoids, swap_medoids
from likewise.duals.centroid_prices import Priced
from likewise.duals.priced_pairs import PricedPairs
from likewise.numerics.threads import one_thread

N_STARTS = 5  # of the search for medoids
WIDTHS = (1e-2, 1e-3, 1e-4)  # of the rounding, in mean dissimilarities; the gap is about half
FIRST_WIDTHS = (1e-1, 3e-2, *WIDTHS)
MAX_STEPS = 300  # of L-BFGS-B at each width
MEMORY = 10  # its pairs of steps
SMALLEST_GAIN = 1e-5  # of a step, relative, in widths
MAX_ROUNDS = 8  # of climbs: columns are added, or the proof is too far off
SETTLED = 10  # last widths between the bound and the proof, relative to the latter
OPEN = 1e-6  # a smaller y counts as closed in the proof
LARGEST_PROOF = 5000  # rows times open columns: a tenth of a second or two
N_COLUMNS = 30, 10  # to begin with: some, and so many more a cluster
ROUNDING = 1e-9  # of the mean dissimilarity: a smaller multiplier of HiGHS is 0
MISSED = 1e-9  # of the cost: a column this much below the k-th is missing
NO_PAIRS = PricedPairs(
    np.empty(0, dtype=np.int64),
    np.empty((0, 2), dtype=np.int64),
    np.empty(0, dtype=bool),
    np.empty(0, dtype=np.int64),
)


class Prepared(NamedTuple):
    """Dissimilarities clustered without pairs: what all sets of pairs over them share.

    All in units of the mean dissimilarity, `scale`, so that no result depends on the unit.
    """

    costs: np.ndarray  # D (n, n): row i at medoid c
    scale: float
    swapped: Medoids  # by search
    u: np.ndarray  # (n,) best multipliers of the assignment rows
    bound: float  # L there: no k medoids cost less


def cluster_without_pairs(costs: np.ndarray, n_clusters: int, rng) -> Prepared:
    """Medoids without pairs, and the proof of how good they are."""
    if len(costs) < n_clusters:
        raise ValueError(f"n_samples={len(costs)} should be >= n_clusters={n_clusters}.")
    scale = float(costs.mean()) or 1.0
    costs = costs / scale
    owners = np.arange(len(costs))
    starts = [draw_medoids(costs, n_clusters, owners, rng) for _ in range(N_STARTS)]
    swapped = min((swap_medoids(costs, start) for start in starts), key=lambda best: best.cost)
    everywhere = Lagrangian(costs, NO_PAIRS, n_clusters, eps=0.0)
    none = everywhere.zeros()
    u, _ = everywhere.maximize_smooth(costs[:, swapped.medoids].max(axis=1), none, FIRST_WIDTHS[:1])
    climbed = climb_columns(everywhere, u, none, FIRST_WIDTHS[1:], swapped.cost)
    return Prepared(costs, scale, swapped, climbed.u, climbed.bound)


def price_by_lagrangian(
    prepared: Prepared,
    pairs: PricedPairs,
    eps: float,
    *,
    widths: tuple[float, ...] = WIDTHS,
    tight: bool = True,
) -> Priced:
    """Multipliers and a valid bound, some hundredths of a percent below that of the program."""
    costs, swapped = prepared.costs, prepared.swapped
    everywhere = Lagrangian(costs, pairs, len(swapped.medoids), eps, tight)
    none = everywhere.zeros()
    is_proved = swapped.cost - prepared.bound <= widths[0] * abs(prepared.bound)
    if is_proved and not pairs.violated(swapped.labels).any():
        settled = is_settled(prepared.bound, swapped.cost, widths)
        return Priced(none, prepared.bound * prepared.scale, settled)
    climbed = climb_columns(everywhere, prepared.u, none, widths, swapped.cost)
    bound = max(climbed.bound, prepared.bound)
    settled = is_settled(bound, climbed.upper, widths)
    return Priced(climbed.multipliers * prepared.scale, bound * prepared.scale, settled)


class ClimbedColumns(NamedTuple):
    u: np.ndarray  # (n,)
    multipliers: np.ndarray  # (m, n)
    bound: float  # L there: the program's value is no less
    upper: float  # what some x, y of the program cost: its value is no more


@one_thread()
def climb_columns(
    everywhere: "Lagrangian", u, multipliers, widths: tuple[float, ...], cost: float
) -> ClimbedColumns:
    """The best of some climbs over the columns that may be opened; the last settles, or none."""
    costs, k, eps = everywhere.costs, everywhere.k, everywhere.eps
    multipliers = multipliers.copy()
    columns = likely_columns(everywhere.rho(u, multipliers), k)
    stages = widths
    best = ClimbedColumns(u, multipliers, -np.inf, np.inf)
    for _ in range(MAX_ROUNDS):
        part = Lagrangian(costs[:, columns], everywhere.pairs, k, eps, everywhere.tight)
        u, multipliers[:, columns] = part.maximize_smooth(u, multipliers[:, columns], stages)
        kept = np.where(np.abs(multipliers) < widths[-1], 0.0, multipliers)  # less is rounding
        bound = everywhere.value(u, kept)
        if bound > best.bound:
            best = best._replace(u=u, multipliers=kept, bound=bound)
        for upper in part.upper_bounds(u, multipliers[:, columns], widths[-1]):
            best = best._replace(upper=min(upper, best.upper))
            if is_settled(best.bound, best.upper, widths):
                return best
        rho = everywhere.rho(u, multipliers)
        last_open = np.partition(rho[columns], k - 1)[k - 1]
        rho[columns] = np.inf
        missed = np.flatnonzero(rho < last_open - MISSED * cost)
        columns = np.union1d(columns, missed)
        # New columns are far from their best: from the widest rounding again. At the last width
        # alone, L-BFGS-B stalls at the corners on the way, and where depends on the last digit.
        stages = widths if len(missed) else widths[-1:]
    return best


def likely_columns(rho: np.ndarray, k: int) -> np.ndarray:
    """The columns that may well be opened, by what opening each of them saves."""
    return np.sort(np.argsort(rho, kind="stable")[: N_COLUMNS[0] + N_COLUMNS[1] * k])


def is_settled(bound: float, upper: float, widths: tuple[float, ...]) -> bool:
    """Whether the program's value, between the two, is known to some widths."""
    return bool(upper - bound <= SETTLED * widths[-1] * abs(upper))


class Lagrangian:
    """L over some columns of the costs, and the smooth function below it."""

    def __init__(
        self, costs: np.ndarray, pairs: PricedPairs, n_clusters: int, eps: float, tight: bool = True
    ):
        self.costs, self.pairs, self.k, self.eps, self.tight = costs, pairs, n_clusters, eps, tight
        # One row for each eta and gamma, then one for each lambda; slack is eps + rows @ x.
        incidence = pairs.incidence
        self.rows = sparse.vstack([-incidence, incidence[pairs.must]], format="csr")
        self.rows_back = self.rows.T.tocsr()
        self.cannot = np.flatnonzero(~pairs.must)

    def zeros(self) -> np.ndarray:
        return np.zeros((len(self.pairs.ends), self.costs.shape[1]))

    def rho(self, u: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """What opening each column saves, (n_columns,), below 0."""
        reduced = self._reduced(u, self._unfold(multipliers))
        saved = np.minimum(reduced, 0.0).sum(axis=0)
        return saved + multipliers[self.cannot].sum(axis=0) if self.tight else saved

    def value(self, u: np.ndarray, multipliers: np.ndarray) -> float:
        """L: a bound on the cost, whatever the multipliers."""
        saved = np.partition(self.rho(u, multipliers), self.k - 1)[: self.k].sum()
        must = self.pairs.must
        slack = multipliers[~must].sum() - np.abs(multipliers[must]).sum()
        everywhere = 0.0 if self.tight else multipliers[~must].sum()  # <= 1 at closed columns too
        return float(u.sum() + saved + self.eps * slack + everywhere)

    def maximize_smooth(self, u, multipliers, widths) -> tuple[np.ndarray, np.ndarray]:
        """u and multipliers where the smooth function of the last width is largest."""
        flat = self.flatten(u, multipliers)
        upper = np.where(np.arange(len(flat)) < len(u), np.inf, 0.0)
        for width in widths:
            flat = minimize(
                self.minus_smooth,
                flat,
                args=(width, width * len(u) / self.k),
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(-np.inf, upper),
                options={
                    "maxiter": MAX_STEPS,
                    "maxcor": MEMORY,
                    "ftol": SMALLEST_GAIN * width,
                    "gtol": 1e-6,
                },
            ).x
        unfolded = flat[len(u) :].reshape(-1, self.costs.shape[1])
        multipliers = unfolded[: len(self.pairs.ends)].copy()
        must = self.pairs.must
        multipliers[must] = unfolded[len(must) :] - multipliers[must]  # nu = lambda - gamma
        return flat[: len(u)], multipliers

    def upper_bounds(self, u, multipliers, width: float) -> Iterator[float]:
        """What the program costs with the columns that the rounded choice opens: quickly, exactly.

        First as far open as there, then as far as is best, where that is not too much work.
        """
        _, rho = self._rounded(u, self._unfold(multipliers), width)
        y = choose_smoothly(rho, self.k, width * len(u) / self.k)
        some = np.flatnonzero(y > OPEN)
        y = np.minimum(y[some], 1.0)
        y += (self.k - y.sum()) * (1 - y) / max((1 - y).sum(), OPEN)  # what was closed goes on top
        free = np.ones(len(u), dtype=bool)
        free[self.pairs.points] = False
        opened = self.costs[:, some]
        yield cost_of_free(opened[free], y) + self._cost_of_pairs(opened[self.pairs.points], y)
        if opened.size <= LARGEST_PROOF:
            solved = solve_program(opened, self.k, self.pairs, self.eps, self.tight)
            yield float(solved.fun) if solved.status == 0 else np.inf

    def _cost_of_pairs(self, costs: np.ndarray, y: np.ndarray) -> float:
        """The linear program over the points of the pairs alone, with y given; HiGHS."""
        p, n_open = costs.shape
        if not p:
            return 0.0
        rights = np.full((self.rows.shape[0], n_open), self.eps)
        rights[self.cannot] += y if self.tight else 1.0
        solved = linprog(
            costs.ravel(),
            A_ub=sparse.kron(-self.rows, sparse.eye_array(n_open), format="csr"),
            b_ub=rights.ravel(),
            A_eq=sparse.kron(sparse.eye_array(p), np.ones((1, n_open)), format="csr"),
            b_eq=np.ones(p),
            bounds=np.stack([np.zeros(p * n_open), np.tile(y, p)], axis=1),
            method="highs",
        )
        return float(solved.fun) if solved.status == 0 else np.inf

    def flatten(self, u: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """u and the multipliers in one row, as the minimizer wants them."""
        return np.concatenate([u, self._unfold(multipliers).ravel()])

    def _unfold(self, multipliers: np.ndarray) -> np.ndarray:
        """eta and gamma, then lambda, all <= 0, in the order of `rows`."""
        nu = multipliers[self.pairs.must]
        unfolded = np.concatenate([multipliers, np.minimum(nu, 0.0)])
        unfolded[: len(multipliers)][self.pairs.must] = np.minimum(-nu, 0.0)
        return unfolded

    def _reduced(self, u: np.ndarray, unfolded: np.ndarray) -> np.ndarray:
        """D + P - u, (n, n_columns)."""
        reduced = self.costs - u[:, None]
        if len(unfolded):
            reduced[self.pairs.points] += self.rows_back @ unfolded
        return reduced

    def _rounded(self, u, unfolded, width: float) -> tuple[np.ndarray, np.ndarray]:
        """x (n, n_columns), the least of w x + width x^2 / 2, and its rho."""
        reduced = self._reduced(u, unfolded)
        x = np.clip(reduced / -width, 0.0, 1.0)
        rho = np.einsum("ic,ic->c", x, reduced + width / 2 * x)
        return x, rho + unfolded[self.cannot].sum(axis=0) if self.tight else rho

    def minus_smooth(self, flat, width, choice_width) -> tuple[float, np.ndarray]:
        """The rounded L and its gradient, both with the sign turned for a minimizer."""
        n, n_columns = self.costs.shape
        u, unfolded = flat[:n], flat[n:].reshape(-1, n_columns)
        x, rho = self._rounded(u, unfolded, width)
        y = choose_smoothly(rho, self.k, choice_width)
        value = u.sum() + rho @ y + choice_width / 2 * (y @ y) + self.eps * unfolded.sum()
        if not self.tight:
            value += unfolded[self.cannot].sum()
        x *= y
        slack = self.rows @ x[self.pairs.points]
        slack += self.eps
        slack[self.cannot] += y if self.tight else 1.0
        return -value, -np.concatenate([1 - x.sum(axis=1), slack.ravel()])


def choose_smoothly(rho: np.ndarray, k: int, width: float) -> np.ndarray:
    """argmin of rho'y + width |y|^2 / 2 over 0 <= y <= 1, sum y = k: clip((t - rho) / width)."""
    ends = np.concatenate([rho, rho + width])
    order = np.argsort(ends)
    corners = ends[order]
    # sum_c clip((t - rho_c) / width) grows between two corners by (how many are rising) / width.
    rising = np.where(order < len(rho), 1, -1).cumsum()
    totals = np.concatenate([[0.0], (np.diff(corners) * rising[:-1]).cumsum() / width])
    return np.clip((np.interp(k, totals, corners) - rho) / width, 0.0, 1.0)


def cost_of_free(costs: np.ndarray, y: np.ndarray) -> float:
    """What rows of no pair pay, each filling the cheapest columns up to y until it sums to 1."""
    order = np.argsort(costs, axis=1)
    filled = np.minimum(np.cumsum(y[order], axis=1), 1.0)
    x = np.diff(filled, axis=1, prepend=0.0)
    return float((np.take_along_axis(costs, order, axis=1) * x).sum())


def price_exactly(
    prepared: Prepared, pairs: PricedPairs, eps: float, *, tight: bool = True
) -> Priced:
    """The linear program, solved over the columns that matter and proved for all others."""
    k = len(prepared.swapped.medoids)
    rho = np.minimum(prepared.costs - prepared.u[:, None], 0.0).sum(axis=0)
    columns = likely_columns(rho, k)
    priced = price_by_program(prepared.costs, k, pairs, eps, tight=tight, columns=columns)
    return Priced(priced.multipliers * prepared.scale, priced.bound * prepared.scale, settled=True)


def price_by_program(
    costs: np.ndarray,
    n_clusters: int,
    pairs: PricedPairs,
    eps: float,
    *,
    tight: bool = True,
    columns: np.ndarray | None = None,
) -> Priced:
    """The linear program by HiGHS: exact, for some hundred rows.

    It may begin with some columns. The others, with multipliers of 0, are as good as closed when
    none saves more than the last one opened; those that do are added.
    """
    scale = float(costs.mean()) or 1.0
    scaled = costs / scale
    n = len(costs)
    columns = np.arange(n) if columns is None else columns
    while True:
        solved = solve_program(scaled[:, columns], n_clusters, pairs, eps, tight)
        if len(columns) == n:
            missed = np.empty(0, dtype=np.int64)
        elif solved.status != 0:
            missed = np.arange(n)
        else:
            *u, last_open = solved.eqlin.marginals
            rho = np.minimum(scaled - np.array(u)[:, None], 0.0).sum(axis=0)
            rho[columns] = np.inf
            missed = np.flatnonzero(rho < last_open - MISSED * abs(solved.fun))
        if not len(missed):
            break
        columns = np.union1d(columns, missed)
    if solved.status != 0:
        raise RuntimeError(f"HiGHS could not solve the program: {solved.message}")
    marginals = solved.ineqlin.marginals[n * len(columns) :].reshape(-1, len(columns))
    marginals = np.where(np.abs(marginals) > ROUNDING, marginals, 0.0) * scale
    multipliers = np.zeros((len(pairs.must), n))
    multipliers[:, columns] = marginals[: len(pairs.must)]
    backward = np.zeros((int(pairs.must.sum()), n))
    backward[:, columns] = marginals[len(pairs.must) :]
    multipliers[pairs.must] = backward - multipliers[pairs.must]
    return Priced(multipliers, float(solved.fun) * scale, settled=True)


def solve_program(
    costs: np.ndarray, n_clusters: int, pairs: PricedPairs, eps: float, tight: bool = True
) -> OptimizeResult:
    """HiGHS over x (n, n_columns) and y (n_columns,); costs of size 1, as its tolerances are."""
    n, n_columns = costs.shape
    opened = sparse.eye_array(n_columns)
    over_columns = sparse.kron(spread(pairs, n), opened, format="csr")
    must = np.repeat(pairs.must, n_columns)
    beside_y = sparse.csr_array((~pairs.must & tight).astype(float)[:, None])
    rows = sparse.vstack(
        [
            sparse.hstack([sparse.eye_array(costs.size), -sparse.kron(np.ones((n, 1)), opened)]),
            sparse.hstack([over_columns, -sparse.kron(beside_y, opened)]),
            sparse.hstack([-over_columns[must], sparse.csr_array((must.sum(), n_columns))]),
        ],
        format="csr",
    )
    rights = np.concatenate([np.where(must | tight, eps, 1 + eps), np.full(must.sum(), eps)])
    each = sparse.kron(sparse.eye_array(n), np.ones((1, n_columns)))
    limits = np.repeat([np.inf, 1.0], [costs.size, n_columns])  # of x, of y
    return linprog(
        np.concatenate([costs.ravel(), np.zeros(n_columns)]),
        A_ub=rows,
        b_ub=np.concatenate([np.zeros(costs.size), rights]),
        A_eq=sparse.block_diag([each, np.ones((1, n_columns))], format="csr"),
        b_eq=np.append(np.ones(n), n_clusters),
        bounds=np.stack([np.zeros(costs.size + n_columns), limits], axis=1),
        method="highs",
    )


def spread(pairs: PricedPairs, n: int) -> sparse.csr_array:
    """The incidence over all n rows, not the pairs' points alone."""
    entries = pairs.incidence.tocoo()
    return sparse.csr_array(
        (entries.data, (entries.row, pairs.points[entries.col])), (entries.shape[0], n)
    )


def price_sets(
    prepared: Prepared,
    sets: Sequence[PricedPairs],
    eps: float,
    *,
    widths: tuple[float, ...] = WIDTHS,
    tight: bool = True,
    exact: bool = False,
    n_jobs: int | None = None,
) -> list[Priced]:
    """Multipliers of many sets of pairs over the same dissimilarities, each from the same start."""
    if exact:
        price = partial(price_exactly, tight=tight)
    else:
        price = partial(price_by_lagrangian, widths=widths, tight=tight)
    return Parallel(n_jobs=n_jobs)(delayed(price)(prepared, pairs, eps) for pairs in sets)
