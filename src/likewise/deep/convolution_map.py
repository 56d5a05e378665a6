"""A trained network of convolutions without torch: codes of new images.

    images    rows (n, height * width * channels), centered and scaled; averaged down when large
    a layer   relu(W * patch + b) over 3 x 3 patches, zeros beyond the border
    code      the mean over the image, each direction centered and scaled, divided by its length

Each layer is one product of patches and weights, in the float type of the rows and in their
library (NumPy, or torch on a GPU).
"""

from dataclasses import dataclass

import numpy as np

from likewise.deep.mapping import to_sphere
from likewise.kernels import map_blocks
from likewise.maps import Map
from likewise.numerics.array_library import library_of

LARGEST_SIDE = 64  # larger images are averaged down to sides below it


def shrinking_of(image_shape: tuple[int, ...]) -> int:
    """How many pixels, along each side, are averaged to one."""
    longest, shortest = max(image_shape[:2]), min(image_shape[:2])
    return min(longest // LARGEST_SIDE + 1, max(1, shortest // 8)) if longest >= LARGEST_SIDE else 1


@dataclass(frozen=True, eq=False)
class ConvolutionMap(Map):
    """Images to the codes of a trained network; its layers are pairs of weights and biases.

    Examples
    --------
    >>> from likewise.deep.convolution_map import ConvolutionMap
    >>> weights = np.zeros((3, 3, 1, 2))
    >>> weights[1, 1, 0] = [1.0, -1.0]  # each pixel by itself, and turned around
    >>> layers = ((weights, np.zeros(2)),)
    >>> as_is = {"center": np.zeros(4), "scale": 1.0, "code_center": np.zeros(2)}
    >>> signs = ConvolutionMap(layers, (1,), (2, 2, 1), **as_is, code_spread=np.ones(2))
    >>> signs.transform([[1.0, 2.0, 0.0, 0.0], [-1.0, 0.0, -5.0, 0.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    layers: tuple  # of (3, 3, n_inputs, n_outputs) weights and (n_outputs,) biases
    strides: tuple  # of each layer
    image_shape: tuple  # height, width, channels
    center: np.ndarray  # (n_features,), taken off the rows
    scale: float  # by which they are then divided
    code_center: np.ndarray  # (n_directions,), taken off the means over the image
    code_spread: np.ndarray  # (n_directions,), by which they are then divided

    @property
    def n_directions(self) -> int:
        return self.layers[-1][1].shape[0]

    def _coordinates_of(self, X, dtype):
        height, width, _ = self.image_shape
        widest = 9 * height * width * max(bias.shape[0] for _, bias in self.layers)
        codes = map_blocks(self._block, X, widest, self.n_directions)
        return to_sphere(library_of(X).astype(codes, X.dtype, copy=False))

    def _block(self, X):
        xp = library_of(X)

        def own(array):
            return xp.astype(array, X.dtype, copy=False)

        images = xp.reshape((X - own(self.center)) / self.scale, (X.shape[0], *self.image_shape))
        images = shrink(images, shrinking_of(self.image_shape))
        for (weights, bias), stride in zip(self.layers, self.strides):
            images = convolve(images, own(weights), own(bias), stride)
            images = xp.where(images > 0, images, xp.zeros_like(images))
        return (xp.mean(images, axis=(1, 2)) - own(self.code_center)) / own(self.code_spread)


def shrink(images, factor: int):
    """Images (n, h, w, c) with factor x factor pixels averaged; what is left over is dropped."""
    if factor == 1:
        return images
    n, height, width, n_channels = images.shape
    height, width = height // factor, width // factor
    kept = images[:, : height * factor, : width * factor, :]
    xp = library_of(images)
    return xp.mean(xp.reshape(kept, (n, height, factor, width, factor, n_channels)), axis=(2, 4))


def convolve(images, weights, bias, stride: int):
    """3 x 3 patches of images (n, h, w, c) times weights (3, 3, c, k), zeros beyond the border."""
    xp = library_of(images)
    n, height, width, n_channels = images.shape
    n_down, n_right = (height - 1) // stride + 1, (width - 1) // stride + 1
    padded = xp.zeros_like(images[:, :1, :1, :])
    row = xp.concat([padded] * (width + 2), axis=2)
    column = xp.concat([padded] * height, axis=1)
    wide = xp.concat([column, images, column], axis=2)
    padded = xp.concat([row, wide, row], axis=1)
    patches = [
        padded[
            :,
            down : down + stride * (n_down - 1) + 1 : stride,
            right : right + stride * (n_right - 1) + 1 : stride,
            :,
        ]
        for down in range(3)
        for right in range(3)
    ]
    flat = xp.reshape(xp.concat(patches, axis=3), (n * n_down * n_right, 9 * n_channels))
    made = flat @ xp.reshape(weights, (9 * n_channels, bias.shape[0])) + bias
    return xp.reshape(made, (n, n_down, n_right, bias.shape[0]))
