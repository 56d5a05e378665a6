"""Who hears what happens: a queue for each open page."""

import asyncio
from typing import Any

LONGEST = 100  # messages that wait for a slow page; more are dropped, the next one is newer anyway


class Listeners:
    """Queues of (kind, JSON); None ends one."""

    def __init__(self) -> None:
        self._queues: dict[asyncio.Queue, str] = {}

    def add(self, name: str) -> asyncio.Queue:
        """A queue for somebody's page."""
        queue: asyncio.Queue = asyncio.Queue(maxsize=LONGEST)
        self._queues[queue] = name
        return queue

    def remove(self, queue: asyncio.Queue) -> None:
        """Nobody listens there any more."""
        self._queues.pop(queue, None)

    def tell(self, kind: str, content: dict[str, Any], name: str | None = None) -> None:
        """Let everybody know, or somebody by name."""
        for queue, who in self._queues.items():
            if name in (None, who) and not queue.full():
                queue.put_nowait((kind, content))

    def end(self) -> None:
        """Nothing more comes."""
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)
