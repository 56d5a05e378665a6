"""What a person sees of a row: its name, its cells, its text, its image."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from likewise.files.cell_values import number_text
from likewise.files.image_file import open_image_file
from likewise.files.png_file import brightness_range, png
from likewise.labeling import by_difference, column_spreads

MOST_CELLS = 60  # of a row, in a card
LONGEST_CELL = 200  # letters
LONGEST_TEXT = 20_000
SIZES = (96, 256, 1024)  # pixels of the longer side
TILE = 64  # pixels of an image in an atlas
TILES = 16  # on each side of an atlas


@dataclass(frozen=True, eq=False)
class RowGallery:
    """The rows as people see them.

    Parameters
    ----------
    title : str
        What the data are called.
    kind : {"table", "texts", "images", "numbers"}
    n_rows : int
    ids : sequence of str, default=None
        Names of the rows; without them, their numbers.
    columns : dict of name to array of shape (n_rows,), default={}
        Cells to show.
    texts : sequence of str, default=None
        Read whole, where the columns are read in part.
    images : array of shape (n_rows, h, w[, 3]) or sequence of paths, default=None
    encoder : transformer, default=None
        What made numbers of the files that the rows are; a saved model begins with it.
    id_column : str, default=None
        Where the ids come from.
    """

    title: str
    kind: str
    n_rows: int
    ids: Sequence[str] | None = None
    columns: Mapping[str, np.ndarray] | None = None
    texts: Sequence[str] | None = None
    images: Any = None
    encoder: Any = None
    id_column: str | None = None

    def name(self, row: int) -> str:
        """The id of a row, or "row 17"."""
        return f"row {row}" if self.ids is None else str(self.ids[row])

    def card(self, row: int) -> dict[str, Any]:
        """One row as plain text and numbers."""
        names = list(self._columns)[:MOST_CELLS]
        cells = [[name, cell_text(self._columns[name][row])] for name in names]
        text = None if self.texts is None else str(self.texts[row])[:LONGEST_TEXT]
        image = self.picture(row, 256) if self.has_images else None
        title = None if self.ids is None else str(self.ids[row])
        shown = {"row": row, "id": self.name(row), "title": title}
        return {**shown, "cells": cells, "text": text, "image": image}

    @property
    def has_images(self) -> bool:
        """Whether rows are seen as images."""
        return self.images is not None

    @staticmethod
    def picture(row: int, size: int) -> str:
        """Where the page finds the image of a row."""
        return f"/media/row/{row}?size={size}"

    def cards(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Several rows."""
        return [self.card(int(row)) for row in rows]

    def differing_columns(self, rows: Sequence[int]) -> list[str]:
        """Names of columns, those first in which the rows differ most."""
        return by_difference(self._columns, rows, self._spreads)[:MOST_CELLS]

    def describing(self, n_features: int) -> dict[str, Any]:
        """What the learner describes clusters by, and writes models and reports with."""
        names = list(self._columns)
        has_names = self.kind == "table" and len(names) == n_features
        return {
            "texts": self.texts if self.kind == "texts" else None,
            "feature_names": names if has_names else None,
            "images": self.images,
            "encoder": self.encoder,
            "id_column": self.id_column,
            "title": self.title,
        }

    def image(self, row: int, size: int) -> tuple[bytes, str]:
        """The image of a row, its longer side about `size` pixels, and its media type."""
        if self.images is None:
            raise LookupError("The rows have no images.")
        if isinstance(self.images, np.ndarray):
            return png(enlarge(self._pixels(row), size)), "image/png"
        return file_image(self.images[row], size)

    def atlas(self, number: int) -> tuple[bytes, str]:
        """A square of 256 small images: those of the rows from 256 * number on."""
        first = number * TILES**2
        if self.images is None or not 0 <= first < self.n_rows:
            raise LookupError("There is no such atlas.")
        canvas = np.full((TILES * TILE, TILES * TILE, 3), 255, dtype=np.uint8)
        for i, row in enumerate(range(first, min(first + TILES**2, self.n_rows))):
            tile = self._tile(row)
            top, left = TILE * (i // TILES), TILE * (i % TILES)
            canvas[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
        return png(canvas), "image/png"

    @property
    def spreads(self) -> dict[str, float]:
        """What is a usual difference in each column of numbers."""
        return {name: float(f"{spread:.4g}") for name, spread in self._spreads.items()}

    @property
    def _columns(self) -> Mapping[str, np.ndarray]:
        return self.columns or {}

    @cached_property
    def _spreads(self) -> dict[str, float]:
        return column_spreads(self._columns)

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        return brightness_range(self.images)

    def _pixels(self, row: int) -> np.ndarray:
        low, high = self._bounds
        image = np.nan_to_num(np.asarray(self.images[row], dtype=np.float64), nan=low)
        return np.clip(np.rint((image - low) / (high - low) * 255), 0, 255).astype(np.uint8)

    def _tile(self, row: int) -> np.ndarray:
        """An image (h, w, 3), neither side longer than TILE."""
        if isinstance(self.images, np.ndarray):
            pixels = self._pixels(row)
            pixels = enlarge(pixels, TILE)[:TILE, :TILE]
        else:
            try:
                pixels = np.asarray(open_image(self.images[row], TILE))
            except LookupError:
                return np.zeros((0, 0, 3), dtype=np.uint8)
        return np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels


def cell_text(cell: Any) -> str:
    """A cell in a few letters; four digits of a number that is not whole."""
    if isinstance(cell, float | np.floating):
        return number_text(cell)
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def enlarge(pixels: np.ndarray, size: int) -> np.ndarray:
    """Every pixel as a square, as many times as fit into `size`; larger images every k-th."""
    longest = max(pixels.shape[:2])
    if longest > size:
        step = -(-longest // size)
        return pixels[::step, ::step]
    times = max(size // longest, 1)
    return pixels.repeat(times, axis=0).repeat(times, axis=1)


def open_image(path, size: int):
    """An image file by Pillow, upright, RGB on white, neither side longer than `size`."""
    try:
        from PIL import Image, ImageOps
    except ModuleNotFoundError:
        raise LookupError("Images need Pillow: pip install 'likewise[images]'.") from None
    try:
        with open_image_file(path) as file:
            file.draft("RGB", (size, size))  # JPEG: read at a fraction of its size
            image = ImageOps.exif_transpose(file).convert("RGBA")
            image.thumbnail((size, size))
            white = Image.new("RGBA", image.size, "white")
            return Image.alpha_composite(white, image).convert("RGB")
    except Exception:  # a damaged file makes a decoder raise nearly anything
        raise LookupError("The image cannot be read.") from None


def file_image(path, size: int) -> tuple[bytes, str]:
    """An image file as a JPEG of this size."""
    file = io.BytesIO()
    open_image(path, size).save(file, "JPEG", quality=85)
    return file.getvalue(), "image/jpeg"
