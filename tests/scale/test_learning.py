"""Learning from gathered rows, and mapping all rows block by block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans

from likewise import ITML, SKLR, Constraints, SpectralReweighting, scale
from likewise.datasets import make_xor
from likewise.numerics.rows import sample_rows

LEARNERS = {
    "SKLR": SKLR(C=1.0, n_landmarks=60, random_state=0),
    "SpectralReweighting": SpectralReweighting(n_landmarks=60, random_state=0),
    "ITML": ITML(random_state=0),
}


@pytest.fixture
def xor():
    data = make_xor(400, random_state=0)
    return data.X, data.y, Constraints.from_labels(data.y, n_pairs=40, random_state=0)


@pytest.mark.parametrize("name", LEARNERS)
def test_up_to_n_rows_it_is_the_learner_s_own_fit(xor, name):
    X, _, answers = xor
    own = clone(LEARNERS[name]).fit(X, constraints=answers)
    same = scale.fit(clone(LEARNERS[name]), X, constraints=answers)
    assert_array_equal(same.transform(X), own.transform(X))


@pytest.mark.parametrize("name", LEARNERS)
def test_beyond_it_learns_from_the_rows_of_answers_and_a_sample(xor, name):
    X, _, answers = xor
    blocks = scale.as_blocks(X, block_rows=64)
    space = scale.fit(
        clone(LEARNERS[name]), blocks, constraints=answers, n_rows=150, random_state=0
    )
    seed = np.random.RandomState(0).randint(2**31 - 1)
    rows = sample_rows(400, 150, answers.touched_rows(), seed)
    same = clone(LEARNERS[name]).fit(X[rows], constraints=answers.restrict(rows))
    assert len(rows) == 150
    assert_array_equal(space.transform(X), same.transform(X))
    if name == "SpectralReweighting":
        assert_array_equal(space.landmarks_, same.landmarks_)  # as its own fit left it


def test_enough_rows_are_gathered_for_all_landmarks(xor):
    X, _, answers = xor
    space = SpectralReweighting(n_landmarks=120, random_state=0)
    scale.fit(space, X, constraints=answers, n_rows=80, random_state=0)
    assert len(space.landmarks_) == 120


@given(st.integers(1, 200), st.integers(1, 60), st.sets(st.integers(0, 199)), st.integers(0, 9))
def test_a_sample_has_every_forced_row_once_and_enough_others(n_rows, n_wanted, forced, seed):
    forced = np.array(sorted(row for row in forced if row < n_rows), dtype=np.int64)
    rows = sample_rows(n_rows, n_wanted, forced, seed)
    assert set(forced) <= set(rows) <= set(range(n_rows))
    assert_array_equal(rows, np.unique(rows))
    others = min(max(n_wanted - len(forced), n_wanted // 2), n_rows - len(forced))
    assert len(rows) == (n_rows if n_rows <= n_wanted else len(forced) + others)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LEARNERS)
def test_blocks_map_to_what_the_whole_maps_to(xor, name, dtype, tmp_path):
    X, _, answers = xor
    X = X.astype(dtype)
    space = clone(LEARNERS[name]).fit(X, constraints=answers)
    whole = space.transform(X)
    for rows in (scale.as_blocks(X, block_rows=64), X):
        Z = scale.transform(space, rows)
        assert Z.dtype == dtype
        assert_allclose(Z, whole, rtol=1e-6, atol=1e-9)
    stored = scale.transform(space, scale.as_blocks(X, block_rows=64), out=tmp_path / "codes.npy")
    assert_array_equal(stored, scale.transform(space, scale.as_blocks(X, block_rows=64)))
    assert isinstance(stored, np.memmap)
    again = scale.mapped(space, scale.as_blocks(X, block_rows=64))
    assert again.shape == whole.shape
    assert_allclose(again.take([3, 399]), np.asarray(stored)[[3, 399]], rtol=1e-5, atol=1e-6)


def test_sparse_rows_map_as_dense_ones_do(xor):
    X, _, answers = xor
    space = SKLR(C=1.0, n_landmarks=60, random_state=0).fit(csr_array(X), constraints=answers)
    blocks = scale.as_blocks(csr_array(X), block_rows=64)
    assert_allclose(scale.transform(space, blocks), space.transform(csr_array(X)), atol=1e-9)


def test_clusters_of_blocks_are_those_of_the_whole(xor):
    X = xor[0]
    model = KMeans(4, n_init=1, random_state=0).fit(X)
    assert_array_equal(scale.predict(model, scale.as_blocks(X, block_rows=33)), model.labels_)


def test_a_failed_write_leaves_no_file(xor, tmp_path):
    X, _, answers = xor
    space = ITML(random_state=0).fit(X, constraints=answers)

    def fail(rows):
        raise OSError("the disk is gone")

    blocks = scale.as_blocks(X, block_rows=64).map(fail, 2)
    with pytest.raises(OSError, match="the disk is gone"):
        scale.transform(space, blocks, out=tmp_path / "codes.npy")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"must end in \.npy"):
        scale.transform(space, X, out=tmp_path / "codes.bin")
