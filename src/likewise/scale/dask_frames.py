"""Dask dataframes in blocks: a block is a partition, and one pass tells how many rows each has."""

from typing import Any, NamedTuple

import numpy as np

from likewise.files.near_names import did_you_mean
from likewise.scale.on_dask import import_dask, run_on_dask


class DaskFrame(NamedTuple):
    """The partitions of a dataframe that have rows, none of them computed."""

    columns: list[str]
    kinds: dict[str, np.dtype]
    parts: list[Any]  # delayed pandas frames
    bounds: np.ndarray  # (n_parts + 1,)
    has_gaps: bool  # among columns of numbers


def is_dask_frame(X) -> bool:
    """Whether X is a Dask dataframe, opened or not; looking does not import Dask."""
    return isinstance(X, DaskFrame) or (
        hasattr(X, "__dask_graph__") and hasattr(X, "columns") and hasattr(X, "to_delayed")
    )


def open_dask_frame(frame, client=None, columns=None) -> DaskFrame:
    """Count the rows of a Dask dataframe, in one pass, so that its partitions are blocks.

    Parameters
    ----------
    frame : Dask dataframe
    client : distributed.Client, default=None
        The Dask cluster to work on; None is the scheduler of Dask's own choice.
    columns : sequence of str, default=None
        Those to use; None takes all.

    Returns
    -------
    DaskFrame
        Taken by `as_blocks` and `table_blocks` in place of the dataframe, without another pass.

    Examples
    --------
    >>> from likewise import scale
    >>> opened = scale.open_dask_frame(frame)  # doctest: +SKIP
    >>> scale.as_blocks(opened)  # doctest: +SKIP
    """
    if isinstance(frame, DaskFrame):
        kept = frame.columns if columns is None else [str(name) for name in columns]
        return frame._replace(columns=kept, kinds=_kinds_of(frame.kinds, kept))
    import_dask()
    names = [str(name) for name in frame.columns]
    parts = list(frame.to_delayed())
    sizes, gaps = zip(*run_on_dask(client, parts, measure_rows, (), what="counting rows"))
    if not sum(sizes):
        raise ValueError("The Dask dataframe has no rows.")
    kept = [part for part, size in zip(parts, sizes) if size]
    bounds = np.unique(np.concatenate([[0], np.cumsum(sizes)])).astype(np.int64)
    whole = DaskFrame(names, dict(zip(names, frame.dtypes)), kept, bounds, any(gaps))
    return whole if columns is None else open_dask_frame(whole, client, columns)


def _kinds_of(kinds: dict[str, np.dtype], names: list[str]) -> dict[str, np.dtype]:
    for name in names:
        if name not in kinds:
            raise ValueError(
                f"The Dask dataframe has no column {name!r}{did_you_mean(name, kinds)}"
            )
    return {name: kinds[name] for name in names}


def measure_rows(frame) -> tuple[int, bool]:
    """Rows of a partition, and whether one of its numbers is missing."""
    return len(frame), bool(frame.select_dtypes("number").isna().to_numpy().any())


def is_numeric(opened: DaskFrame) -> bool:
    """Whether all columns have numbers."""
    return all(getattr(kind, "kind", "O") in "iuf" for kind in opened.kinds.values())


def frame_numbers(frame, columns: list[str], dtype: np.dtype) -> np.ndarray:
    """Columns of a partition as an array (b, d)."""
    return np.ascontiguousarray(frame[columns].to_numpy(dtype=dtype))
