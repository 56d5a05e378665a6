"""Clusters of batches as they come: Spark's mapInPandas and mapInArrow, Arrow readers, generators.

    batch of rows  ->  batch of the same kind: kept columns, the cluster, memberships if asked for

One batch is in memory at a time. Columns are found by the names that the model was fitted to, so
that other columns, and their order, do not matter. An empty batch gives an empty one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from likewise.features import is_frame
from likewise.files.near_names import did_you_mean
from likewise.scale import as_blocks

CLUSTER = "cluster"
MEMBERSHIP = "membership_"  # and the number of the cluster


def predict_batches(
    model, batches: Iterable, keep: Sequence[str], features: Sequence[str] | None, memberships: bool
) -> Iterator[Any]:
    """Batches of clusters, and of memberships where asked for."""
    if isinstance(features, str):
        raise TypeError(f"features={features!r} must be a list: [{features!r}].")
    if model.features_ is not None:
        as_rows = native_of
    else:
        as_rows = partial(
            rows_of, names=features, n_features=model.n_features_in_, keep=tuple(keep)
        )
    share = model.predict_proba if memberships else None
    return label_batches(
        batches,
        model.predict,
        share=share,
        as_rows=as_rows,
        n_clusters=model.n_clusters_,
        keep=keep,
    )


def native_of(frame, number: int):
    """The frame as it came: the features of the model find their columns in it."""
    return frame.to_native()


def rows_of(frame, number: int, **columns):
    """Numbers whose columns have been found by name, so that ``predict`` looks for no names."""
    return as_blocks(numbers_of(frame, number, **columns))


def label_batches(
    batches: Iterable,
    label: Callable,
    *,
    share: Callable | None,
    as_rows: Callable,
    n_clusters: int,
    keep: Sequence[str] = (),
) -> Iterator[Any]:
    """Batches of clusters for batches of rows, one at a time; without columns, arrays for arrays.

    ``as_rows`` takes a narwhals frame and the number of its batch, and returns what ``label`` and
    ``share`` take. With a ``share`` memberships (b, k) are added.
    """
    if isinstance(keep, str):
        raise TypeError(f"keep={keep!r} must be a list: [{keep!r}].")
    for clash in {CLUSTER, *(MEMBERSHIP + str(k) for k in range(n_clusters))} & set(keep):
        raise ValueError(f"keep has {clash!r}, which is the name of a column that is added.")
    if is_frame(batches) or hasattr(batches, "shape") or isinstance(batches, str):
        raise TypeError(
            f"batches is one {type(batches).__name__}, not an iterator of batches. Pass it as "
            "[batch], or call predict."
        )

    def find(batch, number: int):
        if not is_frame(batch):
            return _of_array(batch, label if share is None else share, keep, number)
        return _of_frame(batch, number, keep, as_rows, label, share, n_clusters)

    return (find(batch, number) for number, batch in enumerate(batches))


def numbers_of(frame, number: int, *, names, n_features: int, keep: Sequence[str]) -> np.ndarray:
    """A batch's columns of features as one array (b, n_features), all finite.

    One column of lists or vectors will do. Without names all columns but `keep` are features.
    """
    if names is None:
        names = [name for name in frame.columns if name not in keep]
    _check_columns(frame, names, number)
    if len(names) == 1 and n_features > 1:
        rows = _of_lists(frame[names[0]], names[0], n_features, number)
    else:
        rows = _side_by_side(frame, names, number)
    if rows.shape[1] != n_features:
        raise ValueError(
            f"Batch {number} has {rows.shape[1]} columns to use, and the model was fitted to "
            f"{n_features}. Name them in features=, or the others in keep=."
        )
    for i, j in np.argwhere(~np.isfinite(rows))[:1]:
        where = names[j] if len(names) > 1 else f"{names[0]}[{j}]"
        raise ValueError(
            f"Batch {number}, row {i}: column {where!r} is {rows[i, j]}. Fill it, or drop the row."
        )
    return rows


def _of_array(batch, find: Callable, keep: Sequence[str], number: int):
    """What is found for a batch without columns."""
    if len(keep):
        raise ValueError(
            f"Batch {number} is a {type(batch).__name__} without named columns to keep. Leave keep "
            "out."
        )
    rows = batch if issparse(batch) else np.asarray(batch)
    if rows.ndim != 2:
        raise TypeError(
            f"Batch {number} is a {type(batch).__name__} of {rows.ndim} dimensions, not a table or "
            "an array of rows."
        )
    return np.asarray(find(rows))


def _of_frame(batch, number: int, keep, as_rows, label, share, n_clusters: int):
    """Kept columns and what is found, as a frame of the same library."""
    import narwhals.stable.v1 as nw

    is_record_batch = type(batch).__name__ == "RecordBatch"
    frame = nw.from_native(_table_of(batch) if is_record_batch else batch, eager_only=True)
    _check_columns(frame, keep, number)
    labels, shares = np.empty(0), np.empty((0, n_clusters))
    if len(frame):
        rows = as_rows(frame, number)
        labels = label(rows)
        shares = shares if share is None else share(rows)
    columns = {CLUSTER: np.asarray(labels).astype(np.int32)}
    if share is not None:
        columns |= {f"{MEMBERSHIP}{k}": np.ascontiguousarray(one) for k, one in enumerate(shares.T)}
    library = nw.get_native_namespace(frame)
    added = [nw.new_series(name, cells, backend=library) for name, cells in columns.items()]
    if library.__name__ == "pandas":
        index = frame.to_native().index
        added = [nw.from_native(_with_index(one, index), series_only=True) for one in added]
    result = (
        frame.select(list(keep)).with_columns(*added)
        if len(keep)
        else nw.concat([one.to_frame() for one in added], how="horizontal")
    )
    native = result.to_native()
    return _record_batch_of(native) if is_record_batch else native


def _with_index(series, index):
    native = series.to_native()
    native.index = index
    return native


def _table_of(batch):
    import pyarrow

    return pyarrow.Table.from_batches([batch])


def _record_batch_of(table):
    """One record batch, of no rows too."""
    import pyarrow

    columns = [
        pyarrow.concat_arrays([*column.chunks, pyarrow.array([], column.type)])
        for column in table.columns
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=table.schema)


def _check_columns(frame, names: Sequence[str], number: int) -> None:
    for name in names:
        if name not in frame.columns:
            raise ValueError(
                f"Batch {number} has no column {name!r}{did_you_mean(name, frame.columns)}"
            )


def _side_by_side(frame, names: Sequence[str], number: int) -> np.ndarray:
    import narwhals.stable.v1 as nw

    kinds = [frame[name].dtype for name in names]
    for name, kind in zip(names, kinds):
        if not kind.is_numeric() and not _are_decimals(frame[name]):
            raise ValueError(
                f"Batch {number}: column {name!r} has type {kind}, not numbers. Name the columns "
                "of numbers in features=, or the others in keep=."
            )
    is_single = all(isinstance(kind, nw.Float32) for kind in kinds)
    rows = np.empty((len(frame), len(names)), np.float32 if is_single else np.float64)
    for j, name in enumerate(names):
        series = frame[name]
        if not kinds[j].is_numeric():
            rows[:, j] = [np.nan if cell is None else float(cell) for cell in series.to_list()]
            continue
        if series.null_count():
            series = series.cast(nw.Float64())
        rows[:, j] = series.to_numpy()
    return rows


def _are_decimals(series) -> bool:
    """Whether a column of objects has decimals, as pandas gets them from Spark and databases."""
    cells = [cell for cell in series.to_list() if cell is not None]
    return bool(cells) and all(isinstance(cell, Decimal) for cell in cells)


def _of_lists(series, name: str, n_features: int, number: int) -> np.ndarray:
    cells = series.to_list()
    for i, cell in enumerate(cells):
        length = len(cell) if hasattr(cell, "__len__") and not isinstance(cell, str) else None
        if length != n_features:
            holds = "no list" if length is None else f"{length} numbers"
            raise ValueError(
                f"Batch {number}, row {i}: column {name!r} holds {holds}, and the model was fitted "
                f"to {n_features} features."
            )
    return np.array(cells, dtype=np.float64)
