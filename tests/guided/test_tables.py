"""GuidedClustering takes tables as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_iris
from likewise.features import TableFeatures

N = 120
RNG = np.random.RandomState(0)
Y = np.arange(N) % 3
FRAME = pd.DataFrame(
    {
        "customer_id": [f"C{i}" for i in RNG.permutation(N)],
        "age": np.array([25, 45, 65])[Y] + 4 * RNG.randn(N),
        "plan": np.where(RNG.rand(N) < 0.95, np.array(["free", "silver", "gold"])[Y], "trial"),
        "active": np.where(RNG.rand(N) < 0.95, Y == 1, Y == 0),
        "joined": pd.Timestamp("2024-03-01") + pd.to_timedelta(RNG.randint(0, 90, N) + 60 * Y, "D"),
    }
)
FRAME.loc[RNG.choice(N, 10, replace=False), "age"] = np.nan
ANSWERS = Constraints.from_labels(Y, n_pairs=40, random_state=0)


def fitted(frame=FRAME, **settings):
    return GuidedClustering(3, random_state=0, **settings).fit(frame, constraints=ANSWERS)


def test_a_table_of_mixed_columns_is_clustered_as_it_is():
    model = fitted()
    assert adjusted_rand_score(Y, model.labels_) > 0.8
    assert isinstance(model.features_, TableFeatures)
    assert model.report_.preparation == "none"
    assert model.report_.why_prepared == "4 of 5 columns used, each with the same weight"
    assert "customer_id: left out, it names rows" in str(model.report_)
    assert str(model.report_).startswith(f"{len(Y)} rows, 5 columns, ")


def test_pandas_and_polars_and_a_dict_give_the_same_clusters():
    labels = fitted().labels_
    assert_array_equal(fitted(pl.from_pandas(FRAME)).labels_, labels)
    assert_array_equal(fitted({name: FRAME[name] for name in FRAME}).labels_, labels)


def test_new_rows_of_a_table_are_mapped_and_assigned_by_column_name():
    model, new = fitted(), FRAME.iloc[::-1][["plan", "joined", "age", "active"]]
    Z = model.transform(FRAME)
    assert_allclose(model.transform(new), Z[::-1])
    assert_array_equal(model.predict(new), model.predict(FRAME)[::-1])
    assert_allclose(model.predict_proba(new), model.predict_proba(FRAME)[::-1])
    assert_allclose(model.prepare(new), model.features_.transform(FRAME)[::-1])


def test_many_rows_of_a_table_are_read_in_blocks_to_the_same_clusters(monkeypatch):
    labels = fitted().labels_
    monkeypatch.setattr("likewise.guided.raw_rows.TABLE_ROWS", 25)
    model = fitted()
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.predict(FRAME), fitted().predict(FRAME))


def test_a_model_of_a_table_is_the_same_after_a_file(tmp_path):
    model = fitted()
    save_model(model, tmp_path / "m.likewise")
    loaded = load_model(tmp_path / "m.likewise")
    assert loaded.features_.columns_ == model.features_.columns_
    assert_array_equal(loaded.transform(FRAME), model.transform(FRAME))


def test_arrays_and_frames_of_numbers_are_untouched():
    iris = load_iris()
    answers = Constraints.from_labels(iris.y, n_pairs=20, random_state=0)
    frame = pd.DataFrame(iris.X, columns=list("abcd"))
    models = [
        GuidedClustering(3, random_state=0).fit(X, constraints=answers) for X in (iris.X, frame)
    ]
    assert [model.features_ for model in models] == [None, None]
    assert_array_equal(models[0].labels_, models[1].labels_)
    assert list(models[1].feature_names_in_) == list("abcd")


def test_a_frame_of_numbers_with_gaps_is_a_table():
    frame = FRAME[["age"]].assign(size=RNG.randn(N))
    assert fitted(frame).features_ is not None


def test_any_transformer_can_be_passed_instead():
    encode = make_column_transformer(
        (StandardScaler(), ["height"]), (OneHotEncoder(sparse_output=False), ["plan"])
    )
    frame = FRAME.assign(height=RNG.randn(N))
    model = fitted(frame, features=encode)
    assert model.features_ is not encode
    Z = model.map_.transform(model.features_.transform(frame))
    assert_allclose(model.transform(frame), Z)
    assert model.n_features_in_ == 5


def test_columns_are_chosen_through_the_transformer():
    model = fitted(features=TableFeatures(exclude=["age"]))
    assert "age: left out, as asked" in str(model.report_)


def test_names_in_the_place_of_a_transformer_are_an_error_with_the_way_out():
    with pytest.raises(TypeError, match=r"features=\['age'\] must be .*TableFeatures"):
        GuidedClustering(features=["age"]).fit(FRAME)


def test_standardizing_a_table_is_done_when_asked_for():
    assert fitted(preparation="standardize").report_.preparation == "standardize"


def test_skrubs_table_vectorizer_can_take_the_place_of_our_features():
    skrub = pytest.importorskip("skrub")
    frame = FRAME.drop(columns="customer_id").assign(age=FRAME["age"].fillna(45.0))
    model = fitted(frame, features=skrub.TableVectorizer(), preparation="standardize")
    assert isinstance(model.features_, skrub.TableVectorizer)
    assert adjusted_rand_score(Y, model.labels_) > 0.5
    assert len(model.predict(frame.iloc[:5])) == 5


@pytest.mark.parametrize(
    ("rows", "error", "way_out"),
    [
        (["a cat", "a dog"] * 10, ValueError, r"features=TextFeatures\(\)"),
        (pd.Series(["a cat", "a dog"] * 10), ValueError, r"features=TextFeatures\(\)"),
        ([{"age": 3}, {"age": 4}] * 10, TypeError, r"Pass pandas.DataFrame\(X\)"),
        (np.where(np.eye(20), np.nan, 1.0), ValueError, "Input X contains NaN. Pass a dataframe"),
        ("rows.csv", ValueError, "rows.csv is not .parquet or .npy. Read it first, by pandas"),
    ],
)
def test_rows_of_another_kind_say_how_they_are_passed(rows, error, way_out):
    with pytest.raises(error, match=way_out):
        GuidedClustering(2).fit(rows)


def test_an_array_with_gaps_is_filled_by_the_features_that_its_error_names():
    X = np.array([[0.0, 1.0], [np.nan, 1.2], [9.0, 8.0], [9.1, np.nan]] * 10)
    model = GuidedClustering(2, features=TableFeatures(), random_state=0).fit(X)
    assert adjusted_rand_score([0, 0, 1, 1] * 10, model.labels_) == 1
