"""Questions: what is shown on one screen, and which answers are offered.

    pair         do these two belong together?        together, apart
    odd_one_out  which of the three does not belong?  0, 1 or 2
    group        which of these does it belong with?  the number of a group shown, another, new,
                                                      nowhere
    grid         which belong with the first one?     the numbers of those that do
    review       still one group?                     together, apart

Each can also be answered "cant_tell". What a person does to clusters without being asked has the
same form, and one answer:

    merge        the groups shown are one             together
    split        the groups shown are different; or   apart
                 the rows are not all of one group
    pure         all these rows belong together       together
    move         the row belongs with the first of    0
                 the groups, not with the others
    imported     the rows of answers from a file      links: (kind, positions in rows, weight)
    name         rows typical of a cluster            what it is called

Rows are numbers of rows of X; while the next question is
chosen, they are positions among the rows that are thought about, and `at` translates them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from likewise.files.html_table import html_table

KINDS = ("pair", "odd_one_out", "group", "grid", "review")
CANT_TELL = "cant_tell"
ANOTHER, NEW, NOWHERE = "another", "new", "nowhere"
TOGETHER, APART = "together", "apart"
IMPORTED = "imported"
NAME = "name"
ACTIONS = {"merge": TOGETHER, "split": APART, "pure": TOGETHER, "move": 0}  # and their one answer


@dataclass(frozen=True)
class Question:
    """One screen to answer.

    Parameters
    ----------
    kind : {"pair", "odd_one_out", "group", "grid", "review", "merge", "split", "pure", "move"}
    rows : tuple of int
        The rows asked about: two of a pair, three of which one is odd, the one that belongs to some
        group, or the first of a grid and then those beside it.
    groups : tuple of tuple of int, default=()
        Of a group question: the groups shown, the likeliest first, each by some of its rows. The
        first stands for the group; the others are shown on request.
    more : tuple of tuple of int, default=()
        Of a group question: the groups for the screens after it ("another group").
    is_random : bool, default=False
        Drawn uniformly, so that its answer can be used to estimate quality.
    is_repeat : bool, default=False
        Asked before, with sides swapped, to measure how consistent a person is.
    why : str, default=""
        A sentence for people.

    Examples
    --------
    >>> from likewise.labeling import Question
    >>> question = Question("group", (7,), groups=((0, 3), (5,)))
    >>> question.offered
    (0, 1, 'new', 'nowhere', 'cant_tell')
    >>> question.to_json()
    {'kind': 'group', 'rows': [7], 'groups': [[0, 3], [5]]}
    """

    kind: str
    rows: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] = ()
    more: tuple[tuple[int, ...], ...] = ()
    is_random: bool = False
    is_repeat: bool = False
    why: str = ""

    @property
    def shown(self) -> tuple[int, ...]:
        """The rows on the screen: those asked about, and one of each group; more on request."""
        return self.rows + tuple(group[0] for group in self.groups)

    @property
    def all_rows(self) -> tuple[int, ...]:
        """Every row on the screen, on request, and on the screens after it."""
        return self.rows + tuple(row for group in self.groups + self.more for row in group)

    @property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """What has been asked once this is answered: sorted rows; of a grid, each pair of it."""
        if self.kind == "grid":
            return tuple(tuple(sorted((self.rows[0], row))) for row in self.rows[1:])
        if self.kind == "split" and not self.groups:
            return ()
        if self.kind in ("review", IMPORTED):
            return tuple(combinations(sorted(self.rows), 2))
        return (tuple(sorted(self.rows)),)

    @property
    def offered(self) -> tuple:
        """The answers to choose from; of a grid, the numbers that can be chosen."""
        if self.kind in ACTIONS:
            return (ACTIONS[self.kind],)
        if self.kind in (IMPORTED, NAME):
            return ()
        if self.kind == "odd_one_out":
            return (0, 1, 2, CANT_TELL)
        if self.kind == "group":
            another = (ANOTHER,) if self.more else ()
            return (*range(len(self.groups)), *another, NEW, NOWHERE, CANT_TELL)
        if self.kind == "grid":
            return (*range(len(self.rows) - 1), CANT_TELL)
        return (TOGETHER, APART, CANT_TELL)

    def check_choice(self, choice) -> Any:
        """The choice as it is kept, if this question offers it."""
        if self.kind == "grid" and not isinstance(choice, str):
            chosen = tuple(sorted({int(i) for i in choice}))
            if set(chosen) <= set(self.offered):
                return chosen
        elif isinstance(choice, str | int | np.integer) and not isinstance(choice, bool):
            choice = choice if isinstance(choice, str) else int(choice)
            if choice in self.offered:
                return choice
        offered = ", ".join(map(str, self.offered))
        several = "any of " if self.kind == "grid" else ""
        raise ValueError(
            f"choice={choice!r} is no answer to a question of the kind {self.kind}. Use {several}"
            f"{offered}."
        )

    def at(self, names: np.ndarray | Mapping[int, int]) -> "Question":
        """The same question with row i renamed names[i]."""

        def renamed(numbers: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(int(names[i]) for i in numbers)

        return replace(
            self,
            rows=renamed(self.rows),
            groups=tuple(map(renamed, self.groups)),
            more=tuple(map(renamed, self.more)),
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows: list[tuple[str, str]] = [("rows", ", ".join(map(str, self.rows)))]
        rows += [
            (f"group {number}", ", ".join(map(str, group)))
            for number, group in enumerate(self.groups)
        ]
        rows.append(("answers", ", ".join(map(str, self.offered))))
        return html_table(f"A question of the kind {self.kind}", rows)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text; what has its default is left out."""
        cells: dict[str, Any] = {"kind": self.kind, "rows": list(self.rows)}
        for name in ("groups", "more"):
            if getattr(self, name):
                cells[name] = [list(group) for group in getattr(self, name)]
        for name in ("is_random", "is_repeat", "why"):
            if getattr(self, name):
                cells[name] = getattr(self, name)
        return cells

    @classmethod
    def from_json(cls, cells: dict[str, Any]) -> "Question":
        """The inverse of `to_json`."""
        groups = {name: tuple(map(tuple, cells.get(name, ()))) for name in ("groups", "more")}
        return cls(**{**cells, **groups, "rows": tuple(cells["rows"])})


