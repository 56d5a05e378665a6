"""What one cell of a table says: a number, a name, text as bytes, or nothing."""

import math
from typing import Any

import numpy as np


def parse_number(cell: Any) -> float:
    """A cell as a float; ValueError for text that only Python takes for a number, such as 1_000."""
    text = decoded(cell)
    if isinstance(text, str) and is_for_python(text):
        raise ValueError(f"{text!r} is not a number")
    try:
        return float(text)
    except OverflowError:  # of a whole number in JSON
        return math.inf


def is_for_python(text: str) -> bool:
    """Whether a number in it would be one to Python alone: 1_000, or digits of another script."""
    return "_" in text or not text.isascii()


def is_missing(cell: Any) -> bool:
    """None, "", NaN, NaT and pandas' NA; ``cell != cell`` is true of NaN and NaT alone."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    return (isinstance(cell, str) and cell == "") or bool(cell != cell)


def id_text(cell: Any) -> str:
    """An id as text, "" where it is missing. A column with gaps turns 7 into 7.0: still row 7."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return "" if is_missing(cell) else str(decoded(cell))


def number_text(number: float | np.floating) -> str:
    """A number as people write it: a whole one whole, else four digits; "" for NaN."""
    value = float(number)
    if value != value:
        return ""
    if 1e3 <= abs(value) < 1e15 or (value.is_integer() and abs(value) < 1e15):
        return f"{value + 0.0:.0f}"  # never -0
    return f"{value:.4g}"


def decoded(cell: Any) -> Any:
    """Bytes as the text they hold; anything else as it is."""
    if not isinstance(cell, bytes):
        return cell
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{cell[:40]!r} is not UTF-8 text") from None
