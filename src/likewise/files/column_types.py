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
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from likewise.files.cell_table import Place, as_cells
from likewise.files.table_file import decoded, id_text, is_missing, listed, parse_number
from likewise.numerics.rows import LARGEST

# Words for "no value", as pandas takes them, and the two that people type.
MISSING_WORDS = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "-NaN", "NULL", "null"]
    + ["None", "NaT", "#NA", "?", "-"]
)
FLAG_WORDS = [
    {yes: 1.0, no: 0.0} for yes, no in (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"))
]
# Beside ISO 8601. The first format that fits the whole column is taken: month first where both do.
DATE_FORMATS = (
    *("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m/%d/%y", "%d.%m.%y"),
    *("%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"),
)
TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
MOSTLY = 0.95  # of the cells of a column: the others are then typing errors
FEWEST_CELLS = 20  # to say so
N_TRIED = 500  # distinct cells, spread over the column: half of them must fit a type
N_PROBED = 50  # distinct cells that a format is tried on first

_SIGNS = re.compile(r"^[$€£¥]\s*|\s*[%€$£]$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?")
_LIKE_A_DATE = re.compile(r"\d{1,4}\s*[-/. ]\s*\w|[^\W\d]{3,9} \d{1,2},|\d{8}")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")


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
    styles: str = ""  # of words that are dates: in which ways they are written


def typed_column(cells: np.ndarray, place: Place, *, notation: str = "") -> TypedColumn:
    """The cells (n,) of a column by what they are; a notation that is known is kept to."""
    if cells.dtype.kind != "O":
        return _typed_array(cells, place)
    try:
        distinct, codes = factorize(cells)
    except TypeError:  # lists, dicts
        return TypedColumn("other", cells)
    known = {code: cell for code, cell in enumerate(distinct) if not is_no_value(cell)}
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
            return TypedColumn(kind, filled, notation_found)
        if n_known >= FEWEST_CELLS and n_read >= MOSTLY * n_known:
            wrong = np.flatnonzero(np.isin(codes, sorted(known.keys() - values.keys())))
            like = f" like the others, such as {known[min(values)]!r}" if kind == "date" else ""
            raise CellProblems(
                [describe_problem(place(i), cells[i], kind) + like for i in wrong.tolist()],
                "Correct them, or leave the cells empty; as_category= (--as-category) takes a "
                "column as it is.",
            )
        if values and 2 * n_read > n_known:
            other = known[min(known.keys() - values.keys())]
            mostly = f"{n_read} of {n_known} cells are {kind}s, and others are not, as {other!r}"
    if not all(isinstance(cell, str | Real | date) for cell in known.values()):
        return TypedColumn("other", cells)
    words = np.empty(len(distinct), dtype=object)
    for code, cell in known.items():
        words[code] = id_text(cell).strip()
    styles = describe_styles(known, few, codes, place)
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
            code: float(cell)
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


def describe_styles(
    known: dict[int, Any], few: dict[int, Any], codes: np.ndarray, place: Place
) -> str:
    """In which ways the dates of a column are written, where there are several; else ""."""
    if sum(map(len, _date_styles(few))) < MOSTLY * len(few):
        return ""
    styles = _date_styles(known)
    if len(styles) < 2 or sum(map(len, styles)) < MOSTLY * len(known):
        return ""
    ways = []
    for style in styles:
        rows = np.flatnonzero(np.isin(codes, style))
        ways.append(f"{len(rows)} like {known[codes[rows[0]]]!r} ({place(rows[0])})")
    return (
        f"its dates are written in {len(ways)} ways, {', '.join(ways)}: write all in one way, such "
        "as 2026-01-31"
    )


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
        table[code] = value
    return table[codes]


def _check_finite(cells: np.ndarray, place: Place) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(np.abs(cells.astype(np.float64)) > LARGEST)
    if len(wrong):
        raise CellProblems(
            [describe_problem(place(i), cells[i], "number") for i in wrong.tolist()],
            "Correct them, or leave the cells empty.",
        )
    return cells if cells.dtype.kind in "iu" else cells.astype(np.float64)


def _flags_of(known: dict[int, Any], _: str) -> tuple[dict[int, float], str]:
    if any(isinstance(cell, bool | np.bool_) for cell in known.values()):
        flags = {c: float(cell) for c, cell in known.items() if isinstance(cell, bool | np.bool_)}
        return flags, ""
    texts = {code: cell.strip().lower() for code, cell in known.items() if isinstance(cell, str)}
    most_read: dict[int, float] = {}
    for words in FLAG_WORDS:
        read = {code: words[text] for code, text in texts.items() if text in words}
        most_read = read if len(read) > len(most_read) else most_read
    return most_read, ""


def _numbers_of(known: dict[int, Any], notation: str) -> tuple[dict[int, float], str]:
    texts = {
        c: _SIGNS.sub("", decoded(cell).strip()) for c, cell in known.items() if _is_text(cell)
    }
    if any(_LEADING_ZERO.fullmatch(text) for text in texts.values()):
        return {}, notation  # a postal code, an account: 007 is not 7
    with_comma = [text for text in texts.values() if "," in text]
    if with_comma and notation not in (",", "."):
        notation = "." if all(_THOUSANDS.fullmatch(text) for text in with_comma) else ","
    numbers = {}
    for code, cell in known.items():
        if isinstance(cell, bool | np.bool_ | date):
            continue
        if code in texts:
            cell = _with_point(texts[code], notation)
        try:
            number = float(cell) if isinstance(cell, Decimal) else parse_number(cell)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            numbers[code] = number
    return numbers, notation


def _with_point(text: str, notation: str) -> str:
    """1.234,5 and 1,234.5 as Python writes it, each in its notation."""
    if notation == "," and _DECIMAL_COMMA.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _dates_of(known: dict[int, Any], notation: str) -> tuple[dict[int, np.datetime64], str]:
    dates = {}
    texts = {}
    for code, cell in known.items():
        if isinstance(cell, np.datetime64):
            dates[code] = cell.astype("M8[us]")
        elif isinstance(cell, datetime | date):
            dates[code] = _in_utc(cell)
        elif _is_text(cell):
            texts[code] = decoded(cell).strip()
    texts = {code: text for code, text in texts.items() if _LIKE_A_DATE.match(text)}
    if not texts:
        return dates, notation
    notation = notation if notation[:1] == "%" else _find_format(texts)
    return dates | _parse_all(texts, _parser(notation)), notation


def _find_format(texts: dict[int, str]) -> str:
    """The format that reads most of the texts, "" for ISO 8601; ties go to the first."""
    formats = ["", *(f"{day}{time}" for day in DATE_FORMATS for time in TIME_FORMATS)]
    probed = dict(list(texts.items())[:N_PROBED])
    counts = [len(_parse_all(probed, _parser(pattern))) for pattern in formats]
    best = [pattern for pattern, count in zip(formats, counts) if count == max(counts)]
    if len(best) == 1 or not max(counts):
        return best[0]
    return max(best, key=lambda pattern: len(_parse_all(texts, _parser(pattern))))  # 31/12 decides


def _date_styles(known: dict[int, Any]) -> list[list[int]]:
    """The cells that one format reads, then those of the others that another does, and so on."""
    left = {code: cell.strip() for code, cell in known.items() if isinstance(cell, str)}
    left = {code: text for code, text in left.items() if _LIKE_A_DATE.match(text)}
    styles = []
    while left and (read := _parse_all(left, _parser(_find_format(left)))):
        styles.append(sorted(read))
        left = {code: text for code, text in left.items() if code not in read}
    return styles


def _parser(pattern: str) -> Callable[[str], datetime]:
    return (lambda text: datetime.strptime(text, pattern)) if pattern else datetime.fromisoformat


def _parse_all(texts: dict[int, str], parse: Callable[[str], datetime]) -> dict:
    dates = {}
    for code, text in texts.items():
        try:
            dates[code] = _in_utc(parse(text))
        except (ValueError, OverflowError):
            continue
    return dates


def _in_utc(moment: date) -> np.datetime64:
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


_READERS: dict[str, Callable[[dict, str], tuple[dict, str]]] = {
    "flag": _flags_of,
    "number": _numbers_of,
    "date": _dates_of,
}


def _is_real(cell: Any) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str | bytes)
