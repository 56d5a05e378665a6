"""Clusterers: by a kernel, under constraints, and at several resolutions."""

from likewise.cluster.affinity import kernel_affinity
from likewise.cluster.cluster_count import ClusterCount, choose_n_clusters
from likewise.cluster.clusterer_checks import (
    check_choice,
    check_enough_rows,
    order_clusters,
    size_bounds,
)
from likewise.cluster.cop_kmeans import COPKMeans, hold_pairs
from likewise.cluster.distance_field import DistanceField, add_distances, noisy
from likewise.cluster.k_medoids import KMedoids, dissimilarities, draw_medoids
from likewise.cluster.kernel_kmeans import KernelKMeans
from likewise.cluster.mean_shift import KernelMeanShift
from likewise.cluster.medoid_search import Medoids, exact_medoids, swap_medoids
from likewise.cluster.membership_spread import (
    Known,
    add_clusters,
    even_out,
    field_covariance,
    interpolate_groups,
    known_components,
    match_clusters,
    share_walks,
    signed_graph,
    solve_walks,
    spectral_rows,
    spread_memberships,
)
from likewise.cluster.mpck_means import MPCKMeans
from likewise.cluster.pck_means import PCKMeans
from likewise.cluster.propagation import GraphPropagation
from likewise.cluster.resolutions import Resolutions, resolutions
from likewise.cluster.rule_labels import label_by_rules

__all__ = [
    "COPKMeans",
    "ClusterCount",
    "DistanceField",
    "GraphPropagation",
    "KMedoids",
    "KernelKMeans",
    "KernelMeanShift",
    "Known",
    "MPCKMeans",
    "Medoids",
    "PCKMeans",
    "Resolutions",
    "add_clusters",
    "add_distances",
    "check_choice",
    "check_enough_rows",
    "choose_n_clusters",
    "dissimilarities",
    "draw_medoids",
    "even_out",
    "exact_medoids",
    "field_covariance",
    "hold_pairs",
    "interpolate_groups",
    "kernel_affinity",
    "known_components",
    "label_by_rules",
    "match_clusters",
    "noisy",
    "order_clusters",
    "resolutions",
    "share_walks",
    "signed_graph",
    "size_bounds",
    "solve_walks",
    "spectral_rows",
    "spread_memberships",
    "swap_medoids",
]
