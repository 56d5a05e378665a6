"""NPK beside a plain dense solver, beside Clarabel, and against the number of rows.

    python -m benchmarks.npk [PART ...] [--smallest] [--publish]

plain      interior points on all pairs, dense, as one would write them from the equations
clarabel   the whole n x n program through cvxpy
pairs      ever more pairs
rows       100 pairs among ever more rows: graph, elimination and solver apart
graph      SimpleNPK on a graph of 60,000 rows

Times are CPU seconds; set OMP_NUM_THREADS=1, as they add up over threads.
"""

import argparse
import time

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from sklearn.datasets import make_moons

from benchmarks.printing import add_publish_option, print_rows, publish
from experiments.npk import solve_by_clarabel
from likewise import NPK, Constraints, SimpleNPK
from likewise.kernel_learning.npk_solvers import PairProblem, solve_exactly
from likewise.kernels import laplacian, neighbor_graph
from likewise.numerics.elimination import eliminate

DELTA, C, TOL = 0.01, 1.0, 1e-7
STEP, PLAIN_STEPS = 0.9, 60


def draw(n_rows, n_pairs, seed):
    """Two moons, and pairs drawn from their classes."""
    X, y = make_moons(n_rows, noise=0.1, random_state=0)
    return X, Constraints.from_labels(y, n_pairs=n_pairs, random_state=seed)


def graph_of(X, n_neighbors=5):
    """The 0/1 graph of nearest rows by a tree: quick in few dimensions, for any number of rows."""
    n = len(X)
    near = cKDTree(X).query(X, n_neighbors + 1)[1][:, 1:]
    W = csr_array(
        (np.ones(near.size), (np.repeat(np.arange(n), n_neighbors), near.ravel())), (n, n)
    )
    return csr_array(W.maximum(W.T))


def reduced_problem(X, answers):
    pairs, signs = answers.signed_pairs()
    rows, local = np.unique(pairs, return_inverse=True)
    G = eliminate(laplacian(neighbor_graph(X, 5), delta=DELTA), rows).inverse
    return PairProblem(G, local.reshape(-1, 2), signs.astype(float), np.full(len(pairs), C))


def sym(A):
    return (A + A.T) / 2


def solve_plainly(problem):
    """Primal-dual interior points, all pairs at once, step lengths from eigenvalues."""
    G, pairs, t, _ = problem
    L = np.linalg.inv(G)
    L = (L + L.T) / 2
    p, m = len(L), len(pairs)
    i, j = pairs.T
    degree = np.bincount(pairs.ravel()).max()
    q = np.full(m, 0.5 * min(C / 2, np.linalg.eigvalsh(L)[0] / (2 * degree)))
    Z, e, w = 2 * np.eye(p), np.ones(m), np.ones(m)

    def matrix(v):
        D = np.zeros((p, p))
        np.add.at(D, (i, j), v * t)
        np.add.at(D, (j, i), v * t)
        return D

    def move(target, R, re, rw):
        """Of everything, from the second-order terms R H, re and rw; reads the loop's variables."""
        R, re, rw = target * H - Z - R, target / s1 - e - re, target / s2 - w - rw
        dq = np.linalg.solve(B, missing - 2 * t * sym(R)[i, j] - 2 * re + 2 * rw)
        dM = -matrix(dq)
        return dq, dM, sym(R - Z @ dM @ H), re + 2 * dq * e / s1, rw - 2 * dq * w / s2

    def longest(A, D, *vectors):
        K = np.linalg.cholesky(A)
        Y = solve_triangular(K, solve_triangular(K, D, lower=True).T, lower=True)
        low = np.linalg.eigvalsh(sym(Y))[0]
        limits = [-v[d < 0] / d[d < 0] for v, d in vectors]
        return min(1, STEP * min([np.inf if low >= 0 else -1 / low, *np.concatenate(limits)]))

    for _ in range(PLAIN_STEPS):
        primal = np.sum(L * Z) + 2 * C * np.maximum(0, 1 - t * Z[i, j]).sum()
        gap = (primal - 2 * q.sum()) / max(1, 2 * q.sum())
        if gap < TOL:
            break
        M, s1, s2 = L - matrix(q), 2 * C - 2 * q, 2 * q
        H = sym(np.linalg.inv(M))
        mu = (np.sum(Z * M) + e @ s1 + w @ s2) / (p + 2 * m)
        missing = 2 - (2 * t * Z[i, j] + 2 * e - 2 * w)
        at = np.ix_
        B = Z[at(j, i)] * H[at(i, j)] + Z[at(j, j)] * H[at(i, i)]
        B += Z[at(i, i)] * H[at(j, j)] + Z[at(i, j)] * H[at(j, i)]
        B = np.outer(t, t) * B + np.diag(4 * e / s1 + 4 * w / s2)

        dq, dM, dZ, de, dw = move(0, 0, 0, 0)
        up = longest(Z, dZ, (e, de), (w, dw))
        down = longest(M, dM, (s1, -2 * dq), (s2, 2 * dq))
        ahead = np.sum((Z + up * dZ) * (M + down * dM))
        ahead += (e + up * de) @ (s1 - 2 * down * dq) + (w + up * dw) @ (s2 + 2 * down * dq)
        target = mu * (ahead / (p + 2 * m) / mu) ** 3
        dq, dM, dZ, de, dw = move(target, dZ @ dM @ H, -2 * de * dq / s1, 2 * dw * dq / s2)
        up = longest(Z, dZ, (e, de), (w, dw))
        down = longest(M, dM, (s1, -2 * dq), (s2, 2 * dq))
        Z, e, w, q = sym(Z + up * dZ), e + up * de, w + up * dw, q + down * dq
    return 2 * q.sum(), gap


