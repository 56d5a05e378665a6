"""When and on what machine the tables of docs/benchmarks.md were made, as the page is built.

For each file of docs/tables/benchmarks the commit that last wrote it, which its runs came before,
and the machine that the file names.
"""

import re
import subprocess

from docs.tools.tables import ROOT, read_table

MARK = "<!-- origins -->"
FOLDER = ROOT / "docs" / "tables" / "benchmarks"
MACHINE = re.compile(r"^(AMD|Intel|Apple|Arm)")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def machine_of(name: str) -> str:
    """The machine as the table has it, with how many runs there were and what else was going on."""
    notes = read_table("benchmarks", name).note("made with")
    return next((note for note in notes if MACHINE.match(note)), "not noted")


def written_by(name: str) -> str:
    """The commit that last wrote a table, and its day; nothing is known outside a repository."""
    path = str((FOLDER / f"{name}.csv").relative_to(ROOT))
    command = ["git", "log", "-1", "--format=%h, %cs", "--", path]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "commit not known"
    return done.stdout.strip() or "not committed"


def listed() -> str:
    return "\n".join(f"- {name}: {written_by(name)}; {machine_of(name)}" for name in names())


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the list, where a page asks for it."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, listed())
