"""Rows in blocks: the same rows wherever they lie, and the same work on them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from likewise.scale import as_blocks


@pytest.fixture
def X():
    return np.random.RandomState(0).normal(size=(103, 4))


def sources(X, tmp_path):
    """The same rows in every place there is, some ten rows a block."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    array = pytest.importorskip("dask.array")
    np.save(tmp_path / "rows.npy", X)
    table = pyarrow.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=11)
    return {
        "memory": as_blocks(X, block_rows=10),
        "csr": as_blocks(csr_array(X), block_rows=10),
        "npy": as_blocks(tmp_path / "rows.npy", block_rows=10),
        "memory map": as_blocks(np.load(tmp_path / "rows.npy", mmap_mode="r"), block_rows=10),
        "parquet": as_blocks(tmp_path / "rows.parquet"),
        "dask": as_blocks(array.from_array(X, chunks=(9, 2))),
    }


def dense(rows):
    return rows.toarray() if issparse(rows) else rows


def test_every_place_gives_the_same_rows_in_the_same_order(X, tmp_path):
    for name, blocks in sources(X, tmp_path).items():
        assert blocks.shape == X.shape, name
        assert len(blocks) in (10, 11, 12), name
        found = np.concatenate(list(blocks.run(dense, what="reading")))
        assert_array_equal(found, X, err_msg=name)
        for i, rows in enumerate(blocks.run(dense, what="reading")):
            assert_array_equal(rows, X[blocks.bounds[i] : blocks.bounds[i + 1]])


def test_rows_are_gathered_in_the_order_asked_for_and_repeated(X, tmp_path):
    wanted = [102, 0, 50, 49, 50, 7]
    for name, blocks in sources(X, tmp_path).items():
        assert_array_equal(dense(blocks.take(wanted)), X[wanted], err_msg=name)
        assert blocks.take([]).shape == (0, 4)


@given(st.lists(st.integers(0, 29), max_size=40), st.integers(1, 31))
@settings(max_examples=40)
def test_any_rows_of_any_blocks_are_those_rows(wanted, block_rows):
    X = np.arange(60.0).reshape(30, 2)
    assert_array_equal(as_blocks(X, block_rows=block_rows).take(wanted), X[wanted])


def test_only_the_rows_asked_for_are_mapped(X):
    mapped = []

    def note(rows):
        mapped.extend(rows[:, 0])
        return rows

    as_blocks(X, block_rows=10).map(note, 4).take([3, 91, 5])
    assert_array_equal(mapped, X[[3, 5, 91], 0])


def test_threads_and_joblib_s_own_setting_change_nothing(X):
    blocks = as_blocks(X, block_rows=7)
    alone = list(blocks.run(np.sum, what="adding"))
    assert list(blocks.run(np.sum, what="adding", n_jobs=2)) == alone
    with parallel_config("threading", n_jobs=2):
        assert list(blocks.run(np.sum, what="adding")) == alone


def test_mapped_blocks_are_made_when_they_are_read(X):
    twice = as_blocks(X, block_rows=50).map(lambda rows: 2 * rows[:, :1], 1)
    assert twice.shape == (103, 1)
    assert_array_equal(twice.take([5, 80]), 2 * X[[5, 80], :1])


def test_chosen_columns_of_a_parquet_file_are_the_features(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "name": ["a", "b", "c"],
        "small": np.array([1, 2, 3], dtype=np.float32),
        "whole": [4, 5, 6],
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet", row_group_size=2)
    both = as_blocks(tmp_path / "rows.parquet", columns=["whole", "small"])
    assert both.dtype == np.float64
    assert_array_equal(both.take([0, 2]), [[4, 1], [6, 3]])
    assert as_blocks(tmp_path / "rows.parquet", columns=["small"]).dtype == np.float32
    with pytest.raises(ValueError, match=r"column 'name' has type string, not numbers"):
        as_blocks(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="no column 'other'; it has 'name', 'small', 'whole'"):
        as_blocks(tmp_path / "rows.parquet", columns=["other"])


def test_a_missing_number_in_a_file_is_named_with_its_place(tmp_path):
    X = np.ones((30, 2))
    X[17, 1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    blocks = as_blocks(tmp_path / "rows.npy", block_rows=10)
    with pytest.raises(ValueError, match=r"rows.npy, row 17: column 1 is nan"):
        blocks.take([15, 17])
    with pytest.raises(ValueError, match=r"rows.npy, row 17: column 1 is nan"):
        list(blocks.run(np.sum, what="adding"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.npy", np.ones(3), "not rows"),
        ("rows.npy", np.array([["a"]]), "not rows"),
        ("rows.csv", None, "must end in .npy or .parquet"),
    ],
    ids=["one dimension", "text", "other ending"],
)
def test_files_without_rows_are_refused_in_one_line(tmp_path, name, content, words):
    if content is not None:
        np.save(tmp_path / name, content)
    with pytest.raises(ValueError, match=re.escape(words)):
        as_blocks(tmp_path / name)


def test_rows_and_blocks_that_cannot_be_are_named(X):
    with pytest.raises(ValueError, match="Row 103 does not exist: there are 103 rows"):
        as_blocks(X).take([0, 103])
    with pytest.raises(ValueError, match="block_rows=0"):
        as_blocks(X, block_rows=0)


def test_a_source_that_changes_after_it_was_opened_is_an_error_and_no_wrong_rows(X, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    array = pytest.importorskip("dask.array")
    np.save(tmp_path / "rows.npy", X)
    write = {"row_group_size": 20}
    parquet.write_table(pyarrow.table({"x": X[:, 0]}), tmp_path / "rows.parquet", **write)
    opened = [as_blocks(tmp_path / name, block_rows=20) for name in ("rows.npy", "rows.parquet")]
    np.save(tmp_path / "rows.npy", X[:90])
    parquet.write_table(pyarrow.table({"x": X[:90, 0]}), tmp_path / "rows.parquet", **write)
    shorter = array.from_array(X[:40], chunks=(20, 4)).map_blocks(
        lambda rows: rows[:-1], chunks=((20, 20), (4,)), dtype=X.dtype
    )
    opened.append(as_blocks(shorter))
    for blocks, name in zip(opened, (" of rows.npy", " of rows.parquet", "")):
        expected = rf"A block{name} has \d+ rows, not \d+: what it is read from"
        with pytest.raises(ValueError, match=expected):
            list(blocks.run(np.sum, what="adding"))
        with pytest.raises(ValueError, match="has changed since it was opened"):
            blocks.take(np.array([0, blocks.shape[0] - 1]))
