"""MNIST and Fashion-MNIST as the four idx files that they are distributed in."""

import gzip
import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.datasets import available, fetch

IMAGES = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3)
LABELS = np.uint8([3, 0, 1, 0, 2])


def idx_bytes(array):
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_parts(folder, *, compress=True, images=IMAGES, labels=LABELS):
    """The first three rows to train on, the others to test on."""
    folder.mkdir(parents=True)
    for part, rows in (("train", slice(3)), ("t10k", slice(3, None))):
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            content, name = idx_bytes(array[rows]), f"{part}-{name}-ubyte"
            if compress:
                content, name = gzip.compress(content), f"{name}.gz"
            (folder / name).write_bytes(content)


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    """An empty cache, a folder and a system of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path / "own"))
    monkeypatch.setattr("likewise.datasets.fetched.SYSTEM", tmp_path / "system")
    return tmp_path


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("where", ["own", "system"])
def test_four_files_are_one_set_with_the_training_rows_first(places, where, compress):
    write_parts(places / where / "fashion-mnist", compress=compress)
    assert available()["fashion_mnist"] == {"own": "folder", "system": "system"}[where]
    assert available()["mnist"] == "download"
    data = fetch("fashion_mnist")
    assert_array_equal(data.X, IMAGES.reshape(5, 6).astype(float))
    assert_array_equal(data.y, LABELS)
    assert_array_equal(data.extras["image_shape"], [2, 3])


def test_one_npz_file_of_your_own_goes_before_idx_files(places):
    write_parts(places / "own" / "mnist")
    assert fetch("mnist").n_rows == 5
    np.savez(places / "own" / "mnist.npz", X=np.zeros((2, 4)), y=np.zeros(2, int))
    assert fetch("mnist").n_rows == 2


def test_three_of_the_four_files_are_no_set(places):
    write_parts(places / "own" / "fashion-mnist")
    (places / "own" / "fashion-mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    assert available()["fashion_mnist"] == "download"


@pytest.mark.parametrize("compress", [True, False])
def test_no_truncation_and_no_changed_head_gets_past_an_error_that_names_the_file(places, compress):
    folder = places / "own" / "fashion-mnist"
    write_parts(folder, compress=compress)
    path = next(folder.glob("train-images*"))
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 5)]
    if not compress:
        damaged += [
            b"\0\0\x0d\x03" + whole[4:],
            whole[:4] + b"\xff" * 12 + whole[16:],
            whole + b"x",
        ]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"train-images.* is not a readable idx file"
        ) as caught:
            fetch("fashion_mnist")
        assert "\n" not in str(caught.value)


def test_parts_that_do_not_fit_together_are_refused(places):
    folder = places / "own" / "mnist"
    write_parts(folder, compress=False)
    labels = folder / "t10k-labels-idx1-ubyte"
    labels.write_bytes(idx_bytes(np.zeros(7, np.uint8)))
    with pytest.raises(ValueError, match="t10k has 2 images, but 7 labels"):
        fetch("mnist")
    labels.write_bytes(idx_bytes(LABELS[3:]))
    images = folder / "t10k-images-idx3-ubyte"
    images.write_bytes(idx_bytes(np.zeros((2, 4, 4), np.uint8)))
    with pytest.raises(ValueError, match=r"images of train are \(2, 3\), of t10k \(4, 4\)"):
        fetch("mnist")


def test_a_set_that_is_nowhere_says_which_files_would_do(places, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: 1 / 0)
    with pytest.raises(FileNotFoundError, match=r"fashion_mnist\.npz, or fashion-mnist/ with its"):
        fetch("fashion_mnist")
