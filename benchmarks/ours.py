"""likewise, and scikit-learn's k-means as the baseline, on our problems (see worker.py)."""

import numpy as np
from sklearn.cluster import KMeans as SklearnKMeans

from likewise import Constraints, cluster, metric_learning

PACKAGES = ("likewise", "scikit-learn", "numpy", "scipy")


def ITML(problem):
    return learned_metric(metric_learning.ITML(random_state=int(problem["seed"])), problem)


def RCA(problem):
    return learned_metric(metric_learning.RCA(), problem, kinds=("must_link",))


def MMC(problem):
    return learned_metric(metric_learning.MMC(), problem)


def LSML(problem):
    return learned_metric(metric_learning.LSML(), problem, kinds=("odd_one_out",))


def RCA_as_published(problem):
    """Without shrinkage, so that the objective is the peer's."""
    return learned_metric(metric_learning.RCA(shrinkage=1e-9), problem, kinds=("must_link",))


def MMC_as_published(problem):
    """Without shrinkage, so that the objective is the peer's."""
    return learned_metric(metric_learning.MMC(shrinkage=1e-9), problem)


def LSML_as_published(problem):
    """The peer's objective: the prior weighs 1, and lengths are taken as they are."""
    X = problem["X"]
    smaller, larger, _ = answers_of(problem, ("odd_one_out",)).distance_inequalities()
    compared = np.concatenate([smaller, larger])
    sq_unit = ((X[compared[:, 0]] - X[compared[:, 1]]) ** 2).sum(axis=1).mean()
    learner = metric_learning.LSML(prior_weight=1 / sq_unit)
    return learned_metric(learner, problem, kinds=("odd_one_out",))


def PCKMeans(problem):
    return clusters(cluster.PCKMeans, problem)


def MPCKMeans(problem):
    return clusters(cluster.MPCKMeans, problem)


def COPKMeans(problem):
    return clusters(cluster.COPKMeans, problem)


def KMeans(problem):
    """Plain k-means, which sees no answers."""
    clusterer = SklearnKMeans(
        int(problem["n_clusters"]), n_init=10, random_state=int(problem["seed"])
    )
    return lambda: clusterer.fit(problem["X"]), lambda: {"labels": clusterer.labels_}


def learned_metric(learner, problem, kinds=("must_link", "cannot_link")):
    X = problem["X"]
    constraints = answers_of(problem, kinds)

    def outcome():
        d = X.shape[1]
        linear_map = learner.transform(np.eye(d)) - learner.transform(np.zeros((1, d)))
        n_iter = getattr(learner, "n_iter_", 0)
        converged = n_iter < getattr(learner, "max_iter", np.inf)
        return {"metric": linear_map @ linear_map.T, "n_iter": n_iter, "converged": converged}

    return lambda: learner.fit(X, constraints=constraints), outcome


def clusters(kind, problem):
    clusterer = kind(int(problem["n_clusters"]), random_state=int(problem["seed"]))
    constraints = answers_of(problem, ("must_link", "cannot_link"))
    return (
        lambda: clusterer.fit(problem["X"], constraints=constraints),
        lambda: {"labels": clusterer.labels_, "n_iter": getattr(clusterer, "n_iter_", 0)},
    )


def answers_of(problem, kinds):
    return Constraints(len(problem["X"]), **{kind: problem[kind] for kind in kinds})
