"""`python -m benchmarks.embeddings`: comparisons without features, ours beside cblearn.

Held-out "closer" answers that a space predicts, its seconds of CPU, on the sets and the held-out
fifth of `python -m experiments people embedding`. Ours starts from the identity, of full rank, and
chooses its strength; CKL, t-STE and SOE choose a dimension. All choose by answers held out inside
those they learn from. Sets are read through likewise.datasets: LIKEWISE_DATA names their folder.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.environments import methods_file_of, python_of
from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.runner import run_worker
from benchmarks.summary import machine
from experiments.people import WITHOUT_FEATURES, draw, split_of
from experiments.run_file import origins_of, read_records, run_missing
from experiments.runs import summarize
from likewise.constraints import Constraints
from likewise.evaluation import held_out_accuracy
from likewise.kernel_learning import ChoiceKernel

PEER = "cblearn"
METHODS = ("likewise", "CKL", "TSTE", "SOE")
SIZES = ("2000", "500", "5000")
INNER_FOLDS = 5  # one of them is held out to choose a dimension by
RESULTS = Path(__file__).parent / "results" / "embeddings.csv"
FIELDS = ("data", "answers", "method", "seed", "accuracy", "seconds", "status")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embeddings")
    parser.add_argument("--runs", type=int, default=3, help="draws of answers (default 3)")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds a method may take")
    parser.add_argument("--smallest", action="store_true", help="made answers, ours alone, once")
    add_publish_option(parser)
    options = parser.parse_args(argv)
    if options.smallest:
        records = [run("made", "300", "likewise", 0, options.limit)]
    else:
        records = run_all(options)
    table = print_rows(tabulate(records))
    if options.publish:
        publish("people", "peers", table, "; ".join(origins_of(RESULTS)))


def run_all(options):
    """Every record, those of earlier runs read and not made again."""
    jobs = {
        (data, answers, method, str(seed)): (data, answers, method, seed)
        for seed in range(options.runs)
        for answers in SIZES
        for data in WITHOUT_FEATURES
        for method in METHODS
    }
    run_missing(
        RESULTS,
        FIELDS,
        jobs,
        key_of=lambda record: tuple(record[name] for name in FIELDS[:4]),
        execute=lambda missing: (run(*job, options.limit) for job in missing),
        origin=machine,
        what="embedding",
    )
    return read_records(RESULTS, FIELDS)


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
    space = ChoiceKernel(start="precomputed", n_components=1.0, random_state=seed)
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


def tabulate(records):
    """Share predicted, mean and standard error, and seconds; a row for each set and size."""
    yield ("data", "answers", *METHODS)
    shares = summarize(records, ("data", "answers", "method"), "accuracy")
    seconds = summarize(records, ("data", "answers", "method"), "seconds")
    for data, answers in dict.fromkeys((key[0], key[1]) for key in shares):
        keys = [(data, answers, method) for method in METHODS]
        yield (data, answers, *(cell(shares[k], seconds[k]) if k in shares else "" for k in keys))


def cell(share, seconds):
    error = f" ± {share.standard_error:.3f}" if share.n_runs > 1 else ""
    return f"{share.mean:.3f}{error}, {seconds.mean:.1f} s"


if __name__ == "__main__":
    main()
