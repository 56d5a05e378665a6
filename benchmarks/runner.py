"""Run jobs in processes of their own and score them; their rows go to a file of runs."""

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
from experiments.run_file import read_records

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


def run_jobs(jobs, limit_s):
    """A row of results for each job of one contestant, all in one process.

    Where time and memory are to be compared, pass one job. What goes wrong in a contestant is a
    result too.
    """
    with tempfile.TemporaryDirectory() as folder:
        problems, descriptions = [], []
        for i, job in enumerate(jobs):
            comparison = job.comparison
            problem = make_problem(
                comparison.data, comparison.answers, comparison.n_answers, job.seed
            )
            problem.write(Path(folder, f"problem-{i}.npz"))
            problems.append(problem)
            descriptions.append(
                {
                    "methods_file": str(methods_file_of(job.contestant)),
                    "method": comparison.method,
                    "problem_file": str(Path(folder, f"problem-{i}.npz")),
                    "outcome_file": str(Path(folder, f"outcome-{i}.npz")),
                    "limit_s": limit_s,
                }
            )
        answers = run_worker(python_of(jobs[0].contestant), descriptions)
        for job, problem, description, answer in zip(jobs, problems, descriptions, answers):
            row = {"key": job.key} | answer
            if row["status"] == "ok":
                outcome = dict(np.load(description["outcome_file"]))
                row |= score(problem, job.comparison.method, outcome)
            yield row


def run_worker(python, descriptions):
    """One answer a description; those after a crash tell of the crash."""
    process = subprocess.run(
        [python, "-P", HERE / "worker.py"],
        input="\n".join(json.dumps(description) for description in descriptions),
        capture_output=True,
        text=True,
        env=os.environ | ONE_THREAD,
        check=False,
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    if process.returncode == -signal.SIGXCPU:
        limit_s = descriptions[0]["limit_s"]
        crash = {"status": f"over {limit_s} s", "fit_s": limit_s, "fit_cpu_s": limit_s}
    else:
        told = process.stderr.strip().splitlines() or [f"exit status {process.returncode}"]
        crash = {"status": told[-1][:160]}
    return answers + [crash] * (len(descriptions) - len(answers))


def read_results(path):
    """Rows by key; a later row of the same key replaces an earlier one."""
    rows = read_records(path, COLUMNS)
    for row in rows:
        row.update({name: float(row[name]) if row[name] else np.nan for name in NUMBERS})
        row["converged"] = row["converged"] != "False"
    return {row["key"]: row for row in rows}
