"""Answer files: CSV, JSON Lines and Parquet, one row an answer (columns: see table.py).

Read whole or not at all: a malformed line is an error with its number. Written to a temporary file
beside the target and moved into place, so a stop leaves the old file or the new one.
"""

import csv
import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from likewise.constraints.table import COLUMNS, check_column_names
from likewise.numerics.atomic_file import replacing

Columns = dict[str, list]


def read_columns(path: str | os.PathLike) -> tuple[Columns, Callable[[int], str]]:
    """The cells of an answer file, and where the i-th answer stands in it."""
    path = Path(path)
    return _format_of(path).read(path)


def write_columns(columns: Columns, path: str | os.PathLike) -> None:
    """Write an answer file; its ending says in which format."""
    path = Path(path)
    write = _format_of(path).write
    with replacing(path) as temporary:
        write(columns, temporary)


def read_csv(path: Path):
    columns: Columns = {}
    lines: list[int] = []
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            if not header:
                raise ValueError(f"{path.name} is empty: its first line must name the columns.")
            if len(set(header)) < len(header):
                raise ValueError(f"{path.name}, line 1: a column is named twice.")
            columns = {name: [] for name in header}
            check_column_names(columns)
            for cells in reader:
                if not cells:  # a blank line
                    continue
                if len(cells) != len(header):
                    raise ValueError(
                        f"{path.name}, line {reader.line_num}: {len(cells)} cells, "
                        f"but the header names {len(header)} columns."
                    )
                lines.append(reader.line_num)
                for name, cell in zip(header, cells):
                    columns[name].append(cell)
        except csv.Error as error:
            raise ValueError(f"{path.name}, line {reader.line_num}: {error}.") from None
        except UnicodeDecodeError:
            raise ValueError(_not_text(path)) from None
    return columns, lambda i: f"{path.name}, line {lines[i]}"


def write_csv(columns: Columns, path: Path) -> None:
    rows = [[_as_text(cell) for cell in cells] for cells in zip(*columns.values())]
    # Ending lines in \n alone, the writer sees no reason to quote a cell that holds \r.
    has_return = any("\r" in cell for cells in rows for cell in cells)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL,
        )
        writer.writerow(columns)
        writer.writerows(rows)


def read_jsonl(path: Path):
    columns: Columns = {name: [] for name in COLUMNS}
    lines: list[int] = []
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    answer = json.loads(line)
                    check_column_names(answer if isinstance(answer, dict) else ())
                except (ValueError, RecursionError) as error:
                    raise ValueError(f"{path.name}, line {number}: {error}") from None
                for name in COLUMNS:
                    cell = answer.get(name)
                    if isinstance(cell, list | dict | bool):
                        raise ValueError(f"{path.name}, line {number}: {name} is {cell!r}.")
                    columns[name].append(cell)
                lines.append(number)
    except UnicodeDecodeError:
        raise ValueError(_not_text(path)) from None
    return columns, lambda i: f"{path.name}, line {lines[i]}"


def write_jsonl(columns: Columns, path: Path) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for cells in zip(*columns.values()):
            answer = {
                name: cell.isoformat() if isinstance(cell, datetime) else cell
                for name, cell in zip(columns, cells)
                if cell is not None
            }
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def read_parquet(path: Path):
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path.name} is not a Parquet file that can be read.") from None
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return columns, lambda i: f"{path.name}, row {i + 1}"


def write_parquet(columns: Columns, path: Path) -> None:
    pyarrow, parquet = _pyarrow()
    by_id = any(isinstance(cell, str) for cell in columns["a"])
    point = pyarrow.string() if by_id else pyarrow.int64()
    text = pyarrow.string()
    types = [text, point, point, point, pyarrow.float64(), text, pyarrow.timestamp("us")]
    arrays = [pyarrow.array(cells, type=type_) for cells, type_ in zip(columns.values(), types)]
    parquet.write_table(pyarrow.table(arrays, names=list(columns)), path)


class _Format:
    def __init__(self, read, write):
        self.read, self.write = read, write


_FORMATS = {
    ".csv": _Format(read_csv, write_csv),
    ".jsonl": _Format(read_jsonl, write_jsonl),
    ".parquet": _Format(read_parquet, write_parquet),
}


def _format_of(path: Path) -> _Format:
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"{path.name} must end in one of {', '.join(_FORMATS)}.")
    return _FORMATS[path.suffix.lower()]


def _as_text(cell) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, datetime) else str(cell)


def _not_text(path: Path) -> str:
    return f"{path.name} is not UTF-8 text. Save it as UTF-8."


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'likewise[io]'.") from None
    return pyarrow, pyarrow.parquet
