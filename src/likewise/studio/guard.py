"""The guard: who may ask, from where, and what a browser may do with the answer.

In this order: the Host must be on the list, or a page elsewhere could rebind its name to this
machine; what is written must come from a page of our own and be JSON of a bounded size; everything
but the link itself needs a cookie. Every response forbids the page all that it does not need.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from likewise.studio.visitors import Visitors

MOST_BYTES = 64 * 1024  # of a body
LONGEST_PATH = 1000  # letters
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^][:/?#@\\\s]+)(?::\d{1,5})?")  # and nothing of a path in it
COOKIE = "likewise"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

App = Callable[[dict[str, Any], Callable, Callable], Awaitable[None]]


class Guard:
    """What stands before every request (an ASGI application around another).

    Parameters
    ----------
    app : ASGI application
    visitors : Visitors
    hosts : iterable of str
        Names that the studio is reached by, without a port; loopback is always among them.
    """

    def __init__(self, app: App, visitors: Visitors, hosts: Iterable[str] = ()):
        self._app, self._visitors = app, visitors
        names = (host.lower() for host in hosts)
        self._hosts = {*LOOPBACK, *(f"[{name}]" if name.count(":") > 1 else name for name in names)}

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        """Let a request through, or refuse it in one line."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return  # there are none
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        protected = add_headers(send, is_api=scope["path"].startswith(("/api", "/download")))
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await respond(protected, *refusal)
            return
        host = headers.get("host", b"").decode("latin-1")
        cookie = read_cookie(headers.get("cookie", b"").decode("latin-1"), cookie_name(host))
        scope["visitor"] = self._visitors.find(cookie)
        is_link = scope["path"] == "/" and b"token=" in scope["query_string"]
        if scope["visitor"] is None and not is_link:
            await respond(protected, 403, "Open the link that the studio printed when it started.")
            return
        await self._app(scope, limited(receive), protected)

    def _refusal(self, scope: dict[str, Any], headers: dict[str, bytes]) -> tuple[int, str] | None:
        if len(scope["path"]) > LONGEST_PATH:
            return 414, "The address is too long."
        host = headers.get("host", b"").decode("latin-1").lower()
        if host_name(host) not in self._hosts:
            return 421, "This name is not allowed. Start the studio with --allow-host NAME."
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", b"").decode("latin-1")
        if origin is not None:
            if urlsplit(origin.decode("latin-1")).netloc.lower() != host:
                return 403, "Only the page of the studio may send this."
        elif site != "same-origin":
            return 403, "Only the page of the studio may send this."
        kind = headers.get("content-type", b"").decode("latin-1").partition(";")[0].strip()
        if kind != "application/json":
            return 415, "Only JSON is taken."
        length = headers.get("content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"At most {MOST_BYTES} bytes are taken at once."
        return None


def host_name(host: str) -> str:
    """A Host header without its port; "" if it is no host and port."""
    match = HOST.fullmatch(host)
    return match.group(1) if match else ""


def cookie_name(host: str) -> str:
    """Cookies do not tell ports apart: two studios on one machine need names of their own."""
    port = host.rpartition(":")[2]
    return f"{COOKIE}{port}" if port.isdecimal() else COOKIE


def read_cookie(header: str, wanted: str) -> str | None:
    """Our cookie among others."""
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == wanted:
            return value
    return None


def add_headers(send: Callable, *, is_api: bool) -> Callable:
    """Send with what every response carries."""
    more = [*HEADERS, (b"cache-control", b"no-store")] if is_api else HEADERS

    async def send_with(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return send_with


class TooLarge(Exception):
    """A body that is longer than it said."""


def limited(receive: Callable) -> Callable:
    """Receive, up to a number of bytes."""
    n_bytes = 0

    async def receive_some() -> dict[str, Any]:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MOST_BYTES:
            raise TooLarge
        return message

    return receive_some


async def respond(send: Callable, status: int, error: str) -> None:
    """An error as JSON."""
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
