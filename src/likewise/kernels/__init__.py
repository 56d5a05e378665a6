"""Kernels, landmarks and neighbor graphs: what learning starts from.

A kernel is a callable k(X, Y) -> (n, m); rows are dense or CSR, float32 or float64, and the result
is float64. Kernels also take arrays of another library, torch's for instance, and then stay in it.
What needs training rows (the self-tuning Gaussian, diffusion) holds them and takes new rows.
"""

from likewise.kernels.cholesky import PivotedCholesky, pivoted_cholesky
from likewise.kernels.diffusion import (
    combine,
    diffusion_coordinates,
    diffusion_kernel,
    interpolate,
    interpolation_weights,
    leading_eigenpairs,
    weights_by_distance,
)
from likewise.kernels.distances import (
    map_blocks,
    nearest_rows,
    row_blocks,
    smallest_columns,
    sq_distance_blocks,
    sq_distances,
)
from likewise.kernels.gaussian import SelfTuningGaussian, self_tuning_gaussian
from likewise.kernels.graph import (
    check_similarity,
    laplacian,
    neighbor_graph,
    normalized_adjacency,
    normalized_similarity,
    self_tuning_graph,
    similarity_graph,
)
from likewise.kernels.landmarks import choose_landmarks
from likewise.kernels.layout import edge_shares, lay_out, lay_out_edges, to_leading_directions
from likewise.kernels.named import KERNEL_NAMES, kernel_diagonal, kernel_function, kernel_oracle
from likewise.kernels.pointwise import cosine, linear, polynomial, rbf, rbf_theta

__all__ = [
    "KERNEL_NAMES",
    "PivotedCholesky",
    "SelfTuningGaussian",
    "check_similarity",
    "choose_landmarks",
    "combine",
    "cosine",
    "diffusion_coordinates",
    "diffusion_kernel",
    "edge_shares",
    "interpolate",
    "interpolation_weights",
    "kernel_diagonal",
    "kernel_function",
    "kernel_oracle",
    "laplacian",
    "lay_out",
    "lay_out_edges",
    "leading_eigenpairs",
    "linear",
    "map_blocks",
    "nearest_rows",
    "neighbor_graph",
    "normalized_adjacency",
    "normalized_similarity",
    "pivoted_cholesky",
    "polynomial",
    "rbf",
    "rbf_theta",
    "row_blocks",
    "self_tuning_gaussian",
    "self_tuning_graph",
    "similarity_graph",
    "smallest_columns",
    "sq_distance_blocks",
    "sq_distances",
    "to_leading_directions",
    "weights_by_distance",
]
