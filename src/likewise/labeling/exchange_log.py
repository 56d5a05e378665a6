"""Every exchange with a machine that answers, on disk: what was sent, what came back, what it cost.

    exchanges   number, key, at, request, status, reply, problem, tokens_in, tokens_out, cost,
                seconds

One row for each attempt, failed ones among them, kept before the answer counts. The key names the
question as it was put, to whom: a key with a usable reply need not be sent again. The table stands
in the file of the session's log, or in a file of its own; keys of an API are never written.
"""

import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any, NamedTuple

from likewise.labeling.event_log import open_file

TABLE = """
CREATE TABLE IF NOT EXISTS exchanges (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, at TEXT NOT NULL,
    request TEXT NOT NULL, status INTEGER, reply TEXT, problem TEXT, tokens_in INTEGER,
    tokens_out INTEGER, cost REAL, seconds REAL
)
"""
COLUMNS = (
    "key, at, request, status, reply, problem, tokens_in, tokens_out, cost, seconds"  # in order
)


class Exchange(NamedTuple):
    """One request and what came of it."""

    key: str
    at: str
    request: dict[str, Any]  # as sent, images by their hashes
    status: int | None = None  # of HTTP; None where nothing came back
    reply: str | None = None  # what the model said
    problem: str = ""  # "" where the reply is usable
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class ExchangeLog:
    """Exchanges in a file, or in memory.

    Parameters
    ----------
    path : str, path or None
        A log of a session, or a file of its own, made if it is not there; None keeps nothing
        beyond this process.
    """

    def __init__(self, path: str | os.PathLike | None):
        self._lock = threading.Lock()
        if path is None:
            self._file = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        else:
            self._file = open_file(Path(path))
        self._file.execute(TABLE)
        self._file.execute("CREATE INDEX IF NOT EXISTS exchange_keys ON exchanges (key)")

    def keep(self, exchange: Exchange) -> None:
        """Write an exchange; when this returns, it is on disk."""
        request = json.dumps(exchange.request, ensure_ascii=False)
        marks = ", ".join("?" * len(exchange))
        with self._lock:
            self._file.execute(
                f"INSERT INTO exchanges ({COLUMNS}) VALUES ({marks})",
                exchange._replace(request=request),  # type: ignore[arg-type]
            )

    def usable(self, key: str) -> Exchange | None:
        """The last exchange of a key whose reply can be used."""
        found = self._read("WHERE key = ? AND problem = '' ORDER BY number DESC LIMIT 1", (key,))
        return found[0] if found else None

    def spent(self) -> tuple[int, int, float]:
        """Requests, tokens and cost of all exchanges kept so far."""
        query = "SELECT count(*), total(tokens_in) + total(tokens_out), total(cost) FROM exchanges"
        with self._lock:
            n_requests, n_tokens, cost = self._file.execute(query).fetchone()
        return int(n_requests), int(n_tokens), float(cost)

    def read(self) -> list[Exchange]:
        """All exchanges, in order."""
        return self._read("ORDER BY number", ())

    def _read(self, where: str, values: tuple) -> list[Exchange]:
        with self._lock:
            rows = self._file.execute(f"SELECT {COLUMNS} FROM exchanges {where}", values).fetchall()
        return [Exchange(key, at, json.loads(request), *rest) for key, at, request, *rest in rows]

    def close(self) -> None:
        """Close the file; what was kept is there in any case."""
        self._file.close()
