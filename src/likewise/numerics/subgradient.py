"""Climb a concave function that has corners, from super-gradients alone (Held and Karp's rule).

    z <- project(z + t g),    t = theta (target - value) / |g|^2

theta starts at 2 and is halved when nothing better was found for a while. The target is what the
maximum is thought to be; one that is met is raised.
Reference: held1974. Going back to the best point at every halving, as is often done, ended farther
from the maximum in all our trials.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likewise.numerics.threads import one_thread

SMALLEST_AIM = 1e-8  # of the target: the step never quite ends before theta does


class Climbed(NamedTuple):
    point: np.ndarray  # the best met
    value: float
    n_iter: int
    settled: bool  # theta ran out or the gradient vanished, not the iterations


@one_thread()
def maximize_concave(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    project: Callable[[np.ndarray, np.ndarray], np.ndarray],
    target: float,
    max_iter: int,
    patience: int = 50,
    smallest_theta: float = 1e-4,
) -> Climbed:
    """Maximize from `start`; `evaluate` gives the value and a super-gradient at a point.

    The gradient is 0 in what cannot move; `project(old, new)` takes a step back to where the
    function is defined, knowing where it came from.
    """
    point, theta, n_stalled = start, 2.0, 0
    best, best_point, first = -np.inf, start, 0.0
    for n_iter in range(1, max_iter + 1):
        value, gradient = evaluate(point)
        if n_iter == 1:
            first = value
        if value > best:
            best, best_point, n_stalled = value, point, 0
        else:
            n_stalled += 1
        if best >= target:  # it was no bound: aim as far again
            target = best + abs(best - first)
        if n_stalled == patience:
            theta, n_stalled = theta / 2, 0
        sq_norm = float(gradient @ gradient)
        if sq_norm == 0 or theta < smallest_theta:
            return Climbed(best_point, best, n_iter, settled=True)
        aim = max(target - value, SMALLEST_AIM * abs(target))
        point = project(point, point + theta * aim / sq_norm * gradient)
    return Climbed(best_point, best, max_iter, settled=False)
