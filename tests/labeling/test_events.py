"""Events: what holds, after undos, flips and settlements."""

from likewise.labeling import Event, Question, counted, in_force, meaning
from likewise.labeling.events import last_counted, what_is_asked

PAIR = Question("pair", (0, 1))
SWAPPED = Question("pair", (1, 0))
FIRST = Event("answer", "e1", PAIR, "apart", "ann")


def ids(events):
    return [event.id for event in events]


def test_what_was_undone_no_longer_counts():
    undo = Event("undo", "u", undoes="e1")
    assert ids(counted([FIRST])) == ["e1"]
    assert counted([FIRST, undo]) == in_force([FIRST, undo]) == []


def test_a_flip_takes_the_place_of_an_answer_until_it_is_undone():
    flip = Event("flip", "f", PAIR, "together", undoes="e1")
    assert ids(counted([FIRST, flip])) == ["f"]
    assert ids(counted([FIRST, flip, Event("undo", "u", undoes="f")])) == ["e1"]
    again = Event("flip", "g", PAIR, "apart", undoes="f")
    assert ids(counted([FIRST, flip, again])) == ["g"]


def test_a_keep_is_one_more_look():
    assert ids(counted([FIRST, Event("keep", "k", PAIR, "apart", undoes="e1")])) == ["e1", "k"]


def test_a_settlement_outweighs_however_many_votes_before_and_after_it():
    votes = [Event("answer", f"v{i}", SWAPPED, "apart", f"p{i}") for i in range(3)]
    agrees = Event("answer", "a", PAIR, "together", "bob")
    settled = Event("settle", "s", PAIR, "together", "boss")
    assert ids(counted([*votes[:2], settled, agrees, votes[2]])) == ["s", "a"]
    assert ids(counted([*votes, settled, Event("undo", "u", undoes="s")])) == ["v0", "v1", "v2"]
    later = Event("settle", "t", SWAPPED, "apart", "boss")
    assert ids(counted([*votes, settled, later])) == ["v0", "v1", "v2", "t"]


def test_a_settlement_leaves_other_questions_alone():
    other = Event("answer", "o", Question("pair", (0, 2)), "apart")
    review = Event("answer", "r", Question("review", (0, 1)), "apart")
    settled = Event("settle", "s", PAIR, "together")
    assert ids(counted([other, review, settled])) == ["o", "r", "s"]
    assert what_is_asked(FIRST) == what_is_asked(Event("answer", "e", SWAPPED, "apart"))


def test_a_name_can_be_undone_and_says_nothing_about_rows():
    name = Event("name", "n", Question("name", (0, 1)), "together", "ann")
    assert counted([name]) == []
    assert last_counted([FIRST, name], "ann") == name


def test_the_meaning_of_a_choice_is_in_terms_of_rows():
    group = Question("group", (9,), ((4, 5), (6,)))
    assert meaning(Event("answer", "e", group, 1)) == 6
    assert meaning(Event("answer", "e", group, "new")) == "new"
    assert meaning(Event("answer", "e", Question("odd_one_out", (1, 2, 3)), 2)) == 3
    assert meaning(Event("answer", "e", Question("grid", (1, 2, 3)), (1,))) == {3}
    assert meaning(Event("action", "e", Question("move", (1,), ((2,),)), 0)) == 0
