"""GuidedClustering with rows in host memory that are streamed through a GPU.

    python3 -m benchmarks.streamed_rows [--rows N ...] [--device cuda] [--publish]

The rows of benchmarks.many_rows (x 32 float32, eight clouds and four small ones), made on the
device and kept in host memory that the device reads directly (pinned): 12.8 GB for 10^8. Then
GuidedClustering(12, random_state=0, device=...).fit(blocks, constraints=five known rows of each
cloud): learning on the CPU, from 10,000 rows, and one pass over all rows. The pass alone is
`predict` of the same model. It needs torch, and neither pandas nor pyarrow nor Dask.

Printed: seconds of each step; rows a second of the pass; the bytes of rows that it took to the
device a second, as a share of what the link carries (one large pinned copy, the best of five, in
the same process), with what copies of the same blocks alone reach; ARI, and the share of the rows
of small clouds that are where most of their cloud is; how many of 20,000 rows get another cluster
than on the CPU, and how many of those are no ties: their two memberships differ by a thousandth.
"""

import argparse
import time
from copy import copy

import numpy as np

from benchmarks.cloud_fit import (
    N_FEATURES,
    N_GROUPS,
    SHARES,
    answers_of,
    cloud_centers,
    count_together,
    found_share,
    rand_index,
)
from benchmarks.printing import add_publish_option, print_rows, publish
from likewise import GuidedClustering
from likewise.scale import as_blocks

SIZES = (10_000_000, 100_000_000)
BLOCK = 2**18  # rows
ROW_BYTES = 4 * N_FEATURES
LINK_BYTES = 2**30  # of the copy that tells what the link carries
N_COMPARED = 20_000  # rows, with the CPU
TIE = 1e-3  # memberships that differ less are a tie


class Watch:
    """Seconds since it was last asked, printed as they pass."""

    def __init__(self, wait):
        self.wait, self.last = wait, time.perf_counter()

    def lap(self, what):
        self.wait()
        seconds, self.last = time.perf_counter() - self.last, time.perf_counter()
        print(f"{what}: {seconds:.2f} s", flush=True)
        return seconds


def make_rows(n_rows, device):
    """Rows (n, 32) in pinned host memory, and their clouds (n,)."""
    import torch

    is_gpu = torch.device(device).type == "cuda"
    X = torch.empty((n_rows, N_FEATURES), dtype=torch.float32, pin_memory=is_gpu)
    y = torch.empty(n_rows, dtype=torch.int8)
    centers = torch.as_tensor(cloud_centers(), dtype=torch.float32, device=device)
    ends = torch.as_tensor(np.cumsum(SHARES), dtype=torch.float32, device=device)
    generator = torch.Generator(device=device).manual_seed(0)
    settings = {"generator": generator, "device": device}
    for start in range(0, n_rows, 8 * BLOCK):
        stop = min(start + 8 * BLOCK, n_rows)
        clouds = torch.bucketize(torch.rand(stop - start, **settings), ends, right=True)
        clouds.clamp_(max=N_GROUPS - 1)
        rows = torch.randn((stop - start, N_FEATURES), **settings) + centers[clouds]
        X[start:stop].copy_(rows)
        y[start:stop].copy_(clouds)
    return X.numpy(), y.numpy()


def link_rate(device, wait, n_bytes=LINK_BYTES):
    """Bytes a second of one large copy from pinned memory to the device, the best of five."""
    import torch

    is_gpu = torch.device(device).type == "cuda"
    here = torch.zeros(n_bytes // 4, dtype=torch.float32, pin_memory=is_gpu)
    there = torch.empty(here.shape, dtype=here.dtype, device=device)
    best = np.inf
    for _ in range(6):  # the first only wakes the device
        wait()
        began = time.perf_counter()
        there.copy_(here, non_blocking=True)
        wait()
        best = min(best, time.perf_counter() - began)
    return n_bytes / best


def compare(model, X):
    """Of some rows: how many, how many the CPU puts elsewhere, and how many of these are no ties.

    A tie is a row whose memberships of the two clusters are nearly the same.
    """
    rows = np.ascontiguousarray(X[:: max(len(X) // N_COMPARED, 1)])
    on_cpu = copy(model)
    on_cpu.device = None
    there, here = model.predict(rows), on_cpu.predict(rows)
    (differ,) = np.nonzero(there != here)
    if not len(differ):
        return len(rows), 0, 0
    shares = on_cpu.predict_proba(rows[differ])
    each = np.arange(len(differ))
    gaps = shares[each, here[differ]] - shares[each, there[differ]]
    return len(rows), len(differ), int(np.count_nonzero(gaps > TIE))


def copy_blocks(blocks, device):
    """Copy every block to the device, and nothing else."""
    import torch

    for rows in blocks.parts:
        torch.as_tensor(rows).to(device)


def measure(sizes, device, n_jobs):
    """Columns, then a row of figures for each number of rows."""
    import torch

    is_gpu = torch.device(device).type == "cuda"
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    watch = Watch(wait)
    torch.zeros(1, device=device)
    watch.lap("starting the device")
    link = link_rate(device, wait, LINK_BYTES if is_gpu else LINK_BYTES // 64)
    watch.lap(f"one large copy ({link / 1e9:.1f} GB/s)")
    X_all, y_all = make_rows(max(sizes), device)
    watch.lap("making rows")
    yield (
        *("rows", "fit s", "pass s", "million rows/s", "GB/s to the device", "link GB/s"),
        *("share of the link", "copies of blocks GB/s", "ARI", "small groups found"),
        *("compared with the CPU", "differ", "of these no ties"),
    )
    for n_rows in sizes:
        X, y = X_all[:n_rows], y_all[:n_rows]
        blocks = as_blocks(X, block_rows=BLOCK)
        copy_blocks(blocks, device)
        watch.lap(f"{n_rows:,} rows; copying, first time")
        copy_blocks(blocks, device)
        copying = watch.lap("copying")
        model = GuidedClustering(N_GROUPS, random_state=0, device=device, n_jobs=n_jobs)
        model.fit(blocks, constraints=answers_of(y, "clicks"))
        fitting = watch.lap("fit: learning, and one pass")
        model.predict(blocks)
        passing = watch.lap("predict: one pass")
        counts = count_together(y, model.labels_)
        compared = compare(model, X)
        watch.lap("counting, and comparing with the CPU")
        rate, n_bytes = n_rows / passing, n_rows * ROW_BYTES
        yield (
            *(f"{n_rows:,}", f"{fitting:.1f}", f"{passing:.2f}", f"{rate / 1e6:.1f}"),
            *(f"{rate * ROW_BYTES / 1e9:.2f}", f"{link / 1e9:.1f}"),
            *(f"{rate * ROW_BYTES / link:.1%}", f"{n_bytes / copying / 1e9:.1f}"),
            *(f"{rand_index(counts):.3f}", f"{found_share(counts):.3f}"),
            *(f"{number:,}" for number in compared),
        )


def machine_of(device):
    import torch

    is_gpu = torch.device(device).type == "cuda"
    name = torch.cuda.get_device_name(device) if is_gpu else device
    return f"{name}, torch {torch.__version__}, numpy {np.__version__}"


def main():
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.streamed_rows")
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n-jobs", type=int, help="threads that feed the device")
    add_publish_option(parser)
    options = parser.parse_args()
    found = print_rows(measure(options.rows, options.device, options.n_jobs))
    print(machine_of(options.device))
    if options.publish:
        publish("benchmarks", "streamed-rows", found, machine_of(options.device))


if __name__ == "__main__":
    main()
