"""Dates and times as people write them: ISO 8601, 31.01.2026, 1/31/2026 5:00 PM, 08:15.

A column has one format, the one that reads most of its cells; month first where both do. What has
no time zone is taken for UTC, times of the day stand on the first of January 1970.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np

from likewise.files.cell_table import Place
from likewise.files.cell_values import decoded

# Beside ISO 8601. The first format that fits the whole column is taken: month first where both do.
DATE_FORMATS = (
    *("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m/%d/%y", "%d.%m.%y"),
    *("%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"),
)
TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
MONTH = "%Y-%m"
TIMES_OF_DAY = ("%H:%M", "%H:%M:%S", "%I:%M %p")
DAY = "%Y%m%d"  # 20260131, which is a number too
FIRST_DAY, LAST_DAY = 1900_01_01, 2100_12_31
FEWEST_DAYS = 12  # distinct numbers that are all days: no coincidence
N_PROBED = 50  # distinct cells that a format is tried on first

_LIKE_A_DATE = re.compile(r"\d{1,4}\s*[-/. ]\s*\w|[^\W\d]{3,9} \d{1,2},|\d{8}|\d{1,2}:\d\d")
_SURELY_A_DATE = re.compile(r"\d{4}-\d\d?-\d\d?\b|\d{1,2}([./-])\d{1,2}\1(19|20)?\d\d\b")
_UTC = re.compile(r"\s*(UTC|GMT)$")


def read_dates(known: Mapping[int, Any], notation: str) -> tuple[dict[int, np.datetime64], str]:
    """The cells that are dates, and the format of the column; a known one is kept to."""
    dates = {}
    texts = {}
    for code, cell in known.items():
        if isinstance(cell, np.datetime64):
            dates[code] = cell.astype("M8[us]")
        elif isinstance(cell, datetime | date):
            dates[code] = in_utc(cell)
        elif isinstance(cell, time):
            dates[code] = in_utc(datetime.combine(date(1970, 1, 1), cell))
        elif isinstance(cell, str | bytes):
            texts[code] = decoded(cell).strip()
        elif notation == DAY and cell == cell and float(cell).is_integer():
            texts[code] = str(int(cell))
    texts = {code: text for code, text in texts.items() if _LIKE_A_DATE.match(text)}
    if not texts:
        return dates, notation
    notation = notation if notation[:1] == "%" else find_format(texts)
    return dates | parse_all(texts, notation), notation


def are_days(numbers: Mapping[int, float]) -> bool:
    """Whether all of the distinct numbers are days, as 20260131 is."""
    if len(numbers) < FEWEST_DAYS:
        return False
    if not all(FIRST_DAY <= x <= LAST_DAY and x == int(x) for x in numbers.values()):
        return False
    return len(parse_all({code: str(int(x)) for code, x in numbers.items()}, DAY)) == len(numbers)


def find_format(texts: Mapping[int, str]) -> str:
    """The format that reads most of the texts, "" for ISO 8601; ties go to the first."""
    formats = ["", *(f"{day}{time}" for day in DATE_FORMATS for time in TIME_FORMATS)]
    formats += [MONTH, *TIMES_OF_DAY]
    probed = dict(list(texts.items())[:N_PROBED])
    counts = [len(parse_all(probed, pattern)) for pattern in formats]
    best = [pattern for pattern, count in zip(formats, counts) if count == max(counts)]
    if len(best) == 1 or not max(counts):
        return best[0]
    return max(best, key=lambda pattern: len(parse_all(texts, pattern)))  # 31/12 decides


def parse_all(texts: Mapping[int, str], pattern: str) -> dict[int, np.datetime64]:
    """The texts that a format reads."""
    parse, dates = _parser(pattern), {}
    for code, text in texts.items():
        try:
            dates[code] = in_utc(parse(_UTC.sub("", text)))
        except (ValueError, OverflowError):
            continue
    return dates


def _parser(pattern: str) -> Callable[[str], datetime]:
    if pattern in TIMES_OF_DAY:
        return lambda text: datetime.strptime(text, pattern).replace(year=1970)
    return (lambda text: datetime.strptime(text, pattern)) if pattern else datetime.fromisoformat


def in_utc(moment: date) -> np.datetime64:
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def describe_styles(
    known: Mapping[int, Any],
    few: Mapping[int, Any],
    codes: np.ndarray,
    place: Place,
    *,
    share: float,
) -> str:
    """How the dates of a column are written, where they are not all read; else "".

    A `share` of the cells must be dates; `few` are some of the distinct ones, tried first.
    """
    read = {code for style in _styles_of(few) for code in style}
    if len(read) < share * len(few):
        unread = [
            cell.strip()
            for code, cell in few.items()
            if code not in read and isinstance(cell, str) and _SURELY_A_DATE.match(cell.strip())
        ]
        if not unread or len(read) + len(unread) < share * len(few):
            return ""
        return f"its dates cannot be read, as {unread[0]!r}: write them as 2026-01-31T14:30+01:00"
    styles = _styles_of(known)
    if len(styles) < 2 or sum(map(len, styles)) < share * len(known):
        return ""
    ways = []
    for style in styles:
        rows = np.flatnonzero(np.isin(codes, style))
        ways.append(f"{len(rows)} like {known[codes[rows[0]]]!r} ({place(rows[0])})")
    return (
        f"its dates are written in {len(ways)} ways, {', '.join(ways)}: write all in one way, such "
        "as 2026-01-31"
    )


def _styles_of(known: Mapping[int, Any]) -> list[list[int]]:
    """The cells that one format reads, then those of the others that another does, and so on."""
    left = {code: cell.strip() for code, cell in known.items() if isinstance(cell, str)}
    left = {code: text for code, text in left.items() if _LIKE_A_DATE.match(text)}
    styles = []
    while left and (read := parse_all(left, find_format(left))):
        styles.append(sorted(read))
        left = {code: text for code, text in left.items() if code not in read}
    return styles
