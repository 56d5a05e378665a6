"""Fits with default threads beside other programs: wall seconds with a busy process on each core.

    python -m benchmarks.busy             every method; --publish writes the table of the docs
    python -m benchmarks.busy --before SRC    the same of an older source, on a quiet machine, too

Threads that wait for each other at every small product made a fit 34 times as long beside one busy
process. A fair share of a busy core alone takes twice as long, so 3 is what may be asked for. Run
it on a machine that does nothing else: what is quiet here is what this script leaves quiet.
"""

import argparse
import contextlib
import multiprocessing
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.fit_once import METHODS
from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine, number

FIT_ONCE = Path(__file__).parent / "fit_once.py"
SRC = Path(__file__).parents[1] / "src"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HEADER = (
    "method", "one thread, quiet: s", "default threads, quiet: s", "default threads, busy: s",
    "busy over one thread", "CPU s when busy",
)  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy")
    parser.add_argument("--fits", type=int, default=3, help="of each; the median counts")
    parser.add_argument("--only", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--before", type=Path, help="src/ of an older commit, to compare with")
    parser.add_argument("--smallest", action="store_true", help="few rows, one fit of each")
    add_publish_option(parser)
    options = parser.parse_args(argv)
    n_rows, n_fits = (60, 1) if options.smallest else (1797, options.fits)
    load = os.getloadavg()[0]
    table = print_rows(measure(options.only, n_rows, n_fits, options.before))
    if options.publish:
        made_with = f"{machine()}; median of {n_fits} fits; load average {load:.1f} at the start"
        publish("benchmarks", "busy", table, made_with)


def measure(methods, n_rows, n_fits, before):
    yield (*HEADER, *(("before, default threads, quiet: s",) if before else ()))
    for method in methods:
        one, _ = median_fit(method, n_rows, n_fits, one_thread=True)
        quiet, _ = median_fit(method, n_rows, n_fits)
        with busy_cores():
            busy, busy_cpu = median_fit(method, n_rows, n_fits)
        cells = [method, *(number(s, 3) for s in (one, quiet, busy, busy / one, busy_cpu))]
        if before:
            cells.append(number(median_fit(method, n_rows, n_fits, source=before)[0], 3))
        yield cells


def median_fit(method, n_rows, n_fits, *, one_thread=False, source=SRC):
    """Wall and CPU seconds, each fit in a process of its own."""
    unset = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    environment = {**unset, **(ONE_THREAD if one_thread else {}), "PYTHONPATH": str(source)}
    command = [sys.executable, "-P", str(FIT_ONCE), method, str(n_rows)]
    told = [
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        for _ in range(n_fits)
    ]
    seconds = [tuple(map(float, line.split())) for line in told]
    return tuple(statistics.median(some) for some in zip(*seconds))


@contextlib.contextmanager
def busy_cores():
    """A process for each core that does nothing but count; ended here, whatever happens."""
    processes = [
        multiprocessing.get_context("spawn").Process(target=count_on, daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        for process in processes:
            process.start()
        yield processes
    finally:
        for process in processes:
            if process.pid is not None:
                process.kill()
                process.join()


def count_on():
    n = 0
    while True:
        n += 1


if __name__ == "__main__":
    main()
