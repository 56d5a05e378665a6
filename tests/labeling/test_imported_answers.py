"""Answers that were exported and read again say what they said in the session."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from likewise.constraints import Constraints
from likewise.labeling import Event, LabelingSession, LabelOracle, Question, constraints_from
from likewise.labeling.imported_answers import events_from

SHOWN = ((1, 2, 3), (4,), (5, 6))


@pytest.mark.parametrize("choice", [0, 1, 2, "new", "nowhere", "cant_tell"])
def test_a_group_answer_is_known_by_its_links(choice):
    asked = Event("answer", "e1", Question("group", (9,), SHOWN), choice, annotator="ann")
    [event] = events_from(constraints_from([asked], 10))
    assert (event.id, event.annotator, event.question.kind) == ("e1", "ann", "group")
    assert event.question.rows == (9,)
    assert constraints_from([event], 10) == constraints_from([asked], 10)
    if isinstance(choice, int):
        assert event.question.groups[event.choice] == SHOWN[choice]
    else:
        assert event.choice == choice


@pytest.mark.parametrize(
    ("question", "choice"),
    [
        (Question("pair", (0, 1)), "apart"),
        (Question("pair", (0, 1)), "cant_tell"),
        (Question("grid", (0, 1, 2, 3)), (0, 1)),
        (Question("review", (0, 1, 2)), "together"),
        (Question("odd_one_out", (0, 1, 2)), 1),
    ],
)
def test_other_answers_stay_links(question, choice):
    asked = constraints_from([Event("answer", "e1", question, choice)], 10)
    [event] = events_from(asked)
    assert event.question.kind == "imported"
    assert constraints_from([event], 10) == asked


def test_the_first_answer_of_a_session_is_one_about_a_group():
    first = Event("answer", "e1", Question("group", (2,), ((0,),)), "new")
    second = Event("answer", "e2", Question("group", (3,), ((0,), (2,))), 1)
    pair = Event("answer", "e3", Question("pair", (4, 5)), "together")
    read = events_from(constraints_from([first, second, pair], 10))
    assert [event.question.kind for event in read] == ["group", "group", "imported"]
    assert [event.choice for event in read[:2]] == ["new", 0]
    assert events_from(constraints_from([pair], 10))[0].question.kind == "imported"


def test_a_second_screen_is_not_a_second_opinion():
    first = Event("answer", "e1", Question("group", (9,), ((0,), (1,)), more=((2,),)), "another")
    second = Event("answer", "e2", Question("group", (9,), ((2,), (3,))), 0)
    assert [e.choice for e in events_from(constraints_from([first, second], 10))] == ["another", 0]
    again = Event("answer", "e3", Question("group", (9,), ((1,), (0,))), "new")
    assert [e.choice for e in events_from(constraints_from([again, first], 10))] == ["new", "new"]


@pytest.mark.parametrize("draw", range(2))
def test_a_hasty_session_has_the_same_labels_after_its_file_is_read(draw, tmp_path):
    X, y = make_blobs(120, 4, centers=9, cluster_std=1.5, random_state=draw)
    session = LabelingSession(X, random_state=draw)
    oracle = LabelOracle(y, wrong=0.2, cant_tell=0.1, random_state=draw)
    for _ in range(45):
        question = session.next_question()
        session.answer(question, oracle(question))
    session.constraints.write(tmp_path / "answers.csv")
    other = LabelingSession(X, random_state=draw)
    n_screens = len(set(Constraints.read(tmp_path / "answers.csv", n_samples=120).screens))
    assert other.add_answers(tmp_path / "answers.csv") == n_screens
    assert_array_equal(other.labels, session.labels)
    assert_array_equal(other.knowledge.groups, session.knowledge.groups)
    assert np.isclose(other.progress.placed.mean, session.progress.placed.mean)
