"""Choosing pairs beside the literal double loop, and choosing questions beside COBRAS.

    python -m benchmarks.selection [PART ...] [--smallest] [--publish] [--seeds N]

loop       50 pairs of 500 on 1,000 images of 400 pixels; three rounds of the literal loop are
           timed, from the pairs that we had chosen by then, and the whole is extrapolated from
           them; with --candidates N only so many candidates of a round are tried. Ours is run
           with finalists and with every candidate judged, as the literal loop does
whole      both loops to their end, where the literal one is short enough
pool       seconds against the size of the pool
questions  ARI by the number of answers: ours, random questions, and cobras-ts asking its own

Times are CPU seconds on one thread. With --publish the tables go to docs/tables/ssc.
"""

import argparse
import os
import platform
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.printing import add_publish_option, print_rows, publish
from experiments import ssc
from experiments.cobras import ask_cobras
from experiments.runs import run_table
from likewise import ITML, Constraints, select_constraints
from likewise.datasets import thin_by_class
from likewise.evaluation import satisfaction_report

ROUNDS = (1, 25, 50)  # of the literal loop that are timed
RESULTS = Path("results/ssc/sessions.csv")


def images(n_rows, n_pairs):
    """MNIST without its empty rim, 20 x 20, and as many must-links as cannot-links."""
    X, y = ssc.load_images("mnist")
    rows = thin_by_class(y, n_rows, random_state=0)
    half = n_pairs // 2
    pool = Constraints.from_labels(y[rows], n_must_link=half, n_cannot_link=half, random_state=0)
    X = np.asarray(X[rows], dtype=np.float64)
    return X, pool, KMeans(10, n_init=10, random_state=0).fit(X).cluster_centers_


def literal_round(X, pool, chosen, init, most=None):
    """Algorithm 1, one turn of its outer loop: the best agreement, whose, and seconds.

    Of more than ``most`` candidates a draw is tried, and the seconds are scaled up.
    """
    began, found = time.process_time(), []
    left = np.setdiff1d(np.arange(pool.n_answers), chosen)
    tried = np.random.RandomState(0).permutation(left)[:most]
    for c in tried:
        itml = ITML(random_state=0).fit(X, constraints=pool.subset([*chosen, c]))
        start = itml.transform(init)
        labels = KMeans(10, init=start, n_init=1, tol=0).fit_predict(itml.transform(X))
        shares = satisfaction_report(None, pool, labels).shares
        found.append(((shares["must_link"] + shares["cannot_link"]) / 2, int(c)))
    best = max(found)
    return best[0], best[1], (time.process_time() - began) * len(left) / len(tried)


def timed(job, *args, **settings):
    began = time.process_time()
    result = job(*args, **settings)
    return result, time.process_time() - began


def choose(X, pool, init, n_select, **settings):
    return timed(
        select_constraints, X, pool, len(init), n_select=n_select, init=init, patience=None,
        random_state=0, **settings,
    )  # fmt: skip


def beside_the_loop(options):
    n_rows, n_pairs, n_select = (200, 20, 3) if options.smallest else (1000, 500, 50)
    rounds = (1, 2, 3) if options.smallest else ROUNDS
    X, pool, init = images(n_rows, n_pairs)
    found, seconds = choose(X, pool, init, n_select)
    yield ("round", "candidates tried", "literal: agreement", "ours", "literal: s", "ours: s")
    literal = []
    for n in rounds:
        best, _, spent = literal_round(X, pool, found.chosen[: n - 1], init, options.candidates)
        literal.append(spent)
        tried = min(options.candidates or n_pairs, n_pairs - n + 1)
        yield (n, tried, f"{best:.3f}", f"{found.qualities[n]:.3f}", f"{spent:.1f}",
               f"{seconds / n_select:.2f}")  # fmt: skip
    whole = np.interp(np.arange(1, n_select + 1), rounds, literal).sum()
    yield ("all, literal extrapolated", "", "", f"{found.qualities[-1]:.3f}", f"{whole:.0f}",
           f"{seconds:.1f} in all: {whole / seconds:.0f} times faster")  # fmt: skip
    found, seconds = choose(X, pool, init, n_select, exact=True)
    yield ("all, every candidate judged", n_pairs, "", f"{found.qualities[-1]:.3f}", f"{whole:.0f}",
           f"{seconds:.1f} in all: {whole / seconds:.0f} times faster")  # fmt: skip


