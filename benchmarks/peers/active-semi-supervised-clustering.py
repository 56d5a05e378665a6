"""active-semi-supervised-clustering 0.0.1 on our problems (see benchmarks/worker.py)."""

from active_semi_clustering.semi_supervised import pairwise_constraints as theirs

PACKAGES = ("active-semi-supervised-clustering", "numpy", "scipy")


def PCKMeans(problem):
    return from_pairs(theirs.PCKMeans(int(problem["n_clusters"])), problem)


def MPCKMeans(problem):
    return from_pairs(theirs.MPCKMeans(int(problem["n_clusters"])), problem)


def MPCKMeans_one_pass(problem):
    """One pass only, to extrapolate to sizes where a whole fit takes an hour."""
    return from_pairs(theirs.MPCKMeans(int(problem["n_clusters"]), max_iter=1), problem)


def COPKMeans(problem):
    return from_pairs(theirs.COPKMeans(int(problem["n_clusters"])), problem)


def from_pairs(clusterer, problem):
    must_link, cannot_link = problem["must_link"].tolist(), problem["cannot_link"].tolist()
    return (
        lambda: clusterer.fit(problem["X"], ml=must_link, cl=cannot_link),
        lambda: {"labels": clusterer.labels_},
    )
