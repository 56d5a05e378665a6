"""The server translates HTTP, and nothing else: routes to methods of `Studio`, errors to lines."""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from likewise.studio.guard import Guard, TooLarge, cookie_name
from likewise.studio.incoming import Refused
from likewise.studio.row_gallery import SIZES
from likewise.studio.static_files import static_file
from likewise.studio.studio import Studio
from likewise.studio.visitors import Visitors

PING_SECONDS = 15.0  # between comments on a stream, so that a lost one is noticed
HOUR = {"cache-control": "private, max-age=3600"}
AGAIN = {"cache-control": "no-cache"}  # files of the page: a new version shows at once

Handler = Callable[[Request], Awaitable[Response]]


def create_app(studio: Studio, visitors: Visitors, hosts: tuple[str, ...] = ()) -> Starlette:
    """The web application of a studio.

    Parameters
    ----------
    studio : Studio
    visitors : Visitors
    hosts : tuple of str, default=()
        Names that the studio may be reached by, beside those of loopback.
    """
    routes = Routes(studio, visitors)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with studio.running():
            yield

    app = Starlette(routes=routes.all(), lifespan=lifespan)
    app.add_middleware(Guard, visitors=visitors, hosts=hosts)
    return app


NOT_FOR_PARTICIPANTS = (
    "/api/map",
    "/api/clusters",
    "/api/doubts",
    "/api/history",
    "/api/row/",
    "/download/",
)


def in_one_line(handler: Handler) -> Handler:
    """What goes wrong as a status and a line."""

    async def handle(request: Request) -> Response:
        visitor = request.scope["visitor"]
        is_participant = visitor is not None and visitor.is_bound
        if is_participant and request.scope["path"].startswith(NOT_FOR_PARTICIPANTS):
            return JSONResponse({"error": "This is not shown in a study."}, 403)
        try:
            return await handler(request)
        except Refused as error:
            return JSONResponse({"error": str(error)}, 409)
        except LookupError as error:
            return JSONResponse({"error": str(error.args[0] if error.args else error)}, 404)
        except TooLarge:
            return JSONResponse({"error": "The request is too large."}, 413)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)
        except TimeoutError:
            return JSONResponse({"error": "It takes longer than expected. Try again later."}, 503)
        except (OSError, sqlite3.Error) as error:
            return JSONResponse({"error": f"It could not be saved: {error}"}, 503)

    return handle


class Routes:
    """One method per path."""

    def __init__(self, studio: Studio, visitors: Visitors):
        self.studio, self.visitors = studio, visitors

    def all(self) -> list[Route]:
        """Paths, methods, handlers."""
        gets: dict[str, Handler] = {
            "/api/question": self.question,
            "/": self.page,
            "/static/{name:path}": self.static,
            "/api/start": self.start,
            "/api/live": self.live,
            "/api/map": self.map,
            "/api/clusters": self.clusters,
            "/api/row/{row:int}": self.row,
            "/api/doubts": self.doubts,
            "/api/history": self.history,
            "/download/{name}": self.download,
            "/media/row/{row:int}": self.image,
            "/media/atlas/{number:int}": self.atlas,
        }
        posts: dict[str, Handler] = {"/api/events": self.events, "/api/name": self.name}
        return [  # matched in this order: answers come first
            *(Route(path, in_one_line(h), methods=["POST"]) for path, h in posts.items()),
            *(Route(path, in_one_line(h)) for path, h in gets.items()),
        ]

    async def page(self, request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            cookie = self.visitors.enter(token)
            if cookie is None:
                error = (
                    "This link is not, or no longer, valid. Open the one that the studio printed."
                )
                return JSONResponse({"error": error}, 403)
            response = RedirectResponse("/", status_code=303)
            key = cookie_name(request.headers.get("host", ""))
            response.set_cookie(key, cookie, path="/", httponly=True, samesite="strict")
            return response
        content, media_type = static_file("index.html")
        return Response(content, media_type=media_type, headers=AGAIN)

    async def static(self, request: Request) -> Response:
        content, media_type = static_file(request.path_params["name"])
        return Response(content, media_type=media_type, headers=AGAIN)

    async def start(self, request: Request) -> Response:
        return JSONResponse(self.studio.start_json(request.scope["visitor"]))

    async def name(self, request: Request) -> Response:
        cells = await read_object(request)
        visitor, name = request.scope["visitor"], cells.get("name")
        if not isinstance(name, str):
            raise ValueError("A name is text.")
        self.visitors.rename(visitor, name, cells.get("reviewer") is True)
        return JSONResponse({"name": visitor.name, "reviewer": visitor.is_reviewer})

    async def question(self, request: Request) -> Response:
        kind = request.query_params.get("kind")
        return JSONResponse(await self.studio.question_json(request.scope["visitor"], kind))

    async def events(self, request: Request) -> Response:
        events = (await read_object(request)).get("events")
        if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
            raise ValueError("events must be a list of objects.")
        return JSONResponse(await self.studio.take_events(request.scope["visitor"], events))

    async def live(self, request: Request) -> Response:
        queue = self.studio.listen(request.scope["visitor"])

        async def stream() -> AsyncIterator[str]:
            try:
                while True:
                    try:
                        message = await asyncio.wait_for(queue.get(), PING_SECONDS)
                    except TimeoutError:
                        yield ": still here\n\n"
                        continue
                    if message is None:
                        return
                    yield message.text
            finally:
                self.studio.forget(queue)

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def map(self, request: Request) -> Response:
        only_labels = request.query_params.get("labels") == "1"
        content = self.studio.map_bytes(only_labels=only_labels)
        return Response(content, media_type="application/octet-stream")

    async def clusters(self, request: Request) -> Response:
        return JSONResponse(self.studio.clusters_json())

    async def row(self, request: Request) -> Response:
        return JSONResponse(self.studio.row_json(request.path_params["row"]))

    async def doubts(self, request: Request) -> Response:
        return JSONResponse(await self.studio.doubts_json(request.scope["visitor"]))

    async def history(self, request: Request) -> Response:
        before, limit = (read_number(request, name) for name in ("before", "limit"))
        visitor = request.scope["visitor"]
        return JSONResponse(self.studio.history_json(visitor, before, limit))

    async def download(self, request: Request) -> Response:
        name = request.path_params["name"]
        content, kind = await self.studio.file(name)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=kind, headers=headers)

    async def image(self, request: Request) -> Response:
        row, size = request.path_params["row"], request.query_params.get("size", "256")
        if size not in map(str, SIZES):
            raise ValueError(f"size must be one of {', '.join(map(str, SIZES))}.")
        if not 0 <= row < self.studio.gallery.n_rows:
            raise LookupError(f"There is no row {row}.")
        content, kind = await asyncio.to_thread(self.studio.gallery.image, row, int(size))
        return Response(content, media_type=kind, headers=HOUR)

    async def atlas(self, request: Request) -> Response:
        number = request.path_params["number"]
        content, kind = await asyncio.to_thread(self.studio.gallery.atlas, number)
        return Response(content, media_type=kind, headers=HOUR)


def read_number(request: Request, name: str) -> int | None:
    """A whole number of the query, if there is one."""
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 12:
        raise ValueError(f"{name}={text!r} is no whole number.")
    return int(text)


async def read_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        cells = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ValueError("The body is no JSON.") from None
    if not isinstance(cells, dict):
        raise ValueError("The body must be a JSON object.")
    return cells
