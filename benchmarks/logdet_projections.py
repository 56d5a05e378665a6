"""Blocked log-det projections beside a plain numpy loop, in one run, on one thread.

python benchmarks/logdet_projections.py             20,000 projections, r = 200 and 500
python benchmarks/logdet_projections.py --smallest  what CI runs
python benchmarks/logdet_projections.py --blocks    also times other block sizes
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.printing import print_rows
from likewise.numerics import logdet_sweeps, loops

# Ratios to reach, by (rank, r, with numba).
TARGETS = {
    (1, 200, True): 5.0,
    (1, 500, True): 5.0,
    (2, 200, True): 2.0,
    (2, 500, True): 2.0,
    (1, 200, False): 2.0,
    (1, 500, False): 4.0,
    (2, 200, False): 1.1,
    (2, 500, False): 1.8,
}


def plain_pairs(M, rows, pairs, duals, sign, sq_targets, strengths):
    """One pair after another, as one would write it first."""
    for c, (i, j) in enumerate(pairs):
        v = rows[i] - rows[j]
        Mv = M @ v
        sq_dist = v @ Mv
        dual = duals[c] + sign[c] * (1 / sq_targets[c] - 1 / sq_dist)
        dual = max(0.0, dual / (1 + 1 / strengths[c]))
        step = sign[c] * (dual - duals[c])
        if step:
            M -= np.outer(step / (1 + step * sq_dist) * Mv, Mv)
            duals[c] = dual


def plain_triples(M, rows, triples, duals, ratios, strengths):
    """One triple after another, as one would write it first."""
    for row, (i, j, k) in enumerate(triples):
        uw = np.array([rows[i] - rows[j], rows[i] - rows[k]])
        Muw = uw @ M
        (p, x), (_, q) = Muw @ uw.T
        ratio = ratios[row]
        exact = (ratio * p - q) / (2 * ratio * (p * q - x * x))
        a = min(max(0.0, duals[row] + exact), strengths[row]) - duals[row]
        if a:
            b, c = 1 / (a * ratio) + p, q - 1 / a
            core = np.array([[c, -x], [-x, b]]) / (b * c - x * x)
            M -= Muw.T @ (core @ Muw)
            duals[row] += a


def make_problem(rank, r, n_projections):
    """Random rows; every constraint of one sweep moves, so that all projections are counted."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, r)) / np.sqrt(2 * r)
    triples = np.array([rng.choice(2000, 3, replace=False) for _ in range(n_projections)])
    if rank == 1:
        sign = np.where(np.arange(n_projections) % 2, 1.0, -1.0)
        sq_targets = np.where(sign > 0, 0.3, 3.0)
        strengths = np.ones(n_projections)
        columns = {"sign": sign, "sq_targets": sq_targets, "strengths": strengths}
        return rows, triples[:, :2], columns
    ratios, strengths = np.full(n_projections, 4.0), np.full(n_projections, 0.1)
    return rows, triples, {"ratios": ratios, "strengths": strengths}


def blocked(rank, M, rows, answers, duals, columns, block_size):
    """One sweep of the library's own."""
    if rank == 1:
        return logdet_sweeps.sweep_pairs(
            M, rows, answers, duals, loss="log_det", block_size=block_size, **columns
        )
    no_equality = np.zeros(len(answers), dtype=bool)
    return logdet_sweeps.sweep_triples(
        M, rows, answers, duals, is_equality=no_equality, block_size=block_size, **columns
    )


def seconds(sweep):
    start = time.perf_counter()
    sweep()
    return time.perf_counter() - start


def time_blocked(rank, rows, answers, columns, block_size):
    r = rows.shape[1]
    first = {name: column[:64] for name, column in columns.items()}
    blocked(rank, np.eye(r), rows, answers[:64], np.zeros(64), first, block_size)  # compiles
    M, duals = np.eye(r), np.zeros(len(answers))
    taken = seconds(lambda: blocked(rank, M, rows, answers, duals, columns, block_size))
    return taken, M, duals


def compare(rank, r, n_projections, block_sizes):
    rows, answers, columns = make_problem(rank, r, n_projections)
    plain = plain_pairs if rank == 1 else plain_triples
    M_plain, duals_plain = np.eye(r), np.zeros(n_projections)
    plain_s = seconds(lambda: plain(M_plain, rows, answers, duals_plain, **columns))
    for with_numba in (True, False):
        if with_numba and not loops.has_numba():
            continue
        logdet_sweeps.COMPILED_FROM = (
            0 if with_numba else np.inf
        )  # the Python source is the fallback
        for block_size in block_sizes:
            taken, M, duals = time_blocked(rank, rows, answers, columns, block_size)
            difference = np.abs(M - M_plain).max() / np.abs(M_plain).max()
            n_moved = int(np.count_nonzero(duals))
            target = TARGETS.get((rank, r, with_numba), "")
            us = 1e6 / n_projections
            times = (f"{plain_s * us:.1f}", f"{taken * us:.1f}", f"{plain_s / taken:.1f}")
            loop = "yes" if with_numba else "no"
            yield (rank, r, loop, block_size, n_moved, *times, target, f"{difference:.0e}")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smallest", action="store_true", help="r = 50, 1,000 projections")
    parser.add_argument("--blocks", action="store_true", help="time several block sizes")
    options = parser.parse_args(argv)
    sizes, n_projections = ((50,), 1000) if options.smallest else ((200, 500), 20_000)
    return print_rows(measure(sizes, n_projections, options.blocks))


def measure(sizes, n_projections, try_blocks):
    yield ("rank", "r", "numba", "block", "moved", "plain us", "blocked us", "ratio", "to reach",
           "differ")  # fmt: skip
    with threadpool_limits(1):
        for rank in (1, 2):
            chosen = logdet_sweeps.PAIRS_A_BLOCK if rank == 1 else logdet_sweeps.TRIPLES_A_BLOCK
            block_sizes = (16, 32, 48, 64, 96) if try_blocks else (chosen,)
            for r in sizes:
                yield from compare(rank, r, n_projections, block_sizes)


if __name__ == "__main__":
    main()
