"""Where files are kept that can be made again: data sets that were downloaded, embeddings."""

import os
from pathlib import Path

VARIABLE = "LIKEWISE_CACHE"


def cache_folder() -> Path:
    """The folder that LIKEWISE_CACHE names, else `likewise` in the user's folder for such files."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "likewise"