def timed(job, *args, **settings):
    began = time.process_time()
    result = job(*args, **settings)
    return result, time.process_time() - began


def compare_plain(smallest):
    sizes = [(100, 40, 0)] if smallest else [(1000, 400, 0), (2000, 1000, 3)]
    yield (
        "rows touched",
        "pairs",
        "plain: s",
        "gap",
        "NPK: s",
        "gap",
        "times faster",
        "difference",
    )
    for n_rows, n_pairs, seed in sizes:  # the last has 1,269 rows touched
        problem = reduced_problem(*draw(n_rows, n_pairs, seed))
        ours, seconds = timed(solve_exactly, problem, tol=TOL, max_iter=100)
        (value, gap), plain = timed(solve_plainly, problem)
        values = (plain, gap, seconds, ours.gap, plain / seconds, ours.dual / value - 1)
        told = map(format, values, (".3g", ".0e", ".3g", ".0e", ".1f", ".0e"))
        yield (len(problem.G), n_pairs, *told)


def compare_clarabel(smallest):
    yield ("rows", "pairs", "Clarabel: s", "NPK: s", "times faster", "difference")
    for n_rows, n_pairs in [(20, 20)] if smallest else [(50, 100), (100, 100)]:
        X, answers = draw(n_rows, n_pairs, 0)
        value, seconds = timed(solve_by_clarabel, X, answers)
        NPK().fit(X, constraints=answers)  # loads what a first fit loads
        ours, mine = timed(NPK().fit, X, constraints=answers)
        yield (n_rows, n_pairs, f"{seconds:.3g}", f"{mine:.3g}", f"{seconds / mine:.0f}",
               f"{ours.primal_value_ / value - 1:.0e}")  # fmt: skip


def grow_pairs(smallest):
    yield ("rows", "pairs", "rows touched", "wrong", "s", "gap", "rank", "pairs that pull")
    sizes = [(200, 300, 0.0)] if smallest else [(2000, 1000, 0.0), (2000, 1000, 0.1)]
    sizes += [] if smallest else [(10_000, 5000, 0.0)]
    for n_rows, n_pairs, noise in sizes:
        X, y = make_moons(n_rows, noise=0.1, random_state=0)
        answers = Constraints.from_labels(y, n_pairs=n_pairs, noise=noise, random_state=0)
        S = graph_of(X)
        npk = NPK(affinity="precomputed", delta=DELTA, C=C, tol=TOL)
        _, seconds = timed(npk.fit, S, constraints=answers)
        yield (n_rows, n_pairs, len(answers.touched_rows()), f"{noise:.0%}", f"{seconds:.3g}",
               f"{npk.gap_:.0e}", npk.embedding_.shape[1],
               np.count_nonzero(npk.duals_ > 1e-6))  # fmt: skip


def grow_rows(smallest):
    yield ("rows", "pairs", "graph: s", "elimination: s", "solver: s", "all rows: s", "gap")
    for n_rows in [200] if smallest else [200, 2000, 20_000, 200_000]:
        X, answers = draw(n_rows, 100, 0)
        pairs, signs = answers.signed_pairs()
        rows, local = np.unique(pairs, return_inverse=True)
        W, graph = timed(graph_of, X)
        reduced, elimination = timed(eliminate, laplacian(W, delta=DELTA), rows)
        problem = PairProblem(
            reduced.inverse, local.reshape(-1, 2), signs.astype(float), np.full(len(pairs), C)
        )
        found, solver = timed(solve_exactly, problem, tol=TOL, max_iter=100)
        pull = np.zeros((n_rows, found.pull.shape[1]))
        pull[rows[found.rows]] = found.pull
        _, lift = timed(reduced.solve, pull)
        times = (f"{seconds:.2g}" for seconds in (graph, elimination, solver, lift))
        yield (n_rows, len(pairs), *times, f"{found.gap:.0e}")


def large_graph(smallest):
    yield ("rows", "pairs", "method", "s", "steps", "directions")
    n_rows = 1600 if smallest else 60_000
    for loss, n_pairs in (("linear", 1000), ("squared_hinge", 100)):
        X, answers = draw(n_rows, n_pairs, 0)
        space = SimpleNPK(loss=loss, affinity="precomputed")
        _, seconds = timed(space.fit, graph_of(X), constraints=answers)
        n_directions = space.embedding_.shape[1]
        yield n_rows, n_pairs, f"SimpleNPK, {loss}", f"{seconds:.3g}", space.n_iter_, n_directions


PARTS = {
    "plain": compare_plain,
    "clarabel": compare_clarabel,
    "pairs": grow_pairs,
    "rows": grow_rows,
    "graph": large_graph,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--smallest", action="store_true")
    add_publish_option(parser)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        table = print_rows(PARTS[part](options.smallest))
        print()
        if options.publish:
            publish("npk", part, table, f"python -m benchmarks.npk {part}")


if __name__ == "__main__":
    main()
