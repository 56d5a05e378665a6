"""History and doubts, through the routes."""

import numpy as np
import pytest

from likewise import Constraints
from likewise.labeling import Event, Question
from likewise.studio import RowGallery, StudioSettings
from likewise.studio.history_view import doubts_json
from likewise.studio.snapshot import Snapshot
from tests.studio.conftest import X, answer, ask, enter, send


def history(browser, **query):
    return browser.get("/api/history", params=query).json()


def test_everything_done_is_in_the_history_newest_first_and_can_be_undone_there(client):
    enter(client, "ann")
    question = ask(client)[0]
    answer(client, "e1", question, "new")
    send(
        client,
        {"id": "m", "kind": "merge", "groups": [[0], [3]]},
        {"id": "p", "kind": "pure", "rows": [0, 3, 6]},
        {"id": "v", "kind": "move", "rows": [9], "groups": [[0], [1]]},
        {"id": "s", "kind": "split", "groups": [[0], [1]]},
        {"id": "n", "kind": "name", "rows": [0, 3], "name": "cats  and dogs"},
    )
    events = history(client)["events"]
    assert [e["id"] for e in events] == ["n", "s", "v", "p", "m", "e1"]
    assert [e["kind"] for e in events] == ["name", "split", "move", "pure", "merge", "answer"]
    assert events[0]["summary"] == "named a cluster “cats and dogs”"
    assert events[-1]["summary"].endswith(": a new group")
    assert "joined the clusters of row 0 and row 3" in events[4]["summary"]
    asked = question["rows"][0]
    pictured = [[0, 3], [0, 1], [9, 0, 1], [0, 3, 6], [0, 3], [asked]]
    assert [e["pictures"] for e in events] == [
        [f"/media/row/{row}?size=96" for row in rows] for rows in pictured
    ]
    assert send(client, {"id": "u", "kind": "undo", "undoes": "m"})["saved"] == ["u"]
    undone = {e["id"]: e["undone"] for e in history(client)["events"]}
    assert undone["m"]
    assert not undone["p"]
    assert send(client, {"id": "u2", "kind": "undo", "undoes": "m"})["refused"]


def test_the_history_comes_in_pages(client):
    send(client, *[{"id": f"p{i}", "kind": "pure", "rows": [0, i + 1]} for i in range(5)])
    first = history(client, limit=2)
    assert [e["id"] for e in first["events"]] == ["p4", "p3"]
    second = history(client, before=first["next"], limit=2)
    assert [e["id"] for e in second["events"]] == ["p2", "p1"]
    assert client.get("/api/history?limit=-1").status_code == 400


def test_only_a_reviewer_takes_back_what_others_did(client):
    enter(client, "ann")
    send(client, {"id": "p", "kind": "pure", "rows": [0, 3]})
    enter(client, "bob")
    undo = {"id": "u", "kind": "undo", "undoes": "p"}
    assert "Only a reviewer" in send(client, undo)["refused"][0]["error"]
    enter(client, "bob", is_reviewer=True)
    assert send(client, undo)["saved"] == ["u"]


@pytest.fixture
def disputed(client):
    """Ann and bob answer the same question differently."""
    enter(client, "ann")
    question = ask(client, kind="pair")[0]
    answer(client, "a1", question, "together", seconds=0.1)
    enter(client, "bob")
    desk, portal = client.studio.desk, client.portal
    shared = desk.shared_question("bob", 1.0, 0)
    portal.call(client.studio._writer.save, desk.issue("bob", shared))
    client.get("/api/question")
    same = next(q for q in ask(client) if q["rows"] == question["rows"])
    answer(client, "b1", same, "apart")
    return client, question


