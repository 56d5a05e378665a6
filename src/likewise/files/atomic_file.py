"""Files that are there whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well.

    It is flushed to disk, then moved onto `path` in one step. On an error, and on Ctrl-C, it goes
    and `path` stays as it was.

    Parameters
    ----------
    path : str or path
        The file to write in the end. Behind a symbolic link, what it points to.

    Yields
    ------
    pathlib.Path
        Where to write now: an empty file in the same folder with the same ending.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise.files.atomic_file import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "table.csv")) as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     Path(folder, "table.csv").read_text()
    'a,b'
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}. Make it first.")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file to write.")
    temporary = target.with_name(f".{secrets.token_hex(6)}.{target.name[-100:]}")
    try:
        temporary.touch(exist_ok=False)  # with the permissions of any new file, unlike tempfile's
        mode = temporary.stat().st_mode
        yield temporary
        temporary.chmod(mode)  # some writers make a file of their own, private to the user
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
