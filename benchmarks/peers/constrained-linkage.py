"""constrained-linkage 1.0.1: Ward's tree with soft constraints (see benchmarks/worker.py)."""

import numpy as np
from constrained_linkage import constrained_linkage
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import pdist, squareform

PACKAGES = ("constrained-linkage", "numpy", "scipy")
PENALTY = 0.1  # of distances scaled to [0, 1]; from 0.3 on digits its tree is one SciPy refuses


def Ward(problem):
    X, n_clusters = problem["X"], int(problem["n_clusters"])
    labels = np.empty(len(X), dtype=np.int64)

    def fit():
        penalties = np.zeros((len(X), len(X)))
        for sign, pairs in ((-1, problem["must_link"]), (1, problem["cannot_link"])):
            i, j = pairs.T
            penalties[i, j] = penalties[j, i] = sign * PENALTY
        tree = constrained_linkage(
            squareform(pdist(X)),
            method="ward",
            constraint_matrix=penalties,
            normalize_distances=True,
        )
        labels[:] = fcluster(tree, n_clusters, criterion="maxclust")

    return fit, lambda: {"labels": labels}
