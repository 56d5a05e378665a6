"""Read the tables of a page back: by section, by measure, by row and column.

A section stands between the marks that `likewise reproduce` leaves, or under a heading of a page
that has none. A section with several measures names each in a line above its table ("ARI:").
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)?\.?\d+(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: list[list[str]]  # cells, as they are printed

    def find(self, row: tuple[str, ...], column: str) -> list[str]:
        """Cells of a column, in the rows that begin with these cells; "*" is any."""
        if column not in self.columns:
            raise LookupError(f"there is no column {column!r}, only {', '.join(self.columns)}")
        found = [
            cells[self.columns.index(column)]
            for cells in self.rows
            if all(asked in ("*", cell) for asked, cell in zip(row, cells))
        ]
        if not found:
            raise LookupError(f"there is no row {' | '.join(row)}")
        return found


def page_path(page: str) -> Path:
    """docs/experiments/sklr.md for "sklr", docs/benchmarks.md for "benchmarks"."""
    beside = ROOT / "docs" / f"{page}.md"
    return beside if beside.is_file() else ROOT / "docs" / "experiments" / f"{page}.md"


def read_section(page: str, name: str) -> str:
    """What runs have written into a section of a page."""
    text = page_path(page).read_text()
    marked = re.compile(
        rf"<!-- {re.escape(name)}: written by [^\n]*-->\n(.*?)<!-- end of", re.DOTALL
    )
    headed = re.compile(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    found = marked.search(text) or headed.search(text)
    if found is None:
        raise LookupError(f"{page} has no section {name!r}")
    return found.group(1)


def read_tables(page: str, name: str) -> dict[str, Table]:
    """The tables of a section, by the measure named above each, "" where none is."""
    tables: dict[str, Table] = {}
    measure, lines = "", []
    for line in [*read_section(page, name).splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif lines:
            tables.setdefault(measure, Table(lines[0], lines[2:]))
            measure, lines = "", []
        elif line:
            measure = line[:-1] if line.endswith(":") else ""
    return tables


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, thousands with or without a comma."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]
