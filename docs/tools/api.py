"""The public names, as the pages of docs/api list them."""

import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "api"


def names_with_a_page() -> Iterator[str]:
    """The entries of the autosummaries in docs/api, each with its module."""
    module = ""
    for line in "\n".join(path.read_text() for path in sorted(FOLDER.glob("*.md"))).splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found.group(1)
        elif found := re.match(r"   (\w+)$", line):
            yield f"{module}.{found.group(1)}"
