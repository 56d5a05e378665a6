"""Images from files and arrays: upright, in RGB, square, from 0 to 1; what is wrong is kept beside.

Files are read by Pillow (extra `images`). An image is turned as its EXIF orientation says, laid on
white where it is transparent, and squeezed into a square: nothing is cut off.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from likewise.features.image_descriptors import resize
from likewise.files.folder_rows import find_images
from likewise.files.image_file import open_image_file
from likewise.files.tensor_file import printable

NEEDS_PILLOW = "Reading image files needs Pillow. Install it with: pip install 'likewise[images]'"
FULL_RANGE = {"u1": (0.0, 255.0), "u2": (0.0, 65535.0), "b1": (0.0, 1.0)}  # by the type of array


class ImageSource(NamedTuple):
    """Images to read: paths, or an array (n, h, w, c)."""

    names: list[str]
    paths: list[Path] | None
    array: np.ndarray | None

    def __len__(self) -> int:
        return len(self.names)


class ReadImages(NamedTuple):
    """Images (m, size, size, 3) of float32 in [0, 1], which rows they are, and what is wrong."""

    images: np.ndarray
    rows: np.ndarray  # (m,) those that could be read
    problems: dict[str, str]  # name -> why it could not be


def image_source(X) -> ImageSource:
    """A folder, a sequence of paths, or an array (n, h, w[, c])."""
    if isinstance(X, str | os.PathLike):
        found = find_images(X)
        return ImageSource(found.ids, found.paths, None)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        X = np.asarray(X, dtype=object)[:, 0]
    elif len(shape) > 1:
        return _array_source(np.asarray(X))
    items = list(X)
    if not items:
        raise ValueError("There are 0 images. Pass at least one.")
    for i, item in enumerate(items):
        if not isinstance(item, str | os.PathLike):
            raise ValueError(
                f"images[{i}] is a {type(item).__name__}, not the path of a file. Pass a folder, "
                "a list of paths, or an array of shape (n, h, w) or (n, h, w, 3)."
            )
    return ImageSource([os.fspath(item) for item in items], [Path(item) for item in items], None)


def read_images(
    source: ImageSource, rows: np.ndarray, size: int, value_range: tuple[float, float] | None
) -> ReadImages:
    """The images of some rows, each `size` pixels on both sides."""
    if source.array is not None:
        return ReadImages(_from_array(source.array[rows], size, value_range), rows, {})
    assert source.paths is not None
    images, kept, problems = [], [], {}
    for i in rows:
        try:
            images.append(_from_file(source.paths[i], size))
            kept.append(i)
        except ModuleNotFoundError:
            raise
        except Exception as error:  # a damaged file makes a decoder raise nearly anything
            problems[source.names[i]] = _reason(source.paths[i], error)
    stacked = np.stack(images) if images else np.empty((0, size, size, 3), dtype=np.float32)
    return ReadImages(stacked, np.array(kept, dtype=np.int64), problems)


def read_small_images(paths, size: int) -> np.ndarray:
    """Read image files to show them: upright, in RGB and square.

    Parameters
    ----------
    paths : str, path or sequence of n paths
        A folder, or files.
    size : int
        Pixels on each side.

    Returns
    -------
    ndarray of shape (n, size, size, 3)
        Of float32, from 0 to 1; white where a file cannot be read.

    Examples
    --------
    >>> from likewise.features import read_small_images
    >>> read_small_images(["no-such-file.png"], 8).shape
    (1, 8, 8, 3)
    """
    source = image_source(paths)
    images = np.ones((len(source), size, size, 3), dtype=np.float32)
    read = read_images(source, np.arange(len(source)), size, None)
    images[read.rows] = read.images
    return images


def range_of_values(source: ImageSource) -> tuple[float, float] | None:
    """Black and white of an array: by its type, or its smallest and largest value."""
    if source.array is None:
        return None
    if (known := FULL_RANGE.get(source.array.dtype.str[1:])) is not None:
        return known
    low, high = float(source.array.min()), float(source.array.max())
    if not np.isfinite([low, high]).all():
        raise ValueError("The images hold NaN or infinite values. Replace them first.")
    return (low, high) if high > low else (low, low + 1.0)


def name_of(source: ImageSource, i: int) -> bytes:
    """What stands for an image: the name of its file, or its pixels."""
    if source.array is not None:
        return source.array[i].tobytes()
    return source.names[i].encode("utf-8", "surrogateescape")


def _array_source(array: np.ndarray) -> ImageSource:
    n_channels = array.shape[3] if array.ndim == 4 else 1
    if array.ndim not in (3, 4) or n_channels not in (1, 3, 4) or 0 in array.shape:
        raise ValueError(
            f"Images of shape {array.shape} must have shape (n, h, w) or (n, h, w, c) with c 1, 3 "
            "or 4. Reshape them; a table of features needs no ImageFeatures."
        )
    if array.dtype.kind not in "buif":
        raise ValueError(f"Images must be numbers, not {array.dtype}.")
    array = array[..., None] if array.ndim == 3 else array
    return ImageSource([str(i) for i in range(len(array))], None, array)


def _from_array(array: np.ndarray, size: int, value_range) -> np.ndarray:
    low, high = value_range
    images = (array.astype(np.float32) - np.float32(low)) / np.float32(high - low)
    images = np.clip(np.nan_to_num(images), 0.0, 1.0)
    if images.shape[3] == 4:
        images = images[..., :3] * images[..., 3:] + (1 - images[..., 3:])  # on white
    if images.shape[3] == 1:
        images = np.repeat(images, 3, axis=3)
    return resize(images, size)


def _from_file(path: Path, size: int) -> np.ndarray:
    Image, ImageOps = _import_pillow()
    with open_image_file(path) as image:
        image.draft("RGB", (2 * size, 2 * size))  # a large JPEG is decoded small: ten times faster
        image = ImageOps.exif_transpose(image)
        image = _as_rgb(image, Image)
        image = image.resize((size, size), Image.Resampling.BILINEAR, reducing_gap=3.0)
    return np.asarray(image, dtype=np.float32) / np.float32(255.0)


def _as_rgb(image, Image):
    """Any kind of pixel as three bytes; more than 8 bits are scaled, not cut off."""
    if image.mode[0] in "IF":  # 16 or 32 bits, gray
        values = np.asarray(image, dtype=np.float64)
        high = 65535.0 if image.mode.startswith("I;16") else float(max(values.max(), 1.0))
        high = 65535.0 if image.mode == "I" and 255 < high <= 65535 else high
        high = 255.0 if image.mode == "I" and 1 < high <= 255 else high
        low = min(float(values.min()), 0.0)
        gray = np.clip((values - low) / (high - low) * 255.0, 0.0, 255.0)
        return Image.fromarray(np.round(gray).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")


def _import_pillow():
    try:
        from PIL import Image, ImageOps
    except ModuleNotFoundError:
        raise ModuleNotFoundError(NEEDS_PILLOW) from None
    return Image, ImageOps


def _reason(path: Path, error: Exception) -> str:
    if not path.exists():
        return "there is no such file"
    if path.is_file() and not path.stat().st_size:
        return "it is empty"
    if type(error).__name__ == "DecompressionBombError":
        return "it has more pixels than Pillow reads"
    if type(error).__name__ == "UnidentifiedImageError":
        return "it is not an image that Pillow knows"
    return printable(error, 80)
