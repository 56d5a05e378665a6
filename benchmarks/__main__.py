"""The command `python -m benchmarks`; see benchmarks/__init__.py."""

import argparse
import itertools
import os
import sys
from pathlib import Path

from benchmarks import logdet_projections, plan, runner, size_rules, summary
from benchmarks.environments import methods_file_of
from experiments.published import TABLES, read_published, write_published
from experiments.run_file import origins_of, run_missing
from likewise.progress import show_progress

HERE = Path(__file__).parent


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--seeds", type=int, default=10, help="paired seeds, at most (default 10)")
    parser.add_argument("--only", help="one benchmark, data set, method or contestant")
    parser.add_argument("--no-peers", action="store_true", help="ours and the baseline alone")
    parser.add_argument(
        "--smallest", action="store_true", help="each benchmark once, smallest size"
    )
    parser.add_argument("--again", action="store_true", help="run what has a result already too")
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds a fit may take")
    parser.add_argument("--results", type=Path, help="folder (default benchmarks/results)")
    parser.add_argument("--tables-only", action="store_true", help="from the results")
    options = parser.parse_args(argv)

    show_progress()
    folder = options.results or HERE / "results" / ("smallest" if options.smallest else "")
    fits, projections = folder / "fits.csv", folder / "projections.csv"
    if not options.tables_only:
        choose = plan.smallest_jobs if options.smallest else lambda *_: plan.jobs(options.seeds, *_)
        run_all(list(choose(options.only, not options.no_peers)), fits, options)
        if not options.only or options.only == "logdet projections":
            blocked = logdet_projections.main(["--smallest"] if options.smallest else [])
            write_published(projections, blocked)
    target = folder / "tables" if options.smallest else TABLES / "benchmarks"
    tables = summary.summarize(
        runner.read_results(fits), read_published(projections), origins_of(fits)
    )
    if options.tables_only or not options.only or options.only == "rules":
        names = ("smallest", "no_peers", "tables_only")
        choice = {name: getattr(options, name) for name in names}
        for part in size_rules.PARTS:
            table = size_rules.run_part(part, folder, **choice)
            tables |= {f"rules-{part}": table} if table.rows else {}
    for name, table in tables.items():
        write_published(target / f"{name}.csv", table)
    print(f"wrote {len(tables)} tables to {os.path.relpath(target)}", file=sys.stderr)


def run_all(jobs, fits, options):
    def execute(missing):
        for batch in batches_of(missing, options.smallest):
            yield from runner.run_jobs(batch, options.limit)

    run_missing(
        fits,
        runner.COLUMNS,
        {job.key: job for job in jobs},
        key_of=lambda row: row["key"],
        execute=execute,
        origin=summary.machine,
        what="fitting",
        again=options.again,
    )


def batches_of(jobs, smallest):
    """Jobs that share a process: one; where nothing is compared, all of one file of methods."""
    if not smallest:
        return [[job] for job in jobs]
    jobs = sorted(jobs, key=methods_file)
    return [list(group) for _, group in itertools.groupby(jobs, methods_file)]


def methods_file(job):
    return methods_file_of(job.contestant)


if __name__ == "__main__":
    main()
