"""Data sets of many files and tables of mixed columns, block by block."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from likewise.features import TableFeatures
from likewise.scale import as_blocks, encoded, is_mixed_blocks, table_blocks, take_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra io)")
pq = pytest.importorskip("pyarrow.parquet")

FRAME = pd.DataFrame(
    {
        "n": np.arange(40) % 7,
        "x": np.where(np.arange(40) % 9 == 0, np.nan, np.arange(40) / 3),
        "word": np.array(["red", "green", "blue"])[np.arange(40) % 3],
    }
)


def write(frame, folder, cuts=(0, 11, 11, 40)):
    (folder / "deep").mkdir(parents=True)
    for i, (start, stop) in enumerate(pairwise(cuts)):
        where = folder / "deep" if i == 2 else folder
        frame.iloc[start:stop].to_parquet(where / f"{i}.parquet", row_group_size=4, index=False)
    return folder


def test_a_folder_is_its_files_in_the_order_of_their_paths(tmp_path):
    folder = write(FRAME[["n"]], tmp_path / "rows")
    blocks = as_blocks(folder)
    paths = [part[0].relative_to(folder).as_posix() for part in blocks.parts]
    assert paths == sorted(paths)
    assert set(paths) == {"0.parquet", "deep/2.parquet"}  # 1 has no rows
    assert blocks.names == ("n",)
    assert_array_equal(np.concatenate(list(blocks.run(np.ravel, what="reading"))), FRAME.n)
    assert_array_equal(blocks.take([39, 0, 12]).ravel(), FRAME.n[[39, 0, 12]])


def test_files_that_do_not_agree_are_named(tmp_path):
    folder = write(FRAME[["n"]], tmp_path / "rows")
    FRAME[["n"]].astype(float).to_parquet(folder / "9.parquet")
    with pytest.raises(ValueError, match=r"9.parquet: column 'n' has type double, and in 0"):
        as_blocks(folder)
    FRAME[["x"]].to_parquet(folder / "9.parquet")
    with pytest.raises(ValueError, match=r"9.parquet has no column 'n'; it has 'x'"):
        as_blocks(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty is a folder without .parquet files"):
        as_blocks(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        as_blocks(str(tmp_path / "none-*.parquet"))


def test_a_column_of_vectors_is_as_many_features(tmp_path):
    V = np.arange(12, dtype=np.float32).reshape(4, 3)
    column = pa.FixedSizeListArray.from_arrays(V.ravel(), 3)
    pq.write_table(pa.table({"id": list("abcd"), "v": column}), tmp_path / "v.parquet")
    blocks = as_blocks(tmp_path / "v.parquet", columns=["v"])
    assert blocks.shape == (4, 3)
    assert blocks.dtype == np.float32
    assert_array_equal(blocks.take([3, 1]), V[[3, 1]])


def test_tables_become_the_numbers_that_they_are_in_memory(tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra dask)")
    features = TableFeatures().fit(FRAME)
    expected = features.transform(FRAME)
    folder = write(FRAME, tmp_path / "rows")
    sources = [FRAME, folder, frames.from_pandas(FRAME, npartitions=3)]
    for source in sources:
        blocks = table_blocks(source, block_rows=7)
        assert blocks.shape == (40, 3)
        assert len(blocks) > 1
        Z = encoded(features, blocks)
        assert_array_equal(np.concatenate(list(Z.run(np.asarray, what="reading"))), expected)
        assert_array_equal(Z.take([25, 3]), expected[[25, 3]])
        some = take_table(blocks, np.array([2, 13, 30]))
        assert_array_equal(features.transform(some), expected[[2, 13, 30]])


def test_a_table_that_changes_after_it_was_opened_is_an_error(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=4)
    blocks = table_blocks(path)
    FRAME[:38].to_parquet(path, row_group_size=4)  # the last group has two rows instead of four
    with pytest.raises(ValueError, match="has 2 rows, not 4"):
        take_table(blocks, np.array([2, 37]))
    with pytest.raises(ValueError, match="has 2 rows, not 4"):
        list(blocks.run(len, what="counting"))


def test_mixed_are_words_gaps_and_nothing_else(tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra dask)")
    for names, is_mixed in ((["n"], False), (["n", "x"], True), (["n", "word"], True)):
        path = tmp_path / f"{'-'.join(names)}.parquet"
        FRAME[names].to_parquet(path)
        assert is_mixed_blocks(path) == is_mixed
        assert is_mixed_blocks(frames.from_pandas(FRAME[names], npartitions=2)) == is_mixed
    assert not is_mixed_blocks(tmp_path / "rows.npy")


def test_dask_dataframes_of_numbers_are_rows(tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra dask)")
    numbers = frames.from_pandas(FRAME[["n", "x"]].fillna(0.5), npartitions=3)
    blocks = as_blocks(numbers, columns=["x", "n"])
    assert_array_equal(blocks.take([5, 1]), FRAME.fillna(0.5)[["x", "n"]].iloc[[5, 1]])
    with pytest.raises(ValueError, match=r"column 'word' has type .*, not numbers"):
        as_blocks(frames.from_pandas(FRAME, npartitions=2))
    with pytest.raises(ValueError, match="The Dask dataframe, row 18: column 0 is nan"):
        as_blocks(frames.from_pandas(FRAME[["x"]], npartitions=3)).take([20])
    with pytest.raises(ValueError, match="has no column 'm'"):
        as_blocks(numbers, columns=["m"])
    with pytest.raises(ValueError, match="has no rows"):
        as_blocks(frames.from_pandas(FRAME[:0][["n"]], npartitions=1))
