"""What must hold of the built pages: python -m docs.tools.built docs/_build/html

Nothing is loaded from elsewhere, formulas are typeset, links inside lead somewhere, the search
knows every public name, and its page has what a reader looks for.
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs.tools import formulas
from docs.tools.api import names_with_a_page

LOADING = {"script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src"}
LOADING |= {"audio": "src", "embed": "src", "object": "data"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}


class Page(HTMLParser):
    """What a page loads, where it leads, and what can be led to."""

    def __init__(self, text: str):
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in LOADING and LOADING[tag] in values:
            self.loads.append(values[LOADING[tag]])
        if tag == "link" and LOADED_LINKS & set(values.get("rel", "").split()):
            self.loads.append(values.get("href", ""))
        if tag == "a" and "href" in values:
            self.leads.append(values["href"])


def faults_of(folder: Path) -> Iterator[str]:
    """What is wrong, a line each."""
    pages = {path: path.read_text() for path in sorted(folder.rglob("*.html"))}
    parsed = {path: Page(text) for path, text in pages.items()}
    for path, page in parsed.items():
        place = path.relative_to(folder)
        yield from (f"{place} loads {url}" for url in page.loads if is_elsewhere(url))
        yield from dead_links(path, page, parsed, folder)
        if re.search(r"\$\$|\\begin\{|class=\"math[ \"]", without_code(pages[path])):
            yield f"{place} has a formula that is not typeset"
    for path in folder.rglob("*.css"):
        urls = re.findall(r"url\(\s*['\"]?([^'\")]+)", path.read_text())
        urls += re.findall(r"@import\s+['\"]([^'\"]+)", path.read_text())
        yield from (f"{path.name} loads {url}" for url in urls if is_elsewhere(url))
    yield from faults_of_names(folder, pages)


def is_elsewhere(url: str) -> bool:
    """Whether a browser would ask another server for it."""
    return bool(urlsplit(url).netloc) or urlsplit(url).scheme in ("http", "https", "ftp", "ws")


def without_code(text: str) -> str:
    """A page without what shows source."""
    return re.sub(r"<(pre|code|script|annotation)\b.*?</\1>", "", text, flags=re.DOTALL)


def dead_links(path: Path, page: Page, parsed: dict[Path, Page], folder: Path) -> Iterator[str]:
    """Links inside that lead nowhere."""
    for link in page.leads:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        anchor = unquote(parts.fragment)
        if not target.exists():
            yield f"{path.relative_to(folder)} leads to {link}, which is not there"
        elif anchor and target in parsed and anchor not in parsed[target].anchors:
            yield f"{path.relative_to(folder)} leads to {link}, and there is no such place there"


def faults_of_names(folder: Path, pages: dict[Path, str]) -> Iterator[str]:
    """What the pages of public names lack, and what the search does not know."""
    known = searched_titles(folder)
    for name in names_with_a_page():
        path = folder / "api" / "generated" / f"{name}.html"
        text = pages.get(path)
        if text is None:
            yield f"{name} has no page"
            continue
        if "Examples" not in text:
            yield f"the page of {name} has no example"
        if name not in known:
            yield f"the search does not know {name}"
        if name.removeprefix("likewise.") in formulas.formulas() and "<math" not in text:
            yield f"the page of {name} has no formula"


@cache
def searched_titles(folder: Path) -> frozenset[str]:
    """Titles of pages, as the search has them."""
    text = (folder / "searchindex.js").read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return frozenset(index["titles"])


def main(arguments: list[str]) -> int:
    faults = list(faults_of(Path(arguments[0]).resolve()))
    for fault in faults[:50]:
        print(fault)
    print(f"{len(faults)} faults of the pages." if faults else "The pages hold what they should.")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
