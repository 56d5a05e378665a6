"""Renew the pictures of docs/gallery.md by the code on it: python -m docs.tools.gallery [NAME ...]

The code of a section runs as it stands there, and what it writes becomes the picture below it: an
image as it is, a report as Chromium shows it (needs playwright). Before the code a comment says
which file that is, and for a report what is scrolled to. Sections whose data are not on this
machine (LIKEWISE_DATA) are left out by name. The pictures of the studio are renewed by
`python -m benchmarks.studio_pictures`.
"""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from docs.tools.pictures import WIDE, take_picture
from docs.tools.tables import ROOT
from likewise.datasets import available

PAGE = ROOT / "docs" / "gallery.md"
ITEM = re.compile(
    r"^<!-- (?P<file>\S+?)(?: at (?P<place>#\S+))? -->\n\n"
    r"```python\n(?P<code>.*?)^```\n\n"
    r"!\[[^\]]*\]\((?P<picture>[^)]+)\)",
    re.MULTILINE | re.DOTALL,
)
N_COLORS = 128
AT_HAND = ("folder", "bundled", "cache", "system")


class Item(NamedTuple):
    """One picture of the gallery."""

    file: str  # what the code writes
    place: str | None  # in the report
    code: str
    picture: Path

    @property
    def name(self) -> str:
        return Path(self.file).stem

    def missing(self) -> list[str]:
        """Data sets that are not on this machine."""
        wanted = re.findall(r'fetch\("(\w+)"\)', self.code)
        sources = available()
        return [name for name in wanted if sources.get(name) not in AT_HAND]


def items() -> Iterator[Item]:
    for match in ITEM.finditer(PAGE.read_text()):
        picture = PAGE.parent / match["picture"]
        yield Item(match["file"], match["place"], match["code"], picture)


def main(wanted: list[str]) -> None:
    """Run the code of every section that is wanted, and take its picture."""
    from tests.browsing import chromium

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), chromium() as browser:
        for item in items():
            if wanted and item.name not in wanted:
                continue
            if item.missing():
                print(f"{item.name} is left out: no {', '.join(item.missing())} in LIKEWISE_DATA")
                continue
            exec(compile(item.code, item.name, "exec"), {})
            written = Path(folder) / item.file
            if item.file.endswith(".html"):
                take_picture(browser, written, WIDE, "light", item.place, item.picture)
            else:
                with Image.open(written) as picture:  # in few colors: a fifth of the bytes
                    picture.convert("RGB").quantize(N_COLORS).save(item.picture)
            print(item.picture.relative_to(ROOT))


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    main(sys.argv[1:])
