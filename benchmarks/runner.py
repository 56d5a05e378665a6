"""Run one job in a process of its own, score it, and keep the rows so that a killed run goes on."""

import csv
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.environments import HERE, methods_file_of, python_of
from benchmarks.problems import make_problem
from benchmarks.scores import score

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
COLUMNS = (
    "key", "status", "fit_s", "fit_cpu_s", "first_fit_s", "start_mb", "peak_mb", "ari", "ari_free",
    "satisfied", "must_satisfied", "cannot_satisfied", "objective", "converged", "n_iter", "warned",
    "python", "versions",
)  # fmt: skip
NUMBERS = COLUMNS[2:13]


def run_job(job, limit_s):
    """One row of results. What goes wrong in a contestant is a result too."""
    comparison = job.comparison
    problem = make_problem(comparison.data, comparison.answers, comparison.n_answers, job.seed)
    with tempfile.TemporaryDirectory() as folder:
        problem_file, outcome_file = Path(folder, "problem.npz"), Path(folder, "outcome.npz")
        problem.write(problem_file)
        description = {
            "methods_file": str(methods_file_of(job.contestant)),
            "method": comparison.method,
            "problem_file": str(problem_file),
            "outcome_file": str(outcome_file),
            "limit_s": limit_s,
        }
        row = {"key": job.key} | run_worker(python_of(job.contestant), description)
        if row["status"] == "ok":
            outcome = dict(np.load(outcome_file))
            row |= score(problem, comparison.method, outcome)
    return row


def run_worker(python, description):
    process = subprocess.run(
        [python, "-P", HERE / "worker.py"],
        input=json.dumps(description),
        capture_output=True,
        text=True,
        env=os.environ | ONE_THREAD,
        check=False,
    )
    if process.returncode == -signal.SIGXCPU:
        limit_s = description["limit_s"]
        return {"status": f"over {limit_s} s", "fit_s": limit_s, "fit_cpu_s": limit_s}
    if process.returncode:
        told = process.stderr.strip().splitlines() or [f"exit status {process.returncode}"]
        return {"status": told[-1][:160]}
    return json.loads(process.stdout.splitlines()[-1])


def read_results(path):
    """Rows by key; a later row of the same key replaces an earlier one."""
    if not path.exists():
        return {}
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update({name: float(row[name]) if row[name] else np.nan for name in NUMBERS})
        row["converged"] = row["converged"] != "False"
    return {row["key"]: row for row in rows}


def append_result(path, row):
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)
