"""A question on a terminal: the rows side by side, columns that differ first, and the keys."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from likewise.files.cell_values import number_text
from likewise.labeling import by_difference

MOST_COLUMNS = 12  # of a row; those in which the rows shown differ most
WIDEST = 32  # letters of a cell
WIDEST_TEXT = 300  # of a row that is one text
UNDO, SKIP, QUIT, DONE = "u", "s", "q", "\r"
CANT_TELL_KEY = "?"


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


def screen_of(
    question,
    columns: Mapping[str, np.ndarray],
    name_of: Callable[[int], str],
    picture_of: Callable[[int], Any] | None = None,
):
    """The rows of a question as a table: a line per column, those that differ most first.

    Where there is a picture of each row, a text in the size it is to have, pictures come first.
    """
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
    if picture_of is not None:
        table.add_row("", *(picture_of(row) for row in rows))
    widest = WIDEST_TEXT if len(order) == 1 else WIDEST
    for column in order[:MOST_COLUMNS]:
        cells = [Text(clean(columns[column][row], widest)) for row in rows]
        table.add_row(Text(clean(column)), *cells)
    if len(order) > MOST_COLUMNS:
        table.caption = f"and {len(order) - MOST_COLUMNS} more columns, in which they differ less"
    return table


def clean(cell: Any, widest: int = WIDEST) -> str:
    """One short line that a terminal can show: no control characters from the data."""
    is_number = isinstance(cell, float | np.floating)
    text = number_text(cell) if is_number else "" if cell is None else str(cell)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= widest else f"{text[: widest - 1]}…"
