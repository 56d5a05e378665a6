"""What pairs cost when the centers are fixed: sum-of-squares clustering, or any fixed centers.

    min sum_ic D_ic x_i^c   s.t.  sum_c x_i^c = 1,  x >= 0,  and the pairs (priced_pairs.py)

with D_ic what point i pays at center c. Its dual has one multiplier per pair and center. Four ways:

lp           HiGHS, exact. Points in no pair go to their cheapest center; so do all points of a
             connected group of pairs that is satisfied there already; a cannot-link without a point
             in common with another pair has a closed form. The rest is one linear program.
subgradient  the separable Lagrangian, climbed (numerics.subgradient): for more pairs than fit.
isolated     each pair by itself: a cannot-link costs what the cheaper of its points pays to leave,
             a must-link what its points pay to meet.
alternating  as subgradient, with the centers moved to the means of their points at every step.
             The paper's way; its value is an estimate, no bound.

Reference: randel2021. We differ from it in the fixed centers: over free centroids, exchanging the
names of the clusters changes nothing, so some best multipliers are the same for all clusters,
must-links cancel, cannot-links only lower the value, and all-zero multipliers are optimal whatever
the pairs say. Prices found there come from the search, not from the dual.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from likewise.duals.priced_pairs import PricedPairs
from likewise.kernels import row_blocks, sq_distances
from likewise.numerics.partitions import cluster_means, refill_empty
from likewise.numerics.subgradient import maximize_concave


class Priced(NamedTuple):
    multipliers: np.ndarray  # (m, k) eta <= 0 of cannot-links, nu of must-links
    bound: float  # least cost of the points under the relaxed pairs, or an estimate
    settled: bool

    @property
    def prices(self) -> np.ndarray:
        """(m,) >= 0."""
        return np.abs(self.multipliers).sum(axis=1)


def price_by_lp(costs: np.ndarray, pairs: PricedPairs, eps: float) -> Priced:
    """Exact multipliers; `costs` (p, k) are of `pairs.points`."""
    labels = costs.argmin(axis=1)
    least = costs[np.arange(len(costs)), labels]
    multipliers = np.zeros((len(pairs.ends), costs.shape[1]))
    bound = float(least.sum())
    groups, violated, alone = split_groups(pairs, labels)
    lonely = np.flatnonzero(alone & violated & ~pairs.must)
    if len(lonely):
        prices = isolated_prices(costs, pairs)[lonely]
        multipliers[lonely, labels[pairs.ends[lonely, 0]]] = -prices
        bound += (1 - eps) * float(prices.sum())
    hard = np.isin(groups, groups[violated])
    hard[lonely] = False
    if hard.any():
        some = pairs.take(hard)
        at = np.searchsorted(pairs.points, some.points)
        regrets = costs[at] - least[at, None]
        multipliers[hard], extra = solve_program(regrets, some, eps)
        bound += extra
    return Priced(multipliers, bound, settled=True)


def split_groups(
    pairs: PricedPairs, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The connected group of each pair, whether `labels` (p,) break it, whether it is alone."""
    p = len(pairs.points)
    i, j = pairs.ends.T
    graph = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(p, p))
    groups = connected_components(graph, directed=False)[1][i]
    violated = (labels[i] == labels[j]) != pairs.must
    alone = np.bincount(groups, minlength=p)[groups] == 1
    return groups, violated, alone


def solve_program(costs: np.ndarray, pairs: PricedPairs, eps: float) -> tuple[np.ndarray, float]:
    """Multipliers (m, k) and value of the linear program over all points given."""
    p, k = costs.shape
    scale = float(costs.mean()) or 1.0  # HiGHS's tolerances are absolute
    over_centers = sparse.kron(pairs.incidence, sparse.eye_array(k), format="csr")
    must = np.repeat(pairs.must, k)
    solved = linprog(
        costs.ravel() / scale,
        A_ub=sparse.vstack([over_centers, -over_centers[must]], format="csr"),
        b_ub=np.concatenate([np.where(must, eps, 1 + eps), np.full(must.sum(), eps)]),
        A_eq=sparse.kron(sparse.eye_array(p), np.ones((1, k)), format="csr"),
        b_eq=np.ones(p),
        bounds=(0, None),
        method="highs",
    )
    if solved.status != 0:
        raise RuntimeError(f"HiGHS could not solve the program: {solved.message}")
    marginals = solved.ineqlin.marginals * scale
    multipliers = marginals[: len(must)]
    multipliers[must] = marginals[len(must) :] - multipliers[must]  # nu = lambda - gamma
    return multipliers.reshape(-1, k), float(solved.fun) * scale


def isolated_prices(costs: np.ndarray, pairs: PricedPairs) -> np.ndarray:
    """What each pair would cost if it were the only one, (m,): 0 where it is satisfied.

    Exact for cannot-links. For must-links it is the price at eps = 0, which the relaxed one leaves
    a little when there are many centers, since its points may then differ by eps at each.
    """
    labels = costs.argmin(axis=1)
    least, runner_up = np.partition(costs, 1, axis=1)[:, :2].T
    leave = runner_up - least
    i, j = pairs.ends.T
    apart = np.where(labels[i] == labels[j], np.minimum(leave[i], leave[j]), 0.0)
    meet = np.empty(len(i))
    for block in row_blocks(len(i), costs.shape[1]):
        meet[block] = (costs[i[block]] + costs[j[block]]).min(axis=1)
    return np.where(pairs.must, np.maximum(meet - least[i] - least[j], 0.0), apart)


