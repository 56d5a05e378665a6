"""Parquet data sets in blocks: a file, a folder of files, or a pattern; a block is a row group.

Files are taken in the order of their paths, below folders too, and names that begin with "_" or "."
are passed over, as every engine that writes such folders does. Files of one data set must agree in
the columns that are used. Columns that stand in the names of folders (``year=2024/``) are not read.
"""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likewise.files.arrow_file import import_pyarrow
from likewise.files.near_names import did_you_mean

PATTERN = ("*", "?", "[")
OTHERS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".gz", ".feather", ".arrow", ".xlsx", ".xls")


class ParquetSet(NamedTuple):
    """The row groups of a data set, none of them read."""

    name: str
    kinds: dict[str, Any]  # the type of each column that is used, by its name
    parts: list[tuple[Path, int, int]]  # file, row group, number of its first row
    bounds: np.ndarray  # (n_parts + 1,)
    n_gaps: dict[str, int]  # cells without a value, where files say how many they have


def is_parquet(path: str | os.PathLike) -> bool:
    """Whether a path names Parquet: by its ending, or since it is a folder."""
    return Path(path).suffix.lower() == ".parquet" or Path(path).is_dir()


def parquet_files(path: str | os.PathLike) -> list[Path]:
    """The files of a data set, ascending."""
    source = Path(path)
    if source.is_dir():
        found = [
            file
            for file in sorted(source.rglob("*.parquet"))
            if not any(p.startswith(("_", ".")) for p in file.relative_to(source).parts)
        ]
        if not found:
            raise ValueError(f"{source.name} is a folder without .parquet files.")
        return found
    if not source.exists() and any(sign in os.fspath(path) for sign in PATTERN):
        found = [Path(name) for name in sorted(glob.glob(os.fspath(path), recursive=True))]
        if not found:
            raise FileNotFoundError(f"No file matches {os.fspath(path)!r}.")
        return found
    if source.suffix.lower() in OTHERS:
        raise ValueError(
            f"{source.name} is not .parquet or .npy. Read it first, by pandas for example, and "
            "pass the dataframe; on the command line it is likewise cluster."
        )
    return [source]


def open_parquet(path: str | os.PathLike, columns: Sequence[str] | None = None) -> ParquetSet:
    """The row groups of a data set and the types of its columns; None takes all columns."""
    _, parquet = import_pyarrow()
    files, parts, bounds = parquet_files(path), [], [0]
    kinds: dict[str, Any] = {}
    gaps: dict[str, int] = {}
    for file in files:
        with parquet.ParquetFile(file) as opened:
            here = {field.name: field.type for field in opened.schema_arrow}
            names = list(here if columns is None and not kinds else columns or kinds)
            for name in names:
                if name not in here:
                    raise ValueError(
                        f"{file.name} has no column {name!r}{did_you_mean(name, here)}"
                    )
                if kinds and kinds[name] != here[name] and name in kinds:
                    raise ValueError(
                        f"{file.name}: column {name!r} has type {here[name]}, and in "
                        f"{files[0].name} it has {kinds[name]}. Write them alike."
                    )
            kinds = kinds or {name: here[name] for name in names}
            for group in range(opened.num_row_groups):
                described = opened.metadata.row_group(group)
                if not described.num_rows:
                    continue
                parts.append((file, group, bounds[-1]))
                bounds.append(bounds[-1] + described.num_rows)
                _count_gaps(described, gaps)
    name = Path(path).name
    if not kinds or not parts:
        raise ValueError(f"{name} has no rows of numbers.")
    used = {name: gaps.get(name, 0) for name in kinds}
    return ParquetSet(name, kinds, parts, np.array(bounds, dtype=np.int64), used)


def _count_gaps(row_group, gaps: dict[str, int]) -> None:
    for j in range(row_group.num_columns):
        column = row_group.column(j)
        if column.is_stats_set and column.statistics.has_null_count:
            name = column.path_in_schema.split(".")[0]
            gaps[name] = gaps.get(name, 0) + column.statistics.null_count


def is_number(kind) -> bool:
    """Whether a column of this Arrow type has numbers."""
    pyarrow, _ = import_pyarrow()
    return pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)


def check_numbers(opened: ParquetSet) -> np.dtype:
    """The float type of all columns together, or one error that names a column of something else.

    A column of vectors, all of one length, is as many features: it must be the only one.
    """
    pyarrow, _ = import_pyarrow()
    kinds = list(opened.kinds.values())
    if len(kinds) == 1 and pyarrow.types.is_fixed_size_list(kinds[0]):
        kinds = [kinds[0].value_type]
    for name, kind in zip(opened.kinds, kinds):
        if not is_number(kind):
            raise ValueError(f"{opened.name}: column {name!r} has type {kind}, not numbers.")
    is_single = all(kind == pyarrow.float32() for kind in kinds)
    return np.dtype(np.float32 if is_single else np.float64)


def count_features(opened: ParquetSet) -> int:
    """Numbers in a row."""
    pyarrow, _ = import_pyarrow()
    kind = next(iter(opened.kinds.values()))
    return kind.list_size if pyarrow.types.is_fixed_size_list(kind) else len(opened.kinds)


def read_group(place, columns: Sequence[str]):
    """One row group as a pyarrow table."""
    file, group, _ = place
    _, parquet = import_pyarrow()
    with parquet.ParquetFile(file) as opened:
        if group >= opened.num_row_groups:
            raise ValueError(f"{file.name} has changed since it was opened. Open it again.")
        return opened.read_row_group(group, columns=list(columns), use_threads=False)


def as_numbers(table, dtype: np.dtype) -> np.ndarray:
    """The columns of a pyarrow table side by side, or its one column of vectors."""
    pyarrow, _ = import_pyarrow()
    first = table.schema.field(0).type
    if pyarrow.types.is_fixed_size_list(first):
        flat = table.column(0).combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return np.ascontiguousarray(flat.reshape(table.num_rows, first.list_size), dtype=dtype)
    rows = np.empty((table.num_rows, table.num_columns), dtype)
    for j, column in enumerate(table.columns):
        rows[:, j] = column.to_numpy()
    return rows
