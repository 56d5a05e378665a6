"""metric-learn 0.7.0: its linear metrics on our problems (see benchmarks/worker.py)."""

import metric_learn
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

PACKAGES = ("metric-learn", "scikit-learn", "numpy", "scipy")


def ITML(problem):
    return from_pairs(metric_learn.ITML(), problem)


def MMC(problem):
    return from_pairs(metric_learn.MMC(), problem)


def RCA(problem):
    X, must_link = problem["X"], problem["must_link"]
    graph = coo_array((np.ones(len(must_link)), must_link.T), shape=(len(X), len(X)))
    _, component = connected_components(graph, directed=False)
    size = np.bincount(component)[component]
    _, chunk = np.unique(np.where(size > 1, component, -1), return_inverse=True)
    learner = metric_learn.RCA()
    return lambda: learner.fit(X, chunk - 1), lambda: metric_of(learner)


def LSML(problem):
    X = problem["X"]
    a, b, odd = problem["odd_one_out"].T
    quadruplets = np.concatenate([np.stack([a, b, a, odd], 1), np.stack([a, b, b, odd], 1)])
    learner = metric_learn.LSML()
    return lambda: learner.fit(X[quadruplets]), lambda: metric_of(learner)


def from_pairs(learner, problem):
    must_link, cannot_link = problem["must_link"], problem["cannot_link"]
    pairs = problem["X"][np.concatenate([must_link, cannot_link])]
    sign = np.repeat([1, -1], [len(must_link), len(cannot_link)])
    return lambda: learner.fit(pairs, sign), lambda: metric_of(learner)


def metric_of(learner):
    """The matrix learned and the passes made; a pass numbered max_iter - 1 was the last allowed."""
    n_iter = getattr(learner, "n_iter_", 0)
    stopped = n_iter >= getattr(learner, "max_iter", np.inf) - 1
    converged = getattr(learner, "converged_", not stopped)
    return {"metric": learner.get_mahalanobis_matrix(), "n_iter": n_iter, "converged": converged}
