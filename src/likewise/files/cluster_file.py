"""Clusters and records to a file or to stdout: completely, or not at all."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np
from numpy.lib import format as npy_format

from likewise.files.arrow_file import import_pyarrow
from likewise.files.atomic_file import could_not_write, replacing
from likewise.files.row_file import ID_COLUMN
from likewise.files.table_file import write_csv

ENDINGS = (".csv", ".parquet", ".npy")  # of clusters that are written
CLUSTER, CLUSTER_NAME = "cluster", "cluster name"  # columns that are written


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
            write_csv(columns, file)
        return
    with replacing(Path(path)) as temporary, open(temporary, "w", encoding="utf-8") as file:
        if Path(path).suffix.lower() == ".json":
            json.dump(document, file, indent=1)
        else:
            write_csv(columns, file)


def write_clusters(
    path: str | os.PathLike,
    labels: np.ndarray,
    ids: Sequence | np.ndarray | None,
    id_column: str | None = None,
    cluster_names: Sequence[str] = (),
) -> None:
    """Write a cluster for every row to .csv, .parquet or .npy; "-" is CSV on stdout.

    Names of rows keep the name of their column, and in Parquet their type. Names of clusters, where
    there are any, stand in a column of their own; .npy holds numbers alone.
    """
    check_output_path(path)
    names = np.arange(len(labels)) if ids is None else ids
    key = "row" if ids is None else id_column or ID_COLUMN
    key = ID_COLUMN if key in (CLUSTER, CLUSTER_NAME) else key  # two columns of one name
    columns = {key: names, CLUSTER: labels}
    if any(cluster_names):
        named = np.array([*cluster_names, ""], dtype=object)  # -1, a row without one, is the last
        columns[CLUSTER_NAME] = named[labels]
    if str(path) == "-":
        with _stdout() as file:
            _write_csv(file, columns)
        return
    path = Path(path)
    ending = path.suffix.lower()
    with replacing(path) as temporary:
        if ending == ".csv":
            with open(temporary, "w", newline="", encoding="utf-8") as file:
                _write_csv(file, columns)
        elif ending == ".npy":
            with open(temporary, "wb") as file:
                write_npy(file, labels)
        else:
            pyarrow, parquet = import_pyarrow()
            arrays = [pyarrow.array(cells) for cells in columns.values()]
            with open(temporary, "wb") as file:
                parquet.write_table(pyarrow.table(arrays, names=list(columns)), file)


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


def _write_csv(file, columns: dict) -> None:
    cells = {name: list(map(str, np.asarray(cells).tolist())) for name, cells in columns.items()}
    write_csv(cells, file)
