"""Runs that only docs/tables still knows of, so that new ones are added to them.

The lines of the runs (run_file.py) are not in git; their mean, standard error and number are, cell
by cell. Each cell gets as many stand-ins as it had runs, with that mean and that standard error:
what is computed from them and from new runs together is what all runs would have given, as long as
it is made of means and standard errors. Tables that compare methods seed by seed get none.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from experiments.published import ERROR, MEAN, MEASURE, RUNS, PublishedTable
from experiments.run_file import Record


def stand_ins(table: PublishedTable, names: Sequence[str]) -> list[Record]:
    """A record for each run that a published table counts, with seeds 0, 1, ... in its cell."""
    cells: dict[tuple[str, ...], list[Record]] = {}
    for row in table.rows:
        line = dict(zip(table.fields, row))
        if not line[RUNS]:
            continue  # a cell that cannot be run here
        if not line[RUNS].isdigit():
            return []  # a table of another kind
        values = spread_around(float(line[MEAN]), float(line[ERROR] or 0), int(line[RUNS]))
        key = tuple(line[name] for name in names)
        blank = {**dict(zip(names, key)), "seconds": "", "unsettled": "0"}
        records = cells.setdefault(key, [blank | {"seed": str(i)} for i in range(len(values))])
        for record, value in zip(records, values):
            record[line[MEASURE]] = repr(value)
    flat = [record for records in cells.values() for record in records]
    for record in flat[: count_unsettled(table)]:
        record["unsettled"] = "1"
    return flat


def spread_around(mean: float, standard_error: float, n_runs: int) -> list[float]:
    """So many values with this mean and this standard error: half above, half below."""
    half = n_runs // 2
    if not half:
        return [mean] * n_runs
    off = standard_error * math.sqrt(n_runs * (n_runs - 1) / (2 * half))
    signs = np.concatenate([np.ones(half), -np.ones(half), np.zeros(n_runs - 2 * half)])
    return [float(value) for value in mean + off * signs]


def count_unsettled(table: PublishedTable) -> int:
    """How many of its runs stopped before they had settled, by its note."""
    stated = re.search(r"(\d+) of them stopped", " ".join(table.note("runs")))
    return int(stated.group(1)) if stated else 0
