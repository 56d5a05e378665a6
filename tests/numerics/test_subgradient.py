"""Climbing functions with corners."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.numerics.subgradient import maximize_concave


def tent(top):
    def evaluate(z):
        return -np.abs(z - top).sum(), np.sign(top - z)

    return evaluate


def anywhere(old, new):
    return new


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_it_finds_the_top_of_a_tent_without_knowing_its_height(seed):
    top = np.random.RandomState(seed).randn(4)
    found = maximize_concave(tent(top), np.zeros(4), project=anywhere, target=1.0, max_iter=3000)
    assert found.value <= 0
    assert_allclose(found.value, 0, atol=1e-2 * np.abs(top).sum())
    assert_allclose(tent(top)(found.point)[0], found.value)
    low = maximize_concave(tent(top), np.zeros(4), project=anywhere, target=-10.0, max_iter=3000)
    assert low.value >= -0.5 * np.abs(top).sum()  # a target below the start is raised


def test_steps_are_taken_back_to_where_they_may_go():
    def project(old, new):
        return np.minimum(new, 0.0)

    found = maximize_concave(
        tent(np.ones(3)), -np.ones(3), project=project, target=0.0, max_iter=500
    )
    assert_allclose(found.point, 0, atol=1e-9)


def test_a_flat_place_ends_the_climb():
    def flat(z):
        return 3.0, np.zeros(2)

    found = maximize_concave(flat, np.ones(2), project=anywhere, target=5.0, max_iter=100)
    assert found.n_iter == 1
    assert found.settled
    assert_array_equal(found.point, 1)


def test_running_out_of_steps_is_reported():
    found = maximize_concave(
        tent(np.ones(2)), np.zeros(2), project=anywhere, target=1.0, max_iter=3
    )
    assert not found.settled
    assert found.n_iter == 3
