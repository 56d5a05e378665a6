"""Small changes that do not change what an image shows: rotate, stretch, shear and shift.

A row is an image of `shape` (height, width and, if there is more than one, channels); each one is
warped by its own affine map, drawn again every time, and interpolated linearly. Pixels from outside
the image are black, 0.
Reference: guo2018.
"""

import torch
from torch.nn import functional as F

TURN = 0.2  # radians, about 11 degrees
STRETCH = 0.12
SHEAR = 0.15
SHIFT = 0.1  # of the image's side
N_NUMBERS = 6


def draw_warps(n: int, generator):
    """Numbers in [-1, 1] for n warps, (n, N_NUMBERS)."""
    return 2 * torch.rand(n, N_NUMBERS, generator=generator) - 1


def warp(rows, numbers, shape: tuple[int, ...], mirrored=None):
    """Rows (n, height * width * channels), each under its own warp; some left to right."""
    height, width, n_channels = shape if len(shape) == 3 else (*shape, 1)
    turn, shear = TURN * numbers[:, 0], SHEAR * numbers[:, 1]
    wide, high = 1 + STRETCH * numbers[:, 2], 1 + STRETCH * numbers[:, 3]
    cos, sin = torch.cos(turn), torch.sin(turn)
    first = torch.stack([wide * cos, high * (shear * cos - sin), 2 * SHIFT * numbers[:, 4]], dim=1)
    second = torch.stack([wide * sin, high * (shear * sin + cos), 2 * SHIFT * numbers[:, 5]], dim=1)
    if mirrored is not None:
        first = torch.where(mirrored[:, None], -first, first)
    grid = F.affine_grid(
        torch.stack([first, second], dim=1), [len(rows), 1, height, width], align_corners=False
    )
    images = rows.reshape(len(rows), height, width, n_channels).permute(0, 3, 1, 2)
    warped = F.grid_sample(images, grid, align_corners=False)
    return warped.permute(0, 2, 3, 1).reshape(len(rows), -1)
