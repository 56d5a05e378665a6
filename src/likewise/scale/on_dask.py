"""Blocks on a Dask cluster: tasks that contain everything they need.

A task holds its arguments (centers, a fitted learner), and Dask keeps it until its result has been
taken. If a worker dies, others repeat its tasks, and the result is the same to the last bit.
Arguments that had been scattered to workers beforehand would be lost with a worker.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import uuid4

AHEAD = 2  # tasks per worker that wait for it, so that it never waits for us
HERE = "127.0.0.1"


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
    run = uuid4().hex[:8]
    tasks = (
        task(part, *arguments, dask_key_name=f"{name}-{run}{number:08x}")
        for number, part in enumerate(parts)
    )
    if client is None:  # the scheduler of Dask's own choice
        while few := list(islice(tasks, AHEAD * (os.cpu_count() or 1))):
            yield from dask.compute(*few)
        return
    n_ahead = AHEAD * max(sum(client.nthreads().values()), 1)
    under_way = deque(client.compute(one) for one in islice(tasks, n_ahead))
    while under_way:
        yield under_way.popleft().result()
        under_way.extend(client.compute(one) for one in islice(tasks, 1))


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
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
