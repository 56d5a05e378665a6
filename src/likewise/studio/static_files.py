"""The files of the page, read from the package."""

from functools import cache
from importlib import resources

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".woff2": "font/woff2",
}


@cache
def static_names() -> frozenset[str]:
    """The names of all files of the page, such as "app.js" or "vendor/lit.js"."""
    found = set()
    folders = [("", resources.files("likewise.studio").joinpath("static"))]
    while folders:
        prefix, folder = folders.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                folders.append((f"{prefix}{entry.name}/", entry))
            else:
                found.add(f"{prefix}{entry.name}")
    return frozenset(found)


def static_file(name: str) -> tuple[bytes, str]:
    """The content of a file of the page, and its media type; `LookupError` for any other name."""
    ending = "." + name.rpartition(".")[2]
    if name not in static_names() or ending not in TYPES:
        raise LookupError("There is no such file.")
    path = resources.files("likewise.studio").joinpath("static", *name.split("/"))
    return path.read_bytes(), TYPES[ending]
