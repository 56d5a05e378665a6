"""The studio in a notebook: the same page and the same routes, with messages instead of HTTP.

    page to Python    {id, method, path, body}
    Python to page    {id, status, json}, or {id, status, bytes: true, type} and one buffer
                      {live, data}: what /api/live sends

Everything runs on the loop of the notebook, so the session is never used by two threads: between
two cells it has all answers that were given. Messages may come from another thread: JupyterLab has
them handled by a subshell of the kernel, whose loop is not the notebook's.
"""

import asyncio
import contextlib
import json
import re
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from starlette.applications import Starlette

from likewise.features import cell_table, is_frame
from likewise.labeling import Event, LabelingSession
from likewise.studio.row_gallery import RowGallery
from likewise.studio.server import Routes
from likewise.studio.static_files import static_file
from likewise.studio.studio import Studio, StudioSettings
from likewise.studio.visitors import Visitor, Visitors

STYLES = ("studio.css", "screens.css")
ORDER = "notebook.order.json"


def widget(
    session: LabelingSession,
    *,
    columns: Mapping[str, Sequence] | None = None,
    texts: Sequence[str] | None = None,
    images=None,
    title: str = "rows",
    name: str = "notebook",
):
    """Show the studio below a cell; its answers are the session's.

    Parameters
    ----------
    session : LabelingSession
        Takes every answer at once, and saves it where it saves them.
    columns : dict of name to sequence, default=None
        Cells to show of each row; by default those of the session's table or array.
    texts : sequence of str, default=None
        A text to show of each row.
    images : array of shape (n_samples, h, w[, 3]) or sequence of paths, default=None
        An image to show of each row.
    title : str, default="rows"
        What the rows are called.
    name : str, default="notebook"
        Who answers.

    Returns
    -------
    anywidget.AnyWidget
        Its ``bridge.close()`` ends it.
    """
    import anywidget
    import traitlets

    gallery = gallery_of_session(session, columns=columns, texts=texts, images=images, title=title)
    bridge = Bridge(session, gallery, name)

    class StudioWidget(anywidget.AnyWidget):
        _esm = traitlets.Unicode(page_module()).tag(sync=True)
        _css = traitlets.Unicode(page_style()).tag(sync=True)

    shown = StudioWidget()
    shown.bridge = bridge
    shown.on_msg(lambda _, content, buffers: bridge.receive(content))
    bridge.open(shown.send)
    return shown


class SessionKeeper:
    """A session as what events are saved in."""

    runs_inline = True  # on the loop: the session belongs to the notebook's thread

    def __init__(self, session: LabelingSession):
        self._session = session

    def append(self, *events: Event) -> list[bool]:
        """Let the session take events; which of them are new."""
        return [self._session.add_event(event) for event in events]


class Bridge:
    """A studio behind messages.

    Parameters
    ----------
    session : LabelingSession
    gallery : RowGallery
    name : str
        Who answers.
    """

    def __init__(self, session: LabelingSession, gallery: RowGallery, name: str, *, learns=True):
        log_id = session.log_identity or uuid.uuid4().hex  # notebooks share a browser's storage
        settings = StudioSettings(learns=learns, log_id=log_id)
        keeper = SessionKeeper(session)
        self.studio = Studio(session.twin(), gallery, keeper, session.events, settings)
        self.visitor = Visitor(name, is_reviewer=True)
        self._app = Starlette(routes=Routes(self.studio, Visitors()).all())
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None  # of the notebook
        self._tasks: set[asyncio.Task] = set()
        self._send: Callable[[dict, list[bytes]], None] = lambda content, buffers: None

    def open(self, send: Callable[[dict, list[bytes]], None]) -> None:
        """Begin on the loop that is running; `send` takes messages to the page."""
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "The widget needs the loop of a notebook. Elsewhere, use likewise studio."
            ) from None
        self._send = send
        self._start(self._live())

    def close(self) -> None:
        """End the studio; the session has all answers."""
        self._stop.set()

    async def closed(self) -> None:
        """Wait until everything has ended."""
        self.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def receive(self, content: Mapping[str, Any]) -> None:
        """A message of the page, from any thread; it is answered later, on the notebook's loop."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self._start(self._respond(content)))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _live(self) -> None:
        async with self.studio.running():
            queue = self.studio.listen(self.visitor)
            stopping = asyncio.create_task(self._stop.wait())
            while not self._stop.is_set():
                heard = asyncio.create_task(queue.get())
                await asyncio.wait({heard, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not heard.done():
                    heard.cancel()
                    break
                if (message := heard.result()) is None:
                    break
                self._send({"live": message.kind, "data": message.content}, [])
            stopping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await stopping

    async def _respond(self, content: Mapping[str, Any]) -> None:
        method, path = str(content.get("method")), str(content.get("path"))
        body = json.dumps(content.get("body")).encode()
        answer: dict[str, Any] = {"id": content.get("id")}
        try:
            answer["status"], kind, reply = await self.request(method, path, body)
        except Exception as error:  # whoever waits must hear of it
            words = f"The studio failed: {type(error).__name__}: {error}"
            self._send({**answer, "status": 500, "json": {"error": words}}, [])
            raise
        if kind.startswith("application/json"):
            self._send({**answer, "json": json.loads(reply)}, [])
        else:
            self._send({**answer, "bytes": True, "type": kind}, [reply])

    async def request(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        """Status, media type and content of a route."""
        url = urlsplit(path)
        scope = {
            **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1"},
            **{"method": method, "path": url.path, "raw_path": url.path.encode()},
            **{"query_string": url.query.encode(), "headers": [], "root_path": ""},
            **{"scheme": "http", "server": ("notebook", 80), "visitor": self.visitor},
        }
        status, kind, parts = 500, "", []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message) -> None:
            nonlocal status, kind
            if message["type"] == "http.response.start":
                status = message["status"]
                kind = dict(message["headers"]).get(b"content-type", b"").decode()
            else:
                parts.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return status, kind, b"".join(parts)


def gallery_of_session(
    session: LabelingSession, *, columns=None, texts=None, images=None, title: str
) -> RowGallery:
    """What is shown of the rows of a session."""
    rows, n_rows = session.rows, session.n_samples
    if columns is not None:
        columns = {str(name): np.asarray(cells) for name, cells in columns.items()}
    elif is_frame(rows):
        columns = dict(cell_table(rows).columns)
    elif texts is None and images is None and isinstance(rows, np.ndarray):
        columns = {f"x{j}": rows[:, j] for j in range(rows.shape[1])}
    kind = "images" if images is not None else "texts" if texts is not None else "table"
    ids = None if session.ids is None else session.ids.tolist()
    return RowGallery(title, kind, n_rows, ids, columns, texts, images)


def page_module() -> str:
    """All modules of the page as one, in an order in which each finds what it needs."""
    names = json.loads(static_file(ORDER)[0])
    return "\n".join(joined_module(static_file(name)[0].decode(), name) for name in names)


def joined_module(text: str, name: str) -> str:
    """A module without imports and, but for the last, without exports."""
    text = re.sub(r"^import .*?;\n", "", text, flags=re.MULTILINE | re.DOTALL)
    if name != "notebook.js":
        text = re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE)
    return text


def page_style() -> str:
    """The style sheets of the page."""
    return "\n".join(static_file(name)[0].decode() for name in STYLES)
