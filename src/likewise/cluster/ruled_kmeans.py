"""k-means under rules: the cheapest labels that keep them, and the means of these labels, in turn.

    min  sum_i ||x_i - mu_{l_i}||^2 + the price of violated soft pairs   s.t.  rules (assignment.py)

Rows that must be together move as one point with the weight of all of them. On the way an
assignment within 1e-4 of the best is enough, and never one that is worse than the last, so the sum
never rises. The best start goes on with exact assignments until these find nothing better.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from likewise.cluster.assignment import Assignment, Rules, assign_groups
from likewise.numerics.partitions import cluster_means
from likewise.numerics.threads import one_thread_if_small


class WeightedGroups(NamedTuple):
    """Must-linked groups of rows, each as one point."""

    points: np.ndarray  # (p, d) their means; the mean of all rows is 0
    sizes: np.ndarray  # (p,)
    scatters: np.ndarray  # (p,) size times squared norm


class RuledFit(NamedTuple):
    labels: np.ndarray  # (p,) of the groups
    centers: np.ndarray  # (k, d)
    objective: np.ndarray  # after every step
    converged: bool
    gap: float  # how much less, as a share, other labels could cost at these centers, at most


class NoLabels(Exception):
    """No labels that satisfy the rules; ``is_proved`` says whether there are none."""

    def __init__(self, is_proved: bool):
        super().__init__("no labels satisfy the rules")
        self.is_proved = is_proved


def group_costs(groups, centers: np.ndarray) -> np.ndarray:
    """Size times squared distance of every group to every center, (p, k)."""
    costs = groups.points @ (-2 * centers.T)
    costs += (centers**2).sum(axis=1)
    costs *= groups.sizes[:, None]
    costs += groups.scatters[:, None]
    return costs


@one_thread_if_small(lambda groups, *_, **__: groups.points.size)
def fit_by_rules(
    groups: WeightedGroups,
    rules: Rules,
    starts: Iterable[np.ndarray],
    *,
    max_iter: int,
    tol: float,
) -> RuledFit:
    """The best of several starts, each a set of centers (k, d); NoLabels where none are found."""
    fits = [lloyd(groups, rules, centers, max_iter=max_iter, tol=tol) for centers in starts]
    best = min(fits, key=lambda fitted: fitted.objective[-1])
    steps_left = max(max_iter - len(best.objective), 1)
    polished = lloyd(
        groups, rules, best.centers, max_iter=steps_left, tol=tol, exact=True, labels=best.labels
    )
    objective = np.concatenate([best.objective, polished.objective])
    return polished._replace(objective=objective)


def lloyd(
    groups: WeightedGroups,
    rules: Rules,
    centers: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    exact: bool = False,
    labels: np.ndarray | None = None,
) -> RuledFit:
    """Labels by the rules at the centers, centers as means, until the sum settles."""
    objective: list[float] = []
    prices, n_clusters, gap = None, len(centers), np.inf
    for _ in range(max_iter):
        costs = group_costs(groups, centers)
        found = assign_groups(costs, rules, prices=prices, start=labels, exact=exact)
        if found.labels is None:
            raise NoLabels(is_proved=bool(np.isinf(found.bound)))
        is_same = labels is not None and np.array_equal(found.labels, labels)
        labels, prices, gap = found.labels, found.prices, relative_gap(found)
        masses = np.bincount(labels, weights=groups.sizes, minlength=n_clusters)
        means = cluster_means(groups.points, labels, n_clusters, groups.sizes)
        centers = np.where(masses[:, None] > 0, means, centers)
        scatter = groups.scatters.sum() - masses @ (centers**2).sum(axis=1)
        objective.append(float(scatter + rules.ties.soft_cost(labels)))
        gain = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
        if is_same or gain <= tol * abs(objective[-1]):
            return RuledFit(labels, centers, np.array(objective), True, gap)
    assert labels is not None  # max_iter is 1 or more
    return RuledFit(labels, centers, np.array(objective), False, gap)


def relative_gap(found: Assignment) -> float:
    """How far the cost may lie above the least there is, as a share of it."""
    return max(found.cost - found.bound, 0.0) / abs(found.cost) if found.cost else 0.0
