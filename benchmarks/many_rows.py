"""GuidedClustering from a file of rows to clusters, by the number of rows, with small groups in it.

    python -m benchmarks.many_rows [--rows N ...] [--answers clicks|triples|linear ...]
                                   [--device cuda] [--n-jobs J] [--killed]
                                   [--beside CHECKOUT] [--beside-rows N] [--folder FOLDER]
                                   [--results FILE [--kept]] [--smallest] [--publish]

Rows x 32 float32 in a .npy file, made here: eight Gaussian clouds with 95.6 % of the rows and four
with 3, 1, 0.3 and 0.1 %. Everything is the public call with its defaults,
GuidedClustering(12, random_state=0).fit(path, constraints=answers), in a process of its own:

clicks    five known rows of each cloud: rows go by memberships of the nearest anchors
triples   200 odd-one-out answers: rows go to the nearest center in a learned space
linear    the five known rows for learner=RCA(): to the nearest center after a linear map

CPU and wall seconds of the whole fit, of the same fit on its 10,000 first rows (learning, which
does not grow) and the difference by row; peak memory of the process; ARI, and the share of the rows
of the small clouds that are in the cluster where most of their cloud is. The slope is that of log
CPU seconds beyond learning over log rows, where all sizes were run; sizes with less than three such
seconds are left out, for learning takes a second more or less each time. With --device, how many
bytes of rows a second went to the device, beside what a copy alone reaches in the same process.
With --killed, each fit has a checkpoint=, is killed when half of its labels are in it, and is begun
again: CPU seconds are those of both, and labels must be those of the fit that was not killed. With
--beside, up to --beside-rows the same calls are made of an older likewise, from its checkout.
--results keeps a line per run, and what stands there is not run again; with --kept nothing else is
in the table. 100,000,000 rows take 12.8 GB in FOLDER.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.cloud_fit import N_FEATURES, job, write_rows
from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine

SIZES, SMALLEST = (100_000, 1_000_000, 10_000_000), (12_000, 24_000)
KINDS = ("clicks", "triples", "linear")
CLEAR = 3.0  # CPU seconds
N_LABELS = 2  # of a row in a checkpoint: the cluster, and that before learning


def killed_job(settings):
    """The same after a kill when half of the labels were in the checkpoint."""
    checkpoint = Path(settings["folder"]) / "half.labels"
    settings = settings | {"checkpoint": str(checkpoint)}
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    first = subprocess.Popen(command_of(settings), stdout=subprocess.DEVNULL)
    half = settings["n_rows"] * N_LABELS * 4 // 2
    while first.poll() is None and not (checkpoint.exists() and checkpoint.stat().st_size > half):
        time.sleep(0.01)
    first.kill()
    if first.wait() == 0:
        raise RuntimeError("The fit was done before it could be killed. Use more rows.")
    wall, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    found = fresh(settings)
    found["cpu"] += now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    found["wall"] += wall
    return found


def command_of(settings):
    return [sys.executable, "-m", "benchmarks.cloud_fit", json.dumps(settings)]


def fresh(settings, checkout=None):
    """The job in a process of its own, by the likewise of a checkout where one is named."""
    own = os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        command_of(settings),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": own if checkout is None else str(Path(checkout, "src"))},
    )
    return json.loads(done.stdout)


def commit_of(checkout):
    command = ["git", "-C", checkout, "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def measure(options, folder):
    """Every run, from the file of results where it stands there."""
    kept = Path(options.results) if options.results else folder / "results.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    done = {
        (run["rows"], run["answers"], run["device"], run["killed"], run.get("commit", "")): run
        for run in map(json.loads, lines)
    }
    older = [] if options.beside is None else [commit_of(options.beside)]
    for n_rows in options.rows:
        commits = ["", *(older if n_rows <= options.beside_rows else [])]
        for kind, commit in product(options.answers, commits):
            key = n_rows, kind, options.device or "", options.killed, commit
            if key not in done and options.kept:
                continue
            if key not in done:
                if not (folder / f"clouds-{n_rows}.npy").exists():
                    write_rows(folder, n_rows)
                settings = {"n_rows": n_rows, "kind": kind, "device": options.device}
                settings |= {"folder": str(folder), "n_jobs": options.n_jobs}
                if commit:
                    found = fresh(settings, options.beside)
                elif options.smallest:
                    found = job(**settings)
                else:
                    found = killed_job(settings) if options.killed else fresh(settings)
                done[key] = found | {"commit": commit}
                with open(kept, "a") as file:
                    file.write(json.dumps(done[key]) + "\n")
            whole = done.get((*key[:3], False, commit))
            as_whole = whole is not None and whole["labels"] == done[key]["labels"]
            yield (
                done[key]
                | {"as_whole": as_whole, "commit": commit}
                | ({"learn_cpu": whole["learn_cpu"]} if options.killed and whole else {})
            )
        for name in ("rows", "clouds"):
            (folder / f"{name}-{n_rows}.npy").unlink(missing_ok=True)


def table(options, folder):
    columns = [
        "answers",
        *(["likewise"] if options.beside else []),
        "rows",
        "learn: CPU s",
        "all: CPU s",
        "wall s",
        "us a row beyond learning",
    ]
    columns += ["peak MB", "ARI", "small groups found"]
    columns += ["share of the copy rate"] if options.device else []
    yield (*columns, *(["labels as without the kill"] if options.killed else []))
    spent: dict[tuple, list] = {}
    for run in measure(options, folder):
        beyond = max(run["cpu"] - run["learn_cpu"], 1e-3)
        names = (run["answers"], *([run["commit"] or "this one"] if options.beside else []))
        spent.setdefault(names, []).append((run["rows"], beyond))
        moved = run["rows"] * N_FEATURES * 4 / max(run["wall"] - run["learn_wall"], 1e-3)
        yield (
            *(*names, f"{run['rows']:,}", f"{run['learn_cpu']:.1f}", f"{run['cpu']:.1f}"),
            *(f"{run['wall']:.1f}", f"{1e6 * beyond / run['rows']:.1f}", f"{run['peak_mb']:.0f}"),
            *(f"{run['ari']:.3f}", f"{run['small']:.3f}"),
            *([f"{moved / run['copied']:.1%}"] if options.device else []),
            *(["yes" if run["as_whole"] else "NO"] if options.killed else []),
        )
    for names, sizes in spent.items():
        clear = [size for size in sizes if options.smallest or size[1] >= CLEAR]
        if len(sizes) == len(options.rows) and len(clear) > 1:
            slope = np.polyfit(*np.log(np.array(clear, dtype=float)).T, 1)[0]
            yield (
                *names,
                f"slope {slope:.2f}",
                *[""] * (7 + bool(options.device) + options.killed),
            )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_rows")
    parser.add_argument("--rows", type=int, nargs="+", help=f"default: {SIZES}")
    parser.add_argument("--answers", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--device", help="of torch's, such as cuda")
    parser.add_argument("--n-jobs", type=int, help="threads that assign rows")
    parser.add_argument("--killed", action="store_true", help="kill each fit at half, and go on")
    parser.add_argument("--beside", metavar="CHECKOUT", help="of an older likewise")
    parser.add_argument("--beside-rows", type=int, default=10_000_000, help="it is given at most")
    parser.add_argument("--folder", help="where rows are written")
    parser.add_argument("--results", help="a file of finished runs, to go on from")
    parser.add_argument("--kept", action="store_true", help="only what stands there")
    parser.add_argument("--smallest", action="store_true", help="once, in seconds")
    add_publish_option(parser)
    options = parser.parse_args()
    options.rows = options.rows or (SMALLEST if options.smallest else SIZES)
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        found = print_rows(table(options, Path(made)))
    if options.publish:
        made_with = (
            f"{machine()}; one run of each; load average {os.getloadavg()[0]:.0f} at the end"
        )
        name = "many-rows-gpu" if options.device else "many-rows"
        name = "many-rows-killed" if options.killed else name
        publish("benchmarks", name, found, made_with)


if __name__ == "__main__":
    main()
