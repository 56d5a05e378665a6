import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likewise.maps.landmark_map import local_weights

seeds = st.integers(0, 10_000)


@given(seeds)
@settings(max_examples=20)
def test_local_weights_sum_to_one_and_are_the_least_squares_ones(seed):
    rng = np.random.default_rng(seed)
    L, x = rng.normal(size=(9, 6)), rng.normal(size=(3, 6))
    own, cross, gram = (x**2).sum(axis=1), x @ L.T, L @ L.T
    nearest, weights = local_weights(own, cross, gram, 4)
    assert_allclose(weights.sum(axis=1), 1)
    for row, near, w in zip(x, nearest, weights):
        error = np.sum((row - w @ L[near]) ** 2)
        for _ in range(20):
            other = w + (move := rng.normal(size=4) * 0.1) - move.mean()
            ridge = 1e-3 * ((row - L[near]) ** 2).sum(axis=1).min() + 1e-9
            assert error + ridge * w @ w <= np.sum((row - other @ L[near]) ** 2) + (
                ridge * other @ other + 1e-9
            )


@given(seeds)
@settings(max_examples=10)
def test_local_weights_of_tensors_are_those_of_numpy(seed):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    rng = np.random.RandomState(seed)
    L, X = rng.normal(size=(20, 6)), rng.normal(size=(7, 6))
    known = (X**2).sum(axis=1), X @ L.T, L @ L.T
    for found, expected in zip(
        local_weights(*map(torch.as_tensor, known), 4), local_weights(*known, 4)
    ):
        assert_allclose(found, expected, atol=1e-8)
