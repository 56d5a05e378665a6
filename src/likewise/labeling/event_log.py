"""The event log: a file that events are only ever added to, and that survives a crash.

    rows    key, id, fingerprint      a row as it was when an event referred to it
    events  number, client id (UNIQUE), kind, question (rows by key), choice, annotator, at,
            seconds, undoes

SQLite with a write-ahead log and synchronous=FULL: `append` returns when the events are on disk,
and what has not returned is there whole or not at all. A client id that comes twice is kept once,
so that whoever does not know whether an event arrived sends it again.

Rows are known by their ids and by a fingerprint of their content, never by their number. Opened on
other data, events about rows whose id and content are unchanged hold; those about rows that are
missing or have changed are set aside and listed, and hold again once the rows are back. Rows
without ids are known by their content alone; equal rows are told apart by counting them.
"""

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from likewise.features import cell_table, is_frame
from likewise.files.atomic_file import replacing
from likewise.labeling.events import Event
from likewise.labeling.questions import Question

APPLICATION = 0x4C696B65  # "Like", in the header of the file
VERSION = 1
WAIT_SECONDS = 10.0  # for another process that is writing
BLOCK_ROWS = 10_000  # fingerprinted at once

SCHEMA = """
CREATE TABLE rows (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, fingerprint TEXT NOT NULL, UNIQUE (id, fingerprint)
);
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    question TEXT, choice TEXT, annotator TEXT, at TEXT, seconds REAL, undoes TEXT
);
"""


class SetAside(NamedTuple):
    """An event about a row that is not what it was."""

    event_id: str
    row_id: str
    why: str  # "missing" or "changed"


class RowNames:
    """How the rows of X are known in a log: by id and by fingerprint.

    Parameters
    ----------
    X : array-like, CSR, dataframe or dict of columns, of shape (n, d)
    ids : array-like of shape (n,) or None, default=None
        None names every row by its content.
    """

    def __init__(self, X, ids: Sequence | np.ndarray | None = None):
        self._hash, n_rows = hasher_of(X)
        self._prints: dict[int, str] = {}
        if ids is None:
            prints = all_fingerprints(X, self._hash, n_rows)
            self._prints = dict(enumerate(prints))
            ids = name_by_content(prints)
        self.ids = [str(name) for name in ids]
        self.row_of = {name: row for row, name in enumerate(self.ids)}

    def fingerprint(self, row: int) -> str:
        """The content of a row in 16 letters."""
        if row not in self._prints:
            self._prints[row] = self._hash(row)
        return self._prints[row]


def in_order(X: csr_array) -> csr_array:
    """The same numbers, each cell once and by column; the caller's own array stays as it is."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def hasher_of(X) -> tuple[Callable[[int], str], int]:
    """What gives the fingerprint of a row of X, and how many rows there are."""
    if is_frame(X):
        table = cell_table(X)
        columns = sorted(table.columns.items())
        return (
            lambda row: hash_cells([(name, cells[row]) for name, cells in columns])
        ), table.n_rows
    if issparse(X):
        X = in_order(csr_array(X))
        return partial(hash_sparse_row, X), X.shape[0]
    X = np.asarray(X)
    return (lambda row: hash_numbers(X[row])), X.shape[0]


def all_fingerprints(X, hash_row: Callable[[int], str], n_rows: int) -> list[str]:
    """The fingerprints of all rows; those of arrays by blocks, which is several times quicker."""
    if is_frame(X) or issparse(X):
        return [hash_row(row) for row in range(n_rows)]
    X, prints = np.asarray(X), list[str]()
    for start in range(0, n_rows, BLOCK_ROWS):
        block = np.ascontiguousarray(X[start : start + BLOCK_ROWS], dtype=np.float64) + 0.0
        prints += [blake2b(row, digest_size=8).hexdigest() for row in block]
    return prints


def hash_sparse_row(X: csr_array, row: int) -> str:
    """A hash of the numbers stored in a row, and of their columns."""
    at = slice(X.indptr[row], X.indptr[row + 1])
    return hash_numbers(X.indices[at], X.data[at])


def hash_numbers(*parts) -> str:
    """A hash of numbers, the same for float32 and float64 and for 0 and -0."""
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update((np.asarray(part, dtype=np.float64) + 0.0).tobytes())
    return digest.hexdigest()


def hash_cells(cells: Sequence[tuple[str, Any]]) -> str:
    """A hash of the cells of a table's row by column; 1 and 1.0 are the same."""
    digest = blake2b(digest_size=8)
    for name, cell in cells:
        is_number = isinstance(cell, int | float | np.number)
        digest.update(f"{name}={float(cell) + 0.0 if is_number else cell}\n".encode())
    return digest.hexdigest()


def name_by_content(fingerprints: Sequence[str]) -> list[str]:
    """Fingerprints as ids; from the second of equal ones on, with their number."""
    seen: dict[str, int] = {}
    names = []
    for text in fingerprints:
        seen[text] = seen.get(text, 0) + 1
        names.append(text if seen[text] == 1 else f"{text}#{seen[text]}")
    return names


