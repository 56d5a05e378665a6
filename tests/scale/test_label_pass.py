"""One pass of labels: what it finds, and what a file of it holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.scale import as_blocks, fingerprint_of, label_all

X = np.arange(14.0).reshape(7, 2)


def both(rows):
    return np.stack([rows[:, 0] % 3, rows[:, 1] % 5])


def dies(rows, n_left):
    if not n_left:
        raise KeyboardInterrupt
    n_left.pop()
    return both(rows)


@given(st.integers(1, 8), st.integers(0, 7), st.integers(0, 15))
@settings(max_examples=30)
def test_after_any_kill_the_labels_are_those_of_one_go(tmp_path_factory, step, n_blocks, n_torn):
    blocks = as_blocks(X, block_rows=step)
    path = tmp_path_factory.mktemp("pass") / "run"
    expected = both(X)
    assert_array_equal(label_all(blocks, both, n_labels=2), expected)
    print_of = fingerprint_of(blocks, X)
    given = {"n_labels": 2, "checkpoint": path, "fingerprint": print_of}
    left = [1] * n_blocks
    if n_blocks < len(blocks):
        with pytest.raises(KeyboardInterrupt):
            label_all(blocks, dies, left, **given)
        with open(path, "r+b") as file:
            file.truncate(max(path.stat().st_size - n_torn, 0))
    assert_array_equal(label_all(blocks, both, **given), expected)
    assert not path.exists()


def test_blocks_that_are_done_are_not_read_again(tmp_path):
    blocks = as_blocks(X, block_rows=2)
    given = {"n_labels": 2, "checkpoint": tmp_path / "run", "fingerprint": b"f" * 32}
    with pytest.raises(KeyboardInterrupt):
        label_all(blocks, dies, [1, 1], **given)
    read = []
    label_all(blocks.map(lambda rows: (read.append(rows[0, 0]), rows)[1], 2), both, **given)
    assert read == [8.0, 12.0]


def test_a_file_of_other_work_is_refused_and_left_alone(tmp_path):
    blocks = as_blocks(X, block_rows=2)
    path = tmp_path / "run"
    path.write_bytes(b"g" * 40)
    with pytest.raises(ValueError, match="was made by other rows"):
        label_all(blocks, both, n_labels=2, checkpoint=path, fingerprint=b"f" * 32)
    assert path.read_bytes() == b"g" * 40


def test_the_fingerprint_knows_rows_blocks_and_arrays():
    blocks = as_blocks(X, block_rows=2)
    others = [
        fingerprint_of(as_blocks(X, block_rows=3), X),
        fingerprint_of(as_blocks(X[:6], block_rows=2), X),
        fingerprint_of(blocks, X[::-1]),
        fingerprint_of(blocks, X.reshape(2, 7)),
        fingerprint_of(blocks, X.astype(np.float32)),
    ]
    assert fingerprint_of(blocks, X, None) == fingerprint_of(blocks, X)
    assert len({fingerprint_of(blocks, X), *others}) == 6
