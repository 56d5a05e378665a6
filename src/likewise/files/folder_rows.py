"""A folder as rows: its images or its texts, at any depth, each named by its path in the folder."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from likewise.files.table_file import warn_old_encoding
from likewise.files.text_source import OLD_ENCODING, encoding_of, without_control

IMAGE_ENDINGS = (
    *(".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"),
    *(".ppm", ".pgm", ".pbm"),
)
TEXT_ENDINGS = (".txt", ".md")
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".feather", ".npy")
MOST_NAMED = 5  # files in an error


class FoundFiles(NamedTuple):
    """The files of one kind in a folder, in the order of their names."""

    ids: list[str]  # the path in the folder, with / between
    paths: list[Path]
    left_out: list[str]  # ids of files of other kinds; hidden ones are not counted


class FoundTexts(NamedTuple):
    """The texts in a folder, in the order of their names."""

    ids: list[str]
    texts: list[str]
    left_out: list[str]


def find_images(folder: str | os.PathLike) -> FoundFiles:
    """The image files in a folder, at any depth; by their endings, none is opened."""
    return _find(Path(folder), IMAGE_ENDINGS, "image")


def read_texts(folder: str | os.PathLike) -> FoundTexts:
    """The texts of the .txt and .md files in a folder, at any depth, in UTF-8 or marked UTF-16.

    Those in Windows-1252 are read as such, with a warning. Files that cannot be read are named in
    one error, all at once.
    """
    found = _find(Path(folder), TEXT_ENDINGS, "text")
    texts, old, problems = [], [], []
    for name, path in zip(found.ids, found.paths):
        try:
            content = path.read_bytes()
            texts.append(content.decode(encoding_of(content)))
        except UnicodeDecodeError as error:
            try:
                texts.append(without_control(content.decode(OLD_ENCODING)))
                old.append(name)
            except UnicodeDecodeError:
                problems.append(f"{name} (byte {error.start} is not UTF-8)")
        except OSError as error:
            problems.append(f"{name} ({error.strerror})")
    if problems:
        raise ValueError(
            f"{folder} has {_count(len(problems), 'text file')} that cannot be read: "
            f"{name_some(problems)}. Save them as UTF-8, or take them out."
        )
    if old:
        warn_old_encoding(f"{_count(len(old), 'text file')} of {folder} ({name_some(old)})")
    return FoundTexts(found.ids, texts, found.left_out)


def folder_kind(folder: str | os.PathLike) -> str:
    """What a folder holds more of: "images" or "texts"; an error if it has neither."""
    files = _files(Path(folder))
    endings = [path.suffix.lower() for path in files]
    n_images = sum(ending in IMAGE_ENDINGS for ending in endings)
    n_texts = sum(ending in TEXT_ENDINGS for ending in endings)
    if not n_images and not n_texts:
        table = next((path for path in files if path.suffix.lower() in TABLE_ENDINGS), None)
        way_out = "Name a file, or another folder." if table is None else f"Name a table: {table}."
        raise ValueError(
            f"{folder} has no file that ends in {_listed(IMAGE_ENDINGS)} or "
            f"{_listed(TEXT_ENDINGS)}. {way_out}"
        )
    return "images" if n_images >= n_texts else "texts"


def name_some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _find(folder: Path, endings: tuple[str, ...], kind: str) -> FoundFiles:
    files = _files(folder)
    is_kind = [path.suffix.lower() in endings and not is_endless(path) for path in files]
    ids = [path.relative_to(folder).as_posix() for path in files]
    if not any(is_kind):
        raise ValueError(
            f"{folder} has no {kind} file: none of {_count(len(files), 'file')} ends in "
            f"{_listed(endings)}."
        )
    return FoundFiles(
        [name for name, kept in zip(ids, is_kind) if kept],
        [path for path, kept in zip(files, is_kind) if kept],
        [name for name, kept in zip(ids, is_kind) if not kept],
    )


def is_endless(path: str | os.PathLike) -> bool:
    """Whether a path is a device, a pipe or a socket, which may never come to an end."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False  # whoever opens it says what is wrong
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _files(folder: Path) -> list[Path]:
    """Every file that is not hidden, nor in a hidden folder, sorted by its path."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder.")
    files = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(parent, name) for name in names if not name.startswith(".")]
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _listed(endings: Sequence[str]) -> str:
    return ", ".join(endings)
