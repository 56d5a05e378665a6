"""The changelog: notes in docs/changes since the last release, then CHANGELOG.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "docs" / "changes"


def changes(folder: Path = NOTES) -> str:
    """Every note under a heading, the newest first: its own heading, else the name of its file."""
    return "\n\n".join(headed(path) for path in sorted(folder.glob("*.md"), reverse=True))


def headed(path: Path) -> str:
    """A note one level down, below its heading."""
    text = path.read_text().strip()
    if not text.startswith("# "):
        words = path.stem.partition("-")[2].replace("-", " ")
        text = f"# {words.capitalize()}\n\n{text}"
    text = text.replace("](../", "](")  # the page is one folder above its notes
    return re.sub(r"^(#+ .*)\n+", r"#\1\n\n", text, flags=re.MULTILINE)


def released(changelog: str) -> str:
    """The sections of CHANGELOG.md, one per release."""
    found = re.search(r"^## \d", changelog, re.MULTILINE)
    return changelog[found.start() :] if found else ""


def page() -> str:
    """What the page on changes says."""
    notes = changes()
    older = released((ROOT / "CHANGELOG.md").read_text()).replace("](docs/", "](")
    if not older:
        return notes
    return f"{'## Not yet released' if notes else ''}\n\n{notes}\n\n{older}".strip()


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the changes, where the page asks for them."""
    if "<!-- changes -->" in source[0]:
        for path in (*NOTES.glob("*.md"), ROOT / "CHANGELOG.md"):
            app.env.note_dependency(path)
        source[0] = source[0].replace("<!-- changes -->", page())
