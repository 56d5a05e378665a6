"""Rows to clusters of bounded size at the least total cost: a transportation problem, exactly.

    min  sum_i C[i, l_i]    s.t.  lower[c] <= |{i : l_i = c}| <= upper[c]  for every cluster c

Its dual has one price per cluster: every row takes the cluster where cost plus price is least. The
prices are first moved one at a time, each to where it alone is best; then rows that are too many
are moved to where rows are missing, always along the cheapest path of clusters, so that no other
labels of the same sizes cost less (successive shortest paths). The prices prove it:

    sum_i min_c (C[i, c] + price[c]) - sum_c (upper[c] price[c]+ - lower[c] price[c]-)  =  the cost
Reference: ahuja1993, section 9.7.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

N_SWEEPS = 2  # over the prices of clusters that have too many or too few rows


class Transported(NamedTuple):
    labels: np.ndarray  # (n,)
    prices: np.ndarray  # (k,) > 0 where the largest size binds, < 0 where the smallest does
    cost: float


def transport(
    costs: np.ndarray,  # (n, k)
    lower: np.ndarray,  # (k,) whole numbers
    upper: np.ndarray,  # (k,)
    prices: np.ndarray | None = None,  # (k,) to start from
) -> Transported | None:
    """The cheapest labels with sizes between the bounds; None where the bounds allow none."""
    n, k = costs.shape
    upper = np.minimum(upper, n)
    if lower.sum() > n or upper.sum() < n or (lower > upper).any():
        return None
    prices = np.zeros(k) if prices is None else prices.astype(np.float64)
    if n:
        prices = balance_prices(costs, lower, upper, prices)
    labels = np.argmin(costs + prices, axis=1) if n else np.empty(0, dtype=np.int64)
    labels, prices = move_excess(costs, labels, prices, lower, upper)
    return Transported(labels, prices, float(costs[np.arange(n), labels].sum()))


def priced_bound(costs: np.ndarray, prices: np.ndarray, lower, upper) -> float:
    """What labels within the bounds cost at least, by any prices."""
    return float((costs + prices).min(axis=1).sum()) - price_of_bounds(prices, lower, upper)


def price_of_bounds(prices: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """What the prices of all places add to the priced costs of labels within the bounds, at most"""
    return float(np.maximum(prices, 0) @ upper - np.maximum(-prices, 0) @ lower)


def balance_prices(
    costs: np.ndarray, lower: np.ndarray, upper: np.ndarray, prices: np.ndarray
) -> np.ndarray:
    """Prices near the best: in turn, each cluster's is set to what keeps its size in bounds."""
    prices, k = prices.copy(), costs.shape[1]
    by_cluster = np.ascontiguousarray(costs.T)  # minima over clusters are several times faster
    priced = by_cluster + prices[:, None]
    for _ in range(N_SWEEPS if k > 1 else 0):
        sizes = np.bincount(np.argmin(priced, axis=0), minlength=k)
        is_off = (sizes > upper) | (sizes < lower) | ((prices > 0) & (sizes < upper))
        is_off |= (prices < 0) & (sizes > lower)
        if not is_off.any():
            break
        for cluster in np.flatnonzero(is_off):
            priced[cluster] = np.inf
            advantages = priced.min(axis=0) - by_cluster[cluster]
            prices[cluster] = price_for_size(advantages, int(lower[cluster]), int(upper[cluster]))
            priced[cluster] = by_cluster[cluster] + prices[cluster]
    return prices


def price_for_size(advantages: np.ndarray, least: int, most: int) -> float:
    """The price nearest 0 at which between ``least`` and ``most`` rows still gain by a cluster."""
    n_gaining = np.count_nonzero(advantages > 0)
    if least <= n_gaining <= most:
        return 0.0
    size = most if n_gaining > most else least
    n = len(advantages)
    ranks = np.array([n - 1 - size, n - size])  # the first row that stays out, the last that is in
    inside = ranks[(ranks >= 0) & (ranks < n)]
    between = np.partition(advantages, inside)[inside]
    return float(between.mean())


def move_excess(
    costs: np.ndarray, labels: np.ndarray, prices: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Move rows along cheapest paths until all sizes are in bounds; prices that prove the result.

    Node k stands outside: what a cluster holds flows on to it, between ``lower`` and ``upper``.
    """
    k = costs.shape[1]
    labels = labels.copy()
    sizes = np.bincount(labels, minlength=k)
    onward = np.where(prices > 0, upper, np.where(prices < 0, lower, np.clip(sizes, lower, upper)))
    excess = np.append(sizes - onward, onward.sum() - len(labels))
    steps = np.full((k + 1, k + 1), np.inf)  # the cheapest move from cluster to cluster
    movers = np.zeros((k, k), dtype=np.int64)  # and the row that makes it
    members = [np.flatnonzero(labels == cluster) for cluster in range(k)]

    def renew(cluster: int) -> None:
        rows = members[cluster]
        steps[cluster, :k] = np.inf
        if len(rows):
            extra = costs[rows] - costs[rows, cluster][:, None]
            best = np.argmin(extra, axis=0)
            steps[cluster, :k] = extra[best, np.arange(k)]
            movers[cluster] = rows[best]
        steps[cluster, cluster] = np.inf
        steps[cluster, k] = 0.0 if onward[cluster] < upper[cluster] else np.inf
        steps[k, cluster] = 0.0 if onward[cluster] > lower[cluster] else np.inf

    for cluster in range(k):
        renew(cluster)
    while (excess > 0).any():
        path = cheapest_path(steps, np.flatnonzero(excess > 0), np.flatnonzero(excess < 0))
        moves = [(a, b, movers[a, b]) for a, b in pairwise(path) if a < k and b < k]
        for a, b in pairwise(path):
            if b == k:
                onward[a] += 1
            elif a == k:
                onward[b] -= 1
        for a, b, row in moves:
            labels[row] = b
            members[a] = members[a][members[a] != row]
            members[b] = np.append(members[b], row)
        excess[path[0]] -= 1
        excess[path[-1]] += 1
        for cluster in set(path) - {k}:
            renew(cluster)
    reach = shortest_from(steps, np.zeros(k + 1))[0]
    return labels, reach[k] - reach[:k]


def cheapest_path(steps: np.ndarray, sources: np.ndarray, goals: np.ndarray) -> list[int]:
    """Nodes of the cheapest path from any source to any goal."""
    start = np.full(len(steps), np.inf)
    start[sources] = 0.0
    reach, came_from = shortest_from(steps, start)
    node = int(goals[np.argmin(reach[goals])])
    path = [node]
    while came_from[node] >= 0:
        node = int(came_from[node])
        path.append(node)
    return path[::-1]


def shortest_from(steps: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least cost to reach each node, and the node before it or -1 (Bellman and Ford)."""
    reach, came_from = start.copy(), np.full(len(start), -1)
    nodes = np.arange(len(start))
    rounding = 1e-13 * np.abs(steps[np.isfinite(steps)]).max(initial=0.0)  # ties make no cycles
    for _ in nodes:
        through = reach[:, None] + steps
        before = np.argmin(through, axis=0)
        least = through[before, nodes]
        is_nearer = least < reach - rounding
        if not is_nearer.any():
            break
        reach = np.where(is_nearer, least, reach)
        came_from = np.where(is_nearer, before, came_from)
    return reach, came_from
