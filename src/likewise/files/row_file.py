"""A user's own rows from a file.

Rows come from CSV (with any delimiter), JSON Lines, Parquet, Feather, NPY and stdin, gzipped or
not. A table of mixed columns is a `CellTable`; where numbers are needed, all cells that are none
are listed with their places. What is written is in cluster_file.py.
"""

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from likewise.files.arrow_file import FEATHER, arrow_cells, read_parquet
from likewise.files.cell_table import CellTable, Place, as_cells, without_columns
from likewise.files.cell_values import id_text, parse_number
from likewise.files.column_types import (
    CellProblems,
    as_kind,
    collect_problems,
    describe_problem,
    is_no_value,
)
from likewise.files.folder_rows import IMAGE_ENDINGS
from likewise.files.json_rows import read_json_rows
from likewise.files.near_names import did_you_mean
from likewise.files.problem_list import listed
from likewise.files.table_file import TextTable, read_text_table
from likewise.files.text_source import file_name
from likewise.numerics.rows import LARGEST

STDIN = "-"  # in the place of a path
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
TEXT_ENDINGS = (".csv", ".tsv", *JSON_ENDINGS)  # each of them also with .gz
INSTEAD = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "Save the sheet as CSV."),
    **dict.fromkeys(IMAGE_ENDINGS, "Name the folder that the images are in."),
    ".zip": "Unzip it.",
    ".txt": "Rename a table to .csv; texts go into a folder, one file each.",
}
TABLE_ENDINGS = (*TEXT_ENDINGS, ".parquet", *FEATHER)
TOTALS = ("total", "totals", "sum", "grand total", "average", "mean", "summe", "gesamt")
CELLS_AT_ONCE = 1_000_000  # of a memory map
ID_COLUMN = "id"  # the row IDs, unless another column is given
WAY_OUT = "Fill them, drop the rows, or name the columns to use with --features."


class ReadRows(NamedTuple):
    """The rows of a data file as numbers."""

    X: np.ndarray  # (n, d) float64, or a memory map of what a .npy file holds
    ids: list[str] | None  # (n,) names of the rows
    feature_names: list[str] | None  # (d,)
    texts: list[str] | None = None  # (n,) what each row says, of a column that is no feature
    id_column: str | None = None  # where the names come from
    id_cells: np.ndarray | None = None  # (n,) the names as the file has them, of their own type


class NamedTable(NamedTuple):
    """The rows of a data file as they are."""

    table: CellTable  # without the column of names, and without the texts to show
    ids: list[str] | None  # (n,) names of the rows
    id_column: str | None
    id_cells: np.ndarray | None  # (n,) the names as the file has them, of their own type
    texts: list[str] | None  # (n,) what each row says, of a column that is no feature


def read_table(path: str | os.PathLike) -> CellTable:
    """Read all columns of a file of rows; "-" is CSV or JSON Lines on stdin."""
    if str(path) == STDIN:
        content = sys.stdin.buffer.read()
        source: Path | BytesIO = BytesIO(content)
        ending = _ending_by_content(content[:64])
    else:
        source, ending = Path(path), ending_of(path)
    name = file_name(source)
    if ending in (".parquet", *FEATHER):
        columns = read_parquet(source, arrow_cells)
        n_rows = len(next(iter(columns.values()), ()))
        if not n_rows:
            raise ValueError(f"{name} has no rows.")
        return CellTable(columns, n_rows, row_places(name))
    if ending in JSON_ENDINGS:
        records, lines = read_json_rows(source)
        if not records:
            raise ValueError(f"{name} has no rows.")
        names = dict.fromkeys(str(key) for record in records for key in record)
        cells = {key: as_cells([record.get(key) for record in records]) for key in names}
        place = row_places(name) if lines is None else _by_line(name, lines)
        return CellTable(cells, len(records), place)
    if ending not in (".csv", ".tsv"):
        known = ", ".join((*TABLE_ENDINGS, ".npy"))
        way_out = INSTEAD.get(ending, "Rename a table of text to .csv; it may be gzipped, .csv.gz.")
        raise ValueError(f"{name} must end in one of {known}. {way_out}")
    text = read_text_table(source)
    if not text.lines:
        raise ValueError(f"{name} has a header and no rows.")
    if words := words_by_spaces(text):
        raise ValueError(
            f"{name}: its {words} columns are set apart by spaces. Save it with commas or tabs."
        )
    if all(map(_is_number, text.columns)) or any(_is_number(k) and "." in k for k in text.columns):
        warnings.warn(
            f"{name}: the first line has numbers, and is taken for the names of the columns. If "
            "it is a row, put a line with names before it.",
            UserWarning,
            stacklevel=2,
        )
    if place_of_total := find_total(text):
        warnings.warn(
            f"{name}, {place_of_total} looks like the sum of the rows above, and is taken for a "
            "row like them. Delete it if it is none.",
            UserWarning,
            stacklevel=2,
        )
    columns = {key: as_cells(cells) for key, cells in text.columns.items()}
    notation = "," if text.delimiter == ";" else ""
    place = _by_line(name, text.lines)
    return CellTable(columns, len(text.lines), place, notation=notation)


