"""Clusters written as a data set: what predict says, whole after any kill."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likewise import GuidedClustering, scale
from likewise.guided import written_clusters

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra io)")

N_ROWS = 90


@pytest.fixture(scope="module")
def made():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(N_ROWS, 2)) + 5 * np.repeat(np.eye(3, 2), 30, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GuidedClustering(3, preparation="none", n_init=1, random_state=0).fit(frame)
    return frame, model, model.predict(frame)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(written_clusters, "PART_ROWS", 40)


def test_parts_are_the_clusters_of_predict_with_kept_columns(made, tmp_path):
    frame, model, labels = made
    frame = frame.assign(id=[f"row {i}" for i in range(N_ROWS)])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    out = model.write_clusters(
        tmp_path / "rows.parquet", tmp_path / "out", keep=["id"], memberships=True
    )
    assert sorted(path.name for path in out.glob("*.parquet")) == [
        f"part-{i:05d}.parquet" for i in range(3)
    ]
    found = parquet.read_table(out)
    assert found.column_names == ["id", "cluster", "membership_0", "membership_1", "membership_2"]
    assert found["id"].to_pylist() == list(frame.id)
    assert_array_equal(found["cluster"], labels)
    assert_allclose(found["membership_2"], model.predict_proba(frame[["a", "b"]])[:, 2])


def test_every_place_of_rows_is_written_alike(made, tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra dask)")
    frame, model, labels = made
    np.save(tmp_path / "rows.npy", frame.to_numpy())
    places = {
        "frame": frame,
        "npy": tmp_path / "rows.npy",
        "blocks": scale.as_blocks(frame.to_numpy(), block_rows=25),
        "dask": frames.from_pandas(frame, npartitions=4),
    }
    for name, rows in places.items():
        found = parquet.read_table(model.write_clusters(rows, tmp_path / name))
        assert_array_equal(found["row"], np.arange(N_ROWS), err_msg=name)
        assert_array_equal(found["cluster"], labels, err_msg=name)


def test_only_missing_parts_are_made_again(made, tmp_path, monkeypatch):
    frame, model, labels = made
    rows = scale.as_blocks(frame.to_numpy(), block_rows=20)
    out = model.write_clusters(rows, tmp_path / "out")
    (out / "part-00001.parquet").unlink()
    whole, seen = written_clusters.clusters_of, []
    monkeypatch.setattr(
        written_clusters, "clusters_of", lambda b, **s: (seen.append(len(b)), whole(b, **s))[1]
    )
    model.write_clusters(rows, out)
    assert seen == [20, 20]
    assert_array_equal(parquet.read_table(out)["cluster"], labels)


def test_a_folder_of_other_work_is_refused(made, tmp_path):
    frame, model, _ = made
    model.write_clusters(frame, tmp_path / "out")
    with pytest.raises(ValueError, match="out was made by another model, other rows or settings"):
        model.write_clusters(frame[:60], tmp_path / "out")
    (tmp_path / "out" / "_likewise.json").unlink()
    with pytest.raises(ValueError, match="out has parts of something else"):
        model.write_clusters(frame, tmp_path / "out")
    with pytest.raises(ValueError, match="must be a folder"):
        model.write_clusters(frame, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="Only columns of Parquet or a dataframe can be kept"):
        model.write_clusters(scale.as_blocks(frame.to_numpy()), tmp_path / "new", keep=["a"])


def test_other_rows_of_the_same_shape_are_not_taken_for_those_that_are_written(made, tmp_path):
    frame, model, _ = made
    X = frame.to_numpy()
    np.save(tmp_path / "rows.npy", X)
    model.write_clusters(tmp_path / "rows.npy", tmp_path / "out")
    np.save(tmp_path / "rows.npy", X[::-1])
    with pytest.raises(ValueError, match="was made by another model, other rows or settings"):
        model.write_clusters(tmp_path / "rows.npy", tmp_path / "out")


PLANS = np.tile(["free", "gold", None], 30)


@pytest.mark.parametrize(
    "as_rows",
    [
        scale.as_blocks,
        lambda X: scale.as_blocks(sparse.csr_array(np.maximum(X, 0)), block_rows=25),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
    ],
    ids=["array", "CSR", "frame"],
)
def test_other_rows_in_memory_are_not_taken_for_those_that_are_written(made, tmp_path, as_rows):
    frame, model, _ = made
    X = frame.to_numpy()
    model.write_clusters(as_rows(X), tmp_path / "out")
    model.write_clusters(as_rows(np.asfortranarray(X)), tmp_path / "out")
    changed = X.copy()
    changed[-1, 0] += 1
    for other in (changed, X[:, ::-1]):
        with pytest.raises(ValueError, match="was made by another model, other rows or settings"):
            model.write_clusters(as_rows(other), tmp_path / "out")
    assert_array_equal(parquet.read_table(tmp_path / "out")["cluster"], model.predict(as_rows(X)))


def test_memberships_that_are_less_sure_are_other_work(made, tmp_path):
    frame, model, _ = made
    other = deepcopy(model)
    other.evenness_ = 0.2
    model.write_clusters(frame, tmp_path / "out", memberships=True)
    with pytest.raises(ValueError, match="was made by another model, other rows or settings"):
        other.write_clusters(frame, tmp_path / "out", memberships=True)


def test_a_level_that_changes_makes_other_rows(made, tmp_path):
    X = made[0].to_numpy()
    model = GuidedClustering(3, n_init=1, random_state=0).fit({"a": X[:, 0], "plan": PLANS})
    model.write_clusters({"a": X[:, 0], "plan": PLANS}, tmp_path / "out")
    model.write_clusters({"a": X[:, 0], "plan": PLANS.tolist()}, tmp_path / "out")
    with pytest.raises(ValueError, match="was made by another model, other rows or settings"):
        model.write_clusters({"a": X[:, 0], "plan": PLANS[::-1]}, tmp_path / "out")


def test_columns_that_changed_their_names_are_other_rows(made, tmp_path):
    frame, model, _ = made
    model.write_clusters(frame, tmp_path / "out")
    with pytest.raises(ValueError, match="was made by another model, other rows or settings"):
        model.write_clusters(frame.set_axis(["b", "a"], axis=1), tmp_path / "out")
