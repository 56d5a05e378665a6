"""Clusterers: by a kernel, under constraints, and at several resolutions."""

from likewise.cluster.kernel_kmeans import KernelKMeans
from likewise.cluster.resolutions import Resolutions, resolutions

__all__ = ["KernelKMeans", "Resolutions", "resolutions"]
