"""GuidedClustering on blocks: the same labels wherever the rows are, and after a kill."""

import os
from copy import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import RCA, Constraints, GuidedClustering, scale
from likewise.guided import many_rows

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra io)")

N_ROWS, NAMES = 400, ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def made():
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, N_ROWS)
    X = (rng.normal(size=(N_ROWS, 4)) + 4 * np.eye(3, 4)[y]).astype(np.float32)
    clicks = np.full(N_ROWS, -1)
    clicks[:24] = y[:24]
    return X, {
        "clicks": Constraints.from_partial_labels(clicks),
        "pairs": Constraints.from_labels(y, n_must_link=30, random_state=0),
    }


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Most rows are not learned from."""
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
    monkeypatch.setattr("likewise.guided.outcome.GRAPH_ROWS", 60)


def model(learner=None, **settings):
    """With a learner that is quick; what is learned by default is the business of other tests."""
    return GuidedClustering(3, learner=learner or RCA(), n_init=1, random_state=0, **settings)


@pytest.fixture(scope="module")
def by_anchors(made):
    """Learned by default from clicks: rows go by the memberships of anchors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
        patch.setattr("likewise.guided.outcome.GRAPH_ROWS", 60)
        found = model("auto").fit(made[0], constraints=made[1]["clicks"])
    assert found.anchors_ is not None
    return found


def write_files(frame, folder):
    """A data set of three files, with small row groups, as Spark would leave it."""
    folder.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(folder / f"part-{i}.parquet", row_group_size=70, index=False)
    (folder / "_SUCCESS").touch()
    (folder / "_spoiled.parquet").write_text("not for us")
    return folder


def test_labels_are_the_same_in_memory_in_files_and_on_dask(made, by_anchors, tmp_path):
    dask = pytest.importorskip("dask", reason="Dask is not installed (extra dask)")
    arrays, frames = map(pytest.importorskip, ("dask.array", "dask.dataframe"))
    X, answers = made[0], made[1]["pairs"]
    frame = pd.DataFrame(X, columns=NAMES)
    np.save(tmp_path / "rows.npy", X)
    places = {
        "npy": tmp_path / "rows.npy",
        "folder": write_files(frame, tmp_path / "rows"),
        "pattern": str(tmp_path / "rows" / "part-*.parquet"),
        "dask array": arrays.from_array(X, chunks=(90, 2)),
        "dask dataframe": frames.from_pandas(frame, npartitions=4),
    }
    expected = model().fit(X, constraints=answers)
    with dask.config.set(scheduler="sync"):
        for name, rows in places.items():
            found = model().fit(rows, constraints=answers)
            assert_array_equal(found.labels_, expected.labels_, err_msg=name)
            assert_array_equal(found.report_.labels_before, expected.report_.labels_before)
            assert_array_equal(found.predict(rows), expected.predict(X), err_msg=name)
            for one in (expected, by_anchors):
                assert_array_equal(one.predict(rows), one.predict(X), err_msg=name)
                assert_allclose(one.predict_proba(rows), one.predict_proba(X), atol=1e-6)
                assert_allclose(np.asarray(one.transform(rows)), one.transform(X), atol=1e-5)
    again = model("auto").fit(places["folder"], constraints=made[1]["clicks"])
    assert_array_equal(again.labels_, by_anchors.labels_)


def test_columns_of_files_are_found_by_name_in_any_order(made, tmp_path):
    X, answers = made
    frame = pd.DataFrame(X, columns=NAMES)
    folder = write_files(frame, tmp_path / "rows")
    fitted = model().fit(folder, constraints=answers["pairs"])
    assert list(fitted.feature_names_in_) == NAMES
    turned = frame.assign(id=np.arange(N_ROWS).astype(str))[["id", *NAMES[::-1]]]
    turned.to_parquet(tmp_path / "turned.parquet")
    assert_array_equal(fitted.predict(tmp_path / "turned.parquet"), fitted.predict(folder))
    np.save(tmp_path / "few.npy", X[:, :3])
    with pytest.raises(ValueError, match="X has 3 features, but GuidedClustering is expecting 4"):
        fitted.predict(tmp_path / "few.npy")


