"""Batches through a fitted model: the clusters of predict, in batches of the same kind."""

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_wine

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra io)")

NAMES = [f"x{j}" for j in range(13)]


@pytest.fixture(scope="module")
def wine():
    wine = load_wine()
    frame = pd.DataFrame(wine.X, columns=NAMES)
    frame.insert(0, "id", [f"wine {i}" for i in range(len(frame))])
    model = GuidedClustering(3, n_init=1, random_state=0).fit(frame[NAMES])
    return frame, model, model.predict(frame[NAMES])


def cuts(frame, sizes=(70, 0, 1, 107)):
    ends = np.cumsum([0, *sizes])
    return [frame.iloc[start:stop] for start, stop in pairwise(ends)]


def test_arrow_batches_give_arrow_batches_with_ids_and_the_clusters_of_predict(wine, tmp_path):
    frame, model, labels = wine
    save_model(model, tmp_path / "m.likewise")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=50))
    found = list(load_model(tmp_path / "m.likewise").predict_batches(reader, keep=["id"]))
    assert [type(one) for one in found] == [pa.RecordBatch] * 4
    whole = pa.Table.from_batches(found)
    assert whole.schema == pa.schema([("id", table.schema.field("id").type), ("cluster", "int32")])
    assert whole["id"].to_pylist() == list(frame.id)
    assert_array_equal(whole["cluster"], labels)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_any_frame_gives_its_own_kind_and_empty_batches_stay_empty(wine, library):
    frame, model, labels = wine
    turn = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[library]
    batches = [turn(one[["x12", "id", *NAMES[:12]]]) for one in cuts(frame)]  # in any order
    found = list(model.predict_batches(iter(batches), keep=["id"], memberships=True))
    assert [type(one) for one in found] == [type(one) for one in batches]
    assert [len(one) for one in found] == [70, 0, 1, 107]
    expected = ["id", "cluster", "membership_0", "membership_1", "membership_2"]
    for one in found:
        assert list(one.column_names if library == "arrow" else one.columns) == expected
        assert str(one["cluster"].dtype if library != "arrow" else one["cluster"].type).lower() == (
            "int32"
        )
    assert_array_equal(np.concatenate([np.asarray(one["cluster"]) for one in found]), labels)
    shares = np.concatenate([np.asarray(one["membership_1"]) for one in found])
    assert_allclose(shares, model.predict_proba(frame[NAMES])[:, 1])
    if library == "pandas":
        assert_array_equal(found[3].index, batches[3].index)


def test_nothing_is_read_before_it_is_asked_for_and_nothing_is_kept_back(wine):
    frame, model, labels = wine
    taken = []

    def source():
        for one in cuts(frame):
            taken.append(len(one))
            yield one

    found = model.predict_batches(source())
    assert taken == []
    assert_array_equal(next(found)["cluster"], labels[:70])
    assert taken == [70]


def test_vectors_in_one_column_are_rows(wine):
    frame, model, labels = wine
    vectors = pa.array(frame[NAMES].to_numpy().tolist(), pa.list_(pa.float64()))
    table = pa.table({"id": frame.id, "embedding": vectors})
    (found,) = model.predict_batches([table], features=["embedding"])
    assert_array_equal(found["cluster"], labels)
    as_pandas = pd.DataFrame({"v": list(frame[NAMES].to_numpy())})
    (found,) = model.predict_batches([as_pandas], features=["v"])
    assert_array_equal(found["cluster"], labels)
    short = pa.table({"embedding": pa.array([[1.0, 2.0]])})
    with pytest.raises(ValueError, match="Batch 0, row 0: column 'embedding' holds 2 numbers"):
        list(model.predict_batches([short], features=["embedding"]))


def test_arrays_and_csr_give_arrays(wine):
    frame, _, _ = wine
    X = frame[NAMES].to_numpy()
    model = GuidedClustering(3, preparation="none", n_init=1, random_state=0).fit(X)
    labels = model.predict(X)
    found = list(model.predict_batches([X[:80], csr_array(X[80:])]))
    assert_array_equal(np.concatenate(found), labels)
    (shares,) = model.predict_batches([X[:80]], memberships=True)
    assert_allclose(shares, model.predict_proba(X[:80]))
    named = frame[NAMES].astype(np.float32)
    (found,) = model.predict_batches([named])  # without names all columns are features
    assert_array_equal(found["cluster"], model.predict(named.to_numpy()))


def test_a_model_of_a_mixed_table_finds_its_columns_itself():
    rng = np.random.RandomState(0)
    plan = rng.choice(["free", "gold"], 60)
    table = {"age": np.where(plan == "gold", 60.0, 20.0) + rng.normal(size=60), "plan": plan}
    frame = pd.DataFrame(table)
    frame.loc[3, "age"] = np.nan
    answers = Constraints.from_labels(plan == "gold", n_pairs=20, random_state=0)
    model = GuidedClustering(2, n_init=1, random_state=0).fit(frame, constraints=answers)
    mixed = frame.assign(note="x")[["note", "plan", "age"]]
    found = model.predict_batches(cuts(mixed, (25, 0, 35)), keep=["plan"])
    found = pd.concat(found)
    assert_array_equal(found["cluster"], model.predict(frame))
    assert list(found.columns) == ["plan", "cluster"]


def test_what_cannot_be_used_is_named_with_its_batch(wine):
    frame, model, _ = wine
    good = frame.iloc[:5]
    gap = frame.iloc[5:9].assign(x3=[1.0, None, 2.0, 3.0])
    batches = model.predict_batches([good, gap])
    assert len(next(batches)) == 5
    with pytest.raises(ValueError, match="Batch 1, row 1: column 'x3' is nan"):
        next(batches)
    for wrong, keep, message in [
        ([good.drop(columns="x7")], [], "Batch 0 has no column 'x7'"),
        ([good], ["ID"], "Batch 0 has no column 'ID'. Did you mean 'id'?"),
        ([good.assign(x3="a")], [], "column 'x3' has type String, not numbers"),
        ([np.ones((2, 13))], ["id"], "without named columns to keep"),
    ]:
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            list(model.predict_batches(wrong, keep=keep))
    with pytest.raises(ValueError, match="has 2 columns to use"):
        list(model.predict_batches([good], features=["x0", "x1"]))


def test_what_is_wrong_with_the_call_is_said_at_once(wine):
    frame, model, _ = wine
    with pytest.raises(TypeError, match="batches is one DataFrame"):
        model.predict_batches(frame)
    with pytest.raises(TypeError, match=r"keep='id' must be a list"):
        model.predict_batches([frame], keep="id")
    with pytest.raises(TypeError, match=r"features='v' must be a list"):
        model.predict_batches([frame], features="v")
    with pytest.raises(ValueError, match="keep has 'cluster'"):
        model.predict_batches([frame], keep=["cluster"])


def test_decimals_of_spark_and_databases_are_numbers(wine):
    frame, model, labels = wine
    exact = frame.assign(x3=[Decimal(str(cell)) for cell in frame["x3"]])
    for batch in (exact, pa.Table.from_pandas(exact)):
        (found,) = model.predict_batches([batch], keep=["id"])
        assert_array_equal(np.asarray(found["cluster"]), labels)
    exact.loc[7, "x3"] = None
    with pytest.raises(ValueError, match="Batch 0, row 7: column 'x3' is nan"):
        list(model.predict_batches([exact]))
    exact.loc[7, "x3"] = "1.5"
    with pytest.raises(ValueError, match="column 'x3' has type Object, not numbers"):
        list(model.predict_batches([exact]))
