"""Answer files and frames: CSV, JSON Lines, Parquet, pandas, polars and pyarrow.

One row per answer; table.py has the columns.

Files are read completely or not at all: a malformed line is an error with its number. They are
written to a temporary file and moved into place, so stopping leaves the old file or the new one.
"""

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from likewise.constraints.table import COLUMNS
from likewise.files import arrow_file, table_file
from likewise.files.atomic_file import replacing
from likewise.files.json_rows import read_json_rows
from likewise.files.table_file import Columns

Backend = Literal["pandas", "polars", "pyarrow"]  # of data frames
Place = Callable[[int], str]  # where the i-th answer stands


def read_columns(path: str | os.PathLike) -> tuple[Columns, Place]:
    """The cells of an answer file, and where the i-th answer stands in it."""
    path = Path(path)
    plain = Path(path.stem) if path.suffix.lower() == ".gz" else path
    if plain.suffix.lower() in _OTHERS_READ:
        return _OTHERS_READ[plain.suffix.lower()](path)
    read, _ = _format_of(plain)
    return read(path)


def write_columns(columns: Columns, path: str | os.PathLike) -> None:
    """Write an answer file; its extension gives the format."""
    path = Path(path)
    _, write = _format_of(path)
    with replacing(path) as temporary:
        write(columns, temporary)


def read_frame(frame) -> tuple[Columns, Place]:
    """The cells of a pandas, polars or pyarrow table."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(frame, eager_only=True)
    columns = {name: frame.get_column(name).to_list() for name in frame.columns}
    return columns, lambda i: f"row {i} of the frame"


def write_frame(columns: Columns, backend: Backend):
    """The cells as a dataframe of that library."""
    import narwhals.stable.v1 as nw

    if backend not in get_args(Backend):
        known = ", ".join(get_args(Backend))
        raise ValueError(f"backend={backend!r} is unknown. Use one of {known}.")
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError:
        raise ImportError(f"{backend} is not installed: pip install {backend}.") from None


def read_csv(path: Path) -> tuple[Columns, Place]:
    columns, lines = table_file.read_csv(path)
    return columns, lambda i: f"{path.name}, line {lines[i]}"


def write_csv(columns: Columns, path: Path) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        texts = {name: [_as_text(cell) for cell in cells] for name, cells in columns.items()}
        table_file.write_csv(texts, file)


def read_jsonl(path: Path) -> tuple[Columns, Place]:
    answers, lines = table_file.read_json_lines(path)
    return _columns_of(answers, path.name, "line", lines)


def _columns_of(
    answers: list[dict], file: str, what: str, places: list[int] | None
) -> tuple[Columns, Place]:
    """The cells of objects, each a single value."""

    def place(i: int) -> str:
        return f"{file}, {what} {i if places is None else places[i]}"

    for i, answer in enumerate(answers):
        for name, cell in answer.items():
            if isinstance(cell, list | dict | bool):
                raise ValueError(f"{place(i)}: {name} is {cell!r}.")
    names = dict.fromkeys(name for answer in answers for name in answer)
    columns = {name: [answer.get(name) for answer in answers] for name in names or COLUMNS}
    return columns, place


def write_jsonl(columns: Columns, path: Path) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for cells in zip(*columns.values()):
            answer = {
                name: cell.isoformat() if isinstance(cell, datetime) else cell
                for name, cell in zip(columns, cells)
                if cell is not None
            }
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def read_json(path: Path) -> tuple[Columns, Place]:
    """A list of objects, or JSON Lines under another name."""
    answers, lines = read_json_rows(path)
    return _columns_of(answers, path.name, "row" if lines is None else "line", lines)


def read_parquet(path: Path) -> tuple[Columns, Place]:
    columns = arrow_file.read_parquet(path, lambda column: column.to_pylist())
    return columns, lambda i: f"{path.name}, row {i + 1}"


def write_parquet(columns: Columns, path: Path) -> None:
    pyarrow, parquet = arrow_file.import_pyarrow()
    by_id = any(isinstance(cell, str) for cell in columns["a"])
    point = pyarrow.string() if by_id else pyarrow.int64()
    text = pyarrow.string()
    number, time = pyarrow.float64(), pyarrow.timestamp("us")
    types = [text, point, point, point, number, text, time, text, number]
    arrays = [pyarrow.array(cells, type=type_) for cells, type_ in zip(columns.values(), types)]
    with open(path, "wb") as file:
        parquet.write_table(pyarrow.table(arrays, names=list(columns)), file)


_FORMATS = {
    ".csv": (read_csv, write_csv),
    ".jsonl": (read_jsonl, write_jsonl),
    ".parquet": (read_parquet, write_parquet),
}

_OTHERS_READ = {".tsv": read_csv, ".json": read_json, ".ndjson": read_jsonl}


def _format_of(path: Path):
    if path.suffix.lower() not in _FORMATS:
        is_log = path.suffix.lower() == ".log"
        way_out = " Name the .csv that likewise ask and the studio save, too." if is_log else ""
        raise ValueError(f"{path.name} must end in one of {', '.join(_FORMATS)}.{way_out}")
    return _FORMATS[path.suffix.lower()]


def _as_text(cell) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, datetime) else str(cell)
