"""Groups of rows to clusters at the least cost, under every rule that clusters can have.

    min  sum_g C[g, l_g] + what violated soft pairs cost
    s.t. lower[c] <= rows in cluster c <= upper[c]
         groups that are apart, and those of one exclusive set, in different clusters

Rows that must be together are one group, with the costs of all its rows. Single rows that nothing
ties are free: given where all others go, theirs is a transportation problem (numerics/transport).
The sizes have prices, one per cluster, and with these a bound on the cost:

    tied groups  the cheapest at costs plus prices (linked_groups.py)
    free rows    the cheapest in the room that these leave, which gives new prices
    in turn, until bound and cost meet

Where they do not meet, one program decides over what the bound leaves open: an option that by its
price alone would exceed the cost found cannot be part of anything better, so nothing is lost.
Without a pair or a group of several rows the first round is exact.
Reference: baumann2022 for the program; we differ from it in the prices and in proving the result.
"""

from typing import NamedTuple

import numpy as np

from likewise.cluster.linked_groups import (
    LARGEST_PROGRAM,
    ROUNDING,
    Ties,
    solve_program,
    solve_tied,
)
from likewise.numerics.transport import price_of_bounds, transport

FIRST_OPTIONS = 4  # clusters tried for a group where no labels are known: more if there are none


class Rules(NamedTuple):
    """What clusters of groups 0 .. p - 1 must satisfy."""

    sizes: np.ndarray  # (p,) rows of each group
    lower: np.ndarray  # (k,) rows of each cluster, at least
    upper: np.ndarray  # (k,) and at most
    ties: Ties

    @property
    def bounded(self) -> bool:
        """Whether any size is bounded at all."""
        return bool((self.lower > 0).any() or (self.upper < self.sizes.sum()).any())

    def hold(self, labels: np.ndarray) -> bool:
        """Whether labels of the groups satisfy all that is hard."""
        loads = np.bincount(labels, self.sizes, minlength=len(self.lower))
        fits = (loads >= self.lower).all() and (loads <= self.upper).all()
        return bool(fits) and self.ties.hold(labels)

    def cost(self, costs: np.ndarray, labels: np.ndarray) -> float:
        """What labels cost, soft pairs included."""
        own = costs[np.arange(len(costs)), labels].sum()
        return float(own) + self.ties.soft_cost(labels)


class Assignment(NamedTuple):
    labels: np.ndarray | None  # (p,); None where none were found
    cost: float
    bound: float  # no labels cost less; infinite where it is proved that there are none
    prices: np.ndarray  # (k,) of the sizes


class Found(NamedTuple):
    labels: np.ndarray | None
    cost: float


class Care(NamedTuple):
    n_rounds: int  # of prices
    enough: float  # a share of the cost: anything nearer to the bound will do
    step: float  # how far prices move at once: half steps give better bounds


EXACT, ON_THE_WAY = Care(6, ROUNDING, 0.5), Care(3, 1e-4, 1.0)


def assign_groups(
    costs: np.ndarray,  # (p, k) of the groups, all their rows together
    rules: Rules,
    *,
    prices: np.ndarray | None = None,  # (k,) to start from
    start: np.ndarray | None = None,  # (p,) labels that satisfy the rules, if any are known
    exact: bool = True,
) -> Assignment:
    """The cheapest labels that satisfy the rules, and a bound that says how near they are.

    Without ``exact`` the program at the end is left out if labels were found before it.
    """
    k = costs.shape[1]
    best = Found(None, np.inf)
    if start is not None and rules.hold(start):
        best = Found(start, rules.cost(costs, start))
    if not rules.bounded:
        solved = solve_tied(costs, rules.ties, best.labels)
        return Assignment(solved.labels, solved.cost, solved.bound, np.zeros(k))
    n_rows, upper = rules.sizes.sum(), np.minimum(rules.upper, rules.sizes.sum())
    if rules.lower.sum() > n_rows or upper.sum() < n_rows or (rules.lower > upper).any():
        return Assignment(None, np.inf, np.inf, np.zeros(k))
    if prices is None:
        prices = price_of_rows(costs, rules)
    is_free = rules.sizes == 1
    is_free[rules.ties.tied()] = False
    care = EXACT if exact else ON_THE_WAY
    best, bound, at_bound = alternate(costs, rules, is_free, prices, best, care)
    is_proved = best.labels is not None and best.cost - bound <= ROUNDING * abs(best.cost)
    if is_proved or np.isinf(bound):
        return Assignment(best.labels, best.cost, bound, at_bound)
    if exact or best.labels is None:
        best, bound = decide(costs, rules, is_free, at_bound, best, bound)
    return Assignment(best.labels, best.cost, bound, at_bound)


