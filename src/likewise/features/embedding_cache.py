"""What a network made of a text or an image, kept on disk by content and not computed again.

One SQLite file per network: the key is a hash of the content, the value a row of float32. No text
and no image is kept, only its hash. SQLite makes every block of rows whole or absent, also when the
run is killed and when several runs share the file. A file that cannot be used is named in a warning
and done without.
"""

import os
import sqlite3
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from likewise.files.cache_folder import cache_folder
from likewise.progress import track

BLOCK = 64  # rows that are computed before they are kept
KEYS_AT_ONCE = 500  # in a query: SQLite takes 999
WAIT_SECONDS = 30.0  # for another process that writes


def embed_once(
    keys: Sequence[bytes],
    compute: Callable[[list[int]], np.ndarray],
    *,
    network: str,
    n_features: int,
    folder: str | os.PathLike | None = None,
) -> np.ndarray:
    """A row (n_features,) of float32 for each key; those of equal keys are computed once.

    Parameters
    ----------
    keys : sequence of n bytes
        What stands for each text or image.
    compute : callable
        Takes the positions of some items and returns their rows (m, n_features).
    network : str
        Its name and version: another one, another file.
    n_features : int
    folder : str, path or None, default=None
        Where the file is; None takes the user's folder for such files.
    """
    first: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    path = Path(folder or cache_folder()) / "embeddings" / f"{network}.sqlite"
    known = _known_rows(path, list(first), n_features)
    missing = [key for key in first if key not in known]
    for block in track(_blocks(missing, BLOCK), f"embedding by {network}"):
        rows = compute([first[key] for key in block]).astype(np.float32)
        made = dict(zip(block, rows, strict=True))
        _keep(path, made)
        known |= made
    return np.stack([known[key] for key in keys])


def _known_rows(path: Path, keys: list[bytes], n_features: int) -> dict[bytes, np.ndarray]:
    if not path.exists():
        return {}
    known: dict[bytes, np.ndarray] = {}
    try:
        with closing(_connect(path)) as connection:
            for block in _blocks(keys, KEYS_AT_ONCE):
                marks = ", ".join("?" * len(block))
                found = connection.execute(
                    f"SELECT key, row FROM embeddings WHERE key IN ({marks})", block
                )
                known |= {key: np.frombuffer(row, dtype="<f4") for key, row in found}
    except (sqlite3.Error, ValueError) as error:
        _warn(path, error)
        return {}
    return {key: row for key, row in known.items() if row.shape == (n_features,)}


def _keep(path: Path, rows: dict[bytes, np.ndarray]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(_connect(path)) as connection, connection:  # all of them or none
            connection.executemany(
                "INSERT OR REPLACE INTO embeddings VALUES (?, ?)",
                [(key, row.astype("<f4").tobytes()) for key, row in rows.items()],
            )
    except (sqlite3.Error, OSError) as error:
        _warn(path, error)


def _blocks(keys: list[bytes], size: int) -> list[list[bytes]]:
    return [keys[i : i + size] for i in range(0, len(keys), size)]


def _connect(path: Path) -> sqlite3.Connection:
    """With its table: another run may have made the file and not yet the table."""
    connection = sqlite3.connect(path, timeout=WAIT_SECONDS)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, row BLOB NOT NULL)"
    )
    return connection


def _warn(path: Path, error: Exception) -> None:
    warnings.warn(
        f"{path} cannot be used ({error}), so embeddings are not kept. Remove the file, or set "
        "LIKEWISE_CACHE to a folder you may write to.",
        stacklevel=4,
    )
