"""What an image looks like, in numbers, without a network: a thumbnail, its colors, its edges.

    thumbnail   8 x 8 mean colors                                     192 numbers
    colors      square roots of the shares of 9 x 9 tints              81
    gradients   histograms of oriented gradients, dalal2005:        1,764
                9 directions in 8 x 8 cells of 8 x 8 pixels, each block of 2 x 2 cells to length 1

The squared distance of two images is the mean over blocks of that of their gradients, plus that of
their tints (Hellinger's), plus a quarter of the mean over pixels of that of their colors. Tints are
red against green and yellow against blue: a gray image has one tint, and its brightness counts in
the thumbnail alone. We differ from dalal2005 in cells that are not shared by neighboring pixels.
"""

import numpy as np

SIZE = 64  # pixels of an image on each side, for all three
THUMBNAIL = 8
TINTS = 9  # levels of each; odd, so that gray is the middle of one and not a border
CELL = 8
DIRECTIONS = 9
LARGEST_EDGE = 0.2  # share of a block's length that one direction may have, as in dalal2005
FAINT_EDGE = 0.02  # length of a block that counts as flat: noise in a plain area is no edge
LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)

THUMBNAIL_WEIGHT = 0.25  # brightness says little of what an image shows


def describe_images(images: np.ndarray) -> np.ndarray:
    """Images (n, SIZE, SIZE, 3) of float32 in [0, 1] -> descriptors (n, 2037) of float32."""
    parts = (
        np.sqrt(THUMBNAIL_WEIGHT) / THUMBNAIL * thumbnails(images),
        tint_histograms(images),
        gradient_histograms(images) / (SIZE // CELL - 1),
    )
    return np.concatenate([part.astype(np.float32) for part in parts], axis=1)


def thumbnails(images: np.ndarray) -> np.ndarray:
    """Mean colors (n, 192)."""
    step = SIZE // THUMBNAIL
    cells = images.reshape(len(images), THUMBNAIL, step, THUMBNAIL, step, 3)
    return cells.mean(axis=(2, 4)).reshape(len(images), -1)


def tint_histograms(images: np.ndarray) -> np.ndarray:
    """Square roots of shares of tints (n, 81); each row has length 1."""
    red, green, blue = np.moveaxis(images, -1, 0)
    tint = _levels(red - green) * TINTS + _levels((red + green) / 2 - blue)
    rows = np.arange(len(images))[:, None, None] * TINTS**2
    counts = np.bincount((rows + tint).ravel(), minlength=len(images) * TINTS**2)
    return np.sqrt(counts.reshape(len(images), -1) / SIZE**2)


def _levels(difference: np.ndarray) -> np.ndarray:
    """Differences in [-1, 1] as levels from 0 to TINTS - 1."""
    levels = np.floor((difference + 1) * (TINTS / 2)).astype(np.int64)
    return np.clip(levels, 0, TINTS - 1)


def gradient_histograms(images: np.ndarray) -> np.ndarray:
    """Histograms of oriented gradients (n, 1764)."""
    gray = images @ LUMINANCE
    down = np.zeros_like(gray)
    right = np.zeros_like(gray)
    down[:, 1:-1] = (gray[:, 2:] - gray[:, :-2]) / 2
    right[:, :, 1:-1] = (gray[:, :, 2:] - gray[:, :, :-2]) / 2
    strength = np.hypot(down, right)
    # An edge has no sign: from dark to light and back is one direction.
    direction = np.mod(np.arctan2(down, right), np.pi) * (DIRECTIONS / np.pi)
    first = np.floor(direction).astype(np.int64)
    share = direction - first  # of the next direction
    n, m = len(images), SIZE // CELL
    cells = np.arange(SIZE) // CELL
    cell = (np.arange(n)[:, None, None] * m + cells[:, None]) * m + cells
    histograms = np.zeros(n * m * m * DIRECTIONS)
    for direction_of, weight in ((first, 1 - share), (first + 1, share)):
        places = cell * DIRECTIONS + direction_of % DIRECTIONS
        histograms += np.bincount(
            places.ravel(), weights=(strength * weight).ravel(), minlength=len(histograms)
        )
    by_cell = histograms.reshape(n, m, m, DIRECTIONS)
    blocks = np.concatenate(
        [by_cell[:, i : m - 1 + i, j : m - 1 + j] for i in (0, 1) for j in (0, 1)], axis=3
    )
    return _block_lengths_to_one(blocks).reshape(n, -1)


def _block_lengths_to_one(blocks: np.ndarray) -> np.ndarray:
    """Each block to length 1, no direction above LARGEST_EDGE of it, and to length 1 again."""
    faint = FAINT_EDGE * CELL**2
    for most in (LARGEST_EDGE, np.inf):
        lengths = np.sqrt(np.square(blocks).sum(axis=3, keepdims=True) + faint**2)
        blocks = np.minimum(blocks / lengths, most)
        faint = FAINT_EDGE
    return blocks


def resize(images: np.ndarray, size: int) -> np.ndarray:
    """Images (n, h, w, c) of float32 to (n, size, size, c): means of what falls into a pixel."""
    rows, columns = (resize_weights(n, size) for n in images.shape[1:3])
    images = np.einsum("ih,nhwc->niwc", rows, images, optimize=True)
    return np.einsum("jw,niwc->nijc", columns, images, optimize=True)


def resize_weights(n_from: int, n_to: int) -> np.ndarray:
    """Weights (n_to, n_from) of a triangle around each new pixel, as wide as it must be."""
    scale = n_from / n_to
    width = max(scale, 1.0)
    centers = (np.arange(n_to) + 0.5) * scale
    distances = np.abs(centers[:, None] - (np.arange(n_from) + 0.5)) / width
    weights = np.maximum(1 - distances, 0.0)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
