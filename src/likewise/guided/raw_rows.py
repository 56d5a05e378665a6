"""Rows that are not numbers yet: a table of mixed columns, or whatever a transformer takes.

Features are fitted to at most 100,000 rows, drawn at random where there are more: the same rows
whether the table is in memory, in files or on Dask.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from sklearn.base import clone

from likewise.features import TableFeatures, cell_table, is_frame, is_mixed_table
from likewise.files.cell_table import take_rows
from likewise.maps import by_map
from likewise.numerics.rows import sample_rows
from likewise.scale import (
    Blocks,
    as_blocks,
    encoded,
    has_columns,
    is_blockwise,
    is_mixed_blocks,
    open_dask_frame,
    table_blocks,
    take_table,
)

TABLE_ROWS = 2**14  # more rows of a table become numbers block by block, whenever they are read
FEATURE_ROWS = 100_000  # that features are fitted to


def fit_features(features, X, seed: int = 0):
    """The transformer that turns X into numbers, fitted; None where X has numbers already."""
    if _comes_in_blocks(features, X):
        return _fit_to_blocks(features, X, seed)
    if not isinstance(features, str) and not isinstance(features, TableFeatures):
        return clone(features).fit(X)
    if isinstance(features, str):
        refuse_items(X)
        if not is_mixed_table(X):
            return None
        features = TableFeatures()
    if not is_frame(X):
        return clone(features).fit(X)
    table = cell_table(X)
    if table.n_rows > FEATURE_ROWS:
        table = take_rows(table, _drawn(table.n_rows, seed))
    return clone(features).fit(table)


def refuse_items(X) -> None:
    """An error for rows that are texts or dicts: they need features, or a frame."""
    if not isinstance(X, list | tuple) and getattr(X, "ndim", 2) != 1:
        return
    first = next(iter(X), None)
    if isinstance(first, str):
        raise ValueError(
            "X is a list of texts, not a table. Use GuidedClustering(features=TextFeatures()); for "
            "paths of images, features=ImageFeatures()."
        )
    if isinstance(first, Mapping):
        raise TypeError("X is a list of dicts, not a table. Pass pandas.DataFrame(X).")


def check_numbers(model, X):
    """X as validated numbers; where it has gaps, an error that says what fills them."""
    try:
        return by_map.validate(model, X, reset=True)
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
    raise ValueError(
        "Input X contains NaN. Pass a dataframe, whose gaps are filled (features=TableFeatures() "
        "does so for an array), or fill them first."
    )


def _comes_in_blocks(features, X) -> bool:
    """Whether X is read block by block; a folder of images or texts is for its features to read."""
    if not isinstance(X, str | os.PathLike) or isinstance(features, str | TableFeatures):
        return is_blockwise(X)
    is_other_folder = Path(X).is_dir() and next(Path(X).rglob("*.parquet"), None) is None
    return is_blockwise(X) and not is_other_folder


def _fit_to_blocks(features, X, seed: int):
    if isinstance(features, str):
        if not is_mixed_blocks(X):
            return None
        features = TableFeatures()
    blocks = table_blocks(X) if has_columns(X) else as_blocks(X)
    rows = _drawn(blocks.shape[0], seed)
    sample = take_table(blocks, rows, features) if has_columns(X) else blocks.take(rows)
    return clone(features).fit(sample)


def as_numbers(features, X):
    """X as the fitted features see it: an array, or blocks where rows come so or are many."""
    if features is None:
        return X
    if _comes_in_blocks(features, X):
        return encoded(features, table_blocks(X) if has_columns(X) else as_blocks(X))
    if not isinstance(features, TableFeatures):
        return features.transform(X)
    table = cell_table(X)
    if table.n_rows <= TABLE_ROWS:
        return features.transform(table)
    return encoded(features, table_blocks(table, block_rows=TABLE_ROWS))


def open_raw(X):
    """A Dask dataframe with its rows counted, once; anything else as it is."""
    is_collection = is_blockwise(X) and hasattr(X, "__dask_graph__")
    return open_dask_frame(X) if is_collection and has_columns(X) else X


def set_names(model, X: Blocks) -> None:
    """The columns that blocks of numbers are read from are the features of the model."""
    if model.features_ is None and X.names is not None and len(X.names) == X.n_features:
        model.feature_names_in_ = np.array(X.names, dtype=object)


def named_blocks(model, X) -> Blocks:
    """Blocks with the columns of the model, found by their names where both have any."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and has_columns(X) and not isinstance(X, Blocks):
        X = as_blocks(X, columns=list(names))
    X = as_blocks(X)
    if X.n_features != model.n_features_in_:
        raise ValueError(
            f"X has {X.n_features} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    return X


def _drawn(n_rows: int, seed: int) -> np.ndarray:
    return sample_rows(n_rows, FEATURE_ROWS, np.empty(0, dtype=np.int64), seed)


def describe_columns(features) -> tuple[str, np.ndarray]:
    """How a table was prepared, in a few words, and what became of each of its columns."""
    columns = getattr(features, "columns_", ())
    used = sum(column.n_features > 0 for column in columns)
    why = f"{used} of {len(columns)} columns used, each with the same weight"
    return why, np.array([str(column) for column in columns], dtype=str)
