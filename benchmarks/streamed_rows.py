"""GuidedClustering with rows in host memory that are streamed through a GPU.

    python3 -m benchmarks.streamed_rows [--rows 100000000] [--device cuda] [--publish]

The rows of benchmarks.many_rows (x 32 float32, eight clouds and four small ones), made on the
device and kept in host memory that the device reads directly (pinned): 12.8 GB for 10^8. Then
GuidedClustering(12, random_state=0, device=...).fit(blocks, constraints=five known rows of each
cloud): learning on the CPU, from 10,000 rows, and one pass over all rows. The pass alone is
`predict` of the same model. It needs torch, and neither pandas nor pyarrow nor Dask.

Printed: seconds of each step; rows a second of the pass; the bytes of rows that it took to the
device a second, as a share of what copies alone reach, of the same blocks in the same process;
ARI, and the share of the rows of small clouds that are where most of their cloud is.
"""

import argparse
import time

import numpy as np

from benchmarks.many_rows import (
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

BLOCK = 2**18  # rows
ROW_BYTES = 4 * N_FEATURES


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


def copy_blocks(blocks, device):
    """Copy every block to the device, and nothing else."""
    import torch

    for rows in blocks.parts:
        torch.as_tensor(rows).to(device)


def measure(n_rows, device, n_jobs):
    """Columns, then the one row of figures."""
    import torch

    wait = torch.cuda.synchronize if torch.device(device).type == "cuda" else lambda: None
    watch = Watch(wait)
    torch.zeros(1, device=device)
    watch.lap("starting the device")
    X, y = make_rows(n_rows, device)
    making = watch.lap("making rows")
    blocks = as_blocks(X, block_rows=BLOCK)
    copy_blocks(blocks, device)
    watch.lap("copying, first time")
    copy_blocks(blocks, device)
    copying = watch.lap("copying")
    model = GuidedClustering(N_GROUPS, random_state=0, device=device, n_jobs=n_jobs)
    model.fit(blocks, constraints=answers_of(y, "clicks"))
    fitting = watch.lap("fit: learning, and one pass")
    model.predict(blocks)
    passing = watch.lap("predict: one pass")
    counts = count_together(y, model.labels_)
    watch.lap("counting")
    yield (
        *("rows", "making s", "fit s", "pass s", "million rows/s", "GB/s to the device"),
        *("copies alone GB/s", "share", "ARI", "small groups found"),
    )
    yield (
        *(f"{n_rows:,}", f"{making:.1f}", f"{fitting:.1f}", f"{passing:.2f}"),
        *(f"{n_rows / passing / 1e6:.1f}", f"{n_rows * ROW_BYTES / passing / 1e9:.1f}"),
        *(f"{n_rows * ROW_BYTES / copying / 1e9:.1f}", f"{copying / passing:.1%}"),
        *(f"{rand_index(counts):.3f}", f"{found_share(counts):.3f}"),
    )


def machine_of(device):
    import torch

    is_gpu = torch.device(device).type == "cuda"
    name = torch.cuda.get_device_name(device) if is_gpu else device
    return f"{name}, torch {torch.__version__}, numpy {np.__version__}"


def main():
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.streamed_rows")
    parser.add_argument("--rows", type=int, default=100_000_000)
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
