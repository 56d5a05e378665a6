"""The command `python -m benchmarks`; see benchmarks/__init__.py."""

import argparse
import contextlib
import io
import itertools
import os
import sys
from pathlib import Path

from benchmarks import logdet_projections, page, plan, runner
from benchmarks.environments import methods_file_of

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
    parser.add_argument("--page-only", action="store_true", help="write the page from the results")
    options = parser.parse_args(argv)

    folder = options.results or HERE / "results" / ("smallest" if options.smallest else "")
    fits = folder / "fits.csv"
    if not options.page_only:
        choose = plan.smallest_jobs if options.smallest else lambda *_: plan.jobs(options.seeds, *_)
        run_all(list(choose(options.only, not options.no_peers)), fits, options)
        if not options.only or options.only == "logdet projections":
            run_projections(folder, options.smallest)
    target = folder / "benchmarks.md" if options.smallest else HERE.parent / "docs/benchmarks.md"
    target.write_text(page.write_page(runner.read_results(fits), folder))
    print(f"wrote {os.path.relpath(target)}", file=sys.stderr)


def run_all(jobs, fits, options):
    done = {} if options.again else runner.read_results(fits)
    todo = [job for job in jobs if job.key not in done]
    batches = [[job] for job in todo]
    if options.smallest:  # no comparison is made, so one process for each file of methods will do
        todo.sort(key=methods_file)
        batches = [list(group) for _, group in itertools.groupby(todo, methods_file)]
    for batch in batches:
        for row in runner.run_jobs(batch, options.limit):
            runner.append_result(fits, row)
            took = f"{row['fit_cpu_s']:.3g} s" if "fit_cpu_s" in row else ""
            print(f"{row['key']}: {row['status']} {took}", file=sys.stderr)


def methods_file(job):
    return methods_file_of(job.contestant)


def run_projections(folder, smallest):
    table = io.StringIO()
    with contextlib.redirect_stdout(table):
        logdet_projections.main(["--smallest"] if smallest else [])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "logdet_projections.md").write_text(table.getvalue())


if __name__ == "__main__":
    main()
