"""Questions about rows that lie between clusters."""

import numpy as np

from likewise.constraints import Constraints
from likewise.report.shown_questions import border_questions
from likewise.report.view import look
from tests.report.made import made_model

Z = np.array([[0.0], [0.0], [1.0], [4.0], [9.0], [10.0], [10.0], [11.0]])
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def ask(constraints=None, n_questions=9, labels=LABELS):
    model = made_model(Z, labels)
    return border_questions(look(model, Z), constraints, n_questions)


def test_the_row_nearest_to_another_cluster_is_asked_about_first():
    question = ask()[0]
    assert question.rows == (3, 2)  # row 3 lies at 4, between the centers 1.25 and 10
    assert "between groups" in question.why


def test_what_the_answers_settle_is_not_asked():
    settled = Constraints(8, must_link=[(2, 3), (0, 2)])
    assert all(3 not in question.rows[:1] for question in ask(settled))
    settled = Constraints(8, cannot_link=[(3, 2)])
    first, second = ask(settled)[0].rows
    assert first == 3  # asked about again, beside a row of the other cluster
    assert LABELS[second] == 1


def test_one_cluster_leaves_nothing_to_ask():
    assert ask(labels=np.zeros(8, dtype=int)) == []


def test_no_more_is_asked_than_wanted_and_nothing_twice():
    questions = ask(labels=np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    keys = {frozenset(question.rows) for question in questions}
    assert len(keys) == len(questions) <= 9
    assert len(ask(n_questions=1)) == 1
