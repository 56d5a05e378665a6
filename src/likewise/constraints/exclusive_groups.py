"""Exclusive groups: rows of which no two may be in one cluster, such as the records of one source.

A group of m rows stands for m (m - 1) / 2 cannot-links and is kept as m numbers. It is a rule about
clusters and no answer: it has no weight, nobody gave it, and no learner learns from it.

In files and frames a group of m rows is m - 1 lines of the kind ``exclusive``, each about two of
its rows and true by itself; lines with the same name in ``screen`` are one group, and a line
without a name is a group of two.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from likewise.constraints.answer_words import EXCLUSIVE, is_exclusive
from likewise.constraints.table import COLUMNS, places_of
from likewise.constraints.table_checks import row_number, rows_by_id
from likewise.files.cell_values import is_missing
from likewise.files.problem_list import as_sentence

Groups = tuple[np.ndarray, ...]


def check_groups(groups: Any, n_samples: int, ids: np.ndarray | None) -> Groups:
    """Each group once, its rows ascending, the groups in order; one of a single row says nothing.

    Rows go by number, or as text by id.
    """
    row_of = rows_by_id(ids)
    checked = []
    for g, members in enumerate([] if groups is None else groups):
        name = f"exclusive[{g}]"
        if isinstance(members, str) or not np.iterable(members):
            raise ValueError(f"{name} = {members!r} must be a list of rows. Pass a list of lists.")
        rows = []
        for row in members:
            if isinstance(row, str):
                row = row_number(row, row_of, name)
            if isinstance(row, bool | np.bool_) or not isinstance(row, int | np.integer):
                raise ValueError(f"{name} has {row!r}, which is not a row number.")
            if not 0 <= row < n_samples:
                raise ValueError(f"{name} has {row}, outside X, which has {n_samples} rows.")
            rows.append(int(row))
        if len(set(rows)) < len(rows):
            twice = next(row for i, row in enumerate(rows) if row in rows[:i])
            raise ValueError(f"{name} names row {twice} twice. Drop it.")
        checked.append(rows)
    return in_order(np.array(sorted(rows), dtype=np.int64) for rows in checked)


def in_order(groups: Iterable[np.ndarray]) -> Groups:
    """The groups of two rows and more, each once, ordered by their rows, read-only."""
    distinct = {tuple(rows.tolist()): rows for rows in groups if len(rows) > 1}
    ordered = tuple(distinct[rows] for rows in sorted(distinct))
    for rows in ordered:
        rows.flags.writeable = False
    return ordered


def renumber_groups(groups: Groups, rows: np.ndarray) -> Groups:
    """What is left of groups among some rows, with the numbers that X[rows] gives them."""
    return in_order(np.sort(kept[kept >= 0]) for kept in (places_of(g, rows) for g in groups))


def equal_groups(first: Groups, second: Groups) -> bool:
    """The same groups."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def add_lines(columns: dict[str, list], groups: Groups, ids: np.ndarray | None) -> dict[str, list]:
    """The cells of an answer table, followed by those of the groups."""
    if not groups:
        return columns
    columns = {name: list(cells) for name, cells in columns.items()}
    for group in groups:
        names = [int(row) if ids is None else str(ids[row]) for row in group]
        digest = blake2b(repr(names).encode(), digest_size=6).hexdigest()
        for a, b in pairwise(names):
            line = {"kind": EXCLUSIVE, "a": a, "b": b, "screen": f"{EXCLUSIVE}-{digest}"}
            for name in COLUMNS:
                columns[name].append(line.get(name))
    return columns


def take_lines(
    columns: dict[str, list], n_samples: int, ids: np.ndarray | None, place: Callable[[int], str]
) -> tuple[dict[str, list], Callable[[int], str], Groups]:
    """The cells of the answers, where each stands, and the groups that the other lines name."""
    kinds = columns.get("kind") or []
    at = [i for i, word in enumerate(kinds) if is_exclusive(word)]
    if not at:
        return columns, place, ()
    row_of, problems = rows_by_id(ids), []
    members: dict[str, set[int]] = {}
    screens = columns.get("screen") or [None] * len(kinds)
    for i in at:
        screen = f"line {i}" if is_missing(screens[i]) else str(screens[i])
        for name in ("c", "weight"):
            cell = (columns.get(name) or [None] * len(kinds))[i]
            if not is_missing(cell) and not (name == "weight" and str(cell) in ("1", "1.0")):
                problems.append(f"{place(i)}: exclusive refers to two rows, but {name} is {cell!r}")
        for name in ("a", "b"):
            try:
                row = row_number(columns[name][i], row_of, f"{place(i)}: {name}")
            except ValueError as error:
                problems.append(str(error).removesuffix("."))
                continue
            if not 0 <= row < n_samples:
                problems.append(f"{place(i)}: {name} = {row} is outside the {n_samples} rows of X")
            members.setdefault(screen, set()).add(row)
    if problems:
        raise ValueError(as_sentence(problems))
    kept = sorted(set(range(len(kinds))) - set(at))
    answers = {name: [cells[i] for i in kept] for name, cells in columns.items()}
    groups = in_order(np.array(sorted(rows), dtype=np.int64) for rows in members.values())
    return answers, lambda i: place(kept[i]), groups


def component_sets(groups: Iterable[np.ndarray], components: np.ndarray) -> Groups:
    """The groups as sets of must-linked components, each ascending and once."""
    return in_order(np.unique(components[group]) for group in groups)
