"""Prices beside the plain linear programs they come from, in one run.

    python -m benchmarks.duals [--smallest]

Centers that stand still: `constraint_prices` on 60,000 points with 6,000 pairs and 10 clusters,
beside the linear program over all points in pairs as it stands (one call of HiGHS). k-medoids: the
Lagrangian beside the linear program over all rows, and how far below its bound it ends; the same at
2,000 rows, where the program does not fit; and many sets of pairs over one matrix. Seconds are CPU
seconds of this process.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.stats import spearmanr

from benchmarks.printing import add_publish_option, print_rows, publish
from likewise import Constraints, constraint_prices
from likewise.cluster import KMedoids
from likewise.datasets import make_metric_clusters
from likewise.duals import dissimilarity_matrix
from likewise.duals.centroid_prices import price_by_climbing, solve_program
from likewise.duals.fitness import WIDTHS
from likewise.duals.medoid_prices import (
    cluster_without_pairs,
    price_by_lagrangian,
    price_by_program,
    price_sets,
)
from likewise.duals.priced_pairs import pairs_of
from likewise.kernels import sq_distances

EPS = 0.1


def timed(call: Callable, *arguments, times: int = 1, **settings):
    """The result and the least CPU seconds of some calls."""
    seconds = []
    for _ in range(times):
        began = time.process_time()
        result = call(*arguments, **settings)
        seconds.append(time.process_time() - began)
    return result, min(seconds)


def draw_clusters(n: int, k: int, d: int, rng):
    """Overlapping clouds: k-means breaks some of the pairs that their labels imply."""
    centers = rng.randn(k, d) * 2
    y = rng.randint(k, size=n)
    return centers[y] + rng.randn(n, d) * 2, y, centers


def fixed_centers(n: int, n_pairs: int, k: int, seeds: int) -> Iterator[Sequence]:
    print(f"\n{n} points, {n_pairs} pairs, k = {k}: CPU seconds, best of 3\n")
    yield ("seed", "prices", "plain LP", "ratio", "subgradient", "its gap", "costly",
           "largest difference")  # fmt: skip
    for seed in range(seeds):
        rng = np.random.RandomState(seed)
        X, y, centers = draw_clusters(n, k, 10, rng)
        answers = Constraints.from_labels(y, n_pairs=n_pairs, random_state=seed)
        pairs = pairs_of(answers)
        costs = sq_distances(X[pairs.points], centers)
        ours, ours_s = timed(constraint_prices, X, answers, k, centers=centers, times=3)
        (_, value), plain_s = timed(solve_program, costs, pairs, EPS, times=3)
        climbed, climbed_s = timed(price_by_climbing, costs, pairs, EPS, max_iter=500)
        beside = ours.cost - costs.min(axis=1).sum()
        off = abs(ours.bound - beside - value) / value
        gap = (value - climbed.bound) / value
        cells = [seed, f"{ours_s:.2f}", f"{plain_s:.2f}", f"{ours_s / plain_s:.2f}"]
        cells += [f"{climbed_s:.2f}", f"{gap:.1e}", np.count_nonzero(ours.prices), f"{off:.0e}"]
        yield cells


def medoids_beside_program(n: int, sizes: tuple[int, ...], seeds: int) -> Iterator[Sequence]:
    print(f"\nk-medoids, {n} rows, k = 3: CPU seconds\n")
    yield ("data", "pairs", "seed", "Lagrangian", "program", "times", "gap %", "rank correlation")
    for name in ("euclidean", "manhattan", "mahalanobis"):
        for seed in range(seeds):
            data = make_metric_clusters(name, n, random_state=seed)
            D = dissimilarity_matrix(data.X)
            for n_pairs in sizes:
                answers = Constraints.from_labels(data.y, n_pairs=n_pairs, random_state=seed)
                pairs = pairs_of(answers)
                prepared, first_s = timed(cluster_without_pairs, D, 3, np.random.RandomState(0))
                ours, ours_s = timed(price_by_lagrangian, prepared, pairs, EPS)
                program, program_s = timed(price_by_program, D, 3, pairs, EPS)
                seconds = first_s + ours_s
                gap = 100 * (program.bound - ours.bound) / program.bound
                alike = 1.0
                if np.ptp(program.prices) and np.ptp(ours.prices):
                    alike = spearmanr(program.prices, ours.prices)[0]
                cells = [name, n_pairs, seed, f"{seconds:.2f}", f"{program_s:.2f}"]
                cells += [f"{program_s / seconds:.1f}", f"{gap:.4f}", f"{alike:.2f}"]
                yield cells


def many_rows(n: int, n_pairs: int, k: int) -> None:
    rng = np.random.RandomState(0)
    X, y, _ = draw_clusters(n, k, 10, rng)
    answers = Constraints.from_labels(y, n_pairs=n_pairs, random_state=0)
    found, seconds = timed(constraint_prices, X, answers, k, model="k-medoids", random_state=0)
    n_costly = np.count_nonzero(found.prices)
    print(
        f"\nk-medoids, {n} rows, {n_pairs} pairs, k = {k}: {seconds:.1f} CPU seconds; bound "
        f"{found.bound:.6g}, medoids without pairs {found.cost:.6g}, {n_costly} pairs cost "
        f"something; missed no column: {found.settled}"
    )


def batch(n: int, n_sets: int) -> None:
    data = make_metric_clusters("manhattan", n, random_state=0)
    rng = np.random.RandomState(0)
    sets = [
        pairs_of(Constraints.from_labels(data.y, n_pairs=rng.randint(1, 101), random_state=rng))
        for _ in range(n_sets)
    ]
    D = dissimilarity_matrix(data.X)
    _, alone_s = timed(KMedoids(3, metric="precomputed", random_state=0).fit, D)
    prepared, first_s = timed(cluster_without_pairs, D, 3, rng)
    _, seconds = timed(price_sets, prepared, sets, EPS, widths=WIDTHS)
    whole = 16 * (first_s + seconds * 500 / n_sets) / 60
    print(
        f"\n{n_sets} sets of 1 to 100 pairs over one matrix of {n} rows: {seconds:.1f} CPU "
        f"seconds and {first_s:.2f} once (medoids alone: {alone_s:.2f}); 500 sets x 4 metrics x 4 "
        f"data sets at that rate: {whole:.0f} minutes on one core"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smallest", action="store_true", help="each once, at its smallest size")
    add_publish_option(parser)
    options = parser.parse_args()
    if options.smallest:
        print_rows(fixed_centers(2000, 200, 4, seeds=1))
        print_rows(medoids_beside_program(40, (10,), seeds=1))
        many_rows(100, 20, 3)
        batch(40, 3)
        return
    fixed = print_rows(fixed_centers(60_000, 6000, 10, seeds=3))
    medoids = print_rows(medoids_beside_program(200, (20, 50, 100), seeds=2))
    if options.publish:
        publish("duals", "prices-fixed", fixed, "python -m benchmarks.duals")
        publish("duals", "prices-medoids", medoids, "python -m benchmarks.duals")
    many_rows(2000, 400, 10)
    batch(200, 100)


if __name__ == "__main__":
    main()
