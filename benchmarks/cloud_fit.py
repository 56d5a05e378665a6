"""One fit of benchmarks.many_rows, from a file of rows: python -m benchmarks.cloud_fit SETTINGS

It imports nothing but public names of likewise, so that it can run an older source of it too.
"""

import hashlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from likewise import RCA, Constraints, GuidedClustering, show_progress

N_FEATURES, N_BIG = 32, 8
SMALL = (0.03, 0.01, 0.003, 0.001)  # shares of the rows
SHARES = np.array([*[(1 - sum(SMALL)) / N_BIG] * N_BIG, *SMALL])
N_GROUPS = len(SHARES)
SPREAD = 0.7  # of the centers, with clouds of width 1
BLOCK = 100_000
N_FIRST = 20_000  # rows that answers are about
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
        header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, N_FEATURES)}
        np.lib.format.write_array_header_1_0(file, header)
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
    settings = {"learner": RCA() if kind == "linear" else "auto"}
    settings |= {} if device is None else {"device": device}  # which an older one does not have
    model = GuidedClustering(N_GROUPS, random_state=0, n_jobs=n_jobs, **settings)
    few = np.array(np.load(path, mmap_mode="r")[:N_LEARNED])
    work = [(few, answers_of(y[:N_LEARNED], kind), None), (path, answers_of(y, kind), checkpoint)]
    spent = []
    for rows, answers, kept in work[1:] if checkpoint else work:
        began = time.process_time(), time.perf_counter()
        model.set_params(**({"checkpoint": kept} if kept else {})).fit(rows, constraints=answers)
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
        "labels": hashlib.sha256(model.labels_.astype(np.int32, copy=False).data).hexdigest(),
    }
    counts = count_together(y, model.labels_)
    found["ari"], found["small"] = rand_index(counts), found_share(counts)
    if device is not None:
        found["copied"] = copy_rate(device)
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


if __name__ == "__main__":
    show_progress()
    print(json.dumps(job(**json.loads(sys.argv[1]))))
