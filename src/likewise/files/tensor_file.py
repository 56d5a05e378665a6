"""Named arrays and one JSON document in a single file that is whole or not there.

The file is a safetensors file: reading it runs no code, whoever wrote it. The document, the types
that safetensors lacks and a SHA-256 of everything stand in its header as text. Strings are kept as
their code points, in the narrowest unsigned integer that holds them; dates as int64 with their
unit. What is read equals what was written: type, shape and every bit (byte order becomes the
machine's own).

Writing goes to a new file beside the old one, which is then replaced in one step, so that an error,
a full disk or Ctrl-C leaves the old file or none. The checksum finds damage. It is no signature:
somebody who can write the file can also write a checksum that fits.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from likewise.files.atomic_file import replacing

LAYOUT = "likewise-tensors-1"  # names our header; what the document says has its own version
MAX_HEADER = 40_000_000  # safetensors reads no header over 100 MB, and quoting may double ours
_N_HEX = 64  # of a SHA-256

_STORED_AS_IS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
_ENCODED_DTYPE = re.compile(r"<U\d{1,9}|\|S\d{1,9}|<[Mm]8(\[\d{0,9}[a-zA-Zμ]+\])?")
_LAST_CODE_POINT = 0x10FFFF
_RESERVED = "__metadata__"  # safetensors keeps its own text under this name


class ModelFileError(ValueError):
    """A file that cannot be read: damaged, foreign, or of another version. Nothing was run.

    Examples
    --------
    >>> from likewise import ModelFileError, load_model
    >>> try:
    ...     load_model("nowhere.likewise")
    ... except ModelFileError as error:
    ...     print(error)
    nowhere.likewise does not exist...
    """


class TensorFile(NamedTuple):
    arrays: dict[str, np.ndarray]
    document: Any  # what JSON can hold


def write_tensors(path: str | os.PathLike, arrays: Mapping[str, np.ndarray], document: Any) -> None:
    """Write arrays and a document to `path`, all or nothing.

    Parameters
    ----------
    path : str or path
        The file to write. One that is there is replaced when the new one is complete.
    arrays : mapping of str to ndarray
        Boolean, integer, float16/32/64, string, bytes, datetime64 or timedelta64, of any shape.
    document : object
        What JSON can hold: dict, list, str, int, finite float, bool, None.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from likewise.files.tensor_file import read_tensors, write_tensors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(f"{folder}/a.tensors", {"x": np.arange(3)}, {"made": "by hand"})
    ...     read_tensors(f"{folder}/a.tensors")
    TensorFile(arrays={'x': array([0, 1, 2])}, document={'made': 'by hand'})
    """
    stored, encoded_dtypes = {}, {}
    for name, array in arrays.items():
        if not isinstance(name, str) or name == _RESERVED:
            raise ValueError(f"An array cannot be stored under the name {name!r}. Choose another.")
        stored[name], encoded_dtypes[name] = _encode(name, array)
    dtypes = {name: dtype for name, dtype in sorted(encoded_dtypes.items()) if dtype}
    header = json.dumps({"dtypes": dtypes, "document": document}, allow_nan=False)
    if len(header) > MAX_HEADER:
        raise ValueError(
            f"{path}: the document takes {len(header)} characters, and a file can hold "
            f"{MAX_HEADER}. Turn its long lists into arrays."
        )
    with replacing(path) as temporary:
        # One entry: safetensors shuffles several, and equal content should give equal files.
        save_file(stored, temporary, metadata={LAYOUT: seal(stored, header)})


def read_tensors(path: str | os.PathLike) -> TensorFile:
    """Read back what `write_tensors` wrote, exactly.

    Parameters
    ----------
    path : str or path
        The file to read.

    Returns
    -------
    TensorFile
        `arrays` by name, each its own writable copy, and the `document`.

    Raises
    ------
    ModelFileError
        The file is missing, truncated, changed, or was written by something else.
    """
    stored, sealed = _read_safetensors(path)
    if sealed is None:
        raise ModelFileError(
            f"{path} is a safetensors file, but has no {LAYOUT!r} in its header. "
            "Name a file saved by likewise; if this is one, a newer likewise wrote it: upgrade."
        )
    header = sealed[_N_HEX:]
    if seal(stored, header) != sealed:
        raise ModelFileError(
            f"{path} was changed after it was written: its checksum does not fit. "
            "Save it again, or fetch another copy."
        )
    try:
        told = json.loads(header, parse_constant=_refuse)
        arrays = {name: _decode(array, told["dtypes"].get(name)) for name, array in stored.items()}
        return TensorFile(arrays, told["document"])
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(
            f"{path} has a header that likewise never writes ({_one_line(error)}). "
            "Save it again, or fetch another copy."
        ) from None


def seal(stored: Mapping[str, np.ndarray], header: str) -> str:
    """The header with the checksum of itself and of the arrays as they are stored before it."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(stored):
        array = stored[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest() + header


def _read_safetensors(path):
    if not os.path.exists(path):
        raise ModelFileError(f"{path} does not exist. Check the name and the folder.")
    if not os.path.isfile(path):
        raise ModelFileError(f"{path} is not a file. Name a file saved by likewise.")
    try:
        with safe_open(os.fspath(path), framework="np") as file:
            # require: each array its own, aligned and writable, also where safetensors lends a view
            stored = {
                name: np.require(file.get_tensor(name), requirements=["C", "A", "W"])
                for name in file.keys()  # noqa: SIM118  (not a dict)
            }
            return stored, (file.metadata() or {}).get(LAYOUT)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be opened: {_one_line(error)}.") from None
    except (SafetensorError, LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(
            f"{path} is not a file saved by likewise, or it is damaged ({_one_line(error)}). "
            "Save it again, or fetch another copy."
        ) from None


def _encode(name, array):
    """An array that safetensors can hold, and the type to give back where it differs, or None."""
    array = np.asarray(array)
    array = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
    kind, itemsize = array.dtype.kind, array.dtype.itemsize
    if itemsize in _STORED_AS_IS.get(kind, ()):
        return array, None
    if kind in "Mm":
        return array.view(np.int64), array.dtype.str
    if kind in "US":
        code = np.uint32 if kind == "U" else np.uint8
        shape = (*array.shape, itemsize // code().itemsize)
        codes = np.ndarray(shape, code, array.tobytes())
        return codes.astype(np.min_scalar_type(codes.max(initial=0))), array.dtype.str
    raise TypeError(
        f"Array {name!r} has type {array.dtype}, which cannot be stored. "
        "Use booleans, integers, floats up to 64 bits, strings or dates."
    )


def _decode(stored, dtype_text):
    """The inverse of `_encode`. Raises ValueError or TypeError on what it would never have made."""
    if dtype_text is None:
        return stored
    if not _ENCODED_DTYPE.fullmatch(dtype_text):
        raise ValueError(f"type {dtype_text[:40]!r}")
    dtype = np.dtype(dtype_text)
    if dtype.kind in "Mm":
        if stored.dtype != np.int64:
            raise ValueError(f"dates kept as {stored.dtype}")
        return stored.view(dtype)
    code, largest = (np.uint32, _LAST_CODE_POINT) if dtype.kind == "U" else (np.uint8, 255)
    width = dtype.itemsize // code().itemsize
    if stored.dtype.kind != "u" or stored.shape[-1:] != (width,):
        raise ValueError(f"strings kept as {stored.dtype} of shape {stored.shape}")
    if stored.max(initial=0) > largest:
        raise ValueError(f"code point {stored.max()}")
    return np.ndarray(stored.shape[:-1], dtype, bytearray(stored.astype(code).tobytes()))


def _refuse(constant):
    raise ValueError(f"the number {constant}")


def _one_line(error) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
