"""A user's own rows from a file, and cluster labels back to one: CSV, Parquet and NPY.

All columns must be numeric, except an optional ID column. A cell that is not is an error that says
where. Files are written completely or not at all.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

import numpy as np
from numpy.lib import format as npy_format
from sklearn.utils import gen_batches

from likewise.files import table_file
from likewise.files.atomic_file import could_not_write, replacing
from likewise.numerics.rows import LARGEST

ENDINGS = (".csv", ".parquet", ".npy")
CELLS_AT_ONCE = 1_000_000  # of a memory map
ID_COLUMN = "id"  # the row IDs, unless another column is given


class ReadRows(NamedTuple):
    """The rows of a data file."""

    X: np.ndarray  # (n, d) float64, or a memory map of what a .npy file holds
    ids: list[str] | None  # (n,) names of the rows
    feature_names: list[str] | None  # (d,)
    texts: list[str] | None = None  # (n,) what each row says, of a column that is no feature


def read_rows(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    text_column: str | None = None,
) -> ReadRows:
    """Read the rows to cluster from a .csv, .parquet or .npy file.

    Parameters
    ----------
    path : str or path
    id_column : str, default=None
        The column that names the rows; one called "id" is taken when there is one.
    features : sequence of str, default=None
        The columns to use; all but the names and the texts when not given.
    text_column : str, default=None
        A column to keep as text, to show and not to cluster by.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path.name} must end in one of {', '.join(ENDINGS)}.")
    if ending == ".npy":
        if id_column is not None or features or text_column is not None:
            raise ValueError(f"{path.name} has no named columns to choose from.")
        return ReadRows(_read_npy(path), None, None)
    columns = _read_csv(path) if ending == ".csv" else _read_parquet(path)
    if id_column is None and ID_COLUMN in columns:
        id_column = ID_COLUMN
    ids = None if id_column is None else _column(columns, id_column, path)
    texts = None if text_column is None else _column(columns, text_column, path)
    others = (name for name in columns if name not in (id_column, text_column))
    names = list(features) if features else list(others)
    if not names:
        raise ValueError(f"{path.name} has no column of numbers.")
    X = np.stack([_numbers(_column(columns, name, path), name, path) for name in names], axis=1)
    return ReadRows(X, as_ids(ids, id_column, path), names, _as_texts(texts, text_column, path))


def check_output_path(path: str | os.PathLike) -> None:
    """An ending that can be written, in a folder that is there; "-" is stdout."""
    check_ending(path, ENDINGS)


def check_ending(path: str | os.PathLike, endings: Sequence[str]) -> None:
    """One of the endings, in a folder that is there; "-" is stdout."""
    if str(path) == "-":
        return
    path = Path(path)
    if path.suffix.lower() not in endings:
        raise ValueError(f"{path.name} must end in one of {', '.join(endings)}.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path.parent} does not exist. Create the folder first.")


def write_records(path: str | os.PathLike, records: list[dict], document: dict) -> None:
    """Write records to .csv, or a whole document to .json; "-" is CSV on stdout."""
    check_ending(path, (".csv", ".json"))
    columns = {name: [str(one[name]) for one in records] for name in (records or [{}])[0]}
    if str(path) == "-":
        with _stdout() as file:
            table_file.write_csv(columns, file)
        return
    with replacing(Path(path)) as temporary, open(temporary, "w", encoding="utf-8") as file:
        if Path(path).suffix.lower() == ".json":
            json.dump(document, file, indent=1)
        else:
            table_file.write_csv(columns, file)


def write_clusters(path: str | os.PathLike, labels: np.ndarray, ids: Sequence[str] | None) -> None:
    """Write a cluster for every row to .csv, .parquet or .npy; "-" is CSV on stdout."""
    check_output_path(path)
    names = np.arange(len(labels)) if ids is None else list(ids)
    key = "row" if ids is None else ID_COLUMN
    if str(path) == "-":
        with _stdout() as file:
            _write_csv(file, key, names, labels)
        return
    path = Path(path)
    ending = path.suffix.lower()
    with replacing(path) as temporary:
        if ending == ".csv":
            with open(temporary, "w", newline="", encoding="utf-8") as file:
                _write_csv(file, key, names, labels)
        elif ending == ".npy":
            with open(temporary, "wb") as file:
                write_npy(file, labels)
        else:
            pyarrow, parquet = table_file.import_pyarrow()
            with open(temporary, "wb") as file:
                parquet.write_table(pyarrow.table({key: names, "cluster": labels}), file)


