"""GuidedClustering from a file of rows to clusters, by the number of rows, with small groups in it.

    python -m benchmarks.many_rows [--rows N ...] [--answers clicks|triples|linear ...]
                                   [--device cuda] [--n-jobs J] [--killed]
                                   [--folder FOLDER] [--results FILE] [--smallest] [--publish]

Rows x 32 float32 in a .npy file, made here: eight Gaussian clouds with 95.6 % of the rows and four
with 3, 1, 0.3 and 0.1 %. Everything is the public call with its defaults,
GuidedClustering(12, random_state=0).fit(path, constraints=answers), in a process of its own:

clicks    five known rows of each cloud: rows go by memberships of the nearest anchors
triples   200 odd-one-out answers: rows go to the nearest center in a learned space
linear    the five known rows for learner=RCA(): to the nearest center after a linear map

CPU and wall seconds of the whole fit, of the same fit on its 10,000 first rows (learning, which
does not grow) and the difference by row; peak memory of the process; ARI, and the share of the rows
of the small clouds that are in the cluster where most of their cloud is. The slope is that of log
CPU seconds beyond learning over log rows. With --device, how many bytes of rows a second went to
the device, beside what a copy alone reaches in the same process. With --killed, each fit has a
checkpoint=, is killed when half of its labels are in it, and is begun again: CPU seconds are those
of both, and labels must be those of the fit that was not killed. --results keeps a line per run,
and what stands there is not run again. 100,000,000 rows take 12.8 GB in FOLDER.
"""

import argparse
import hashlib
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.printing import add_publish_option, print_rows, publish
from likewise import RCA, Constraints, GuidedClustering
from likewise.files.row_file import write_npy_header
from likewise.progress import show_progress

N_FEATURES, N_BIG = 32, 8
SMALL = (0.03, 0.01, 0.003, 0.001)  # shares of the rows
SHARES = np.array([*[(1 - sum(SMALL)) / N_BIG] * N_BIG, *SMALL])
N_GROUPS = len(SHARES)
SPREAD = 0.7  # of the centers, with clouds of width 1
BLOCK = 100_000
N_FIRST = 20_000  # rows that answers are about
N_LABELS = 2  # of a row in a checkpoint: the cluster, and that before learning
SIZES, SMALLEST = (100_000, 1_000_000, 10_000_000), (12_000, 24_000)
KINDS = ("clicks", "triples", "linear")
N_LEARNED = 10_000  # as in GuidedClustering


def cloud_centers():
    return np.random.RandomState(0).normal(scale=SPREAD, size=(N_GROUPS, N_FEATURES))


def cloud_blocks(n_rows):
    """Blocks of rows (b, 32) in float32 and of their clouds (b,)."""
    centers = cloud_centers()
    ends = np.cumsum(SHARES)
    for start in range(0, n_rows, BLOCK):
        rng = np.random.default_rng([0, start])
        n_block = min(BLOCK, n_rows - start)
        y = np.searchsorted(ends, rng.random(n_block)).clip(max=N_GROUPS - 1)
        X = rng.standard_normal((n_block, N_FEATURES), dtype=np.float32)
        yield X + centers[y].astype(np.float32), y.astype(np.int8)


def write_rows(folder, n_rows):
    """rows-N.npy, written block by block, and clouds-N.npy."""
    clouds = []
    with open(folder / f"rows-{n_rows}.npy", "wb") as file:
        write_npy_header(file, (n_rows, N_FEATURES), np.dtype(np.float32))
        for X, y in cloud_blocks(n_rows):
            file.write(X.data)
            clouds.append(y)
    np.save(folder / f"clouds-{n_rows}.npy", np.concatenate(clouds))


def answers_of(y, kind):
    first = y[:N_FIRST].astype(np.int64)
    if kind == "triples":
        drawn = Constraints.from_labels(first, n_odd_one_out=200, random_state=0)
        return drawn.with_rows(len(y))
    known = np.concatenate([np.flatnonzero(first == group)[:5] for group in range(N_GROUPS)])
    labels = np.full(len(first), -1)
    labels[known] = first[known]
    return Constraints.from_partial_labels(labels).with_rows(len(y))


def count_together(y, labels):
    """Rows by cloud and cluster, counted in blocks: scikit-learn's copies of 10^8 rows take GB."""
    n_labels = int(labels.max()) + 1
    counts = np.zeros(N_GROUPS * n_labels, dtype=np.int64)
    for start in range(0, len(y), BLOCK):
        both = y[start : start + BLOCK] * np.int64(n_labels) + labels[start : start + BLOCK]
        counts += np.bincount(both, minlength=len(counts))
    return counts.reshape(N_GROUPS, n_labels)


