"""Named arrays and one JSON document in a single file that is whole or not there.

The file is a safetensors file: reading it runs no code, whoever wrote it. It is read here and not
by safetensors, so that every size it claims is compared with the size of the file before anything
is allocated. The document, the types that safetensors lacks and a SHA-256 of everything stand in
its header as text. Strings are kept as their code points, in the narrowest unsigned integer that
holds them; dates as int64 with their unit. What is read equals what was written: type, shape and
every bit (byte order becomes the machine's own).

Writing goes to a new file beside the old one, which is then replaced in one step, so that an error,
a full disk or Ctrl-C leaves the old file or none. The checksum finds damage. It is no signature:
somebody who can write the file can also write a checksum that fits.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from likewise.files import strict_json
from likewise.files.atomic_file import replacing

LAYOUT = "likewise-tensors-1"  # names our header; what the document says has its own version
MAX_HEADER = 4_000_000  # characters; parsed, the worst takes 40 times as many bytes
_MAX_WHOLE_HEADER = (
    24_000_000  # of the file: ours, which quoting may double, and the arrays' places
)
_MAX_DIMENSIONS = 64  # of an array, in NumPy
_HEADER_STEP = 8  # its length is a multiple, so that the arrays begin at one
_N_HEX = 64  # of a SHA-256

# The types that are written. safetensors knows others, which NumPy does not have.
_DTYPE_NAMED = {
    name: np.dtype(code)
    for name, code in (
        *(("BOOL", "?"), ("U8", "u1"), ("U16", "u2"), ("U32", "u4"), ("U64", "u8")),
        *(("I8", "i1"), ("I16", "i2"), ("I32", "i4"), ("I64", "i8")),
        *(("F16", "f2"), ("F32", "f4"), ("F64", "f8")),
    )
}
_NAME_OF_DTYPE = {dtype: name for name, dtype in _DTYPE_NAMED.items()}
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
    with replacing(path) as temporary, open(temporary, "wb") as file:
        write_safetensors(file, stored, {LAYOUT: seal(stored, header)})


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
    if len(header) > MAX_HEADER or not header.isascii():
        raise ModelFileError(
            f"{path} has a header of {len(header)} characters; likewise writes ASCII, and "
            f"{MAX_HEADER} at most. Name a file saved by likewise."
        )
    if seal(stored, header) != sealed:
        raise ModelFileError(
            f"{path} was changed after it was written: its checksum does not fit. "
            "Save it again, or fetch another copy."
        )
    try:
        content = strict_json.loads(header)
        dtypes = content["dtypes"]
        arrays = {name: _decode(array, dtypes.get(name)) for name, array in stored.items()}
        return TensorFile(arrays, content["document"])
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
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
        digest.update(_bytes_of(array))
    return digest.hexdigest() + header


def write_safetensors(
    file: BinaryIO, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """The safetensors layout: the length of a JSON header, the header, the arrays end to end.

    Written here and not by the safetensors package, whose failing writes end in errors of its own:
    a full drive is an OSError wherever it happens.
    """
    # Widest first, so that every array begins at a multiple of its items' size.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {_RESERVED: dict(metadata)}
    start = 0
    for name in names:
        dtype, end = arrays[name].dtype, start + arrays[name].nbytes
        header[name] = {
            "dtype": _NAME_OF_DTYPE[dtype],
            "shape": arrays[name].shape,
            "data_offsets": (start, end),
        }
        start = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    if len(text) > _MAX_WHOLE_HEADER - _HEADER_STEP:  # it could not be read back
        raise ValueError(
            f"{len(arrays)} arrays take a header of {len(text)} bytes, and a file can hold "
            f"{_MAX_WHOLE_HEADER - _HEADER_STEP}. Use fewer arrays, or shorter names."
        )
    text += b" " * (-len(text) % _HEADER_STEP)
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for name in names:
        array = arrays[name]
        file.write(_bytes_of(array.astype(array.dtype.newbyteorder("<"), copy=False)))


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _read_safetensors(path):
    """The arrays of a safetensors file, and our text in its header or None."""
    if not os.path.exists(path):
        raise ModelFileError(f"{path} does not exist. Check the name and the folder.")
    if not os.path.isfile(path):
        raise ModelFileError(f"{path} is not a file. Name a file saved by likewise.")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _memory_of_machine():
                raise ValueError(f"it takes {size / 1e9:.0f} GB, more than this machine's memory")
            metadata, places = _read_places(file, size)
            return {place.name: _read_array(file, place) for place in places}, metadata.get(LAYOUT)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be opened: {_one_line(error)}.") from None
    except MemoryError:
        raise ModelFileError(
            f"{path} takes {size / 1e9:.1f} GB, more than the memory that is left. "
            "Free some, or load it on a larger machine."
        ) from None
    except (LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is not a file saved by likewise, or it is damaged ({_one_line(error)}). "
            "Save it again, or fetch another copy."
        ) from None


class _Place(NamedTuple):
    """Where an array lies in the file, after the header."""

    begin: int
    end: int
    name: str
    dtype: np.dtype
    shape: tuple[int, ...]


def _read_places(file, size: int) -> tuple[dict[str, str], list[_Place]]:
    """The texts of the header, and the places of the arrays in order: they fill the file."""
    n_header = int.from_bytes(file.read(8), "little")
    n_left = size - 8 - n_header
    if n_left < 0 or n_header > _MAX_WHOLE_HEADER:
        raise ValueError(f"a header of {n_header} bytes in a file of {size}")
    header = strict_json.loads(file.read(n_header).decode())
    if not isinstance(header, dict):
        raise ValueError("a header that is no object")
    metadata = header.pop(_RESERVED, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"{_RESERVED} that is not text")
    places = sorted(_place(name, entry) for name, entry in header.items())
    ends = [0, *(place.end for place in places)]
    if [place.begin for place in places] != ends[:-1] or ends[-1] != n_left:
        raise ValueError(f"arrays that do not fill the {n_left} bytes after the header")
    return metadata, places


def _place(name: str, entry: dict) -> _Place:
    dtype, shape = _DTYPE_NAMED.get(entry["dtype"]), entry["shape"]
    if dtype is None:
        raise ValueError(f"array {name!r} has type {entry['dtype']!r}, which likewise never writes")
    begin, end = entry["data_offsets"]
    sizes = (*shape, begin, end)
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and 0 <= n < 2**63 for n in sizes):
        raise ValueError(f"array {name!r} has a shape or a place that no array has")
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"array {name!r} of shape {shape} in {end - begin} bytes")
    return _Place(begin, end, name, dtype, tuple(shape))


def _read_array(file, place: _Place) -> np.ndarray:
    array = np.empty(place.shape, place.dtype.newbyteorder("<"))
    raw = array.reshape(-1).view(np.uint8)
    if file.readinto(raw.data) != raw.size:
        raise ValueError(f"array {place.name!r} ends early")
    if place.dtype == bool and raw.max(initial=0) > 1:
        raise ValueError(f"array {place.name!r} has booleans that are neither 0 nor 1")
    return array.astype(place.dtype, copy=False)


def _memory_of_machine() -> float:
    """Bytes; infinite where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return math.inf


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


def printable(text: object, length: int = 200) -> str:
    """A text from a file as one short line: no line breaks and no escape codes of a terminal."""
    return "".join(c if c.isprintable() else " " for c in " ".join(str(text).split())[:length])


def _one_line(error) -> str:
    return printable(error) or type(error).__name__
