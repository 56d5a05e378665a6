"""Columns of cells in CSV, JSON Lines, Parquet and Feather files: of answers and of data.

A file that cannot be read is one ``ValueError`` that names it and the line.
"""

import codecs
import csv
import gzip
import io
import json
import math
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np

from likewise.files import strict_json
from likewise.files.cell_table import as_cells

Columns = dict[str, list]
Source = Path | io.BytesIO  # a file, or what came from stdin

DELIMITERS = (",", ";", "\t", "|")
FEATHER = (".feather", ".arrow")
MOST_LISTED = 20  # problems in one error
OLD_ENCODING = "cp1252"  # of text that is no UTF-8: as programs on Windows write it
STARTS = {  # of files that are no text: what each is, and the way out
    b"PK\x03\x04": "a spreadsheet or a zip archive. Save the sheet as CSV, or unzip it",
    b"\xd0\xcf\x11\xe0": "a spreadsheet. Save the sheet as CSV",
    b"PAR1": "a Parquet file. Rename it to .parquet",
    b"ARROW1": "a Feather file. Rename it to .feather",
    b"\x93NUMPY": "a NumPy file. Rename it to .npy",
    b"BZh": "packed by bzip2. Unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz. Unpack it, or pack it by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd. Unpack it, or pack it by gzip",
    b"7z\xbc\xaf": "an archive. Unpack it",
    b"Rar!": "an archive. Unpack it",
    b"%PDF": "a PDF. Save the table as CSV",
    b"SQLite format 3": "a database. Save its table as CSV",
    b"\x89HDF": "an HDF5 file. Save the table as Parquet or CSV",
    b"\x80\x04\x95": "a pickle, which can run code. Save the table as Parquet or CSV",
    b"\x80\x05\x95": "a pickle, which can run code. Save the table as Parquet or CSV",
}
PAGES = {  # the same of text, in small letters
    b"<!doctype html": "a web page and no table. Download the table itself",
    b"<html": "a web page and no table. Download the table itself",
    b"<?xml": "XML. Save the table as CSV",
}
UNPACKED_ANYWAY = 256_000_000  # bytes that a gzipped table of any size may hold,
UNPACKED_PER_BYTE = 100  # and those for each byte of a larger one: real tables hold 3 to 30
LONGEST_START = 64  # bytes that are looked at
QUOTES = {  # in the words of Python's csv module
    "expected after": "a quote ends in the middle of a cell; write quotes inside a cell twice",
    "unexpected end": "a quote is opened and never closed; write quotes inside a cell twice",
    "larger than field limit": f"a cell has more than {csv.field_size_limit()} characters; is a "
    "quote opened and never closed? Longer texts can be in .jsonl or .parquet",
}
FEWEST_ALIKE = 5  # lines that fit each other and not the header: then it is not the header
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")  # in no text that people wrote


def parse_number(cell: Any) -> float:
    """A cell as a float; ValueError for text that only Python takes for a number, such as 1_000."""
    text = decoded(cell)
    if isinstance(text, str) and is_for_python(text):
        raise ValueError(f"{text!r} is not a number")
    try:
        return float(text)
    except OverflowError:  # of a whole number in JSON
        return math.inf


def is_for_python(text: str) -> bool:
    """Whether a number in it would be one to Python alone: 1_000, or digits of another script."""
    return "_" in text or not text.isascii()


def is_missing(cell: Any) -> bool:
    """None, "", NaN, NaT and pandas' NA; ``cell != cell`` is true of NaN and NaT alone."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    return (isinstance(cell, str) and cell == "") or bool(cell != cell)


def id_text(cell: Any) -> str:
    """An id as text, "" where it is missing. A column with gaps turns 7 into 7.0: still row 7."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return "" if is_missing(cell) else str(decoded(cell))


def decoded(cell: Any) -> Any:
    """Bytes as the text they hold; anything else as it is."""
    if not isinstance(cell, bytes):
        return cell
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{cell[:40]!r} is not UTF-8 text") from None


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


