"""What DATA holds: numbers, a table of mixed columns, files, and the names of its rows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.cli.folder_data import (
    Files,
    encode_files,
    make_encoder,
    print_files_read,
    read_folder,
    read_image_column,
    thumbnails,
)
from likewise.cli.messages import count_of, print_details, print_message

MOST_NAMED = 12  # columns in one line
MOST_LETTERS = 40  # of an id
BEGIN_FORMULAS = "=@+-"
FORMULA = re.compile(r"[=@]|[+-](?![-\d .,/()]*$)")  # +49 30 1234 and -5 are none


@dataclass(frozen=True, eq=False)
class DataRows:
    """The rows of DATA, and how they become numbers."""

    rows: Any  # (n, d) numbers, or a CellTable
    features: Any  # the fitted transformer of a table; None for numbers
    n_rows: int
    feature_names: list[str] | None  # of numbers
    ids: list[str] | None = None
    id_column: str | None = None
    id_cells: Any = None  # the ids as the file has them, of their own type
    has_guessed_ids: bool = False  # no option and no column "id" said so
    texts: list[str] | None = None
    columns: tuple = ()  # what became of each
    encoder: Any = None  # the fitted transformer of files, whose numbers are in rows
    files: Any = None  # what it read
    is_read: Any = None  # (n,) which of the files could be
    problems: Mapping[str, str] = field(default_factory=dict)  # why the others could not

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and how many of the columns of DATA are used."""
        columns = self.feature_names or [column for column in self.columns if column.n_features]
        return self.n_rows, len(columns) or self.rows.shape[1]

    def numbers(self):
        """The rows as numbers (n, d)."""
        return self.rows if self.features is None else self.features.transform(self.rows)

    def preparation(self, asked: str) -> str:
        """Columns of a table have equal weights already; "auto" leaves them so."""
        return "none" if self.features is not None and asked == "auto" else asked

    @property
    def output_ids(self) -> tuple[Any, str | None]:
        """The ids and their column, as they are written beside the clusters."""
        return self.id_cells, self.id_column

    def output_labels(self, labels):
        """The clusters of all rows in DATA: -1 where a file could not be read."""
        import numpy as np

        if self.is_read is None or self.is_read.all():
            return labels
        complete = np.full(len(self.is_read), -1, dtype=labels.dtype)
        complete[self.is_read] = labels
        return complete

    def with_encoder(self, fitted):
        """The model to save: it takes what DATA holds."""
        from sklearn.pipeline import Pipeline

        if self.encoder is None:
            return fitted
        return Pipeline([("features", self.encoder), ("clusters", fitted)])

    def images(self):
        """Small images to show; None where the rows are none."""
        paths = self.image_paths()
        return None if paths is None else thumbnails(paths)

    def image_paths(self) -> list[str] | None:
        """The image file of each row; None where the rows are none."""
        if self.files is None or self.files.kind != "images":
            return None
        return [item for item, read in zip(self.files.items, self.is_read) if read]


@dataclass(frozen=True)
class ColumnChoice:
    """The options that choose columns."""

    features: list[str] | None = None
    exclude: list[str] | None = None
    as_text: list[str] | None = None
    as_category: list[str] | None = None


def read_data(
    data: str,
    id_column: str | None = None,
    choice: ColumnChoice | None = None,
    text_column: str | None = None,
    *,
    as_image: str | None = None,
    by_network: bool = False,
) -> DataRows:
    """Read DATA: numbers as they are, a table through TableFeatures, files through theirs."""
    from likewise.features import TableFeatures, TextFeatures
    from likewise.files.row_file import check_ids_differ, ending_of, read_named_table, read_rows

    choice = choice or ColumnChoice()
    if Path(data).is_dir():
        if id_column or text_column or as_image or any(vars(choice).values()):
            raise ValueError(f"{data} is a folder, which has no columns to choose from.")
        return encode_data(read_folder(data), by_network=by_network)
    if as_image is not None:
        if any(vars(choice).values()):
            raise ValueError("--as-image takes one column, and no other is used beside it.")
        return encode_data(read_image_column(data, as_image, id_column), by_network=by_network)
    if ending_of(data) == ".npy":
        if any((choice.exclude, choice.as_text, choice.as_category)):
            raise ValueError(f"{data} has no named columns to choose from.")
        numbers = read_rows(
            data, id_column=id_column, features=choice.features, text_column=text_column
        ).X
        return DataRows(numbers, None, len(numbers), None)
    named = read_named_table(data, id_column=id_column, text_column=text_column)
    if named.ids is not None:
        check_ids_differ(named.ids, named.table.place(str(named.id_column)))
    text_features = TextFeatures("sentences") if by_network else None
    features = TableFeatures(**vars(choice), text_features=text_features).fit(named.table)
    ids, id_column, id_cells, is_guessed = named.ids, named.id_column, named.id_cells, False
    if id_column is None:
        id_column = guess_id_column(features, named.table)
        if id_column is not None:
            id_cells, is_guessed = named.table.columns[id_column], True
            ids = [str(cell) for cell in id_cells.tolist()]
    used = [column.name for column in features.columns_ if column.n_features]
    X = None if choice.as_text or choice.as_category else plain_numbers(named.table, used)
    return DataRows(
        rows=named.table if X is None else X,
        features=features if X is None else None,
        n_rows=named.table.n_rows,
        feature_names=used if X is not None else None,
        ids=ids,
        id_column=id_column,
        id_cells=id_cells,
        has_guessed_ids=is_guessed,
        texts=named.texts,
        columns=features.columns_,
    )


