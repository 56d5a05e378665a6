"""Rows, maps and kernels in another array library, on another device.

Each array is moved once: a record goes field by field, and an array that stands in two places
(landmarks that are also the rows of their kernel) is one array afterwards too. Rows that are there
already give the library, the device and the float type.
"""

import dataclasses
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, to_device
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from likewise.numerics.array_library import is_array_elsewhere


def move_like(thing: Any, rows: Any, *, in_double: bool = False, moved: dict | None = None) -> Any:
    """A map, a kernel or an array in the library, on the device and in the float type of rows."""
    moved = {} if moved is None else moved
    if is_array_api_obj(thing):
        key = id(thing), in_double
        if key not in moved:
            moved[key] = thing, _move_array(thing, rows, in_double)  # kept: ids are used again
        return moved[key][1]
    if issparse(thing):
        raise TypeError("A device takes dense rows, and those of the map are sparse. Fit to dense.")
    if isinstance(thing, BaseEstimator):
        raise TypeError(
            f"{type(thing).__name__} is not mapped on a device: its transform takes NumPy's rows. "
            "Leave device out."
        )
    in_double = in_double or getattr(thing, "in_double", False)
    move = partial(move_like, rows=rows, in_double=in_double, moved=moved)
    if isinstance(thing, tuple):
        return tuple(move(item) for item in thing)
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = (field.name for field in dataclasses.fields(thing))
        return dataclasses.replace(thing, **{name: move(getattr(thing, name)) for name in fields})
    if isinstance(thing, partial) and not thing.args:
        settings = {name: move(value) for name, value in thing.keywords.items()}
        return partial(move(thing.func), **settings)
    if callable(thing) and not getattr(thing, "__module__", "").startswith("likewise."):
        raise TypeError(f"The kernel {thing!r} is not known to a device. Leave device out.")
    return thing


def find_device(torch, named):
    """The torch device of this name, or one line that says why there is none."""
    try:
        device = torch.device(named)
    except RuntimeError:
        raise ValueError(f"torch does not recognize device={named!r}. Try 'cuda'.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={named!r}: torch sees no GPU here. Leave device out for the CPU.")
    return device


def gpu_at_hand() -> str | None:
    """The name of a GPU for `on_device`, if torch is installed and sees one."""
    try:
        import torch
    except ImportError:
        return None
    return "cuda" if torch.cuda.is_available() else None


def import_torch():
    """torch, or the line that installs it."""
    try:
        import torch
    except ImportError:
        raise ImportError("torch is not installed. Try: pip install 'likewise[deep]'") from None
    return torch


def on_device(rows, device):
    """Rows as a tensor there; whole numbers become float64."""
    torch = import_torch()
    device = find_device(torch, device)
    if is_array_elsewhere(rows):
        return to_device(rows, device)
    if not isinstance(rows, np.ndarray):
        raise TypeError("A device takes dense rows; these are sparse. Leave device out.")
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    return torch.as_tensor(np.ascontiguousarray(rows)).to(device)


def from_device(rows):
    """A tensor as an ndarray here; an ndarray as it is."""
    return np.asarray(to_device(rows, "cpu")) if is_array_elsewhere(rows) else rows


def _move_array(array, rows, in_double: bool):
    if not is_array_elsewhere(rows):
        return from_device(array)
    xp = array_namespace(rows)
    if not is_array_elsewhere(array):
        array = np.ascontiguousarray(array)
    array = xp.asarray(array, device=device(rows))
    if array.dtype not in (xp.float32, xp.float64):
        return array
    return xp.astype(array, xp.float64 if in_double else rows.dtype)
