"""Networks of the second edition: images or rows to codes of length 1, and centers among them.

    images   three stages of two 3 x 3 convolutions, the sides halved between stages, then the mean
             over the image; large images are first averaged down to sides below 64
    rows     linear layers
    code     of length 1;  memberships  softmax(SHARPNESS cosine(code, centers))       (losses.py)

Every layer but the last of rows is normalized over the batch and rectified; at the end every
direction is normalized once more, so that codes spread around 0 and their angles mean something.
After training, the first are folded into the weights (`folded_layers`), so that NumPy can apply the
network.
Reference: chen2020 for the projection that the contrast is computed in.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from likewise.deep.convolution_map import ConvolutionMap, shrinking_of
from likewise.deep.losses import angular_assignments
from likewise.deep.mapping import NetworkMap

N_PROJECTED = 64  # directions in which views are compared
MOMENTUM = 0.1  # of the running statistics: 0.9 of the old ones stay


class ImageLayers(nn.Module):
    """Convolutions (n, channels, height, width) -> (n, widths[-1]); each with its normalization."""

    def __init__(self, image_shape: tuple[int, int, int], widths: tuple[int, ...]):
        super().__init__()
        self.image_shape, self.shrinking = image_shape, shrinking_of(image_shape)
        channels = (image_shape[2], *(width for width in widths for _ in range(2)))
        self.strides = tuple(2 if i and i % 2 == 0 else 1 for i in range(len(channels) - 1))
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=stride, padding=1, bias=False)
            for (a, b), stride in zip(pairwise(channels), self.strides)
        )
        self.norms = nn.ModuleList(
            nn.BatchNorm2d(width, momentum=MOMENTUM) for width in channels[1:]
        )

    def forward(self, rows):
        height, width, n_channels = self.image_shape
        images = rows.reshape(-1, height, width, n_channels).permute(0, 3, 1, 2)
        if self.shrinking > 1:
            images = F.avg_pool2d(images, self.shrinking)
        if rows.is_cuda:
            images = images.contiguous(memory_format=torch.channels_last)
        for layer, norm in zip(self.layers, self.norms):
            images = F.relu(norm(layer(images)))
        return images.mean(dim=(2, 3))


class RowLayers(nn.Module):
    """Linear layers (n, d) -> (n, widths[-1]), normalized and rectified between them."""

    def __init__(self, n_features: int, widths: tuple[int, ...]):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise((n_features, *widths)))
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width, momentum=MOMENTUM) for width in widths[:-1]
        )

    def forward(self, rows):
        for layer, norm in zip(self.layers, self.norms):
            rows = F.relu(norm(layer(rows)))
        return self.layers[-1](rows)


class CodeNetwork(nn.Module):
    """Layers, the projection that views are compared in, and the centers of clusters."""

    offset: torch.Tensor  # (d,), taken off the rows
    scale: torch.Tensor  # (), by which they are then divided

    def __init__(self, n_features: int, widths, image_shape, n_clusters: int):
        super().__init__()
        self.image_shape = image_shape
        self.body: RowLayers | ImageLayers = (
            RowLayers(n_features, widths)
            if image_shape is None
            else ImageLayers(image_shape, widths)
        )
        n_code = widths[-1]
        self.last_norm = nn.BatchNorm1d(n_code, momentum=MOMENTUM, affine=False)
        self.projection = nn.Sequential(
            nn.Linear(n_code, n_code), nn.ReLU(), nn.Linear(n_code, N_PROJECTED)
        )
        self.centers = nn.Parameter(torch.zeros(n_clusters, n_code))
        self.register_buffer("offset", torch.zeros(n_features))
        self.register_buffer("scale", torch.ones(()))

    def standardize(self, rows):
        return (rows - self.offset) / self.scale

    def features(self, rows):
        """Of standardized rows (n, d), before they are brought to length 1."""
        if not rows.is_cuda:
            return self.last_norm(self.body(rows))
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            features = self.body(rows)
        return self.last_norm(features.float())

    def encode(self, rows):
        """Codes (n, n_code) of length 1, of standardized rows."""
        return F.normalize(self.features(rows), dim=1)

    def project(self, rows):
        """Directions (n, N_PROJECTED) of length 1, of standardized rows."""
        return F.normalize(self.projection(self.features(rows)), dim=1)

    def assign(self, codes):
        """Memberships (n, k) of codes."""
        return angular_assignments(codes, self.centers)


def start_network(X: np.ndarray, widths, image_shape, n_clusters: int, generator) -> CodeNetwork:
    """First weights drawn on the CPU; offset and scale those of the rows, one number each per
    channel of images, one scale for all other columns.
    """
    network = CodeNetwork(X.shape[1], widths, image_shape, n_clusters)
    center = X.mean(axis=0, dtype=np.float64)
    if image_shape is not None:
        n_channels = image_shape[2]
        center = np.tile(center.reshape(-1, n_channels).mean(axis=0), X.shape[1] // n_channels)
    scale = float(np.sqrt(((X - center) ** 2).mean(dtype=np.float64))) or 1.0
    with torch.no_grad():
        network.offset.copy_(torch.as_tensor(center))
        network.scale.fill_(scale)
        for layer in network.modules():
            if isinstance(layer, (nn.Linear, nn.Conv2d)):
                drawn = torch.randn(layer.weight.shape, generator=generator)
                layer.weight.copy_(drawn * (2 / layer.weight[0].numel()) ** 0.5)
                if layer.bias is not None:
                    layer.bias.zero_()
    return network


def folded_layers(body: RowLayers | ImageLayers) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Weights and biases with the running normalization folded in.

    Convolutions (3, 3, inputs, outputs), linear layers (inputs, outputs).
    """
    layers = []
    for i, layer in enumerate(body.layers):
        assert isinstance(layer, (nn.Linear, nn.Conv2d))
        weights = double(layer.weight)
        bias = np.zeros(len(weights)) if layer.bias is None else double(layer.bias)
        if i < len(body.norms):
            norm: Any = body.norms[i]
            factor = double(norm.weight) / spread_of(norm)
            bias = (bias - double(norm.running_mean)) * factor + double(norm.bias)
            weights = weights * factor.reshape(-1, *[1] * (weights.ndim - 1))
        turned = weights.transpose(2, 3, 1, 0) if weights.ndim == 4 else weights.T
        layers.append((single(turned), single(bias)))
    return tuple(layers)


