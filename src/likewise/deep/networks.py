"""The autoencoder: rows to short codes and back, together with the centers of the clusters.

Encoder d-500-500-2000-10 by default, rectified between the layers and linear at the ends, and its
mirror image as the decoder. Rows are centered, and divided by one number, inside the network.
Reference: zhang2021; xie2016 for the architecture.
"""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

from likewise.deep.losses import angular_assignments, student_assignments

SMALL = 0.01  # half-width of the layer-wise schedule's first weights


class Autoencoder(nn.Module):
    """Rows to codes, and codes back to rows."""

    offset: torch.Tensor  # (d,)

    def __init__(self, sizes, *, on_sphere: bool, offset, scale: float):
        super().__init__()
        self.on_sphere = on_sphere
        self.encoder = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        back = sizes[::-1]
        self.decoder = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(back))
        self.register_buffer("offset", torch.as_tensor(offset, dtype=torch.float32))
        self.scale = scale

    def standardize(self, rows):
        return (rows - self.offset) / self.scale

    def encode(self, rows):
        """Codes (n, n_code) of rows that are not standardized yet."""
        codes = through(self.encoder, self.standardize(rows))
        return F.normalize(codes, dim=1) if self.on_sphere else codes

    def forward(self, rows):
        """Codes, and the standardized rows reconstructed from them."""
        codes = self.encode(rows)
        return codes, through(self.decoder, codes)


class Clusterer(nn.Module):
    """The autoencoder with centers, as one module with one optimizer and one wrapper."""

    centers: torch.Tensor  # (k, n_code)

    def __init__(self, autoencoder: Autoencoder, centers, *, loss: str, t_power: int):
        super().__init__()
        self.autoencoder, self.loss, self.t_power = autoencoder, loss, t_power
        # Angular codes are trained without centers: they are found afterwards, and only kept here.
        if loss == "angular":
            self.register_buffer("centers", centers.clone())
        else:
            self.centers = nn.Parameter(centers.clone())

    def assign(self, codes):
        """Soft assignments (n, k)."""
        if self.loss == "student":
            return student_assignments(codes, self.centers, self.t_power)
        return angular_assignments(codes, self.centers)

    def forward(self, rows):
        codes, back = self.autoencoder(rows)
        return codes, back, self.assign(codes)


def through(layers, rows):
    """Rows through layers, rectified after all but the last."""
    for layer in layers[:-1]:
        rows = F.relu(layer(rows))
    return layers[-1](rows)


def start_weights(module: nn.Module, generator, *, small: bool = False) -> None:
    """Fill the weights from a generator of the CPU: the same on every device.

    As torch would, uniform within 1 / sqrt(inputs); or as the layer-wise schedule does.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            bound = SMALL if small else layer.in_features**-0.5
            for parameter in (layer.weight, layer.bias):
                drawn = torch.rand(parameter.shape, generator=generator)
                with torch.no_grad():
                    parameter.copy_((2 * drawn - 1) * bound)
