"""What the cells of one column are: numbers, yes or no, dates, or words.

    number   float64, nan where missing
    flag     yes or no: 1.0, 0.0, nan where missing
    date     datetime64[us] in UTC, NaT where missing
    word     text as it is, None where missing
    other    lists, dicts and the like

Text is read the way people write it: 1,234.50 and 1.234,50, 12 %, $ 5, yes and no, 31.01.2026.
A column is of the first type that all of its cells fit. Where nearly all of them do, the others are
taken for typing errors, and all of them are listed in one error with their places.
"""

import math
from collections.abc import Callable, Iterable
from datetime import date, time
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from likewise.files.cell_table import Place, as_cells
from likewise.files.cell_values import decoded, id_text, is_missing, parse_number
from likewise.files.date_cells import (
    DAY,
    are_days,
    describe_styles,
    parse_all,
    read_dates,
)
from likewise.files.number_cells import describe_units, read_numbers
from likewise.files.problem_list import listed
from likewise.numerics.rows import LARGEST

# Words for "no value", as pandas takes them, and what people type and spreadsheets write.
MISSING_WORDS = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "-NaN", "NULL", "null"]
    + ["None", "NaT", "#NA", "?", "-", "--", ".", "n.a.", "N.A.", "k.A."]
    + ["#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"]  # of a spreadsheet
)
FLAG_WORDS = [
    {yes: 1.0, no: 0.0} for yes, no in (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"))
]
WHOLE_FLAG_WORDS = frozenset(
    ["true", "false", "yes", "no"]
)  # beside which y, T and 1 are flags too
MIXED_FLAG_WORDS = {word: flag for words in FLAG_WORDS for word, flag in words.items()}
MIXED_FLAG_WORDS |= {"1": 1.0, "0": 0.0}
MOSTLY = 0.95  # of the cells of a column: the others are then typing errors
FEWEST_CELLS = 20  # to say so
N_TRIED = 500  # distinct cells, spread over the column: half of them must fit a type


class CellProblems(ValueError):
    """Cells that do not fit their column; several columns' problems can be put into one error."""

    def __init__(self, problems: list[str], way_out: str):
        super().__init__(f"{listed(problems)}. {way_out}")
        self.problems, self.way_out = problems, way_out


class TypedColumn(NamedTuple):
    kind: str  # one of the five above
    values: np.ndarray  # (n,)
    notation: str = ""  # the decimal sign of numbers, the format of dates; "" where it is plain
    mostly: str = ""  # of words: what more than half of the cells are, and one that is not
    styles: str = ""  # of words that are dates or numbers: in which ways they are written


def typed_column(cells: np.ndarray, place: Place, *, notation: str = "") -> TypedColumn:
    """The cells (n,) of a column by what they are; a notation that is known is kept to."""
    if cells.dtype.kind != "O":
        return _typed_array(cells, place)
    try:
        distinct, codes = factorize(cells)
    except TypeError:  # lists, dicts
        return TypedColumn("other", cells)
    known = {code: cell for code, cell in enumerate(distinct) if not is_no_value(cell)}
    if not all(map(_is_text, known.values())):
        return TypedColumn("other", cells)
    if known and all(_is_real(cell) for cell in known.values()):
        numbers = _spread("number", known, codes, len(distinct))
        return TypedColumn("number", _check_finite(numbers, place))
    counts = np.bincount(codes, minlength=len(distinct))
    n_known = int(sum(counts[code] for code in known))
    few = dict(list(known.items())[:: max(1, len(known) // N_TRIED)])
    mostly = ""
    for kind, read in _READERS.items():
        if 2 * len(read(few, notation)[0]) < len(few):  # a million ids are not tried one by one
            continue
        values, notation_found = read(known, notation)
        n_read = int(sum(counts[code] for code in values))
        if n_read == n_known and known:
            filled = _spread(kind, values, codes, len(distinct))
            if kind == "number":
                _check_finite(filled, place)
                if are_days(values):
                    texts = {code: str(int(day)) for code, day in values.items()}
                    days = _spread("date", parse_all(texts, DAY), codes, len(distinct))
                    return TypedColumn("date", days, DAY)
            return TypedColumn(kind, filled, notation_found)
        if n_known >= FEWEST_CELLS and n_read >= MOSTLY * n_known:
            wrong = np.flatnonzero(np.isin(codes, sorted(known.keys() - values.keys())))
            like = "" if kind == "flag" else f" like the others, such as {known[min(values)]!r}"
            raise CellProblems(
                [describe_problem(place(i), cells[i], kind) + like for i in wrong.tolist()],
                "Correct them, or leave the cells empty; as_category= (--as-category) takes a "
                "column as it is, exclude= (--exclude) leaves it out.",
            )
        if values and 2 * n_read > n_known:
            other = known[min(known.keys() - values.keys())]
            mostly = f"{n_read} of {n_known} cells are {kind}s, and others are not, as {other!r}"
    if not all(isinstance(cell, str | Real | date | time) for cell in known.values()):
        return TypedColumn("other", cells)
    words = np.empty(len(distinct), dtype=object)
    for code, cell in known.items():
        words[code] = id_text(cell).strip()
    styles = describe_units(known) or describe_styles(known, few, codes, place, share=MOSTLY)
    return TypedColumn("word", words[codes], mostly=mostly, styles=styles)


def as_kind(cells: np.ndarray, kind: str, place: Place, *, notation: str = "") -> np.ndarray:
    """The cells (n,) of a column whose kind is known, or one error that lists those that differ."""
    if kind == "word":
        return as_words(cells)
    if cells.dtype.kind != "O":
        typed = _typed_array(cells, place)
        if typed.kind == kind or (kind, typed.kind) == ("number", "flag"):
            return typed.values
        cells = as_cells(cells.tolist())
    distinct, codes = factorize(cells)
    known = {code: cell for code, cell in enumerate(distinct) if not is_no_value(cell)}
    values, _ = _READERS[kind](known, notation)
    if kind != "date":  # a flag is written as 0 and 1 too, and a number as a flag by a program
        values |= {
            code: parse_number(cell)
            for code, cell in known.items()
            if isinstance(cell, Real | np.bool_) and (kind == "number" or cell in (0, 1))
        }
        if kind == "flag":
            values |= {code: float(cell) for code, cell in known.items() if cell in ("0", "1")}
    wrong = np.flatnonzero(np.isin(codes, sorted(known.keys() - values.keys())))
    if len(wrong):
        problems = [describe_problem(place(i), cells[i], kind) for i in wrong.tolist()]
        raise CellProblems(problems, "Correct them, or leave the cells empty.")
    filled = _spread(kind, values, codes, len(distinct))
    return filled if kind == "date" else _check_finite(filled, place)


def _typed_array(cells: np.ndarray, place: Place) -> TypedColumn:
    kind = cells.dtype.kind
    if kind == "b":
        return TypedColumn("flag", cells.astype(np.float64))
    if kind == "m":  # in days
        return TypedColumn("number", cells / np.timedelta64(1, "D"))
    if kind == "M":
        return TypedColumn("date", cells.astype("M8[us]"))
    return TypedColumn("number", _check_finite(cells, place))


def as_words(cells: np.ndarray) -> np.ndarray:
    """Each cell (n,) as text, None where it is missing."""
    words = np.empty(len(cells), dtype=object)
    distinct, codes = factorize(cells)
    for code, cell in enumerate(distinct):
        words[code] = None if is_no_value(cell) else id_text(cell).strip()
    return words[: len(distinct)][codes] if len(cells) else words


def describe_problem(place: str, cell: Any, kind: str) -> str:
    """Why a cell is not of its column's kind."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    if kind == "number":
        try:
            if LARGEST < abs(parse_number(cell)) < math.inf:
                return f"{place}: {cell!r} is more than {LARGEST:g}"
        except (TypeError, ValueError):
            pass
    return f"{place}: {cell!r} is not a {kind}"


def collect_problems(work: Iterable[Callable[[], Any]]) -> list:
    """What each piece of work returns, or all of their cell problems in one error."""
    results, problems, ways_out = [], [], []
    for piece in work:
        try:
            results.append(piece())
        except CellProblems as error:
            problems += error.problems
            ways_out.append(error.way_out)
    if problems:
        raise ValueError(str(CellProblems(problems, " ".join(dict.fromkeys(ways_out)))))
    return results


def factorize(cells: np.ndarray) -> tuple[list, np.ndarray]:
    """The distinct cells as they first come, and the number (n,) of each cell among them."""
    code_of: dict[Any, int] = {}
    codes = (code_of.setdefault(cell, len(code_of)) for cell in cells.tolist())
    numbers = np.fromiter(codes, dtype=np.int64, count=len(cells))
    return list(code_of), numbers


def is_no_value(cell: Any) -> bool:
    """Missing, or a word for it."""
    return (cell.strip() in MISSING_WORDS) if isinstance(cell, str) else is_missing(cell)


def _spread(kind: str, values: dict[int, Any], codes: np.ndarray, n_distinct: int) -> np.ndarray:
    """From values of distinct cells to one per cell."""
    if kind == "date":
        table = np.full(n_distinct, np.datetime64("NaT", "us"))
    else:
        table = np.full(n_distinct, np.nan)
    for code, value in values.items():
        try:
            table[code] = value
        except OverflowError:  # a whole number of JSON
            table[code] = math.inf
    return table[codes]


def _check_finite(cells: np.ndarray, place: Place) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(np.abs(cells.astype(np.float64)) > LARGEST)
    if len(wrong):
        raise CellProblems(
            [describe_problem(place(i), cells[i], "number") for i in wrong.tolist()],
            "Correct them, or leave the cells empty, or the column out: exclude= (--exclude).",
        )
    return cells if cells.dtype.kind in "iu" else cells.astype(np.float64)


def _flags_of(known: dict[int, Any], _: str) -> tuple[dict[int, float], str]:
    if any(isinstance(cell, bool | np.bool_) for cell in known.values()):
        flags = {c: float(cell) for c, cell in known.items() if isinstance(cell, bool | np.bool_)}
        return flags, ""
    texts = {code: cell.strip().lower() for code, cell in known.items() if isinstance(cell, str)}
    most_read: dict[int, float] = {}
    ways = list(FLAG_WORDS)
    if WHOLE_FLAG_WORDS & set(texts.values()):
        ways.append(MIXED_FLAG_WORDS)
    for words in ways:
        read = {code: words[text] for code, text in texts.items() if text in words}
        most_read = read if len(read) > len(most_read) else most_read
    return most_read, ""


_READERS: dict[str, Callable[[dict, str], tuple[dict, str]]] = {
    "flag": _flags_of,
    "number": read_numbers,
    "date": read_dates,
}


def _is_text(cell: Any) -> bool:
    """False of bytes that hold none."""
    try:
        decoded(cell)
    except ValueError:
        return False
    return True


def _is_real(cell: Any) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)
