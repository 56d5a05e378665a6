"""Choosing landmarks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from likewise.kernels import choose_landmarks

METHODS = ["uniform", "k-means++"]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(
    n=st.integers(1, 40),
    m=st.integers(1, 50),
    picks=st.lists(st.integers(0, 39), max_size=8),
    seed=st.integers(0, 100),
)
def test_landmarks_are_distinct_with_the_forced_ones_first(method, n, m, picks, seed):
    forced = [i % n for i in picks]
    X = np.random.default_rng(seed).normal(size=(n, 2))
    chosen = choose_landmarks(X, m, method=method, forced=forced, random_state=seed)
    unique = list(dict.fromkeys(forced))
    assert_array_equal(chosen[: len(unique)], unique)
    assert len(set(chosen.tolist())) == len(chosen) == max(min(m, n), len(unique))
    assert 0 <= chosen.min() <= chosen.max() < n


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_chooses_the_same_landmarks_from_dense_and_csr(method):
    X = np.random.default_rng(0).normal(size=(50, 3))
    first = choose_landmarks(X, 10, method=method, random_state=3)
    assert_array_equal(choose_landmarks(X, 10, method=method, random_state=3), first)
    assert_array_equal(choose_landmarks(csr_array(X), 10, method=method, random_state=3), first)
    assert not np.array_equal(choose_landmarks(X, 10, method=method, random_state=4), first)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_k_means_plus_plus_takes_every_place_before_any_twice(seed):
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [9.0, 9.0]]), 20, axis=0)
    chosen = choose_landmarks(X, 4, method="k-means++", random_state=seed)
    assert_array_equal(np.sort(chosen // 20), [0, 1, 2, 3])


def test_k_means_plus_plus_reaches_a_small_far_group_that_uniform_draws_miss():
    X = np.concatenate([np.random.default_rng(0).normal(size=(1000, 2)), [[500.0, 500.0]]])
    spread = [1000 in choose_landmarks(X, 5, method="k-means++", random_state=s) for s in range(20)]
    uniform = [1000 in choose_landmarks(X, 5, random_state=s) for s in range(20)]
    assert all(spread)
    assert sum(uniform) <= 2


def test_k_means_plus_plus_starts_from_the_forced_rows():
    X = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    chosen = choose_landmarks(X, 3, method="k-means++", forced=[2, 7], random_state=0)
    assert_array_equal(chosen[:2], [2, 7])
    assert chosen[2] >= 10


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_still_give_distinct_landmarks(method):
    chosen = choose_landmarks(np.ones((6, 2)), 6, method=method, random_state=0)
    assert_array_equal(np.sort(chosen), np.arange(6))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"forced": [0, 9]}, r"forced\[1\] = 9 points outside X, which has 3 rows"),
        ({"forced": [-1]}, r"forced\[0\] = -1"),
        ({"n_landmarks": 0}, "n_landmarks=0"),
        ({"method": "best"}, "method='best'"),
    ],
)
def test_wrong_requests_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        choose_landmarks(np.eye(3), **{"n_landmarks": 2, **wrong})
