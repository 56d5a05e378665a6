"""One pass over all blocks that finds labels of their rows, and goes on where it was killed.

The labels found so far stand in a file, block after block, behind a fingerprint of the work. A file
of the same work is taken up behind its last complete block; one of other work is refused. It is
removed at the end.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from likewise.scale.blocks import Blocks

LABEL = np.dtype("<i4")
DIGEST = 32  # bytes of a fingerprint


def label_all(
    blocks: Blocks,
    function: Callable,
    *arguments,
    n_labels: int = 1,
    what: str = "assigning rows",
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    fingerprint: bytes = b"",
) -> np.ndarray:
    """Labels of all rows, a block at a time, in memory that is taken once.

    Parameters
    ----------
    blocks : Blocks
    function : callable
        Takes the rows of a block (b, d) and the arguments, returns labels (n_labels, b).
    *arguments : objects
        Passed with every block.
    n_labels : int, default=1
        How many labels a row gets.
    what : str, default="assigning rows"
        What is done, for the progress display.
    n_jobs : int, default=None
        Threads to work with.
    checkpoint : path, default=None
        A file for the labels found so far. If it is there already, work goes on where it stopped.
    fingerprint : bytes, default=b""
        From `fingerprint_of`: what the labels depend on.

    Returns
    -------
    labels : ndarray of shape (n_labels, n), int32

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> blocks = scale.as_blocks(np.array([[0.0], [1.0], [9.0]]), block_rows=2)
    >>> scale.label_all(blocks, lambda rows: rows.T > 4)
    array([[0, 0, 1]], dtype=int32)
    """
    labels = np.empty((n_labels, blocks.shape[0]), dtype=LABEL)
    n_done, file = 0, None
    with ExitStack() as stack:
        if checkpoint is not None:
            path = Path(checkpoint)
            path.touch()
            file = stack.enter_context(open(path, "r+b"))
            n_done = _take_up(file, path, fingerprint, blocks.bounds, labels)
        found = blocks.after(n_done).run(function, *arguments, what=what, n_jobs=n_jobs)
        for start, in_block in zip(blocks.bounds[n_done:], found):
            in_block = np.ascontiguousarray(in_block, dtype=LABEL)
            labels[:, start : start + in_block.shape[1]] = in_block
            if file is not None:
                file.write(in_block.data)
                file.flush()
    if checkpoint is not None:
        Path(checkpoint).unlink(missing_ok=True)
    return labels


def fingerprint_of(blocks: Blocks, *arrays: np.ndarray | None) -> bytes:
    """What labels depend on: the blocks, and the arrays of the model.

    Parameters
    ----------
    blocks : Blocks
    *arrays : ndarray or None

    Returns
    -------
    bytes

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> blocks = scale.as_blocks(np.zeros((3, 2)))
    >>> scale.fingerprint_of(blocks, np.eye(2)) == scale.fingerprint_of(blocks, np.eye(2) + 1e-9)
    False
    """
    digest = hashlib.sha256(repr((blocks.shape, str(blocks.dtype))).encode())
    for array in (blocks.bounds, *arrays):
        if array is not None:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def _take_up(
    file: BinaryIO, path: Path, fingerprint: bytes, bounds: np.ndarray, labels: np.ndarray
) -> int:
    """How many blocks of labels stand in the file, and these into `labels`; then it is at its end.

    A file that was killed before it said what it is is begun again.
    """
    said = file.read(DIGEST)
    if len(said) < DIGEST:
        file.seek(0)
        file.write(fingerprint)
        file.flush()
        return 0
    if said != fingerprint:
        raise ValueError(
            f"checkpoint={os.fspath(path)!r} was made by other rows, answers or settings. Remove "
            "it, or name another file."
        )
    row_bytes = LABEL.itemsize * len(labels)
    n_found = (path.stat().st_size - DIGEST) // row_bytes
    n_done = int(np.searchsorted(bounds, n_found, side="right")) - 1
    for start, stop in pairwise(bounds[: n_done + 1]):
        content = np.frombuffer(file.read(row_bytes * int(stop - start)), LABEL)
        labels[:, start:stop] = content.reshape(len(labels), -1)
    file.truncate()  # a block that was being written
    return n_done
