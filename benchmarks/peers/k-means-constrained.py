"""k-means-constrained 0.9.1: k-means with bounded sizes by OR-Tools (see benchmarks/worker.py)."""

from k_means_constrained import KMeansConstrained

PACKAGES = ("k-means-constrained", "numpy", "scipy", "ortools")


def Sizes(problem):
    X, k = problem["X"], int(problem["n_clusters"])
    least, most, n_init = (int(problem.get(name, d)) for name, d in
                           (("min_size", 1), ("max_size", len(X)), ("n_init", 1)))  # fmt: skip
    model = KMeansConstrained(
        k, size_min=least, size_max=most, n_init=n_init, random_state=int(problem["seed"])
    )
    return lambda: model.fit(X), lambda: {"labels": model.labels_}