def price_of_rows(costs: np.ndarray, rules: Rules) -> np.ndarray:
    """Prices (k,) as if every row were free: the best bound that nothing but sizes can give."""
    per_row = np.repeat(costs / rules.sizes[:, None], rules.sizes, axis=0)
    placed = transport(per_row, rules.lower, rules.upper)
    return np.zeros(costs.shape[1]) if placed is None else placed.prices


def alternate(
    costs: np.ndarray,
    rules: Rules,
    is_free: np.ndarray,
    prices: np.ndarray,
    best: Found,
    care: "Care",
) -> tuple[Found, float, np.ndarray]:
    """Tied groups by prices, free rows by the room they leave, in turn: labels, bound, prices."""
    tied, free = np.flatnonzero(~is_free), np.flatnonzero(is_free)
    ties, sizes = rules.ties.restrict(tied, len(costs)), rules.sizes[tied].astype(float)
    k = costs.shape[1]
    bound, at_bound = -np.inf, prices
    labels_before = None
    for _ in range(care.n_rounds):
        priced = costs[tied] + sizes[:, None] * prices
        solved = solve_tied(priced, ties, None if best.labels is None else best.labels[tied])
        free_cost = float((costs[free] + prices).min(axis=1).sum()) if len(free) else 0.0
        limits = price_of_bounds(prices, rules.lower, rules.upper)
        if solved.bound + free_cost - limits > bound:
            bound, at_bound = solved.bound + free_cost - limits, prices
        if solved.labels is None:
            break
        if labels_before is not None and np.array_equal(solved.labels, labels_before):
            break
        labels_before = solved.labels
        loads = np.bincount(solved.labels, sizes, minlength=k)
        placed = transport(
            costs[free],
            np.maximum(rules.lower - loads, 0).astype(np.int64),
            np.maximum(rules.upper - loads, -1).astype(np.int64),
            prices,
        )
        if placed is None:  # too many rows in one place, or too few left for others
            prices = nudge_prices(prices, priced, loads, rules, len(free))
            continue
        labels = np.empty(len(costs), dtype=np.int64)
        labels[tied], labels[free] = solved.labels, placed.labels
        cost = rules.cost(costs, labels)
        if cost < best.cost:
            best = Found(labels, cost)
        if best.cost - bound <= care.enough * abs(best.cost):
            break
        prices = prices + care.step * (placed.prices - prices)
    return best, bound, at_bound


def nudge_prices(
    prices: np.ndarray, priced: np.ndarray, loads: np.ndarray, rules: Rules, n_free: int
) -> np.ndarray:
    """Prices raised where groups alone are too many, lowered where they leave too few."""
    ranked = np.partition(priced, min(1, priced.shape[1] - 1), axis=1)
    per_row = (ranked[:, min(1, priced.shape[1] - 1)] - ranked[:, 0]) / np.maximum(
        rules.sizes.max(), 1
    )
    step = float(np.median(per_row)) or 1e-6
    excess = np.maximum(loads - rules.upper, 0) - np.maximum(rules.lower - loads - n_free, 0)
    return prices + step * np.sign(excess)


