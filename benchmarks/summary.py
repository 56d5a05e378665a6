"""The tables of docs/benchmarks.md, from the rows of results alone."""

import os
import platform
from collections import Counter

import numpy as np

from benchmarks import plan
from benchmarks.reach import reach_table
from benchmarks.results import Results
from experiments.published import PublishedTable


def summarize(rows, projections, machines):
    """The tables to publish, by name; `machines` are what the file of runs says of its origin."""
    results = Results(rows)
    tables = {
        "reached": reach_table(results, projections),
        "linear-metrics": comparison_table(results, plan.LINEAR_METRICS),
        "clusterers": comparison_table(results, plan.CLUSTERERS),
        "growth": growth_table(results),
        "projections": projections,
    }
    notes = [("made with", text) for text in (*machines, versions(rows), first_fit(rows))]
    return {name: PublishedTable(table.fields, table.rows, notes) for name, table in tables.items()}


def first_fit(rows):
    ours = [row["first_fit_s"] for key, row in rows.items() if f"|{plan.OURS}|" in key]
    seconds = f"{np.nanmedian(ours):.2g}" if ours else "?"
    return f"imports and a first fit of 30 rows, not counted: {seconds} s with likewise"


def versions(rows):
    """Of every contestant and its packages."""
    return "; ".join(sorted({row["versions"] for row in rows.values() if row["versions"]}))


def machine():
    """This machine in words: no names of hosts or folders."""
    return (
        f"{cpu_model()}, {os.cpu_count()} cores, {memory_gb():.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def cpu_model():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def memory_gb():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3


def comparison_table(results, comparisons):
    header = (
        "data", "answers", "method", "by", "seeds", "fit, s", "ours faster by", "peak MB", "ARI",
        "ours - theirs", "free ARI", "satisfied", "objective", "remarks",
    )  # fmt: skip
    lines = [
        contestant_cells(results, comparison, contestant)
        for comparison in comparisons
        for contestant in comparison.seeds
        if results.all_of(comparison, contestant)
    ]
    return as_table(header, lines)


def contestant_cells(results, comparison, contestant):
    def mean(column, digits):
        return number(results.mean(comparison, contestant, column), digits)

    rows = results.all_of(comparison, contestant)
    is_peer = contestant in plan.PEERS
    faster = results.times_faster(comparison, contestant) if is_peer else np.nan
    return (
        comparison.data,
        f"{comparison.n_answers:,} {comparison.answers}",
        comparison.method,
        contestant,
        len(rows),
        mean("fit_cpu_s", 3),
        "" if np.isnan(faster) else f"{number(faster, 2)} times",
        f"{results.mean(comparison, contestant, 'peak_mb'):.0f}",
        mean("ari", 3),
        difference(results.ours_minus(comparison, contestant)) if is_peer else "",
        mean("ari_free", 3),
        share(results.mean(comparison, contestant, "satisfied")),
        mean("objective", 4),
        remarks(rows),
    )


def remarks(rows):
    """What went wrong, and how often."""
    told = Counter(row["status"] for row in rows.values() if row["status"] != "ok")
    stopped = [row for row in rows.values() if row["status"] == "ok" and not row["converged"]]
    if stopped:
        told["not converged"] = len(stopped)
    return "; ".join(f"{what} ({count} of {len(rows)})" for what, count in told.items())


def growth_table(results):
    sizes = sorted({comparison.data for comparison in plan.GROWTH}, key=len)
    methods = dict.fromkeys(comparison.method for comparison in plan.GROWTH)
    by_name = {(c.method, c.data): c for c in plan.GROWTH}
    lines = []
    for method in methods:
        cells = [method]
        for data in sizes:
            comparison = by_name[method, data]
            (contestant,) = comparison.seeds
            seconds = results.mean(comparison, contestant, "fit_cpu_s")
            peak = results.mean(comparison, contestant, "peak_mb")
            cells.append("" if np.isnan(seconds) else f"{number(seconds, 3)} s, {peak:.0f} MB")
        lines.append(cells)
    return as_table(("method", *sizes), lines)


def as_table(header, lines):
    return PublishedTable(list(header), [[str(cell) for cell in line] for line in lines])


def number(value, digits):
    """Significant digits without exponents; nothing where there is no number."""
    if np.isnan(value):
        return ""
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")


def share(value):
    return "" if np.isnan(value) else f"{100 * value:.1f} %"


def difference(told):
    mean, error, n_seeds = told
    if not n_seeds:
        return ""
    return f"{mean:+.3f}" + ("" if np.isnan(error) else f" ± {error:.3f}")
