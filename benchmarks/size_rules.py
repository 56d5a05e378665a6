"""Clusters of bounded size, with pairs and without, beside k-means-constrained.

    python -m benchmarks.size_rules [PART ...] [--smallest] [--no-peers] [--seeds N] [--rows N]

sizes  COPKMeans(min_size=, max_size=) without answers, beside k-means-constrained: sizes within a
       quarter of the mean, overlapping groups of different sizes, as many starts for both
pairs  the same with 1,000 pairs, half of them must-links, which the peer does not take; beside
       COPKMeans without sizes, for what the sizes cost

Times are CPU seconds of fit on one thread, and inertia is the sum of squared distances to the means
of the clusters; means and standard errors over seeds. Labels must keep every rule.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.environments import methods_file_of, python_of
from benchmarks.printing import print_rows
from benchmarks.runner import run_worker
from likewise import Constraints, COPKMeans
from likewise.evaluation import violated_answers

PEER = "k-means-constrained"
SIZES = ((1_000, 10, 5), (3_000, 10, 5), (10_000, 20, 1))  # rows, clusters, starts
PAIRS = ((2_000, 10, 5), (10_000, 20, 5))
N_PAIRS = 1_000
LIMIT_S = 120  # CPU seconds of a fit of the peer


def made_rows(n_rows, k, seed):
    """Overlapping Gaussian groups in 10 dimensions, the largest several times the smallest."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n_rows, p=rng.dirichlet(np.full(k, 3.0)))
    return rng.normal(size=(n_rows, 10)) + 1.2 * rng.normal(size=(k, 10))[y], y


def bounds(n_rows, k):
    return {"min_size": 3 * n_rows // (4 * k), "max_size": -(-5 * n_rows // (4 * k))}


def inertia(X, labels):
    """Sum of squared distances to the means of the clusters."""
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


def check(labels, least, most, constraints=None):
    sizes = np.bincount(labels)
    if sizes.min() < least or sizes.max() > most:
        raise RuntimeError(f"sizes from {sizes.min()} to {sizes.max()} are out of bounds")
    if constraints is not None and len(violated_answers(None, constraints, labels)):
        raise RuntimeError("pairs are violated")


def fit_ours(X, k, n_init, seed, constraints=None, **sizes):
    model = COPKMeans(k, n_init=n_init, random_state=seed, **sizes)
    began = time.process_time()
    model.fit(X, constraints=constraints)
    return model, time.process_time() - began


def fit_peer(X, k, n_init, seed, *, min_size, max_size):
    """Labels and CPU seconds in the peer's own environment; None where it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        problem, outcome = Path(folder, "problem.npz"), Path(folder, "outcome.npz")
        settings = {"n_clusters": k, "n_init": n_init, "seed": seed}
        np.savez(problem, X=X, min_size=min_size, max_size=max_size, **settings)
        job = {
            "methods_file": str(methods_file_of(PEER)),
            "method": "Sizes",
            "problem_file": str(problem),
            "outcome_file": str(outcome),
            "limit_s": LIMIT_S,
        }
        answer = run_worker(python_of(PEER), [job])[0]
        labels = np.load(outcome)["labels"] if answer["status"] == "ok" else None
    return labels, answer.get("fit_cpu_s", np.nan), answer["status"]


def show(values, digits):
    """Mean and standard error."""
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):,.{digits}f} ± {error:,.{digits}f}"


def chosen(problems, options):
    problems = [problem for problem in problems if options.rows in (None, problem[0])]
    return problems[: 1 if options.smallest else None]


def compare_sizes(options):
    yield ("rows", "clusters", "starts", "seeds", "likewise, s", f"{PEER}, s",
           "likewise, inertia", f"{PEER}, inertia")  # fmt: skip
    for n_rows, k, n_init in chosen(SIZES, options):
        n_seeds = 1 if options.smallest or n_rows >= 10_000 else options.seeds
        seconds, costs, status = ([], []), ([], []), "not run"
        for seed in range(n_seeds):
            X, _ = made_rows(n_rows, k, seed)
            sizes = bounds(n_rows, k)
            model, taken = fit_ours(X, k, n_init, seed, **sizes)
            check(model.labels_, *sizes.values())
            seconds[0].append(taken)
            costs[0].append(inertia(X, model.labels_))
            if options.no_peers:
                continue
            labels, taken, status = fit_peer(X, k, n_init, seed, **sizes)
            if labels is not None:
                check(labels, *sizes.values())
                seconds[1].append(taken)
                costs[1].append(inertia(X, labels))
        theirs = [show(values[1], d) if values[1] else status for values, d in
                  ((seconds, 1), (costs, 0))]  # fmt: skip
        yield (n_rows, k, n_init, n_seeds, show(seconds[0], 1), theirs[0], show(costs[0], 0),
               theirs[1])  # fmt: skip


def compare_pairs(options):
    yield ("rows", "clusters", "starts", "pairs", "seeds", "seconds", "inertia", "gap, at most",
           "without sizes, s", "without sizes, inertia")  # fmt: skip
    for n_rows, k, n_init in chosen(PAIRS, options):
        n_seeds = 1 if options.smallest else options.seeds
        n_pairs = N_PAIRS // 10 if options.smallest else N_PAIRS
        seconds, costs, gaps = ([], []), ([], []), []
        for seed in range(n_seeds):
            X, y = made_rows(n_rows, k, seed)
            half, sizes = n_pairs // 2, bounds(n_rows, k)
            answers = Constraints.from_labels(
                y, n_must_link=half, n_cannot_link=half, random_state=seed
            )
            for i, rules in enumerate((sizes, {})):
                model, taken = fit_ours(X, k, n_init, seed, answers, **rules)
                check(model.labels_, *(rules or {"least": 0, "most": n_rows}).values(), answers)
                seconds[i].append(taken)
                costs[i].append(model.inertia_)
                gaps += [model.gap_] if rules else []
        yield (n_rows, k, n_init, n_pairs, n_seeds, show(seconds[0], 1), show(costs[0], 0),
               f"{max(gaps):.1e}", show(seconds[1], 1), show(costs[1], 0))  # fmt: skip


PARTS = {"sizes": compare_sizes, "pairs": compare_pairs}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size_rules")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all")
    parser.add_argument("--smallest", action="store_true", help="the smallest size, once")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--seeds", type=int, default=3, help="draws (default 3)")
    parser.add_argument("--rows", type=int, help="problems of so many rows alone")
    options = parser.parse_args(argv)
    for part in options.parts or PARTS:
        print_rows(PARTS[part](options))


if __name__ == "__main__":
    main()
