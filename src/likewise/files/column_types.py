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

from likewise.files.table_file import decoded, id_text, is_missing, parse_number
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
MOST_LISTED = 20  # problems in one error
N_PROBED = 50  # distinct cells that a format is tried on first

_SIGNS = re.compile(r"^[$€£¥]\s*|\s*[%€$£]$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?")
_LIKE_A_DATE = re.compile(r"\d{1,4}\s*[-/. ]\s*\w|[^\W\d]{3,9} \d{1,2},|\d{8}")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")

Place = Callable[[int], str]  # where the cell of row i stands


class TypedColumn(NamedTuple):
    kind: str  # one of the five above
    values: np.ndarray  # (n,)


def typed_column(cells: np.ndarray, place: Place, *, decimal_comma: bool = False) -> TypedColumn:
    """The cells (n,) of a column by what they are."""
    kind = cells.dtype.kind
    if kind == "b":
        return TypedColumn("flag", cells.astype(np.float64))
    if kind in "iuf":
        return TypedColumn("number", _check_finite(cells, place))
    if kind == "m":  # in days
        return TypedColumn("number", cells / np.timedelta64(1, "D"))
    if kind == "M":
        return TypedColumn("date", cells.astype("M8[us]"))
    try:
        distinct, codes = factorize(cells)
    except TypeError:  # lists, dicts
        return TypedColumn("other", cells)
    known = {code: cell for code, cell in enumerate(distinct) if not is_no_value(cell)}
    if known and all(_is_real(cell) for cell in known.values()):
        numbers = _spread("number", known, codes, len(distinct))
        return TypedColumn("number", _check_finite(numbers, place))
    counts = np.bincount(codes, minlength=len(distinct))
    readers = (
        ("flag", lambda: _flags_of(known)),
        ("number", lambda: _numbers_of(known, decimal_comma)),
        ("date", lambda: _dates_of(known)),
    )
    n_known = int(sum(counts[code] for code in known))
    for kind_of_reader, read in readers:
        values = read()
        n_read = int(sum(counts[code] for code in values))
        if n_read == n_known and known:
            filled = _spread(kind_of_reader, values, codes, len(distinct))
            return TypedColumn(kind_of_reader, filled)
        if n_known >= FEWEST_CELLS and n_read >= MOSTLY * n_known:
            wrong = np.flatnonzero(np.isin(codes, sorted(known.keys() - values.keys())))
            raise ValueError(
                list_problems(
                    (f"{place(i)}: {cells[i]!r} is not a {kind_of_reader}" for i in wrong.tolist()),
                    len(wrong),
                    "Correct them, or leave the cells empty; as_category= (--as-category) takes "
                    "the column as it is.",
                )
            )
    if not all(isinstance(cell, str | Real | date) for cell in known.values()):
        return TypedColumn("other", cells)
    words = np.empty(len(distinct), dtype=object)
    for code, cell in known.items():
        words[code] = id_text(cell).strip()
    return TypedColumn("word", words[codes])


def as_kind(
    cells: np.ndarray, kind: str, place: Place, *, decimal_comma: bool = False
) -> np.ndarray:
    """The cells (n,) of a column whose kind is known, or one error that lists those that differ."""
    if kind == "word":
        return as_words(cells)
    known = np.array([not is_no_value(cell) for cell in cells.tolist()], dtype=bool)
    if not known.any():
        return _spread(kind, {}, np.zeros(len(cells), dtype=np.int64), 1)
    typed = typed_column(cells, place, decimal_comma=decimal_comma)
    if typed.kind == kind or (kind == "number" and typed.kind == "flag"):
        return typed.values
    if kind == "flag" and typed.kind == "number":
        wrong = np.flatnonzero(known & ~np.isin(typed.values, (0.0, 1.0)))
        if not len(wrong):
            return typed.values
    else:
        wrong = np.flatnonzero(known)
        readers: dict[str, Callable[[dict], dict]] = {
            "flag": _flags_of,
            "number": _numbers_of,
            "date": _dates_of,
        }
        fits = readers[kind](dict(enumerate(cells[wrong].tolist())))
        wrong = np.delete(wrong, list(fits))
    problems = (f"{place(i)}: {cells[i]!r} is not a {kind}" for i in wrong.tolist())
    way_out = f"This column was read as {kind}s before; correct the cells, or leave them empty."
    raise ValueError(list_problems(problems, len(wrong), way_out))


