"""The learner as the server sees it: a child process that may die, and is then started again."""

import asyncio
import contextlib
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from likewise.labeling import Event
from likewise.studio.child_process import receive, send, start_learner, stop_process
from likewise.studio.leaving import Saved, SaveRequest
from likewise.studio.snapshot import Failed, Snapshot
from likewise.studio.troubles import error_line

MOST_STARTS = 5  # of a learner that keeps dying
GATHER_SECONDS = 0.05  # that events are gathered before they are sent
LONG_LIFE = 60.0  # seconds after which a death is not counted with the ones before
PAUSE_SECONDS = 1.0  # before it is started again


class LearnerLink:
    """Events to the learner, snapshots from it.

    Parameters
    ----------
    events : callable
        Gives all events so far, for a learner that begins anew.
    take : callable
        Called on the loop with every snapshot.
    describing : dict, default=None
        Further settings of a `Learner`: texts and names of columns.
    on_trouble : callable, default: silent
        Called with a line about what is wrong, and with "" when it is right again.
    """

    def __init__(
        self,
        events: Callable[[], list[Event]],
        take: Callable[[Snapshot], None],
        describing: dict[str, Any] | None = None,
        on_trouble: Callable[[str], None] = lambda line: None,
    ):
        self._describing = describing or {}
        self._events, self._take, self._on_trouble = events, take, on_trouble
        self._process: subprocess.Popen | None = None
        self._n_sent = 0
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="likewise-learner")
        self._wake = asyncio.Event()
        self._sending = asyncio.Lock()  # one message at a time
        self._saving: dict[int, asyncio.Future] = {}
        self._n_requests = 0
        self.is_fitting = False
        self.n_starts = 0
        self._reason = ""  # why the last one ended, if it said so

    def wake(self) -> None:
        """There are events to send."""
        self._wake.set()

    @property
    def process_id(self) -> int | None:
        """Of the learner, where one is running."""
        return None if self._process is None else self._process.pid

    async def run(self, settings: dict[str, Any]) -> None:
        """Keep a learner running, with the settings of a session, until this is cancelled."""
        n_failed = 0
        while n_failed < MOST_STARTS:
            began = time.monotonic()
            had_learned = await self._run_once(settings)
            is_healthy = had_learned and time.monotonic() - began > LONG_LIFE
            n_failed = 0 if is_healthy else n_failed + 1
            self.is_fitting = False
            if n_failed > 1:  # once may be an accident
                self._on_trouble(f"Learning failed{self._reason}; it is tried again.")
            await asyncio.sleep(PAUSE_SECONDS)
        self._on_trouble(
            f"Learning failed {n_failed} times in a row{self._reason}. Clusters and map are no "
            "longer renewed until the studio is started again; answers are saved all the same."
        )

    async def _run_once(self, settings: dict[str, Any]) -> bool:
        """One life of a learner; whether it learned anything."""
        self.n_starts += 1
        self._reason = ""
        has_learned = False
        try:
            self._process = start_learner()
            self._n_sent = 0
            await self._in_thread(send, settings, self._process.stdin)
            await self._in_thread(send, self._describing, self._process.stdin)
            self._wake.set()
            sending = asyncio.create_task(self._send_events())
            try:
                while True:
                    message = await self._in_thread(receive, self._process.stdout)
                    self.is_fitting = message == "fitting"
                    if isinstance(message, Snapshot):
                        has_learned = True
                        self._on_trouble(message.trouble)
                        self._take(message)
                    elif isinstance(message, Failed):
                        self._reason = f" ({message.error})"
                        if not message.is_last:
                            self._on_trouble(f"The clusters could not be renewed{self._reason}.")
                    elif isinstance(message, Saved):
                        self._answer(message)
            finally:
                sending.cancel()
        except (EOFError, OSError):
            return has_learned
        except Exception as error:  # rows that cannot be sent, say: answers go on
            traceback.print_exc(file=sys.stderr)
            self._reason = f" ({error_line(error)})"
            return False
        finally:
            for number in list(self._saving):
                self._answer(Saved(number, "The learner stopped. Try again."))
            stop_process(self._process)
            self._process = None

    async def _send_events(self) -> None:
        while self._process is not None:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(GATHER_SECONDS)
            events = self._events()
            new, self._n_sent = events[self._n_sent :], len(events)
            with contextlib.suppress(OSError):  # it died: the reader notices
                async with self._sending:
                    await self._in_thread(send, new, self._process.stdin)

    async def save(self, folder: Path) -> None:
        """Have the model and its report written; OSError says why they were not."""
        if self._process is None:
            raise OSError("The model cannot be fitted now. Try again in a while.")
        self._n_requests += 1
        done = asyncio.get_running_loop().create_future()
        self._saving[self._n_requests] = done
        async with self._sending:
            request = SaveRequest(self._n_requests, str(folder))
            await self._in_thread(send, request, self._process.stdin)
        error = await done
        if error:
            raise OSError(error)

    def _answer(self, saved: Saved) -> None:
        waiting = self._saving.pop(saved.number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(saved.error)

    async def _in_thread(self, function: Callable, *arguments) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)
