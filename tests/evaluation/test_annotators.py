"""Who agrees with whom, and which camps people form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise.constraints import Constraints
from likewise.evaluation import people_agreement


def asked_of_all(classes_by_person, n=40, wrong=0.0, seed=0, kind="pair"):
    """The same questions put to everybody, each answering by classes of their own."""
    rng = np.random.default_rng(seed)
    n_rows = len(next(iter(classes_by_person.values())))
    answers = Constraints(n_rows)
    for _ in range(n):
        rows = rng.choice(n_rows, 2 if kind == "pair" else 3, replace=False)
        for name, y in classes_by_person.items():
            shown = rng.permutation(rows)
            if kind == "pair":
                together = (y[shown[0]] == y[shown[1]]) != (rng.random() < wrong)
                said = {"must_link" if together else "cannot_link": [tuple(shown)]}
            else:
                odd = min(rows, key=lambda row: (np.sum(y[rows] == y[row]), row))
                odd = rng.choice(rows) if rng.random() < wrong else odd
                said = {"odd_one_out": [(*(row for row in shown if row != odd), odd)]}
            answers += Constraints(n_rows, **said, annotators=[name])
    return answers


FIRST = np.arange(12) % 3
SECOND = np.arange(12) // 4


def test_agreement_by_hand():
    answers = Constraints(
        6,
        must_link=[(0, 1), (1, 0)],
        cannot_link=[(2, 3)],
        odd_one_out=[(0, 1, 5), (5, 0, 1)],
        annotators=["ann", "bob", "ann", "ann", "bob"],
    )
    found = people_agreement(answers)
    assert found.n_questions[0, 1] == 2
    assert found.agreed[0, 1] == found.agreed[1, 0] == 0.5
    assert np.isnan(found.agreed[0, 0])


def test_somebody_asked_twice_agrees_with_themselves_or_not():
    answers = Constraints(3, must_link=[(0, 1), (1, 0)], annotators=["ann", "ann"])
    assert people_agreement(answers).agreed[0, 0] == 1


@pytest.mark.parametrize("kind", ["pair", "triple"])
def test_two_camps_are_found_and_named(kind):
    classes = {"a": FIRST, "b": FIRST, "c": FIRST, "d": SECOND, "e": SECOND}
    found = people_agreement(asked_of_all(classes, kind=kind, wrong=0.05))
    assert_array_equal(found.camps, [0, 0, 0, 1, 1])
    assert found.chance <= 0.05


@pytest.mark.parametrize("draw", range(6))
def test_people_who_err_at_random_form_no_camps(draw):
    classes = dict.fromkeys("abcdef", FIRST)
    found = people_agreement(asked_of_all(classes, wrong=0.15, seed=draw))
    assert_array_equal(found.camps, 0)


def test_order_of_answers_does_not_matter():
    answers = asked_of_all({"a": FIRST, "b": SECOND})
    shuffled = answers.subset(np.random.default_rng(0).permutation(answers.n_answers))
    assert_allclose(people_agreement(answers).agreed, people_agreement(shuffled).agreed)


def test_who_shares_no_question_is_in_no_camp():
    answers = asked_of_all({"a": FIRST, "b": FIRST})
    answers += Constraints(12, must_link=[(0, 3)], annotators=["z"])
    assert people_agreement(answers).camps[-1] == -1


def test_answers_without_names_are_refused():
    with pytest.raises(ValueError, match="name nobody"):
        people_agreement(Constraints(3, must_link=[(0, 1)]))
