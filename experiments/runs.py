"""Run a paper's tables: jobs that survive a kill, means with their standard errors, Markdown.

A table is a list of cells, each a dict of settings, and a function that takes the settings and a
seed and returns measures. Every finished job is one line of `<results>/<paper>/<table>.csv`, and a
job whose line is there is not run again: a killed run goes on where it was. Lines that start with
"# " name the versions and the data behind the lines below them.
"""

import csv
import math
import platform
import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from likewise.datasets import fetch
from likewise.files.atomic_file import replacing
from likewise.progress import track

# Modules here with TABLES.
PAPERS = ("sklr", "guided", "npk", "people", "duals", "ssc", "scalable", "deep")
PACKAGES = ("likewise", "numpy", "scipy", "scikit-learn")

Settings = Mapping[str, Any]
Record = dict[str, str]  # a line of a results file


@dataclass(frozen=True)
class Table:
    """One table or figure: what is run, and how it is printed.

    `run(seed=..., **settings)` returns the `measures` of one job. Printed, a row is a combination
    of the settings in `rows`, and a column a value of the setting `columns`.
    """

    name: str
    title: str
    cells: Callable[[], list[dict]]  # the settings of every cell, all with the same keys
    run: Callable[..., Mapping[str, float]]
    rows: tuple[str, ...]
    columns: str
    measures: tuple[str, ...] = ("ARI",)
    data: Callable[[], Iterable[str]] = tuple  # the sets it needs, by name
    published: Callable[[Mapping[str, str]], str] | None = None  # a cell's figure in the paper
    draw: Callable[[list[Record], Path], None] | None = None  # writes an SVG
    conclude: Callable[[list[Record]], str] | None = None  # Markdown to stand above the table


class Summary(NamedTuple):
    mean: float
    standard_error: float  # NaN of a single run
    n_runs: int


def find_tables(paper: str, table: str | None = None) -> dict[str, list[Table]]:
    """Tables by paper: of "all" papers or one, all tables or the one named."""
    if paper not in ("all", *PAPERS):
        raise ValueError(f"There are no experiments for {paper!r}, only for {', '.join(PAPERS)}.")
    found = {}
    for name in PAPERS if paper == "all" else (paper,):
        tables = import_module(f"experiments.{name}").TABLES
        found[name] = [one for one in tables if table in (None, one.name)]
        if not found[name]:
            known = ", ".join(one.name for one in tables)
            raise ValueError(f"{name} has no table {table!r}, only {known}.")
    return found


def run_table(table: Table, path: Path, *, n_runs: int, n_jobs: int = 1) -> list[Record]:
    """Run the jobs that the file `path` does not have; the records of all of them, by cells.

    With no runs nothing is run, and the records are what the file has of the table, of data sets
    that are not at hand here, too.
    """
    cells = table.cells()
    names = list(cells[0])
    fields = [*names, "seed", *table.measures, "seconds", "unsettled"]
    jobs = {
        _key({**cell, "seed": seed}, names): (cell, seed)
        for seed in range(n_runs)
        for cell in cells
    }
    done = {_key(record, names) for record in read_records(path, fields)}
    missing = [job for key, job in jobs.items() if key not in done]
    if missing:
        _prepare(path, fields, provenance(table))
        results = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_run_job)(table.run, cell, seed) for cell, seed in missing
        )
        for record in track(results, f"running {table.name}", total=len(missing)):
            with path.open("a", newline="") as file:
                csv.DictWriter(file, fields, lineterminator="\n").writerow(record)
    order = {_key({**cell, "seed": ""}, names): i for i, cell in enumerate(cells)}

    def place(record: Record) -> int:
        return order.get(_key({**record, "seed": ""}, names), len(order))

    records = sorted(read_records(path, fields), key=place)
    if n_runs:
        return [record for record in records if _key(record, names) in jobs]
    at_hand = {cell.get("data") for cell in cells}
    return [one for one in records if place(one) < len(order) or one.get("data") not in at_hand]


def read_records(path: Path, fields: Sequence[str]) -> list[Record]:
    """The whole lines of a results file; one cut short by a kill does not count."""
    lines = [line for line in _whole_lines(path) if not line.startswith("# ")]
    if lines and lines[0].strip().split(",") != list(fields):
        raise ValueError(f"{path} has other columns than this version writes. Move it away.")
    return list(csv.DictReader(lines))


def provenance(table: Table) -> str:
    """What the numbers depend on beside the seed: versions, and checksums of the data."""
    versions = [f"Python {platform.python_version()}"]
    versions += [f"{package} {version(package)}" for package in PACKAGES]
    data = [f"{name} {fetch(name).checksum()[:16]}" for name in table.data()]
    return ", ".join(versions) + ("; data " + ", ".join(data) if data else "")


