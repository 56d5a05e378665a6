"""Questions: their answers, their JSON, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.labeling import Question
from likewise.labeling.questions import ACTIONS, KINDS, check_question

ROWS = st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True).map(tuple)
QUESTIONS = st.builds(
    Question,
    st.sampled_from([*KINDS, *ACTIONS]),
    ROWS,
    groups=st.lists(ROWS, max_size=3).map(tuple),
    more=st.lists(ROWS, max_size=3).map(tuple),
    is_random=st.booleans(),
    is_repeat=st.booleans(),
    why=st.text(max_size=5),
)


@given(QUESTIONS)
def test_a_question_is_the_same_after_json(question):
    assert Question.from_json(json.loads(json.dumps(question.to_json()))) == question


@given(QUESTIONS)
def test_renaming_rows_and_back_changes_nothing(question):
    names = np.random.default_rng(0).permutation(51)
    assert question.at(names).at(np.argsort(names)) == question
    assert question.at(names).shown == tuple(names[list(question.shown)])


def test_what_was_asked_is_named_by_sorted_rows_and_of_a_grid_by_pairs():
    assert Question("pair", (5, 2)).keys == ((2, 5),)
    assert Question("group", (5,), groups=((1,), (2,))).keys == ((5,),)
    assert Question("grid", (5, 2, 9)).keys == ((2, 5), (5, 9))


def test_another_group_is_offered_where_there_are_more():
    question = Question("group", (0,), groups=((1,), (2,)))
    assert question.offered == (0, 1, "new", "nowhere", "cant_tell")
    more = Question("group", (0,), groups=((1,), (2,)), more=((3,),))
    assert more.offered == (0, 1, "another", "new", "nowhere", "cant_tell")


@pytest.mark.parametrize(
    ("question", "choice", "kept"),
    [
        (Question("pair", (0, 1)), "together", "together"),
        (Question("odd_one_out", (0, 1, 2)), np.int64(2), 2),
        (Question("grid", (0, 1, 2)), [1, 0, 1], (0, 1)),
        (Question("grid", (0, 1, 2)), (), ()),
        (Question("grid", (0, 1, 2)), "cant_tell", "cant_tell"),
        (Question("merge", (), groups=((0,), (1,))), "together", "together"),
    ],
)
def test_an_offered_choice_is_kept_in_plain_form(question, choice, kept):
    assert question.check_choice(choice) == kept


@pytest.mark.parametrize(
    ("question", "choice"),
    [
        (Question("pair", (0, 1)), "new"),
        (Question("pair", (0, 1)), 0),
        (Question("odd_one_out", (0, 1, 2)), 3),
        (Question("odd_one_out", (0, 1, 2)), True),
        (Question("group", (0,), groups=((1,),)), "another"),
        (Question("grid", (0, 1, 2)), (2,)),
        (Question("pair", (0, 1)), None),
    ],
)
def test_a_choice_that_is_not_offered_is_refused_with_those_that_are(question, choice):
    with pytest.raises(ValueError, match=f"no answer to a question of the kind {question.kind}"):
        question.check_choice(choice)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Question("guess", (0, 1)), "kind='guess' of a question is unknown"),
        (Question("pair", (0, 1, 2)), "is about 2 rows, not (0, 1, 2)"),
        (Question("grid", (0,)), "is about 2 rows or more"),
        (Question("group", (0,)), "shows groups of one row or more"),
        (Question("pair", (1, 1)), "asks about a row twice"),
        (Question("pair", (1, 9)), "Row 9 of a question points outside X, which has 9 rows"),
        (Question("group", (0,), groups=((1,),), more=((-1,),)), "Row -1 of a question"),
    ],
)
def test_a_malformed_question_is_one_error(question, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        check_question(question, n_rows=9)
    assert words in str(caught.value)
