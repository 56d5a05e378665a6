"""A CSV file of runs, one line per finished job: a killed run goes on where it was.

Experiments and benchmarks keep their runs in such files. A job whose line is there is not run
again. Lines that start with "# " name the versions and the data behind the lines below them.
"""

import csv
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from likewise.files.atomic_file import replacing
from likewise.progress import track

Key = TypeVar("Key", bound=Hashable)
Job = TypeVar("Job")
Record = dict[str, str]  # a line of a file of runs


def run_missing(
    path: Path,
    fields: Sequence[str],
    jobs: Mapping[Key, Job],
    *,
    key_of: Callable[[Record], Key],
    execute: Callable[[list[Job]], Iterable[Mapping[str, Any]]],
    origin: Callable[[], str],
    what: str,
    again: bool = False,
) -> None:
    """Run the jobs that the file does not have, or all `again`; each record is kept as it comes.

    `execute` gets the jobs to run and gives their records in any order; `origin` says what they
    depend on beside their settings.
    """
    done = set() if again else {key_of(record) for record in read_records(path, fields)}
    missing = [job for key, job in jobs.items() if key not in done]
    if not missing:
        return
    _prepare(path, fields, origin())
    for record in track(execute(missing), what, total=len(missing)):
        with path.open("a", newline="") as file:
            csv.DictWriter(file, fields, lineterminator="\n").writerow(record)


def read_records(path: Path, fields: Sequence[str]) -> list[Record]:
    """The whole lines of a file; one cut short by a kill does not count."""
    lines = [line for line in _whole_lines(path) if not line.startswith("# ")]
    if lines and lines[0].strip().split(",") != list(fields):
        raise ValueError(f"{path} has other columns than this version writes. Move it away.")
    return list(csv.DictReader(lines))


def origins_of(path: Path) -> list[str]:
    """What the file says of versions and data, one text for every kind of run in it."""
    return [line[2:].strip() for line in _whole_lines(path) if line.startswith("# ")]


def _whole_lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _prepare(path: Path, fields: Sequence[str], origin: str) -> None:
    """Make the file, or cut off a half line, and note what the coming lines depend on."""
    lines = _whole_lines(path) or [",".join(fields) + "\n"]
    if f"# {origin}\n" not in lines:
        lines.append(f"# {origin}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        Path(temporary).write_text("".join(lines))
