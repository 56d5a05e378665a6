"""Reducing a sparse matrix to a few rows: against the dense inverse, by both ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from likewise.kernels import laplacian, neighbor_graph
from likewise.numerics import elimination
from likewise.numerics.elimination import (
    eliminate,
    eliminate_by_factors,
    eliminate_by_gradients,
    widest_layer,
)

WAYS = (eliminate_by_factors, eliminate_by_gradients)


def test_a_chain_of_three_reduced_to_its_ends_by_hand():
    L = csr_array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    for way in WAYS:
        assert_allclose(way(L, np.array([0, 2])).schur, [[1.5, -0.5], [-0.5, 1.5]], rtol=1e-12)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_both_ways_agree_with_the_dense_inverse(way, seed):
    rng = np.random.RandomState(seed)
    n = rng.randint(3, 60)
    L = laplacian(neighbor_graph(rng.randn(n, 2), rng.randint(1, 6)), delta=rng.choice([0.01, 0.5]))
    kept = np.sort(rng.permutation(n)[: rng.randint(1, n + 1)])
    reduced = way(L, kept)
    dense = np.linalg.inv(L.toarray())
    assert_allclose(reduced.inverse, dense[np.ix_(kept, kept)], atol=1e-9)
    assert_allclose(reduced.schur @ reduced.inverse, np.eye(len(kept)), atol=1e-8)
    B = rng.randn(n, 3)
    assert_allclose(reduced.solve(B), dense @ B, atol=1e-8)


def test_the_choice_goes_by_the_layers_of_the_graph(monkeypatch):
    chain = csr_array(np.diag(np.full(49, -0.4), 1) + np.diag(np.full(49, -0.4), -1) + np.eye(50))
    star = np.eye(50) * 8
    star[0], star[:, 0] = -1, -1
    star[0, 0] = 50
    assert widest_layer(chain) == 1
    assert widest_layer(csr_array(star)) == 49
    monkeypatch.setattr(elimination, "MEDIUM", 10)
    monkeypatch.setattr(elimination, "eliminate_by_gradients", lambda *_: "gradients")
    monkeypatch.setattr(elimination, "eliminate_by_factors", lambda *_: "factors")
    assert eliminate(chain, np.array([0])) == "factors"
    assert eliminate(csr_array(star), np.array([0])) == "gradients"
