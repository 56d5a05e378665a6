"""Fifty clicks, from two thousand rows to ten million: do clusters stay as good?

    python -m benchmarks.few_clicks [codes | made ...] [--rows N ...] [--runs R] [--smallest]
                                    [--publish]

codes    the 60,000 training images of MNIST in 32 principal components, in an order drawn anew in
         each run (seeds from 100). The classes of 50 rows among the first 2,000 are known: medoids
         of k-means in diffusion coordinates of those. The same 50 are known with 2,000, 10,000 and
         all rows; ARI of all rows, and its mean difference from that of 2,000 rows
made     rows of benchmarks.many_rows in memory (32 float32, twelve clouds, four of them small) with
         five known rows of each cloud, in a process of its own: CPU seconds, peak memory, ARI and
         the share of the rows of small clouds that are found

GraphPropagation(k) and, for codes, GuidedClustering(k), which benchmarks.many_rows measures on made
rows in a file.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from benchmarks.cloud_fit import (
    N_FEATURES,
    N_GROUPS,
    answers_of,
    cloud_blocks,
    count_together,
    found_share,
    rand_index,
)
from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine
from experiments.guided import FIRST_SEED, clicked_rows
from likewise import Constraints, GraphPropagation, GuidedClustering
from likewise.datasets import fetch

METHODS = {"GraphPropagation": GraphPropagation, "GuidedClustering": GuidedClustering}
N_TRAINING, N_CODES, N_CLICKS, N_CLICKED = 60_000, 32, 50, 2_000
CODE_ROWS = (N_CLICKED, 10_000, N_TRAINING)
MADE_ROWS = (1_000_000, 10_000_000)


def principal_codes():
    """Codes (60000, 32) of the training images in float32, and their classes."""
    found = fetch("mnist")
    images = np.asarray(found.X)[:N_TRAINING].reshape(N_TRAINING, -1).astype(np.float32) / 255
    codes = PCA(N_CODES, random_state=0).fit_transform(images)
    return codes.astype(np.float32), np.asarray(found.y)[:N_TRAINING]


def on_codes(options):
    sizes = options.rows or (CODE_ROWS[:1] if options.smallest else CODE_ROWS)
    codes, classes = principal_codes()
    found = {(name, n_rows): [] for name in METHODS for n_rows in sizes}
    for run in range(options.runs):
        seed = FIRST_SEED + run
        order = np.random.default_rng(seed).permutation(N_TRAINING)
        X, y = codes[order], classes[order]
        clicked = clicked_rows(X[:N_CLICKED].astype(np.float64), N_CLICKS, seed)
        for (name, n_rows), scores in found.items():
            known = np.full(n_rows, -1)
            known[clicked] = y[clicked]
            began = time.process_time()
            model = METHODS[name](10, random_state=seed)
            model.fit(X[:n_rows], constraints=Constraints.from_partial_labels(known))
            score = adjusted_rand_score(y[:n_rows], model.labels_)
            scores.append((score, time.process_time() - began))
    yield "method", "rows", "CPU s", "ARI", f"ARI less that of {sizes[0]:,}", "runs"
    for (name, n_rows), scores in found.items():
        aris, seconds = np.array(scores).T
        less = aris - np.array(found[name, sizes[0]])[:, 0]
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
        yield (
            *(name, f"{n_rows:,}", f"{seconds.mean():.1f}", f"{aris.mean():.3f}"),
            *(f"{less.mean():+.3f} ± {error:.3f}" if n_rows != sizes[0] else "", len(less)),
        )


def made_job(n_rows):
    """One fit of rows in memory: seconds, scores and the peak memory."""
    X, y = np.empty((n_rows, N_FEATURES), np.float32), np.empty(n_rows, np.int8)
    start = 0
    for rows, clouds in cloud_blocks(n_rows):
        here = slice(start, start + len(rows))
        X[here], y[here], start = rows, clouds, start + len(rows)
    answers = answers_of(y, "clicks")
    began = time.process_time(), time.perf_counter()
    model = GraphPropagation(N_GROUPS, random_state=0).fit(X, constraints=answers)
    spent = time.process_time() - began[0], time.perf_counter() - began[1]
    counts = count_together(y, model.labels_)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "cpu": spent[0],
        "wall": spent[1],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
        "rows_mb": X.nbytes / 2**20,
        "ari": rand_index(counts),
        "small": found_share(counts),
    }


def on_made(options):
    yield "rows", "CPU s", "wall s", "peak MB", "rows in memory, MB", "ARI", "small groups found"
    for n_rows in options.rows or ((12_000,) if options.smallest else MADE_ROWS):
        if options.smallest:
            found = made_job(n_rows)
        else:
            command = [sys.executable, "-m", "benchmarks.few_clicks", "--job", str(n_rows)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout)
        yield (
            *(f"{n_rows:,}", f"{found['cpu']:.1f}", f"{found['wall']:.1f}"),
            *(f"{found['peak_mb']:.0f}", f"{found['rows_mb']:.0f}"),
            *(f"{found['ari']:.3f}", f"{found['small']:.3f}"),
        )


PARTS = {"codes": on_codes, "made": on_made}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_clicks")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all without any")
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--runs", type=int, default=5, help="of codes")
    parser.add_argument("--smallest", action="store_true", help="once, in seconds")
    add_publish_option(parser)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(made_job(options.job)))
        return
    if options.smallest:
        options.runs = 1
    for name in options.parts or PARTS:
        table = print_rows(PARTS[name](options))
        print()
        if options.publish:
            publish("benchmarks", f"clicks-{name}", table, machine())


if __name__ == "__main__":
    main()
