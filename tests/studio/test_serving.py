"""Ports: the usual one, the next free one, or a line that says why not."""

import socket

import pytest

from likewise.studio import serving
from likewise.studio.serving import listen_at


def test_the_next_free_port_is_taken_and_who_connects_waits_to_be_served(monkeypatch):
    first = listen_at("127.0.0.1", 0)
    monkeypatch.setattr(serving, "PORT", first.getsockname()[1])
    second = listen_at("127.0.0.1", None)
    assert second.getsockname()[1] > first.getsockname()[1]
    socket.create_connection(second.getsockname(), timeout=5).close()
    first.close()
    second.close()


def test_a_port_that_is_taken_is_one_line():
    first = listen_at("127.0.0.1", 0)
    port = first.getsockname()[1]
    with pytest.raises(OSError, match=rf"cannot listen at 127.0.0.1, port {port}: .*--port"):
        listen_at("127.0.0.1", port)
    first.close()
