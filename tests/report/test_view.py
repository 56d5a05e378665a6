"""What there is to see, as arrays."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from likewise.report import lay_out
from likewise.report import view as views
from likewise.report.view import (
    borderline_rows,
    draw_maps,
    look,
    margins,
    name_features,
    runners_up,
    typical_rows,
    values_of,
)
from tests.report.made import made_model


def test_features_have_their_own_names_those_given_or_numbers():
    assert name_features(pd.DataFrame({"x": [1.0], "y": [2.0]}), 2) == ["x", "y"]
    assert name_features(np.ones((1, 2)), 2, ["left", 7]) == ["left", "7"]
    assert name_features(np.ones((1, 2)), 2) == ["feature 0", "feature 1"]
    with pytest.raises(ValueError, match="feature_names has 1 names, but X has 2 columns"):
        name_features(np.ones((1, 2)), 2, ["x"])


def test_typical_rows_come_nearest_first_and_belong_to_the_cluster():
    Z = np.array([[0.0], [1], [2], [3], [10], [11]])
    seen = look(made_model(Z, [0, 0, 0, 0, 1, 1]), Z)
    assert_array_equal(typical_rows(seen, 0, 2), [1, 2])
    assert_array_equal(typical_rows(seen, 1, 9), [4, 5])


def test_borderline_rows_are_those_between_two_clusters():
    Z = np.array([[0.0], [0], [4], [9], [9], [6]])
    seen = look(made_model(Z, [0, 0, 0, 1, 1, 1]), Z)
    assert_array_equal(borderline_rows(seen, 0, 1), [2])
    assert_array_equal(borderline_rows(seen, 1, 9), [5, 3, 4])
    assert_array_equal(runners_up(seen), [1, 1, 1, 0, 0, 0])
    own, other = seen.memberships[2]
    assert_allclose(margins(seen)[2], own - other)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_values_of_a_row_are_those_it_was_given(make):
    X = np.array([[5, 0.0, 5, 1], [7, 0, 6, 1], [6, 9, 5, 1], [7, 9, 6, 1]])
    seen = look(made_model(X, [0, 0, 1, 1], map_rows=lambda rows: X), make(X))
    assert_allclose(values_of(seen, 2, np.array([2, 1])), [5, 9])


def test_the_map_before_shows_the_features_as_the_model_scaled_them():
    X = np.random.RandomState(0).randn(20, 3) * [1, 10, 100]
    scaler = StandardScaler().fit(X)
    seen = look(made_model(X, [0] * 10 + [1] * 10, scaler_=scaler), X)
    maps = draw_maps(seen)
    assert_array_equal(maps.before, lay_out(scaler.transform(X)))
    assert_array_equal(maps.after, lay_out(X))


@settings(max_examples=5)
@given(st.integers(0, 199))
def test_of_many_rows_a_sample_is_looked_at_with_those_wanted(row):
    X = np.random.RandomState(0).randn(200, 2)
    model = made_model(X, np.arange(200) % 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "MAX_ROWS", 50)
        seen = look(model, X, wanted=[row])
    assert len(seen.rows) == 50
    assert row in seen.rows
    assert_array_equal(seen.features, X[seen.rows])
    assert_array_equal(seen.labels, seen.rows % 3)
