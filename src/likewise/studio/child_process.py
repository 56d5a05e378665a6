"""Processes of the studio's own: started early, spoken to by pickles over pipes.

    learner    clusters and map       learner.py
    thinker    the next question      thinking.py

Nothing heavy is imported here: a process can be on its way before its parent has read the data.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

N_THREADS = 1  # of BLAS: neither a fit nor a question must starve the answers
LARGE = 64 * 2**20  # bytes of rows that go by a file instead of a pipe
MAPPED = "memory_map"


def start_learner() -> subprocess.Popen:
    """The process that makes snapshots."""
    return _start("likewise.studio.learner")


def start_thinker() -> subprocess.Popen:
    """The process that chooses questions."""
    return _start("likewise.studio.thinking")


@contextlib.contextmanager
def thinker_on_its_way() -> Iterator[subprocess.Popen]:
    """The process that chooses questions, while its parent still reads the data."""
    process = start_thinker()
    try:
        yield process
    finally:
        stop_process(process)


def _start(module: str) -> subprocess.Popen:
    """A process that runs `main` of a module, with few threads and without the terminal.

    It imports from where this one does (-P: and not from the folder it is started in, which may
    hold anybody's files).
    """
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(N_THREADS)
    )
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {module} import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **threads, "PYTHONPATH": path},
    )


def stop_process(process: subprocess.Popen | None) -> None:
    """End a process, at once: it has nothing to lose."""
    if process is None:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def passed_on(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Settings of a session to send, large rows as the name of a file that is mapped."""
    import numpy as np

    X = settings["X"]
    if not isinstance(X, np.ndarray) or X.nbytes < LARGE:
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="likewise-") as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, X)
        yield {**settings, "X": {MAPPED: str(path)}}


def received_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as they were before they were passed on."""
    X = settings["X"]
    if isinstance(X, dict) and MAPPED in X:
        import numpy as np

        return {**settings, "X": np.load(X[MAPPED], mmap_mode="r")}
    return settings


def give_way(niceness: int) -> None:
    """Let others go first where the processor is busy: answers before questions before clusters."""
    if hasattr(os, "nice"):
        os.nice(niceness)


def message_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """What a process reads messages from and writes them to; a stray print is no message."""
    messages_out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return sys.stdin.buffer, messages_out


def send(message: Any, file: IO[bytes]) -> None:
    """One message, with its length before it."""
    content = pickle.dumps(message, protocol=5)
    file.write(len(content).to_bytes(8, "little"))
    file.write(content)
    file.flush()


def receive(file: IO[bytes]) -> Any:
    """The next message; EOFError when there is none to come."""
    length = file.read(8)
    if len(length) < 8:
        raise EOFError
    return pickle.loads(file.read(int.from_bytes(length, "little")))
