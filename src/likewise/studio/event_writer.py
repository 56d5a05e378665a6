"""Group commit: events that wait together are saved together, in one commit.

    await writer.save(answer, shown)    returns once both are on disk

One task takes everything that waits, appends it in one transaction in a thread, applies it in the
order of the log, and then wakes those who wait. Under load a commit holds many answers, and an
answer waits for two commits at most.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from likewise.labeling import Event

MOST_AT_ONCE = 1000  # events in a commit


class Keeper(Protocol):
    """What events are saved in: an `EventLog`, say."""

    def append(self, *events: Event) -> list[bool]:
        """Save events, all or none; returns which of them are new."""


class Waiting(NamedTuple):
    events: tuple[Event, ...]
    done: asyncio.Future  # of list of bool


class EventWriter:
    """Saves events, many at a time.

    Parameters
    ----------
    keeper : Keeper
    apply : callable
        Called on the loop with every event that is new, in the order they were saved.
    """

    def __init__(self, keeper: Keeper, apply: Callable[[Event], None]):
        self._keeper, self._apply = keeper, apply
        self._waiting: list[Waiting] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="likewise-log")
        self.n_commits = 0

    async def save(self, *events: Event) -> list[bool]:
        """Save events, all or none; which of them are new, once they are on disk and applied."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(events, done))
        self._wake.set()
        return await done

    async def run(self) -> None:
        """Commit as long as there is something to; ends only when it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                await self._commit(self._take())

    def close(self) -> None:
        """Wait for the commit that is being made, if there is one."""
        self._thread.shutdown()

    def _append(self, events: list[Event]) -> list[bool]:
        return self._keeper.append(*events)

    def _take(self) -> list[Waiting]:
        batch: list[Waiting] = []
        while self._waiting and sum(len(w.events) for w in batch) < MOST_AT_ONCE:
            batch.append(self._waiting.pop(0))
        return batch

    async def _commit(self, batch: list[Waiting]) -> None:
        events = [event for waiting in batch for event in waiting.events]
        try:
            if getattr(self._keeper, "runs_inline", False):
                is_new = self._append(events)
            else:
                loop = asyncio.get_running_loop()
                is_new = await loop.run_in_executor(self._thread, self._append, events)
        except Exception as error:
            if len(batch) == 1:
                if not batch[0].done.cancelled():
                    batch[0].done.set_exception(error)
                return
            for waiting in batch:  # one of them must not take the others with it
                await self._commit([waiting])
            return
        self.n_commits += 1
        news = iter(is_new)
        for waiting in batch:
            mine = [next(news) for _ in waiting.events]
            for event, is_one in zip(waiting.events, mine):
                if is_one:
                    self._apply(event)
            if not waiting.done.cancelled():
                waiting.done.set_result(mine)
