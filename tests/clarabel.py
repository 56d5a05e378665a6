"""A general solver beside ours, and how near it says it came.

Clarabel asks a relative gap of 1e-8 of itself. Where rounding stops it before, which happens on
some processors and not on others, it accepts 5e-5 ("almost solved") and cvxpy warns. That is no
fault of what is tested: the gap comes back with the value, and a comparison allows for it.
"""

import warnings
from typing import NamedTuple

import cvxpy as cp

REACHED, ALMOST = 1e-8, 5e-5  # Clarabel's tol_gap_rel and reduced_tol_gap_rel


class Solved(NamedTuple):
    value: float
    gap: float  # relative, between the solver's point and its bound

    def value_tol(self, least: float) -> float:
        """Relative tolerance of a value beside this one: `least`, or twice the gap if larger."""
        return max(least, 2 * self.gap)

    def point_tol(self, least: float) -> float:
        """`least` where the solver reached its goal. Points differ by the root of the gap."""
        return least * (self.gap / REACHED) ** 0.5


def solve_by_clarabel(problem: cp.Problem, **settings) -> Solved:
    """Solve it; the variables hold the point."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        value = problem.solve(solver=cp.CLARABEL, **settings)
    return Solved(value, REACHED if problem.status == cp.OPTIMAL else ALMOST)
