"""Views of rows: changed copies that should keep their cluster.

    images   warped (images.py) and, in a strong view, partly covered, brighter or darker, mirrored
             where that is allowed
    rows     a share of the values taken from another row, then mixed with a third

What a view does is drawn in advance, as numbers in [-1, 1] from a generator of the CPU (masks of
rows, which are large, from one on the device), so that a step can be replayed on a GPU.
Reference: chen2020 for images; bahri2022 for values taken from other rows.
"""

import torch

from likewise.deep.images import N_NUMBERS as N_WARP
from likewise.deep.images import warp

WARPS = {"weak": 0.3, "mild": 0.7, "strong": 1.0}  # of those of images.py
COVERED = (0.2, 0.5)  # side of the covered square, as a share of the image's
CONTRAST, BRIGHTNESS = 0.4, 0.3  # in standard deviations of the pixels
N_NUMBERS = N_WARP + 6  # cover: place (2) and side; contrast, brightness, mirror
TAKEN = 0.3  # share of a row's values that come from another row
MIXED = 0.2  # most of a third row that is mixed in


def draw_views(n: int, generator):
    """Numbers in [-1, 1] for n views, (n, N_NUMBERS)."""
    return 2 * torch.rand(n, N_NUMBERS, generator=generator) - 1


def view_images(network, rows, numbers, *, level: str, flips: bool):
    """Standardized rows (n, d) of images, each under its own view."""
    shape = network.image_shape
    warps = numbers[:, :N_WARP] * WARPS[level]
    mirrored = numbers[:, -1] < 0 if flips else None
    seen = network.standardize(warp(rows, warps, shape, mirrored))
    if level != "strong":
        return seen
    cover, contrast, brightness = numbers[:, N_WARP:-3], numbers[:, -3, None], numbers[:, -2, None]
    seen = seen * (1 + CONTRAST * contrast) + BRIGHTNESS * brightness
    return seen * uncovered(cover, shape, seen.device)


def uncovered(cover, shape, device):
    """1 where an image (n, d) stays as it is, 0 in a square by `cover` (n, 3): place and side."""
    height, width, n_channels = shape
    side = COVERED[0] + (COVERED[1] - COVERED[0]) * (1 + cover[:, 2:3]) / 2  # of [-1, 1]: half
    down = torch.linspace(-1, 1, height, device=device)
    right = torch.linspace(-1, 1, width, device=device)
    is_down = (down - cover[:, :1]).abs() < side
    is_right = (right - cover[:, 1:2]).abs() < side
    is_covered = is_down[:, :, None] & is_right[:, None, :]
    return (~is_covered)[..., None].expand(-1, -1, -1, n_channels).reshape(len(cover), -1)


def view_rows(network, rows, others, thirds, numbers, taken):
    """Standardized rows (n, d): values where `taken` from others, and part of the thirds."""
    share = MIXED * (1 + numbers[:, :1]) / 2
    seen = torch.where(taken, others, rows)
    return network.standardize((1 - share) * seen + share * thirds)


def draw_taken(shape, noise: torch.Generator):
    """Which values of rows come from other rows."""
    return torch.rand(shape, generator=noise, device=noise.device) < TAKEN
