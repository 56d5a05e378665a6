"""Run a paper's tables: jobs that survive a kill, and means with their standard errors.

A table is a list of cells, each a dict of settings, and a function that takes the settings and a
seed and returns measures. Every finished job is one line of `<results>/<paper>/<table>.csv`
(run_file.py); what they come to is published as `docs/tables/<paper>/<table>.csv` (published.py).
"""

import math
import platform
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

from experiments.earlier_runs import stand_ins
from experiments.published import RESULTS, PublishedTable, read_published, write_published
from experiments.run_file import Record, origins_of, read_records, run_missing
from likewise.datasets import fetch
from likewise.files.atomic_file import replacing

# Modules here with TABLES.
PAPERS = (
    "sklr",
    "guided",
    "few_answers",
    "asking",
    "npk",
    "people",
    "together",
    "duals",
    "ssc",
    "scalable",
    "deep",
    "features",
    "seeing",
    "texts_images",
)
PACKAGES = ("likewise", "numpy", "scipy", "scikit-learn")

Settings = Mapping[str, Any]


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
    only_published: Callable[[], list[dict]] = list  # cells that cannot be run here
    why: str = ""  # they cannot
    draw: Callable[[list[Record], Path], None] | None = None  # writes an SVG
    conclude: Callable[[list[Record]], list[str]] | None = None  # sentences to stand above it
    compare: Callable[[list[Record]], PublishedTable] | None = None  # a table that sums it up
    first_seed: int = 0  # that the first run draws by


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


def run_table(
    table: Table,
    path: Path,
    *,
    n_runs: int,
    n_jobs: int = 1,
    only: Mapping[str, Sequence[str]] | None = None,
    earlier: PublishedTable | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[Record]:
    """Run the jobs that the file `path` does not have; the records of all of them, by cells.

    With `only`, cells with other values of these settings are not run; the records are of all cells
    all the same.

    Runs that only the table `earlier` still knows of count as done, and stand-ins of them are among
    the records. With no runs nothing is run, and the records are what the file has of the table, of
    data sets that are not at hand here, too. Cells whose data is not at hand are left out.
    """
    cells = table.cells()
    names = list(cells[0])
    fields = [*names, "seed", *table.measures, "seconds", "unsettled"]
    missing = find_missing_data(table) if n_runs else {}
    for name, why in missing.items():
        say(f"{table.name} without {name}: {why}")
    jobs = {
        _key({**cell, "seed": seed}, names): (cell, seed)
        for seed in range(n_runs)
        for cell in cells
        if data_of(cell) not in missing
    }
    before = _known_by_git(table, names, read_records(path, fields), earlier)
    done = {_key(record, names) for record in before}
    jobs = {key: job for key, job in jobs.items() if key not in done}
    to_run = {key: job for key, job in jobs.items() if _is_among(job[0], only or {})}
    run_missing(
        path,
        fields,
        to_run,
        key_of=lambda record: _key(record, names),
        execute=lambda missing: Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_run_job)(table.run, cell, seed) for cell, seed in missing
        ),
        origin=lambda: provenance(table, skip=missing),
        what=f"running {table.name}",
    )
    order = {cell_of(cell, names): i for i, cell in enumerate(cells)}

    def place(record: Record) -> int:
        return order.get(cell_of(record, names), len(order))

    own = [record for record in read_records(path, fields) if _key(record, names) not in done]
    if n_runs:
        own = [record for record in own if _key(record, names) in jobs]
    records = sorted([*before, *own], key=place)
    if n_runs and not before:
        return records
    at_hand = {cell.get("data") for cell in cells}
    return [one for one in records if place(one) < len(order) or one.get("data") not in at_hand]


def _is_among(cell: Settings, only: Mapping[str, Sequence[str]]) -> bool:
    """Whether a cell has one of the values asked for, of each setting."""
    for setting in only:
        if setting not in cell:
            raise ValueError(f"There is no setting {setting!r}, only {', '.join(cell)}.")
    return all(str(cell[setting]) in values for setting, values in only.items())


def find_missing_data(table: Table) -> dict[str, str]:
    """The sets that are not at hand, and why; one error if all cells need them, or unnamed ones."""
    missing = {}
    for name in table.data():
        try:
            fetch(name)
        except OSError as error:
            missing[name] = str(error)
    named = {data_of(cell) for cell in table.cells()}
    if missing and not {*missing} < named:
        raise FileNotFoundError(next(iter(missing.values())))
    return missing


def data_of(cell: Settings) -> str:
    """The name of the set that a cell needs: "mnist" of "mnist 01"; "" where it names none."""
    return str(cell.get("data", "")).partition(" ")[0]


def _known_by_git(
    table: Table, names: list[str], own: list[Record], earlier: PublishedTable | None
) -> list[Record]:
    """Stand-ins for runs of cells whose own lines are gone, and for tables made of means alone."""
    by_means = table.conclude is None and table.compare is None
    if earlier is None or not by_means or not {*names} <= {*earlier.fields}:
        return []
    written = {_key(record, names) for record in own}
    counted = stand_ins(earlier, names)
    lost = {cell_of(one, names) for one in counted if _key(one, names) not in written}
    return [record for record in counted if cell_of(record, names) in lost]


