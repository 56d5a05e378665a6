"""Read a folder of idx files, as MNIST and Fashion-MNIST are distributed, as one `Dataset`.

The folder has four files, each plain or with .gz: `train-images-idx3-ubyte`,
`train-labels-idx1-ubyte`, and the same two with `t10k` for the test set. A file is
two zero bytes, the type (8: bytes), the number of axes, the length of each axis (32 bits, the high
byte first), and the values. The rows of the training set come first.
"""

import gzip
import os
import struct
import zlib
from pathlib import Path
from types import MappingProxyType

import numpy as np

from likewise.datasets.dataset import Dataset
from likewise.datasets.npz import as_floats
from likewise.files.tensor_file import printable

PARTS = ("train", "t10k")
BYTES = 8  # the type of the values
MOST_BYTES = 2**30  # of a file's values; MNIST has 2**26


def has_idx(folder: Path) -> bool:
    """Whether all four files are in the folder."""
    return all(
        find_file(folder, f"{part}-{what}") is not None
        for part in PARTS
        for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )


def find_file(folder: Path, name: str) -> Path | None:
    """The file, plain or with .gz; None where there is neither."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def read_idx_folder(
    folder: str | os.PathLike, *, name: str, target_names: tuple[str, ...] = ()
) -> Dataset:
    """Images and classes of both parts, the training set first; one error where it is damaged."""
    folder = Path(folder)
    images = [read_idx(folder, f"{part}-images-idx3-ubyte", 3) for part in PARTS]
    labels = [read_idx(folder, f"{part}-labels-idx1-ubyte", 1) for part in PARTS]
    for part, some, classes in zip(PARTS, images, labels):
        if len(some) != len(classes):
            raise ValueError(f"{folder}: {part} has {len(some)} images, but {len(classes)} labels.")
    if images[0].shape[1:] != images[1].shape[1:]:
        raise ValueError(
            f"{folder}: images of train are {images[0].shape[1:]}, of t10k {images[1].shape[1:]}."
        )
    together = np.concatenate(images)
    return Dataset(
        name,
        as_floats(together.reshape(len(together), -1)),
        np.concatenate(labels).astype(np.int64),
        target_names,
        extras=MappingProxyType({"image_shape": np.array(together.shape[1:])}),
    )


def read_idx(folder: Path, name: str, n_axes: int) -> np.ndarray:
    """One file of bytes with so many axes, or one error that names it."""
    path = find_file(folder, name)
    if path is None:
        raise FileNotFoundError(f"{folder} has neither {name} nor {name}.gz.")
    try:
        with open_plain(path) as file:
            head = file.read(4 + 4 * n_axes)
            if head[:4] != bytes([0, 0, BYTES, n_axes]):
                raise ValueError(f"it does not begin as one of bytes with {n_axes} axes")
            lengths = struct.unpack(f">{n_axes}I", head[4:])
            n_values = int(np.prod(lengths, dtype=object))
            if n_values > MOST_BYTES:
                raise ValueError(f"{n_values} values")
            values = file.read(n_values + 1)
        if len(values) != n_values:
            raise ValueError(f"it should have {n_values} values")
    except (OSError, EOFError, ValueError, zlib.error, struct.error) as error:
        raise ValueError(
            f"{path} is not a readable idx file ({printable(error)}). Copy it again."
        ) from None
    return np.frombuffer(values, dtype=np.uint8).reshape(lengths)


def open_plain(path: Path):
    """The file without its compression."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
