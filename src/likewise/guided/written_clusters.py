"""Clusters of many rows written as a Parquet data set, part by part, and gone on with after a kill.

    folder/part-00000.parquet ...   each of about a million rows, in the order of the rows
    folder/_likewise.json           what they were made by; engines that read such folders skip it

A part is there completely or not at all. Called again with the same model and rows, only the parts
that are missing are made; a folder of other work is refused.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from likewise.files.arrow_file import import_pyarrow
from likewise.files.atomic_file import replacing
from likewise.files.cell_table import CellTable
from likewise.guided.batched_rows import CLUSTER, MEMBERSHIP
from likewise.progress import track
from likewise.scale import Blocks, as_blocks, fingerprint_of, has_columns, is_blockwise
from likewise.scale import table_blocks as blocks_of_table

PART_ROWS = 2**20
NOTE = "_likewise.json"
ROW = "row"


def write_clusters(
    model,
    X,
    folder: str | os.PathLike,
    *,
    keep: Sequence[str] = (),
    memberships: bool = False,
    client=None,
    n_jobs: int | None = None,
) -> Path:
    """Write the cluster of each row, with kept columns or its number before it."""
    pyarrow, parquet = import_pyarrow()
    blocks = open_blocks(model, X, client)
    if len(keep) and blocks.dtype != np.dtype(object):
        raise ValueError("Only columns of Parquet or a dataframe can be kept. Leave keep out.")
    folder = Path(folder)
    if folder.suffix or folder.is_file():
        raise ValueError(f"{os.fspath(folder)!r} must be a folder: it gets a file per part.")
    folder.mkdir(parents=True, exist_ok=True)
    check_note(folder, note_of(model, blocks, keep, memberships))
    work = partial(clusters_of, model=model, keep=tuple(keep), memberships=memberships)
    parts = list(part_bounds(blocks.bounds))
    for number, (first, last) in enumerate(track(parts, "writing clusters")):
        path = folder / f"part-{number:05d}.parquet"
        if path.exists():
            continue
        few = replace(
            blocks,
            parts=blocks.parts[first:last],
            bounds=blocks.bounds[first : last + 1] - blocks.bounds[first],
        )
        tables = list(few.run(work, what="assigning rows", n_jobs=n_jobs))
        table = pyarrow.concat_tables(tables)
        if not len(keep):
            start = int(blocks.bounds[first])
            numbers = pyarrow.array(np.arange(start, start + len(table)))
            table = table.add_column(0, ROW, numbers)
        with replacing(path) as temporary:
            parquet.write_table(table, temporary)
    return folder


def open_blocks(model, X, client) -> Blocks:
    """Blocks of the table that X is, or of its numbers; of rows in memory too."""
    if is_blockwise(X):
        return blocks_of_table(X, client=client) if has_columns(X) else as_blocks(X, client=client)
    is_table = model.features_ is not None or hasattr(X, "columns")
    return blocks_of_table(X, client=client) if is_table else as_blocks(X, client=client)


def part_bounds(bounds: np.ndarray) -> Iterator[tuple[int, int]]:
    """First block and the one behind the last of each part: whole blocks, at least PART_ROWS."""
    ends = [0]
    for i, bound in enumerate(bounds[1:], start=1):
        if bound - bounds[ends[-1]] >= PART_ROWS or i == len(bounds) - 1:
            ends.append(i)
    return pairwise(ends)


def clusters_of(rows, model, keep: tuple[str, ...], memberships: bool):
    """A pyarrow table of what is written for one block."""
    pyarrow, _ = import_pyarrow()
    table = getattr(rows, "table", None)
    if table is None:
        blocks = as_blocks(rows)
        columns = {CLUSTER: model.predict(blocks).astype(np.int32)}
        if memberships:
            shares = model.predict_proba(blocks)
            columns |= {f"{MEMBERSHIP}{k}": one for k, one in enumerate(shares.T)}
        return pyarrow.table(columns)
    if not hasattr(table, "iloc") and not hasattr(table, "schema"):  # cells in memory
        table = pyarrow.table({name: pyarrow.array(c) for name, c in table.columns.items()})
    (found,) = model.predict_batches([table], keep=keep, memberships=memberships)
    if hasattr(found, "iloc"):
        return pyarrow.Table.from_pandas(found, preserve_index=False)
    return found


def note_of(model, blocks: Blocks, keep: Sequence[str], memberships: bool) -> dict:
    """What the parts depend on."""
    evenness = np.array(getattr(model, "evenness_", 0.0))
    arrays = (model.cluster_centers_, model.anchors_, model.anchor_memberships_, evenness)
    made_by = fingerprint_of(blocks, *arrays).hex()
    note = {"made by": made_by, "keep": list(keep), "memberships": bool(memberships)}
    return note | {"rows": mark_of_rows(blocks)}


def mark_of_rows(blocks: Blocks) -> str:
    """The files that rows are read from, by size and time, or rows in memory by their content.

    Rows of Dask, and those on a device, are not marked: they would have to be computed, or moved.
    """
    digest = hashlib.sha256()
    files = dict.fromkeys(part[0] for part in blocks.parts if isinstance(part, tuple))
    for file in files:
        if isinstance(file, Path):
            found = file.stat()
            digest.update(repr((file.name, found.st_size, found.st_mtime_ns)).encode())
    for part in blocks.parts:
        for name, array in arrays_of(part).items():
            digest.update(repr((name, array.dtype.str)).encode())
            cells = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
            digest.update(cells)
    return digest.hexdigest()


def arrays_of(part) -> dict[str, np.ndarray]:
    """The arrays that hold a block in memory, by name; none of other blocks."""
    if sparse.issparse(part):
        return {"ends": part.indptr, "columns": part.indices, "cells": part.data}
    if isinstance(part, np.ndarray):
        return {"cells": part}
    table = getattr(part, "table", None)
    return table.columns if isinstance(table, CellTable) else {}


def check_note(folder: Path, note: dict) -> None:
    """The note of this work is in the folder afterwards; that of other work is an error."""
    path = folder / NOTE
    if not path.exists():
        if any(folder.glob("part-*.parquet")):
            raise ValueError(f"{folder.name} has parts of something else. Name another folder.")
        with replacing(path) as temporary:
            Path(temporary).write_text(json.dumps(note), encoding="utf-8")
        return
    if json.loads(path.read_text(encoding="utf-8")) != note:
        raise ValueError(
            f"{folder.name} was made by another model, other rows or settings. Remove it, or name "
            "another folder."
        )