class EventLog:
    """Events in a file.

    Parameters
    ----------
    path : str or path
        Made if it is not there.
    names : RowNames
        The rows that events refer to.

    Attributes
    ----------
    set_aside : list of SetAside
        Events about rows that are missing or have changed, found by `read`.
    """

    def __init__(self, path: str | os.PathLike, names: RowNames):
        self.path, self.names = Path(path), names
        self.set_aside: list[SetAside] = []
        self._keys: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._file = open_file(self.path)

    def append(self, *events: Event) -> list[bool]:
        """Keep events, all or none; returns, once they are on disk, which of them are new."""
        with self._lock:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                is_new = [self._insert(event) for event in events]
                self._file.execute("COMMIT")
            except BaseException:
                self._file.execute("ROLLBACK")
                self._keys.clear()  # some may have been made in what was rolled back
                raise
        return is_new

    def read(self) -> list[Event]:
        """All events about the rows as they are, in order; the others are listed in `set_aside`."""
        columns = "client, kind, question, choice, annotator, at, seconds, undoes"
        with self._lock:
            rows = self._file.execute("SELECT key, id, fingerprint FROM rows").fetchall()
            cells = self._file.execute(f"SELECT {columns} FROM events ORDER BY number").fetchall()
        found = {key: self._find(name, content) for key, name, content in rows}
        id_of = {key: name for key, name, _ in rows}
        row_of = {key: row for key, (row, _) in found.items() if row is not None}
        events, self.set_aside = [], []
        for client, kind, question, choice, annotator, at, seconds, undoes in cells:
            asked = None if question is None else Question.from_json(json.loads(question))
            lost = [] if asked is None else [k for k in asked.all_rows if found[k][0] is None]
            if lost:
                self.set_aside.append(SetAside(client, id_of[lost[0]], found[lost[0]][1]))
                continue
            if asked is not None:
                asked = asked.at(row_of)
            chosen = None if choice is None else as_tuples(json.loads(choice))
            cell = (annotator or "", at or "", seconds, undoes or "")
            events.append(Event(kind, client, asked, chosen, *cell))
        return events

    @property
    def identity(self) -> str:
        """A random name of this log, the same whenever it is opened."""
        with self._lock:
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, text TEXT)"
            )
            drawn = ("identity", uuid.uuid4().hex)
            self._file.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", drawn)
            query = "SELECT text FROM about WHERE name = 'identity'"
            return self._file.execute(query).fetchone()[0]

    def back_up(self, path: str | os.PathLike) -> None:
        """Copy the log, whole, while it is being written to; the copy is one file."""
        with replacing(path) as temporary:
            copy = sqlite3.connect(temporary)
            source = sqlite3.connect(self.path, timeout=WAIT_SECONDS)  # answers need not wait
            try:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                source.close()
                copy.close()

    def close(self) -> None:
        """Close the file; what was appended is there in any case."""
        self._file.close()

    def _insert(self, event: Event) -> bool:
        question = None
        if event.question is not None:
            key_of = {row: self._key(row) for row in event.question.all_rows}
            question = json.dumps(event.question.at(key_of).to_json(), ensure_ascii=False)
        choice = None if event.choice is None else json.dumps(event.choice)
        done = self._file.execute(
            "INSERT OR IGNORE INTO events (client, kind, question, choice, annotator, at, seconds, "
            "undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(event.id, event.kind, question, choice, event.annotator or None),
                *(event.at or None, event.seconds, event.undoes or None),
            ),
        )
        return done.rowcount == 1

    def _key(self, row: int) -> int:
        known_as = (self.names.ids[row], self.names.fingerprint(row))
        if known_as not in self._keys:
            self._file.execute(
                "INSERT OR IGNORE INTO rows (id, fingerprint) VALUES (?, ?)", known_as
            )
            query = "SELECT key FROM rows WHERE id = ? AND fingerprint = ?"
            self._keys[known_as] = self._file.execute(query, known_as).fetchone()[0]
        return self._keys[known_as]

    def _find(self, name: str, fingerprint: str) -> tuple[int | None, str]:
        """The row of X that a log means, or None and why there is none."""
        row = self.names.row_of.get(name)
        if row is None:
            return None, "missing"
        if self.names.fingerprint(row) != fingerprint:
            return None, "changed"
        return row, ""


def open_file(path: Path) -> sqlite3.Connection:
    """The log at a path, made if it is not there; one error where the file is something else."""
    try:
        file = sqlite3.connect(
            path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.OperationalError as error:
        raise OSError(f"{path} cannot be opened as a log: {error}.") from None
    try:
        file.execute("PRAGMA synchronous=FULL")
        file.execute("BEGIN IMMEDIATE")
        application = file.execute("PRAGMA application_id").fetchone()[0]
        version = file.execute("PRAGMA user_version").fetchone()[0]
        n_tables = file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == 0 and n_tables == 0:
            for statement in SCHEMA.split(";"):
                file.execute(statement)
            file.execute(f"PRAGMA application_id={APPLICATION}")
            file.execute(f"PRAGMA user_version={VERSION}")
        elif application != APPLICATION:
            raise ValueError(
                f"{path.name} is a database, but no log of answers. Name another file."
            )
        elif version != VERSION:
            raise ValueError(
                f"{path.name} is a log of version {version}, and this likewise reads version "
                f"{VERSION}. Upgrade likewise."
            )
        file.execute("COMMIT")
        mode = file.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise OSError(
                f"{path} cannot be opened as a log: this drive has no write-ahead log. Name a file "
                "on a drive of this machine."
            )
    except sqlite3.OperationalError as error:
        file.close()
        raise OSError(f"{path} cannot be opened as a log: {error}.") from None
    except sqlite3.DatabaseError as error:
        file.close()
        raise ValueError(f"{path.name} is no log of answers: {error}. Name another file.") from None
    except (ValueError, OSError):
        file.close()
        raise
    return file


def as_tuples(cells):
    """Lists as tuples, all the way down."""
    return tuple(map(as_tuples, cells)) if isinstance(cells, list) else cells
