"""The release check-list, as a script: build, look inside, install in clean environments, use it.

    python -m release [--heavy] [--folder FOLDER]

Every check prints a line: "ok", "FAILED" with what went wrong, or "skipped" with what is missing.
The exit status is 1 if any failed. Pythons other than the one that runs this are looked for on the
PATH (python3.14) and in pyenv's folder; one that a distribution packages can be unpacked anywhere
and put on the PATH for the time of the check. The heavy extras need some gigabytes.
"""

import argparse
import sys
from pathlib import Path

from release.checks import HEAVY, all_checks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--heavy", action="store_true", help=f"the extras {', '.join(HEAVY)} too")
    parser.add_argument("--folder", type=Path, default=Path("dist/check"), help="for environments")
    parser.add_argument("--only", default="", help="checks whose name holds these words")
    options = parser.parse_args()
    n_failed = 0
    for check in all_checks(options.folder.resolve(), heavy=options.heavy):
        if options.only not in check.name:
            continue
        print(f"{check.name} ... ", end="", flush=True)
        outcome = check.outcome()
        print(outcome, flush=True)
        n_failed += outcome.startswith("FAILED")
    print(f"{n_failed} checks failed." if n_failed else "Nothing failed.")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
