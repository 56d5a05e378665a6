"""What people leave with: clusters, answers, a model, a report, and the log, as files.

    clusters.csv     the cluster of every row, its name, as on the page      at once
    answers.csv      the answers, for `likewise cluster -c`                  at once
    log.db           everything that happened, copied while it is used       at once
    model.likewise   `GuidedClustering` fitted to the answers                by the learner
    report.html      what the answers did                                    by the learner

All are written whole or not at all, again and again while people answer, so that whatever happens
to the machine, the last ones are there.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints import Constraints
from likewise.files.atomic_file import replacing_together
from likewise.files.row_file import write_clusters
from likewise.labeling import Event, EventLog, constraints_from
from likewise.studio.snapshot import Snapshot

CLUSTERS, ANSWERS, LOG = "clusters.csv", "answers.csv", "log.db"
MODEL, REPORT = "model.likewise", "report.html"
TRIALS, LINKS = "trials.csv", "links.csv"  # of a study
FILES = {
    CLUSTERS: "text/csv; charset=utf-8",
    ANSWERS: "text/csv; charset=utf-8",
    LOG: "application/vnd.sqlite3",
    MODEL: "application/octet-stream",
    REPORT: "text/html; charset=utf-8",
}
BY_LEARNER = (MODEL, REPORT)
AUTOSAVE_SECONDS = 20.0  # at least, between two autosaves


def write_answers(folder: Path, events: Sequence[Event], n_rows: int, ids) -> None:
    """The answers that hold, as an answer file."""
    constraints: Constraints = constraints_from(events, n_rows, ids)
    constraints.write(folder / ANSWERS)


def write_clusters_of(
    folder: Path, snapshot: Snapshot, names: Mapping[int, str], ids: Sequence[str] | None
) -> None:
    """The clusters of the page."""
    n_clusters = int(snapshot.labels.max(initial=-1)) + 1
    listed = [names.get(number, "") for number in range(n_clusters)]
    labels = np.asarray(snapshot.labels, dtype=np.int64)
    write_clusters(folder / CLUSTERS, labels, ids, cluster_names=listed if any(listed) else ())


def write_now(
    folder: Path,
    events: Sequence[Event],
    snapshot: Snapshot | None,
    names: Mapping[int, str],
    n_rows: int,
    ids,
    log: Any,
) -> None:
    """All that needs no fit, together."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing_together():
        write_answers(folder, events, n_rows, ids)
        if snapshot is not None:
            write_clusters_of(folder, snapshot, names, ids)
        if isinstance(log, EventLog):
            log.back_up(folder / LOG)


class Autosave:
    """Writes what has changed, not too often.

    Parameters
    ----------
    write : callable
        Writes everything; called in a thread.
    """

    def __init__(self, write):
        self._write = write
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self.error = ""

    def wake(self) -> None:
        """Something changed."""
        self._wake.set()

    async def run(self) -> None:
        """Write after changes, until this is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.write()
            await asyncio.sleep(AUTOSAVE_SECONDS)

    async def write(self) -> None:
        """Write now; what goes wrong is kept in `error`, and answers go on."""
        async with self._lock:
            try:
                await self._write()
                self.error = ""
            except (OSError, ValueError) as error:
                self.error = f"The files could not be written: {error}"

    async def finish(self) -> None:
        """Once more, at the end."""
        with contextlib.suppress(asyncio.CancelledError):
            await self.write()
