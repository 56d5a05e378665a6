"""Questions and answers in a session: how long a person waits, at 10,000 rows and at ten million.

    python -m benchmarks.asking             four sizes; --publish writes the table of the docs

    first question   from the rows to a question on the screen: graph and directions of the sample
    next question    chosen from what is known
    answer           worked into groups and memberships of the rows that are thought about
    labels           of all rows, after an answer
    placing          the first labels; beyond 10,000 rows where others lie beside the sample, once

Each size in a process of its own, whose peak memory it is, from a memory map of float32 rows.

    python -m benchmarks.asking --open      a log of 1,000 answers, from the file to its labels

p50 and p99 over the questions of a session with an oracle, the last ones of which have all answers
before them. Wall seconds are what a person waits; CPU seconds are what is left of them on a machine
that does nothing else.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine, number
from likewise.labeling import LabelingSession, LabelOracle, Question

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
N_FEATURES, N_GROUPS, SPREAD = 20, 10, 4.0
BLOCK = 100_000
OLD_ANSWERS = 1000
HEADER = (
    "rows", "first question: s", "its CPU s", "placing: s", "CPU s of it",
    "next question p50 / p99: ms", "their CPU ms", "answer p50 / p99: ms", "CPU ms of these",
    "labels p50 / p99: ms", "CPU ms of them", "answers", "peak MB",
)  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asking")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--open", action="store_true", help="how long an existing log takes")
    parser.add_argument("--smallest", action="store_true", help="few rows, few questions")
    parser.add_argument("--folder", help="where rows are written; 80 bytes each")
    add_publish_option(parser)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.job:
        print(json.dumps(run_session(options.job, options.questions, options.folder)))
        return
    sizes, n_questions = ((200,), 10) if options.smallest else (options.rows, options.questions)
    if options.open:
        print_rows(measure_opening(sizes, 20 if options.smallest else OLD_ANSWERS))
        return
    load = os.getloadavg()[0]
    table = print_rows(measure(sizes, n_questions, options.folder))
    if options.publish:
        made_with = f"{machine()}; one session of each size; load average {load:.1f} at the start"
        publish("benchmarks", "asking", table, made_with)


def measure(sizes, n_questions, folder):
    yield HEADER
    for n_rows in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as made:
            command = [sys.executable, "-m", "benchmarks.asking", "--job", str(n_rows)]
            command += ["--questions", str(n_questions), "--folder", made]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            yield json.loads(done.stdout)


def measure_opening(sizes, n_answers):
    yield "rows", "answers", "graph: CPU s", "log, groups and labels: CPU s"
    for n_rows in sizes:
        X, y = draw_rows(n_rows)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answers.log"
            write_log(path, X, y, n_answers)
            took = Stopwatch()
            session = took.measure("first", LabelingSession, X)
            took.measure("first", session.next_question)
            session = took.measure("answer", partial(LabelingSession, log=path), X)
            took.measure("answer", lambda session=session: session.labels)
            session.close()
        graph, opened = took.total("first")[1], sum(took.cpu["answer"])
        yield n_rows, n_answers, graph, number(opened - sum(took.cpu["first"]), 3)


def write_log(path, X, y, n_answers):
    """Answers about random rows, each beside one row of every group; nothing is computed."""
    session = LabelingSession(X, log=path)
    firsts = [int(np.flatnonzero(y == group)[0]) for group in range(N_GROUPS)]
    others = np.setdiff1d(np.arange(len(X)), firsts)
    shown = tuple((row,) for row in firsts)
    for i in range(1, N_GROUPS):
        session.answer(Question("group", (firsts[i],), shown[:i]), "new")
    for row in np.random.default_rng(0).choice(others, n_answers - N_GROUPS + 1, replace=False):
        session.answer(Question("group", (int(row),), shown), int(y[row]))
    session.close()


def draw_rows(n_rows):
    return make_blobs(n_rows, N_FEATURES, centers=N_GROUPS, cluster_std=4.0, random_state=0)


def write_rows(folder, n_rows):
    """The groups (n,) of rows that are written to rows.npy block by block, and are mapped."""
    centers = np.random.default_rng(0).uniform(-10, 10, (N_GROUPS, N_FEATURES))
    path, groups = Path(folder) / "rows.npy", np.empty(n_rows, dtype=np.int8)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, N_FEATURES))
    for start in range(0, n_rows, BLOCK):
        rng = np.random.default_rng([0, start])
        block = slice(start, min(start + BLOCK, n_rows))
        y = rng.integers(0, N_GROUPS, block.stop - start)
        groups[block] = y
        X[block] = centers[y] + SPREAD * rng.standard_normal((len(y), N_FEATURES))
    X.flush()
    return np.load(path, mmap_mode="r"), groups


def run_session(n_rows, n_questions, folder):
    """One line of the table."""
    X, y = write_rows(folder, n_rows)
    oracle, took, is_placed = LabelOracle(y), Stopwatch(), False
    session = took.measure("first", LabelingSession, X)
    question = took.measure("first", session.next_question)
    while len(took.wall["next"]) < n_questions and question is not None:
        took.measure("answer", take_in, session, question, oracle(question))
        if session.knowledge.n_groups > 1:
            took.measure("labels" if is_placed else "placing", lambda: session.labels)
            is_placed = True
        question = took.measure("next", session.next_question)
    cells = [n_rows, *took.total("first"), *took.total("placing")]
    for what in ("next", "answer", "labels"):
        cells += [percentiles(took.wall[what]), percentiles(took.cpu[what])]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return [*cells, session.progress.n_questions, f"{peak:.0f}"]


def take_in(session, question, choice):
    """An answer, and what it changes: groups, and memberships of the rows thought about."""
    session.answer(question, choice)
    session.knowledge  # noqa: B018


class Stopwatch:
    """Wall and CPU seconds, by what was measured."""

    def __init__(self):
        names = ("first", "placing", "next", "answer", "labels")
        self.wall, self.cpu = ({name: [] for name in names} for _ in range(2))

    def measure(self, what, function, *arguments):
        wall, cpu = time.perf_counter(), time.process_time()
        result = function(*arguments)
        self.wall[what].append(time.perf_counter() - wall)
        self.cpu[what].append(time.process_time() - cpu)
        return result

    def total(self, what):
        return number(sum(self.wall[what]), 3), number(sum(self.cpu[what]), 3)


def percentiles(seconds):
    return " / ".join(number(1000 * s, 3) for s in np.percentile(seconds, [50, 99]))


if __name__ == "__main__":
    main()
