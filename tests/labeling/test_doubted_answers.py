"""Doubted answers: the wrong ones are found, with what to say instead."""

import numpy as np
from sklearn.datasets import make_blobs

from likewise.labeling import LabelingSession, LabelOracle, Question, ask, doubted_answers
from likewise.labeling.answer_constraints import Link
from likewise.labeling.doubted_answers import chance_of, likeliest_choice

X, Y = make_blobs(80, centers=9 * np.eye(3), random_state=1)
SHARES = np.array([[0.9, 0.1], [0.8, 0.2], [0.0, 1.0]])
POSITION = np.array([0, 1, 2, -1])


def doubts_of(session):
    return doubted_answers(session.events, session.knowledge, session.position)


def test_the_chance_of_an_answer_is_that_of_its_least_likely_link_by_hand():
    links = [Link("must_link", (0, 1), 1.0), Link("cannot_link", (0, 2), 1.0)]
    assert np.isclose(chance_of(links[:1], SHARES, POSITION), 0.9 * 0.8 + 0.1 * 0.2)
    assert np.isclose(chance_of(links, SHARES, POSITION), 0.74)
    assert np.isclose(chance_of([Link("must_link", (0, 2), 1.0)], SHARES, POSITION), 0.1)
    assert chance_of([Link("must_link", (0, 3), 1.0)], SHARES, POSITION) == 1
    assert chance_of([Link("cannot_link", (0, 1), 0.0)], SHARES, POSITION) == 1


def test_the_likeliest_other_choice_by_hand():
    group = Question("group", (0,), ((2,), (1,)))
    assert likeliest_choice(group, 0, SHARES, POSITION) == 1
    assert likeliest_choice(group, 1, SHARES, POSITION) == "new"
    assert likeliest_choice(Question("pair", (0, 1)), "apart", SHARES, POSITION) == "together"
    assert likeliest_choice(Question("odd_one_out", (0, 1, 2)), 0, SHARES, POSITION) is None


def session_with_a_wrong_answer():
    session = ask(X, LabelOracle(Y), budget=20)
    assert doubts_of(session) == []
    representative = [int(np.flatnonzero(label == Y)[0]) for label in range(3)]
    known = {row for event in session.events for row in event.question.all_rows}
    row = next(r for r in np.flatnonzero(Y == 0) if r not in known)
    question = Question("group", (int(row),), tuple((r,) for r in representative))
    session.answer(question, 2, event_id="wrong")
    return session


def test_right_answers_are_not_doubted_and_a_wrong_one_is():
    doubted = doubts_of(session_with_a_wrong_answer())
    assert doubted[0].event.id == "wrong"
    assert all(answer.chance > doubted[0].chance for answer in doubted[1:])  # rows beside it
    assert doubted[0].flipped == 0
    assert doubted[0].chance < 0.25


def test_an_answer_that_was_kept_is_no_longer_listed_and_a_flipped_one_is_gone():
    session = session_with_a_wrong_answer()
    session.look_again("keep", "wrong", event_id="k")
    assert "wrong" not in [answer.event.id for answer in doubts_of(session)]
    session.undo()
    assert "wrong" in [answer.event.id for answer in doubts_of(session)]
    session.look_again("flip", "wrong", 0, event_id="f")
    assert doubts_of(session) == []
    assert "wrong" not in session.constraints.screens
    assert "f" in session.constraints.screens


def test_before_there_are_groups_nothing_is_doubted():
    assert doubts_of(LabelingSession(X)) == []
