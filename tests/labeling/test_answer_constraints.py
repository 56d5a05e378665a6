"""What answers say: the links, and that one look weighs one look."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.labeling import Event, Question, constraints_from
from likewise.labeling.answer_constraints import links_of
from likewise.labeling.decided_groups import pairs_that_hold

GROUP = Question("group", (9,), groups=((0, 1), (2,), (3,)), more=((4,),))


@pytest.mark.parametrize(
    ("question", "choice", "expected"),
    [
        (Question("pair", (0, 1)), "together", {("must_link", 0, 1): 1}),
        (Question("pair", (0, 1)), "apart", {("cannot_link", 0, 1): 1}),
        (Question("pair", (0, 1)), "cant_tell", {("undecided_pair", 0, 1): 0}),
        (Question("odd_one_out", (5, 6, 7)), 0, {("odd_one_out", 6, 7, 5): 1}),
        (Question("odd_one_out", (5, 6, 7)), "cant_tell", {("undecided", 5, 6, 7): 1}),
        (
            GROUP,
            1,
            {("must_link", 9, 2): 0.5, ("cannot_link", 9, 0): 0.25, ("cannot_link", 9, 3): 0.25},
        ),
        (GROUP, "new", {("cannot_link", 9, row): 1 / 3 for row in (0, 2, 3)}),
        (GROUP, "another", {("cannot_link", 9, row): 1 / 3 for row in (0, 2, 3)}),
        (GROUP, "nowhere", {("cannot_link", 9, row): 0 for row in (0, 2, 3)}),
        (GROUP, "cant_tell", {("undecided_pair", 9, row): 0 for row in (0, 2, 3)}),
        (Question("group", (9,), groups=((0,),)), 0, {("must_link", 9, 0): 1}),
        (
            Question("grid", (0, 1, 2, 3, 4)),
            (0, 2),
            {
                ("must_link", 0, 1): 0.25,
                ("must_link", 0, 3): 0.25,
                ("cannot_link", 0, 2): 0.25,
                ("cannot_link", 0, 4): 0.25,
            },
        ),
        (
            Question("review", (0, 1, 2)),
            "together",
            {("must_link", 0, 1): 0.5, ("must_link", 1, 2): 0.5},
        ),
        (Question("review", (0, 1)), "apart", {("cannot_link", 0, 1): 1}),
        (Question("review", (0, 1, 2)), "apart", {}),
        (Question("merge", (), groups=((0, 1), (2, 3))), "together", {("must_link", 0, 2): 1}),
        (
            Question("pure", (4, 5, 6)),
            "together",
            {("must_link", 4, 5): 0.5, ("must_link", 5, 6): 0.5},
        ),
        (
            Question("split", (), groups=((0, 1), (2, 3))),
            "apart",
            {("must_link", 0, 1): 1 / 3, ("must_link", 2, 3): 1 / 3, ("cannot_link", 0, 2): 1 / 3},
        ),
        (
            Question("move", (9,), groups=((0, 1), (2,))),
            0,
            {("must_link", 9, 0): 0.25, ("must_link", 9, 1): 0.25, ("cannot_link", 9, 2): 0.5},
        ),
    ],
)
def test_each_answer_says_what_it_says(question, choice, expected):
    links = {(link.kind, *link.points): link.weight for link in links_of(question, choice)}
    assert links.keys() == expected.keys()
    assert_allclose([links[key] for key in expected], list(expected.values()))


def test_the_row_that_stands_for_a_group_is_not_linked_to_itself():
    links = links_of(Question("group", (0,), groups=((0, 1), (2,))), 0)
    assert [(link.kind, link.points, link.weight) for link in links] == [
        ("must_link", (0, 1), 0.5),
        ("cannot_link", (0, 2), 0.5),
    ]
    alone = links_of(Question("group", (0,), groups=((0,), (2,))), 0)
    assert [(link.points, link.weight) for link in alone] == [((0, 2), 1.0)]


@given(st.data(), st.integers(1, 9), st.integers(0, 8))
def test_one_look_weighs_no_more_than_one(data, n_groups, n_more):
    group = Question(
        "group",
        (0,),
        groups=tuple((row,) for row in range(1, n_groups + 1)),
        more=tuple((50 + row,) for row in range(n_more)),
    )
    grid = Question("grid", tuple(range(n_groups + 1)))
    subsets = st.lists(st.integers(0, n_groups - 1), unique=True).map(tuple)
    for question, choices in ((group, st.sampled_from(group.offered)), (grid, subsets)):
        links = links_of(question, data.draw(choices))
        total = sum(link.weight for link in links)
        assert total == pytest.approx(1) or total == 0


def answered(name, question, choice, **more):
    return Event("answer", name, question, choice, **more)


def test_answers_keep_their_order_their_screen_and_who_gave_them():
    answers = constraints_from(
        [
            answered("e1", Question("pair", (0, 1)), "apart", annotator="ann", seconds=2.0),
            answered("e2", GROUP, 0, annotator="bob", at="2026-01-31T12:00:00"),
            answered("e3", Question("pair", (1, 2)), "together"),
        ],
        n_samples=10,
    )
    of_group = ["must_link", "must_link", "cannot_link", "cannot_link"]
    assert_array_equal(answers.kinds, ["cannot_link", *of_group, "must_link"])
    assert_array_equal(answers.screens, ["e1", *["e2"] * 4, "e3"])
    assert_array_equal(answers.annotators, ["ann", *["bob"] * 4, ""])
    assert_array_equal(answers.seconds, [2.0, *[np.nan] * 5])
    assert answers.answer(1).asked_at == np.datetime64("2026-01-31T12:00:00")
    assert len(set(answers.questions())) == 3


def test_what_was_taken_back_does_not_count():
    events = [
        answered("e1", Question("pair", (0, 1)), "apart"),
        answered("e2", Question("pair", (1, 2)), "apart"),
        Event("undo", "e3", undoes="e1"),
        Event("skip", "e4", Question("pair", (3, 4))),
        Event("shown", "e5", Question("pair", (3, 4))),
    ]
    assert_array_equal(constraints_from(events, 5).cannot_link, [(1, 2)])


def test_no_events_are_no_constraints():
    assert constraints_from([], 4, ids=list("abcd")).n_answers == 0


def test_the_pairs_alone_are_those_of_all_constraints():
    events = [
        answered("e1", Question("pair", (0, 1)), "apart"),
        answered("e2", Question("odd_one_out", (0, 1, 2)), 1),
        answered("e3", GROUP, 0),
        answered("e4", GROUP, "nowhere"),
        Event("undo", "e5", undoes="e1"),
    ]
    answers, pairs = constraints_from(events, 10), pairs_that_hold(events, 10)
    assert_array_equal(answers.must_link, pairs.must_link)
    assert_array_equal(pairs.must_link, [(9, 0), (9, 1)])  # with the other row of the group
    assert_array_equal(pairs.cannot_link, answers.cannot_link)
    cannot_links = answers.positions("cannot_link")
    assert_array_equal(pairs.weights, [0.25, 0.25, *answers.weights[cannot_links]])
    assert pairs_that_hold([], 3) == constraints_from([], 3)
