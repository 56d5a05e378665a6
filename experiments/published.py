"""Published tables: one CSV file per table in docs/tables, from which pages are made.

    # title: ARI by the kernel that SKLR starts from
    # runs: 300 runs, seeds 0 to 2
    # made with: Python 3.11.7, numpy 2.4.6; data iris fea4528586d2ffc0
    # across: start
    data,start,measure of,mean,standard error,published,runs
    iris,gaussian,ARI,0.898,0.012,,3

Lines that start with "# " are notes on the table. `across` names the setting whose values are the
columns of the printed table, one table per measure; a file without it is printed as it is.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from likewise.files.atomic_file import replacing

TABLES = Path(__file__).parents[1] / "docs" / "tables"
MEASURE, MEAN, ERROR, PUBLISHED, RUNS = RESULTS = (
    "measure of",
    "mean",
    "standard error",
    "published",
    "runs",
)


@dataclass(frozen=True)
class Grid:
    """A table as it is printed."""

    columns: list[str]
    rows: list[list[str]]

    def find(self, row: Sequence[str], column: str) -> list[str]:
        """Cells of a column, in the rows that begin with these cells; "*" is any."""
        if column not in self.columns:
            raise LookupError(f"there is no column {column!r}, only {', '.join(self.columns)}")
        cells = [
            cells[self.columns.index(column)]
            for cells in self.rows
            if all(asked in ("*", cell) for asked, cell in zip(row, cells))
        ]
        if not cells:
            raise LookupError(f"there is no row {' | '.join(row)}")
        return cells

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


@dataclass(frozen=True)
class PublishedTable:
    """The fields and rows of a file, and its notes in their order."""

    fields: list[str]
    rows: list[list[str]]
    notes: list[tuple[str, str]] = field(default_factory=list)

    def note(self, key: str) -> list[str]:
        return [text for name, text in self.notes if name == key]

    def grids(self) -> dict[str, Grid]:
        """The printed tables by measure, "" where there is only one."""
        if not self.note("across"):
            return {"": Grid(self.fields, self.rows)}
        (across,) = self.note("across")
        records = [dict(zip(self.fields, row)) for row in self.rows]
        measures = list(dict.fromkeys(record[MEASURE] for record in records))
        settings = [name for name in self.fields if name not in (across, *RESULTS)]
        columns = list(dict.fromkeys(record[across] for record in records))
        grids = {}
        for measure in measures:
            chosen = [record for record in records if record[MEASURE] == measure]
            grids[measure] = _cross(chosen, settings, across, columns)
        return {"": grids[measures[0]]} if len(measures) == 1 else grids

    def markdown(self) -> str:
        """All of it: title, verdict, tables with their measures, runs, versions."""
        parts = [f"{title}." for title in self.note("title")]
        parts += self.note("verdict") + self.note("why")
        for measure, grid in self.grids().items():
            parts += [f"{measure}:"] if measure else []
            parts.append(grid.markdown().rstrip())
        parts.append("\n".join(f"{text}." for text in self.note("runs") + self.note("made with")))
        return "\n\n".join(parts) + "\n"


def read_published(path: Path) -> PublishedTable:
    """The table in a file of docs/tables."""
    lines = path.read_text().splitlines(keepends=True)
    n_notes = next(i for i, line in enumerate(lines) if not line.startswith("# "))
    notes = [line[2:].rstrip("\n").partition(": ") for line in lines[:n_notes]]
    fields, *rows = csv.reader(lines[n_notes:])
    return PublishedTable(fields, rows, [(key, text) for key, _, text in notes])


def write_published(path: Path, table: PublishedTable) -> None:
    """The table as a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, Path(temporary).open("w", newline="") as file:
        file.writelines(f"# {key}: {text}\n" for key, text in table.notes)
        csv.writer(file, lineterminator="\n").writerows([table.fields, *table.rows])


def _cross(
    records: list[dict[str, str]], settings: list[str], across: str, columns: list[str]
) -> Grid:
    """Rows by the settings, columns by the setting `across`."""
    rows: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for record in records:
        key = tuple(record[name] for name in settings)
        rows.setdefault(key, {})[record[across]] = record
    printed = []
    for key, by_column in rows.items():
        cells = [_print_cell(by_column.get(column)) for column in columns]
        counts = sorted({one[RUNS] or "0" for one in by_column.values()}, key=_first_number)
        printed.append([*key, *cells, "-".join(counts)])
    return Grid([*settings, *columns, RUNS], printed)


def _first_number(count: str) -> int:
    return int(count.partition("-")[0] or 0)


def _print_cell(record: dict[str, str] | None) -> str:
    if record is None:
        return ""
    if not record[MEAN]:
        return f"not run ({record[PUBLISHED]})"
    error = float(record[ERROR] or "nan")
    shown = f"{float(record[MEAN]):.3f}" + ("" if math.isnan(error) else f" ± {error:.3f}")
    return shown + (f" ({record[PUBLISHED]})" if record[PUBLISHED] else "")
