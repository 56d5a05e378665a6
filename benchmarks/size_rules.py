"""Clusters under rules: sizes beside k-means-constrained, pairs that hold beside PCCC.

    python -m benchmarks.size_rules [PART ...] [--smallest] [--no-peers] [--seeds N] [--publish]

sizes      COPKMeans(min_size=, max_size=) without answers, beside k-means-constrained: sizes within
           a quarter of the mean, overlapping groups of different sizes, as many starts for both
pairs      the same with 1,000 pairs, half of them must-links, which the peer does not take; beside
           COPKMeans without sizes, for what the sizes cost
published  pairs alone, beside what PCCC published and COPKMeans as it was (hard_pairs.py)

Times are CPU seconds of fit on one thread, and inertia is the sum of squared distances to the means
of the clusters; means and standard errors over seeds. Labels must keep every rule. What stands in
benchmarks/results/rules-PART.csv is not run again.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import hard_pairs
from benchmarks.environments import methods_file_of, python_of
from benchmarks.hard_pairs import show
from benchmarks.printing import add_publish_option, print_rows
from benchmarks.runner import run_worker
from benchmarks.summary import machine
from experiments.published import TABLES, PublishedTable, write_published
from experiments.run_file import origins_of, read_records, run_missing
from likewise import Constraints, COPKMeans
from likewise.evaluation import violated_answers

PEER = "k-means-constrained"
HERE = Path(__file__).parent
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


def measure_sizes(problem, n_seeds, no_peers):
    n_rows, k, n_init = problem["rows"], problem["clusters"], problem["starts"]
    seconds, costs, status = ([], []), ([], []), "not run"
    for seed in range(n_seeds):
        X, _ = made_rows(n_rows, k, seed)
        sizes = bounds(n_rows, k)
        model, taken = fit_ours(X, k, n_init, seed, **sizes)
        check(model.labels_, *sizes.values())
        seconds[0].append(taken)
        costs[0].append(inertia(X, model.labels_))
        if no_peers:
            continue
        labels, taken, status = fit_peer(X, k, n_init, seed, **sizes)
        if labels is not None:
            check(labels, *sizes.values())
            seconds[1].append(taken)
            costs[1].append(inertia(X, labels))
    return {
        "likewise s": show(seconds[0], 1),
        f"{PEER} s": show(seconds[1], 1) if seconds[1] else status,
        "likewise inertia": show(costs[0], 0),
        f"{PEER} inertia": show(costs[1], 0) if costs[1] else status,
    }


def measure_pairs(problem, n_seeds, _):
    n_rows, k, n_init = problem["rows"], problem["clusters"], problem["starts"]
    seconds, costs, gaps = ([], []), ([], []), []
    for seed in range(n_seeds):
        X, y = made_rows(n_rows, k, seed)
        half, sizes = problem["pairs"] // 2, bounds(n_rows, k)
        answers = Constraints.from_labels(
            y, n_must_link=half, n_cannot_link=half, random_state=seed
        )
        for i, rules in enumerate((sizes, {})):
            model, taken = fit_ours(X, k, n_init, seed, answers, **rules)
            check(model.labels_, *(rules or {"least": 0, "most": n_rows}).values(), answers)
            seconds[i].append(taken)
            costs[i].append(model.inertia_)
            gaps += [model.gap_] if rules else []
    return {
        "seconds": show(seconds[0], 1),
        "inertia": show(costs[0], 0),
        "gap at these centers": f"{max(gaps):.1e}",
        "without sizes s": show(seconds[1], 1),
        "without sizes inertia": show(costs[1], 0),
    }


class Part(NamedTuple):
    problems: list[dict]  # smallest first
    smallest: dict  # the first of them, as tests run it
    measure: Callable  # (problem, n_seeds, no_peers) to what was measured
    measured: tuple[str, ...]


SHAPE = ("rows", "clusters", "starts")
PARTS = {
    "sizes": Part(
        [dict(zip(SHAPE, shape)) for shape in SIZES],
        dict(zip(SHAPE, SIZES[0])),
        measure_sizes,
        ("likewise s", f"{PEER} s", "likewise inertia", f"{PEER} inertia"),
    ),
    "pairs": Part(
        [{**dict(zip(SHAPE, shape)), "pairs": N_PAIRS} for shape in PAIRS],
        {**dict(zip(SHAPE, PAIRS[0])), "pairs": N_PAIRS // 10},
        measure_pairs,
        ("seconds", "inertia", "gap at these centers", "without sizes s", "without sizes inertia"),
    ),
    "published": Part(
        hard_pairs.PROBLEMS, hard_pairs.SMALLEST, hard_pairs.measure, hard_pairs.MEASURED
    ),
}


def run_part(name, folder, *, n_seeds=3, smallest=False, no_peers=False, tables_only=False):
    """The table of a part; problems whose lines stand in the folder's file are not run again.

    With ``tables_only`` nothing is run, and the table has what stands there.
    """
    part = PARTS[name]
    problems = [part.smallest] if smallest else part.problems
    fields = [*problems[0], "seeds", *part.measured]
    path = Path(folder, f"rules-{name}.csv")

    def key_of(record):
        return tuple(str(record[field]) for field in (*problems[0], "seeds"))

    def n_seeds_of(problem):
        return 1 if smallest or (problem.get("rows", 0) >= 10_000 and name == "sizes") else n_seeds

    jobs = [{**problem, "seeds": n_seeds_of(problem)} for problem in problems]
    run_missing(
        path,
        fields,
        {} if tables_only else {key_of(job): job for job in jobs},
        key_of=key_of,
        execute=lambda missing: (
            {**job, **part.measure(job, job["seeds"], no_peers)} for job in missing
        ),
        origin=machine,
        what=f"measuring {name}",
    )
    found = {key_of(record): record for record in read_records(path, fields)}
    lines = [list(found[key_of(job)].values()) for job in jobs if key_of(job) in found]
    notes = [("made with", text) for text in origins_of(path)]
    return PublishedTable(fields, lines, notes)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size_rules")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all")
    parser.add_argument("--smallest", action="store_true", help="the smallest size, once")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--seeds", type=int, default=3, help="draws (default 3)")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="folder of the runs")
    parser.add_argument("--tables-only", action="store_true", help="from the results")
    add_publish_option(parser)
    options = parser.parse_args(argv)
    names = ("no_peers", "smallest", "tables_only")
    choice = {name: getattr(options, name) for name in names}
    for part in options.parts or PARTS:
        table = run_part(part, options.results, n_seeds=options.seeds, **choice)
        print_rows([table.fields, *table.rows])
        if options.publish:
            write_published(TABLES / "benchmarks" / f"rules-{part}.csv", table)


if __name__ == "__main__":
    main()
