"""Two ways to the same optimum: sweeps of projections, or L-BFGS-B on the dual.

    maximize  log det(I + sum_c dual_c C_c)   over  0 <= dual_c <= C

Both end in a metric M and duals with M = inv(I + sum_c dual_c C_c); what is shown is the certified
relative gap between primal and dual value against CPU seconds, on the odd-one-out answers of SKLR.

    python -m benchmarks.logdet_dual [--smallest]
"""

import argparse
import time

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits

from benchmarks.printing import print_rows
from likewise.constraints import Constraints
from likewise.kernel_learning.logdet_kernel import problem_rows
from likewise.kernel_learning.start_kernels import fit_start
from likewise.numerics.logdet_sweeps import sweep_triples

GAMMA = 2.0


def draw_problem(start: str, n_rows: int, n_answers: int, noise: float):
    """Unit coordinates of a start, and the triples of answers drawn from labels."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:n_rows] / 16, y[:n_rows]
    answers = Constraints.from_labels(y, n_odd_one_out=n_answers, noise=noise, random_state=0)
    Y = fit_start(start, X).transform(X)
    return Y / np.sqrt(2 * Y.var(axis=0).sum()), problem_rows(answers).triples


class Problem:
    """Values and gradients of both sides."""

    def __init__(self, Y, triples, C):
        self.U = Y[triples[:, 0]] - Y[triples[:, 1]]
        self.W = Y[triples[:, 0]] - Y[triples[:, 2]]
        self.C, self.r = C, Y.shape[1]

    def inverse(self, duals):
        return np.eye(self.r) + (self.U.T * (GAMMA * duals)) @ self.U - (self.W.T * duals) @ self.W

    def violations(self, M):
        near = np.einsum("ij,ij->i", self.U @ M, self.U)
        return GAMMA * near - np.einsum("ij,ij->i", self.W @ M, self.W)

    def gap(self, M, duals):
        """Relative, certified: the primal value of M less the dual value of the duals."""
        primal = np.trace(M) - np.linalg.slogdet(M)[1] - self.r
        primal += self.C * np.maximum(self.violations(M), 0).sum()
        sign, dual = np.linalg.slogdet(self.inverse(duals))
        return (primal - dual) / max(1.0, abs(dual)) if sign > 0 else np.inf

    def negative_dual(self, duals):
        try:
            L = np.linalg.cholesky(self.inverse(duals))
        except np.linalg.LinAlgError:  # outside the domain: the line search must step back
            return 1e10, np.zeros_like(duals)
        M = np.linalg.inv(L)
        return -2 * np.log(L.diagonal()).sum(), -self.violations(M.T @ M)


def by_sweeps(problem, Y, triples, seconds):
    M, duals = np.eye(problem.r), np.zeros(len(triples))
    rng, spent, trace = np.random.RandomState(0), 0.0, []
    while spent < seconds and (not trace or trace[-1][1] > 1e-8):
        began = time.process_time()
        sweep_triples(
            M,
            Y,
            triples,
            duals,
            ratios=np.full(len(triples), GAMMA),
            is_equality=np.zeros(len(triples), dtype=bool),
            strengths=np.full(len(triples), problem.C),
            order=rng.permutation(len(triples)),
        )
        spent += time.process_time() - began
        trace.append((spent, problem.gap(M, duals)))
    return trace


def by_quasi_newton(problem, triples, seconds):
    spent, trace, began = 0.0, [], time.process_time()

    def watch(duals):
        nonlocal spent, began
        spent += time.process_time() - began
        trace.append((spent, problem.gap(np.linalg.inv(problem.inverse(duals)), duals)))
        if spent > seconds or trace[-1][1] < 1e-8:
            raise StopIteration
        began = time.process_time()

    minimize(
        problem.negative_dual,
        np.zeros(len(triples)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, problem.C)] * len(triples),
        callback=watch,
        options={"maxiter": 5000, "maxfun": 10_000, "maxcor": 20, "ftol": 0, "gtol": 1e-12},
    )
    return trace


def seconds_to(trace, gap) -> str:
    reached = [spent for spent, value in trace if value <= gap]
    return f"{reached[0]:.2f}" if reached else f"- ({trace[-1][1]:.0e})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--seconds", type=float, default=20.0, help="at most, each way")
    options = parser.parse_args()
    sizes = [("diffusion", 300, 100)] if options.smallest else []
    sizes = sizes or [("diffusion", 800, 400), ("diffusion", 800, 2000), ("gaussian", 800, 400)]
    print("CPU seconds to a relative gap of 1e-2 / 1e-4 / 1e-6; - (gap) where it was not reached")
    print_rows(race(sizes, options.seconds))


def race(sizes, most_seconds):
    yield ("start", "directions", "answers", "wrong", "C", "sweeps", "L-BFGS-B")
    for start, n_rows, n_answers in sizes:
        for noise in (0.0, 0.2):
            Y, triples = draw_problem(start, n_rows, n_answers, noise)
            for C in (0.3, 3.0):
                problem = Problem(Y, triples, C)
                traces = (
                    by_sweeps(problem, Y, triples, most_seconds),
                    by_quasi_newton(problem, triples, most_seconds),
                )
                cells = [" / ".join(seconds_to(t, g) for g in (1e-2, 1e-4, 1e-6)) for t in traces]
                yield (start, problem.r, n_answers, f"{noise:.0%}", C, *cells)


if __name__ == "__main__":
    main()
