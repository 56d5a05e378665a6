"""Rows to a device of torch's and back; what is done there is a map's (`likewise.maps`)."""

import numpy as np
from array_api_compat import to_device

from likewise.maps import find_device
from likewise.numerics.array_library import is_array_elsewhere


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
