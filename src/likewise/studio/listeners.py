"""Who hears what happens: a queue for each open page."""

import asyncio
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

LONGEST = 100  # messages that wait for a slow page; more are dropped, the next one is newer anyway


@dataclass
class Message:
    """What happened."""

    kind: str
    content: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """As it is sent, made once for all who hear it."""
        return f"event: {self.kind}\ndata: {json.dumps(self.content)}\n\n"


class Listeners:
    """Queues of messages; None ends one."""

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
        message = Message(kind, content)
        for queue, who in self._queues.items():
            if name in (None, who) and not queue.full():
                queue.put_nowait(message)

    def end(self) -> None:
        """Nothing more comes."""
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)
