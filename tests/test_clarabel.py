"""The solver that tests compare with, where it reaches its goal and where rounding stops it."""

import cvxpy as cp
import numpy as np
import pytest

from tests.clarabel import ALMOST, REACHED, solve_by_clarabel


def log_det_problem():
    M = cp.Variable((3, 3), PSD=True)
    C = np.diag([1.0, 2.0, 4.0])
    return cp.Problem(cp.Minimize(cp.trace(C @ M) - cp.log_det(M))), 3 + np.log(8)


def test_a_goal_that_is_reached_is_reported_with_its_gap():
    problem, best = log_det_problem()
    solved = solve_by_clarabel(problem)
    assert solved.gap == REACHED
    assert solved.value == pytest.approx(best, rel=solved.value_tol(1e-7))


def test_a_goal_that_rounding_puts_out_of_reach_is_reported_by_its_gap_and_without_a_warning():
    problem, best = log_det_problem()
    out_of_reach = {"tol_gap_abs": 1e-18, "tol_gap_rel": 1e-18, "tol_feas": 1e-18}
    solved = solve_by_clarabel(problem, **out_of_reach)
    assert problem.status == cp.OPTIMAL_INACCURATE
    assert solved.gap == ALMOST
    assert solved.value == pytest.approx(best, rel=solved.value_tol(1e-7))
