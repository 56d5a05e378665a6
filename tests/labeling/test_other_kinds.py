"""Questions of every kind, from zero answers on."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise.labeling import LabelingSession, LabelOracle, Question, ask
from likewise.labeling.other_kinds import review_worst

X, Y = make_blobs(60, centers=9 * np.eye(4), random_state=0)


@pytest.mark.parametrize("kind", ["group", "pair", "odd_one_out", "grid"])
def test_only_questions_of_the_kind_are_asked_each_once(kind):
    done = ask(X, LabelOracle(Y), budget=15, kinds=(kind,), repeat_share=0)
    asked = [event.question for event in done.events if event.kind == "answer"]
    assert {question.kind for question in asked} == {kind}
    assert len({question.keys for question in asked}) == len(asked) > 10


def test_grids_find_the_groups():
    done = ask(X, LabelOracle(Y), budget=20, kinds=("grid",))
    assert adjusted_rand_score(Y, done.labels) > 0.95
    assert all(len(event.question.shown) <= 9 for event in done.events if event.question)


def test_triples_ask_about_new_rows_until_none_are_left():
    done = ask(X, LabelOracle(Y), budget=100, kinds=("odd_one_out",), repeat_share=0)
    shown = {row for event in done.events for row in event.question.rows}
    assert len(shown) > 50
    assert done.next_question() is None
    assert done.constraints.odd_one_out.shape[0] > 10


def test_triples_beside_groups_show_a_row_and_its_two_likeliest_groups():
    done = ask(X, LabelOracle(Y), budget=40, kinds=("group", "odd_one_out"), repeat_share=0)
    triples = [e.question.rows for e in done.events if e.question.kind == "odd_one_out"]
    assert len(triples) > 5
    later = [rows for rows in triples[3:] if len(set(Y[list(rows)])) == 2]
    assert len(later) > len(triples[3:]) / 2  # one of the two groups is that of the row


def test_reviews_ask_about_the_answer_that_others_contradict():
    done = ask(X, LabelOracle(Y), budget=25, repeat_share=0)
    assert review_worst(done.knowledge) is None
    wrong, right = (int(np.flatnonzero(g == Y)[0]) for g in (0, 1))
    known = done.knowledge.groups
    target = next(row for row in np.flatnonzero(known >= 0) if Y[row] == Y[right] and row != right)
    row = next(row for row in np.flatnonzero(known < 0) if Y[row] == Y[wrong])
    done.answer(Question("group", (int(row),), groups=((int(target),),)), 0)
    question = review_worst(done.knowledge)
    assert row in question.rows
    reviewing = LabelingSession(X, kinds=("review",))
    assert reviewing.next_question() is None


def test_a_review_that_is_denied_takes_the_row_out_of_its_group():
    started = ask(X, LabelOracle(Y), budget=15, repeat_share=0)
    row = int(np.flatnonzero(started.knowledge.groups < 0)[0])
    other = next(r for r in started.knowledge.known_rows if Y[r] != Y[row])
    started.answer(Question("group", (row,), groups=((int(other),), (int(r0(started, other)),))), 0)
    assert started.knowledge.groups[row] == started.knowledge.groups[other]
    question = review_worst(started.knowledge)
    started.answer(question, LabelOracle(Y)(question))
    assert started.knowledge.groups[row] != started.knowledge.groups[other]


def r0(session, other):
    """A known row of another group."""
    groups = session.knowledge.groups
    return next(r for r in session.knowledge.known_rows if groups[r] != groups[other])
