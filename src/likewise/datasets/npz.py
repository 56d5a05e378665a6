"""Read one .npz file of arrays as a `Dataset`.

The layout: `X` (n, d) or (n, h, w) and `y` (n,); or one UTF-8 buffer `text` with its n + 1
`offsets` in the place of X; or the `data`, `indices`, `indptr` and `shape` of a CSR matrix;
`target_names` and `feature_names`; anything else is an extra. Narrow integer and float types are
for size only and are widened here.
"""

import lzma
import os
import struct
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from likewise.datasets.dataset import Dataset
from likewise.files.tensor_file import printable

FLOAT32_ABOVE = 2**24  # values; as float64 they would take more than 128 MiB

# What zip, its compressions and numpy raise on bytes that are no .npz file.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(ValueError, TypeError, KeyError, RuntimeError, MemoryError, struct.error),
)
# Bytes that a file of any size may unpack to, and those for each byte of a larger file: real data
# sets reach a tenth of that.
_UNPACKED_ANYWAY, _UNPACKED_PER_BYTE = 2**28, 100
_VALUES_AT_ONCE = 2**16  # as decimals: 128 bytes each


def read_npz(path: str | os.PathLike, *, name: str | None = None, divisor: int = 1) -> Dataset:
    """Read a .npz file in the layout above; nothing in it is ever run.

    Parameters
    ----------
    path : str or path
        The file.
    name : str, default=None
        What to call the set; None takes the file's name.
    divisor : int, default=1
        What the stored X was multiplied by to be kept as integers.

    Returns
    -------
    Dataset
        With X widened to floats and y to int64.

    Examples
    --------
    >>> import tempfile
    >>> from likewise.datasets import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/three.npz", X=np.eye(3), y=np.array([0, 0, 1]))
    ...     three = read_npz(f"{folder}/three.npz")
    >>> three.name, three.X.shape
    ('three', (3, 3))
    """
    try:
        # opened here: np.load leaves a damaged file open
        with open(path, "rb") as raw:
            _check_sizes(raw)
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except _DAMAGE as error:
        raise ValueError(
            f"{path} is not a readable .npz file ({printable(error)}). Copy it again."
        ) from None
    try:
        return _as_dataset(name or Path(path).stem, arrays, divisor)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} does not contain a data set: {printable(error)}. "
            "See likewise.datasets.npz for the layout."
        ) from None


def _check_sizes(raw) -> None:
    """Refuse a file that would unpack to far more than it takes, before anything is unpacked."""
    size = raw.seek(0, os.SEEK_END)
    raw.seek(0)
    if raw.read(2) != b"PK":
        raise ValueError("it is not a zip file")
    with zipfile.ZipFile(raw) as file:
        unpacked = sum(member.file_size for member in file.infolist())
    if unpacked > max(_UNPACKED_ANYWAY, _UNPACKED_PER_BYTE * size):
        raise ValueError(f"{size / 1e6:.1f} MB that unpack to {unpacked / 1e6:.0f} MB")


def _as_dataset(name, arrays, divisor):
    X = _take_rows(arrays, divisor)
    y = arrays.pop("y", None)
    if y is not None:
        if y.ndim != 1 or y.dtype.kind not in "iu" or y.min(initial=0) < 0:
            raise ValueError(f"y has type {y.dtype} and shape {y.shape}, not class codes from 0")
        y = y.astype(np.int64)
    target_names = tuple(map(str, arrays.pop("target_names", ())))
    feature_names = tuple(map(str, arrays.pop("feature_names", ())))
    extras = MappingProxyType({key: _widen(array) for key, array in arrays.items()})
    data = Dataset(name, X, y, target_names, feature_names, extras)
    if X is not None and y is not None and len(y) != data.n_rows:
        raise ValueError(f"X has {data.n_rows} rows, y has {len(y)}")
    return data


def _take_rows(arrays, divisor):
    if "text" in arrays:
        buffer, offsets = arrays.pop("text").tobytes(), arrays.pop("offsets")
        return [buffer[a:b].decode() for a, b in pairwise(offsets)]
    if "indptr" in arrays:
        data, indices, indptr, shape = map(arrays.pop, ("data", "indices", "indptr", "shape"))
        # int32: scipy would keep the file's int16, which other libraries' routines refuse
        indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
        return sparse.csr_matrix((data.astype(np.float64), indices, indptr), shape=tuple(shape))
    if "X" not in arrays:
        return None
    X = arrays.pop("X")
    if X.ndim == 3:
        arrays["image_shape"] = np.array(X.shape[1:])
        X = X.reshape(len(X), -1)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"X has type {X.dtype} and shape {X.shape}, not rows of numbers")
    return as_floats(X) / divisor


def as_floats(X: np.ndarray) -> np.ndarray:
    """X as float64, or as float32 where that would be large."""
    if X.size > FLOAT32_ABOVE:
        return X.astype(np.float32)
    if X.dtype == np.float32:
        wide = np.empty(X.shape)
        for part in gen_batches(X.size, _VALUES_AT_ONCE):  # decimals: 5.1 was meant, not 5.0999999
            wide.flat[part] = X.flat[part].astype(str).astype(np.float64)
        return wide
    return X.astype(np.float64)


def _widen(array):
    wide = {"i": np.int64, "u": np.int64, "f": np.float64}.get(array.dtype.kind, array.dtype)
    return array.astype(wide)
