"""Small images inside the page: an array as a PNG file in a data URI."""

import base64

import numpy as np

from likewise.files.png_file import png

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


def data_uri(image: np.ndarray, bounds: tuple[float, float], max_side: int = MAX_SIDE) -> str:
    """An image (h, w) or (h, w, 3) as a ``data:image/png`` URI, made smaller where it is large."""
    return png_uri(small_image(image, bounds, max_side), bounds)


def small_image(image: np.ndarray, bounds: tuple[float, float], max_side: int) -> np.ndarray:
    """An image as floats, no side longer than `max_side`; what is missing is black."""
    return shrink(np.nan_to_num(np.asarray(image, dtype=np.float64), nan=bounds[0]), max_side)


def png_uri(image: np.ndarray, bounds: tuple[float, float]) -> str:
    """Floats (h, w) or (h, w, 3), from black to white by `bounds`, as a ``data:image/png`` URI."""
    low, high = bounds
    pixels = np.clip(np.rint((image - low) / (high - low) * 255), 0, 255)
    return "data:image/png;base64," + base64.b64encode(png(pixels.astype(np.uint8))).decode()


def shrink(image: np.ndarray, max_side: int) -> np.ndarray:
    """Means over square blocks, so that neither side is longer than `max_side`."""
    step = -(-max(image.shape[:2]) // max_side)
    if step == 1:
        return image
    rows, columns = (np.arange(0, side, step) for side in image.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(image, rows, axis=0), columns, axis=1)
    ones = np.ones(image.shape[:2])
    counts = np.add.reduceat(np.add.reduceat(ones, rows, axis=0), columns, axis=1)
    return sums / (counts if image.ndim == 2 else counts[:, :, None])
