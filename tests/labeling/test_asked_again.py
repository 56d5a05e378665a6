"""Looks at the same row: what they come to when people change their minds."""

import numpy as np
from numpy.testing import assert_array_equal

from likewise.labeling import Event, Question
from likewise.labeling.asked_again import settle_looks, vote
from likewise.labeling.decided_groups import pairs_that_hold
from likewise.labeling.knowledge import join_components

A, B = (0, 1), (2, 3)  # rows of two groups


def say(event_id, row, groups, choice):
    return Event("answer", event_id, Question("group", (row,), groups), choice)


def two_groups():
    """Rows 0, 1 and 2, 3."""
    return [
        say("a", 1, ((0,),), 0),
        say("b", 2, (A,), "new"),
        say("c", 3, (A, (2,)), 1),
    ]


def groups_of(events, n_samples=10):
    looks = settle_looks(events, n_samples)
    return looks, join_components(pairs_that_hold(looks.events, n_samples))[0]


def test_the_vote_by_hand():
    assert vote([1, 2, 2], prefers_new=False) == 2
    assert vote([1, 2], prefers_new=True) is None
    assert vote(["new", 1], prefers_new=False) == 1
    assert vote(["new", 1], prefers_new=True) == "new"
    assert vote(["new", 1, 1], prefers_new=True) == 1


def test_a_row_that_was_put_into_two_groups_does_not_make_them_one():
    events = [*two_groups(), say("d", 4, (A, B), 0), say("e", 4, (A, B), 1)]
    looks, groups = groups_of(events)
    assert groups[0] != groups[2]
    assert groups[4] < 0
    assert looks.left_open == {4}
    assert (looks.n_again, looks.n_changed) == (1, 1)


def test_two_looks_outvote_one():
    events = [
        *two_groups(),
        *(say(f"d{i}", 4, (A, B), choice) for i, choice in enumerate((0, 1, 1))),
    ]
    looks, groups = groups_of(events)
    assert groups[4] == groups[2] != groups[0]
    assert 4 in looks.settled
    assert {event.id for event in events} - {event.id for event in looks.events} == {"d0"}


def test_a_new_group_of_one_row_falls_at_the_second_look():
    events = [*two_groups(), say("d", 4, (A, B), "new"), say("e", 4, (A, B), 0)]
    looks, groups = groups_of(events)
    assert groups[4] == groups[0]
    assert looks.joined == []


def test_a_new_group_that_others_have_joined_takes_two_looks():
    C = (4, 5)
    events = [*two_groups(), say("d", 4, (A, B), "new"), say("e", 5, (A, B, (4,)), 2)]
    once = [*events, say("f", 4, (A, B), 0)]
    looks, groups = groups_of(once)
    assert groups[4] == groups[5] != groups[0]
    looks, _ = groups_of([*once, say("g", 4, (A, B), 0)])
    assert looks.joined == [(4, 0)]
    founder = next(founder for founder in looks.founders if founder.row == 4)
    assert founder == (4, 3, 1, (0, 0))
    assert C[0] == founder.row


def test_a_founder_put_into_the_group_that_it_began_agrees_with_itself():
    events = [*two_groups(), say("d", 4, (A, B), "new"), say("e", 5, (A, B, (4,)), 2)]
    looks, groups = groups_of([*events, say("f", 4, (A, B, (5,)), 2)])
    assert (looks.n_again, looks.n_changed) == (1, 0)
    assert len(looks.events) == len(events) + 1
    assert looks.joined == []
    assert groups[4] == groups[5]
    founder = next(founder for founder in looks.founders if founder.row == 4)
    assert founder == (4, 3, 2, ())
    assert looks.settled == {4}


def test_a_founder_may_be_put_beside_a_row_of_no_group():
    events = [*two_groups(), say("d", 4, (A, B), "new"), say("e", 5, (A, B, (4,)), 2)]
    looks, _ = groups_of([*events, say("f", 4, (A, B, (9,)), 2)])
    assert (looks.n_again, looks.n_changed) == (1, 1)
    assert next(founder for founder in looks.founders if founder.row == 4).elsewhere == (9,)


def test_rows_looked_at_once_are_as_they_were_said():
    events = two_groups()
    looks, groups = groups_of(events)
    assert looks.events == events
    assert_array_equal(groups, [0, 0, 1, 1] + 6 * [-1])
    assert [founder.row for founder in looks.founders] == [2]


def test_a_row_that_stands_for_its_group_and_leaves_does_not_take_the_others_with_it():
    events = [
        *two_groups(),
        say("d", 4, (A, B), 0),
        say("e", 5, ((4, *A), B), 0),  # joined beside row 4, which then turns out to be elsewhere
        say("f", 4, (A, B), 1),
        say("g", 4, (A, B), 1),
    ]
    _, groups = groups_of(events)
    assert groups[4] == groups[2]
    assert groups[5] == groups[0] != groups[2]


def test_founders_are_renamed_with_their_rows():
    looks = settle_looks([*two_groups(), say("d", 2, (A,), 0)], 10)
    founder = looks.founders[0].at(np.arange(10) + 100)
    assert (founder.row, founder.elsewhere) == (102, (100,))
