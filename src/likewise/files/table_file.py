"""Columns of cells in CSV and JSON Lines files: of answers and of data.

A file that cannot be read is one ``ValueError`` that names it and the line.
"""

import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from likewise.files import strict_json
from likewise.files.problem_list import as_sentence, listed
from likewise.files.text_source import (
    OLD_ENCODING,
    Source,
    file_name,
    open_text,
    refuse_others,
    without_control,
)

Columns = dict[str, list]

DELIMITERS = (",", ";", "\t", "|")
QUOTES = {  # in the words of Python's csv module
    "expected after": "a quote ends in the middle of a cell; write quotes inside a cell twice",
    "unexpected end": "a quote is opened and never closed; write quotes inside a cell twice",
    "larger than field limit": f"a cell has more than {csv.field_size_limit()} characters; is a "
    "quote opened and never closed? Longer texts can be in .jsonl or .parquet",
}
FEWEST_ALIKE = 5  # lines that fit each other and not the header: then it is not the header


class TextTable(NamedTuple):
    """The cells of a CSV file as text."""

    columns: Columns
    lines: list[int]  # the line that each row ends on
    delimiter: str


def read_csv(source: Source) -> tuple[Columns, list[int]]:
    """The cells of each column as text, and the line each row ends on; blank lines are no rows."""
    table = read_text_table(source)
    return table.columns, table.lines


def read_text_table(source: Source) -> TextTable:
    """A CSV file with any common delimiter, gzipped or not; all bad lines are named.

    Text that is no UTF-8 is read as Windows-1252, with a warning.
    """
    name = file_name(source)
    refuse_others(source, name)
    try:
        return _read_text_table(source, name, None)
    except UnicodeDecodeError:
        pass
    try:
        table = _read_text_table(source, name, OLD_ENCODING)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text. Save it as UTF-8.") from None
    warn_old_encoding(name)
    return table


def _read_text_table(source: Source, name: str, encoding: str | None) -> TextTable:
    with open_text(source, encoding) as file:
        first = file.readline()
        if first.lower().startswith("sep=") and len(first.strip()) == len("sep=;"):
            delimiter, first, skipped = first[4], file.readline(), 1  # as Excel writes it
        else:
            delimiter, skipped = find_delimiter(first, name), 0
        read = chain([first], file)
        lines = map(without_control, read) if encoding else without_zeros(read, name, skipped)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        return _read_lines(numbered(rows, name, skipped), name, delimiter, skipped)


def without_zeros(lines: Iterable[str], name: str, skipped: int) -> Iterator[str]:
    """The lines, or an error at the first with a zero byte, which no text has."""
    for number, line in enumerate(lines, start=1 + skipped):
        if "\0" in line:
            raise ValueError(f"{name}, line {number}: it has a zero byte. Save the file as UTF-8.")
        yield line