def refuse_others(source: Source, name: str) -> None:
    """An error for a file that is no table of text, whatever its name says."""
    start = start_of(source)
    if is_gzipped(start):
        start = start_inside(source, name)
        if is_gzipped(start):
            raise ValueError(f"{name} is packed by gzip twice. Unpack it.")
    if what := what_starts_so(start):
        raise ValueError(f"{name} is {what}.")
    is_wide = 4 * start.count(b"\0") > len(start)  # every second byte of plain letters
    if is_wide and encoding_of(start) == "utf-8-sig":
        raise ValueError(f"{name} has zero bytes, as UTF-16 without its mark. Save it as UTF-8.")


def start_of(source: Source) -> bytes:
    """The first bytes of a file."""
    if isinstance(source, io.BytesIO):
        return source.getvalue()[:LONGEST_START]
    with open(source, "rb") as file:
        return file.read(LONGEST_START)


def start_inside(source: Source, name: str) -> bytes:
    """The first bytes of a gzipped file, unpacked."""
    try:
        with gzip.open(source if not isinstance(source, io.BytesIO) else _copy(source)) as file:
            return file.read(LONGEST_START)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"{name} is damaged: it cannot be unzipped.") from None


def _copy(source: io.BytesIO) -> io.BytesIO:
    return io.BytesIO(source.getvalue())


def what_starts_so(start: bytes) -> str:
    """What a file is that begins so, and the way out; "" where it may be a table of text."""
    text = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    by_text = (what for mark, what in PAGES.items() if text.startswith(mark))
    return next((what for mark, what in STARTS.items() if start.startswith(mark)), "") or next(
        by_text, ""
    )


def describe_other(start: bytes, kind: str) -> str:
    """What a file that is not of its kind is instead, and the way out; "" where nobody knows."""
    what = what_starts_so(start)
    if not what and is_gzipped(start):
        what = "packed by gzip. Unpack it"
    if not what and start and not _CONTROL.search(start.decode("latin-1")):
        what = "text. Rename it to .csv, or .jsonl"
    return f": it is {what}" if what and not what.startswith(f"a {kind} file") else ""


def is_gzipped(start: bytes) -> bool:
    return start[:2] == b"\x1f\x8b"


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


def without_control(text: str) -> str:
    """The text, or an error where it holds what no text does: then it is of another encoding."""
    if found := _CONTROL.search(text):
        at = found.start()
        raise UnicodeDecodeError(OLD_ENCODING, text.encode(), at, at + 1, "no character of a text")
    return text


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


def listed(problems: list[str]) -> str:
    """All problems in one line, up to a page of them."""
    more = f"; and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
    return "; ".join(problems[:MOST_LISTED]) + more


def as_sentence(problems: list[str]) -> str:
    """All problems as one sentence; a question at the end needs no full stop."""
    text = listed(problems)
    return text if text.endswith(("?", ".")) else f"{text}."


def find_delimiter(header: str, name: str) -> str:
    """The delimiter of a header: the commonest outside quotes, a comma where none is there."""
    if ".tsv" in [suffix.lower() for suffix in Path(name).suffixes[-2:]]:
        return "\t"
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)  # the first of equals


class Unpacked(gzip.GzipFile):
    """What a gzipped file holds, up to far more than text that is a table is packed to."""

    def __init__(self, packed: BinaryIO, name: str):
        super().__init__(fileobj=packed)
        size = packed.seek(0, os.SEEK_END)
        packed.seek(0)
        self._most, self._told = max(UNPACKED_ANYWAY, UNPACKED_PER_BYTE * size), name

    def read1(self, size: int = -1) -> bytes:
        """Some of it; this is how text is read."""
        if self.tell() > self._most:
            raise ValueError(
                f"{self._told} unpacks to more than {self._most / 1e6:,.0f} MB, which no table "
                "does that is packed so small. If it is one, unpack it."
            )
        return super().read1(size)