def check_question(question: Question, n_rows: int) -> Question:
    """The question, if its kind is known and its rows are rows of X, each asked about once."""
    widths = {"pair": 2, "odd_one_out": 3, "group": 1, "move": 1}
    kind, rows = question.kind, question.rows
    if kind not in (*KINDS, *ACTIONS, NAME):
        known = ", ".join((*KINDS, *ACTIONS))
        raise ValueError(f"kind={kind!r} of a question is unknown. Use one of {known}.")
    if kind in widths and len(rows) != widths[kind]:
        raise ValueError(f"A question of the kind {kind} is about {widths[kind]} rows, not {rows}.")
    is_open_split = kind == "split" and not question.groups
    if (kind in ("grid", "review", "pure") or is_open_split) and len(rows) < 2:
        raise ValueError(f"A question of the kind {kind} is about 2 rows or more, not {rows}.")
    shows_groups = kind in ("group", "merge", "split", "move") and not is_open_split
    if shows_groups and not all(question.groups or ((),)):
        raise ValueError(f"A question of the kind {kind} shows groups of one row or more.")
    if len(set(rows)) < len(rows):
        raise ValueError(f"A question of the kind {kind} asks about a row twice: {rows}.")
    for row in question.all_rows:
        if not 0 <= row < n_rows:
            raise ValueError(f"Row {row} of a question points outside X, which has {n_rows} rows.")
    return question


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Kinds of question, each known."""
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        wrong = f"{unknown[0]!r} is unknown" if unknown else "no kind is given"
        raise ValueError(f"kinds={kinds!r}: {wrong}. Use some of {', '.join(KINDS)}.")
    return kinds