def decide(
    costs: np.ndarray,
    rules: Rules,
    is_free: np.ndarray,
    prices: np.ndarray,
    best: Found,
    bound: float,
) -> tuple[Found, float]:
    """One program over the options that may still be part of a cheaper labeling."""
    p, k = costs.shape
    priced = costs + rules.sizes[:, None] * prices
    regrets = priced - priced.min(axis=1, keepdims=True)
    tied = np.flatnonzero(~is_free)
    slack = slack_of_ties(priced, rules, tied)
    base, n_options = bound, FIRST_OPTIONS
    while True:
        if best.labels is None:
            rank = min(n_options, k) - 1
            options = regrets <= np.partition(regrets, rank, axis=1)[:, [rank]]
        else:
            gap = best.cost - base + ROUNDING * abs(best.cost)
            options = regrets <= gap + slack[:, None]
            options[np.arange(p), best.labels] = True
        left_out = np.where(options, np.inf, regrets - slack[:, None]).min(initial=np.inf)
        is_first = best.labels is None
        found, least = solve_reduced(costs, options, rules, is_free)
        if found.cost < best.cost:
            best = found
        bound = min(max(bound, min(least, base + left_out)), best.cost)
        if best.labels is None and options.all():
            return best, bound
        n_options *= 2
        is_proved = best.labels is not None and best.cost - bound <= ROUNDING * abs(best.cost)
        if is_proved or not is_first:
            return best, bound


def slack_of_ties(priced: np.ndarray, rules: Rules, tied: np.ndarray) -> np.ndarray:
    """(p,) by how much the ties of a group's part of the graph make that part dearer."""
    slack = np.zeros(len(priced))
    if not len(tied):
        return slack
    ties, costs = rules.ties.restrict(tied, len(priced)), priced[tied]
    solved, least = solve_tied(costs, ties), costs.min(axis=1)
    slack[tied] = max(solved.bound - least.sum(), 0.0)
    if solved.labels is not None and solved.cost - solved.bound <= ROUNDING * abs(solved.cost):
        extra = costs[np.arange(len(tied)), solved.labels] - least
        parts = ties.parts(len(tied))
        by_part = np.bincount(parts, extra) + np.bincount(
            parts[ties.soft[:, 0]], ties.soft_costs(solved.labels), minlength=parts.max() + 1
        )
        slack[tied] = by_part[parts] + 2 * ROUNDING * abs(solved.cost)
    return slack


def solve_reduced(
    costs: np.ndarray, options: np.ndarray, rules: Rules, is_free: np.ndarray
) -> tuple[Found, float]:
    """Labels by the program over some options, and its bound; settled rows are left out of it."""
    is_open = ~is_free | (options.sum(axis=1) > 1) | options.all(axis=1)
    settled = np.flatnonzero(~is_open)
    labels = np.argmax(options, axis=1)
    loads = np.bincount(labels[settled], minlength=costs.shape[1])
    some = np.flatnonzero(is_open)
    if options[some].sum() > LARGEST_PROGRAM:
        return Found(None, np.inf), -np.inf
    solved = solve_program(
        costs[some],
        options[some],
        rules.ties.restrict(some, len(costs)),
        sizes=rules.sizes[some].astype(float),
        lower=rules.lower - loads,
        upper=rules.upper - loads,
        is_whole=~is_free[some],
    )
    least = float(costs[settled, labels[settled]].sum()) + solved.bound
    if solved.labels is None:
        return Found(None, np.inf), least
    labels[some] = solved.labels
    tied, free = np.flatnonzero(~is_free), np.flatnonzero(is_free)
    loads = np.bincount(labels[tied], rules.sizes[tied], minlength=costs.shape[1])
    placed = transport(
        costs[free],
        np.maximum(rules.lower - loads, 0).astype(np.int64),
        np.maximum(rules.upper - loads, -1).astype(np.int64),
    )
    if placed is None:
        return Found(None, np.inf), least
    labels[free] = placed.labels
    return Found(labels, rules.cost(costs, labels)), least