def numbered(rows, name: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a csv reader, and the line that the row ends on."""
    begins = 1 + skipped
    try:
        for cells in rows:
            yield rows.line_num + skipped, cells
            begins = rows.line_num + 1 + skipped
    except csv.Error as error:
        why = next((why for words, why in QUOTES.items() if words in str(error)), str(error))
        line = begins if "opened" in why else rows.line_num + skipped
        raise ValueError(f"{name}, line {line}: {as_sentence([why])}") from None


def warn_old_encoding(names: str) -> None:
    """Say that text was read as Windows-1252."""
    warnings.warn(
        f"{names}: not UTF-8, so read as Windows-1252. If letters are wrong, save it as UTF-8.",
        UserWarning,
        stacklevel=4,
    )


def _read_lines(
    rows: Iterator[tuple[int, list[str]]], name: str, delimiter: str, skipped: int
) -> TextTable:
    header = [cell.strip() for cell in next(rows, (0, []))[1]]
    if not header:
        raise ValueError(f"{name} is empty: its first line must name the columns.")
    if len(header) > 1 and all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in header):
        raise ValueError(
            f"{name}: its cells are in single quotes, which CSV does not have. Save it with double "
            "quotes."
        )
    problems = [
        f"line {1 + skipped}: a column is named twice, {cell!r}"
        for cell, count in Counter(header).items()
        if count > 1 and cell
    ]
    way_out = " Columns of one name need different names." if problems else ""
    n_named = len(header)
    first = list(islice(rows, FEWEST_ALIKE))
    widest = [cells for _, cells in first if cells]
    if widest and all(len(cells) == n_named + 1 and not cells[-1] for cells in widest):
        header.append("")  # a delimiter ends every line but the header
    columns: list[list] = [[] for _ in header]
    known: list[dict[str, str]] = [{} for _ in header]  # one object for cells that are equal
    lines = []
    widths: Counter[int] = Counter()  # of lines that do not fit the header
    for number, cells in chain(first, rows):
        if not cells:
            continue
        if len(cells) != len(header):
            widths[len(cells)] += 1
            problems.append(
                f"line {number}: {len(cells)} cells, but the header names {n_named} columns"
            )
            continue
        for column, seen, cell in zip(columns, known, cells):
            column.append(seen.setdefault(cell, cell))
        lines.append(number)
    width, n_alike = max(widths.items(), key=lambda item: item[1], default=(0, 0))
    if width > len(header) and n_alike > len(lines) and n_alike >= FEWEST_ALIKE:
        raise ValueError(
            f"{name}: {n_alike} lines have {width} cells, but line {1 + skipped}, which must name "
            f"the columns, has {len(header)}. Delete what stands above the names of the columns, "
            "or name every column."
        )
    kept, unnamed = choose_unnamed(header, columns)
    if len(unnamed) > 1 or any(j >= n_named for j in unnamed):
        numbers = ", ".join(str(1 + j) for j in unnamed)
        problems.append(
            f"line {1 + skipped}: no name for column {numbers}. Name every column, or delete what "
            "stands above the names"
        )
    if problems:
        raise ValueError(f"{name}, {listed(problems)}.{way_out}")
    return TextTable({header[j]: columns[j] for j in kept}, lines, delimiter)


def choose_unnamed(header: list[str], columns: list[list]) -> tuple[list[int], list[int]]:
    """Which columns are kept, and which of these have no name and are not the only blank one.

    Blank columns without a name, as delimiters at the end of lines leave them, are not kept beside
    another without a name.
    """
    unnamed = [j for j, cell in enumerate(header) if not cell]
    blank = [j for j in unnamed if not any(cell.strip() for cell in columns[j])]
    spare = blank if len(blank) < len(unnamed) else blank[1:]
    kept = [j for j in range(len(header)) if j not in spare]
    return kept, [j for j in unnamed if j not in blank]


def find_delimiter(header: str, name: str) -> str:
    """The delimiter of a header: the commonest outside quotes, a comma where none is there."""
    if ".tsv" in [suffix.lower() for suffix in Path(name).suffixes[-2:]]:
        return "\t"
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)  # the first of equals


def read_json_lines(source: Source) -> tuple[list[dict], list[int]]:
    """The objects of a JSON Lines file and their lines, or one error that lists the bad lines."""
    name = file_name(source)
    records, lines, problems = [], [], []
    try:
        with open_text(source) as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    record = strict_json.loads(line.rstrip("\r\n"))  # places are in one line
                    if not isinstance(record, dict):
                        raise ValueError("it is no JSON object")
                    records.append(record)
                    lines.append(number)
                except json.JSONDecodeError as error:
                    problems.append(f"line {number}: {error.msg}, at character {error.colno}")
                except (ValueError, RecursionError) as error:
                    problems.append(f"line {number}: {error}")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text. Save it as UTF-8.") from None
    if problems:
        raise ValueError(f"{name}, {listed(problems)}.")
    return records, lines


def write_csv(columns: dict[str, list[str]], file) -> None:
    """Write columns of text to an open file, if every cell is short enough to be read again."""
    limit = csv.field_size_limit()
    for name, cells in columns.items():
        if max(map(len, cells), default=0) > limit:
            row = next(i for i, cell in enumerate(cells) if len(cell) > limit)
            raise ValueError(
                f"{name} of row {row} has {len(cells[row])} characters, and a cell of a CSV file "
                f"at most {limit}. Shorten it, or write .parquet."
            )
    # Ending lines in \n alone, the writer sees no reason to quote a cell that holds \r.
    has_return = any("\r" in cell for cells in columns.values() for cell in cells)
    quoting = csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    writer = csv.writer(file, lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))
