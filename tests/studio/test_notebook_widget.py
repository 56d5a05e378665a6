"""The studio in a notebook: messages in, answers in the session."""

import asyncio
import json
from functools import partial

import pandas as pd
import pytest

from likewise import studio
from likewise.labeling import LabelingSession
from likewise.studio import notebook_widget
from likewise.studio.notebook_widget import Bridge, gallery_of_session, joined_module, page_module
from likewise.studio.studio import Studio
from tests.studio.conftest import X, right_choice


def in_notebook(work, session):
    """Run something with a bridge, on a loop as a notebook has one."""

    async def live():
        bridge = Bridge(session, gallery_of_session(session, title="points"), "ann", learns=False)
        sent: asyncio.Queue = asyncio.Queue()
        bridge.open(lambda content, buffers: sent.put_nowait((content, buffers)))

        async def exchange(method, path, body=None):
            bridge.receive({"id": 7, "method": method, "path": path, "body": body})
            while True:
                content, buffers = await asyncio.wait_for(sent.get(), 30)
                if content.get("id") == 7:
                    return content, buffers

        try:
            await work(exchange)
        finally:
            await bridge.closed()

    asyncio.run(live())


def test_answers_of_the_page_are_the_sessions_at_once(tmp_path):
    session = LabelingSession(X, log=tmp_path / "log")

    async def work(exchange):
        for i in range(3):
            content, _ = await exchange("GET", "/api/question")
            question = content["json"]["questions"][0]
            event = {"id": f"e{i}", "kind": "answer", "question": question["id"]}
            body = {"events": [{**event, "choice": right_choice(question)}]}
            content, _ = await exchange("POST", "/api/events", body)
            assert content["json"]["saved"] == [f"e{i}"]
            assert session.progress.n_questions == i + 1

    in_notebook(work, session)
    session.close()
    again = LabelingSession(X, log=tmp_path / "log")
    assert [e.id for e in again.events if e.kind == "answer"] == ["e0", "e1", "e2"]
    assert again.events[-1].annotator == "ann"
    again.close()


def in_subshell(receive, content):
    """Handle a message as a subshell of a kernel does: in a thread with a loop of its own."""

    async def handle():
        receive(content)
        await asyncio.sleep(0)

    return asyncio.to_thread(asyncio.run, handle())


def test_answers_that_come_through_a_subshell_are_saved_and_replied_to(tmp_path):
    """JupyterLab sends messages to another thread than the one that runs cells."""
    anywidget = pytest.importorskip("anywidget")
    session = LabelingSession(X, log=tmp_path / "log")  # used by the notebook's thread alone
    sent: asyncio.Queue = asyncio.Queue()

    async def exchange(shown, method, path, body=None):
        content = {"id": 7, "method": method, "path": path, "body": body}
        await in_subshell(lambda data: shown._handle_custom_msg(data, []), content)
        while (reply := await asyncio.wait_for(sent.get(), 30)).get("id") != 7:
            pass
        return reply["json"]

    async def live(monkeypatch):
        monkeypatch.setattr(notebook_widget, "Bridge", partial(Bridge, learns=False))
        monkeypatch.setattr(
            anywidget.AnyWidget, "send", lambda _, content, buffers=None: sent.put_nowait(content)
        )
        shown = studio.widget(session)
        for i in range(3):
            questions = (await exchange(shown, "GET", "/api/question"))["questions"]
            event = {"id": f"e{i}", "kind": "answer", "question": questions[0]["id"]}
            body = {"events": [{**event, "choice": right_choice(questions[0])}]}
            assert (await exchange(shown, "POST", "/api/events", body))["saved"] == [f"e{i}"]
        await shown.bridge.closed()

    with pytest.MonkeyPatch.context() as monkeypatch:
        asyncio.run(live(monkeypatch))
    assert session.progress.n_questions == 3
    session.close()


def test_errors_and_bytes_are_messages_too():
    session = LabelingSession(X)

    async def work(exchange):
        content, _ = await exchange("GET", "/api/row/999")
        assert content["status"] == 404
        assert "There is no row 999" in content["json"]["error"]
        content, buffers = await exchange("GET", "/static/icon.svg")
        assert content["bytes"]
        assert buffers[0].startswith(b"<svg")

    in_notebook(work, session)


def test_a_route_that_fails_is_told_to_the_page(monkeypatch):
    monkeypatch.setattr(Studio, "progress_json", lambda self: 1 / 0)
    session = LabelingSession(X)
    caught = []

    async def work(exchange):
        asyncio.get_running_loop().set_exception_handler(lambda _, found: caught.append(found))
        content, _ = await exchange("POST", "/api/events", {"events": []})
        assert content["status"] == 500
        assert "ZeroDivisionError" in content["json"]["error"]

    in_notebook(work, session)


def test_two_notebooks_do_not_share_unsent_answers(tmp_path):
    logs = []

    async def work(exchange):
        logs.append((await exchange("GET", "/api/start"))[0]["json"]["log"])

    for log in (None, None, tmp_path / "log", tmp_path / "log"):
        session = LabelingSession(X, log=log)
        in_notebook(work, session)
        session.close()
    assert len(set(logs)) == 3
    assert logs[2] == logs[3]


def test_the_page_is_one_module_that_imports_nothing():
    module = page_module()
    assert "\nimport " not in module
    assert module.count("export default") == 1
    assert joined_module("import { a } from './b.js';\nexport const c = 1;\n", "c.js") == (
        "const c = 1;\n"
    )


def test_a_table_is_shown_by_its_columns():
    frame = pd.DataFrame({"color": ["red", "blue"] * 6, "size": range(12)})
    gallery = gallery_of_session(LabelingSession(frame), title="t")
    assert gallery.card(1)["cells"] == [["color", "blue"], ["size", "1"]]


def test_a_widget_needs_a_running_loop_and_makes_a_studio_there():
    pytest.importorskip("anywidget")
    session = LabelingSession(X)
    with pytest.raises(RuntimeError, match="needs the loop of a notebook"):
        studio.widget(session)

    async def live():
        shown = studio.widget(session)
        shown.bridge.close()
        await shown.bridge.closed()
        return json.dumps(shown._esm)

    assert "mount" in asyncio.run(live())
