"""Give the project its next version: python -m release.version 0.1.0 [--date 2026-12-01]

The version goes into the package, CITATION.cff and the page on citing; the notes in docs/changes
become a section of CHANGELOG.md and are removed. A version that ends in .dev0 begins the next one:
then notes stay.
"""

import argparse
import re
import sys
from datetime import date
from pathlib import Path

from release.checks import ROOT

VERSION = re.compile(r"\d+\.\d+\.\d+(\.dev0|rc\d+)?")
INTRODUCTION = "# Changelog\n\nThe newest release first, and in it the newest change.\n"
PLACES = (
    ("src/likewise/__init__.py", r'^(__version__ = ")[^"]+(")'),
    ("CITATION.cff", r"^(version: *)\S+()"),
    ("docs/guide/cite.md", r"(version = \{)[^}]+(\})"),
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.version", description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--date", default=date.today().isoformat(), help="of the release")
    options = parser.parse_args(arguments)
    if not VERSION.fullmatch(options.version):
        parser.error(f"{options.version} is no version such as 0.1.0, 0.1.0rc1 or 0.2.0.dev0.")
    set_version(ROOT, options.version, options.date)
    if not options.version.endswith(".dev0"):
        fold_changes(ROOT, options.version, options.date)
    return 0


def set_version(root: Path, version: str, day: str) -> None:
    """Write the version wherever it stands."""
    for name, pattern in PLACES:
        replace_once(root / name, pattern, rf"\g<1>{version}\g<2>")
    replace_once(root / "CITATION.cff", r"^(date-released: *)\S+()", rf"\g<1>{day}\g<2>")


def replace_once(path: Path, pattern: str, new: str) -> None:
    text, n_found = re.subn(pattern, new, path.read_text(), flags=re.MULTILINE)
    if n_found != 1:
        raise SystemExit(f"{path} has {n_found} places like {pattern}, not one.")
    path.write_text(text)


def fold_changes(root: Path, version: str, day: str) -> None:
    """The notes on changes as a section of CHANGELOG.md, before those of older releases."""
    from docs.tools.history import changes, released

    notes = root / "docs" / "changes"
    section = f"## {version} ({day})\n\n{deeper(changes(notes))}\n"
    section = section.replace("](", "](docs/").replace("](docs/http", "](http")
    path = root / "CHANGELOG.md"
    older = released(path.read_text())
    path.write_text(f"{INTRODUCTION}\n{section}{older and chr(10) + older}")
    for note in notes.glob("*.md"):
        note.unlink()


def deeper(text: str) -> str:
    """Headings one level down."""
    return re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
