"""Joins of groups that rest on one answer: by hand, against brute force, and in a session."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from likewise.constraints import Constraints
from likewise.labeling import LabelingSession, LabelOracle
from likewise.labeling.doubtful_joins import Join, find_joins, walk_trees, without_outvoted

CHAIN = {"must_link": [(0, 1), (1, 2), (2, 3)]}


def alike(rows, others):
    return np.ones((len(rows), len(others)))


def near(rows, others):
    """Rows 0 and 1 are near each other, 2 and 3 too, and so are 4 and 5."""
    return np.where(np.asarray(rows)[:, None] // 2 == np.asarray(others) // 2, 1.0, 0.1)


def count_pieces(links, n_rows):
    ones = np.ones(len(links))
    graph = coo_array((ones, tuple(np.reshape(links, (-1, 2)).T)), shape=(n_rows, n_rows))
    return connected_components(graph, directed=False)[0]


def test_each_link_of_a_chain_joins_two_parts_by_hand():
    joins = find_joins(Constraints(5, **CHAIN, cannot_link=[(0, 3), (4, 0)]), alike)
    sides = {join.position: (set(join.part), set(join.others)) for join in joins}
    assert {at: {frozenset(a), frozenset(b)} for at, (a, b) in sides.items()} == {
        0: {frozenset({0}), frozenset({1, 2, 3})},
        1: {frozenset({0, 1}), frozenset({2, 3})},
        2: {frozenset({0, 1, 2}), frozenset({3})},
    }
    assert [join.votes for join in joins] == [0.0, 0.0, 0.0]  # a link, and 0 is apart from 3
    assert [join.likely for join in joins] == pytest.approx([0.5, 0.5, 0.5])  # or with 4


def test_two_links_between_the_same_rows_or_around_a_ring_join_nothing_alone():
    assert find_joins(Constraints(2, must_link=[(0, 1), (1, 0)]), alike) == []
    assert find_joins(Constraints(3, must_link=[(0, 1), (1, 2), (0, 2)]), alike) == []
    assert find_joins(Constraints(3), alike) == []


def test_answers_of_weight_zero_join_and_part_nothing():
    answers = Constraints(9, **CHAIN, cannot_link=[(7, 8)], weights=[1.0, 0.0, 1.0, 0.0])
    assert [join.position for join in find_joins(answers, alike)] == [0, 2]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_bridges_are_the_links_without_which_there_is_a_piece_more(links):
    links = np.array([(a, b) for a, b in links if a != b]).reshape(-1, 2)
    trees = walk_trees(links, 8)
    n_pieces = count_pieces(links, 8)
    assert len(trees) == n_pieces
    assert_array_equal(np.sort(np.concatenate([tree.order for tree in trees])), np.arange(8))
    bridges = {link for tree in trees for link, _, _ in tree.bridges}
    for link in range(len(links)):
        without = np.delete(links, link, axis=0)
        assert (link in bridges) == (count_pieces(without, 8) > n_pieces)


def test_the_chance_of_an_error_by_hand():
    join = Join(0, np.array([0]), np.array([1]), likely=0.5, votes=1.0)
    assert join.wrong(0.1) == pytest.approx(0.1)  # the walks say nothing
    assert join._replace(likely=0.1).wrong(0.1) == pytest.approx(0.5)
    assert join._replace(likely=1.0).wrong(0.1) == 0
    assert join._replace(likely=0.0).wrong(0.0) == 0


def test_the_least_likely_of_the_outvoted_joins_goes():
    pairs = Constraints(6, **CHAIN, cannot_link=[(0, 3), (0, 4), (2, 5)])
    kept = without_outvoted(pairs, near)
    assert_array_equal(kept.must_link, [(0, 1), (2, 3)])
    assert len(kept.cannot_link) == 3


def test_an_even_vote_leaves_near_parts_together_and_a_clear_one_does_not():
    even = Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 1), (0, 4)])
    assert len(without_outvoted(even, near).must_link) == 2
    clear = even + Constraints(6, cannot_link=[(1, 0)])
    assert_array_equal(without_outvoted(clear, near).must_link, [(2, 3)])


def test_answers_without_contradictions_all_count():
    pairs = Constraints(6, **CHAIN, cannot_link=[(0, 4), (1, 5)])
    assert without_outvoted(pairs, near) is pairs


def test_a_wrong_together_of_two_groups_is_asked_about_again_and_found():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 20)
    X = 6 * np.eye(4)[y] + rng.normal(size=(80, 4))
    session = LabelingSession(X, kinds=("pair",), random_state=0)
    oracle = LabelOracle(y, random_state=0)
    for _ in range(25):
        session.answer(question := session.next_question(), oracle(question))
    apart = [e.question.rows for e in session.events if e.kind == "answer" and e.choice == "apart"]
    groups = session.knowledge.groups
    sizes = np.bincount(groups[groups >= 0])
    a, b = next(
        (row, other)
        for i in np.flatnonzero(sizes > 1)
        for j in np.flatnonzero(sizes > 1)
        for row in np.flatnonzero(groups == i)
        for other in np.flatnonzero(groups == j)
        if i < j and (row, other) not in apart and (other, row) not in apart
    )
    before = session.labels
    session.add_answers(Constraints(80, must_link=[(a, b)]))
    reasons = []
    for _ in range(6):
        session.answer(question := session.next_question(), oracle(question))
        reasons.append(question.why)
    assert "one answer alone joins their groups" in reasons
    groups = session.knowledge.groups
    assert groups[a] != groups[b]
    assert np.mean(session.labels[y == y[a]] == session.labels[a]) >= 0.9
    assert len(np.unique(session.labels)) == len(np.unique(before))