@contextmanager
def open_text(source: Source, encoding: str | None = None) -> Iterator[TextIO]:
    """A text file, gzipped or not; its mark says whether it is UTF-8, UTF-16 or UTF-32."""
    with ExitStack() as stack:
        if isinstance(source, io.BytesIO):
            binary: Any = io.BytesIO(source.getvalue())  # the text closes it at the end
        else:
            binary = stack.enter_context(open(source, "rb"))
        mark = binary.read(4)
        binary.seek(0)
        if is_gzipped(mark):
            binary = stack.enter_context(Unpacked(binary, file_name(source)))
            mark = binary.read(4)
            binary.seek(0)
        encoding = encoding or encoding_of(mark)
        try:
            yield stack.enter_context(io.TextIOWrapper(binary, encoding=encoding, newline=""))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ValueError(f"{file_name(source)} is damaged: it cannot be unzipped.") from None


def encoding_of(start: bytes) -> str:
    """UTF-16 or UTF-32 where text begins with their mark, else UTF-8."""
    if start[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):  # it begins as UTF-16 does
        return "utf-32"
    is_wide = start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if is_wide else "utf-8-sig"


def file_name(source: Source) -> str:
    """A file as messages name it."""
    return "stdin" if isinstance(source, io.BytesIO) else source.name


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
                    record = strict_json.loads(line)
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


def read_parquet(source: Source, convert: Callable[[Any], Any]) -> dict[str, Any]:
    """What `convert` makes of each column of the file, a pyarrow array in chunks."""
    pyarrow, parquet = import_pyarrow()
    name = file_name(source)
    is_feather = Path(name).suffix.lower() in FEATHER
    try:
        table = _read_feather(source) if is_feather else parquet.read_table(source)
        table.validate(full=True)  # text that is no UTF-8, offsets that point outside
        while any(map(pyarrow.types.is_struct, table.schema.types)):
            table = table.flatten()  # user {age} is user.age
        if len(set(table.column_names)) < len(table.column_names):
            raise ValueError
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError, MemoryError, OverflowError, ValueError):
        kind = "Feather" if is_feather else "Parquet"
        way_out = describe_other(start_of(source), kind)
        raise ValueError(f"{name} is not a {kind} file that can be read{way_out}.") from None
    columns = {}
    for column in table.column_names:
        try:
            columns[column] = convert(table[column])
        except (pyarrow.ArrowException, OverflowError, ValueError, TypeError, MemoryError):
            raise ValueError(
                f"{name}: column {column!r} holds {table[column].type} that cannot be read. "
                "Drop it, or turn it to text or numbers."
            ) from None
    return columns


def _read_feather(source: Source):
    from pyarrow import feather

    return feather.read_table(source, memory_map=False)


def arrow_cells(column: Any) -> np.ndarray:
    """One pyarrow column (n,): numbers and times as they are, anything else as objects."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_duration(kind):
        return column.cast(pyarrow.duration("us"), safe=False).to_numpy()
    if types.is_binary(kind) or types.is_large_binary(kind):
        try:
            column = column.cast(pyarrow.string())
        except pyarrow.ArrowInvalid:  # no UTF-8: an error with its row, where it is used
            return as_cells(column.to_pylist())
        kind = column.type
    if types.is_integer(kind) or types.is_floating(kind):
        numbers = column.cast(pyarrow.float64(), safe=False) if column.null_count else column
        return numbers.to_numpy()
    if types.is_timestamp(kind) or types.is_date(kind):  # with a time zone it is kept in UTC
        return column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
    if types.is_boolean(kind) and not column.null_count:
        return column.to_numpy()
    if types.is_string(kind) or types.is_large_string(kind):  # one object for cells that are equal
        codes = column.dictionary_encode().combine_chunks()
        words = as_cells([*codes.dictionary.to_pylist(), None])
        return words[codes.indices.fill_null(len(words) - 1).to_numpy()]
    return as_cells(column.to_pylist())


def import_pyarrow():
    """pyarrow and its Parquet module, or the line that installs them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'likewise[io]'.") from None
    return pyarrow, pyarrow.parquet
