"""Columns of cells in CSV and Parquet files: what answer files and data files share.

A file that cannot be read is one ``ValueError`` that names it and the line.
"""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, list]


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


def read_csv(path: Path) -> tuple[Columns, list[int]]:
    """The cells of each column as text, and the line each row ends on; blank lines are no rows."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            if not header:
                raise ValueError(f"{path.name} is empty: its first line must name the columns.")
            if len(set(header)) < len(header):
                raise ValueError(f"{path.name}, line 1: a column is named twice.")
            columns: Columns = {name: [] for name in header}
            lines = []
            for cells in reader:
                if cells and len(cells) != len(header):
                    raise ValueError(
                        f"{path.name}, line {reader.line_num}: {len(cells)} cells, "
                        f"but the header names {len(header)} columns."
                    )
                for name, cell in zip(header, cells):
                    columns[name].append(cell)
                if cells:
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise ValueError(f"{path.name}, line {reader.line_num}: {error}.") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path.name} is not UTF-8 text. Save it as UTF-8.") from None
    return columns, lines


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


def read_parquet(path: Path, convert: Callable[[Any], Any]) -> dict[str, Any]:
    """What `convert` makes of each column of the file, a pyarrow array in chunks."""
    pyarrow, parquet = import_pyarrow()
    try:
        table = parquet.read_table(path)
        table.validate(full=True)  # text that is no UTF-8, offsets that point outside
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError, MemoryError, OverflowError, ValueError):
        raise ValueError(f"{path.name} is not a Parquet file that can be read.") from None
    columns = {}
    for name in table.column_names:
        try:
            columns[name] = convert(table[name])
        except (pyarrow.ArrowException, OverflowError, ValueError, TypeError, MemoryError):
            raise ValueError(
                f"{path.name}: column {name!r} holds {table[name].type} that cannot be read. "
                "Drop it, or turn it to text or numbers."
            ) from None
    return columns


def import_pyarrow():
    """pyarrow and its Parquet module, or the line that installs them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'likewise[io]'.") from None
    return pyarrow, pyarrow.parquet
