"""Answers and labels as cells of a file, to a checked table; all bad cells are named at once.

What arrays must be is in table_checks.py.
"""

import warnings
from typing import Any

import numpy as np

from likewise.constraints.answer_words import explain_kind, kind_of
from likewise.constraints.labels import UNLABELLED
from likewise.constraints.table import KINDS, NO_ROW, WIDTHS, AnswerTable
from likewise.constraints.table_checks import (
    Name,
    check_points,
    check_table,
    check_weights,
    parse_seconds,
    parse_time,
    row_number,
    rows_by_id,
)
from likewise.files.cell_values import decoded, id_text, is_missing, parse_number
from likewise.files.column_types import is_no_value
from likewise.files.problem_list import as_sentence


def from_columns(
    columns: dict[str, list], n_samples: int, ids: np.ndarray | None, place: Name
) -> AnswerTable:
    """Cells to a checked table. ``place`` says where the i-th answer stands."""
    columns = {name: decode_column(cells, name, place) for name, cells in columns.items()}
    n_answers = len(columns["kind"])
    row_of = rows_by_id(ids)
    codes = np.zeros(n_answers, dtype=np.int8)
    points = np.full((n_answers, 3), NO_ROW, dtype=np.int64)
    thirds = columns.get("c") or [None] * n_answers
    problems: list[tuple[int, str]] = []
    for i, (word, *cells) in enumerate(zip(columns["kind"], columns["a"], columns["b"], thirds)):
        kind = kind_of(word)
        if kind is None:
            problems.append((i, f"{place(i)}: {explain_kind(word)}"))
            continue
        if kind == "undecided" and is_missing(cells[2]):
            kind = "undecided_pair"
        codes[i] = KINDS.index(kind)
        width = WIDTHS[codes[i]]
        if width == 2 and not is_missing(cells[2]):
            why = f"{kind} refers to two rows, but c is {cells[2]!r}"
            problems.append((i, f"{place(i)}: {why}"))
        for column, cell in enumerate(cells[:width]):
            where = f"{place(i)}: {'abc'[column]}"
            try:
                row = row_number(cell, row_of, where)
            except ValueError as error:
                problems.append((i, str(error).removesuffix(".")))
                continue
            points[i, column] = row
            if not 0 <= row < n_samples:
                problems.append((i, f"{where} = {row} is outside the {n_samples} rows of X"))

    def name(i: int) -> str:
        return f"{place(i)}: {KINDS[codes[i]]}"

    try:
        if not problems:
            written = enumerate(columns.get("weight") or [])
            weights = [parse_weight(cell, name, i) for i, cell in written]
            others = (columns.get(one) for one in ("annotator", "asked_at", "screen", "seconds"))
            return check_table(codes, points, n_samples, ids, name, weights or None, *others)
    except ValueError as error:
        if not (problems := _problems_by_line(columns, codes, points, n_samples, ids, name)):
            raise error from None
    else:
        is_read = np.ones(n_answers, dtype=bool)
        is_read[[i for i, _ in problems]] = False
        problems += _problems_by_line(columns, codes, points, n_samples, ids, name, is_read)
    raise ValueError(as_sentence([text for _, text in sorted(problems, key=lambda one: one[0])]))


def _problems_by_line(
    columns: dict[str, list],
    codes: np.ndarray,
    points: np.ndarray,
    n_samples: int,
    ids: np.ndarray | None,
    name: Name,
    is_read: np.ndarray | None = None,
) -> list[tuple[int, str]]:
    """What is wrong with each answer alone, where its rows could be read, and its other cells."""

    def check_rows(i: int) -> None:
        if is_read is None or is_read[i]:
            check_points(codes[i : i + 1], points[i : i + 1], n_samples, ids, lambda _: name(i))

    def check_weight(i: int) -> None:
        if columns.get("weight"):
            weight = parse_weight(columns["weight"][i], name, i)
            check_weights([weight], 1, lambda _: name(i))

    def check_others(i: int) -> None:
        for column, parse in (("asked_at", parse_time), ("seconds", parse_seconds)):
            if columns.get(column):
                parse(columns[column][i], name, i)

    problems = []
    for i in range(len(codes)):
        for check in (check_rows, check_weight, check_others):
            try:
                check(i)
            except ValueError as error:
                problems.append((i, str(error).removesuffix(".")))
    return problems


def read_labels(
    columns: dict[str, list], names: tuple[str, str], n_samples: int, ids, place: Name
) -> np.ndarray:
    """The label of each row (n,) from a table of rows and labels, None where there is none.

    Words for "no value" and -1 are no labels: the first is named in a warning.
    """
    cells, labels = (decode_column(columns[name], name, place) for name in names)
    row_of = rows_by_id(ids)
    first_place: dict[int, str] = {}
    y = np.full(n_samples, None, dtype=object)
    problems, without, way_out = [], [], ""
    for i, (cell, label) in enumerate(zip(cells, labels)):
        if is_missing(label):
            continue
        if isinstance(label, str) and (is_no_value(label) or label.strip() == str(UNLABELLED)):
            without.append(i)
            continue
        try:
            row = row_number(cell, row_of, f"{place(i)}: {names[0]}")
        except ValueError as error:
            problems.append(str(error).removesuffix("."))
            continue
        if not 0 <= row < n_samples:
            problems.append(f"{place(i)}: {names[0]} = {row} is outside the {n_samples} rows of X")
        elif row in first_place and y[row] != label:
            way_out = " Keep one label per row."
            problems.append(
                f"{place(i)}: {names[0]} = {id_text(cell)} has the label {label!r}, and {y[row]!r} "
                f"at {first_place[row]}"
            )
        else:
            y[row], first_place[row] = label, place(i)
    if problems:
        raise ValueError(as_sentence(problems) + way_out)
    if without:
        more = f", and so are {len(without) - 1} more" if len(without) > 1 else ""
        warnings.warn(
            f"{place(without[0])}: {labels[without[0]]!r} is taken for no label{more}. If it is "
            "one, write it differently.",
            UserWarning,
            stacklevel=4,
        )
    return y


def decode_column(cells: list, column: str, place: Name) -> list:
    """Cells with bytes as the text they hold, as some writers of Parquet leave it."""
    if not any(isinstance(cell, bytes) for cell in cells):
        return cells
    texts = []
    for i, cell in enumerate(cells):
        try:
            texts.append(decoded(cell))
        except ValueError as error:
            raise ValueError(f"{place(i)}: {column} = {error}.") from None
    return texts


def parse_weight(cell: Any, name: Name, i: int) -> float:
    try:
        return 1.0 if is_missing(cell) and not isinstance(cell, float) else parse_number(cell)
    except (TypeError, ValueError):
        raise ValueError(f"{name(i)} has the weight {cell!r}. It must be a number >= 0.") from None
