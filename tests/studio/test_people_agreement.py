"""Who agrees with whom, by hand."""

import math

import numpy as np

from likewise.labeling import Event, Question
from likewise.labeling.asked_again import swap
from likewise.studio.people_agreement import agreements, disputes, other_views, person_records


def vote(event_id, rows, choice, name, seconds=1.0, kind="answer", **more):
    return Event(kind, event_id, Question("pair", rows, **more), choice, name, "", seconds)


EVENTS = [
    vote("a1", (0, 1), "together", "ann"),
    vote("b1", (1, 0), "together", "bob", 0.1),
    vote("a2", (2, 3), "together", "ann"),
    vote("b2", (2, 3), "apart", "bob", 3.0),
    vote("c2", (2, 3), "together", "cat"),
    vote("a3", (4, 5), "apart", "ann"),
    vote("b3", (4, 5), "cant_tell", "bob"),
]


def test_agreement_is_the_share_of_common_questions_answered_alike():
    assert agreements(EVENTS) == [
        ("ann", "bob", 0.5, 2),
        ("ann", "cat", 1, 1),
        ("bob", "cat", 0, 1),
    ]


def test_reliability_is_one_half_before_anything_is_compared_and_moves_slowly():
    records = {record.name: record for record in person_records(EVENTS)}
    assert records["ann"].reliability == (2 + 1) / (3 + 2)
    assert records["bob"].reliability == (1 + 1) / (3 + 2)
    alone = person_records([vote("d", (0, 1), "apart", "dan", None)])[0]
    assert alone.reliability == 0.5
    assert alone.n_compared == 0
    assert alone.median_seconds is None
    assert math.isnan(alone.consistency)


def test_hasty_answers_are_flagged_and_counted_all_the_same():
    bob = next(record for record in person_records(EVENTS) if record.name == "bob")
    assert (bob.n_answers, bob.n_hasty, bob.median_seconds) == (3, 1, 1.0)


def test_consistency_is_agreement_with_oneself():
    again = Event("answer", "r", swap(EVENTS[0].question), "apart", "ann")
    assert person_records([EVENTS[0], again])[0].consistency == 0
    assert agreements([EVENTS[0], again, EVENTS[1]]) == [("ann", "bob", 1, 1)]


def test_a_dispute_is_a_question_answered_differently_until_it_is_settled():
    found = disputes(EVENTS)
    assert [{e.id for e in d.votes} for d in found] == [{"a2", "b2", "c2"}]
    assert found[0].settlement is None
    settled = vote("s", (3, 2), "apart", "boss", kind="settle")
    assert disputes([*EVENTS, settled])[0].settlement == settled
    undone = Event("undo", "u", undoes="b2")
    assert disputes([*EVENTS, undone]) == []


def test_who_joins_two_clusters_is_named_by_their_numbers_on_screen():
    y = np.arange(60) % 3
    numbers = np.array([4, 0, 7])[y]  # as a page shows them
    events = []
    rng = np.random.default_rng(0)
    for row in range(6, 46):
        for name, classes in (("ann", y), ("bob", y), ("eve", np.minimum(y, 1))):
            shown = Question("group", (row,), groups=((0,), (1,), (2,)))
            choice = int(rng.choice(np.flatnonzero(classes[:3] == classes[row])))
            events.append(Event("answer", f"{name} {row}", shown, choice, name))
    (found,) = other_views(events, numbers)
    assert found[:4] == ("eve", "merges", (0, 7), ())
    assert found.n_answers > 10
    assert other_views(EVENTS, np.zeros(6, dtype=int)) == []
