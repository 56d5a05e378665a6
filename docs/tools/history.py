"""The changelog, newest changes first, from the notes in docs/changes."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def changes() -> str:
    """Every note under a heading: its own if it begins with one, else the name of its file."""
    notes = sorted((ROOT / "docs" / "changes").glob("*.md"), reverse=True)
    return "\n\n".join(headed(path) for path in notes)


def headed(path: Path) -> str:
    """A note one level down, below its heading."""
    text = path.read_text().strip()
    if not text.startswith("# "):
        words = path.stem.partition("-")[2].replace("-", " ")
        text = f"# {words.capitalize()}\n\n{text}"
    text = text.replace("](../", "](")  # the page is one folder above its notes
    return re.sub(r"^(#+ .*)\n+", r"#\1\n\n", text, flags=re.MULTILINE)


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the changes, where the page asks for them."""
    if "<!-- changes -->" in source[0]:
        for path in (ROOT / "docs" / "changes").glob("*.md"):
            app.env.note_dependency(path)
        source[0] = source[0].replace("<!-- changes -->", changes())
