"""Answering in a real browser: every answer arrives, once, and nothing else."""

import json
import time

import numpy as np
from numpy.testing import assert_array_equal

from likewise.labeling import LabelingSession, LabelOracle, ask
from likewise.studio import RowGallery, StudioSettings
from tests.studio.browser.at_the_page import Person

PATIENCE = 480  # looks at a page, four a second: the machine may be busy
LOST = ("Failed to load resource",)
PLACES = """async () => {
  const bytes = new Uint8Array(await (await fetch('/api/map')).arrayBuffer());
  return [...bytes];
}"""


def labels_on_the_map(page):
    """(n,) the label of every row, as the page gets it."""
    content = bytes(page.evaluate(PLACES))
    length = int(np.frombuffer(content[:4], "<u4")[0])
    header = json.loads(content[4 : 4 + length].rstrip(b"\0 "))
    start, n = 4 + -(-length // 4) * 4, header["n_shown"]
    rows = np.frombuffer(content, "<u4", n, start + 8 * n)
    labels = np.frombuffer(content, "u1", n, start + 12 * n)
    assert_array_equal(np.sort(rows), np.arange(n))
    return labels[np.argsort(rows)]


def as_partition(labels):
    """Labels numbered in order of their first row."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def test_digits_are_labeled_by_keyboard_alone_as_the_session_would(visit, digit_studio, digits):
    X, y = digits
    place = digit_studio(learns=True, random_state=3)
    ann = visit(place.link, y=y).enter()
    answered = ann.answer(24)
    ann.wait_saved()
    assert ann.page.locator(".notice").count() == 0  # nothing was refused
    assert len({question["id"] for question in answered}) == 24
    assert [event.annotator for event in place.events("answer")] == ["ann"] * 24
    expected = LabelingSession(X, log=place.path, random_state=3)
    assert expected.progress.n_questions == 24
    assert expected.progress.n_groups >= 8
    same = as_partition(expected.labels)
    place.wait_learned()
    ann.go("Map")
    ann.page.wait_for_selector(".legend li")
    for _ in range(PATIENCE):  # the learner follows the answers
        if np.array_equal(as_partition(labels_on_the_map(ann.page)), same):
            break
        ann.page.wait_for_timeout(250)
    assert_array_equal(as_partition(labels_on_the_map(ann.page)), same)
    ann.page.wait_for_function(
        "n => document.querySelectorAll('.legend li').length === n", arg=int(same.max()) + 1
    )
    sizes = [int(words) for words in ann.page.locator(".legend .soft").all_inner_texts()]
    assert sorted(sizes) == sorted(np.bincount(same).tolist())


ANSWER_ALL = """async lists => {
  const stream = (await import('/static/stream.js')).createStream();
  const answered = [];
  const answer = waits => {
    answered.push(stream.current.id);
    stream.finish('an event', { waits });
  };
  lists.forEach((questions, i) => {
    stream.take(questions, { isAsked: true, turn: i });
    if (i < lists.length - 1) answer(i === 0);
  });
  while (stream.current) answer(false);
  return answered;
}"""


def test_a_question_with_a_group_more_is_asked_once(visit, digit_studio):
    ann = visit(digit_studio().link).enter()
    first, second = {"id": "a", "replaces": []}, {"id": "b", "replaces": []}
    wider, third = {"id": "b2", "replaces": ["b"]}, {"id": "c", "replaces": []}
    only_wider = [[first, second], [wider], [wider, third]]  # the list after "a new group" is short
    assert ann.page.evaluate(ANSWER_ALL, only_wider) == ["a", "b2", "c"]
    crossed = [[first, second], [wider], [second, third]]  # a list from before the answer
    assert ann.page.evaluate(ANSWER_ALL, crossed) == ["a", "b2", "c"]


def test_the_next_question_is_there_before_the_answer_is_saved(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.answer(2)
    ann.wait_saved()
    ann.wait_ahead()
    held = []
    ann.page.route("**/api/events", lambda route: held.append(route))  # noqa: PLW0108
    answered = ann.question()["id"]
    ann.press("c")
    ann.wait_past(answered)  # although the server has not heard of the answer
    assert ann.question()["id"] != answered
    assert ann.page.locator(".saved").text_content() == "Saving…"
    assert len(place.events("answer")) == 2
    for route in held:
        route.continue_()
    ann.page.unroute("**/api/events")
    ann.wait_saved()
    assert len(place.events("answer")) == 3


def test_answers_given_offline_arrive_once(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.page.allowed = LOST
    ann.answer(1)
    ann.wait_saved()
    ann.wait_ahead()
    ann.page.context.set_offline(True)
    question = ann.question()
    ann.press("c")
    ann.page.wait_for_selector(".saved.unsent")
    assert ann.page.locator(".saved").text_content() == "1 answer not sent yet"
    alert = ann.page.get_by_role("alert").filter(has_text="The studio cannot be reached.")
    alert.wait_for()
    assert len(place.events("answer")) == 1
    ann.page.context.set_offline(False)
    ann.wait_saved()
    alert.wait_for(state="detached")
    answers = place.events("answer")
    assert len(answers) == 2
    assert answers[-1].question.rows[0] == question["rows"][0]


def test_an_answer_whose_receipt_is_lost_counts_once(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.page.allowed = LOST
    lost = []

    def lose(route):
        lost.append(route.fetch())  # the server saves it; the page never hears
        route.abort()

    ann.page.route("**/api/events", lose, times=1)
    question = ann.question()
    ann.press(*ann.right_keys(question))
    ann.page.wait_for_selector(".saved.unsent")
    ann.wait_saved()
    assert len(lost) == 1
    assert len(place.events("answer")) == 1


def test_answers_left_in_the_browser_are_sent_by_the_next_page(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.page.allowed = LOST
    ann.wait_ahead()
    place.stop()
    ann.press("c")
    ann.page.wait_for_selector(".saved.unsent")
    context = ann.page.context
    ann.page.close()
    place.start()
    assert place.events("answer") == []
    again = visit(place.link.partition("?")[0], context=context)
    again.page.wait_for_selector(".question")
    again.wait_saved()
    assert len(place.events("answer")) == 1


def test_a_studio_that_stops_and_comes_back_has_every_answer(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.page.allowed = LOST
    ann.answer(2)
    ann.wait_saved()
    ann.wait_ahead()
    place.stop()
    ann.press("c")
    ann.page.wait_for_selector(".saved.unsent")
    place.start()
    ann.wait_saved()
    assert len(place.events("answer")) == 3
    ann.answer(1)
    ann.wait_saved()
    assert len(place.events("answer")) == 4


def test_undo_brings_the_question_back_as_often_as_wanted(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    first, second = ann.answer(2)
    ann.press("u")
    ann.page.wait_for_selector(f"[data-question='{second['id']}']")
    ann.press("u")
    ann.page.wait_for_function(
        "row => document.querySelector('.subject [data-row]')?.dataset.row == row",
        arg=first["rows"][0],
    )
    ann.wait_saved()
    answers, undone = place.events("answer"), place.events("undo")
    assert [event.undoes for event in undone] == [event.id for event in reversed(answers)]
    ann.press("c")
    ann.wait_saved()
    assert [event.choice for event in place.events("answer")][2:] == ["cant_tell"]


def test_a_skipped_question_comes_back_by_undo_and_can_be_answered(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    question = ann.question()
    ann.press("s")
    ann.wait_past(question["id"])
    ann.press("u")
    ann.page.wait_for_selector(f"[data-question='{question['id']}']")
    ann.press("n")
    ann.wait_saved()
    assert [event.kind for event in place.events("answer", "skip", "undo")] == ["skip", "answer"]
    assert list(place.events("answer")[0].question.rows) == question["rows"]


def test_each_kind_of_question_has_its_keys(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    ann.answer(6)
    for kind in ("pair", "odd_one_out", "grid"):
        ann.press("k")
        ann.page.locator("select.kind").select_option(kind)
        ann.page.wait_for_selector(f".question.{kind}")
        ann.page.locator(".prompt").focus()
        question = ann.question()
        keys = ann.right_keys(question)
        ann.press(*keys)
        ann.wait_past(question["id"])
        ann.wait_saved()
        event = place.events("answer")[-1]
        assert event.question.kind == kind
        right = {"y": "together", "n": "apart", "c": "cant_tell"}
        if kind == "grid":
            assert list(event.choice) == [int(key) - 1 for key in keys[:-1]]
        else:
            assert event.choice == (right[keys[0]] if keys[0] in right else int(keys[0]) - 1)
        assert event.seconds > 0


def full_reply(route):
    """The reply that has the next question but one too: whatever is sent twice counts once."""
    reply = route.fetch()
    while len(reply.json()["questions"]) < 2:
        time.sleep(0.05)
        reply = route.fetch()
    return reply


class Held:
    """Requests of a page that the test lets go on when it wants; sent=True: their replies."""

    def __init__(self, page, path, *, sent=False):
        self.page, self.waiting, self.is_over = page, [], False

        def hold(route):
            if self.is_over:
                route.continue_()
            else:
                self.waiting.append((route, full_reply(route) if sent else None))

        page.route(path, hold)

    def wait(self):
        for _ in range(PATIENCE):
            if self.waiting:
                return
            self.page.wait_for_timeout(50)
        raise TimeoutError("nothing was sent")

    def let_go(self):
        self.is_over = True
        for route, reply in self.waiting:
            route.continue_() if reply is None else route.fulfill(response=reply)


def test_another_kind_is_not_overtaken_by_the_reply_to_an_answer(visit, digit_studio, digits):
    ann = visit(digit_studio().link, y=digits[1]).enter()
    ann.answer(2)
    ann.wait_ahead()
    reply = Held(ann.page, "**/api/events", sent=True)
    ann.answer(1)
    reply.wait()  # with questions of the kind before
    question = Held(ann.page, "**/api/question*")
    ann.page.locator("select.kind").select_option("pair")
    reply.let_go()
    ann.wait_saved()
    question.let_go()
    ann.page.wait_for_selector(".question.pair:not([inert])")


def test_undo_in_a_new_page_is_not_overtaken_by_its_first_questions(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter()
    (answered,) = ann.answer(1)
    ann.wait_saved()
    question = Held(ann.page, "**/api/question*", sent=True)
    undo = Held(ann.page, "**/api/events")
    ann.page.reload()
    question.wait()  # with what comes after the answer
    ann.press("u")
    undo.wait()
    question.let_go()
    ann.page.wait_for_timeout(50)
    undo.let_go()
    assert ann.question()["rows"][0] == answered["rows"][0]
    assert [event.kind for event in place.events("answer", "undo")] == ["answer", "undo"]


def test_further_groups_are_shown_next_though_an_earlier_reply_is_late(visit, served, tmp_path):
    X = 9.0 * np.eye(12).repeat(3, axis=0)
    gallery = RowGallery("Points", "table", 36, columns={"x": X[:, 0]})
    path = tmp_path / "answers-0.log"
    ask(X, LabelOracle(np.arange(36)), budget=12, log=path).close()  # everything is a group
    place = served(X, gallery, settings=StudioSettings(learns=False))
    page = visit(place.link).page
    ann = Person(page)
    ann.wait_ahead()
    reply = Held(page, "**/api/events", sent=True)
    skipped = ann.question()
    ann.press("s")
    reply.wait()
    ann.wait_past(skipped["id"])
    asked = ann.question()
    ann.press("a")
    reply.let_go()  # with questions from before
    ann.wait_past(asked["id"])
    further = ann.question()
    assert further["rows"] == asked["rows"]
    assert not set(map(tuple, further["choices"])) & set(map(tuple, asked["choices"]))
    ann.wait_saved()
    assert place.events("answer")[-1].choice == "another"


def test_two_people_answer_at_once_and_keep_their_own_questions(visit, digit_studio, digits):
    place = digit_studio()
    ann = visit(place.link, y=digits[1]).enter("ann")
    bob = visit(place.link, y=digits[1]).enter("bob")
    seen = {"ann": [], "bob": []}
    for _ in range(5):
        for name, person in (("ann", ann), ("bob", bob)):
            seen[name].append(person.answer(1)[0]["rows"][0])
    ann.wait_saved()
    bob.wait_saved()
    by = {name: [e for e in place.events("answer") if e.annotator == name] for name in seen}
    assert {name: [event.question.rows[0] for event in by[name]] for name in seen} == seen
    assert not set(seen["ann"][1:]) & set(seen["bob"][1:])
    ann.page.wait_for_function("() => document.querySelector('.numbers dd').textContent === '10'")


def test_a_key_held_down_is_one_answer(visit, digit_studio):
    place = digit_studio()
    ann = visit(place.link).enter()
    question = ann.question()
    ann.page.keyboard.down("n")
    ann.wait_past(question["id"])
    ann.page.keyboard.down("n")  # repeats, as a key does that is held
    ann.page.keyboard.up("n")
    ann.wait_saved()
    assert len(place.events("answer")) == 1