def provenance(table: Table, skip: Iterable[str] = ()) -> str:
    """What the numbers depend on beside the seed: versions, and checksums of the data."""
    versions = [f"Python {platform.python_version()}"]
    versions += [f"{package} {version(package)}" for package in PACKAGES]
    names = [name for name in table.data() if name not in skip]
    data = [f"{name} {fetch(name).checksum()[:16]}" for name in names]
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


def sum_up(
    table: Table, path: Path, records: list[Record], earlier: PublishedTable | None = None
) -> PublishedTable:
    """The table to publish: a line per cell and measure; its runs, seeds and versions as notes."""
    settings = (*table.rows, table.columns)
    rows = []
    for measure in table.measures:
        for key, run in summarize(records, settings, measure).items():
            named = {"measure": measure, **dict(zip(settings, key))}
            published = table.published(named) if table.published else ""
            error = "" if math.isnan(run.standard_error) else f"{run.standard_error:.6g}"
            rows.append([*key, measure, f"{run.mean:.6g}", error, published, str(run.n_runs)])
        for cell in table.only_published():
            if table.published and (figure := table.published({"measure": measure, **cell})):
                rows.append([*cell_of(cell, settings), measure, "", "", figure, ""])
    sentences = table.conclude(records) if table.conclude else []
    origins = (earlier.note("made with") if earlier else []) + origins_of(path)
    notes = [
        ("title", table.title),
        *(("verdict", sentence) for sentence in sentences),
        *([("why", table.why)] if table.why else []),
        ("runs", count_runs(records, table.first_seed)),
        *(("made with", origin) for origin in dict.fromkeys(origins)),
        ("across", table.columns),
    ]
    return PublishedTable([*settings, *RESULTS], rows, notes)


def count_runs(records: list[Record], first_seed: int = 0) -> str:
    """How many runs, with which seeds, and how many of them did not converge."""
    seeds = sorted({int(record["seed"]) + first_seed for record in records})
    unsettled = sum(int(record["unsettled"]) for record in records)
    seeds_text = f"s {first_seed} to {seeds[-1]}" if len(seeds) > 1 else f" {first_seed}"
    text = f"{len(records)} runs, seed{seeds_text}"
    return text + (f", {unsettled} of them stopped before they had settled" if unsettled else "")


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    n_runs: int,
    results: Path,
    docs: Path | None = None,
    known: Path | None = None,
    n_jobs: int = 1,
    only: Mapping[str, Sequence[str]] | None = None,
    say: Callable[[str], None],
) -> None:
    """Run tables and print them; CSV and SVG stay in `results` and, if given, go to `docs`.

    `known` is the folder of tables that new runs are added to: those in git. Of several tables, one
    whose data is not at hand is left out with a line.
    """
    found = find_tables(paper, table)
    is_only_one = sum(map(len, found.values())) == 1
    for name, tables in found.items():
        for one in tables:
            path = results / name / f"{one.name}.csv"
            earlier = _read_known(known, name, one)
            try:
                records = run_table(
                    one, path, n_runs=n_runs, n_jobs=n_jobs, only=only, earlier=earlier, say=say
                )
            except FileNotFoundError as error:
                if is_only_one:
                    raise
                say(f"{name} {one.name}: not run. {error}")
                continue
            if not records:
                say(f"{name} {one.name}: not run yet.")
                continue
            summary = sum_up(one, path, records, earlier)
            say(f"{name} {one.name}: {summary.markdown()}")
            if one.draw is not None:
                with replacing(path.with_suffix(".svg")) as temporary:
                    one.draw(records, temporary)
            if docs is not None:
                _publish(docs, name, one, summary, records, path.with_suffix(".svg"))


def _read_known(known: Path | None, paper: str, table: Table) -> PublishedTable | None:
    """The table in git, where it is one of means and standard errors."""
    path = known / paper / f"{table.name}.csv" if known else None
    return read_published(path) if path and path.is_file() else None


def _publish(
    docs: Path,
    paper: str,
    table: Table,
    summary: PublishedTable,
    records: list[Record],
    picture: Path,
) -> None:
    write_published(docs / "tables" / paper / f"{table.name}.csv", summary)
    if table.compare is not None:
        compared = table.compare(records)
        origin = [one for one in summary.notes if one[0] in ("runs", "made with")]
        write_published(
            docs / "tables" / paper / f"{table.name}-verdict.csv",
            PublishedTable(compared.fields, compared.rows, compared.notes + origin),
        )
    if table.draw is not None:
        beside = docs / "experiments" / f"{paper}-{table.name}.svg"
        beside.parent.mkdir(parents=True, exist_ok=True)
        with replacing(beside) as temporary:
            temporary.write_bytes(picture.read_bytes())


def _key(record: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(record[name]) for name in (*names, "seed"))


def cell_of(record: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    """The settings of a record, without its seed."""
    return tuple(str(record[name]) for name in names)


def _run_job(run: Callable, cell: Settings, seed: int) -> dict[str, Any]:
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        measured = run(seed=seed, **cell)
    unsettled = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    seconds = f"{time.perf_counter() - started:.2f}"
    rounded = {name: f"{value:.6g}" for name, value in measured.items()}
    return {**cell, "seed": seed, **rounded, "seconds": seconds, "unsettled": int(unsettled)}
