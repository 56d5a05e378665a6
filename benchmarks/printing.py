"""Tables of measurements, printed as they come and published as a file."""

import argparse
from collections.abc import Iterable, Sequence

from experiments.published import TABLES, PublishedTable, write_published


def print_rows(lines: Iterable[Sequence]) -> PublishedTable:
    """A table from its columns and then its rows, each printed as Markdown as soon as it comes."""
    made: list[list[str]] = []
    for line in lines:
        cells = [str(cell) for cell in line]
        made.append(cells)
        print("| " + " | ".join(cells) + " |", flush=True)
        if len(made) == 1:
            print("|" + " --- |" * len(cells), flush=True)
    return PublishedTable(made[0], made[1:])


def add_publish_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--publish", action="store_true", help="write the tables to docs/tables")


def publish(page: str, name: str, table: PublishedTable, made_with: str) -> None:
    """Write docs/tables/PAGE/NAME.csv, with what its figures depend on."""
    notes = [("made with", made_with)]
    write_published(TABLES / page / f"{name}.csv", PublishedTable(table.fields, table.rows, notes))
