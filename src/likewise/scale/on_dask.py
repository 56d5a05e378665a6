"""Blocks on a Dask cluster: tasks that contain everything they need.

A task holds its arguments (centers, a fitted learner), and Dask keeps it until its result has been
taken. If a worker dies, others repeat its tasks, and the result is the same to the last bit.
Arguments that had been scattered to workers beforehand would be lost with a worker.

What happens             what follows
a worker dies            others repeat its tasks
a worker is slow         others take what waits for it; a few tasks per worker are under way
the cluster restarts     tasks whose results are not there yet are sent again
the scheduler is gone    one error, that says so
a block kills workers    one error: it is too large for their memory
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import count, islice
from typing import Any
from uuid import uuid4

AHEAD = 4  # tasks under way per worker: none waits for us, or for a slow one for long
MOST_RESTARTS = 3  # of the cluster without a result between them
HERE = "127.0.0.1"
LOST = (
    "The connection to Dask's scheduler was lost before all blocks were done. Start it, connect "
    "again and repeat the call; with checkpoint= a fit goes on where it stopped."
)


def import_dask():
    """Dask with its arrays, or the line that installs it."""
    try:
        import dask.array
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError("Dask is not installed. Try: pip install 'likewise[dask]'") from None
    return dask


def run_on_dask(
    client, parts: Sequence, function: Callable, arguments: tuple, *, what: str
) -> Iterator[Any]:
    """`function(part, *arguments)` in the order of the parts, a few at a time.

    Dask's dashboard groups and colors tasks by the words of `what`.
    """
    dask = import_dask()
    task = dask.delayed(function, pure=False)
    name = "".join(letter if letter.isalnum() else " " for letter in what)
    name = "-".join(word for word in name.split() if not word.isdigit())
    run, numbers = uuid4().hex[:8], count()

    def task_of(part):
        return task(part, *arguments, dask_key_name=f"{name}-{run}{next(numbers):08x}")

    waiting = iter(parts)
    if client is None:  # the scheduler of Dask's own choice
        while few := [task_of(part) for part in islice(waiting, AHEAD * (os.cpu_count() or 1))]:
            yield from dask.compute(*few)
        return

    def submit(part):
        if client.status != "running":
            raise RuntimeError(LOST)
        return part, client.compute(task_of(part))

    n_ahead = AHEAD * max(sum(client.nthreads().values()), 1)
    under_way = deque(map(submit, islice(waiting, n_ahead)))
    try:
        while under_way:
            yield _first_result(under_way, submit)
            under_way.popleft()
            under_way.extend(map(submit, islice(waiting, 1)))
    finally:
        under_way.clear()  # after an error, or when nobody wants the rest: nothing stays there


def _first_result(under_way: deque[tuple[Any, Any]], submit: Callable) -> Any:
    """The result of the first task under way; all are sent again after the cluster restarted."""
    from distributed import KilledWorker

    for _ in range(MOST_RESTARTS + 1):
        try:
            return under_way[0][1].result()
        except KilledWorker as error:
            raise RuntimeError(
                f"Dask's workers died of {error.task!r}, one after another: a block may be too "
                "large for their memory. Write smaller row groups or chunks, or give workers more."
            ) from None
        except CancelledError:
            lost = [part for part, _ in under_way]
        under_way.clear()
        under_way.extend(map(submit, lost))
    raise RuntimeError(LOST)


@contextmanager
def connect(scheduler: str | None = None, n_workers: int | None = None):
    """Connect to the Dask cluster at an address, or start one on this machine while it is used.

    Parameters
    ----------
    scheduler : str, default=None
        Where a Dask scheduler listens, such as "tcp://10.0.0.1:8786". None starts a cluster of
        processes on this machine, which talk over loopback, and ends it.
    n_workers : int, default=None
        Processes of that cluster; None means one per core.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> from likewise import scale
    >>> with scale.connect() as client:  # doctest: +SKIP
    ...     blocks = scale.as_blocks("big.parquet", client=client)
    ...     model = scale.BlockKMeans(10).fit(blocks)
    """
    import_dask()
    from distributed import Client, LocalCluster

    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=n_workers or os.cpu_count(),
            threads_per_worker=1,
            host=HERE,
            dashboard_address=f"{HERE}:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
