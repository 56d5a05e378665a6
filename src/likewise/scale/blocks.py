"""Rows in blocks, wherever they are stored, and one way to run the same work on all of them.

    in memory         an array or CSR, cut into slices
    .npy              a file that is mapped a block at a time, and released again
    .parquet          the row groups of a file, or of all files in a folder
    Dask              the chunks of an array, the partitions of a dataframe

A block is read where it is worked on: by a thread here, or by a worker of a Dask cluster. Results
come back in the order of the blocks, so sums over them are the same to the last bit, whoever did
the work.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.parallel import Parallel, delayed

from likewise.numerics.array_library import is_array_elsewhere
from likewise.numerics.threads import one_thread
from likewise.progress import track
from likewise.scale.dask_frames import frame_numbers, is_dask_frame, open_dask_frame
from likewise.scale.on_dask import import_dask, run_on_dask
from likewise.scale.parquet_rows import (
    as_numbers,
    check_numbers,
    count_features,
    is_parquet,
    open_parquet,
    read_group,
)

CELLS = 2**20  # of a block: 8 MB of float64, which Dask takes as an argument without a warning
FILE_CELLS = 2**22  # opening a file for less takes longer than reading it
DEVICE_CELLS = 2**26  # a device wants large matrices
MOST_ROWS = 2**14  # of a block, and eight times as many on a device: mapped rows may be much wider


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in blocks, and the workers that process them; made by `as_blocks`.

    Attributes
    ----------
    parts : sequence
        What each block is read from: a slice of an array, a place in a file, a Dask chunk.
    load : callable
        Takes a part and returns its rows, (b, n_features).
    bounds : ndarray of shape (n_blocks + 1,)
        Block i has the rows from ``bounds[i]`` to ``bounds[i + 1]``.
    n_features : int
    dtype : dtype
    client : distributed.Client or None
        The Dask cluster that works on them.
    is_lazy : bool
        True if the parts are Dask's and Dask reads them, with or without a client.
    maps : tuple of callables
        What is done with rows after they are read, row by row.
    names : tuple of str or None
        The columns that they are read from, where these have names.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.scale import as_blocks
    >>> blocks = as_blocks(np.zeros((5, 2)), block_rows=2)
    >>> blocks.shape, blocks.bounds
    ((5, 2), array([0, 2, 4, 5]))
    """

    parts: Sequence
    load: Callable
    bounds: np.ndarray
    n_features: int
    dtype: Any
    client: Any = None
    is_lazy: bool = False
    maps: tuple[Callable, ...] = ()
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features, as an array has them."""
        return int(self.bounds[-1]), self.n_features

    def __len__(self) -> int:
        return len(self.parts)

    def run(
        self, function: Callable, *arguments, what: str, n_jobs: int | None = None
    ) -> Iterator[Any]:
        """`function(block, *arguments)` for every block, in order.

        Parameters
        ----------
        function : callable
        *arguments
            Passed with every block, so that nothing is lost if a worker dies.
        what : str
            What is done, for the progress display.
        n_jobs : int, default=None
            Threads, through joblib, if Dask is not used; None means 1, or what
            ``joblib.parallel_config`` says.

        Yields
        ------
        result
        """
        done = self._run(function, arguments, n_jobs, what)
        return track(done, what, total=len(self))

    def _run(self, function, arguments, n_jobs, what) -> Iterator[Any]:
        # What a thread or a Dask worker does holds no block but the one it is given.
        load = partial(load_counted, self.load)
        do_work = partial(work_beside_others, load, self.maps)
        counted = zip(self.parts, self.bounds[:-1].tolist(), self.bounds[1:].tolist())
        if self.client is not None or self.is_lazy:
            given = (function, *arguments)
            return run_on_dask(self.client, list(counted), do_work, given, what=what)
        if n_jobs in (None, 1) and not _is_parallel():
            return (work(load, self.maps, part, function, *arguments) for part in counted)
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(do_work)(part, function, *arguments) for part in counted
        )

    def map(self, function: Callable, n_features: int, dtype=None) -> "Blocks":
        """The same blocks after a function of each row, computed whenever they are read."""
        dtype = self.dtype if dtype is None else dtype
        return replace(self, maps=(*self.maps, function), n_features=n_features, dtype=dtype)

    def after(self, n_blocks: int) -> "Blocks":
        """The blocks that follow the first few: what is left where work is taken up again."""
        bounds = self.bounds[n_blocks:] - self.bounds[n_blocks]
        return replace(self, parts=self.parts[n_blocks:], bounds=bounds)

    def some_rows(self, held: list[int], inside: list[np.ndarray], load: Callable) -> "Blocks":
        """A few blocks, of which only the rows `inside` are used.

        `load` takes a part with its bounds, and the numbers of the rows within it.
        """
        sizes = [len(within) for within in inside]
        parts = [
            ((self.parts[i], int(self.bounds[i]), int(self.bounds[i + 1])), within)
            for i, within in zip(held, inside)
        ]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return replace(self, parts=parts, load=load, bounds=bounds)

    def take(self, rows: np.ndarray, *, n_jobs: int | None = None):
        """Rows by number (m, n_features), in the order asked for.

        Only the blocks that hold them are read, and only they are mapped.
        """
        rows = np.asarray(rows, dtype=np.int64)
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.shape[0]:
            wrong = rows.min() if rows.min() < 0 else rows.max()
            raise ValueError(f"Row {wrong} does not exist: there are {self.shape[0]} rows.")
        order = np.argsort(rows, kind="stable")
        ends = np.searchsorted(rows[order], self.bounds)
        held = np.flatnonzero(np.diff(ends)).tolist() or [0]  # none of its rows, but of its type
        inside = [rows[order[ends[i] : ends[i + 1]]] - self.bounds[i] for i in held]
        some = self.some_rows(held, inside, partial(_load_rows, self.load))
        found = list(some.run(as_it_is, what="gathering rows", n_jobs=n_jobs))
        stacked = sparse.vstack(found, "csr") if sparse.issparse(found[0]) else _stack(found)
        return stacked[np.argsort(order, kind="stable")]


def as_blocks(
    X, *, client=None, block_rows: int | None = None, columns: Sequence[str] | None = None
) -> Blocks:
    """Take rows in blocks, wherever they are stored.

    Parameters
    ----------
    X : array-like, CSR, path, Dask array or dataframe, or Blocks
        A path is a .npy or .parquet file, a folder of .parquet files or a pattern such as
        ``"part-*.parquet"``, and every worker must be able to read it. Parquet is read one row
        group at a time: write files with groups much smaller than the memory. Rows of a folder are
        in the order of the paths.
    client : distributed.Client, default=None
        The Dask cluster to work on. None works in this process, or, for a Dask array, with the
        scheduler that Dask would use.
    block_rows : int, default=None
        Rows in a block of an array or a .npy file; None makes blocks of a few megabytes. Raising it
        takes more memory, and less time if rows are few.
    columns : sequence of str, default=None
        The columns of Parquet or a dataframe that are features; None takes all. One column of
        vectors of fixed length will do.

    Returns
    -------
    Blocks

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.scale import as_blocks
    >>> blocks = as_blocks(np.arange(10.0).reshape(5, 2), block_rows=2)
    >>> len(blocks), blocks.shape
    (3, (5, 2))
    >>> [float(total) for total in blocks.run(np.sum, what="adding")]
    [6.0, 22.0, 17.0]
    """
    if isinstance(X, Blocks):
        return X if client is None else replace(X, client=client)
    if is_dask_frame(X):
        return _of_dask_frame(X, client, columns)
    if is_dask(X):
        return _of_dask(X, client)
    if isinstance(X, str | os.PathLike):
        return _of_file(Path(X), client, block_rows, columns)
    if not is_array_elsewhere(X):
        X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    limits = (DEVICE_CELLS, 8 * MOST_ROWS) if is_array_elsewhere(X) else (CELLS, MOST_ROWS)
    bounds = _even_bounds(X.shape, limits, block_rows)
    parts = [X[start:stop] for start, stop in pairwise(bounds)]
    return Blocks(parts, as_it_is, bounds, X.shape[1], X.dtype, client)


def is_dask(X) -> bool:
    """Whether this is a Dask collection; looking does not import Dask."""
    return hasattr(X, "__dask_graph__")


def is_blockwise(X) -> bool:
    """Whether rows are blocks, a path or a Dask array, and not an array in memory.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import scale
    >>> scale.is_blockwise("rows.npy"), scale.is_blockwise(np.eye(2))
    (True, False)
    """
    return isinstance(X, Blocks | str | os.PathLike) or is_dask(X) or is_dask_frame(X)


def as_it_is(rows):
    return rows


def work(load: Callable, maps: tuple[Callable, ...], part, function: Callable, *arguments):
    """Read one block, map its rows and work on them."""
    return function(read(load, maps, part), *arguments)


@one_thread()
def work_beside_others(load, maps, part, function: Callable, *arguments):
    """The same next to other threads or workers: each uses one core, not all of them."""
    return work(load, maps, part, function, *arguments)


def read(load: Callable, maps: tuple[Callable, ...], part):
    rows = load(part)
    for function in maps:
        rows = function(rows)
    return rows


def load_counted(load: Callable, counted):
    """A block that has as many rows as were counted when its source was opened."""
    part, start, stop = counted
    rows = load(part)
    first = rows[0] if isinstance(rows, tuple) else rows  # with something for each row
    n_found = first.shape[0] if hasattr(first, "shape") else len(first)
    if n_found != stop - start:  # of which rows is unknown: work that goes on counts from there
        is_of_file = isinstance(part, tuple) and isinstance(part[0], Path)
        name = f"A block of {part[0].name}" if is_of_file else "A block"
        raise ValueError(
            f"{name} has {n_found} rows, not {stop - start}: what it is read from has changed "
            "since it was opened, or its chunks are not as long as they say. Open it again."
        )
    return rows


def _is_parallel() -> bool:
    """Whether a joblib configuration asks for more than one worker."""
    backend, n_jobs = get_active_backend()
    return backend.effective_n_jobs(n_jobs) > 1


def _of_dask(X, client) -> Blocks:
    dask = import_dask()
    if not isinstance(X, dask.array.Array) or X.ndim != 2:
        raise TypeError(f"{type(X).__name__} is not a Dask array of rows. Try its to_dask_array().")
    if np.isnan(X.shape).any():
        raise ValueError("The Dask array does not know its shape. Call compute_chunk_sizes().")
    X = X.rechunk({1: -1})
    bounds = np.concatenate([[0], np.cumsum(X.chunks[0])]).astype(np.int64)
    parts = list(X.to_delayed(optimize_graph=False).ravel())
    return Blocks(parts, as_it_is, bounds, X.shape[1], X.dtype, client, is_lazy=True)


def _of_file(path: Path, client, block_rows, columns) -> Blocks:
    if path.suffix.lower() == ".npy":
        if columns is not None:
            raise ValueError(f"{path.name} has no named columns to choose from.")
        X = np.load(path, mmap_mode="r", allow_pickle=False)
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"{path.name} contains {X.dtype} of shape {X.shape}, not rows.")
        bounds = _even_bounds(X.shape, (FILE_CELLS, MOST_ROWS), block_rows)
        parts = [(path, start, stop) for start, stop in pairwise(bounds)]
        return Blocks(parts, _load_npy, bounds, X.shape[1], X.dtype, client)
    if is_parquet(path):
        return _of_parquet(path, client, columns)
    raise ValueError(f"{path.name} must end in .npy or .parquet to be read in blocks.")


def _of_parquet(path: Path, client, columns) -> Blocks:
    opened = open_parquet(path, columns)
    dtype, names = check_numbers(opened), tuple(opened.kinds)
    load = partial(_load_row_group, columns=names, dtype=dtype)
    n_features = count_features(opened)
    return Blocks(opened.parts, load, opened.bounds, n_features, dtype, client, names=names)


def _of_dask_frame(frame, client, columns) -> Blocks:
    opened = open_dask_frame(frame, client, columns)
    for name, kind in opened.kinds.items():
        if getattr(kind, "kind", "O") not in "iuf":
            raise ValueError(f"The Dask dataframe: column {name!r} has type {kind}, not numbers.")
    is_single = all(kind == np.float32 for kind in opened.kinds.values())
    dtype = np.dtype(np.float32 if is_single else np.float64)
    parts = list(zip(opened.parts, opened.bounds.tolist()))
    load = partial(_load_partition, columns=opened.columns, dtype=dtype)
    names = tuple(opened.columns)
    return Blocks(parts, load, opened.bounds, len(names), dtype, client, is_lazy=True, names=names)


def _map_npy(place) -> np.ndarray:
    path, start, stop = place
    return np.load(path, mmap_mode="r")[start:stop]


def _load_npy(place) -> np.ndarray:
    path, start, _ = place
    # A map of its own, closed on return: pages of a map that stays count as this process's memory.
    return _check_finite(np.array(_map_npy(place)), path.name, start)


def _load_row_group(place, columns: tuple[str, ...], dtype: np.dtype) -> np.ndarray:
    file, _, start = place
    return _check_finite(as_numbers(read_group(place, columns), dtype), file.name, start)


def _load_partition(place, columns: list[str], dtype: np.dtype) -> np.ndarray:
    frame, start = place
    return _check_finite(frame_numbers(frame, columns, dtype), "The Dask dataframe", start)


def _load_rows(load, part_and_rows):
    counted, rows = part_and_rows
    if load is _load_npy:  # of a large file only the pages that hold them are read
        path, start, _ = counted[0]
        found = np.array(load_counted(_map_npy, counted)[rows])
        return _check_finite(found, path.name, start + rows)
    return load_counted(load, counted)[rows]


def _check_finite(rows: np.ndarray, name: str, start) -> np.ndarray:
    """The rows, whose numbers begin at `start` or are `start`, if all their cells are finite."""
    if rows.dtype.kind == "f" and not np.isfinite(rows.sum()):
        for i, j in np.argwhere(~np.isfinite(rows))[:1]:
            number = start + i if np.ndim(start) == 0 else start[i]
            raise ValueError(
                f"{name}, row {number}: column {j} is {rows[i, j]}. Fill it, or drop the row."
            )
    return rows


def _even_bounds(
    shape: tuple[int, int], limits: tuple[int, int], block_rows: int | None
) -> np.ndarray:
    n_rows, n_columns = shape
    step = min(max(1, limits[0] // max(1, n_columns)), limits[1])
    step = step if block_rows is None else block_rows
    if step < 1:
        raise ValueError(f"block_rows={block_rows} leaves blocks without rows. Use 1 or more.")
    return np.append(np.arange(0, n_rows, step), n_rows)


def _stack(found: list):
    if is_array_elsewhere(found[0]):
        from array_api_compat import array_namespace

        return array_namespace(found[0]).concat(found)
    return np.concatenate(found)