def find_total(text: TextTable) -> str:
    """The line of a last row that sums up the others, and its word; "" where there is none."""
    for cells in text.columns.values():
        word = cells[-1].strip().rstrip(":").lower()
        if word:
            is_total = word in TOTALS and cells.count(cells[-1]) == 1 and len(cells) > 1
            return f"line {text.lines[-1]}: {cells[-1]!r}" if is_total else ""
    return ""


def words_by_spaces(text: TextTable) -> int:
    """The columns of a table that spaces set apart: as many words in each line, and numbers."""
    if len(text.columns) != 1:
        return 0
    ((header, cells),) = text.columns.items()
    n_words = len(header.split())
    lines = [cell.split() for cell in cells]
    is_alike = n_words > 1 and all(len(words) == n_words for words in lines)
    return n_words if is_alike and all(any(map(_is_number, words)) for words in lines) else 0


def read_named_table(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    text_column: str | None = None,
    usual_ids: Sequence[str] = (ID_COLUMN,),
) -> NamedTable:
    """Read a table, and set apart the column that names the rows, and one of texts to show.

    Parameters
    ----------
    path : str or path
        Or "-", for stdin.
    id_column : str, default=None
        The column that names the rows.
    text_column : str, default=None
        A column to keep as text, to show and not to cluster by.
    usual_ids : sequence of str, default=("id",)
        Without an ``id_column``, the first of these that is there.
    """
    table, file = read_table(path), _file_name(path)
    if id_column is None:
        id_column = next((name for name in usual_ids if name in table.columns), None)
    id_cells = None if id_column is None else _column(table, id_column, file)
    texts = None if text_column is None else _column(table, text_column, file)
    return NamedTable(
        without_columns(table, id_column, text_column),
        as_ids(id_cells, None if id_column is None else table.place(id_column)),
        id_column,
        id_cells,
        _as_texts(texts, text_column, file),
    )


def read_rows(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    text_column: str | None = None,
    usual_ids: Sequence[str] = (ID_COLUMN,),
) -> ReadRows:
    """Read rows of numbers: from a .npy file, or from columns of numbers without a gap.

    Parameters
    ----------
    path : str or path
        Or "-", for stdin.
    id_column : str, default=None
        The column that names the rows.
    features : sequence of str, default=None
        The columns to use; all but the names and the texts when not given.
    text_column : str, default=None
        A column to keep as text, to show and not to cluster by.
    usual_ids : sequence of str, default=("id",)
        Without an ``id_column``, the first of these that is there.
    """
    file = _file_name(path)
    if ending_of(path) == ".npy":
        if id_column is not None or features or text_column is not None:
            raise ValueError(f"{file} has no named columns to choose from.")
        return ReadRows(_read_npy(Path(path)), None, None)
    named = read_named_table(
        path, id_column=id_column, text_column=text_column, usual_ids=usual_ids
    )
    names = list(features) if features else list(named.table.columns)
    if not names:
        raise ValueError(f"{file} has no column of numbers.")
    cells = [_column(named.table, name, file) for name in names]
    pieces = [partial(_numbers, one, name, named.table) for one, name in zip(cells, names)]
    X = np.stack(collect_problems(pieces), axis=1)
    return ReadRows(X, named.ids, names, named.texts, named.id_column, named.id_cells)


def ending_of(path: str | os.PathLike) -> str:
    """The ending of a file without .gz, in small letters."""
    path = Path(path)
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _file_name(path: str | os.PathLike) -> str:
    return "stdin" if str(path) == STDIN else Path(path).name


def _ending_by_content(start: bytes) -> str:
    """What stands on stdin: Parquet and JSON Lines begin as nothing else does."""
    if start.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if start.lstrip(b"\xef\xbb\xbf \r\n").startswith((b"{", b"[")) else ".csv"


def _by_line(file: str, lines: list[int]) -> Callable[[str], Place]:
    return partial(partial, _line_place, file, lines)  # can be pickled, for another process


def _line_place(file: str, lines: list[int], column: str, i: int) -> str:
    return f"{file}, line {lines[i]}, column {column}"


def row_places(file: str) -> Callable[[str], Place]:
    """Where cells stand in a file whose rows have no lines."""
    return partial(partial, _row_place, file)


def _row_place(file: str, column: str, i: int) -> str:
    return f"{file}, row {i}, column {column}"


