"""The studio in a notebook: messages in, answers in the session."""

import asyncio
import json

import pandas as pd
import pytest

from likewise import studio
from likewise.labeling import LabelingSession
from likewise.studio.notebook_widget import Bridge, gallery_of_session, joined_module, page_module
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
