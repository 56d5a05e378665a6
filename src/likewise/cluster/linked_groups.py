"""Groups of rows that pairs tie together, each to a cluster at the least cost: exactly, by HiGHS.

    min  sum_gc C[g, c] x[g, c] + sum_soft price v
    s.t. one cluster per group;  x[a, c] + x[b, c] <= 1  for groups a, b that are apart
         sum over an exclusive set of x[g, c] <= 1
         soft:  x[a, c] + x[b, c] <= 1 + v  (cannot-link),  x[a, c] - x[b, c] <= v  (must-link)

Parts of the graph of pairs that the cheapest clusters satisfy are solved already. In the others few
clusters come into question for a group: with d others to avoid one of its d + 1 cheapest is free,
and going there costs at most all its soft pairs, so anything dearer than that is no option.
Reference: baumann2022 has this program; we differ from it in reducing it without losing an optimum.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

LARGEST_PROGRAM = 60_000  # options of groups: beyond, HiGHS may take minutes
MOST_NODES = 2_000  # of one search by HiGHS: a count and no time, so results do not vary
ROUNDING = 1e-9  # a share of the cost: anything below counts as no difference


class Ties(NamedTuple):
    """What ties groups 0 .. p - 1 together."""

    apart: np.ndarray  # (q, 2) never in one cluster
    exclusive: Sequence[np.ndarray]  # sets of groups, no two of which are in one cluster
    soft: np.ndarray  # (m, 2) pairs that may be violated
    soft_must: np.ndarray  # (m,) True for must-links
    soft_prices: np.ndarray  # (m,) what violating each costs

    def pairs(self) -> np.ndarray:
        """(e, 2) every two groups that are apart, exclusive sets written out."""
        sets = [s[np.stack(np.triu_indices(len(s), 1), axis=1)] for s in self.exclusive]
        return np.concatenate([self.apart, *sets])

    def tied(self) -> np.ndarray:
        """The groups that anything refers to."""
        return np.unique(np.concatenate([self.apart.ravel(), *self.exclusive, self.soft.ravel()]))

    def restrict(self, groups: np.ndarray, n_groups: int) -> "Ties":
        """Those among some groups, ascending, which are renumbered."""
        at = np.full(n_groups, -1)
        at[groups] = np.arange(len(groups))
        apart, soft = at[self.apart], at[self.soft]
        sets = [members[members >= 0] for members in (at[s] for s in self.exclusive)]
        is_soft = (soft >= 0).all(axis=1)
        return Ties(
            apart[(apart >= 0).all(axis=1)],
            [members for members in sets if len(members) > 1],
            soft[is_soft],
            self.soft_must[is_soft],
            self.soft_prices[is_soft],
        )

    def soft_costs(self, labels: np.ndarray) -> np.ndarray:
        """(m,) what each soft pair costs, 0 where labels satisfy it."""
        together = labels[self.soft[:, 0]] == labels[self.soft[:, 1]]
        return np.where(together != self.soft_must, self.soft_prices, 0.0)

    def soft_cost(self, labels: np.ndarray) -> float:
        """What the soft pairs cost that labels violate."""
        return float(self.soft_costs(labels).sum())

    def parts(self, n_groups: int) -> np.ndarray:
        """(n_groups,) the connected part of the graph of ties that each group is in."""
        a, b = np.concatenate([self.pairs(), self.soft]).T
        graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n_groups, n_groups))
        return connected_components(graph, directed=False)[1]

    def hold(self, labels: np.ndarray) -> bool:
        """Whether no two groups that are apart have one label."""
        a, b = labels[self.pairs()].T
        return not (a == b).any()


def no_ties() -> Ties:
    """Nothing ties the groups together."""
    pairs, nothing = np.empty((0, 2), dtype=np.int64), np.empty(0)
    return Ties(pairs, (), pairs, nothing.astype(bool), nothing)


class Solved(NamedTuple):
    labels: np.ndarray | None  # (p,); None where nothing was found
    cost: float
    bound: float  # no labels cost less; infinite where there are none


def solve_tied(costs: np.ndarray, ties: Ties, start: np.ndarray | None = None) -> Solved:
    """The cheapest labels of groups (p, k) that keep what is apart, sizes left aside.

    ``start`` (p,) is returned where the program is too large, if it keeps it.
    """
    p = len(costs)
    labels = np.argmin(costs, axis=1)
    open_groups = groups_to_solve(labels, ties)
    if len(open_groups):
        some = ties.restrict(open_groups, p)
        options = open_options(costs[open_groups], some)
        solved = Solved(None, np.inf, float(costs[open_groups].min(axis=1).sum()))
        if options.sum() <= LARGEST_PROGRAM:
            solved = solve_program(costs[open_groups], options, some)
        if solved.labels is None:
            if np.isinf(solved.bound) or start is None:
                return Solved(None, np.inf, solved.bound)
            own = costs[open_groups, start[open_groups]].sum()
            cost = float(own) + some.soft_cost(start[open_groups])
            solved = Solved(start[open_groups], cost, solved.bound)
        labels[open_groups] = solved.labels
        rest = np.delete(np.arange(p), open_groups)
        settled = float(costs[rest, labels[rest]].sum())
        return Solved(labels, settled + solved.cost, settled + solved.bound)
    cost = float(costs[np.arange(p), labels].sum())
    return Solved(labels, cost, cost)


def groups_to_solve(labels: np.ndarray, ties: Ties) -> np.ndarray:
    """Groups in parts of the graph of ties in which some tie is violated."""
    pairs = np.concatenate([ties.pairs(), ties.soft])
    is_must = np.concatenate([np.zeros(len(pairs) - len(ties.soft), bool), ties.soft_must])
    a, b = pairs.T
    violated = (labels[a] == labels[b]) != is_must
    if not violated.any():
        return np.empty(0, dtype=np.int64)
    parts = ties.parts(len(labels))
    return np.flatnonzero(np.isin(parts, parts[a[violated]]))


def open_options(costs: np.ndarray, ties: Ties) -> np.ndarray:
    """(p, k) which clusters an optimum may have a group in."""
    p, k = costs.shape
    n_others = np.bincount(ties.pairs().ravel(), minlength=p)
    slack = np.zeros(p)
    np.add.at(slack, ties.soft.ravel(), np.repeat(ties.soft_prices, 2))
    ranked = np.sort(costs, axis=1)
    limit = ranked[np.arange(p), np.minimum(n_others, k - 1)] + slack
    return costs <= (limit + ROUNDING * np.abs(limit))[:, None]


def solve_program(
    costs: np.ndarray,  # (p, k)
    options: np.ndarray,  # (p, k) which may be chosen
    ties: Ties,
    *,
    sizes: np.ndarray | None = None,  # (p,) rows of each group, where sizes are bounded
    lower: np.ndarray | None = None,  # (k,) what these groups must add to a cluster
    upper: np.ndarray | None = None,  # (k,)
    is_whole: np.ndarray | None = None,  # (p,) groups that may not be split
) -> Solved:
    """The program of this file over the options alone, with bounds on sizes where given."""
    p, k = costs.shape
    groups, clusters = np.nonzero(options)
    n_options, n_soft = len(groups), len(ties.soft)
    column = np.full((p, k), -1)
    column[groups, clusters] = np.arange(n_options)
    least = np.where(options, costs, np.inf).min(axis=1)
    if np.isinf(least).any():
        return Solved(None, np.inf, np.inf)
    regrets = (costs - least[:, None])[options]
    scale = float(max(regrets.mean() if n_options else 0, ties.soft_prices.max(initial=0))) or 1.0
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    least_sums: list[np.ndarray] = []
    most_sums: list[np.ndarray] = []
    n_rows = 0

    def add_rows(row, at, value, least_sum, most_sum, n_new: int) -> None:
        nonlocal n_rows
        rows.append(row + n_rows)
        columns.append(at)
        values.append(np.broadcast_to(np.asarray(value, dtype=float), len(at)))
        least_sums.append(np.broadcast_to(np.asarray(least_sum, dtype=float), n_new))
        most_sums.append(np.broadcast_to(np.asarray(most_sum, dtype=float), n_new))
        n_rows += n_new

    add_rows(groups, np.arange(n_options), 1.0, 1.0, 1.0, p)
    for members in ties.exclusive:
        at = column[members]  # (members, k)
        which, cluster = np.nonzero(at >= 0)
        add_rows(cluster, at[which, cluster], 1.0, -np.inf, 1.0, k)
    at = column[ties.apart]  # (pairs, 2, k)
    which, side, cluster = np.nonzero(at >= 0)
    add_rows(which * k + cluster, at[which, side, cluster], 1.0, -np.inf, 1.0, len(ties.apart) * k)
    for i, (a, b) in enumerate(ties.soft):
        signs = ((1.0, -1.0), (-1.0, 1.0)) if ties.soft_must[i] else ((1.0, 1.0),)
        for sign_a, sign_b in signs:
            at_a, at_b = np.flatnonzero(column[a] >= 0), np.flatnonzero(column[b] >= 0)
            row = np.concatenate([at_a, at_b, np.arange(k)])
            at = np.concatenate([column[a, at_a], column[b, at_b], np.full(k, n_options + i)])
            value = np.concatenate(
                [np.full(len(at_a), sign_a), np.full(len(at_b), sign_b), np.full(k, -1.0)]
            )
            add_rows(row, at, value, -np.inf, 0.0 if ties.soft_must[i] else 1.0, k)
    if sizes is not None:
        add_rows(clusters, np.arange(n_options), sizes[groups], lower, upper, k)
    A = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(n_rows, n_options + n_soft),
    )
    whole = np.ones(p, dtype=bool) if is_whole is None else is_whole
    solved = milp(
        np.concatenate([regrets, ties.soft_prices]) / scale,
        constraints=LinearConstraint(A, np.concatenate(least_sums), np.concatenate(most_sums)),
        integrality=np.concatenate([whole[groups], np.zeros(n_soft)]).astype(int),
        bounds=Bounds(0, 1),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 1e-7},
    )
    start = float(least.sum())
    if solved.status == 2:
        return Solved(None, np.inf, np.inf)
    bound = start if solved.mip_dual_bound is None else start + scale * solved.mip_dual_bound
    if solved.x is None:
        return Solved(None, np.inf, bound)
    chosen = np.full((p, k), -1.0)
    chosen[groups, clusters] = solved.x[:n_options]
    labels = np.argmax(chosen, axis=1)
    cost = float(costs[np.arange(p), labels].sum()) + ties.soft_cost(labels)
    return Solved(labels, cost, min(bound, cost))