def write_npy(file: BinaryIO, array: np.ndarray) -> None:
    """An array to an open .npy file. ``np.save`` can cut it short on a full drive and say nothing:
    it copies to a C stream and does not look at what closing that one returns."""
    array = np.ascontiguousarray(array)
    write_npy_header(file, array.shape, array.dtype)
    file.write(array.data)


def write_npy_header(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """What stands before the rows; they follow in C order."""
    descr = npy_format.dtype_to_descr(dtype)
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    npy_format.write_array_header_1_0(file, header)


@contextmanager
def _stdout() -> Iterator[TextIO]:
    """stdout, flushed at the end: a full drive shows now, not when the interpreter ends."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise could_not_write("stdout", error) from error


def _read_csv(path: Path) -> dict[str, list]:
    columns, lines = table_file.read_csv(path)
    if not lines:
        raise ValueError(f"{path.name} has a header and no rows.")
    return columns


def _read_parquet(path: Path) -> dict[str, list]:
    columns = table_file.read_parquet(path, lambda column: column.to_numpy())
    if not any(len(cells) for cells in columns.values()):
        raise ValueError(f"{path.name} has no rows.")
    return columns


def _read_npy(path: Path) -> np.ndarray:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception:  # its header is Python text: a broken one raises whatever the tokenizer does
        raise ValueError(f"{path.name} is not a .npy file of numbers.") from None
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
        raise ValueError(f"{path.name} contains {X.dtype} of shape {X.shape}, not rows of numbers.")
    for block in gen_batches(len(X), max(1, CELLS_AT_ONCE // X.shape[1])):
        for row, column in np.argwhere(~_is_usable(X[block]))[:1]:
            cell = X[block][row, column]
            raise ValueError(
                f"{path.name}, row {block.start + row}: column {column} is {cell}, "
                f"{_what_is_wrong(cell)}. Fill it, or drop the row."
            )
    return X


def _column(columns: dict[str, list], name: str, path: Path) -> list:
    if name not in columns:
        raise ValueError(f"{path.name} has no column {name!r}; it has {', '.join(columns)}.")
    return columns[name]


def _numbers(cells: list, name: str, path: Path) -> np.ndarray:
    """A column as float64, or an error that names the first cell that is no finite number."""
    try:
        numbers = _as_floats(cells)
        wrong = np.flatnonzero(~_is_usable(numbers))
    except (TypeError, ValueError):
        wrong = np.array([i for i, cell in enumerate(cells) if not _is_number(cell)])
    if len(wrong):
        cell = cells[wrong[0]]
        raise ValueError(
            f"{path.name}, row {wrong[0]}: {name} is {cell!r}, {_what_is_wrong(cell)}. "
            "Fill it, drop the row, or name the columns to use with --features."
        )
    return numbers


def _as_floats(cells: list | np.ndarray) -> np.ndarray:
    is_plain = (
        cells.dtype.kind in "fiub"
        if isinstance(cells, np.ndarray)
        else not table_file.is_for_python("".join(cells))
    )
    if is_plain:
        return np.asarray(cells, dtype=np.float64)
    return np.array([table_file.parse_number(cell) for cell in cells], dtype=np.float64)


def _is_usable(numbers: np.ndarray) -> np.ndarray:
    """Where the numbers are finite, and small enough to be squared."""
    largest = float(np.finfo(numbers.dtype).max) if numbers.dtype.kind == "f" else LARGEST
    return np.abs(numbers) <= min(largest, LARGEST)  # float32 does not reach that far


def _what_is_wrong(cell) -> str:
    return f"more than {LARGEST:g}" if _is_number(cell) else "not a number"


def as_ids(cells: list | None, name: str | None, path: Path) -> list[str] | None:
    """The names of the rows as text, or one error that says which row has none."""
    ids = _as_texts(cells, name, path)
    for row, text in enumerate(ids or ()):
        if not text:
            raise ValueError(f"{path.name}, row {row}: {name} is empty. Name the row, or drop it.")
    return ids


def _as_texts(cells: list | None, name: str | None, path: Path) -> list[str] | None:
    """Each cell as text, "" where it is missing."""
    if cells is None:
        return None
    texts = []
    for row, cell in enumerate(cells):
        try:
            texts.append(table_file.id_text(cell))
        except ValueError as error:
            raise ValueError(f"{path.name}, row {row}: {name} is {error}.") from None
    return texts


def _is_number(cell) -> bool:
    try:
        return bool(np.isfinite(table_file.parse_number(cell)))
    except (TypeError, ValueError):
        return False


def _write_csv(file, key: str, names: Sequence | np.ndarray, labels: np.ndarray) -> None:
    cells = {key: list(map(str, names)), "cluster": list(map(str, labels.tolist()))}
    table_file.write_csv(cells, file)
