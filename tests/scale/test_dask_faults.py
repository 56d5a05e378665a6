"""What can go wrong on a Dask cluster: the same labels, or one clear error."""

import os
import signal
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("distributed", reason="Dask is not installed (extra dask)")

from distributed import Client, LocalCluster

from likewise import RCA, Constraints, GuidedClustering, scale
from likewise.scale.on_dask import AHEAD

N_ROWS, BLOCK = 400, 20


@pytest.fixture(scope="module")
def client():
    with scale.connect(n_workers=2) as client:
        yield client


@pytest.fixture(scope="module")
def made():
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, N_ROWS)
    X = (rng.normal(size=(N_ROWS, 4)) + 4 * np.eye(3, 4)[y]).astype(np.float32)
    return X, Constraints.from_labels(y, n_must_link=30, random_state=0)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Most rows are not learned from."""
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)


def fit(rows, answers, **settings):
    model = GuidedClustering(3, learner=RCA(), n_init=1, random_state=0, **settings)
    return model.fit(rows, constraints=answers)


def as_it_came(rows):
    return rows


def do_once(rows, marker, act):
    """The rows as they are; whoever sees the marker first acts."""
    try:
        os.remove(marker)
    except FileNotFoundError:
        return rows
    act()
    return rows


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def own_pid(*_):
    return os.getpid()


def test_tasks_have_readable_names_few_are_under_way_and_nothing_stays(client, made, monkeypatch):
    X, answers = made
    monkeypatch.setattr(type(client), "scatter", None)  # whoever calls it fails
    under_way = []
    blocks = scale.as_blocks(X, client=client, block_rows=BLOCK)
    for _ in blocks.run(as_it_came, what="reading rows"):
        under_way.append(set(client.futures))
    assert all(key.startswith("reading-rows-") for keys in under_way for key in keys)
    assert max(map(len, under_way)) <= AHEAD * 2  # for two workers
    fit(blocks, answers)
    scheduler = client.cluster.scheduler
    assert {"gathering-rows", "assigning-rows"} <= set(scheduler.task_prefixes)
    deadline = time.monotonic() + 60  # it lets go of tasks in its own time
    while scheduler.tasks:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not any(client.has_what().values())


def test_labels_of_a_fit_are_the_same_when_a_worker_is_killed(client, made, tmp_path):
    X, answers = made
    expected = fit(X, answers)
    marker = tmp_path / "marker"
    marker.touch()
    blocks = scale.as_blocks(X, client=client, block_rows=BLOCK)
    found = fit(blocks.map(partial(do_once, marker=str(marker), act=die), 4), answers)
    assert not marker.exists()
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.report_.labels_before, expected.report_.labels_before)
    assert_array_equal(found.predict(blocks), expected.predict(X))


def test_others_go_on_while_a_worker_is_slow(client, made, tmp_path):
    X, _ = made
    blocks = scale.as_blocks(X, client=client, block_rows=BLOCK)
    slow = partial(wait_for_others, slow=min(client.run(own_pid).values()), done=str(tmp_path))
    firsts = list(blocks.map(slow, 4).run(first_number, what="asking"))
    assert_array_equal(firsts, X[::BLOCK, 0])
    assert len(os.listdir(tmp_path)) >= 3


def wait_for_others(rows, slow, done):
    """One worker does nothing before the others have done three blocks."""
    if os.getpid() != slow:
        open(os.path.join(done, str(rows[0, 0])), "w").close()
    deadline = time.monotonic() + 120
    while os.getpid() == slow and len(os.listdir(done)) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    return rows


def first_number(rows):
    return rows[0, 0]


def test_after_a_restart_what_is_missing_is_done_again(client, made):
    X, _ = made
    found = []
    blocks = scale.as_blocks(X, client=client, block_rows=BLOCK)
    for number, total in enumerate(blocks.run(np.sum, what="adding")):
        found.append(total)
        if number == 3:
            client.restart(wait_for_workers=False)
    assert_array_equal(found, [X[i : i + BLOCK].sum() for i in range(0, N_ROWS, BLOCK)])


def test_a_block_that_kills_every_worker_is_one_error(client, made, tmp_path, monkeypatch):
    X, _ = made
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    blocks = scale.as_blocks(X, client=client, block_rows=BLOCK)
    marker = tmp_path / "marker"
    marker.touch()
    deadly = blocks.map(partial(do_once, marker=str(marker), act=die), 4)
    with pytest.raises(RuntimeError, match=r"Dask's workers died of 'adding-\w+', one after"):
        list(deadly.run(np.sum, what="adding"))


def test_a_scheduler_that_is_gone_is_one_error_and_a_checkpoint_goes_on(made, tmp_path):
    X, answers = made
    expected = fit(X, answers)
    path = tmp_path / "run"
    cluster = LocalCluster(
        n_workers=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )
    own = Client(cluster)
    blocks = scale.as_blocks(X, client=own, block_rows=BLOCK)
    whole = type(blocks)._run

    def stops_in_the_fourth(self, function, arguments, n_jobs, what):
        for number, result in enumerate(whole(self, function, arguments, n_jobs, what)):
            yield result
            if number == 3 and what == "assigning rows":
                cluster.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(blocks), "_run", stops_in_the_fourth)
        with pytest.raises(RuntimeError, match="connection to Dask's scheduler was lost"):
            fit(blocks, answers, checkpoint=str(path))
    own.close()
    assert path.exists()
    seen = []

    def counted(rows):
        seen.append(len(rows))
        return rows

    local = scale.as_blocks(X, block_rows=BLOCK)
    found = fit(local.map(counted, 4), answers, checkpoint=str(path))
    assert_array_equal(found.labels_, expected.labels_)
    n_blocks = N_ROWS // BLOCK
    assert len(seen) == n_blocks + n_blocks - 4  # the sample is in all; four have their labels
    assert not path.exists()
