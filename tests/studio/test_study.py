"""Studies: planned trials, a link each, a code at the end, a line per trial."""

import csv
import io
import stat

import pytest

from likewise.labeling import Question
from likewise.studio import StudioSettings, Study, Visitors, keep_links, read_study
from likewise.studio.study import Catch
from tests.studio.conftest import Y, ask, send

PAIRS = tuple(Question("pair", (i, i + 1)) for i in range(10))
CATCH = Catch(Question("pair", (0, 3)), "together")
STUDY = Study(
    ("p1", "p2"), 4, "Points", "Compare.", questions=PAIRS[:2], catches=(CATCH,), kinds=("pair",)
)
TOML = """
participants = 3
trials = 5
instructions = "Compare."
kinds = ["odd_one_out"]
[[questions]]
kind = "pair"
rows = ["a", "c"]
[[catch]]
kind = "odd_one_out"
rows = [0, 1, 2]
answer = 2
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "study.toml"


def test_a_study_is_read_by_ids_or_row_numbers(file):
    file.write_text(TOML)
    study = read_study(file, 4, list("abcd"))
    assert study.participants == ("p1", "p2", "p3")
    assert study.questions == (Question("pair", (0, 2)),)
    assert study.catches == (Catch(Question("odd_one_out", (0, 1, 2)), 2),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("trials = 5", "trials = 0"), "trials = 0 must be a whole number from 1"),
        (("trials = 5", ""), "trials is missing"),
        (("participants = 3", 'participants = ["a", "a"]'), "must be different names"),
        (('["a", "c"]', '["a", "z"]'), r"questions\[0\]: there is no row 'z'"),
        (("[0, 1, 2]", "[0, 1, 9]"), r"catch\[0\]: Row 9 .* outside X"),
        (("answer = 2", "answer = 7"), "choice=7 is no answer"),
        (("participants", "people"), "people is unknown"),
        (("trials = 5", "trials = "), "is no TOML file"),
        (('["odd_one_out"]', '["riddle"]'), "'riddle' is unknown"),
    ],
)
def test_what_is_wrong_with_a_study_is_one_line_that_names_the_file(file, change, words):
    file.write_text(TOML.replace(*change))
    with pytest.raises(ValueError, match=f"study.toml.*{words}"):
        read_study(file, 4, list("abcd"))


def test_a_plan_has_all_trials_and_spreads_the_catch_questions():
    study = Study(("p",), 12, questions=PAIRS, catches=(CATCH,) * 3, seed=1)
    plan = study.plan("p")
    assert len(plan) == 12
    assert plan == study.plan("p")
    assert plan != study.plan("q")
    at = [i for i, question in enumerate(plan) if question == CATCH.question]
    assert [i // 4 for i in at] == [0, 1, 2]
    assert len({q for q in plan if q is not None}) == 10
    assert Study(("p",), 5).plan("p") == [None] * 5
    unshuffled = Study(("p",), 3, questions=PAIRS, is_shuffled=False)
    assert tuple(unshuffled.plan("p")) == PAIRS[:3]


def test_links_stay_the_same_when_a_study_is_opened_again(tmp_path):
    first = keep_links(STUDY, tmp_path / "out" / "links.csv")
    again = keep_links(STUDY, tmp_path / "out" / "links.csv")
    assert first == again
    assert len({link.token for link in first}) == 2
    assert len({link.code for link in first}) == 2
    assert {link.code for link in keep_links(Study(("x",), 1, code="C"), tmp_path / "l")} == {"C"}


def test_what_is_asked_next_is_what_is_missing_not_what_comes_after_so_many():
    a, b, chosen = (Question("pair", rows) for rows in ((0, 1), (1, 2), (5, 6)))
    study = Study(("p",), 4, questions=(a, b), is_shuffled=False)
    assert study.plan("p") == [a, b, None, None]
    assert study.next_trial("p", []) == 0
    assert study.next_trial("p", [b]) == 0  # a was put away
    assert study.next_trial("p", [a, chosen]) == 1
    assert study.next_trial("p", [a, b, chosen]) == 3
    assert study.next_trial("p", [chosen, b, a, chosen]) == 4
    twice = Study(("p",), 2, questions=(a, a))
    assert [twice.next_trial("p", [a] * n) for n in range(3)] == [0, 1, 2]


def test_a_study_that_asks_the_same_twice_takes_both_answers(open_studio):
    question = Question("pair", (0, 1))
    study = Study(("p1",), 3, questions=(question, question, question))
    visitors = Visitors("the-token")
    visitors.bind("link-p1", "p1")
    settings = StudioSettings(study=study, codes={"p1": "DONE"}, learns=False)
    with open_studio(visitors=visitors, settings=settings, kinds=("pair",)) as browser:
        come_in(browser, "link-p1")
        while len(ask(browser)) < 2:
            pass
        for i in range(3):
            reply = answer_apart(browser, f"e{i}", ask(browser)[0])
            assert (reply["refused"], reply["study"]["done"]) == ([], i + 1)
            if i == 1:
                send(browser, {"id": "u", "kind": "undo"})
                reply = answer_apart(browser, "again", ask(browser)[0])
                assert (reply["refused"], reply["study"]["done"]) == ([], 2)
        assert reply["study"]["code"] == "DONE"


def answer_apart(browser, event_id, question):
    event = {"id": event_id, "kind": "answer", "question": question["id"], "choice": "apart"}
    return send(browser, event)


def test_chosen_trials_end_though_two_participants_take_turns(open_studio):
    study = Study(("p1", "p2"), 6, kinds=("pair",), questions=(Question("pair", (0, 1)),))
    visitors = Visitors("the-token")
    for name in study.participants:
        visitors.bind(f"link-{name}", name)
    settings = StudioSettings(study=study, learns=False)
    done = {"p1": 0, "p2": 0}
    for restart in range(2):
        with open_studio(visitors=visitors, settings=settings, kinds=("pair",)) as browser:
            for i in range(6 * restart, 6 * restart + 6):
                name = ("p1", "p2")[i % 2]
                come_in(browser, f"link-{name}")
                question = ask(browser)[0]
                right = "together" if Y[question["rows"][0]] == Y[question["rows"][1]] else "apart"
                event = {"id": f"e{i}", "kind": "answer", "question": question["id"]}
                reply = send(browser, {**event, "choice": right})
                done[name] += 1
                assert (reply["refused"], reply["study"]["done"]) == ([], done[name])
            for name in done:
                come_in(browser, f"link-{name}")
                assert (ask(browser) == []) == (done[name] == 6)


@pytest.fixture
def in_study(open_studio, tmp_path):
    visitors = Visitors("the-token")
    for name in STUDY.participants:
        visitors.bind(f"link-{name}", name)
    settings = StudioSettings(
        study=STUDY, codes={"p1": "DONE"}, learns=False, folder=tmp_path / "out"
    )
    with open_studio(visitors=visitors, settings=settings, kinds=("pair",)) as browser:
        yield browser


def come_in(browser, token):
    browser.cookies.clear()
    assert browser.get(f"/?token={token}", follow_redirects=False).status_code == 303


def test_a_participant_answers_all_trials_and_gets_the_code(in_study):
    come_in(in_study, "link-p1")
    start = in_study.get("/api/start").json()
    assert start["name"] == "p1"
    assert start["study"] == {
        "title": "Points",
        "instructions": "Compare.",
        "n_trials": 4,
        "done": 0,
        "code": None,
    }
    seen = []
    for i in range(4):
        question = ask(in_study)[0]
        seen.append(tuple(question["rows"]))
        event = {"id": f"e{i}", "kind": "answer", "question": question["id"]}
        reply = send(in_study, {**event, "choice": "apart", "seconds": 2})
        assert reply["study"]["done"] == i + 1
    assert reply["study"]["code"] == "DONE"
    assert ask(in_study) == []
    assert {(0, 1), (1, 2), (0, 3)} <= set(seen)


def test_a_name_of_a_participant_cannot_be_claimed_and_there_is_no_map(in_study):
    come_in(in_study, "link-p1")
    assert in_study.post("/api/name", json={"name": "p2"}).status_code == 400
    for path in ("map", "clusters", "doubts", "history", "row/0"):
        assert in_study.get(f"/api/{path}").status_code == 403
    assert in_study.get("/download/trials.csv").status_code == 403
    come_in(in_study, "the-token")
    assert in_study.post("/api/name", json={"name": "p1"}).status_code == 400
    assert in_study.get("/api/start").json()["study"] is None


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "merge", "rows": [0, 1], "groups": [[0], [1]]},
        {"kind": "pure", "rows": [0, 1]},
        {"kind": "name", "rows": [0], "name": "mine"},
    ],
)
def test_a_participant_can_do_nothing_but_answer(in_study, event):
    come_in(in_study, "link-p1")
    assert send(in_study, {"id": "x", **event})["saved"] == []
    come_in(in_study, "the-token")
    assert send(in_study, {"id": "x", **event})["saved"] == ["x"]


def test_a_participant_cannot_choose_the_kind_of_question(in_study):
    come_in(in_study, "link-p1")
    assert {question["kind"] for question in ask(in_study, kind="group")} == {"pair"}


def test_links_are_for_whoever_runs_the_study_alone(tmp_path):
    path = tmp_path / "links.csv"
    for _ in range(2):
        keep_links(STUDY, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_trials_are_exported_one_a_line_with_positions_and_times(in_study):
    come_in(in_study, "link-p2")
    for i in range(4):
        question = ask(in_study)[0]
        event = {"id": f"e{i}", "kind": "answer", "question": question["id"]}
        send(in_study, {**event, "choice": "together", "seconds": 2})
    come_in(in_study, "the-token")
    rows = list(csv.DictReader(io.StringIO(in_study.get("/download/trials.csv").text)))
    assert [row["trial"] for row in rows] == ["1", "2", "3", "4"]
    assert {row["participant"] for row in rows} == {"p2"}
    assert all(row["seconds"] == "2.0" and row["choice"] == "together" for row in rows)
    caught = next(row for row in rows if row["is_catch"] == "1")
    assert (caught["position_1"], caught["position_2"], caught["is_right"]) == ("0", "3", "1")