def rand_index(counts):
    """The adjusted Rand index of two partitions, from the rows that they have in common."""
    together, clouds, clusters, everything = (
        sum(int(n) * (int(n) - 1) // 2 for n in np.ravel(numbers))
        for numbers in (counts, counts.sum(axis=1), counts.sum(axis=0), counts.sum())
    )
    expected = clouds * clusters / everything
    return (together - expected) / ((clouds + clusters) / 2 - expected)


def found_share(counts):
    """Rows of the small clouds that are where most of their cloud is, and most are of it."""
    own = counts.argmax(axis=0)  # the cloud that most rows of a cluster are of
    small = range(N_BIG, N_GROUPS)
    found = sum(counts[group][own == group].max(initial=0) for group in small)
    return found / counts[N_BIG:].sum()


def job(n_rows, kind, folder, device=None, n_jobs=None, checkpoint=None):
    """One fit from a file: seconds, ARI and the peak memory."""
    folder = Path(folder)
    path = folder / f"rows-{n_rows}.npy"
    y = np.load(folder / f"clouds-{n_rows}.npy")
    learner = RCA() if kind == "linear" else "auto"
    model = GuidedClustering(
        N_GROUPS, learner=learner, random_state=0, device=device, n_jobs=n_jobs
    )
    few = np.array(np.load(path, mmap_mode="r")[:N_LEARNED])
    work = [(few, answers_of(y[:N_LEARNED], kind), None), (path, answers_of(y, kind), checkpoint)]
    spent = []
    for rows, answers, kept in work[1:] if checkpoint else work:
        began = time.process_time(), time.perf_counter()
        model.set_params(checkpoint=kept).fit(rows, constraints=answers)
        spent.append((time.process_time() - began[0], time.perf_counter() - began[1]))
    unit = 2**20 if sys.platform == "darwin" else 2**10
    found = {
        "rows": n_rows,
        "answers": kind,
        "device": device or "",
        "killed": checkpoint is not None,
        "learn_cpu": spent[0][0],
        "learn_wall": spent[0][1],
        "cpu": spent[-1][0],
        "wall": spent[-1][1],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
        "labels": hashlib.sha256(model.labels_.data).hexdigest(),
    }
    counts = count_together(y, model.labels_)
    found["ari"], found["small"] = rand_index(counts), found_share(counts)
    if device is not None:
        found["copied"] = copy_rate(device)
    return found


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


def copy_rate(device):
    """Bytes a second of plain copies of a block to the device, the best of five."""
    import torch

    block = np.zeros((2**20, N_FEATURES), dtype=np.float32)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        torch.as_tensor(block).to(device)
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return block.nbytes / best


def command_of(settings):
    return [sys.executable, "-m", "benchmarks.many_rows", "--job", json.dumps(settings)]


def fresh(settings):
    done = subprocess.run(command_of(settings), check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def measure(options, folder):
    """Every run, from the file of results where it stands there."""
    kept = Path(options.results) if options.results else folder / "results.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    done = {
        (run["rows"], run["answers"], run["device"], run.get("killed", False)): run
        for run in map(json.loads, lines)
    }
    for n_rows in options.rows:
        for kind in options.answers:
            key = n_rows, kind, options.device or "", options.killed
            if key not in done:
                if not (folder / f"clouds-{n_rows}.npy").exists():
                    write_rows(folder, n_rows)
                settings = {"n_rows": n_rows, "kind": kind, "device": options.device}
                settings |= {"folder": str(folder), "n_jobs": options.n_jobs}
                work = fresh if not options.killed else killed_job
                done[key] = job(**settings) if options.smallest else work(settings)
                with open(kept, "a") as file:
                    file.write(json.dumps(done[key]) + "\n")
            whole = done.get((*key[:3], False))
            as_whole = whole is not None and whole["labels"] == done[key]["labels"]
            yield (
                done[key]
                | {"as_whole": as_whole}
                | ({"learn_cpu": whole["learn_cpu"]} if options.killed and whole else {})
            )
        for name in ("rows", "clouds"):
            (folder / f"{name}-{n_rows}.npy").unlink(missing_ok=True)


def table(options, folder):
    columns = [
        "answers",
        "rows",
        "learn: CPU s",
        "all: CPU s",
        "wall s",
        "us a row beyond learning",
    ]
    columns += ["peak MB", "ARI", "small groups found"]
    columns += ["share of the copy rate"] if options.device else []
    yield (*columns, *(["labels as without the kill"] if options.killed else []))
    spent = {kind: [] for kind in options.answers}
    for run in measure(options, folder):
        beyond = max(run["cpu"] - run["learn_cpu"], 1e-3)
        spent[run["answers"]].append((run["rows"], beyond))
        moved = run["rows"] * N_FEATURES * 4 / max(run["wall"] - run["learn_wall"], 1e-3)
        yield (
            *(run["answers"], f"{run['rows']:,}", f"{run['learn_cpu']:.1f}", f"{run['cpu']:.1f}"),
            *(f"{run['wall']:.1f}", f"{1e6 * beyond / run['rows']:.1f}", f"{run['peak_mb']:.0f}"),
            *(f"{run['ari']:.3f}", f"{run['small']:.3f}"),
            *([f"{moved / run['copied']:.1%}"] if options.device else []),
            *(["yes" if run["as_whole"] else "NO"] if options.killed else []),
        )
    for kind, sizes in spent.items():
        if len(sizes) > 1:
            slope = np.polyfit(*np.log(np.array(sizes, dtype=float)).T, 1)[0]
            yield (kind, f"slope {slope:.2f}", *[""] * (7 + bool(options.device) + options.killed))


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_rows")
    parser.add_argument("--rows", type=int, nargs="+", help=f"default: {SIZES}")
    parser.add_argument("--answers", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--device", help="of torch's, such as cuda")
    parser.add_argument("--n-jobs", type=int, help="threads that assign rows")
    parser.add_argument("--killed", action="store_true", help="kill each fit at half, and go on")
    parser.add_argument("--folder", help="where rows are written")
    parser.add_argument("--results", help="a file of finished runs, to go on from")
    parser.add_argument("--smallest", action="store_true", help="once, in seconds")
    add_publish_option(parser)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        show_progress()
        print(json.dumps(job(**json.loads(options.job))))
        return
    options.rows = options.rows or (SMALLEST if options.smallest else SIZES)
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        found = print_rows(table(options, Path(made)))
    if options.publish:
        machine = f"{platform.processor() or platform.machine()}, numpy {np.__version__}"
        name = "many-rows-gpu" if options.device else "many-rows"
        name = "many-rows-killed" if options.killed else name
        publish("benchmarks", name, found, machine)


if __name__ == "__main__":
    main()
