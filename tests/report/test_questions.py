"""Questions about rows that lie between clusters."""

import numpy as np

from likewise.constraints import Constraints
from likewise.report.questions import border_questions
from likewise.report.view import look
from tests.report.made import made_model

Z = np.array([[0.0], [0.0], [1.0], [4.0], [9.0], [10.0], [10.0], [11.0]])
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def ask(constraints=None, n_questions=9, labels=LABELS):
    model = made_model(Z, labels)
    return border_questions(look(model, Z), model.cluster_centers_, constraints, n_questions)


def test_the_row_nearest_to_another_cluster_is_asked_beside_a_typical_row_of_it():
    (question,) = ask()
    assert question.rows == (3, 5)  # row 3 lies at 4, between the centers 1.25 and 10
    assert "in cluster 0, nearly in 1" in question.why


def test_what_the_answers_settle_is_not_asked():
    settled = Constraints(8, must_link=[(0, 3)], cannot_link=[(0, 6), (6, 4)])
    assert ask(settled)[0].rows == (3, 5)  # 3 and 5 are in no common answer
    settled = Constraints(8, must_link=[(5, 6)], cannot_link=[(3, 6)])
    assert ask(settled)[0].rows != (3, 5)  # now they follow from two


def test_one_cluster_leaves_nothing_to_ask():
    assert ask(labels=np.zeros(8, dtype=int)) == []


def test_each_border_is_asked_about_once_and_no_more_than_wanted():
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    questions = ask(labels=labels)
    borders = [frozenset(labels[list(question.rows)]) for question in questions]
    assert len(set(borders)) == len(borders)
    assert all(len(border) == 2 for border in borders)
    assert ask(labels=labels, n_questions=1) == questions[:1]
