"""The numerical rooms as other processors would run them: python -m tests.machines [NAME ...]

OpenBLAS carries its kernels for many processors in one library and OPENBLAS_CORETYPE names the ones
to take. Each adds in another order, so each is another machine: other last digits, other paths
through a solver. More threads are another machine too.

A kernel that this processor cannot run ends in an illegal instruction, so each is tried first in a
process of its own and skipped by name. Kernels of the other architecture (arm64 on x86-64 and the
reverse) cannot be run at all. One line a machine; exit status 1 where a test failed.
"""

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ROOMS = ("numerics", "kernel_learning", "metric_learning", "duals", "cluster")
X86_64 = ("Haswell", "SkylakeX", "Zen", "Prescott", "Sandybridge")
ARM64 = ("ARMV8", "NEOVERSEN1")
THREADS = "2-threads"
TRY_OUT = """
import json
import numpy as np, scipy.linalg
from threadpoolctl import threadpool_info
for dtype in (np.float64, np.float32):  # products and factors, as large as those of the tests
    A = np.random.RandomState(0).rand(300, 300).astype(dtype)
    S = A @ A.T + 300 * np.eye(300, dtype=dtype)
    for linalg in (np.linalg, scipy.linalg):
        linalg.cholesky(S), linalg.eigh(S), linalg.svd(A), linalg.solve(S, A), S @ A[0]
blas = [one for one in threadpool_info() if one["internal_api"] == "openblas"]
print(json.dumps(sorted({one["architecture"] for one in blas})))
"""


class Machine(NamedTuple):
    name: str
    core: str | None = None  # OPENBLAS_CORETYPE; the processor's own where None
    n_threads: int = 1

    @property
    def environment(self) -> dict[str, str]:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.n_threads))
        core = {} if self.core is None else {"OPENBLAS_CORETYPE": self.core}
        return {**os.environ, **threads, **core}


def machines_here(architecture: str) -> list[Machine]:
    cores = ARM64 if architecture in ("arm64", "aarch64") else X86_64
    return [*(Machine(core, core) for core in cores), Machine(THREADS, n_threads=2)]


def kernels_of(machine: Machine) -> tuple[list[str], str]:
    """The kernels that OpenBLAS takes there, or none and why they cannot be run."""
    command = [sys.executable, "-c", TRY_OUT]
    tried = subprocess.run(
        command, check=False, env=machine.environment, capture_output=True, text=True
    )
    if tried.returncode == -signal.SIGILL:
        return [], "this processor cannot run its kernels (illegal instruction)"
    if tried.returncode < 0:
        return [], f"its kernels end in {signal.Signals(-tried.returncode).name} here"
    if tried.returncode:
        raise RuntimeError(f"{machine.name} could not be tried:\n{tried.stderr}")
    found = json.loads(tried.stdout.splitlines()[-1])
    return (found, "") if found else ([], "numpy and scipy do not use OpenBLAS here")


def run_rooms(machine: Machine, rooms) -> tuple[bool, str, str]:
    """Whether all passed, pytest's last line, and what it printed."""
    folders = [folder for room in rooms for folder in (f"tests/{room}", f"src/likewise/{room}")]
    # Two workers of one thread, or one process of two: as many as the cores of a small machine.
    workers = ["-n", "2"] if machine.n_threads == 1 else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, *folders]
    done = subprocess.run(
        command, check=False, cwd=ROOT, env=machine.environment, capture_output=True, text=True
    )
    counts = re.findall(r"^(?:=+ )?(\d+ (?:passed|failed|error).*?)(?: =+)?$", done.stdout, re.M)
    return done.returncode == 0, counts[-1] if counts else "pytest did not end", done.stdout


def main(argv=None) -> int:
    """Run the machines named, or all; tell of each in a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="machines (default: all)")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, help="rooms under tests/")
    options = parser.parse_args(argv)
    known = machines_here(platform.machine())
    named = [one for one in known if one.name in options.names or not options.names]
    failed, ran = [], {}
    for name in set(options.names) - {one.name for one in known}:
        tell(name, f"skipped: not a machine that can be made on {platform.machine()}")
    for machine in named:
        kernels, why_not = kernels_of(machine)
        made = (*kernels, machine.n_threads)
        if why_not:
            tell(machine.name, f"skipped: {why_not}")
            continue
        if made in ran:
            tell(machine.name, f"skipped: OpenBLAS takes the same kernels as for {ran[made]}")
            continue
        ran[made] = machine.name
        began = time.monotonic()
        passed, counts, output = run_rooms(machine, options.rooms)
        what = "passed" if passed else "FAILED"
        with_what = f"{'/'.join(kernels)} kernels, {machine.n_threads} thread(s)"
        tell(machine.name, f"{what}: {counts} ({with_what}; {time.monotonic() - began:.0f} s)")
        if not passed:
            failed.append(machine.name)
            sys.stdout.write(output)
    other = "x86-64" if platform.machine() in ("arm64", "aarch64") else "arm64"
    tell(other, f"not run: this is {platform.machine()}, and no emulator is at hand")
    if not ran:
        tell("none", "of the machines named can be made here")
    return 1 if failed else 0


def tell(name: str, what: str) -> None:
    sys.stdout.write(f"{name:<14}{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
