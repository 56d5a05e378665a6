"""Published figures and claims beside ours: `python -m experiments.verdicts [--publish]`.

Made from docs/tables alone, what is in git; nothing is run. A cell with a published figure has

    difference  ours - published
    errors      the difference, less what the published figure was rounded by, in standard errors:
                ours and the published one together, where the paper prints a deviation

and agrees within two of them. What the papers claim in words is in kernel_claims.py and
pair_claims.py.
"""

import argparse
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from experiments.claims import VERDICTS, Tables
from experiments.kernel_claims import KERNEL_CLAIMS
from experiments.pair_claims import PAIR_CLAIMS
from experiments.published import (
    ERROR,
    MEAN,
    MEASURE,
    PUBLISHED,
    RESULTS,
    RUNS,
    TABLES,
    PublishedTable,
    read_published,
    write_published,
)

PAPERS = {  # the page of its tables, and how many runs are behind a printed deviation
    "npk": ("hoi2007", 20),
    "ssc": ("rao2013", 1),
    "duals": ("randel2021", 20),
    "deep": ("randel2021", 20),
    "scalable": ("yeung2007", 10),
}
ENOUGH = 2.0  # standard errors
CLOSE = 0.02  # of the published figure: further apart than errors allow, but hardly
ABOUT = 0.05  # what "about .90" is rounded by
FIGURE = re.compile(r"^(?P<about>about )?(?P<mean>\d*\.?\d+)(?: ± (?P<spread>\d*\.?\d+))?$")
OTHER_DATA = ("msrc2_gist512_rgb64",)  # the same images by other features
OTHER_MACHINE = ("fit seconds",)
CUT_SHORT = {"fashion_mnist", "epochs"}  # ours end at 150 of 500
AGREES, NEAR, ABOVE, BELOW = "agrees", "within 2 %", "above", "below"
NO_COMPARISON, NOT_RUN = "does not compare", "not run"
JUDGMENTS = (AGREES, NEAR, ABOVE, BELOW, NO_COMPARISON, NOT_RUN)
CELL_FIELDS = ["paper", "table", "cell", "published", "ours", "runs", "difference", "errors"]


class Judged(NamedTuple):
    difference: float
    errors: float  # NaN where no error is known on either side
    verdict: str


def judge(ours: float, error: float, published: str, n_published: int) -> Judged:
    """How a figure of ours compares with a published one."""
    printed = FIGURE.match(published)
    if printed is None:
        raise ValueError(f"{published!r} is no published figure: a number, or one ± another.")
    mean, spread = float(printed["mean"]), float(printed["spread"] or 0)
    digits = len(printed["mean"].partition(".")[2])
    rounded = ABOUT if printed["about"] else 0.5 * 10.0**-digits
    difference = ours - mean
    beyond = max(abs(difference) - rounded, 0.0)
    unsure = math.hypot(error, spread / math.sqrt(n_published))
    errors = math.copysign(beyond / unsure, difference) if unsure else math.nan
    if beyond == 0 or (unsure and abs(errors) <= ENOUGH):
        return Judged(difference, 0.0 if beyond == 0 else errors, AGREES)
    if abs(difference) <= CLOSE * abs(mean):
        return Judged(difference, errors, NEAR)
    return Judged(difference, errors, ABOVE if difference > 0 else BELOW)


def judge_table(page: str, name: str, table: PublishedTable) -> list[list[str]]:
    """A row for every cell of a table that has a published figure."""
    paper, n_published = PAPERS[page]
    rows = []
    for row in table.rows:
        line = dict(zip(table.fields, row))
        if not line.get(PUBLISHED):
            continue
        settings = [line[field] for field in table.fields if field not in RESULTS]
        measure = [] if line[MEASURE] in ("value", "accuracy", "J") else [line[MEASURE]]
        cell = ", ".join(settings + measure)
        start = [paper, f"{page} {name}", cell, line[PUBLISHED]]
        if not line[MEAN]:
            rows.append([*start, "", "0", "", "", NOT_RUN])
            continue
        ours, error = float(line[MEAN]), float(line[ERROR] or 0)
        judged = judge(ours, error, line[PUBLISHED], n_published)
        shown = show(ours) + (f" ± {show(error, 2)}" if error else "")
        if line[MEASURE] in OTHER_MACHINE or {*OTHER_DATA} & {*settings} or {*row} >= CUT_SHORT:
            rows.append([*start, shown, line[RUNS], "", "", NO_COMPARISON])
            continue
        errors = "" if math.isnan(judged.errors) else f"{judged.errors:+.1f}"
        difference = ("+" if judged.difference >= 0 else "") + show(judged.difference, 3)
        rows.append([*start, shown, line[RUNS], difference, errors, judged.verdict])
    return rows


def show(number: float, digits: int = 4) -> str:
    """A number by its leading digits, large ones by their thousands."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.{digits}g}"


def judge_cells(folder: Path) -> PublishedTable:
    """All published figures, paper by paper."""
    rows = []
    for page in PAPERS:
        for path in sorted((folder / page).glob("*.csv")):
            table = read_published(path)
            if PUBLISHED in table.fields:
                rows += judge_table(page, path.stem, table)
    title = "Every published figure beside ours"
    return PublishedTable([*CELL_FIELDS, "verdict"], rows, [("title", title), MADE])


def sum_up_cells(cells: PublishedTable) -> PublishedTable:
    """How many figures of each table agree."""
    counts: dict[tuple[str, str], Counter] = {}
    for row in cells.rows:
        counts.setdefault((row[0], row[1]), Counter())[row[-1]] += 1
    rows = [[*key, *(str(found[one]) for one in JUDGMENTS)] for key, found in counts.items()]
    totals = Counter(row[-1] for row in cells.rows)
    rows.append(["all", "", *(str(totals[one]) for one in JUDGMENTS)])
    title = "Published figures by how they came out"
    return PublishedTable(["paper", "table", *JUDGMENTS], rows, [("title", title), MADE])


def judge_claims(folder: Path) -> PublishedTable:
    """What the papers say of their figures, and what ours show."""
    tables = Tables(folder)
    rows = []
    for claim in (*KERNEL_CLAIMS, *PAIR_CLAIMS):
        shown, verdict = claim.look(tables)
        if verdict not in VERDICTS:
            raise ValueError(f"{verdict!r} is no verdict; use one of {', '.join(VERDICTS)}.")
        rows.append([claim.paper, claim.where, claim.says, shown, verdict])
    title = "What the papers say of their results, and what ours show"
    counts = Counter(row[-1] for row in rows)
    hold, in_part, fail = (counts[one] for one in VERDICTS)
    text = f"Of {len(rows)} claims {hold} hold, {in_part} hold in part, {fail} do not come out."
    counted = ("verdict", text)
    fields = ["paper", "where", "claim", "ours", "verdict"]
    return PublishedTable(fields, rows, [("title", title), counted, MADE])


MADE = ("made with", "python -m experiments.verdicts, from the tables in docs/tables")


def main(arguments: list[str] | None = None) -> int:
    """Print the three tables, and with --publish write them to docs/tables/verdicts."""
    parser = argparse.ArgumentParser(prog="python -m experiments.verdicts", description=__doc__)
    parser.add_argument("--publish", action="store_true", help="also write to docs/tables")
    options = parser.parse_args(arguments)
    cells = judge_cells(TABLES)
    made = {"summary": sum_up_cells(cells), "claims": judge_claims(TABLES), "cells": cells}
    for name, table in made.items():
        print(table.markdown())
        if options.publish:
            write_published(TABLES / "verdicts" / f"{name}.csv", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
