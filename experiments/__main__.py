"""The command `python -m experiments`; see experiments/__init__.py."""

import argparse
import sys
from pathlib import Path

from experiments.published import TABLES
from experiments.runs import PAPERS, reproduce
from likewise.progress import show_progress

ROOT = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Run tables; an unknown paper, table or data set is one line on stderr."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=main.__doc__)
    parser.add_argument("paper", help=f"all, or one of {', '.join(PAPERS)}")
    parser.add_argument("table", nargs="?", help="one of its tables  [default: all]")
    parser.add_argument("--runs", type=int, default=3, help="runs per cell; 0 shows what there is")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="SETTING=VALUE,...",
        help="run only cells with these values of a setting (labelled=5,7): the cheap ones first",
    )
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="folder of the runs")
    parser.add_argument(
        "--again", action="store_true", help="run also what the tables in git have runs of"
    )
    parser.add_argument("--publish", action="store_true", help="also write tables to docs/tables")
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 is one per core")
    options = parser.parse_args(arguments)
    show_progress()
    try:
        reproduce(
            options.paper,
            options.table,
            n_runs=options.runs,
            only=parse_only(options.only),
            results=options.results,
            docs=ROOT / "docs" if options.publish else None,
            known=None if options.again else TABLES,
            n_jobs=options.jobs,
            say=print,
        )
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse_only(texts: list[str]) -> dict[str, list[str]]:
    """Values by setting, of "labelled=5,7"."""
    only = {}
    for text in texts:
        setting, is_there, values = text.partition("=")
        if not (setting and is_there and values):
            raise ValueError(f"--only {text!r} is not SETTING=VALUE,VALUE, as in labelled=5,7.")
        only[setting] = values.split(",")
    return only


if __name__ == "__main__":
    sys.exit(main())
