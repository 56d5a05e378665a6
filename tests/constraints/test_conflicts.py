import pickle
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from likewise.constraints import Constraints
from tests.constraints.strategies import draw_constraints

seeds = st.integers(0, 2**31 - 1)


def test_a_cannot_link_against_a_path_comes_with_the_shortest_path():
    c = Constraints(
        6, must_link=[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], cannot_link=[(0, 5), (0, 3)]
    )
    conflicts = c.conflicts()
    assert len(conflicts) == 1
    assert conflicts[0].answer == 6
    assert set(conflicts[0].witness) == {3, 4}
    assert str(conflicts[0]) == "cannot_link[1] = (0, 3) contradicts the must-link path 0-4-3."


def test_names_are_used_where_there_are_names():
    c = Constraints(ids=["ant", "bee"], must_link=[(0, 1)], cannot_link=[(1, 0)])
    assert "(bee, ant) contradicts the must-link path bee-ant" in str(c.conflicts()[0])


def test_every_vote_against_a_path_counts():
    c = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)] * 3)
    assert [conflict.answer for conflict in c.conflicts()] == [1, 2, 3]


def test_two_people_who_name_different_odd_ones_out_contradict_each_other():
    c = Constraints(4, odd_one_out=[(0, 1, 2), (0, 2, 1)])
    assert [(conflict.answer, conflict.witness) for conflict in c.conflicts()] == [
        (0, (1,)),
        (1, (0,)),
    ]


def test_a_circle_of_closer_answers_is_found():
    c = Constraints(4, closer=[(0, 1, 2), (0, 2, 3), (0, 3, 1)])
    assert [set(conflict.witness) for conflict in c.conflicts()] == [{1, 2}, {0, 2}, {0, 1}]
    assert len(c.subset([0, 1]).conflicts()) == 0


def test_cant_tell_joins_two_inequalities_into_a_circle():
    # d01 < d02, d02 ~ d03 (can't tell about 0, 2, 3), d03 < d01
    c = Constraints(4, closer=[(0, 1, 2), (0, 3, 1)], undecided=[(0, 2, 3)])
    assert [set(conflict.witness) for conflict in c.conflicts()] == [{1, 2}, {0, 2}]


def test_a_triple_against_the_pairs_is_found_with_the_paths_that_say_so():
    # 0 and 2 are together by way of 3; 0 and 1 are apart; yet 2 is said to be odd among 0, 1, 2
    c = Constraints(4, must_link=[(0, 3), (3, 2)], cannot_link=[(0, 1)], odd_one_out=[(0, 1, 2)])
    conflicts = c.conflicts()
    assert [conflict.answer for conflict in conflicts] == [3]
    assert set(conflicts[0].witness) == {0, 1, 2}


def test_cant_tell_about_a_pair_together_and_a_pair_apart_is_found():
    c = Constraints(3, must_link=[(0, 1)], cannot_link=[(1, 2)], undecided=[(0, 1, 2)])
    conflicts = c.conflicts()
    assert [conflict.answer for conflict in conflicts] == [2]
    assert set(conflicts[0].witness) == {0, 1}


def test_labels_never_contradict_themselves(seed):
    y = np.random.RandomState(seed).randint(4, size=60)
    c = Constraints.from_labels(
        y, n_must_link=50, n_cannot_link=50, n_odd_one_out=100, n_closer=100, random_state=seed
    )
    assert len(c.conflicts()) == 0


def are_satisfiable(c: Constraints) -> bool:
    """Second route: does a linear program find distances with every inequality strict?

    Distances are free numbers, one a pair; together <= 0, apart >= 1, smaller + 1 <= larger.
    """
    pairs = {pair: i for i, pair in enumerate(combinations(range(c.n_samples), 2))}

    def row(smaller, larger):
        out = np.zeros(len(pairs))
        out[pairs[tuple(sorted(smaller))]] += 1
        out[pairs[tuple(sorted(larger))]] -= 1
        return out

    known = c.closure().known(np.array(list(pairs)))
    smaller, larger, _ = c.distance_inequalities()
    rows = [row(s, t) for s, t in zip(smaller, larger)]
    equal = [row((a, b), (a, k)) for a, b, k in c.undecided]
    equal += [row((a, b), (b, k)) for a, b, k in c.undecided]
    bounds = [(None, 0) if k == 1 else (1, None) if k == -1 else (None, None) for k in known]
    answer = linprog(
        np.zeros(len(pairs)),
        A_ub=np.array(rows).reshape(-1, len(pairs)),
        b_ub=-np.ones(len(rows)),
        A_eq=np.array(equal).reshape(-1, len(pairs)),
        b_eq=np.zeros(len(equal)),
        bounds=bounds,
    )
    pairs_agree = all(c.closure().known(c.cannot_link) == -1)
    return answer.status == 0 and pairs_agree


@given(seeds)
def test_there_is_a_conflict_exactly_when_the_answers_cannot_all_hold(seed):
    c = draw_constraints(np.random.RandomState(seed), max_rows=6, max_answers=9)
    assert (len(c.conflicts()) == 0) == are_satisfiable(c)


@given(seeds)
def test_every_witness_together_with_its_answer_is_a_contradiction(seed):
    c = draw_constraints(np.random.RandomState(seed), max_rows=6, max_answers=12)
    for conflict in c.conflicts():
        assert conflict.answer not in conflict.witness
        together = c.subset(sorted({conflict.answer, *conflict.witness}))
        assert not are_satisfiable(together)
        assert c.describe(conflict.answer) in conflict.message


@given(seeds)
def test_a_pair_witness_is_as_short_as_any(seed):
    c = draw_constraints(np.random.RandomState(seed), max_rows=6, max_answers=12)
    pairs_only = c.subset(c.positions("must_link", "cannot_link"))
    for conflict in pairs_only.conflicts():
        for size in range(1, len(conflict.witness)):
            for fewer in combinations(pairs_only.positions("must_link"), size):
                assert are_satisfiable(pairs_only.subset([conflict.answer, *fewer]))


@given(seeds)
def test_the_order_of_answers_does_not_matter(seed):
    rng = np.random.RandomState(seed)
    c = draw_constraints(rng)
    order = rng.permutation(c.n_answers)
    assert set(order[c.subset(order).conflicts().answers]) == set(c.conflicts().answers)


def test_conflicts_are_looked_for_once_and_are_no_part_of_what_is_equal_or_pickled():
    c = Constraints(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    twin = Constraints(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert c.conflicts() is c.conflicts()
    assert c == twin
    assert pickle.dumps(c) == pickle.dumps(twin)
    assert len(c.subset([0, 1]).conflicts()) == 0
