import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.constraints import Constraints
from tests.constraints.strategies import draw_constraints

seeds = st.integers(0, 2**31 - 1)


def test_links_close_by_hand():
    c = Constraints(6, must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(2, 3)])
    closure = c.closure()
    assert_array_equal(closure.components, [0, 0, 0, 1, 1, 2])
    assert_array_equal(closure.sizes, [3, 2, 1])
    assert_array_equal(closure.cannot_link, [[0, 1]])
    assert_array_equal(closure.known([(0, 2), (0, 4), (4, 0), (0, 5)]), [1, -1, -1, 0])
    assert_array_equal(closure.must_link_pairs(), [[0, 1], [0, 2], [1, 2], [3, 4]])
    assert len(closure.cannot_link_pairs()) == 6


def test_nothing_closes_to_nothing():
    closure = Constraints(3).closure()
    assert closure.n_components == 3
    assert closure.cannot_link.shape == closure.must_link_pairs().shape == (0, 2)
    assert closure.known([]).shape == (0,)
    assert Constraints(0).closure().n_components == 0


def test_a_million_links_close_and_their_one_contradiction_is_found():
    n = 1_000_001
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    c = Constraints(n, must_link=chain, cannot_link=[(0, n - 1)])
    assert c.closure().n_components == 1
    assert len(c.conflicts()[0].witness) == n - 1


def brute_force_known(c):
    """+1 / -1 / 0 for all pairs by repeated squaring of the relation."""
    same = np.eye(c.n_samples, dtype=bool)
    for i, j in c.must_link:
        same[i, j] = same[j, i] = True
    for _ in range(c.n_samples):
        same = (same.astype(int) @ same.astype(int)) > 0
    apart = np.zeros_like(same)
    for i, j in c.cannot_link:
        apart[i, j] = apart[j, i] = True
    apart = (same.astype(int) @ apart.astype(int) @ same.astype(int)) > 0
    return np.where(same, 1, -apart.astype(int))


@given(seeds)
def test_the_closure_is_the_one_of_brute_force(seed):
    c = draw_constraints(np.random.RandomState(seed))
    pairs = np.stack(np.triu_indices(c.n_samples, 1), axis=1)
    known = c.closure().known(pairs)
    assert_array_equal(known, brute_force_known(c)[pairs[:, 0], pairs[:, 1]])
    together = {tuple(sorted(pair)) for pair in c.closure().must_link_pairs()}
    apart = {tuple(sorted(pair)) for pair in c.closure().cannot_link_pairs()}
    assert together == {tuple(pair) for pair in pairs[known == 1]}
    assert apart == {tuple(pair) for pair in pairs[known == -1]}


@given(seeds)
def test_the_closure_of_the_closure_is_the_closure(seed):
    closure = draw_constraints(np.random.RandomState(seed)).closure()
    n = len(closure.components)
    links = {"must_link": closure.must_link_pairs(), "cannot_link": closure.cannot_link_pairs()}
    again = Constraints(n, **links).closure()
    assert_array_equal(again.components, closure.components)
    assert_array_equal(again.cannot_link, closure.cannot_link)
