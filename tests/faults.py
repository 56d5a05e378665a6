"""Calls to the system that fail, or kill the process, one after the other.

A run is made once to count its calls, then once for each of them with that one failing. Only files
inside one folder count, so that imports, fonts and the terminal go on as ever. Everything goes
through Python here; what C code opens for itself (Parquet files that are read) is not seen.
"""

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

Fault = Callable[[str, int], None]  # kind of call, how many there were: raises, kills, or nothing

KINDS = {  # by the function that makes the call; a "look" opens another run's lock
    "open": "open",
    "fsync": "fsync",
    "replace": "rename",
    "link": "link",
    "mkdir": "mkdir",
    "unlink": "remove",
    "rmdir": "remove",
}


@contextmanager
def faults(folder: Path, fault: Fault) -> Iterator[list[str]]:
    """Calls inside the block that touch `folder`, by kind; each may fail."""
    calls: list[str] = []
    folder = Path(os.path.realpath(folder))

    def is_inside(file) -> bool:
        if isinstance(file, int):
            file = os.readlink(f"/proc/self/fd/{file}")
        return folder in (path := Path(os.path.realpath(os.fspath(file)))).parents or path == folder

    def count(kind: str) -> None:
        calls.append(kind)
        fault(kind, len(calls))

    class FaultyFile(io.FileIO):
        def write(self, text):
            try:
                count("write")
            except OSError:
                super().write(memoryview(text).cast("B")[: len(text) // 2])  # as a full drive does
                raise
            return super().write(text)

        def readinto(self, buffer):
            count("read")
            return super().readinto(buffer)

        def readall(self):
            count("read")
            return super().readall()

    really_open = io.open

    def open_file(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **more):
        if isinstance(file, int) or not is_inside(file):
            return really_open(file, mode, buffering, encoding, errors, newline, **more)
        count("open")
        raw = FaultyFile(os.fspath(file), mode.replace("b", "").replace("t", ""), **more)
        reads, writes = raw.readable(), raw.writable()
        buffer = io.BufferedRandom if reads and writes else io.BufferedWriter
        file = buffer(raw) if writes else io.BufferedReader(raw)
        return file if "b" in mode else io.TextIOWrapper(file, encoding, errors, newline)

    def faulty(name: str):
        really = getattr(os, name)

        def call(path, *more, **named):
            if is_inside(path):
                is_look = name == "open" and not more[0] & (os.O_CREAT | os.O_DIRECTORY)
                count("look" if is_look else KINDS[name])
            return really(path, *more, **named)

        return mock.patch.object(os, name, call)

    patches = [
        mock.patch.object(builtins, "open", open_file),
        mock.patch.object(io, "open", open_file),
        *map(faulty, KINDS),
    ]
    for patch in patches:
        patch.start()
    try:
        yield calls
    finally:
        for patch in patches:
            patch.stop()


def no_fault(kind: str, number: int) -> None:
    pass


def failing_once(number: int, error: OSError) -> Fault:
    def fault(kind: str, at: int) -> None:
        if at == number:
            raise error

    return fault


def failing_from(number: int, kinds: tuple[str, ...], error: OSError) -> Fault:
    """Every call of these kinds from some number on: a drive that is full, and stays so."""

    def fault(kind: str, at: int) -> None:
        if at >= number and kind in kinds:
            raise error

    return fault
