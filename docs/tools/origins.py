"""When and on what machine the tables of docs/benchmarks.md were made: python -m docs.tools.origins

Writes a list into the page, between two comments: for each file of docs/tables/benchmarks the
commit that last wrote it, which its runs came before, and the machine that the file names.
"""

import re
import subprocess

from docs.tools.tables import ROOT, read_table

PAGE = ROOT / "docs" / "benchmarks.md"
FOLDER = ROOT / "docs" / "tables" / "benchmarks"
PART = re.compile(r"<!-- origins: written by .*?<!-- end of origins -->", re.DOTALL)
BEGIN = "<!-- origins: written by python -m docs.tools.origins -->"
END = "<!-- end of origins -->"
MACHINE = re.compile(r"^(AMD|Intel|Apple|Arm)")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def machine_of(name: str) -> str:
    """The machine as the table has it, with how many runs there were and what else was going on."""
    notes = read_table("benchmarks", name).note("made with")
    return next((note for note in notes if MACHINE.match(note)), "not noted")


def written_by(name: str) -> str:
    """The commit that last wrote a table, and its day."""
    path = str((FOLDER / f"{name}.csv").relative_to(ROOT))
    command = ["git", "log", "-1", "--format=%h, %cs", "--", path]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def listed() -> str:
    lines = [f"- {name}: {written_by(name).strip()}; {machine_of(name)}" for name in names()]
    return "\n".join([BEGIN, "", *lines, "", END])


def main() -> None:
    PAGE.write_text(PART.sub(lambda _: listed(), PAGE.read_text()))


if __name__ == "__main__":
    main()