def summarize(
    records: Sequence[Mapping[str, str]], names: Sequence[str], measure: str
) -> dict[tuple[str, ...], Summary]:
    """Mean, standard error and number of runs, by the values of the settings `names`."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        groups.setdefault(tuple(record[name] for name in names), []).append(float(record[measure]))
    return {
        key: Summary(
            float(np.mean(runs)),
            float(np.std(runs, ddof=1)) / math.sqrt(len(runs)) if len(runs) > 1 else math.nan,
            len(runs),
        )
        for key, runs in groups.items()
    }


def markdown(table: Table, records: Sequence[Mapping[str, str]]) -> str:
    """A Markdown table for each measure: mean ± standard error, and the published figure if any."""
    rows = list(dict.fromkeys(tuple(record[name] for name in table.rows) for record in records))
    columns = list(dict.fromkeys(record[table.columns] for record in records))
    keys = (*table.rows, table.columns)
    parts = []
    for measure in table.measures:
        found = summarize(records, keys, measure)
        lines = [[*table.rows, *columns, "runs"]]
        lines.append(["---"] * len(lines[0]))
        for row in rows:
            cells = [found.get((*row, column)) for column in columns]
            published = [
                table.published({"measure": measure, **dict(zip(keys, (*row, column)))})
                if table.published
                else ""
                for column in columns
            ]
            counts = sorted({cell.n_runs for cell in cells if cell})
            lines.append([*row, *map(_print_cell, cells, published), "-".join(map(str, counts))])
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(text if len(table.measures) == 1 else f"{measure}:\n\n{text}")
    return "\n\n".join(parts) + "\n"


def section(table: Table, path: Path, records: list[Record]) -> str:
    """The table with its header: seeds, versions and checksums of the runs behind it."""
    seeds = sorted({int(record["seed"]) for record in records})
    unsettled = sum(int(record["unsettled"]) for record in records)
    head = f"{len(records)} runs, seed" + (f"s 0 to {seeds[-1]}" if len(seeds) > 1 else " 0")
    head += f", {unsettled} of them stopped before they had settled" if unsettled else ""
    origins = [line[2:].strip() for line in _whole_lines(path) if line.startswith("# ")]
    verdict = f"{table.conclude(records)}\n" if table.conclude else ""
    text = f"{verdict}{markdown(table, records)}\n{head}.\n"
    return text + "".join(f"{one}.\n" for one in origins)


def write_section(page: Path, name: str, text: str) -> None:
    """Put a section into a page, between marks of its name; what people wrote around stays."""
    begin, end = f"<!-- {name}: written by likewise reproduce -->\n", f"<!-- end of {name} -->\n"
    old = page.read_text() if page.is_file() else f"# {page.stem}\n"
    between = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not between.search(old):
        old += f"\n## {name}\n\n{begin}{end}"
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as temporary:
        Path(temporary).write_text(between.sub(lambda _: begin + text + end, old))


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    n_runs: int,
    results: Path,
    docs: Path | None = None,
    n_jobs: int = 1,
    say: Callable[[str], None],
) -> None:
    """Run tables, tell them, and leave CSV and SVG in `results`; with `docs`, also the pages."""
    for name, tables in find_tables(paper, table).items():
        for one in tables:
            path = results / name / f"{one.name}.csv"
            records = run_table(one, path, n_runs=n_runs, n_jobs=n_jobs)
            if not records:
                say(f"{name} {one.name}: not run yet.")
                continue
            text = section(one, path, records)
            say(f"{name} {one.name}: {one.title}\n\n{text}")
            if one.draw is not None:
                with replacing(path.with_suffix(".svg")) as temporary:
                    one.draw(records, temporary)
            if docs is not None:
                _publish(docs / f"{name}.md", one, text, path.with_suffix(".svg"))


def _publish(page: Path, table: Table, text: str, picture: Path) -> None:
    if table.draw is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        beside = page.with_name(f"{page.stem}-{table.name}.svg")
        with replacing(beside) as temporary:
            temporary.write_bytes(picture.read_bytes())
        text = f"![{table.title}]({beside.name})\n\n{text}"
    write_section(page, table.name, f"{table.title}.\n\n{text}")


def _key(record: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(record[name]) for name in (*names, "seed"))


def _run_job(run: Callable, cell: Settings, seed: int) -> dict[str, Any]:
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        measured = run(seed=seed, **cell)
    unsettled = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    seconds = f"{time.perf_counter() - started:.2f}"
    rounded = {name: f"{value:.6g}" for name, value in measured.items()}
    return {**cell, "seed": seed, **rounded, "seconds": seconds, "unsettled": int(unsettled)}


def _whole_lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _prepare(path: Path, fields: Sequence[str], origin: str) -> None:
    """Make the file, or cut off a half line, and note what the coming lines depend on."""
    lines = _whole_lines(path) or [",".join(fields) + "\n"]
    if f"# {origin}\n" not in lines:
        lines.append(f"# {origin}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        Path(temporary).write_text("".join(lines))


def _print_cell(cell: Summary | None, published: str) -> str:
    if cell is None:
        return ""
    error = "" if math.isnan(cell.standard_error) else f" ± {cell.standard_error:.3f}"
    return f"{cell.mean:.3f}{error}" + (f" ({published})" if published else "")