def encode_data(files: Files, *, by_network: bool = False, encoder=None) -> DataRows:
    """Files as numbers, by a fitted encoder or a new one; what cannot be read is set apart."""
    is_new = encoder is None
    encoder = make_encoder(files.kind, by_network) if is_new else encoder
    encoded = encode_files(files, encoder, fit=is_new)
    print_files_read(files, encoded)
    if not encoded.is_read.any():
        raise ValueError("No image could be read.")
    kept = [name for name, read in zip(files.ids, encoded.is_read) if read]
    shown = [text for text, read in zip(files.items, encoded.is_read) if read]
    return DataRows(
        rows=encoded.X,
        features=None,
        n_rows=len(encoded.X),
        feature_names=None,
        ids=kept,
        id_column=files.id_column or "file",
        id_cells=files.ids,
        texts=shown if files.kind == "texts" else None,
        encoder=encoder,
        files=files,
        is_read=encoded.is_read,
        problems=encoded.problems,
    )


def plain_numbers(table, names: list[str]):
    """The columns as numbers (n, d); None where one of them has other cells, or gaps."""
    import numpy as np

    from likewise.files.column_types import typed_column

    columns = []
    for name in names:
        typed = typed_column(table.columns[name], table.place(name), notation=table.notation)
        if typed.kind != "number" or np.isnan(typed.values.astype(float)).any():
            return None
        columns.append(typed.values.astype(np.float64))
    return np.stack(columns, axis=1)


def guess_id_column(features, table) -> str | None:
    """The one column left out as an id that names every row, once; None where there is no such."""
    from likewise.features import is_id_name
    from likewise.files.column_types import is_no_value

    found = []
    for column in features.columns_:
        if column.kind == "left out" and is_id_name(column.name) and column.why != "as asked":
            cells = table.columns[column.name].tolist()
            if len(set(cells)) == len(cells) and not any(map(is_no_value, cells)):
                found.append(column.name)
    return found[0] if len(found) == 1 else None


def read_answers(path: str | None, rows: DataRows):
    """The answers of a file, by id or by row number; none without a file."""
    from likewise.constraints import Constraints

    if path is None:
        return Constraints(rows.n_rows, ids=rows.ids)
    try:
        return Constraints.read(path, n_samples=rows.n_rows, ids=rows.ids)
    except ValueError as error:
        if {"kind", "a", "b"} <= {column.name for column in rows.columns}:
            raise ValueError(f"{error} DATA holds answers: are the two files swapped?") from None
        if not rows.has_guessed_ids:
            raise
        try:  # nobody said that the rows go by these ids
            return Constraints.read(path, n_samples=rows.n_rows)
        except ValueError as by_number:
            are_numbers = " is outside the " in str(by_number)
            if are_numbers and "is not a row number" not in str(by_number):
                raise ValueError(f"{by_number} They are numbered from 0.") from None
        raise


def refuse_none(answers, path: str) -> None:
    """An error where a command is about answers and the file holds none."""
    if not answers.n_answers:
        raise ValueError(f"{Path(path).name} holds no answers. Write some, or likewise ask DATA.")


def print_columns(rows: DataRows) -> None:
    """What became of the columns: the used ones in a line, and each that is left out."""
    used = [column for column in rows.columns if column.n_features]
    left_out = [c for c in rows.columns if not c.n_features and c.why != "as asked"]
    left_out = [column for column in left_out if column.name != rows.id_column]
    if rows.has_guessed_ids:
        print_message(f"ids: column {rows.id_column}")
    formulas = [one for one in rows.ids or () if one[:1] in BEGIN_FORMULAS and FORMULA.match(one)]
    if formulas:
        print_message(
            f"careful: a spreadsheet takes {count_of(len(formulas), 'id')} for formulas, such as "
            f"{formulas[0][:MOST_LETTERS]}; import the column as text there"
        )
    if rows.features is not None:
        kinds = [f"{c.kind}, {c.why}" if c.kind == "date" and c.why else c.kind for c in used]
        named = ", ".join(
            f"{' '.join(c.name.split())} ({kind})" for c, kind in zip(used[:MOST_NAMED], kinds)
        )
        more = f" and {len(used) - MOST_NAMED} more" if len(used) > MOST_NAMED else ""
        print_message(f"columns: {named}{more}")
    for column in left_out[:MOST_NAMED]:
        print_message(f"left out: {column.name or '(no name)'}: {column.why}")
    if len(left_out) > MOST_NAMED:
        print_message(f"left out: {len(left_out) - MOST_NAMED} more; -v lists them")
    for column in rows.columns:
        print_details(f"  {column}")
