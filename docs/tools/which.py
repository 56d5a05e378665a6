"""The tables of docs/guide/which.md: every method of a comparison, over all its data sets at once.

Each compares the columns of one table that runs have made. A method is level with the best of a row
when their means differ by no more than a standard error of the difference; below the baseline, by
more than one. `make quotes` writes them into the page.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from docs.tools.tables import numbers_in, read_tables
from experiments.published import Grid

MARKED = re.compile(r"(<!-- (\S+): written by make quotes -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


class Cell(NamedTuple):
    mean: float
    error: float  # standard error, 0 of a single run


@dataclass(frozen=True)
class Comparison:
    name: str  # of the mark in the page
    source: tuple[str, str, str]  # page, section, measure
    methods: dict[str, str]  # column of the source, and what it is called here
    baseline: str
    is_asked: Callable[[dict[str, str]], bool] = lambda row: True


COMPARISONS = (
    Comparison(
        "guided",
        ("guided", "rivals", ""),
        {
            "k-means": "k-means, no answers",
            "ITML": "`ITML`, then k-means",
            "guided": "`GuidedClustering`",
        },
        baseline="k-means",
    ),
    Comparison(
        "pairs",
        ("npk", "figure2", ""),
        {
            "k-means": "k-means, no answers",
            "constrained": "`KernelKMeans`, must-linked rows together",
            "+ RCA": "`RCA`",
            "+ Xing": "`MMC`",
            "+ RBF": "a Gaussian kernel, width by held-out pairs",
            "+ MPK": "`KernelAlignment`",
            "+ LRK": "`LogDetPairs`",
            "+ NPK by SMO": '`NPK(solver="smo")`, as published',
            "+ NPK": "`NPK`",
            "+ SimpleNPK": "`SimpleNPK`",
        },
        baseline="constrained",
    ),
    Comparison(
        "triples",
        ("sklr", "figure1", "ARI of all"),
        {
            "kernel k-means": "k-means from the start's kernel, no answers",
            "SKLR": "`SKLR`, from triples",
            "SKLR paper": '`SKLR(loss="paper")`, from triples',
            "LSML": "`LSML`, from triples",
            "ITML": "`ITML`, from as many pairs",
            "SKkm": "`LogDetPairs`, from as many pairs",
        },
        baseline="kernel k-means",
        is_asked=lambda row: row["answers"] == "multi-class",
    ),
    Comparison(
        "starts",
        ("sklr", "starts", "ARI"),
        {
            "gaussian": '`start="gaussian"`',
            "diffusion": '`start="diffusion"`',
            "rbf": '`start="rbf"`',
            "linear": '`start="linear"`',
        },
        baseline="linear",
    ),
    Comparison(
        "people",
        ("people", "zappos", "accuracy"),
        {
            "softmax": "`ChoiceKernel`",
            "hinge": "`SKLR()`, a margin",
            "hard": '`SKLR(loss="hard")`',
        },
        baseline="hinge",
        is_asked=lambda row: row["answers"] in ("50", "200"),
    ),
    Comparison(
        "losses",
        ("people", "losses", ""),
        {
            "none": "no answers",
            "softmax": "`ChoiceKernel`",
            "hinge": "`SKLR()`, a margin",
        },
        baseline="none",
    ),
)


def compare(comparison: Comparison) -> str:
    """Markdown: a row a method, the best mean first."""
    page, section, measure = comparison.source
    rows = read_rows(read_tables(page, section)[measure], comparison)
    lines = [
        [
            "method",
            "mean",
            "best, or level with it",
            f"below {_short(comparison)}",
            "furthest below",
        ],
        ["---"] * 5,
    ]
    for method in sorted(comparison.methods, key=lambda one: -_mean(rows, one)):
        level = sum(is_level(cells[method], max(cells.values())) for cells in rows.values())
        gaps = {
            name: cells[comparison.baseline].mean - cells[method].mean
            for name, cells in rows.items()
            if not is_level(cells[method], cells[comparison.baseline])
            and cells[method].mean < cells[comparison.baseline].mean
        }
        worst = max(gaps, key=gaps.__getitem__, default="")
        below = ["", ""] if method == comparison.baseline else [str(len(gaps)), ""]
        if worst and below[0]:
            below[1] = f"{worst}, by {gaps[worst]:.3f}"
        mean = f"{_mean(rows, method):.3f}"
        lines.append([comparison.methods[method], mean, f"{level} of {len(rows)}", *below])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def read_rows(table: Grid, comparison: Comparison) -> dict[str, dict[str, Cell]]:
    """The rows asked for that have all methods: their name, and mean and error of each method."""
    first = min(map(table.columns.index, comparison.methods))
    found = {}
    for cells in table.rows:
        row = dict(zip(table.columns, cells))
        if comparison.is_asked(row) and all(row[method] for method in comparison.methods):
            numbers = {method: numbers_in(row[method]) for method in comparison.methods}
            found[", ".join(filter(None, cells[:first]))] = {
                method: Cell(some[0], some[1] if "±" in row[method] else 0.0)
                for method, some in numbers.items()
            }
    return found


def is_level(one: Cell, other: Cell) -> bool:
    return abs(one.mean - other.mean) <= math.hypot(one.error, other.error)


def written(text: str) -> str:
    """The page with its tables as they are now."""
    known = {one.name: one for one in COMPARISONS}
    return MARKED.sub(lambda mark: mark[1] + compare(known[mark[2]]) + mark[3], text)


def _mean(rows: dict[str, dict[str, Cell]], method: str) -> float:
    return sum(cells[method].mean for cells in rows.values()) / len(rows)


def _short(comparison: Comparison) -> str:
    return comparison.methods[comparison.baseline].split(",")[0].replace("`", "")
