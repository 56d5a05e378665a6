"""Questions: what is shown on one screen, and which answers are offered.

    pair         do these two belong together?        together, apart
    odd_one_out  which of the three does not belong?  0, 1 or 2
    group        which of these does it belong with?  the number of a group shown, another, new,
                                                      nowhere
    grid         which belong with the first one?     the numbers of those that do
    review       still one group?                     together, apart

Each can also be answered "cant_tell". Rows are numbers of rows of X; while the next question is
chosen, they are positions among the rows that are thought about, and `at` translates them.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

KINDS = ("pair", "odd_one_out", "group", "grid", "review")
CANT_TELL = "cant_tell"
ANOTHER, NEW, NOWHERE = "another", "new", "nowhere"
TOGETHER, APART = "together", "apart"


@dataclass(frozen=True)
class Question:
    """One screen to answer.

    Parameters
    ----------
    kind : {"pair", "odd_one_out", "group", "grid", "review"}
    rows : tuple of int
        The rows asked about: two of a pair, three of which one is odd, the one that belongs to some
        group, or the first of a grid and then those beside it.
    groups : tuple of tuple of int, default=()
        Of a group question: the groups shown, the likeliest first, each by some of its rows; the
        first stands for the group.
    more : tuple of tuple of int, default=()
        Of a group question: the groups for the screens after it ("another group").
    is_random : bool, default=False
        Drawn uniformly, so that its answer can be used to estimate quality.
    is_repeat : bool, default=False
        Asked before, with sides swapped, to measure how consistent a person is.
    why : str, default=""
        A sentence for people.
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
        """Every row on the screen, the ones asked about first."""
        return self.rows + tuple(row for group in self.groups for row in group)

    @property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """What has been asked once this is answered: sorted rows; of a grid, each pair of it."""
        if self.kind == "grid":
            return tuple(tuple(sorted((self.rows[0], row))) for row in self.rows[1:])
        if self.kind == "review":
            return tuple(combinations(sorted(self.rows), 2))
        return (tuple(sorted(self.rows)),)

    def at(self, rows: np.ndarray) -> "Question":
        """The same question with row i renamed rows[i]."""
        names = np.asarray(rows)

        def renamed(numbers: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(int(names[i]) for i in numbers)

        return replace(
            self,
            rows=renamed(self.rows),
            groups=tuple(map(renamed, self.groups)),
            more=tuple(map(renamed, self.more)),
        )

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
