"""A person's decision about groups holds against older answers, and yields to newer decisions."""

import numpy as np
from numpy.testing import assert_array_equal

from likewise.labeling import Event, LabelingSession, Question
from likewise.labeling.decided_groups import pairs_that_hold
from likewise.labeling.knowledge import join_components

A, B, C = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11)


def clicks():
    """Two groups of five and one of two, each row put beside the first and apart from the others'.

    With few groups on the screen a cannot-link weighs more than a must-link: the worst case.
    """
    events = [said("A", (5,), ((0,),), "new"), said("B", (10,), ((0,), (5,)), "new")]
    for g, group in enumerate((A, B, C)):
        for row in group[1:]:
            shown = tuple(part[: max(1, min(part.index(row), 3) if row in part else 3)]
                          for part in (A, B, C))  # fmt: skip
            events.append(said(f"row {row}", (row,), shown, g))
    return events


def said(name, rows, groups, choice):
    return Event("answer", name, Question("group", rows, groups), choice)


def decided(name, kind, groups, rows=(), choice="together"):
    return Event("action", name, Question(kind, rows, groups), choice)


def groups_of(events, n_samples=12):
    return join_components(pairs_that_hold(events, n_samples))[0].tolist()


def test_answers_alone_make_three_groups():
    assert groups_of(clicks()) == [0] * 5 + [1] * 5 + [2] * 2


def test_a_merge_is_not_outvoted_by_older_cannot_links():
    events = [*clicks(), decided("m", "merge", ((0,), (5,)))]
    assert groups_of(events) == [0] * 10 + [1] * 2
    in_the_session = LabelingSession(np.arange(12.0)[:, None])
    for event in events:
        in_the_session.add_event(event)
    assert_array_equal(in_the_session.knowledge.groups, [0] * 10 + [1] * 2)


def test_answers_that_were_on_screens_during_a_merge_do_not_undo_it():
    late = [said(f"late {i}", (i,), ((0, 1, 2), (5, 6, 7), (10,)), 0) for i in (3, 4)]
    merged = decided("m", "merge", ((0,), (5,)))
    assert groups_of([*clicks(), merged, *late]) == [0] * 10 + [1] * 2


def test_an_undone_merge_leaves_the_answers_as_they_were():
    events = [*clicks(), decided("m", "merge", ((0,), (5,))), Event("undo", "u", undoes="m")]
    assert groups_of(events) == groups_of(clicks())


def test_a_split_is_not_outvoted_by_older_must_links():
    events = [*clicks(), decided("s", "split", ((0, 1), (2, 3, 4)), choice="apart")]
    assert groups_of(events) == [0] * 2 + [1] * 3 + [2] * 5 + [3] * 2


def test_the_newer_of_two_decisions_holds():
    merge = decided("m", "merge", ((0,), (5,)))
    split = decided("s", "split", ((1, 2), (6, 7)), choice="apart")
    apart_again = groups_of([*clicks(), merge, split])
    assert apart_again[1] == apart_again[2] != apart_again[6] == apart_again[7]
    assert len(set(apart_again)) == 3
    assert groups_of([*clicks(), merge, split, decided("m2", "merge", ((0,), (5,)))]) == (
        [0] * 10 + [1] * 2
    )


def test_a_decision_elsewhere_leaves_an_older_merge_alone():
    split = decided("s", "split", ((10,), (11,)), choice="apart")
    events = [*clicks(), decided("m", "merge", ((0,), (5,))), split]
    assert groups_of(events) == [0] * 10 + [1, 2]


def test_a_moved_row_leaves_alone_and_those_beside_it_stay():
    twice = [said("again", (0,), ((1,), (5,), (10,)), 0), said("more", (0,), ((1,), (10,)), 0)]
    moved = decided("v", "move", ((5,), (1,)), rows=(0,), choice=0)
    groups = groups_of([*clicks(), *twice, moved])
    assert groups == [0] + [1] * 4 + [0] * 5 + [2] * 2


def test_a_review_that_is_denied_takes_out_the_row_and_nobody_else():
    denied = Event("answer", "r", Question("review", (3, 0)), "apart")
    confirmed = Event("answer", "k", Question("review", (3, 0)), "together")
    assert groups_of([*clicks(), denied]) == [0] + [1] * 4 + [2] * 5 + [3] * 2
    assert groups_of([*clicks(), confirmed]) == groups_of(clicks())
