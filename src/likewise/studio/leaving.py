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
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.files.atomic_file import replacing_together
from likewise.files.cluster_file import write_clusters
from likewise.labeling import Event, EventLog, constraints_from
from likewise.studio.snapshot import Snapshot
from likewise.studio.study import Study, write_trials
from likewise.studio.troubles import error_line

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
FIT_SECONDS = 600.0  # that a download waits for a model


class SaveRequest(NamedTuple):
    """To the learner: write the model and its report."""

    number: int
    folder: str


class Saved(NamedTuple):
    """From the learner: they are written, or why not."""

    number: int
    error: str


def write_answers(folder: Path, events: Sequence[Event], n_rows: int, ids) -> None:
    """The answers that hold, as an answer file."""
    constraints: Constraints = constraints_from(events, n_rows, ids)
    constraints.write(folder / ANSWERS)


def write_clusters_of(
    folder: Path,
    snapshot: Snapshot,
    names: Mapping[int, str],
    ids: Sequence[str] | None,
    id_column: str | None,
) -> None:
    """The clusters of the page, each by its number there, or its name."""
    n_clusters = int(snapshot.labels.max(initial=-1)) + 1
    listed = [names.get(number, "") for number in range(n_clusters)]
    labels = np.asarray(snapshot.labels, dtype=np.int64)
    write_clusters(folder / CLUSTERS, labels, ids, id_column, listed if any(listed) else ())


def write_now(
    folder: Path,
    events: Sequence[Event],
    snapshot: Snapshot | None,
    names: Mapping[int, str],
    n_rows: int,
    ids,
    id_column: str | None,
    log: Any,
) -> None:
    """All that needs no fit, together."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing_together():
        write_answers(folder, events, n_rows, ids)
        if snapshot is not None:
            write_clusters_of(folder, snapshot, names, ids, id_column)
        if isinstance(log, EventLog):
            log.back_up(folder / LOG)


class Autosave:
    """Writes what has changed, not too often.

    Parameters
    ----------
    write : callable
        Writes everything; called in a thread.
    on_trouble : callable, default: silent
        Called with a line about what is wrong, and with "" when it is right again.
    """

    def __init__(self, write, on_trouble: Callable[[str], None] = lambda line: None):
        self._write, self._on_trouble = write, on_trouble
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()

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
        """Write now; what goes wrong is said, and answers go on."""
        async with self._lock:
            try:
                await self._write()
                self._on_trouble("")
            except (OSError, ValueError) as error:
                self._on_trouble(f"The files could not be written ({error_line(error)}).")

    async def finish(self) -> None:
        """Once more, at the end."""
        with contextlib.suppress(asyncio.CancelledError):
            await self.write()


class Standing(NamedTuple):
    """Where a studio is, as far as its files tell."""

    events: list[Event]
    snapshot: Snapshot | None
    names: dict[int, str]  # of clusters


class Leaving:
    """All files of a studio, saved as things change and given to whoever asks.

    Parameters
    ----------
    standing : callable
        Where the studio is now.
    keeper
        An `EventLog`, which is copied, or something else, which is not.
    save_fitted : callable
        Has the model and its report written to a folder.
    n_rows : int
    ids : list of str or None
    id_column : str, default=None
        Where the ids come from.
    folder : path, default=None
        Where the files are saved as things change; nowhere by default.
    study : Study, default=None
    on_trouble : callable, default: silent
        Called with a line about what is wrong, and with "" when it is right again.
    """

    def __init__(
        self,
        standing: Callable[[], Standing],
        keeper: Any,
        save_fitted: Callable[[Path], Awaitable[None]],
        *,
        n_rows: int,
        ids: list[str] | None,
        id_column: str | None = None,
        folder: Path | None = None,
        study: Study | None = None,
        on_trouble: Callable[[str], None] = lambda line: None,
    ):
        self._standing, self._keeper, self._save_fitted = standing, keeper, save_fitted
        self._n_rows, self._ids, self._id_column = n_rows, ids, id_column
        self._folder, self._study = folder, study
        self.autosave = Autosave(self._write_all, on_trouble)

    async def file(self, name: str) -> tuple[bytes, str]:
        """One of the files, as of now, and its media type."""
        known = {**FILES, TRIALS: FILES[ANSWERS]} if self._study is not None else FILES
        if name not in known:
            raise LookupError(f"There is no {name}. There are {', '.join(known)}.")
        with tempfile.TemporaryDirectory(prefix="likewise-") as temporary:
            folder = self._folder or Path(temporary)
            if name in BY_LEARNER:
                await asyncio.wait_for(self._save_fitted(folder), FIT_SECONDS)
            else:
                await asyncio.to_thread(self._write_to, folder, self._standing())
            path = folder / name
            if not path.exists():
                raise LookupError("The clusters are not there yet.")
            return await asyncio.to_thread(path.read_bytes), known[name]

    async def _write_all(self) -> None:
        if self._folder is not None:
            await asyncio.to_thread(self._write_to, self._folder, self._standing())

    def _write_to(self, folder: Path, standing: Standing) -> None:
        write_now(folder, *standing, self._n_rows, self._ids, self._id_column, self._keeper)
        if self._study is not None:
            write_trials(folder / TRIALS, self._study, standing.events, self._ids)
