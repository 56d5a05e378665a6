"""The scatter that can be inverted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.covariance import OAS

from likewise.metric_learning.shrinkage import oracle_shrinkage, shrink


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(2, 6))
def test_auto_is_the_oracle_of_scikit_learn(seed, n_rows, n_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.1, 10, n_features)
    theirs = OAS(assume_centered=True).fit(X)
    S = X.T @ X / n_rows
    assert_allclose(shrink(S, "auto", n_rows), theirs.covariance_, rtol=1e-9, atol=1e-12)


def test_a_shrunk_scatter_keeps_its_trace():
    assert_allclose(shrink(np.diag([4.0, 0.0]), 0.25, 1), np.diag([3.5, 0.5]))


def test_a_round_scatter_is_shrunk_whole():
    assert oracle_shrinkage(np.eye(3), 1000) == 1.0
    assert oracle_shrinkage(np.eye(1), 1000) == 1.0
