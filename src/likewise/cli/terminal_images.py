"""Small images in a terminal: two pixels a letter, one above the other, in color where it can.

A letter is about twice as high as it is wide, so the upper half block in the color of the upper
pixel, on the color of the lower one, makes two square pixels. Without color a letter is as dense as
the mean of its two pixels is dark.
"""

import numpy as np

HALF_BLOCK = "▀"
DENSITIES = "@%#*+=-:. "  # of letters, from dark to light
SMALLEST, LARGEST = 8, 32  # pixels on a side
MARGIN = 3  # letters between two images


def image_size(width: int, n_images: int) -> int:
    """Pixels on a side, even, so that so many images fit side by side into a width in letters."""
    fitting = width // max(n_images, 1) - MARGIN
    return int(np.clip(fitting, SMALLEST, LARGEST)) // 2 * 2


def draw_image(pixels: np.ndarray, *, in_color: bool):
    """An image (h, w, 3) of numbers from 0 to 1, h even, as lines of text."""
    from rich.text import Text

    text = Text(no_wrap=True)
    for upper, lower in zip(pixels[::2], pixels[1::2]):
        if text:
            text.append("\n")
        for above, below in zip(upper, lower):
            if in_color:
                text.append(HALF_BLOCK, style=f"{as_rgb(above)} on {as_rgb(below)}")
            else:
                text.append(letter_for(float(np.mean([above, below]))))
    return text


def as_rgb(pixel: np.ndarray) -> str:
    """A color as rich names it."""
    red, green, blue = np.round(np.clip(pixel, 0, 1) * 255).astype(int)
    return f"rgb({red},{green},{blue})"


def letter_for(lightness: float) -> str:
    """A letter that is dense where an image is dark."""
    return DENSITIES[min(int(np.clip(lightness, 0, 1) * len(DENSITIES)), len(DENSITIES) - 1)]