def as_words(cells: np.ndarray) -> np.ndarray:
    """Each cell (n,) as text, None where it is missing."""
    words = np.empty(len(cells), dtype=object)
    distinct, codes = factorize(cells)
    for code, cell in enumerate(distinct):
        words[code] = None if is_no_value(cell) else id_text(cell).strip()
    return words[: len(distinct)][codes] if len(cells) else words


def list_problems(problems: Iterable[str], n_problems: int, way_out: str) -> str:
    """Every problem in one message, up to a page of them, and the way out."""
    shown = [problem for problem, _ in zip(problems, range(MOST_LISTED))]
    more = f"; and {n_problems - len(shown)} more" if n_problems > len(shown) else ""
    return f"{'; '.join(shown)}{more}. {way_out}"


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
        problems = (f"{place(i)}: {cells[i]} is not a finite number" for i in wrong.tolist())
        raise ValueError(list_problems(problems, len(wrong), "Correct them, or leave them empty."))
    return cells if cells.dtype.kind in "iu" else cells.astype(np.float64)


def _flags_of(known: dict[int, Any]) -> dict[int, float]:
    if any(isinstance(cell, bool | np.bool_) for cell in known.values()):
        return {c: float(cell) for c, cell in known.items() if isinstance(cell, bool | np.bool_)}
    texts = {code: cell.strip().lower() for code, cell in known.items() if isinstance(cell, str)}
    most_read: dict[int, float] = {}
    for words in FLAG_WORDS:
        read = {code: words[text] for code, text in texts.items() if text in words}
        most_read = read if len(read) > len(most_read) else most_read
    return most_read


def _numbers_of(known: dict[int, Any], decimal_comma: bool = False) -> dict[int, float]:
    texts = {code: _SIGNS.sub("", cell.strip()) for code, cell in known.items() if _is_text(cell)}
    if any(_LEADING_ZERO.fullmatch(text) for text in texts.values()):
        return {}  # a postal code, an account: 007 is not 7
    with_comma = [text for text in texts.values() if "," in text]
    if with_comma:
        decimal_comma |= not all(_THOUSANDS.fullmatch(text) for text in with_comma)
    numbers = {}
    for code, cell in known.items():
        if isinstance(cell, bool | np.bool_ | date):
            continue
        if code in texts and with_comma:
            cell = _without_comma(texts[code], decimal_comma)
        elif code in texts:
            cell = texts[code]
        try:
            number = float(cell) if isinstance(cell, Decimal) else parse_number(cell)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number) and abs(number) <= LARGEST:
            numbers[code] = number
    return numbers


def _without_comma(text: str, decimal_comma: bool) -> str:
    if decimal_comma and _DECIMAL_COMMA.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _dates_of(known: dict[int, Any]) -> dict[int, np.datetime64]:
    dates = {}
    texts = {}
    for code, cell in known.items():
        if isinstance(cell, np.datetime64):
            dates[code] = cell.astype("M8[us]")
        elif isinstance(cell, datetime | date):
            dates[code] = _in_utc(cell)
        elif _is_text(cell):
            texts[code] = decoded(cell).strip()
    if texts:
        dates |= _parse_texts(texts)
    return dates


def _parse_texts(texts: dict[int, str]) -> dict[int, np.datetime64]:
    """Dates by the format that reads most of the texts."""
    texts = {code: text for code, text in texts.items() if _LIKE_A_DATE.match(text)}
    probed = dict(list(texts.items())[:N_PROBED])
    parsers = [datetime.fromisoformat]
    parsers += [_parser(f"{day}{time}") for day in DATE_FORMATS for time in TIME_FORMATS]
    counts = [len(_parse_all(probed, parse)) for parse in parsers]
    if not any(counts):
        return {}
    first = parsers[int(np.argmax(counts))]
    read = _parse_all(texts, first)
    for parse, count in zip(parsers, counts):  # 31/12 may come after the first fifty
        if len(read) < len(texts) and parse is not first and count == max(counts):
            other = _parse_all(texts, parse)
            read = other if len(other) > len(read) else read
    return read


def _parser(pattern: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, pattern)


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


def _is_real(cell: Any) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str | bytes)