def _read_npy(path: Path) -> np.ndarray:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception:  # its header is Python text: a broken one raises whatever the tokenizer does
        raise ValueError(f"{path.name} is not a .npy file of numbers.") from None
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
        way_out = ""
        if X.ndim != 2 and X.size and X.dtype.kind in "fiub":
            shape = (len(X), X.size // len(X)) if X.ndim else (1, 1)
            way_out = f" Save it as X.reshape{shape}."
        raise ValueError(
            f"{path.name} contains {X.dtype} of shape {X.shape}, not rows of numbers.{way_out}"
        )
    first, n_wrong = "", 0
    for block in gen_batches(len(X), max(1, CELLS_AT_ONCE // X.shape[1])):
        wrong = np.argwhere(~_is_usable(X[block]))
        n_wrong += len(wrong)
        if len(wrong) and not first:
            row, column = wrong[0]
            cell = X[block][row, column]
            first = f"row {block.start + row}: column {column} is {cell}, {_what_is_wrong(cell)}"
    if first:
        more = f", and so are {n_wrong - 1} more of {X.size} cells" if n_wrong > 1 else ""
        raise ValueError(
            f"{path.name}, {first}{more}. Fill them, drop the rows, or save a table as CSV or "
            "Parquet, whose gaps are filled."
        )
    return X


def _column(table: CellTable, name: str, file: str) -> np.ndarray:
    if name not in table.columns:
        raise ValueError(f"{file} has no column {name!r}{did_you_mean(name, table.columns)}")
    return table.columns[name]


def _numbers(cells: np.ndarray, name: str, table: CellTable) -> np.ndarray:
    """A column as float64 (n,), or an error that names all cells that are no finite number."""
    place = table.place(name)
    if cells.dtype.kind in "bmM":  # a number to a program, and to nobody else
        problems = [f"{place(0)}: the column holds {cells.dtype}, not numbers"]
        raise CellProblems(problems, WAY_OUT)
    problems = []
    try:
        numbers = as_kind(cells, "number", place, notation=table.notation).astype(np.float64)
        gaps = np.isnan(numbers)
    except TypeError:  # lists
        raise CellProblems([describe_problem(place(0), cells[0], "number")], WAY_OUT) from None
    except CellProblems as error:
        problems = error.problems
        gaps = np.array([is_no_value(cell) for cell in cells.tolist()], dtype=bool)
    for i in np.flatnonzero(gaps).tolist():
        problems.append(describe_problem(place(i), cells[i], "number"))
    if problems:
        raise CellProblems(problems, WAY_OUT)
    return numbers


def _is_usable(numbers: np.ndarray) -> np.ndarray:
    """Where the numbers are finite, and small enough to be squared."""
    largest = float(np.finfo(numbers.dtype).max) if numbers.dtype.kind == "f" else LARGEST
    return np.abs(numbers) <= min(largest, LARGEST)  # float32 does not reach that far


def _what_is_wrong(cell) -> str:
    return f"more than {LARGEST:g}" if _is_number(cell) else "not a number"


def as_ids(cells: Sequence | np.ndarray | None, place: Place | None) -> list[str] | None:
    """The names of the rows as text, or one error that says which rows have none."""
    if cells is None or place is None:
        return None
    ids, problems = [], []
    for row, cell in enumerate(cells):
        try:
            ids.append(id_text(cell))
            if not ids[-1]:
                problems.append(f"{place(row)}: no name of the row")
        except ValueError as error:
            problems.append(f"{place(row)}: {error}")
    if problems:
        raise ValueError(f"{listed(problems)}. Name the rows, or drop them.")
    return ids


def check_ids_differ(ids: Sequence[str], place: Place) -> None:
    """One error that lists all rows whose name an earlier row has."""
    first: dict[str, int] = {}
    problems = []
    for row, text in enumerate(ids):
        if first.setdefault(text, row) != row:
            problems.append(f"{place(row)}: {text!r} names {short_place(place, first[text])} too")
    if problems:
        raise ValueError(
            f"{listed(problems)}. Rows need names of their own: choose another column "
            "(--id-column), or rename this one if it holds something else."
        )


def short_place(place: Place, row: int) -> str:
    """The line of a row, without the file and the column."""
    return place(row).split(", ")[1]


def _as_texts(cells: Sequence | np.ndarray | None, name: str | None, file: str) -> list[str] | None:
    """Each cell as text, "" where it is missing."""
    if cells is None:
        return None
    texts = []
    for row, cell in enumerate(cells):
        try:
            texts.append(id_text(cell))
        except ValueError as error:
            raise ValueError(f"{file}, row {row}: {name} is {error}.") from None
    return texts


def _is_number(cell) -> bool:
    try:
        return bool(np.isfinite(parse_number(cell)))
    except (TypeError, ValueError):
        return False
