"""Numbers as people write them: 1,234.50 and 1.234,50, 12 %, $ 5, (3.20), 1 234,5 kg.

A column has one notation, "," where decimals have commas, and at most one unit beside bare numbers:
$ 5 beside € 5 is not the same as 5 beside 5, nor is 12 % beside 12.
"""

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from likewise.files.cell_values import decoded, parse_number

SIGNS = (
    "%",
    "‰",
    "$",
    "€",
    "£",
    "¥",
    "₹",
    "₽",
    "₩",
    "₺",
    "R$",
    "kr",
    "zł",
    "Kč",
    "Ft",
    "Fr.",
    "Rs.",
)
CURRENCIES = (
    *("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK"),
    *("PLN", "CZK", "HUF", "RUB", "BRL", "MXN", "ZAR", "TRY", "KRW", "SGD", "HKD", "ILS"),
)
MEASURES = (
    *("mg", "g", "kg", "t", "lb", "lbs", "oz", "mm", "cm", "m", "km", "in", "ft", "mi", "ml", "cl"),
    *("l", "L", "ms", "s", "sec", "min", "h", "hrs", "d", "°", "°C", "°F", "K", "Hz", "kHz", "MHz"),
    *("GHz", "W", "kW", "kWh", "V", "A", "mA", "B", "kB", "KB", "MB", "GB", "TB", "km/h", "mph"),
    *(
        "m/s",
        "m²",
        "m2",
        "m³",
        "m3",
        "km²",
        "sqm",
        "sqft",
        "px",
        "bar",
        "hPa",
        "kcal",
        "mg/dl",
        "bpm",
    ),
)
PER_CENT = "%"
THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "B": 1e9}  # right after the digits: 1.2M

_MINUS = str.maketrans("\u2212\u2013", "--")  # as word processors write it
_GAPS = re.compile(r"(?<=\d)['\u2019\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_SPACES = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_DECIMALS = re.compile(r"\d[.,]\d{1,2}\b")
_THOUSANDS = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})+,\d{3})(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?([eE][+-]?\d+)?")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_PLAIN = re.compile(r"[+-]?\d+(\.\d*)?")
_SHORT = re.compile(r"(.*\d)(k|K|M|bn|B)")


def _either(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_BEFORE = re.compile(
    rf"([-+]?)\s*({_either(SIGNS)}|(?:{_either(CURRENCIES)})(?=[\s\d]))\s*(?=[-+.\d])"
)
_AFTER = re.compile(
    rf"(?<=[\d.,])\s*({_either(SIGNS + CURRENCIES)})$|(?<=[\d.,])\s+({_either(MEASURES)})$"
)


def read_numbers(known: Mapping[int, Any], notation: str) -> tuple[dict[int, float], str]:
    """The cells that are numbers, and the decimal sign of the column; a known one is kept to.

    Of several units, the numbers of the most frequent.
    """
    groups, notation = group_by_unit(known, notation)
    return max(groups.values(), key=len, default={}), notation


def describe_units(known: Mapping[int, Any]) -> str:
    """Which units the numbers of a column have, where there are several; else ""."""
    groups, _ = group_by_unit(known, "")
    if len(groups) < 2 or 2 * sum(map(len, groups.values())) < len(known):
        return ""
    order = sorted(groups, key=lambda unit: -len(groups[unit]))
    shown = ", ".join(repr(known[min(groups[unit])]) for unit in order)
    return f"its numbers are in {len(groups)} units, as {shown}: write all in one"


def group_by_unit(
    known: Mapping[int, Any], notation: str
) -> tuple[dict[str, dict[int, float]], str]:
    """The numbers of each unit; bare ones go with the only unit, but 12 is none of 12 %."""
    texts, units, factors = {}, {}, {}
    for code, cell in known.items():
        if isinstance(cell, str | bytes):
            text, units[code] = without_unit(decoded(cell).strip())
            short = _SHORT.fullmatch(text)
            texts[code], factors[code] = (short[1], THOUSANDS[short[2]]) if short else (text, 1.0)
    if any(_LEADING_ZERO.fullmatch(text) for text in texts.values()):
        return {}, notation  # a postal code, an account: 007 is not 7
    if any(map(_DECIMALS.search, texts.values())):  # else it may be the number of a phone
        texts = {code: _SPACES.sub("", text) for code, text in texts.items()}
    with_comma = [text for text in texts.values() if "," in text]
    if with_comma and notation not in (",", "."):
        notation = "." if all(_THOUSANDS.fullmatch(text) for text in with_comma) else ","
    groups: dict[str, dict[int, float]] = {}
    for code, cell in known.items():
        if isinstance(cell, bool | np.bool_ | date):
            continue
        if code in texts:
            cell = with_point(texts[code], notation)
        try:
            number = float(cell) if isinstance(cell, Decimal) else parse_number(cell)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            groups.setdefault(units.get(code, ""), {})[code] = number * factors.get(code, 1.0)
    bare, others = groups.get("", {}), [unit for unit in groups if unit]
    if len(others) == 1 and (others != [PER_CENT] or not any(bare.values())):
        groups = {others[0]: bare | groups[others[0]]}
    return groups, notation


def without_unit(text: str) -> tuple[str, str]:
    """A number without what stands around it, its minus first, and its unit; any text as it is."""
    if _PLAIN.fullmatch(text):
        return text, ""
    bare = _GAPS.sub("", text.translate(_MINUS))
    is_negative = bare.startswith("(") and bare.endswith(")")  # as accountants write it
    bare = bare[1:-1].strip() if is_negative else bare
    unit = ""
    if found := _BEFORE.match(bare):
        unit, bare = found[2], found[1] + bare[found.end() :]
    elif found := _AFTER.search(bare):
        unit, bare = found[1] or found[2], bare[: found.start()]
    if bare[-1:] == "-" and bare[:1].isdigit():
        bare = f"-{bare[:-1]}"
    return (f"-{bare}" if is_negative else bare), unit


def with_point(text: str, notation: str) -> str:
    """1.234,5 and 1,234.5 as Python writes it, each in its notation."""
    if notation == "," and _DECIMAL_COMMA.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
