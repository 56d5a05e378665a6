"""Arrays as PNG files, with zlib alone.

A PNG is a signature and chunks: length, name, bytes, checksum. Rows of pixels are stored unfiltered
(each begins with a 0) and deflated.
"""

import struct
import zlib

import numpy as np


def brightness_range(images: np.ndarray) -> tuple[float, float]:
    """What becomes black and what white: fixed for bytes and for 0 to 1, else as found."""
    if images.dtype == np.uint8:
        return 0.0, 255.0
    finite = images[np.isfinite(images)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return low, high if high > low else low + 1.0


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of bytes (h, w), gray, or (h, w, 3), colored."""
    height, width = pixels.shape[:2]
    color_type = 0 if pixels.ndim == 2 else 2
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # filter 0 before every line
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + body + _chunk(b"IEND", b"")


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)
