"""A question on a terminal: the rows side by side, columns that differ first, and the keys."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MOST_COLUMNS = 12  # of a row; those in which the rows shown differ most
WIDEST = 32  # letters of a cell
WIDEST_TEXT = 300  # of a row that is one text
UNDO, SKIP, QUIT, DONE = "u", "s", "q", "\r"
CANT_TELL_KEY = "?"
TITLES = {
    "pair": "Do these two belong together?",
    "review": "Do these still belong together?",
    "odd_one_out": "Which one does not belong with the others?",
    "group": "Which of these does {name} belong with?",
    "grid": "Which of these belong with {name}?",
}


def keys_of(question) -> dict[str, Any]:
    """The answer that each key gives, in the order they are shown."""
    words = {"together": "y", "apart": "n"}
    if question.kind == "group":
        words = {"another": "o", "new": "n", "nowhere": "x"}
    words["cant_tell"] = CANT_TELL_KEY
    return {
        str(choice + 1) if isinstance(choice, int) else words[choice]: choice
        for choice in question.offered
    }


def describe_keys(question) -> str:
    """One line: what can be pressed."""
    meaning = {
        "together": "together",
        "apart": "apart",
        "another": "another group",
        "new": "a new group",
        "nowhere": "belongs nowhere",
        "cant_tell": "can't tell",
    }
    keys = keys_of(question)
    numbers = [key for key, choice in keys.items() if isinstance(choice, int)]
    parts = [f"{key} {meaning[choice]}" for key, choice in keys.items() if isinstance(choice, str)]
    if numbers:
        which = "that group" if question.kind == "group" else "that one"
        span = numbers[0] if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
        parts.insert(0, f"{span} {which}")
    if question.kind == "grid":
        parts.insert(1, "Enter done")
    return "   ".join([*parts, f"{UNDO} undo", f"{SKIP} skip", f"{QUIT} quit"])


def read_choice(question, read_key: Callable[[], str], show: Callable[[str], None]) -> Any:
    """The answer that was pressed, or one of UNDO, SKIP and QUIT; other keys are ignored."""
    keys = keys_of(question)
    chosen: set[int] = set()
    while True:
        key = read_key()
        key = DONE if key == "\n" and question.kind == "grid" else key.lower()
        if key in (UNDO, SKIP, QUIT):
            return key
        if question.kind == "grid" and key == DONE:
            return tuple(sorted(chosen))
        if key not in keys:
            continue
        if question.kind != "grid" or isinstance(keys[key], str):
            return keys[key]
        chosen ^= {keys[key]}
        show("chosen: " + (", ".join(str(i + 1) for i in sorted(chosen)) or "none"))


def screen_of(question, columns: Mapping[str, np.ndarray], name_of: Callable[[int], str]):
    """The rows of a question as a table: a line per column, those that differ most first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows, heads = list(question.shown), [clean(name_of(row)) for row in question.shown]
    numbered = {"group": 1, "grid": 1, "odd_one_out": 0}.get(question.kind)
    if numbered is not None:
        heads[numbered:] = [f"{i + 1}: {head}" for i, head in enumerate(heads[numbered:])]
    order = by_difference(columns, rows)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for head in heads:
        table.add_column(Text(head), overflow="fold")
    widest = WIDEST_TEXT if len(order) == 1 else WIDEST
    for column in order[:MOST_COLUMNS]:
        cells = [Text(clean(columns[column][row], widest)) for row in rows]
        table.add_row(Text(clean(column)), *cells)
    if len(order) > MOST_COLUMNS:
        table.caption = f"and {len(order) - MOST_COLUMNS} more columns, in which they differ less"
    return table


def by_difference(columns: Mapping[str, np.ndarray], rows: Sequence[int]) -> list[str]:
    """Names of columns, those first in which the rows differ most for what is usual."""
    return sorted(columns, key=lambda name: -difference(columns[name], rows))


def difference(cells: np.ndarray, rows: Sequence[int]) -> float:
    """How far apart some cells of a column are: in its standard deviations, or by count."""
    shown = cells[list(rows)]
    if cells.dtype.kind in "iuf":
        spread = float(np.nanstd(cells))
        return float(np.nanmax(shown) - np.nanmin(shown)) / spread if spread > 0 else 0.0
    return float(len({str(cell) for cell in shown}) - 1)


def clean(cell: Any, widest: int = WIDEST) -> str:
    """One short line that a terminal can show: no control characters from the data."""
    number = isinstance(cell, float | np.floating)
    text = f"{cell:.4g}" if number else "" if cell is None else str(cell)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= widest else f"{text[: widest - 1]}…"
