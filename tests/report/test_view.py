"""What there is to see, as arrays."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from likewise.report import view as views
from likewise.report.view import (
    flatten,
    look,
    name_features,
    rename,
    standouts,
    typical_rows,
    values_of,
)
from tests.report.made import made_model

labelings = hnp.arrays(int, 12, elements=st.integers(0, 4))


@given(labelings, labelings)
def test_clusters_are_renamed_and_never_merged_and_agree_on_no_fewer_rows(before, after):
    named = rename(before, after)
    assert len({*zip(before, named)}) == len({*before}) == len({*named})
    assert np.sum(named == after) >= np.sum(before == after)


def test_a_cluster_takes_the_name_of_the_one_it_shares_most_rows_with():
    assert_array_equal(
        rename(np.array([2, 2, 0, 0, 1]), np.array([0, 0, 1, 1, 1])), [0, 0, 1, 1, 2]
    )


def test_a_flat_map_of_a_plane_keeps_every_distance():
    rng = np.random.RandomState(0)
    plane = rng.randn(30, 2) @ np.linalg.qr(rng.randn(5, 5))[0][:2]
    flat = flatten(plane)
    dists = np.linalg.norm(plane[:, None] - plane, axis=2)
    assert_allclose(np.linalg.norm(flat[:, None] - flat, axis=2), dists, atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 3), (5, 1), (2, 2), (3, 3)], ids=str)
def test_few_rows_and_few_columns_make_a_map_too(shape):
    Z = np.random.RandomState(0).randn(*shape)
    for given_as in (Z, sparse.csr_matrix(Z)):
        flat = flatten(given_as)
        assert flat.shape == (shape[0], 2)
        assert_allclose(flat.var(axis=0).sum(), flatten(Z).var(axis=0).sum(), atol=1e-12)


def test_sparse_rows_are_flattened_as_dense_ones():
    Z = np.random.RandomState(0).poisson(0.3, (40, 12)).astype(float)
    dense, thin = flatten(Z), flatten(sparse.csr_matrix(Z))
    assert_allclose(np.abs(thin), np.abs(dense), atol=1e-8)  # up to the signs of the axes


def test_features_have_their_own_names_those_given_or_numbers():
    assert name_features(pd.DataFrame({"x": [1.0], "y": [2.0]}), 2) == ["x", "y"]
    assert name_features(np.ones((1, 2)), 2, ["left", 7]) == ["left", "7"]
    assert name_features(np.ones((1, 2)), 2) == ["feature 0", "feature 1"]
    with pytest.raises(ValueError, match="feature_names has 1 names, but X has 2 columns"):
        name_features(np.ones((1, 2)), 2, ["x"])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_the_feature_that_sets_a_cluster_apart_stands_out(make):
    X = np.array([[5, 0.0, 5, 1], [7, 0, 6, 1], [6, 9, 5, 1], [7, 9, 6, 1]])
    model = made_model(X, [0, 0, 1, 1], map_rows=lambda rows: X)
    seen = look(model, make(X))
    telling = standouts(seen, 1, 3)
    assert_array_equal(telling.columns, [1, 0])  # the third is alike in both, the last constant
    assert_allclose(telling.means, [9, 6.5])
    assert_allclose(telling.overall, [4.5, 6.25])
    assert_allclose(values_of(seen, 2, np.array([2, 1])), [5, 9])


def test_typical_rows_come_nearest_first_and_belong_to_the_cluster():
    Z = np.array([[0.0], [1], [2], [3], [10], [11]])
    seen = look(made_model(Z, [0, 0, 0, 0, 1, 1]), Z)
    assert_array_equal(typical_rows(seen, 0, 2), [1, 2])
    assert_array_equal(typical_rows(seen, 1, 9), [4, 5])


def test_the_map_before_shows_the_features_as_the_model_scaled_them():
    X = np.random.RandomState(0).randn(20, 3) * [1, 10, 100]
    scaler = StandardScaler().fit(X)
    seen = look(made_model(X, [0] * 10 + [1] * 10, scaler_=scaler), X)
    assert_allclose(seen.map_before, flatten(scaler.transform(X)))
    assert_allclose(seen.map_after, flatten(X))


@settings(max_examples=5)
@given(st.integers(0, 199))
def test_of_many_rows_a_sample_is_looked_at_with_those_wanted(row):
    X = np.random.RandomState(0).randn(200, 2)
    model = made_model(X, np.arange(200) % 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "MAX_ROWS", 50)
        patch.setattr(views, "MAX_POINTS", 20)
        seen = look(model, X, wanted=[row])
    assert (len(seen.rows), len(seen.points)) == (50, 20)
    assert row in seen.rows[seen.points]
    assert_array_equal(seen.features, X[seen.rows])
    assert_array_equal(seen.labels, seen.rows % 3)
