"""Routes: what the page gets, and what it gets for an answer."""

import pytest
from sklearn.metrics import adjusted_rand_score

from likewise.labeling import EventLog, LabelingSession, RowNames
from likewise.studio import StudioSettings
from likewise.studio.visitors import Visitor
from tests.studio.conftest import N_ROWS, X, Y, answer, ask, enter, send

NAMES = ["width", "height"]


def test_the_page_begins_with_the_data_and_no_name(client):
    start = client.get("/api/start").json()
    assert start["data"] == {
        "title": "points",
        "n_rows": N_ROWS,
        "kind": "table",
        "columns": ["width", "height"],
        "spreads": {name: pytest.approx(X[:, j].std(), rel=1e-3) for j, name in enumerate(NAMES)},
    }
    assert start["name"] is None
    assert client.post("/api/name", json={"name": " ann  b "}).json()["name"] == "ann b"
    assert client.get("/api/start").json()["name"] == "ann b"


def test_a_question_has_cards_and_a_key_for_every_answer(client):
    question = ask(client)[0]
    shown = {*question["rows"], *(row for group in question["groups"] for row in group)}
    assert set(question["cards"]) == {str(row) for row in shown}
    assert [a["key"] for a in question["answers"]] == ["1", "n", "w", "c"]
    card = question["cards"][str(question["rows"][0])]
    assert [name for name, _ in card["cells"]] == ["width", "height"]
    assert set(question["differs"]) == {"width", "height"}
    assert question["prompt"].startswith("Which of these does row ")


def test_an_answer_is_in_the_log_once_it_is_acknowledged(client, tmp_path):
    question = ask(client)[0]
    reply = answer(client, "e1", question, "new")
    assert reply["saved"] == ["e1"]
    assert reply["refused"] == []
    log = EventLog(tmp_path / "answers.log", RowNames(X))
    kept = {event.id: event for event in log.read()}
    log.close()
    assert kept["e1"].choice == "new"
    assert kept["e1"].seconds == 1.5
    assert kept["e1"].question == kept[question["id"]].question
    assert reply["progress"]["n_questions"] == 1


def test_a_new_group_is_shown_in_the_questions_that_were_prepared_before(client):
    first = ask(client)[0]
    while len(ask(client)) < 2:
        pass
    prepared = ask(client)[1]
    reply = answer(client, "e1", first, "new")
    shown = reply["questions"][0]
    assert shown["rows"] == prepared["rows"]
    assert shown["groups"] == [*prepared["groups"], first["rows"]]


def test_an_answer_that_is_sent_twice_counts_once(client):
    question = ask(client)[0]
    answer(client, "e1", question)
    assert answer(client, "e1", question)["saved"] == ["e1"]
    assert answer(client, "e2", question)["refused"] == [
        {"id": "e2", "error": "This question was answered already."}
    ]
    assert client.studio.desk.n_answers == 1


def test_right_answers_give_the_groups_to_a_session_on_the_same_log(client, tmp_path):
    for i in range(12):
        question = ask(client)[0]
        answer(client, f"e{i}", question)
    kept = LabelingSession(X, log=tmp_path / "answers.log")
    assert kept.progress.n_questions == 12
    assert adjusted_rand_score(Y, kept.labels) == 1
    kept.close()


def test_undo_opens_the_question_again_as_often_as_wanted_and_after_a_restart(open_studio):
    with open_studio() as browser:
        enter(browser, "ann")
        asked = []
        for i in range(3):
            asked.append(ask(browser)[0])
            answer(browser, f"e{i}", asked[-1])
    with open_studio() as browser:
        enter(browser, "ann")
        for i in (2, 1, 0):
            reply = send(browser, {"id": f"u{i}", "kind": "undo"})
            assert reply["saved"] == [f"u{i}"]
            assert reply["questions"][0]["id"] == asked[i]["id"]
            assert reply["progress"]["n_questions"] == i
        assert send(browser, {"id": "u", "kind": "undo"})["refused"][0]["error"] == (
            "There is nothing to take back."
        )
        assert answer(browser, "again", asked[0], "cant_tell")["saved"] == ["again"]


def test_an_answer_to_a_question_from_before_a_restart_is_taken(open_studio):
    with open_studio() as browser:
        enter(browser, "ann")
        question = ask(browser)[0]
    with open_studio() as browser:
        enter(browser, "ann")
        assert answer(browser, "late", question)["saved"] == ["late"]


def test_two_people_have_different_questions_and_undo_their_own(client):
    ann = ask(enter(client, "ann"))[0]
    answer(client, "a1", ann)
    bob = ask(enter(client, "bob"))[0]
    assert bob["rows"] != ann["rows"]
    assert answer(client, "b0", ann)["refused"][0]["id"] == "b0"
    assert send(client, {"id": "u1", "kind": "undo"})["refused"]
    answer(client, "b1", bob)
    send(client, {"id": "u2", "kind": "undo"})
    assert client.studio.desk.undone == {"b1"}


def test_the_kind_of_question_can_be_changed(client):
    assert ask(client)[0]["kind"] == "group"
    assert ask(client, kind="pair")[0]["kind"] == "pair"
    assert client.get("/api/question?kind=riddle").status_code == 400


