"""Rows that are not numbers yet: a table of mixed columns, or whatever a transformer takes."""

from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.base import clone

from likewise.features import TableFeatures, cell_table, is_mixed_table
from likewise.files.cell_table import CellTable, take_rows
from likewise.scale import Blocks

TABLE_ROWS = 2**14  # more rows of a table become numbers block by block, whenever they are read


def fit_features(features, X):
    """The transformer that turns X into numbers, fitted; None where X has numbers already."""
    if not isinstance(features, str):
        return clone(features).fit(X)
    return TableFeatures().fit(X) if is_mixed_table(X) else None


def as_numbers(features, X):
    """X as the fitted features see it: an array, or blocks where a table has many rows."""
    if features is None or isinstance(X, Blocks):
        return X
    if not isinstance(features, TableFeatures):
        return features.transform(X)
    table = cell_table(X)
    if table.n_rows <= TABLE_ROWS:
        return features.transform(table)
    bounds = np.append(np.arange(0, table.n_rows, TABLE_ROWS), table.n_rows)
    parts = [TableRows(take_rows(table, slice(i, j))) for i, j in pairwise(bounds)]
    n_features = len(features.get_feature_names_out())
    blocks = Blocks(parts, _as_it_is, bounds, len(table.columns), np.dtype(np.float64))
    return blocks.map(partial(_transform, features), n_features)


class TableRows:
    """Rows of a table, some of which can be taken before they become numbers."""

    def __init__(self, table: CellTable):
        self.table = table

    def __getitem__(self, rows) -> "TableRows":
        return TableRows(take_rows(self.table, rows))


def _as_it_is(rows: TableRows) -> TableRows:
    return rows


def _transform(features: TableFeatures, rows: TableRows) -> np.ndarray:
    return features.transform(rows.table)


def describe_columns(features) -> tuple[str, np.ndarray]:
    """How a table was prepared, in a few words, and what became of each of its columns."""
    columns = getattr(features, "columns_", ())
    used = sum(column.n_features > 0 for column in columns)
    why = f"{used} of {len(columns)} columns used, each with the same weight"
    return why, np.array([str(column) for column in columns], dtype=str)
