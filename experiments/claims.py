"""A claim of a paper in words, and the figures of our tables that it is judged by.

A claim looks at tables in docs/tables and returns a sentence with figures from them and a verdict.
No figure is written by hand. The claims are in kernel_claims.py and pair_claims.py.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from experiments.published import ERROR, MEAN, MEASURE, RESULTS, read_published

HOLDS, IN_PART, FAILS = VERDICTS = ("holds", "holds in part", "does not come out")
Judgment = tuple[str, str]  # what our tables show, and a verdict


class Figure(NamedTuple):
    mean: float
    error: float

    def errors_above(self, other: "Figure") -> float:
        """By how many standard errors of both this one is above another."""
        unsure = math.hypot(self.error, other.error)
        return (self.mean - other.mean) / unsure if unsure else math.inf * (self.mean - other.mean)


Cells = Mapping[tuple[str, ...], Figure]


class Tables:
    """Figures of the tables in a folder, by measure and settings in the order of the file."""

    def __init__(self, folder: Path):
        self.folder = folder

    def cells(self, table: str, measure: str) -> Cells:
        return _read(self.folder / f"{table}.csv", measure)


@cache
def _read(path: Path, measure: str) -> Cells:
    table = read_published(path)
    found = {}
    for row in table.rows:
        line = dict(zip(table.fields, row))
        if line[MEASURE] == measure and line[MEAN]:
            key = tuple(line[field] for field in table.fields if field not in RESULTS)
            found[key] = Figure(float(line[MEAN]), float(line[ERROR] or 0))
    return found


def values_at(cells: Cells, place: int) -> list[str]:
    """The values that a setting takes."""
    return list(dict.fromkeys(key[place] for key in cells))


class Claim(NamedTuple):
    paper: str
    where: str
    says: str
    look: Callable[[Tables], Judgment]
