"""Ports: the usual one, the next free one, or a line that says why not; and the end."""

import http.client
import logging
import socket

import pytest

from likewise.labeling import EventLog, LabelingSession, RowNames
from likewise.studio import Studio, StudioSettings, Visitors, serving
from likewise.studio.serving import listen_at
from tests.studio.browser.at_the_page import Place
from tests.studio.conftest import X, make_gallery


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


def test_the_link_that_a_browser_is_started_with_works_once(monkeypatch, tmp_path):
    opened, told, visitors = [], [], Visitors("the-token")
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    monkeypatch.setattr(serving.StudioServer, "run", lambda self, sockets: sockets[0].close())
    log = EventLog(tmp_path / "answers.log", RowNames(X))
    settings = StudioSettings(learns=False)
    studio = Studio(LabelingSession(X), make_gallery(), log, log.read(), settings)
    serving.serve(studio, visitors, port=0, say=told.append)
    log.close()
    assert told[0].endswith("/?token=the-token")
    ((link, ticket),) = [tuple(one.split("token=")) for one in opened]
    assert told[0] == f"Open {link}token=the-token"
    assert [visitors.enter(ticket) is None for _ in range(2)] == [False, True]


def test_a_studio_stops_at_once_though_a_page_is_open(tmp_path, caplog):
    place = Place(X, make_gallery(), tmp_path / "log", settings=StudioSettings(learns=False))
    place.start()
    page = http.client.HTTPConnection("127.0.0.1", place.port, timeout=10)
    page.request("GET", place.link[place.link.index("/?") :])
    cookie = page.getresponse().headers["set-cookie"].partition(";")[0]
    page.close()
    page.request("GET", "/api/live", headers={"cookie": cookie})
    stream = page.getresponse()
    assert stream.readline() == b"event: progress\n"
    with caplog.at_level(logging.ERROR, "uvicorn.error"):
        place.stop()
    assert not place.thread.is_alive()
    assert stream.read()  # to its end: it does not break off
    assert caplog.records == []
    page.close()
