"""Workers side by side have one BLAS thread each; one worker alone keeps them all."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.scale import as_blocks, connect


@pytest.fixture(autouse=True)
def three_threads():
    with threadpool_limits(3):
        yield


def n_threads(rows):
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


def seen_by_blocks(n_jobs=None, client=None):
    blocks = as_blocks(np.zeros((40, 2)), block_rows=10, client=client)
    return set(blocks.run(n_threads, what="counting threads", n_jobs=n_jobs))


def test_one_worker_keeps_its_threads():
    assert seen_by_blocks() == {3}


def test_threads_of_joblib_do_not_multiply_those_of_blas():
    assert seen_by_blocks(n_jobs=2) == {1}
    assert seen_by_blocks() == {3}


def test_dask_s_threads_do_not_multiply_those_of_blas():
    dask = pytest.importorskip("dask")
    import dask.array as da

    blocks = as_blocks(da.zeros((40, 2), chunks=(10, 2)))
    with dask.config.set(scheduler="threads"):
        assert set(blocks.run(n_threads, what="counting threads")) == {1}
    assert seen_by_blocks() == {3}


def test_dask_s_workers_have_one_thread():
    pytest.importorskip("distributed")
    with connect(n_workers=1) as client:
        assert seen_by_blocks(client=client) == {1}
