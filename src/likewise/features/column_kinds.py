"""What each column of a table is used as, and which columns are left out, and why.

Left out are columns that say nothing (empty, constant), that name rows (ids, indexes) and that look
like the result (label, class, target): they would decide the clusters. Words are categories if they
repeat, and free text if they are sentences that hardly do. Nothing here depends on the order of
rows or columns, nor on the names of levels.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from likewise.files.column_types import TypedColumn

MOST_LEVELS = 50  # of a category that have features of their own; the rest share one
FEWEST_TEXTS = 10  # distinct ones, where some repeat; fewer are levels with long names
TEXT_WORDS = 3  # mean words of a cell of free text, or more
OWN_SHARE = 0.5  # of the cells distinct: nearly every row has its own
FEWEST_INDEXED = 10  # rows; fewer whole numbers in a row are a coincidence
LONG_NUMBER = 10**8  # distinct whole numbers of nine digits or more name something

ORDERS = {"%m/%d": "month first", "%d/%m": "day first"}  # of dates, by the start of their format

NO_NAME = "(no name)"
NAME_WORDS = frozenset(["name", "names", "surname", "email", "phone", "address", "street", "url"])
LABEL_NAMES = frozenset(
    ["label", "labels", "class", "classes", "target", "y", "cluster", "clusters", "cluster id"]
    + ["target class", "target name", "class name"]
    + ["ground truth", "truth", "true label", "true class", "y true", "class label", "gold label"]
)
INDEX_NAMES = frozenset(
    ["", "index", "level 0", "row", "rows", "row number", "rownames", "row names", "rowid"]
    + ["unnamed: 0", "index level 0"]
)
ID_WORDS = frozenset(["id", "ids", "uuid", "guid", "key", "identifier", "nr", "number", "no"])
TIME_WORDS = frozenset(["date", "time", "timestamp", "day", "at", "on", "epoch", "ts"])


@dataclass(frozen=True)
class TableColumn:
    """What became of one column of a table.

    Attributes
    ----------
    name : str
    kind : str
        "number", "flag", "date", "category" or "text"; "left out" where it is not used.
    why : str
        Why it is left out, or what it holds.
    n_missing : int
        Cells without a value, in the rows of ``fit``.
    n_features : int
        Numbers that it became.

    Examples
    --------
    >>> from likewise.features import TableFeatures
    >>> table = TableFeatures().fit({"size": [1.0, 2.0, 4.0], "unit": ["cm", "cm", "cm"]})
    >>> for column in table.columns_:
    ...     print(column)
    size: number
    unit: left out, every row has 'cm'
    """

    name: str
    kind: str
    why: str
    n_missing: int
    n_features: int

    def __str__(self) -> str:
        text = f"{self.name or NO_NAME}: {self.kind}"
        text += f", {self.why}" if self.why else ""
        return text + (f", {self.n_missing} missing" if self.n_missing and self.n_features else "")


def count_missing(values: np.ndarray) -> int:
    """Cells without a value in a typed column (n,)."""
    return int(np.count_nonzero(~is_known(values)))


def is_known(values: np.ndarray) -> np.ndarray:
    """(n,) which cells of a typed column have a value."""
    if values.dtype == object:
        return np.array([value is not None for value in values.tolist()], dtype=bool)
    return np.ones(len(values), dtype=bool) if values.dtype.kind in "iu" else values == values


def choose_kind(name: str, typed: TypedColumn, beside: Collection[str] = ()) -> tuple[str, str]:
    """The kind that a column is used as, or "left out", and why in a few words.

    `beside` are the names of all columns: y is no class beside x.
    """
    if typed.kind == "other":
        return "left out", _describe_others(typed.values)
    known = typed.values[is_known(typed.values)]
    if not len(known):
        return "left out", "it is empty"
    distinct = set(known.tolist())
    n_distinct = len(distinct)
    if n_distinct == 1 and (typed.kind != "word" or len(known) == len(typed.values)):
        return "left out", f"every row has {_shown(known[0])}"
    is_coordinate = _plain(name) == "y" and "x" in map(_plain, beside)
    if not is_coordinate and _is_label(name, typed, n_distinct, len(known)):
        return "left out", "by its name it holds the classes to be found"
    if typed.styles:
        return "left out", typed.styles
    if typed.kind == "word":
        return _choose_for_words(name, distinct, len(known), typed.mostly)
    if typed.kind == "number":
        return _choose_for_numbers(name, known, distinct)
    return typed.kind, ""


def _describe_others(cells: np.ndarray) -> str:
    """Why nothing is made of cells that are neither numbers, dates nor words."""
    held = [cell for cell in cells.tolist() if cell is not None]
    if isinstance(held[0], list | tuple | np.ndarray):
        return "it holds lists, no single values: give each a column of its own"
    types = list(dict.fromkeys(type(cell).__name__ for cell in held))
    if types == ["bytes"]:
        return "it holds bytes that are no text"
    if len(types) > 1:
        return f"it holds cells of several types ({', '.join(types)}): write all in one"
    return f"it holds cells of type {types[0]}, no single values"


def use_as(kind: str, values: np.ndarray, notation: str = "") -> str:
    """What a used column holds, in a few words; of 3/4/2025, which number is the month."""
    if kind == "date":
        return next((why for start, why in ORDERS.items() if notation.startswith(start)), "")
    if kind != "category":
        return ""
    levels = len({value for value in values.tolist() if value is not None})
    return f"{levels} level{'s' * (levels != 1)}"


def _choose_for_words(name: str, distinct: set, n_known: int, mostly: str) -> tuple[str, str]:
    n_distinct = len(distinct)
    is_own = n_distinct == n_known or (
        n_distinct > MOST_LEVELS and n_distinct > OWN_SHARE * n_known
    )
    n_words = float(np.mean([len(text.split()) for text in distinct]))
    if is_own and NAME_WORDS & set(_plain(name).split()):
        return "left out", "it names rows: nearly every row has its own value"
    is_varied = n_distinct > max(FEWEST_TEXTS, OWN_SHARE * n_known) or n_distinct > MOST_LEVELS
    if n_words >= TEXT_WORDS and (is_own or is_varied):
        return "text", ""
    if mostly and n_distinct > FEWEST_TEXTS:
        return "left out", f"{mostly}: correct them, or take it as a category (--as-category)"
    if is_own:
        return "left out", mostly or "it names rows: nearly every row has its own value"
    if is_id_name(name) and n_distinct > MOST_LEVELS:
        return "left out", f"by its name an id, of {n_distinct} values"
    return "category", ""


def _choose_for_numbers(name: str, known: np.ndarray, distinct: set) -> tuple[str, str]:
    if distinct <= {0, 1}:
        return "flag", ""
    is_whole = known.dtype.kind in "iu" or bool((known == np.round(known)).all())
    if not is_whole:
        return "number", ""
    is_own, span = len(distinct) == len(known), float(known.max()) - float(known.min())
    if is_own and (
        _plain(name) in INDEX_NAMES or (len(known) >= FEWEST_INDEXED and span == len(known) - 1)
    ):
        return "left out", "it numbers the rows"
    if is_id_name(name):
        if len(distinct) <= MOST_LEVELS and not is_own:
            return "category", ""
        return "left out", f"by its name an id, of {len(distinct)} values"
    is_long = bool((np.abs(known) >= LONG_NUMBER).all()) and len(known) >= FEWEST_INDEXED
    if is_own and is_long and not TIME_WORDS & set(_plain(name).split()):
        return "left out", "it names rows: every row has its own long number"
    return "number", ""


def _is_label(name: str, typed: TypedColumn, n_distinct: int, n_known: int) -> bool:
    repeats = typed.kind in ("word", "flag") or (
        typed.kind == "number"
        and bool((np.mod(typed.values[is_known(typed.values)], 1) == 0).all())
    )
    plain = _plain(name)
    is_named_so = plain in LABEL_NAMES or plain.split()[-1:] in (["label"], ["cluster"])
    return is_named_so and repeats and n_distinct <= OWN_SHARE * n_known


def is_id_name(name: str) -> bool:
    """Whether a column's name says that it holds ids: customer_id, rowId, Order No."""
    return bool(ID_WORDS & set(_plain(name).split()))


def _plain(name: str) -> str:
    """customerId, customer_id and Customer-ID as "customer id"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\s_\-.]+", spaced.strip())).strip().lower()


def _shown(value) -> str:
    if isinstance(value, str):
        return repr(value)
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