def test_a_skipped_question_does_not_come_again(client):
    question = ask(client)[0]
    send(client, {"id": "s", "kind": "skip", "question": question["id"]})
    assert ask(client)[0]["rows"] != question["rows"]


def test_another_group_shows_the_next_screen_first(open_studio):
    from likewise.labeling import Question

    with open_studio() as browser:
        enter(browser, "ann")
        fetched = {row for q in ask(browser) for row in q["rows"]}
        row = next(row for row in range(10, 60) if row not in fetched)
        studio = browser.studio
        many = Question("group", (row,), ((0,), (1,)), ((2,), (3,)))
        browser.portal.call(studio._writer.save, studio.desk.issue("ann", many))
        shown = next(q for q in ask(browser) if q["rows"] == [row] and q["groups"] == [[0], [1]])
        assert shown["has_more"]
        reply = answer(browser, "e1", shown, "another")
        assert reply["questions"][0]["groups"] == [[2], [3]]
        assert not reply["questions"][0]["has_more"]
        reply = send(browser, {"id": "u", "kind": "undo"})
        assert reply["questions"][0]["id"] == shown["id"]
        assert [[2], [3]] not in [q["groups"] for q in reply["questions"]]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"kind": "answer", "question": "nowhere", "choice": 0}, "no longer known"),
        ({"kind": "riddle"}, "is unknown"),
        ({"kind": ["answer"]}, "kind of an event is text"),
        ({"kind": "pure", "rows": [0, 3], "id": ["x"]}, "needs an id"),
        ({"kind": "pure", "rows": [0, 3], "id": "=1+1"}, "needs an id"),
        ({"kind": "name", "rows": [0], "name": "=1+1"}, "spreadsheet"),
        ({"kind": "merge", "groups": [[0], [99]]}, "points outside X"),
        ({"kind": "merge", "groups": [0]}, "list of at most"),
        ({"kind": "pure", "rows": [True, 1]}, "list of at most"),
        ({"kind": "undo", "undoes": "nothing"}, "no such answer"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_a_line_and_the_rest_is_saved(client, event, words):
    pure = {"id": "p", "kind": "pure", "rows": [0, 3]}
    reply = send(client, {"id": "x", **event}, pure)
    assert reply["saved"] == ["p"]
    assert words in reply["refused"][0]["error"]


def test_a_choice_that_is_not_offered_is_refused(client):
    question = ask(client)[0]
    for choice in (7, "maybe", None, [1], {"a": 1}, True):
        event = {"id": "x", "kind": "answer", "question": question["id"], "choice": choice}
        assert "is no answer" in send(client, event)["refused"][0]["error"]


def test_rows_and_images_are_addressed_by_number(client):
    assert client.get("/api/row/3").json()["card"]["row"] == 3
    assert client.get("/api/row/99").status_code == 404
    image = client.get("/media/row/3?size=96")
    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    assert client.get("/media/row/3?size=7").status_code == 400
    assert client.get("/media/row/99").status_code == 404
    assert client.get("/media/atlas/0").content.startswith(b"\x89PNG")
    assert client.get("/media/atlas/1").status_code == 404


def test_before_anything_is_learned_there_is_no_map(client):
    assert client.get("/api/map").status_code == 404
    assert client.get("/api/clusters").json() == {"error": "The clusters are not there yet."}


def test_what_happens_is_heard_by_those_it_concerns(client):
    enter(client, "ann")
    studio, portal = client.studio, client.portal
    ann = portal.call(studio.listen, Visitor("ann"))
    bob = portal.call(studio.listen, Visitor("bob"))
    question = ask(client)[0]
    answer(client, "e1", question)
    while len(ask(client)) < 2:
        pass
    heard = {"ann": [], "bob": []}
    for name, queue in (("ann", ann), ("bob", bob)):
        while not queue.empty():
            heard[name].append(portal.call(queue.get))
    assert [message for message in heard["bob"] if message.kind == "questions"] == []
    lists = [message.content for message in heard["ann"] if message.kind == "questions"]
    assert lists
    turns = [content["turn"] for content in lists]
    assert turns == sorted(set(turns))
    portal.call(studio.forget, bob)


def test_what_is_wrong_with_questions_is_said_until_it_is_right(open_studio, monkeypatch, capsys):
    with open_studio() as browser:
        enter(browser)
        with monkeypatch.context() as broken:
            broken.setattr(LabelingSession, "propose", lambda *_, **__: 1 / 0)
            reply = browser.get("/api/question").json()
        (line,) = reply["progress"]["troubles"]
        assert line.startswith("No question could be chosen (ZeroDivisionError: division by zero).")
        assert reply["questions"] == []
        assert capsys.readouterr().err.count(line) == 1
        reply = browser.get("/api/question").json()
        assert reply["questions"]
        assert reply["progress"]["troubles"] == []


def test_files_that_cannot_be_written_are_said(open_studio, tmp_path, capsys):
    (tmp_path / "taken").write_text("a file, not a folder")
    settings = StudioSettings(learns=False, folder=tmp_path / "taken")
    with open_studio(settings=settings) as browser:
        enter(browser)
        answer(browser, "e1", ask(browser)[0])
        while not (lines := browser.get("/api/question").json()["progress"]["troubles"]):
            pass
    assert "could not be written (" in lines[0]
    assert lines[0] in capsys.readouterr().err
