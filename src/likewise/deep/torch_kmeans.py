"""k-means where the codes are: all starts at once, on the device.

scikit-learn's k-means takes seconds for twenty starts on 60,000 codes, and needs them on the CPU.
"""

from typing import NamedTuple

import torch

MAX_ITER = 100
LARGEST = 2**28  # distances held at once: 1 GB


class ClusteredCodes(NamedTuple):
    centers: torch.Tensor  # (k, d)
    labels: torch.Tensor  # (n,)


def kmeans(codes, n_clusters: int, *, n_init: int, generator) -> ClusteredCodes:
    """The best of `n_init` starts by k-means++; random numbers come from the CPU."""
    draws = torch.rand(n_init, n_clusters, generator=generator).to(codes)
    at_once = max(1, LARGEST // (len(codes) * n_clusters))
    starts = [plus_plus(codes, some) for some in draws.split(at_once)]
    ends = torch.stack([improve(codes, some, MAX_ITER).centers for some in starts])
    return improve(codes, ends, 0)


def plus_plus(codes, draws):
    """Starts (r, k, d): each next center is drawn in proportion to its squared distance."""
    first = (draws[:, 0] * len(codes)).long().clamp(max=len(codes) - 1)
    centers = codes[first][:, None]
    sq_near = sq_distances(codes, centers)[:, :, 0]  # (r, n)
    for c in range(1, draws.shape[1]):
        reach = sq_near.double().cumsum(dim=1)
        at = torch.searchsorted(reach, draws[:, c, None].double() * reach[:, -1:])
        chosen = codes[at[:, 0].clamp(max=len(codes) - 1)][:, None]
        centers = torch.cat([centers, chosen], dim=1)
        sq_near = torch.minimum(sq_near, sq_distances(codes, chosen)[:, :, 0])
    return centers


def improve(codes, centers, max_iter: int) -> ClusteredCodes:
    """Lloyd's steps from centers (r, k, d), and the start of least cost. Empty clusters stay."""
    labels, cost = nearest_of(codes, centers)
    for _ in range(max_iter):
        chosen = torch.nn.functional.one_hot(labels, centers.shape[1]).to(codes.dtype)
        counts = chosen.sum(dim=1)[:, :, None]
        means = chosen.transpose(1, 2) @ codes / counts.clamp(min=1)
        centers = torch.where(counts > 0, means, centers)
        before = labels
        labels, cost = nearest_of(codes, centers)
        if torch.equal(labels, before):
            break
    best = int(cost.sum(dim=1).argmin())
    return ClusteredCodes(centers[best], labels[best])


def nearest_of(codes, centers):
    """Labels and squared distances to the own center, (r, n) each."""
    sq_near, labels = sq_distances(codes, centers).min(dim=2)
    return labels, sq_near


def sq_distances(codes, centers):
    """(r, n, k) of codes (n, d) and centers (r, k, d)."""
    cross = codes @ centers.transpose(1, 2)
    sq_dists = codes.square().sum(dim=1)[:, None] - 2 * cross + centers.square().sum(dim=2)[:, None]
    return sq_dists.clamp(min=0)
