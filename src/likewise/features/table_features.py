"""TableFeatures: a table of mixed columns as numbers, every column with the same weight.

    squared distance of two rows = sum over the used columns of |block(row) - block(other)|^2

where each block has total variance 1, and 4 if it is free text (column_encoders.py). What a column
holds, and which are left out, is decided by its name and its cells (column_kinds.py).
"""

import warnings
from collections.abc import Collection
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.constraints import refuse_answers_as_y
from likewise.features.column_encoders import encode_column, fit_column, readable_block
from likewise.features.column_kinds import (
    TableColumn,
    choose_kind,
    count_missing,
    is_known,
    use_as,
)
from likewise.features.table_input import cell_table, is_frame
from likewise.files.cell_table import CellTable, take_rows
from likewise.files.column_types import (
    TypedColumn,
    as_kind,
    as_words,
    collect_problems,
    typed_column,
)
from likewise.files.near_names import did_you_mean, nearest_name

BLOCK_ROWS = 2**16  # encoded at once
MOST_LISTED = 20  # names in an error
CELL_KINDS = {"category": "word", "text": "word"}  # the type of cell behind each kind of column


class TableFeatures(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, categories, dates and texts, with gaps, into numbers.

    Every column that is used has the same share in the mean squared distance of rows: a category
    weighs as one column, not as its number of levels; free text weighs as four. Columns that name
    rows, number them, hold one value only or look like the classes to be found are left out;
    ``columns_`` says what became of each. ``GuidedClustering`` applies this by itself to a table
    with columns that are not numbers.

    Parameters
    ----------
    exclude : sequence of str, default=None
        Columns to leave out.
    features : sequence of str, default=None
        Columns to use; these are used whatever they look like, and no others. None uses all but
        those in ``exclude`` and those that are left out by what they hold.
    as_text : sequence of str, default=None
        Columns to take as free text.
    as_category : sequence of str, default=None
        Columns to take as categories: codes that are written as numbers, say.
    text_features : transformer, default=None
        How free text becomes numbers: anything whose ``fit`` and ``transform`` take texts. None
        takes ``TextFeatures()``.

    Attributes
    ----------
    columns_ : tuple of TableColumn
        What became of every column, in the order of the table.
    encoded_ : tuple
        How each used column becomes numbers.
    n_features_in_ : int
        Columns of the table.
    feature_names_in_ : ndarray of str
        Their names, if they have any.

    See Also
    --------
    likewise.GuidedClustering : Clusters tables through this.

    Notes
    -----
    Missing numbers and dates are put at the center, missing categories at no level. In new rows,
    levels that ``fit`` did not see count as rare ones, with a warning; a missing column is an error
    that names it; columns may come in another order, and more of them.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.features import TableFeatures
    >>> people = {
    ...     "customer_id": [901, 902, 903, 904],
    ...     "age": [31, 45, None, 28],
    ...     "plan": ["free", "gold", "gold", "free"],
    ...     "joined": ["2024-01-15", "2025-07-01", "2025-12-24", ""],
    ... }
    >>> table = TableFeatures().fit(people)
    >>> for column in table.columns_:
    ...     print(column)
    customer_id: left out, by its name an id, of 4 values
    age: number, 1 missing
    plan: category, 2 levels
    joined: date, 1 missing
    >>> table.transform(people).shape
    (4, 8)
    >>> table.get_feature_names_out()[:3]
    array(['age', 'plan=free', 'plan=gold'], dtype=object)
    """

    def __init__(
        self, *, exclude=None, features=None, as_text=None, as_category=None, text_features=None
    ):
        self.exclude = exclude
        self.features = features
        self.as_text = as_text
        self.as_category = as_category
        self.text_features = text_features

    def fit(self, X, y=None):
        """Decide what each column is, and how it becomes numbers.

        Parameters
        ----------
        X : dataframe, dict of columns or array-like of shape (n_samples, n_columns)
            From pandas, polars or pyarrow; numbers, booleans, dates, text, with missing cells.
        y : None
            Ignored; it is here for scikit-learn.

        Returns
        -------
        self : TableFeatures
        """
        refuse_answers_as_y(y, "TableFeatures takes no constraints=; the learner of its rows may.")
        table = self._read(X, reset=True)
        self._check_names(table)
        wanted = None if self.features is None else set(self.features)
        unwanted = {
            name
            for name in table.columns
            if name in (self.exclude or ()) or (wanted is not None and name not in wanted)
        }
        used = [name for name in table.columns if name not in unwanted]
        typed_columns = dict(
            zip(used, collect_problems(partial(self._typed, name, table) for name in used))
        )
        columns, encoded, is_blank = [], [], np.ones(table.n_rows, dtype=bool)
        for name, cells in table.columns.items():
            if name in unwanted:
                columns.append(TableColumn(name, "left out", "as asked", 0, 0))
                continue
            typed = typed_columns.pop(name)
            kind, why = self._choose(name, typed, table.columns, wanted is not None)
            n_features = 0
            if kind != "left out":
                values = as_words(cells) if kind in CELL_KINDS else typed.values
                typed = typed._replace(values=values)
                encoded.append(fit_column(name, kind, values, self.text_features, typed.notation))
                is_blank &= ~is_known(values)
                why, n_features = use_as(kind, values, typed.notation), len(encoded[-1].parts)
            missing = 0 if typed.kind == "other" else count_missing(typed.values)
            columns.append(TableColumn(name, kind, why, missing, n_features))
        if not encoded:
            left_out = "; ".join(map(str, columns))
            if table.n_rows == 1:
                raise ValueError("There is one row (n_samples=1), and nothing to tell it apart by.")
            raise ValueError(
                f"No column is left to cluster by: {left_out}. "
                "Name those to use in features= (--features)."
            )
        if is_blank.any() and len(encoded) > 1:  # of one column a gap may be a value
            where = table.place(encoded[0].name)(int(np.flatnonzero(is_blank)[0]))
            warnings.warn(
                f"{np.count_nonzero(is_blank)} of {table.n_rows} rows have no value in any column "
                f"that is used, the first at {where}. They are put together: drop them if they "
                "say nothing.",
                UserWarning,
                stacklevel=2,
            )
        self.columns_, self.encoded_ = tuple(columns), tuple(encoded)
        return self

    def transform(self, X):
        """Turn rows into numbers the way ``fit`` decided.

        Parameters
        ----------
        X : dataframe, dict of columns or array-like of shape (n_samples, n_columns)
            With the columns of ``fit`` that are used, found by their names, in any order.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features)
        """
        return self._turn(X, encode_column)

    def readable(self, X):
        """The columns of ``transform`` in units that people read, to show and not to cluster by.

        Parameters
        ----------
        X : dataframe, dict of columns or array-like of shape (n_samples, n_columns)
            As for ``transform``.

        Returns
        -------
        values : ndarray of shape (n_samples, n_features)
            Numbers and years as they are, levels and flags as 0 and 1.
        """
        return self._turn(X, readable_block)

    def get_feature_names_out(self, input_features=None):
        """The name of each number: its column, and the level, cycle or direction.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The columns of ``fit``, for scikit-learn: nothing else is accepted.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = [column.name for column in self.columns_]
        if input_features is not None and list(map(str, input_features)) != names:
            if hasattr(self, "feature_names_in_"):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != len(names):
                raise ValueError(
                    f"input_features should have length equal to number of features ({len(names)})"
                )
            names = list(map(str, input_features))
        renamed = dict(zip((column.name for column in self.columns_), names))
        return np.array(
            [f"{renamed[one.name]}{part}" for one in self.encoded_ for part in one.parts],
            dtype=object,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _turn(self, X, turn) -> np.ndarray:
        """Every used column by `turn`, side by side, a block of rows at a time."""
        check_is_fitted(self)
        table = self._read(X, reset=False)
        missing = [fitted.name for fitted in self.encoded_ if fitted.name not in table.columns]
        if missing:
            near = nearest_name(missing[0], table.columns)
            meant = "" if near is None else f" Is {near!r} meant by {missing[0]!r}?"
            raise ValueError(
                f"The feature names of the table lack {_listed(missing)}, used in fit; they are "
                f"{_listed(table.columns)}.{meant} Add what is missing, with empty cells if "
                "need be."
            )
        Z = np.empty((table.n_rows, sum(len(fitted.parts) for fitted in self.encoded_)))
        for start in range(0, table.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            part = take_rows(table, rows) if table.n_rows > BLOCK_ROWS else table
            blocks = collect_problems(
                partial(self._block, turn, one, part) for one in self.encoded_
            )
            Z[rows] = np.concatenate(blocks, axis=1)
        return Z

    def _read(self, X, *, reset: bool) -> CellTable:
        table = cell_table(X)
        if not is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return table
        if reset:
            self.n_features_in_ = len(table.columns)
            self.feature_names_in_ = np.array(list(table.columns), dtype=object)
        return table

    def _typed(self, name: str, table: CellTable) -> TypedColumn:
        cells = table.columns[name]
        as_words_are = (*(self.as_category or ()), *(self.as_text or ()), *table.categories)
        if name in as_words_are:
            return TypedColumn("word", as_words(cells))
        return typed_column(cells, table.place(name), notation=table.notation)

    def _choose(
        self, name: str, typed: TypedColumn, beside: Collection[str], is_wanted: bool
    ) -> tuple[str, str]:
        if name in (self.as_text or ()):
            return "text", ""
        if name in (self.as_category or ()):
            return "category", ""
        kind, why = choose_kind(name, typed, beside)
        if kind == "left out" and is_wanted and typed.kind != "other":
            kind = "category" if typed.kind == "word" else typed.kind
        return kind, why

    def _block(self, turn, fitted, table: CellTable) -> np.ndarray:
        cells, place = table.columns[fitted.name], table.place(fitted.name)
        kind = CELL_KINDS.get(fitted.kind, fitted.kind)
        notation = fitted.notation or table.notation
        return turn(fitted, as_kind(cells, kind, place, notation=notation))

    def _check_names(self, table: CellTable) -> None:
        settings = ("exclude", "features", "as_text", "as_category")
        for setting in settings:
            names = getattr(self, setting)
            if isinstance(names, str):
                raise TypeError(f"{setting}={names!r} must be a list: [{names!r}].")
            for name in names or ():
                if name not in table.columns:
                    raise ValueError(
                        f"{setting} names {name!r}, and the table has no such column"
                        f"{did_you_mean(name, table.columns)}"
                    )
        for name in self.as_text or ():
            if name in (self.as_category or ()):
                raise ValueError(f"{name!r} is both in as_text and in as_category. Choose one.")


def _listed(names) -> str:
    names = list(names)
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(repr(str(name)) for name in names[:MOST_LISTED]) + more
