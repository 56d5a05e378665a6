import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.features.content_sample import content_key, sample_by_content
from likewise.features.embedding_cache import BLOCK, embed_once
from likewise.files.cache_folder import cache_folder


class Network:
    """The length and the first byte of each item; it counts what it computes."""

    def __init__(self, items):
        self.items, self.computed = items, []

    def __call__(self, rows):
        self.computed += rows
        return np.array([[len(self.items[i]), self.items[i][0]] for i in rows], dtype=float)


def embed(items, folder, network="made-1"):
    made = Network(items)
    keys = [content_key(item, kind=network) for item in items]
    rows = embed_once(keys, made, network=network, n_features=2, folder=folder)
    return rows, made.computed


def test_each_content_is_computed_once_in_all(tmp_path):
    rows, computed = embed([b"aa", b"b", b"aa", b"ccc"], tmp_path)
    assert_array_equal(rows, [[2, 97], [1, 98], [2, 97], [3, 99]])
    assert rows.dtype == np.float32
    assert sorted(computed) == [0, 1, 3]
    again, computed = embed([b"ccc", b"dd", b"aa"], tmp_path)
    assert_array_equal(again, [[3, 99], [2, 100], [2, 97]])
    assert computed == [1]


def test_another_network_has_a_file_of_its_own(tmp_path):
    embed([b"a"], tmp_path, "one")
    _, computed = embed([b"a"], tmp_path, "two")
    assert computed == [0]
    assert sorted(p.name for p in (tmp_path / "embeddings").iterdir()) == [
        "one.sqlite",
        "two.sqlite",
    ]


def test_what_was_made_before_an_error_is_kept(tmp_path):
    items = [bytes([i]) for i in range(1, BLOCK + 2)]

    def fails_late(rows):
        if len(rows) < BLOCK:
            raise KeyboardInterrupt
        return np.ones((len(rows), 2))

    keys = [content_key(item, kind="made-1") for item in items]
    with pytest.raises(KeyboardInterrupt):
        embed_once(keys, fails_late, network="made-1", n_features=2, folder=tmp_path)
    assert embed(items, tmp_path)[1] == [BLOCK]


def test_the_content_itself_is_not_kept(tmp_path):
    embed([b"a secret that nobody may read"], tmp_path)
    assert b"secret" not in (tmp_path / "embeddings" / "made-1.sqlite").read_bytes()


@pytest.mark.parametrize("damage", [b"not a database, but of some length", b"SQLite format 3\0"])
def test_a_damaged_file_is_named_and_done_without(tmp_path, damage):
    path = tmp_path / "embeddings" / "made-1.sqlite"
    path.parent.mkdir()
    path.write_bytes(damage * 100)
    with pytest.warns(UserWarning, match=r"made-1.sqlite cannot be used .* Remove the file"):
        rows, computed = embed([b"aa"], tmp_path)
    assert_array_equal(rows, [[2, 97]])
    assert computed == [0]


def test_a_row_of_another_length_is_made_again(tmp_path):
    embed([b"aa"], tmp_path)
    with sqlite3.connect(tmp_path / "embeddings" / "made-1.sqlite") as connection:
        connection.execute("UPDATE embeddings SET row = zeroblob(4)")
    connection.close()
    rows, computed = embed([b"aa"], tmp_path)
    assert_array_equal(rows, [[2, 97]])
    assert computed == [0]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="set LIKEWISE_CACHE to a folder you may write to"):
        embed([b"aa"], tmp_path / "file")


def test_several_runs_share_a_file(tmp_path):
    def embed_some(start):
        return embed([bytes([i]) for i in range(start, start + 60)], tmp_path)[0]

    with ThreadPoolExecutor(3) as pool:
        parts = list(pool.map(embed_some, (1, 31, 61)))
    rows, computed = embed([bytes([i]) for i in range(1, 121)], tmp_path)
    assert computed == []
    assert_array_equal(rows[60:], parts[2])


def test_the_folder_is_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("LIKEWISE_CACHE", raising=False)
    assert cache_folder() == tmp_path / "xdg" / "likewise"
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "ours"))
    assert cache_folder() == tmp_path / "ours"


def test_a_sample_by_content_is_the_same_in_any_order():
    contents = [bytes([i]) for i in range(100)]
    chosen = {contents[i] for i in sample_by_content(contents, 10)}
    assert len(chosen) == 10
    assert {contents[::-1][i] for i in sample_by_content(contents[::-1], 10)} == chosen
    assert_array_equal(sample_by_content(contents, 100), np.arange(100))


def test_a_file_whose_table_another_run_has_not_made_yet_is_empty(tmp_path):
    path = tmp_path / "embeddings" / "made-1.sqlite"
    path.parent.mkdir()
    path.touch()
    rows = embed_once([b"a"], lambda at: np.ones((len(at), 2)), network="made-1", n_features=2,
                      folder=tmp_path)  # fmt: skip
    assert rows.tolist() == [[1.0, 1.0]]
