"""`python -m benchmarks.embeddings`: comparisons without features, ours beside cblearn.

Held-out "closer" answers that a space foretells, its seconds of CPU, on the sets and the held-out
fifth of `python -m experiments people embedding`. Ours starts from the identity, of full rank, and
chooses its strength; CKL, t-STE and SOE choose a dimension. All choose by answers held out inside
those they learn from. Sets are read through likewise.datasets: LIKEWISE_DATA names their folder.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.environments import methods_file_of, python_of
from benchmarks.runner import run_worker
from experiments.people import WITHOUT_FEATURES, draw, split_of
from experiments.runs import summarize
from likewise.constraints import Constraints
from likewise.evaluation import held_out_accuracy
from likewise.kernel_learning import SKLR

PEER = "cblearn"
METHODS = ("likewise", "CKL", "TSTE", "SOE")
SIZES = ("2000", "500", "5000")
INNER_FOLDS = 5  # one of them is held out to choose a dimension by
RESULTS = Path(__file__).parent / "results" / "embeddings.jsonl"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embeddings")
    parser.add_argument("--runs", type=int, default=3, help="draws of answers (default 3)")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds a method may take")
    parser.add_argument("--smallest", action="store_true", help="made answers, ours alone, once")
    options = parser.parse_args(argv)
    if options.smallest:
        records = [run("made", "300", "likewise", 0, options.limit)]
    else:
        records = run_missing(options)
    print(table(records))


def run_missing(options):
    """Every record, those of earlier runs read and not made again."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    records = [json.loads(line) for line in lines]
    done = {tuple(one[name] for name in ("data", "answers", "method", "seed")) for one in records}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(options.runs):
        for job in ((d, n, m) for n in SIZES for d in WITHOUT_FEATURES for m in METHODS):
            if (*job, str(seed)) in done:
                continue
            records.append(run(*job, seed, options.limit))
            with RESULTS.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
            print(records[-1], file=sys.stderr)
    return records


def run(data, answers, method, seed, limit_s):
    told, test = made_answers() if data == "made" else split_of(data)
    told = draw(told, answers, seed)
    fit = fit_ours if method == "likewise" else fit_peer
    Z, seconds, status = fit(told, method, seed, limit_s)
    names = {"data": data, "answers": answers, "method": method, "seed": str(seed)}
    accuracy = np.nan if Z is None else held_out_accuracy(Z, test)
    return names | {"accuracy": accuracy, "seconds": seconds, "status": status}


def fit_ours(told, method, seed, limit_s):
    """In this process; its strength is chosen inside."""
    K0 = np.eye(told.n_samples)
    started = time.process_time()
    space = SKLR(start="precomputed", loss="softmax", share=1.0, random_state=seed)
    Z = space.fit(K0, constraints=told).transform(K0)
    return Z, time.process_time() - started, "ok"


def fit_peer(told, method, seed, limit_s):
    """In the peer's own environment."""
    questions = told.questions()
    turn = np.random.RandomState(seed).permutation(questions.max() + 1)
    with tempfile.TemporaryDirectory() as folder:
        problem, outcome = Path(folder, "problem.npz"), Path(folder, "outcome.npz")
        np.savez(
            problem,
            closer=told.closer,
            is_inner=turn[questions] % INNER_FOLDS == 0,
            n_objects=told.n_samples,
            seed=seed,
        )
        job = {
            "methods_file": str(methods_file_of(PEER)),
            "method": method,
            "problem_file": str(problem),
            "outcome_file": str(outcome),
            "limit_s": limit_s,
        }
        answer = run_worker(python_of(PEER), [job])[0]
        is_done = answer["status"] == "ok"
        Z = np.load(outcome)["Z"] if is_done else None
    return Z, answer.get("fit_cpu_s", np.nan), answer["status"]


def made_answers():
    """Answers about 30 rows on a plane, a tenth of them wrong."""
    rng = np.random.RandomState(0)
    Z = rng.normal(size=(30, 2))
    a, b, c = np.array([rng.choice(30, 3, replace=False) for _ in range(600)]).T
    is_b = np.square(Z[a] - Z[b]).sum(axis=1) < np.square(Z[a] - Z[c]).sum(axis=1)
    is_b ^= rng.uniform(size=len(is_b)) < 0.1
    closer = np.where(is_b[:, None], np.stack([a, b, c], axis=1), np.stack([a, c, b], axis=1))
    return tuple(Constraints(30, closer=closer).split(0.8, random_state=0))


def table(records):
    """Share foretold, mean and standard error, and seconds; a row for each set and size."""
    lines = [
        "| data | answers | " + " | ".join(METHODS) + " |",
        "| --- " * (2 + len(METHODS)) + "|",
    ]
    shares = summarize(records, ("data", "answers", "method"), "accuracy")
    seconds = summarize(records, ("data", "answers", "method"), "seconds")
    for data, answers in dict.fromkeys((key[0], key[1]) for key in shares):
        cells = []
        for method in METHODS:
            key = (data, answers, method)
            cells.append(cell(shares[key], seconds[key]) if key in shares else "")
        lines.append(f"| {data} | {answers} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(share, seconds):
    error = f" ± {share.standard_error:.3f}" if share.n_runs > 1 else ""
    return f"{share.mean:.3f}{error}, {seconds.mean:.1f} s"


if __name__ == "__main__":
    main()
