"""Threads are taken away in loops of small products and given back, in whatever order they end.

Counts are read from the libraries themselves; no test takes the time.
"""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from likewise import ITML, NPK, SKLR, Constraints, GuidedClustering, MPCKMeans
from likewise.numerics import threads
from likewise.numerics.threads import one_thread, one_thread_if_small

FIXED = set()  # paths of libraries built for one thread, which some solvers bring


@pytest.fixture(autouse=True)
def three_threads():
    """A number that neither the machine nor the loops would choose."""
    with threadpool_limits(3):
        FIXED.update(one["filepath"] for one in threadpool_info() if one["num_threads"] == 1)
        assert counts() == counts("openmp") == {3}
        yield


def counts(user_api="blas"):
    found = [one for one in threadpool_info() if one["user_api"] == user_api]
    return {one["num_threads"] for one in found if one["filepath"] not in FIXED}


def test_a_loop_has_one_thread_and_gives_the_others_back():
    with one_thread():
        assert counts() == counts("openmp") == {1}
    assert counts() == counts("openmp") == {3}


def test_a_loop_that_fails_gives_them_back_too():
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert counts() == counts("openmp") == {3}


def test_a_loop_inside_a_loop_gives_nothing_back():
    with one_thread():
        with one_thread():
            pass
        assert counts() == counts("openmp") == {1}
    assert counts() == counts("openmp") == {3}


def test_a_caller_that_asked_for_fewer_gets_those_back():
    with threadpool_limits(2):
        with one_thread():
            assert counts() == {1}
        assert counts() == {2}


def test_a_setting_made_in_between_stands():
    with one_thread():
        threadpool_limits(2)
    assert counts() == {2}


def test_a_loop_in_another_python_thread_has_one_thread_and_a_caller_s_limit_still_ends():
    with threadpool_limits(2):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(counts_in_a_loop).result() == {1}
        assert counts() == {2}
    assert counts() == {3}


@pytest.mark.parametrize("first_out", [0, 1])
def test_python_threads_that_overlap_give_back_what_the_first_found(first_out):
    inside, leave = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]

    def loop(i):
        with one_thread():
            inside[i].set()
            leave[i].wait(60)

    both = [threading.Thread(target=loop, args=(i,)) for i in range(2)]
    for thread, event in zip(both, inside):
        thread.start()
        assert event.wait(60)
    leave[first_out].set()
    both[first_out].join()
    assert counts() == {1}  # the other is still at it
    leave[1 - first_out].set()
    both[1 - first_out].join()
    assert counts() == {3}


def test_openmp_is_limited_in_every_python_thread():
    def loop():
        with one_thread():
            return counts("openmp")

    with one_thread():
        seen = Parallel(n_jobs=2, backend="threading")(delayed(loop)() for _ in range(4))
    assert seen == [{1}] * 4


def test_many_python_threads_leave_the_setting_as_it_was():
    def loop():
        for _ in range(50):
            with one_thread():
                assert counts() == {1}

    Parallel(n_jobs=4, backend="threading")(delayed(loop)() for _ in range(4))
    assert counts() == {3}


def test_large_arrays_keep_their_threads():
    seen = one_thread_if_small(lambda A: A.size)(lambda A: counts())
    assert seen(np.empty(threads.LARGE - 1)) == {1}
    assert seen(np.empty(threads.LARGE)) == {3}


def test_a_library_that_is_loaded_later_is_limited_too():
    code = """
from threadpoolctl import threadpool_info
from likewise.numerics.threads import one_thread
with one_thread():
    pass
assert all(one["user_api"] == "blas" for one in threadpool_info())
import sklearn.cluster
with one_thread():
    found = {one["user_api"]: one["num_threads"] for one in threadpool_info()}
assert found == {"blas": 1, "openmp": 1}, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_process_that_is_forked_in_a_loop_can_enter_another():
    code = """
import multiprocessing, threading
from likewise.numerics import threads
def loop():
    with threads.one_thread():
        return 7
if __name__ == "__main__":
    threads._blas.lock.acquire()  # another thread is just entering
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(loop).get(60) == 7
"""
    if sys.platform != "linux":
        pytest.skip("fork is the default of Linux alone")
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers_of_joblib_have_one_thread_in_their_loops(n_jobs):
    for backend in ("loky", "threading"):
        seen = Parallel(n_jobs=n_jobs, backend=backend)(delayed(counts_in_a_loop)() for _ in [0, 1])
        assert seen == [{1}, {1}]
    assert counts() == {3}


def counts_in_a_loop():
    with one_thread():
        return counts()


def draw(n=60):
    rng = np.random.RandomState(0)
    y = np.arange(n) % 3
    return rng.randn(n, 4) + 3 * y[:, None], y


@pytest.mark.parametrize(
    ("model", "loop"),
    [
        (ITML(), "likewise.metric_learning.itml.sweep_pairs"),
        (SKLR(C=1.0), "likewise.kernel_learning.logdet_kernel.sweep_pairs"),
        (NPK(), "likewise.numerics.interior_point.find_move"),
        (MPCKMeans(3, random_state=0), "likewise.cluster.mpck_means.walk_far"),
        (GuidedClustering(3, random_state=0), "likewise.kernel_learning.logdet_kernel.sweep_pairs"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_every_learner_s_loop_has_one_thread(model, loop, monkeypatch):
    X, y = draw()
    room, name = loop.rsplit(".", 1)
    inner, seen = getattr(sys.modules[room], name), []

    def watched(*args, **kwargs):
        seen.append(counts() | counts("openmp"))
        return inner(*args, **kwargs)

    monkeypatch.setattr(loop, watched)
    model.fit(X, constraints=Constraints.from_labels(y, n_pairs=40, random_state=0))
    assert seen
    assert set.union(*seen) == {1}
    assert counts() == counts("openmp") == {3}


def test_a_limit_costs_no_new_look_at_the_libraries(monkeypatch):
    with one_thread():
        pass
    monkeypatch.setattr(threads, "ThreadpoolController", None)  # a look would fail
    with one_thread():
        assert threads._libraries()
