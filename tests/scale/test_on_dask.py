"""Work on a Dask cluster: two worker processes on loopback, one of which may die."""

import os
import signal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("distributed", reason="Dask is not installed (extra dask)")

import dask
import dask.array as da

from likewise import Constraints, GuidedClustering, SpectralReweighting, scale
from likewise.cli import main
from likewise.datasets import load_wine, make_xor


@pytest.fixture(scope="module")
def client():
    with scale.connect(n_workers=2) as client:
        yield client


@pytest.fixture(scope="module")
def xor():
    data = make_xor(900, random_state=0)
    answers = Constraints.from_labels(data.y, n_pairs=40, random_state=0)
    space = SpectralReweighting(n_landmarks=60, random_state=0)
    return data.X, answers, space.fit(data.X, constraints=answers)


def die_once(rows, marker):
    """The rows as they are; whoever sees the marker first dies of it."""
    try:
        os.remove(marker)
    except FileNotFoundError:
        return rows
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_cluster_gives_what_one_process_gives_to_the_last_bit(client, xor, tmp_path):
    X, _, space = xor
    np.save(tmp_path / "rows.npy", X)
    local = scale.as_blocks(X, block_rows=300)
    expected = scale.transform(space, local)
    model = scale.BlockKMeans(4, max_iter=4, random_state=0).fit(local)
    for rows in (X, tmp_path / "rows.npy"):
        blocks = scale.as_blocks(rows, client=client, block_rows=300)
        assert_array_equal(scale.transform(space, blocks), expected)
        same = scale.BlockKMeans(4, max_iter=4, random_state=0).fit(blocks)
        assert_array_equal(same.labels_, model.labels_)
        assert_array_equal(same.cluster_centers_, model.cluster_centers_)
        assert same.n_iter_ == model.n_iter_


def test_a_killed_worker_changes_nothing(client, xor, tmp_path):
    X, _, _ = xor
    expected = scale.BlockKMeans(4, max_iter=6, random_state=0, tol=0).fit(
        scale.as_blocks(X, block_rows=300)
    )
    marker = tmp_path / "marker"
    blocks = scale.as_blocks(X, client=client, block_rows=300)
    before = {worker["pid"] for worker in client.run(_own_pid).values()}
    marker.touch()
    model = scale.BlockKMeans(4, max_iter=6, random_state=0, tol=0)
    model.fit(blocks.map(partial(die_once, marker=str(marker)), 2))
    assert not marker.exists()
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    after = {worker["pid"] for worker in client.run(_own_pid).values()}
    assert len(before - after) == 1


def _own_pid():
    return {"pid": os.getpid()}


def test_dask_arrays_stay_lazy_and_map_as_arrays_do(client, xor):
    X, _, space = xor
    rows = da.from_array(X, chunks=(400, 1))
    Z = scale.transform(space, rows)
    assert isinstance(Z, da.Array)
    assert Z.shape == (900, len(space.weights_))
    assert_allclose(Z.compute(), space.transform(X), atol=1e-12)
    fitted = scale.BlockKMeans(4, max_iter=4, random_state=0).fit(Z)
    again = scale.BlockKMeans(4, max_iter=4, random_state=0).fit(
        scale.as_blocks(space.transform(X))
    )
    assert_array_equal(fitted.labels_, again.labels_)
    assert_array_equal(fitted.predict(scale.as_blocks(Z, client=client)), fitted.labels_)


def test_dask_without_a_cluster_is_enough(xor):
    X, answers, space = xor
    rows = da.from_array(X, chunks=(200, 2))
    with dask.config.set(scheduler="threads"):
        same = scale.fit(
            SpectralReweighting(n_landmarks=60, random_state=0), rows, constraints=answers
        )
    assert_array_equal(same.weights_, space.weights_)


def test_arrays_that_are_no_rows_or_do_not_know_their_shape_are_refused():
    rows = da.from_array(np.ones((6, 2)), chunks=(2, 2))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        scale.as_blocks(rows[rows[:, 0] > 0])
    with pytest.raises(TypeError, match="not a Dask array of rows"):
        scale.as_blocks(rows[:, 0])


def test_joblib_s_loops_run_on_dask_when_configured(client, xor):
    X, _, _ = xor
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=60, random_state=0)
    expected = GuidedClustering(3, n_init=2, random_state=0).fit(wine.X, constraints=answers)
    blocks = scale.as_blocks(X, block_rows=300)
    with parallel_config("dask"):
        model = GuidedClustering(3, n_init=2, random_state=0).fit(wine.X, constraints=answers)
        pids = set(blocks.run(_pid_of_work, what="asking"))
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.report_.trial_scores, expected.report_.trial_scores)
    assert os.getpid() not in pids


def _pid_of_work(rows):
    return os.getpid()


def test_the_command_clusters_a_parquet_file_as_it_does_in_memory(
    client, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
    wine = load_wine()
    frame = pd.DataFrame(wine.X, columns=[f"x{j}" for j in range(13)])
    frame = frame.assign(id=[f"wine {i}" for i in range(len(frame))])
    frame.to_parquet(tmp_path / "wine.parquet", row_group_size=40)
    answers = Constraints.from_labels(wine.y, n_pairs=40, random_state=0)
    ids = list(frame.id)
    Constraints(ids=ids, must_link=answers.must_link, cannot_link=answers.cannot_link).write(
        tmp_path / "answers.csv"
    )
    source = ["cluster", str(tmp_path / "wine.parquet"), "-c", str(tmp_path / "answers.csv")]
    source += ["-k", "3", "--method", "itml"]
    main([*source, "-o", str(tmp_path / "local.csv")])
    capsys.readouterr()
    address = client.scheduler.address
    main([*source, "-o", str(tmp_path / "dask.csv"), "--engine", "dask", "--scheduler", address])
    told = capsys.readouterr().err
    assert "178 rows, 13 features, 40 answers; in 5 blocks, 2 workers" in told
    assert (tmp_path / "dask.csv").read_text() == (tmp_path / "local.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler works only with --engine dask"),
        (["--engine", "dask", "--method", "cop-kmeans"], "needs all rows in memory"),
        (["--engine", "dask", "--report", "r.html"], "report needs all rows in memory"),
        (["--engine", "dask"], "reads .parquet and .npy"),
    ],
    ids=["scheduler", "method", "report", "csv"],
)
def test_what_dask_cannot_do_is_refused_before_any_work(tmp_path, capsys, arguments, words):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(SystemExit):
        main(["cluster", str(tmp_path / "rows.csv"), "-k", "2", "-o", "-", *arguments])
    assert words in capsys.readouterr().err


def test_tasks_have_names_that_people_read_and_are_grouped_by_them(client, xor):
    from dask.utils import key_split

    X, _, _ = xor
    seen = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.task_prefixes))
    blocks = scale.as_blocks(X, client=client, block_rows=300)
    list(blocks.run(np.sum, what="k-means, round 3"))
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert seen <= len(names)
    assert "k-means-round" in names
    assert key_split("k-means-round-0123456700000001") == "k-means-round"
