"""Kernels, landmarks and neighbor graphs: what learning starts from.

A kernel is a callable k(X, Y) -> (n, m); rows are dense or CSR, float32 or float64, and the result
is float64. What needs training rows (the self-tuning Gaussian, diffusion coordinates, the Nystrom
map) is a small frozen record that holds them and takes new rows.
"""

from likewise.kernels.cholesky import PivotedCholesky, pivoted_cholesky
from likewise.kernels.diffusion import (
    DiffusionMap,
    diffusion_coordinates,
    diffusion_map,
    interpolation_weights,
)
from likewise.kernels.distances import nearest_rows, row_blocks, sq_distance_blocks, sq_distances
from likewise.kernels.gaussian import SelfTuningGaussian, self_tuning_gaussian
from likewise.kernels.graph import (
    laplacian,
    neighbor_graph,
    normalized_adjacency,
    self_tuning_graph,
    similarity_graph,
)
from likewise.kernels.landmarks import choose_landmarks
from likewise.kernels.named import kernel_diagonal, kernel_function, kernel_oracle
from likewise.kernels.nystrom import NystromMap, nystrom_map
from likewise.kernels.pointwise import cosine, linear, polynomial, rbf, rbf_theta

__all__ = [
    "DiffusionMap",
    "NystromMap",
    "PivotedCholesky",
    "SelfTuningGaussian",
    "choose_landmarks",
    "cosine",
    "diffusion_coordinates",
    "diffusion_map",
    "interpolation_weights",
    "kernel_diagonal",
    "kernel_function",
    "kernel_oracle",
    "laplacian",
    "linear",
    "nearest_rows",
    "neighbor_graph",
    "normalized_adjacency",
    "nystrom_map",
    "pivoted_cholesky",
    "polynomial",
    "rbf",
    "rbf_theta",
    "row_blocks",
    "self_tuning_gaussian",
    "self_tuning_graph",
    "similarity_graph",
    "sq_distance_blocks",
    "sq_distances",
]
