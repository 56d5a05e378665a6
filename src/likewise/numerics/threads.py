"""One thread where many small products are made.

BLAS and OpenMP share out every product and then wait for the slowest thread, spinning. For one
large product that pays. For thousands of small ones it does not: when another program has the core,
each product waits for the scheduler, and a fit takes tens of times longer than on one thread.

The loops that make such products run inside `one_thread`; what surrounds them keeps its threads.

BLAS has one setting a process: the first loop to enter takes the threads away and the last to leave
gives them back, whichever Python thread it runs in. OpenMP has one setting a Python thread: each
entry keeps its own. A setting that somebody else changed in between is left as it is.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import scipy.linalg  # noqa: F401  scipy has a BLAS of its own: it must be there to be found
from threadpoolctl import LibController, ThreadpoolController

LARGE = 4_000_000  # numbers in an array: from here on products are worth sharing out

_known = SimpleNamespace(controller=None, n_modules=0)  # libraries, and when they were looked for
_blas = SimpleNamespace(lock=threading.Lock(), n_inside=0, before={})


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and OpenMP on one thread, here and in all that is called; also a decorator."""
    openmp = _enter()
    try:
        yield
    finally:
        _leave(openmp)


def one_thread_if_small(size: Callable[..., int]) -> Callable:
    """A decorator: one thread unless the loop's array, of `size(*args, **kwargs)`, is large."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def limited(*args, **kwargs):
            if size(*args, **kwargs) >= LARGE:
                return function(*args, **kwargs)
            with one_thread():
                return function(*args, **kwargs)

        return limited

    return decorate


def _libraries() -> list[LibController]:
    """Those loaded by now. A library comes with a module: look again when there are new ones."""
    if _known.n_modules != len(sys.modules):
        _known.controller = ThreadpoolController()  # some milliseconds
        _known.n_modules = len(sys.modules)
    return _known.controller.lib_controllers


def _enter() -> list[tuple[LibController, int]]:
    """Take the threads away; what OpenMP had in this Python thread."""
    openmp = []
    with _blas.lock:
        libraries = _libraries()
        _blas.n_inside += 1
        for library in libraries:
            n_threads = library.num_threads
            if n_threads == 1:
                continue
            if library.user_api == "blas":
                _blas.before.update({library.filepath: (library, n_threads)})
            else:
                openmp.append((library, n_threads))
            _set_threads(library, 1)
    return openmp


def _leave(openmp: list[tuple[LibController, int]]) -> None:
    _give_back(openmp)
    with _blas.lock:
        _blas.n_inside -= 1
        if not _blas.n_inside:
            _give_back(_blas.before.values())
            _blas.before.clear()


def _give_back(before) -> None:
    for library, n_threads in before:
        if library.num_threads == 1:  # else it was changed in the meantime
            _set_threads(library, n_threads)


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set it, whichever Python thread set it last.

    threadpoolctl lets one Python thread set OpenBLAS's threads and does nothing for the others;
    here the last loop to leave may be in another than the first to enter.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n_threads)
    release(force=True)


def _renew_lock() -> None:
    _blas.lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # another thread may hold the lock when a process is forked
    os.register_at_fork(after_in_child=_renew_lock)
