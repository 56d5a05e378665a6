"""Files of text, opened whatever they are packed and encoded by; and what a file is that is none.

A file that cannot be opened is one ``ValueError`` that names it and the way out.
"""

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

Source = Path | io.BytesIO  # a file, or what came from stdin
OLD_ENCODING = "cp1252"  # of text that is no UTF-8: as programs on Windows write it
STARTS = {  # of files that are no text: what each is, and the way out
    b"PK\x03\x04": "a spreadsheet or a zip archive. Save the sheet as CSV, or unzip it",
    b"\xd0\xcf\x11\xe0": "a spreadsheet. Save the sheet as CSV",
    b"PAR1": "a Parquet file. Rename it to .parquet",
    b"ARROW1": "a Feather file. Rename it to .feather",
    b"\x93NUMPY": "a NumPy file. Rename it to .npy",
    b"BZh": "packed by bzip2. Unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz. Unpack it, or pack it by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd. Unpack it, or pack it by gzip",
    b"7z\xbc\xaf": "an archive. Unpack it",
    b"Rar!": "an archive. Unpack it",
    b"\x89PNG": "an image. Name the folder that it is in",
    b"\xff\xd8\xff": "an image. Name the folder that it is in",
    b"GIF8": "an image. Name the folder that it is in",
    b"%PDF": "a PDF. Save the table as CSV",
    b"SQLite format 3": "a database. Save its table as CSV",
    b"\x89HDF": "an HDF5 file. Save the table as Parquet or CSV",
    b"\x80\x04\x95": "a pickle, which can run code. Save the table as Parquet or CSV",
    b"\x80\x05\x95": "a pickle, which can run code. Save the table as Parquet or CSV",
}
PAGES = {  # the same of text, in small letters
    b"<!doctype html": "a web page and no table. Download the table itself",
    b"<html": "a web page and no table. Download the table itself",
    b"<?xml": "XML. Save the table as CSV",
}
UNPACKED_ANYWAY = 256_000_000  # bytes that a gzipped table of any size may hold,
UNPACKED_PER_BYTE = 100  # and those for each byte of a larger one: real tables hold 3 to 30
LONGEST_START = 64  # bytes that are looked at
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")  # in no text that people wrote


def refuse_others(source: Source, name: str) -> None:
    """An error for a file that is no table of text, whatever its name says."""
    start = start_of(source)
    if is_gzipped(start):
        start = start_inside(source, name)
        if is_gzipped(start):
            raise ValueError(f"{name} is packed by gzip twice. Unpack it.")
    if what := what_starts_so(start):
        raise ValueError(f"{name} is {what}.")
    is_wide = 4 * start.count(b"\0") > len(start)  # every second byte of plain letters
    if is_wide and encoding_of(start) == "utf-8-sig":
        raise ValueError(f"{name} has zero bytes, as UTF-16 without its mark. Save it as UTF-8.")


def start_of(source: Source) -> bytes:
    """The first bytes of a file."""
    if isinstance(source, io.BytesIO):
        return source.getvalue()[:LONGEST_START]
    with open(source, "rb") as file:
        return file.read(LONGEST_START)


def start_inside(source: Source, name: str) -> bytes:
    """The first bytes of a gzipped file, unpacked."""
    try:
        with gzip.open(source if not isinstance(source, io.BytesIO) else _copy(source)) as file:
            return file.read(LONGEST_START)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"{name} is damaged: it cannot be unzipped.") from None


def _copy(source: io.BytesIO) -> io.BytesIO:
    return io.BytesIO(source.getvalue())


def what_starts_so(start: bytes) -> str:
    """What a file is that begins so, and the way out; "" where it may be a table of text."""
    text = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    by_text = (what for mark, what in PAGES.items() if text.startswith(mark))
    return next((what for mark, what in STARTS.items() if start.startswith(mark)), "") or next(
        by_text, ""
    )


def describe_other(start: bytes, kind: str) -> str:
    """What a file that is not of its kind is instead, and the way out; "" where nobody knows."""
    what = what_starts_so(start)
    if not what and is_gzipped(start):
        what = "packed by gzip. Unpack it"
    if not what and start and not _CONTROL.search(start.decode("latin-1")):
        what = "text. Rename it to .csv, or .jsonl"
    return f": it is {what}" if what and not what.startswith(f"a {kind} file") else ""


def is_gzipped(start: bytes) -> bool:
    return start[:2] == b"\x1f\x8b"


def without_control(text: str) -> str:
    """The text, or an error where it holds what no text does: then it is of another encoding."""
    if found := _CONTROL.search(text):
        at = found.start()
        raise UnicodeDecodeError(OLD_ENCODING, text.encode(), at, at + 1, "no character of a text")
    return text


class Unpacked(gzip.GzipFile):
    """What a gzipped file holds, up to far more than text that is a table is packed to."""

    def __init__(self, packed: BinaryIO, name: str):
        super().__init__(fileobj=packed)
        size = packed.seek(0, os.SEEK_END)
        packed.seek(0)
        self._most, self._told = max(UNPACKED_ANYWAY, UNPACKED_PER_BYTE * size), name

    def read1(self, size: int = -1) -> bytes:
        """Some of it; this is how text is read."""
        if self.tell() > self._most:
            raise ValueError(
                f"{self._told} unpacks to more than {self._most / 1e6:,.0f} MB, which no table "
                "does that is packed so small. If it is one, unpack it."
            )
        return super().read1(size)


@contextmanager
def open_text(source: Source, encoding: str | None = None) -> Iterator[TextIO]:
    """A text file, gzipped or not; its mark says whether it is UTF-8, UTF-16 or UTF-32."""
    with ExitStack() as stack:
        if isinstance(source, io.BytesIO):
            binary: Any = io.BytesIO(source.getvalue())  # the text closes it at the end
        else:
            binary = stack.enter_context(open(source, "rb"))
        mark = binary.read(4)
        binary.seek(0)
        if is_gzipped(mark):
            binary = stack.enter_context(Unpacked(binary, file_name(source)))
            mark = binary.read(4)
            binary.seek(0)
        encoding = encoding or encoding_of(mark)
        try:
            yield stack.enter_context(io.TextIOWrapper(binary, encoding=encoding, newline=""))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ValueError(f"{file_name(source)} is damaged: it cannot be unzipped.") from None


def encoding_of(start: bytes) -> str:
    """UTF-16 or UTF-32 where text begins with their mark, else UTF-8."""
    if start[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):  # it begins as UTF-16 does
        return "utf-32"
    is_wide = start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if is_wide else "utf-8-sig"


def file_name(source: Source) -> str:
    """A file as messages name it."""
    return "stdin" if isinstance(source, io.BytesIO) else source.name
