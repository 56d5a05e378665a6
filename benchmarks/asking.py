"""Questions and answers in a session: how long a person waits, at 10,000 rows and at a million.

    python -m benchmarks.asking             three sizes; --publish writes the table of the docs

    first question   from the rows to a question on the screen: graph and directions of the sample
    next question    chosen from what is known
    answer           worked into groups, memberships and the labels of all rows
    placing          the first labels; beyond 10,000 rows where others lie beside the sample, once

    python -m benchmarks.asking --open      a log of 1,000 answers, from the file to its labels

p50 and p99 over the questions of a session with an oracle, the last ones of which have all answers
before them. Wall seconds are what a person waits; CPU seconds are what is left of them on a machine
that does nothing else.
"""

import argparse
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine, number
from likewise.labeling import LabelingSession, LabelOracle, Question

SIZES = (10_000, 100_000, 1_000_000)
N_FEATURES, N_GROUPS = 20, 10
OLD_ANSWERS = 1000
HEADER = (
    "rows", "first question: s", "its CPU s", "placing: s", "CPU s of it",
    "next question p50 / p99: ms", "their CPU ms", "answer p50 / p99: ms", "CPU ms of these",
    "answers",
)  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asking")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--open", action="store_true", help="how long an existing log takes")
    parser.add_argument("--smallest", action="store_true", help="few rows, few questions")
    add_publish_option(parser)
    options = parser.parse_args(argv)
    sizes, n_questions = ((200,), 10) if options.smallest else (options.rows, options.questions)
    if options.open:
        print_rows(measure_opening(sizes, 20 if options.smallest else OLD_ANSWERS))
        return
    load = os.getloadavg()[0]
    table = print_rows(measure(sizes, n_questions))
    if options.publish:
        made_with = f"{machine()}; one session of each size; load average {load:.1f} at the start"
        publish("benchmarks", "asking", table, made_with)


def measure(sizes, n_questions):
    yield HEADER
    for n_rows in sizes:
        yield run_session(n_rows, n_questions)


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


def run_session(n_rows, n_questions):
    """One line of the table."""
    X, y = draw_rows(n_rows)
    oracle, took, is_placed = LabelOracle(y), Stopwatch(), False
    session = took.measure("first", LabelingSession, X)
    question = took.measure("first", session.next_question)
    while len(took.wall["next"]) < n_questions and question is not None:
        what = "answer" if is_placed else "placing"
        took.measure(what, take_in, session, question, oracle(question))
        is_placed = is_placed or session.knowledge.n_groups > 1
        question = took.measure("next", session.next_question)
    cells = [n_rows, *took.total("first"), *took.total("placing")]
    for what in ("next", "answer"):
        cells += [percentiles(took.wall[what]), percentiles(took.cpu[what])]
    return [*cells, session.progress.n_questions]


def take_in(session, question, choice):
    """An answer, and what it changes: groups and memberships; labels too, once there are groups."""
    session.answer(question, choice)
    if session.knowledge.n_groups > 1:
        session.labels  # noqa: B018


class Stopwatch:
    """Wall and CPU seconds, by what was measured."""

    def __init__(self):
        names = ("first", "placing", "next", "answer")
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