def to_the_end(options):
    n_rows, n_pairs, n_select = (200, 20, 3) if options.smallest else (300, 60, 8)
    X, pool, init = images(n_rows, n_pairs)
    yield ("way", "pairs", "agreement", "s", "of the literal choice")
    chosen, spent, quality = [], 0.0, 0.0
    for _ in range(n_select):
        quality, best, seconds = literal_round(X, pool, chosen, init)
        chosen.append(best)
        spent += seconds
    yield ("literal", n_select, f"{quality:.3f}", f"{spent:.1f}", "")
    for name, exact in (("exact", True), ("finalists", False)):
        found, seconds = choose(X, pool, init, n_select, exact=exact)
        shared = len(set(chosen) & set(found.chosen))
        yield (name, n_select, f"{found.qualities[-1]:.3f}", f"{seconds:.1f}", shared)


def grow_pool(options):
    yield ("pool", "s, finalists", "s, exact")
    sizes = (20, 40) if options.smallest else (125, 250, 500)
    for n_pairs in sizes:
        X, pool, init = images(300, n_pairs)
        _, fast = choose(X, pool, init, 3)
        _, exact = choose(X, pool, init, 3, exact=True)
        yield (n_pairs, f"{fast:.2f}", f"{exact:.2f}")


def ask(options):
    """Sessions of `python -m experiments ssc sessions`, and COBRAS on the same rows and seeds."""
    table = next(table for table in ssc.TABLES if table.name == "sessions")
    n_seeds = 1 if options.smallest else options.seeds
    wanted = [
        cell
        for cell in table.cells()
        if cell["data"] in options.sets.split(",")
        and cell["annotator"] == "careful"
        and cell["strategy"] in ("expected-change", "random")
    ]
    table = type(table)(**{**vars(table), "cells": lambda: wanted})
    records = run_table(table, RESULTS, n_runs=n_seeds)
    yield ("data", "questions by", "runs", *(f"after {n}" for n in ssc.AFTER))
    for data in options.sets.split(","):
        for strategy in ("expected-change", "random"):
            ours = [r for r in records if (r["data"], r["strategy"]) == (data, strategy)]
            scores = [[float(one[f"ARI after {n}"]) for n in ssc.AFTER] for one in ours]
            yield (data, strategy, len(scores), *summary(scores))
        scores = [cobras(data, seed) for seed in range(n_seeds)]
        yield (data, "COBRAS", len(scores), *summary(scores))


def summary(scores):
    scores = np.array(scores)
    errors = scores.std(axis=0, ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0 * scores[0]
    return [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(scores.mean(axis=0), errors)]


def cobras(data, seed):
    """ARI of cobras-ts after so many of its own questions."""
    X, y = ssc.load_session(data, seed)
    found = ask_cobras(X, y, ssc.AFTER, seed)
    return [adjusted_rand_score(y, labels) for labels in found]


PARTS = {"loop": beside_the_loop, "whole": to_the_end, "pool": grow_pool, "questions": ask}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", default=",".join(ssc.SESSIONS), help="of questions")
    parser.add_argument("--candidates", type=int, help="of a literal round, a draw")
    add_publish_option(parser)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        table = print_rows(PARTS[part](options))
        machine = f"CPU seconds on {os.cpu_count()} x {platform.machine()}, one thread"
        print(f"\n{machine}.\n", flush=True)
        if options.publish:
            publish("ssc", part, table, machine)


if __name__ == "__main__":
    main()