def test_a_disagreement_is_shown_and_settled_by_a_reviewer(disputed):
    client, question = disputed
    doubts = client.get("/api/doubts").json()
    (found,) = doubts["disagreements"]
    assert {(v["by"], v["choice"]) for v in found["votes"]} == {
        ("ann", "together"),
        ("bob", "apart"),
    }
    assert not found["settled"]
    a, b = question["rows"]
    apart = np.abs(X[a] - X[b]) / X.std(axis=0)
    assert found["differs"][0] == ["width", "height"][apart.argmax()]
    assert [a["choice"] for a in found["answers"]] == ["together", "apart", "cant_tell"]
    assert doubts["agreement"] == [["ann", "bob", 0, 1]]
    assert {p["name"]: p["n_hasty"] for p in doubts["people"]} == {"ann": 1, "bob": 0}
    settle = {"id": "s", "kind": "settle", "rows": question["rows"], "choice": "apart"}
    assert "Only a reviewer" in send(client, settle)["refused"][0]["error"]
    enter(client, "boss", is_reviewer=True)
    assert send(client, settle)["saved"] == ["s"]
    assert client.get("/api/doubts").json()["disagreements"][0]["settled_as"] == "apart"
    nobody = {"id": "t", "kind": "settle", "rows": [40, 41], "choice": "apart"}
    assert send(client, nobody)["refused"]


def test_who_sees_two_clusters_as_one_is_named_with_them():
    labels = np.arange(60) % 3
    ann = Constraints.from_labels(labels, n_pairs=60, random_state=0)
    bob = Constraints.from_labels(np.minimum(labels, 1), n_pairs=60, random_state=1)
    events = [
        Event("answer", f"{name}{kind}{i}", Question("pair", pair), kind, name)
        for name, said in (("ann", ann), ("bob", bob))
        for kind, pairs in (("together", said.must_link), ("apart", said.cannot_link))
        for i, pair in enumerate(map(tuple, pairs.tolist()))
    ]
    nothing = np.empty((60, 0))
    snapshot = Snapshot(1, len(events), labels, nothing, nothing, (), nothing, 1)
    gallery = RowGallery("Rows", "table", 60, columns={"size": np.arange(60)})
    by_id = {event.id: event for event in events}
    named = doubts_json(events, by_id, snapshot, gallery, names={1: "birds"})["views"]
    assert [(one["by"], one["kind"], one["clusters"]) for one in named] == [
        ("bob", "merges", ["birds", "cluster 2"])
    ]
    assert doubts_json(events, by_id, snapshot, gallery, hidden_from="ann")["views"] == []
    assert doubts_json(events, by_id, None, gallery)["views"] == []


def test_in_a_blind_studio_people_see_their_own_answers_only(open_studio):
    with open_studio(settings=StudioSettings(is_blind=True, learns=False)) as browser:
        enter(browser, "ann")
        send(browser, {"id": "p", "kind": "pure", "rows": [0, 3]})
        enter(browser, "bob")
        assert history(browser)["events"] == []
        assert ask(browser)[0]["why"] == ""
        enter(browser, "boss", is_reviewer=True)
        assert len(history(browser)["events"]) == 1


def test_a_doubted_answer_is_kept_or_flipped(client):
    question = ask(client, kind="pair")[0]
    answer(client, "e1", question, "together")
    assert send(client, {"id": "k", "kind": "keep", "answer": "e1"})["saved"] == ["k"]
    assert (
        "no opposite"
        in (send(client, {"id": "f0", "kind": "flip", "answer": "e1"})["refused"][0]["error"])
    )
    flip = {"id": "f", "kind": "flip", "answer": "e1", "choice": "apart"}
    assert send(client, flip)["saved"] == ["f"]
    assert history(client)["events"][0]["summary"].startswith("changed to: ")
    assert send(client, {"id": "x", "kind": "keep", "answer": "nothing"})["refused"]


def test_more_than_one_cluster_asks_the_pairs_that_say_where(client):
    ask(client)
    reply = send(client, {"id": "s", "kind": "split", "rows": [0, 1, 2]})
    asked = [q for q in reply["questions"] if q["kind"] == "pair"]
    assert [q["rows"] for q in asked] == [[0, 2], [0, 1], [1, 2]]
    assert reply["questions"][0]["id"] == asked[0]["id"]
    events = history(client)["events"]
    assert events[0]["summary"] == "said that 3 rows are more than one cluster"
