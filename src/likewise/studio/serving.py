"""Serve a studio: a port, a link, a browser, until somebody stops it."""

import socket
import sys
import webbrowser
from collections.abc import Callable

import uvicorn

from likewise.studio.server import create_app
from likewise.studio.studio import Studio
from likewise.studio.visitors import Visitors

PORT = 8642  # the next free one if it is taken; a page that is open finds the studio again
N_PORTS = 20
BACKLOG = 512  # connections that wait to be accepted
MOST_CONNECTIONS = 1000
KEPT_SECONDS = 75  # that a connection without a request is kept open
SWITCH_SECONDS = 5e-4  # after which a thread that writes files lets the answers through
STOP_SECONDS = 3  # for requests that are being answered


def serve(
    studio: Studio,
    visitors: Visitors,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    hosts: tuple[str, ...] = (),
    opens_browser: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a studio until it is stopped.

    Parameters
    ----------
    studio : Studio
    visitors : Visitors
        Has the token of the link.
    host : str, default="127.0.0.1"
        The address to listen at.
    port : int, default=None
        By default 8642, or the next one that is free.
    hosts : tuple of str, default=()
        Further names that the studio is reached by.
    opens_browser : bool, default=True
    say : callable, default: silent
        Gets the link, in a sentence.
    """
    listening = listen_at(host, port)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"[{shown}]" if ":" in shown else shown
    link = f"http://{address}:{listening.getsockname()[1]}/?token="
    say(f"Open {link}{visitors.token}")
    if host not in ("127.0.0.1", "localhost", "::1"):
        say(
            f"Everybody who reaches {host} and has this link can answer, and what they send is not "
            "encrypted. Put a TLS proxy in front, and name it by --allow-host."
        )
    if opens_browser:
        webbrowser.open(f"{link}{visitors.ticket()}")  # which other users see in the process list
    app = create_app(studio, visitors, (*hosts, host))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=STOP_SECONDS,
        ws="none",
        timeout_keep_alive=KEPT_SECONDS,
        backlog=BACKLOG,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    StudioServer(config, studio).run(sockets=[listening])


class StudioServer(uvicorn.Server):
    """Ends what it sends to open pages before it waits for its requests to end."""

    def __init__(self, config: uvicorn.Config, studio: Studio):
        super().__init__(config)
        self._studio = studio

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        self._studio.hang_up()
        await super().shutdown(sockets)


def listen_at(host: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the first free one from 8642 on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = range(PORT, PORT + N_PORTS) if port is None else (port,)
    error: OSError | None = None
    for number in wanted:
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(BACKLOG)  # who opens the link at once is served once all is ready
            return listening
        except OSError as taken:
            listening.close()
            error = taken
    where = f"port {port}" if port is not None else f"any port from {PORT} to {wanted[-1]}"
    raise OSError(f"The studio cannot listen at {host}, {where}: {error}. Choose another --port.")
