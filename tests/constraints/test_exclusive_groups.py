import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ITML
from likewise.constraints import Constraints
from tests.constraints.strategies import draw_constraints

seeds = st.integers(0, 2**31 - 1)


def draw(seed):
    """Constraints with some exclusive groups among them."""
    rng = np.random.RandomState(seed)
    c = draw_constraints(rng)
    n = c.n_samples
    groups = [rng.choice(n, rng.randint(1, n), replace=False) for _ in range(rng.randint(0, 4))]
    return c.with_exclusive(groups), rng


def written_out(c):
    """The same constraints with every pair of a group as a cannot-link."""
    pairs = [(a, b) for group in c.exclusive for a in group for b in group if a < b]
    return c.with_exclusive(None) + Constraints(c.n_samples, cannot_link=pairs, ids=c.ids)


def test_a_group_is_kept_once_in_order_and_a_single_row_is_none():
    c = Constraints(6, exclusive=[[4, 0], [3], (2, 5, 1), [0, 4]])
    assert [group.tolist() for group in c.exclusive] == [[0, 4], [1, 2, 5]]
    assert repr(c) == "<Constraints on 6 rows: 2 exclusive groups>"
    assert c.n_answers == 0
    with pytest.raises(ValueError, match="read-only"):
        c.exclusive[0][0] = 1


def test_rows_of_groups_go_by_name_too():
    c = Constraints(ids=["x", "y", "z"], exclusive=[["z", "x"], [0, "y"]])
    assert [group.tolist() for group in c.exclusive] == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 9]], r"exclusive\[0\] has 9, outside X, which has 4 rows."),
        ([[0, 1], [2, 2]], r"exclusive\[1\] names row 2 twice"),
        ([0, 1], r"exclusive\[0\] = 0 must be a list of rows"),
        ([[0, 1.5]], r"exclusive\[0\] has 1.5"),
        ([[True, 2]], r"exclusive\[0\] has True"),
        ([["x", "y"]], r"exclusive\[0\] = 'x' is not a row number"),
    ],
)
def test_a_wrong_group_is_named(groups, message):
    with pytest.raises(ValueError, match=message):
        Constraints(4, exclusive=groups)


@given(seeds)
def test_groups_imply_what_their_pairs_would(seed):
    c, rng = draw(seed)
    pairs = rng.randint(0, c.n_samples, (30, 2))
    closure, expected = c.closure(), written_out(c).closure()
    assert closure.known(pairs).tolist() == expected.known(pairs).tolist()
    assert closure.apart_pairs().tolist() == expected.cannot_link.tolist()


@given(seeds)
def test_groups_stay_with_the_rows_whatever_is_done_to_the_answers(seed):
    c, rng = draw(seed)
    assert pickle.loads(pickle.dumps(c)) == c
    assert c.subset(rng.rand(c.n_answers) < 0.5).exclusive == c.exclusive
    fit_part, held_out = c.split(0.5, random_state=seed)
    assert fit_part.exclusive == held_out.exclusive == c.exclusive
    assert (c == c.with_exclusive(None)) == (len(c.exclusive) == 0)
    both = c + c.with_exclusive([[0, 1]])
    expected = {tuple(g) for g in c.exclusive} | {(0, 1)}
    assert {tuple(g) for g in both.exclusive} == expected
    rows = rng.permutation(c.n_samples)[: rng.randint(1, c.n_samples + 1)]
    kept = {tuple(sorted(rows[group])) for group in c.restrict(rows).exclusive}
    left = {tuple(sorted(set(group) & set(rows))) for group in c.exclusive}
    assert kept == {group for group in left if len(group) > 1}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files_and_frames_give_groups_back(ending, tmp_path):
    for seed in range(15):
        c, _ = draw(seed)
        c.write(tmp_path / f"answers.{ending}")
        read = Constraints.read(tmp_path / f"answers.{ending}", n_samples=c.n_samples, ids=c.ids)
        assert read == c
        assert Constraints.from_frame(c.to_frame(), n_samples=c.n_samples, ids=c.ids) == c


def test_people_may_write_groups_by_hand():
    lines = [("exclusive", 0, 1, "s"), ("At most one", 2, 1, "s"), ("exclusive", 3, 4, "")]
    frame = pd.DataFrame(lines, columns=["kind", "a", "b", "screen"])
    c = Constraints.from_frame(frame, n_samples=5)
    assert [group.tolist() for group in c.exclusive] == [[0, 1, 2], [3, 4]]


def test_a_malformed_line_is_named_with_its_place(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("kind,a,b,weight\nsame,0,1,\nexclusive,0,7,0.5\nsome,1,2,\n")
    with pytest.raises(ValueError, match=r"line 3: exclusive refers to two rows, but weight is.*"):
        Constraints.read(path, n_samples=5)
    path.write_text("kind,a,b\nexclusive,0,1\nsome,1,2\n")
    with pytest.raises(ValueError, match=r"line 3: kind 'some' is not one of .*exclusive"):
        Constraints.read(path, n_samples=5)


def test_must_links_that_join_rows_of_a_group_are_a_conflict_with_its_proof():
    c = Constraints(5, must_link=[(3, 4), (0, 1), (1, 2)], exclusive=[[0, 2, 3]])
    (conflict,) = c.conflicts()
    assert (conflict.answer, conflict.witness) == (1, (2,))
    expected = "exclusive[0] keeps 0 and 2 apart, but the must-link path 0-1-2 joins them."
    assert str(conflict) == expected


def test_triples_are_not_contradicted_by_a_rule_about_clusters():
    c = Constraints(4, must_link=[(0, 1)], closer=[(0, 2, 1)], exclusive=[[0, 2]])
    assert len(c.conflicts()) == 0
    assert len(written_out(c).conflicts()) == 1


def test_a_learner_says_that_it_cannot_keep_groups():
    c = Constraints(4, must_link=[(0, 1)], exclusive=[[0, 2]])
    with pytest.warns(UserWarning, match="ITML cannot keep 1 exclusive groups"):
        ITML().fit(np.random.RandomState(0).normal(size=(4, 2)), constraints=c)
