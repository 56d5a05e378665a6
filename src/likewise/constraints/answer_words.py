"""Answers in the words that people write: `must-link`, `same`, `different`, labels of some rows.

Words are compared without case, and with spaces and hyphens as underscores. A word that is not
known is an error with the nearest one that is.
"""

import re
from difflib import get_close_matches
from typing import Any

from likewise.constraints.table import COLUMNS, KINDS
from likewise.files.near_names import nearest_name

# Beside the names of the kinds themselves.
WORDS = {
    "must_link": "mustlink ml same together similar alike same_cluster same_group same_class link",
    "cannot_link": "cannotlink cant_link can_not_link cl different apart dissimilar separate "
    "not_same differ other different_cluster different_group different_class",
    "odd_one_out": "oddoneout odd odd_one",
    "closer": "closer_to nearer nearer_to more_similar",
    "undecided": "cant_tell cannot_tell unsure not_sure unknown dont_know skip skipped",
}
KIND_OF_WORD = {
    **{kind: kind for kind in KINDS},
    **{word: kind for kind, words in WORDS.items() for word in words.split()},
}
EXCLUSIVE = "exclusive"  # a rule and no answer: exclusive_groups.py
EXCLUSIVE_WORDS = (EXCLUSIVE, "at_most_one", "one_per_cluster")
LABEL_COLUMNS = ("label", "class", "group", "category", "target", "cluster")
ALIKE = 0.75  # names of columns: "Right" is no weight
MOST_NAMED = 20  # columns in an error
ROW_COLUMNS = ("id", "row", "a", "index", "name")


def kind_of(word: Any) -> str | None:
    """The kind that a word stands for, or None."""
    return KIND_OF_WORD.get(_plain(word)) if isinstance(word, str) else None


def is_exclusive(word: Any) -> bool:
    """Whether a line says that no two of its rows may be in one cluster."""
    return isinstance(word, str) and _plain(word) in EXCLUSIVE_WORDS


def explain_kind(word: Any) -> str:
    """What is wrong with a word for a kind, and what it may have meant."""
    known = {**KIND_OF_WORD, EXCLUSIVE: EXCLUSIVE}
    near = nearest_name(_plain(word), known) if isinstance(word, str) else None
    meant = f". Did you mean {known[near]!r}?" if near else ""
    return f"kind {word!r} is not one of {', '.join((*WORDS, EXCLUSIVE))}{meant}"


def standard_columns(columns: dict[str, list]) -> dict[str, list]:
    """The columns under the names that they have here, whatever their case."""
    standard: dict[str, list] = {}
    for name, cells in columns.items():
        plain = _plain(str(name))
        is_known = plain in (*COLUMNS, *LABEL_COLUMNS, *ROW_COLUMNS)
        standard.setdefault(plain if is_known and plain not in columns else str(name), cells)
    return standard


def label_columns(columns: dict[str, list]) -> tuple[str, str] | None:
    """The columns of rows and of their labels, in a table of labels; None in one of answers."""
    labels = [name for name in LABEL_COLUMNS if name in columns]
    if not labels or "kind" in columns or "b" in columns:
        return None
    others = [name for name in columns if name != labels[0]]
    rows = [name for name in ROW_COLUMNS if name in others] or (others if len(others) == 1 else [])
    return (rows[0], labels[0]) if rows else None


def extra_columns(columns: dict[str, list], place: str) -> list[str]:
    """Columns that answers do not have; an error where a name is nearly one that they do."""
    extra = [str(name) for name in columns if name not in COLUMNS]
    missing = [name for name in COLUMNS[:3] if name not in columns]
    if missing:
        found = ", ".join(f"{name!s:.40}" for name in list(columns)[:MOST_NAMED]) or "none"
        found += f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
        raise ValueError(
            f"{place} lacks {', '.join(missing)}: its columns are {found}. An answer has "
            f"{', '.join(COLUMNS)}; a label has id and label.{_what_is_meant(list(columns))}"
        )
    for name in extra:
        near = nearest_name(name, COLUMNS[3:])
        if near and len(name) > 1:
            raise ValueError(
                f"{place} has the column {name!r}. Did you mean {near!r}? If not, rename it."
            )
    return extra


def _what_is_meant(names: list) -> str:
    """What columns of no known name may be; "" where nobody knows."""
    if any(kind_of(name) is not None for name in names):
        return " Is the first line an answer? Put a line with the names of the columns before it."
    known = (*COLUMNS[:1], *COLUMNS[4:], *LABEL_COLUMNS)
    for name in map(str, names):
        near = get_close_matches(_plain(name), known, n=1, cutoff=ALIKE)
        if near and name not in (*COLUMNS, *ROW_COLUMNS):
            return f" Is {name!r} meant by {near[0]!r}?"
    if len(names) == 2:
        return f" If {names[1]!r} is the label of each row, rename it to label."
    return ""


def _plain(word: str) -> str:
    return re.sub(r"[\s\-]+", "_", word.strip().replace("'", "").replace("’", "").lower())