def test_mixed_tables_in_files_and_on_dask_give_the_clusters_of_memory(made, tmp_path, monkeypatch):
    dask = pytest.importorskip("dask", reason="Dask is not installed (extra dask)")
    frames = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("likewise.guided.raw_rows.FEATURE_ROWS", 200)
    monkeypatch.setattr("likewise.guided.raw_rows.TABLE_ROWS", 150)
    X, answers = made
    frame = pd.DataFrame(X[:, :2].astype(np.float64), columns=["a", "b"])
    frame["plan"] = np.array(["free", "gold", "none"])[X[:, 2:].argmax(axis=1) + (X[:, 0] > 2)]
    frame.loc[::50, "a"] = np.nan
    folder = write_files(frame, tmp_path / "rows")
    expected = model().fit(frame, constraints=answers["pairs"])
    assert expected.features_ is not None
    places = [folder, frames.from_pandas(frame, npartitions=3)]
    with dask.config.set(scheduler="sync"):
        for rows in places:
            found = model().fit(rows, constraints=answers["pairs"])
            assert_array_equal(found.labels_, expected.labels_)
            assert_array_equal(expected.predict(rows), expected.predict(frame))
            assert_allclose(expected.transform(rows), expected.transform(frame))


def test_other_transformers_get_frames_of_pandas(made, tmp_path):
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, answers = made
    frame = pd.DataFrame(X[:, :3].astype(np.float64), columns=list("abc"))
    frame["plan"] = np.where(X[:, 3] > 0, "free", "gold")
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["plan"]), remainder="passthrough"
    )
    folder = write_files(frame, tmp_path / "rows")
    expected = model(features=encoder).fit(frame, constraints=answers["pairs"])
    found = model(features=encoder).fit(folder, constraints=answers["pairs"])
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.predict(folder), expected.predict(frame))


def test_a_killed_fit_goes_on_at_the_block_where_it_stopped(made, tmp_path, monkeypatch):
    X, answers = made[0], made[1]["pairs"]
    np.save(tmp_path / "rows.npy", X)
    rows = scale.as_blocks(tmp_path / "rows.npy", block_rows=60)
    expected = model().fit(X, constraints=answers).labels_
    path = str(tmp_path / "run")
    whole, seen = many_rows.assign_block, []

    def dies_in_the_fourth(block, **settings):
        seen.append(len(block))
        if len(seen) == 4:
            raise KeyboardInterrupt
        return whole(block, **settings)

    monkeypatch.setattr(many_rows, "assign_block", dies_in_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        model(checkpoint=path).fit(rows, constraints=answers)
    with open(path, "ab") as file:  # and killed in the middle of a write
        file.write(b"123")
    found = model(checkpoint=path).fit(rows, constraints=answers)
    assert seen[4:] == [60, 60, 60, 40]
    assert_array_equal(found.labels_, expected)
    assert not os.path.exists(path)


def test_a_checkpoint_of_other_work_is_refused_and_needs_a_seed(made, tmp_path):
    X, answers = made
    path = tmp_path / "run"
    path.write_bytes(b"x" * 64)
    with pytest.raises(ValueError, match=r"was made by other rows, answers or settings. Remove it"):
        model(checkpoint=str(path)).fit(X, constraints=answers["pairs"])
    with pytest.raises(ValueError, match="checkpoint needs an int as random_state, not None"):
        GuidedClustering(3, checkpoint=str(path)).fit(X)


def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_work(made, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "run.labels"):
        with pytest.raises(ValueError, match="must be a file in a folder that exists"):
            model(checkpoint=path).fit(made[0], constraints=made[1]["pairs"])


def test_a_file_without_rows_has_no_labels_and_no_memberships(made, by_anchors, tmp_path):
    np.save(tmp_path / "none.npy", made[0][:0])
    by_means = model().fit(made[0], constraints=made[1]["pairs"])
    for fitted in (by_anchors, by_means):
        assert fitted.predict(tmp_path / "none.npy").shape == (0,)
        assert fitted.predict_proba(tmp_path / "none.npy").shape == (0, 3)


def test_torch_on_the_cpu_assigns_as_numpy_does(made, by_anchors):
    pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    X, answers = made
    by_centers = model().fit(X, constraints=answers["pairs"])
    found = model(device="cpu").fit(X, constraints=answers["pairs"])
    assert np.mean(found.labels_ != by_centers.labels_) <= 1 / N_ROWS  # up to ties
    for one in (by_centers, by_anchors):
        there = copy(one).set_params(device="cpu")
        assert np.mean(there.predict(X) != one.predict(X)) <= 1 / N_ROWS
        assert_allclose(there.transform(scale.as_blocks(X)), one.transform(X), atol=1e-4)


def test_contradictions_among_many_rows_are_named_as_among_few(monkeypatch):
    given = {"must_link": [(7, 3), (3, 5)], "cannot_link": [(5, 7)], "closer": [(1, 2, 3)]}
    expected = many_rows.conflict_messages(Constraints(9, **given))
    monkeypatch.setattr(many_rows, "MANY", 8)
    found = many_rows.conflict_messages(Constraints(9, **given))
    assert len(found) == len(expected) == 1
    assert [set(filter(str.isdigit, one)) for one in found] == [
        set(filter(str.isdigit, one)) for one in expected
    ]
    assert len(many_rows.conflict_messages(Constraints(9))) == 0
