"""The thinker as the server sees it: a process that may die, or a thread where that will do."""

import asyncio
import contextlib
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from likewise.labeling import Event, LabelingSession
from likewise.studio.child_process import receive, send, start_thinker, stop_process
from likewise.studio.thinking import Job, Thinker, Thought

MOST_TRIES = 3  # of a thought, with a new process each time


class ThinkingFailed(RuntimeError):
    """Why no thought came, in a line."""


class ThinkerLink(Protocol):
    """Whoever chooses the questions."""

    async def think(self, job: Job, events: Sequence[Event]) -> Thought:
        """What comes of a job, after all these events."""

    def give(self, settings: dict[str, Any]) -> None:
        """The settings of the session, before the first thought."""

    def close(self) -> None:
        """Nothing more is wanted."""


class ThinkerThread:
    """Thinking beside the server, in its process: for tests, and for a few rows.

    Parameters
    ----------
    session : LabelingSession
        Used by nothing else.
    """

    def __init__(self, session: LabelingSession):
        self._thinker = Thinker(session)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="likewise-thinker")
        self._n_given = 0

    def give(self, settings: dict[str, Any]) -> None:
        """It has its session."""

    async def think(self, job: Job, events: Sequence[Event]) -> Thought:
        """What comes of a job, after all these events."""
        new, self._n_given = events[self._n_given :], len(events)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._thinker.think, job, new)

    def close(self) -> None:
        """Nothing more is wanted."""
        self._thread.shutdown(cancel_futures=True)


class ThinkerProcess:
    """Thinking in a process of its own, which is started again if it dies.

    Parameters
    ----------
    process : subprocess.Popen, default=None
        One that is on its way already.
    """

    def __init__(self, process: subprocess.Popen | None = None):
        self._process = process
        self._settings: dict[str, Any] = {}
        self._is_set_up = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="likewise-thinker")
        self._n_given = 0
        self._is_closed = False

    def give(self, settings: dict[str, Any]) -> None:
        """The settings of the session, before the first thought."""
        self._settings = settings

    @property
    def process_id(self) -> int | None:
        """Of the thinker, where one is running."""
        return None if self._process is None else self._process.pid

    async def think(self, job: Job, events: Sequence[Event]) -> Thought:
        """What comes of a job, after all these events."""
        loop = asyncio.get_running_loop()
        thought = await loop.run_in_executor(self._thread, self._think, job, list(events))
        if isinstance(thought, str):
            raise ThinkingFailed(thought)
        return thought

    def _think(self, job: Job, events: list[Event]) -> Thought | str:
        for _ in range(MOST_TRIES):
            try:
                return self._exchange(job, events)
            except (EOFError, OSError):
                if self._is_closed:
                    break
                stop_process(self._process)
                self._process, self._is_set_up = None, False
        return f"the process that chooses questions ended {MOST_TRIES} times"

    def _exchange(self, job: Job, events: list[Event]) -> Thought | str:
        if self._process is None:
            self._process = start_thinker()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if not self._is_set_up:
            send(self._settings, self._process.stdin)
            self._is_set_up, self._n_given = True, 0
        send((job, events[self._n_given :]), self._process.stdin)
        thought = receive(self._process.stdout)
        self._n_given = len(events)
        return thought

    def close(self) -> None:
        """Nothing more is wanted; a thought that is being made ends with the process."""
        self._is_closed = True
        with contextlib.suppress(OSError):
            stop_process(self._process)
        self._thread.shutdown(cancel_futures=True)