def spread_of(norm) -> np.ndarray:
    """Standard deviations by which it divides."""
    return np.sqrt(double(norm.running_var) + norm.eps)


def double(tensor) -> np.ndarray:
    return tensor.detach().double().cpu().numpy()


def single(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.float32)


def map_of(network: CodeNetwork) -> ConvolutionMap | NetworkMap:
    """The network as arrays."""
    layers, center = folded_layers(network.body), single(double(network.offset))
    scale, norm = float(network.scale), network.last_norm
    mean, spread = double(norm.running_mean), spread_of(norm)
    if isinstance(network.body, RowLayers):
        weights, bias = layers[-1]
        last = (single(weights / spread), single((bias - mean) / spread))
        return NetworkMap((*layers[:-1], last), center, scale, on_sphere=True)
    strides, shape = network.body.strides, network.image_shape
    return ConvolutionMap(layers, strides, shape, center, scale, single(mean), single(spread))


def arrays_of(network: CodeNetwork) -> list[np.ndarray]:
    """All that was learned but the centers, in a fixed order: for a network to start from."""
    named = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    kept = sorted(name for name in named if name != "centers")
    return [named[name].detach().cpu().numpy().copy() for name in kept]


def take_arrays(network: CodeNetwork, arrays) -> None:
    """Put what `arrays_of` gave in place of its own."""
    named = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    kept = sorted(name for name in named if name != "centers")
    with torch.no_grad():
        for name, array in zip(kept, arrays, strict=True):
            named[name].copy_(torch.as_tensor(array))
