"""Small images inside the page: an array as a PNG file in a data URI, with zlib alone.

A PNG is a signature and chunks: length, name, bytes, checksum. Rows of pixels are stored unfiltered
(each begins with a 0) and deflated.
"""

import base64
import struct
import zlib

import numpy as np

MAX_SIDE = 96  # pixels of the longer side; the page shows images no larger


def check_images(images, n_rows: int) -> np.ndarray | None:
    """One gray (n, h, w) or colored (n, h, w, 3) image per row."""
    if images is None:
        return None
    if not hasattr(images, "shape"):
        images = np.asarray(images)
    shape = tuple(images.shape)
    is_gray, is_color = len(shape) == 3, len(shape) == 4 and shape[3] == 3
    if not (is_gray or is_color) or shape[0] != n_rows or 0 in shape:
        raise ValueError(
            f"images has shape {shape}; it must be ({n_rows}, h, w) or ({n_rows}, h, w, 3)."
        )
    if np.dtype(images.dtype).kind not in "buif":
        raise ValueError(f"images has dtype {images.dtype}; it must be numeric.")
    return images


def brightness_range(images: np.ndarray) -> tuple[float, float]:
    """What becomes black and what white: fixed for bytes and for 0 to 1, else as found."""
    if images.dtype == np.uint8:
        return 0.0, 255.0
    finite = images[np.isfinite(images)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return low, high if high > low else low + 1.0


def data_uri(image: np.ndarray, bounds: tuple[float, float]) -> str:
    """An image (h, w) or (h, w, 3) as a ``data:image/png`` URI, made smaller where it is large."""
    low, high = bounds
    shrunk = _shrink(np.nan_to_num(np.asarray(image, dtype=np.float64), nan=low))
    pixels = np.clip(np.rint((shrunk - low) / (high - low) * 255), 0, 255)
    return "data:image/png;base64," + base64.b64encode(png(pixels.astype(np.uint8))).decode()


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


def _shrink(image: np.ndarray) -> np.ndarray:
    """Means over square blocks, so that neither side is longer than MAX_SIDE."""
    step = -(-max(image.shape[:2]) // MAX_SIDE)
    if step == 1:
        return image
    rows, columns = (np.arange(0, side, step) for side in image.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(image, rows, axis=0), columns, axis=1)
    ones = np.ones(image.shape[:2])
    counts = np.add.reduceat(np.add.reduceat(ones, rows, axis=0), columns, axis=1)
    return sums / (counts if image.ndim == 2 else counts[:, :, None])