def price_alone(costs: np.ndarray, pairs: PricedPairs) -> Priced:
    """The isolated prices; a pair's price stands at the center it would have to leave."""
    prices = isolated_prices(costs, pairs)
    multipliers = np.zeros((len(prices), costs.shape[1]))
    multipliers[np.arange(len(prices)), costs.argmin(axis=1)[pairs.ends[:, 0]]] = -prices
    return Priced(multipliers, float(costs.min(axis=1).sum()), settled=True)


def price_by_climbing(
    costs: np.ndarray,
    pairs: PricedPairs,
    eps: float,
    *,
    max_iter: int,
    start: np.ndarray | None = None,
) -> Priced:
    """The Lagrangian climbed by super-gradients: a valid bound wherever it stops."""
    shape = (len(pairs.ends), costs.shape[1])
    incidence = pairs.incidence

    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
        multipliers = flat.reshape(shape)
        penalized = costs + penalties(multipliers, pairs, incidence)
        labels = penalized.argmin(axis=1)
        value = penalized[np.arange(len(labels)), labels].sum() + constant(multipliers, pairs, eps)
        return float(value), super_gradient(multipliers, labels, pairs, eps).ravel()

    return climb_multipliers(
        evaluate, costs, pairs, max_iter=max_iter, start=np.zeros(shape) if start is None else start
    )


def price_by_alternating(
    X: np.ndarray,
    labels: np.ndarray,
    pairs: PricedPairs,
    eps: float,
    *,
    n_clusters: int,
    max_iter: int,
) -> Priced:
    """The same over centers that follow their points; labels (n,) are where they start."""
    shape = (len(pairs.ends), n_clusters)
    incidence = pairs.incidence
    state = {"labels": labels, "centers": cluster_means(X, labels, n_clusters)}

    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
        multipliers = flat.reshape(shape)
        penalized = sq_distances(X, state["centers"])
        penalized[pairs.points] += penalties(multipliers, pairs, incidence)
        labels = refill_empty(
            penalized.argmin(axis=1), penalized.min(axis=1), n_clusters
        )  # else its multipliers lose their center
        means = cluster_means(X, labels, n_clusters)
        moved = ((X - means[labels]) ** 2).sum() - sq_distances(X, state["centers"])[
            np.arange(len(X)), labels
        ].sum()
        value = penalized[np.arange(len(X)), labels].sum() + moved
        state.update(labels=labels, centers=means)
        gradient = super_gradient(multipliers, labels[pairs.points], pairs, eps)
        return float(value + constant(multipliers, pairs, eps)), gradient.ravel()

    costs = sq_distances(X[pairs.points], state["centers"])
    rest = np.delete(np.arange(len(X)), pairs.points)
    fixed_cost = float(((X[rest] - state["centers"][labels[rest]]) ** 2).sum())
    return climb_multipliers(
        evaluate, costs, pairs, max_iter=max_iter, start=np.zeros(shape), fixed_cost=fixed_cost
    )


def climb_multipliers(
    evaluate,
    costs: np.ndarray,
    pairs: PricedPairs,
    *,
    max_iter: int,
    start: np.ndarray,
    fixed_cost=0.0,
) -> Priced:
    """Multipliers by numerics.subgradient, aiming at what the pairs cost one by one."""
    must = np.repeat(pairs.must, costs.shape[1])
    target = fixed_cost + float(costs.min(axis=1).sum() + isolated_prices(costs, pairs).sum())

    def project(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        crossed = np.where(
            must, old * new < 0, new > 0
        )  # a must-link's sign may only go by way of 0
        return np.where(crossed, 0.0, new)

    climbed = maximize_concave(
        evaluate, start.ravel(), project=project, target=target, max_iter=max_iter
    )
    return Priced(climbed.point.reshape(start.shape), climbed.value, climbed.settled)


def penalties(multipliers: np.ndarray, pairs: PricedPairs, incidence) -> np.ndarray:
    """What the multipliers add to the cost of each point at each center, (p, k)."""
    return incidence.T @ np.where(pairs.must[:, None], multipliers, -multipliers)


def constant(multipliers: np.ndarray, pairs: PricedPairs, eps: float) -> float:
    """The part of the Lagrangian that no label changes: (1 + eps) sum eta - eps sum |nu|."""
    must = pairs.must
    return float((1 + eps) * multipliers[~must].sum() - eps * np.abs(multipliers[must]).sum())


def super_gradient(
    multipliers: np.ndarray, labels: np.ndarray, pairs: PricedPairs, eps: float
) -> np.ndarray:
    """The slack of every pair at every center, (m, k); 0 where a multiplier cannot follow it."""
    chosen = np.zeros((len(labels), multipliers.shape[1]))
    chosen[np.arange(len(labels)), labels] = 1.0
    first, second = chosen[pairs.ends[:, 0]], chosen[pairs.ends[:, 1]]
    apart = 1 + eps - first - second
    apart[(multipliers == 0) & (apart > 0)] = 0.0
    differs = first - second
    from_zero = np.sign(differs) * np.maximum(np.abs(differs) - eps, 0)
    onward = differs - eps * np.sign(multipliers)
    meet = np.where(multipliers == 0, from_zero, onward)
    return np.where(pairs.must[:, None], meet, apart)
