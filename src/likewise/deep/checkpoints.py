"""Training that survives being killed: all that the next epoch depends on, in one complete file.

Written between epochs through `files.tensor_file`, at most every CHECKPOINT_SECONDS, and removed
when training ends. What comes after a resumed epoch is, on the CPU, bit for bit what would have
come after the original one. A file made for other rows, answers or settings is refused.
"""

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints import Constraints
from likewise.files.tensor_file import ModelFileError, read_tensors, write_tensors

CHECKPOINT_SECONDS = 30.0  # a file of 40 MB and its checksum take a few tenths of a second


class Checkpoint:
    """The file of one run: `load` at its start, `save` between epochs, `remove` at the end."""

    def __init__(self, path: str | os.PathLike | None, fingerprint: str, *, is_writer: bool):
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.is_writer = is_writer
        self.written_at = time.monotonic()

    def load(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Arrays and document of the file, if there is one."""
        if self.path is None or not self.path.exists():
            return None
        arrays, document = read_tensors(self.path)
        if not isinstance(document, dict) or document.get("fingerprint") != self.fingerprint:
            raise ModelFileError(
                f"checkpoint={str(self.path)!r} was made by other rows, answers or settings. "
                "Remove it, or name another file."
            )
        return arrays, document

    def save(self, collect) -> None:
        """Write what `collect()` returns, arrays and a document, if it is time."""
        due = time.monotonic() - self.written_at >= CHECKPOINT_SECONDS
        if self.path is None or not self.is_writer or not due:
            return
        arrays, document = collect()
        write_tensors(self.path, arrays, {**document, "fingerprint": self.fingerprint})
        self.written_at = time.monotonic()

    def remove(self) -> None:
        if self.path is not None and self.is_writer:
            self.path.unlink(missing_ok=True)


def fingerprint_of(
    X: np.ndarray, constraints: Constraints, ease, init_layers, *settings: Any
) -> str:
    """One text for the whole problem; `init_layers` are those of another network."""
    digest = hashlib.sha256(repr(settings).encode())
    layers = [layer for part in init_layers or () for layer in part]
    eased = () if ease is None else (ease,)
    for array in (X, *eased, *(array for layer in layers for array in layer)):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    for kind in sorted(set(constraints.kinds)):
        digest.update(kind.encode() + getattr(constraints, kind).tobytes())
    digest.update(constraints.weights.tobytes())
    return digest.hexdigest()
