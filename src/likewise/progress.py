"""Show the progress of long loops on stderr, only if asked to.

Every loop that may run for long is written `for item in track(items, "what is done")`. That costs
one comparison a loop until `show_progress()` is called. Then a loop shows itself once it has run
for `DELAY_SECONDS`: as a bar when stderr is a terminal, otherwise as plain lines at doubling
intervals, so that a log of an hour's work holds about a dozen. Both estimate how long the rest
will take, as if its items took as long as those that are done. Nothing is ever written to stdout.

rich draws. It is imported when the first bar is, so that this room runs without it.
"""

import threading
import time
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")

DELAY_SECONDS = 0.5  # a loop shorter than this never shows: nested short loops would only flicker
REFRESH_SECONDS = 0.1  # rich would take longer than the work of a fast loop

# The one display of the process. rich keeps a single live area a console, so nested loops share it.
_screen = SimpleNamespace(shown=False, bars=None, lock=threading.Lock())


class Loop(NamedTuple):
    """What the progress display shows."""

    what: str
    total: int | None
    started: float  # by the monotonic clock
    may_end_early: bool


def show_progress(on: bool = True) -> None:
    """Switch the progress of long loops on, or off again.

    Progress goes to stderr; the results and stdout are the same with and without it. It is off
    until this is called, and the setting holds for the process: worker processes stay silent.

    Parameters
    ----------
    on : bool, default=True
        Whether loops that start from now on show how far they have come.

    Examples
    --------
    >>> from likewise.progress import show_progress, track
    >>> show_progress()
    >>> sum(track(range(10), "adding"))  # too short to be drawn
    45
    >>> show_progress(False)
    """
    _screen.shown = bool(on)


def track(
    iterable: Iterable[Item], what: str, total: int | None = None, *, may_end_early: bool = False
) -> Iterator[Item]:
    """Yield the items of `iterable`, and show how many are done if `show_progress()` is on.

    Parameters
    ----------
    iterable : iterable
        What is looped over. It is drawn from lazily, one item at a time.
    what : str
        What the loop does, as in "projecting onto triples".
    total : int, default=None
        How many items there are. None takes `len(iterable)` where there is one.
    may_end_early : bool, default=False
        Whether the loop is left as soon as it settles: then the display says "at most".

    Yields
    ------
    item
        The items of `iterable`, unchanged and in order.

    Examples
    --------
    >>> from likewise.progress import track
    >>> [k for k in track("abc", "spelling")]
    ['a', 'b', 'c']
    """
    if not _screen.shown:
        yield from iterable
        return
    if total is None:
        try:
            total = len(iterable)  # type: ignore[arg-type]
        except TypeError:
            total = None
    started = time.monotonic()
    due, report, n_done = started + DELAY_SECONDS, None, 0
    try:
        for item in iterable:
            now = time.monotonic()
            if now >= due:
                report = report or _open_report(Loop(what, total, started, may_end_early))
                report.send(n_done)
                due = now + REFRESH_SECONDS
            yield item
            n_done += 1
    finally:  # also when the loop is left by break, by an error or by Ctrl-C
        if report is not None:
            report.send(n_done)
            report.close()


def _open_report(loop):
    """A generator that is sent the number of items done, and closed at the end of the loop."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter or (console.is_terminal and not console.is_dumb_terminal):
        report = _draw_bar(console, loop)
    else:
        report = _print_lines(console, loop)
    next(report)
    return report


def _draw_bar(console, loop):
    bars, task = _add_bar(console, loop)
    try:
        while True:
            n_done = yield
            bars.update(task, completed=n_done, rest=_rest(loop, n_done))
    finally:
        _remove_bar(task)


def _add_bar(console, loop):
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    with _screen.lock:  # threads share the display too
        if _screen.bars is None:
            columns = [
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                # rich's own estimate knows the last 30 s only: none where an item takes longer
                TextColumn("{task.fields[rest]}", markup=False),
            ]
            # transient: a finished loop leaves the terminal as it was
            _screen.bars = Progress(*columns, console=console, transient=True)
            _screen.bars.start()
        return _screen.bars, _screen.bars.add_task(loop.what, total=loop.total, rest="")


def _remove_bar(task):
    with _screen.lock:
        _screen.bars.remove_task(task)
        if not _screen.bars.tasks:
            _screen.bars.stop()
            _screen.bars = None


def _print_lines(console, loop):
    next_line, n_printed, n_done = 0.0, None, 0
    try:
        while True:
            n_done = yield
            seconds = time.monotonic() - loop.started
            if seconds >= next_line:
                console.out(_line(loop, n_done), highlight=False)
                next_line, n_printed = 2 * seconds, n_done
    finally:
        if n_done != n_printed:
            console.out(_line(loop, n_done), highlight=False)


def _line(loop: Loop, n_done: int) -> str:
    of_total = "" if loop.total is None else f" of {loop.total}"
    rest = _rest(loop, n_done)
    seconds = time.monotonic() - loop.started
    return f"{loop.what}: {n_done}{of_total} after {in_words(seconds)}{rest and f', {rest}'}"


def _rest(loop: Loop, n_done: int) -> str:
    left = seconds_left(n_done, loop.total, time.monotonic() - loop.started)
    return f"{'at most' if loop.may_end_early else 'about'} {in_words(left)} left" if left else ""


def seconds_left(n_done: int, total: int | None, seconds: float) -> float | None:
    """What the other items take if each takes as long as those done; None if unknown."""
    if total is None or n_done == 0:
        return None
    return seconds / n_done * max(total - n_done, 0)


def in_words(seconds: float) -> str:
    """40 s, 5 min or 3.2 h: as fine as it is of use."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 120 * 60 else f"{seconds / 3600:.1f} h"
