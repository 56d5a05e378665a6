"""What an outcome is worth, by one function for every contestant.

A learned metric is followed by KMeans(n_init=10) in its space. Objectives are those of the papers,
written so that lower is better and a scale of the metric does not matter where it should not:

    RCA   log mean squared distance to the chunklet's mean - logdet(A) / d
    MMC   log sqrt(sum over must-links of d_A^2) - log sum over cannot-links of d_A
    LSML  mean of [d_ab > d_cd] (d_ab - d_cd)^2 + tr A - logdet A
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score


def score(problem, method, outcome):
    """ARI, ARI on rows no answer speaks of, share of the answers that hold, and the objective."""
    scores = {
        "n_iter": int(outcome.get("n_iter", 0)),
        "converged": bool(outcome.get("converged", True)),
    }
    if "metric" not in outcome:
        return scores | agreement(problem, outcome["labels"])
    metric = np.asarray(outcome["metric"])
    if not np.isfinite(metric).all():
        return scores | {"status": "NaN in the metric"}
    Z = problem.X @ root(metric)
    kmeans = KMeans(problem.n_clusters, n_init=10, random_state=problem.seed).fit(Z)
    scores |= agreement(problem, kmeans.labels_)
    if problem.constraints.odd_one_out.size:
        smaller, larger, _ = problem.constraints.distance_inequalities()
        scores["satisfied"] = np.mean(sq_distances(Z, smaller) < sq_distances(Z, larger))
    name = method.removesuffix("_as_published")
    if name in OBJECTIVES:
        scores["objective"] = OBJECTIVES[name](problem, metric)
    return scores


def agreement(problem, labels):
    constraints = problem.constraints
    free = np.ones(len(problem.y), dtype=bool)
    free[constraints.touched_rows()] = False
    scores = {
        "ari": adjusted_rand_score(problem.y, labels),
        "ari_free": adjusted_rand_score(problem.y[free], labels[free]) if free.any() else np.nan,
    }
    pairs, sign = constraints.signed_pairs()
    if len(pairs):
        holds = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) == (sign > 0)
        scores["satisfied"] = np.mean(holds)
        scores["must_satisfied"] = np.mean(holds[sign > 0])
        scores["cannot_satisfied"] = np.mean(holds[sign < 0])
    return scores


def root(metric):
    """L with L L' = metric."""
    eigenvalues, vectors = np.linalg.eigh((metric + metric.T) / 2)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0))


def sq_distances(Z, pairs):
    return ((Z[pairs[:, 0]] - Z[pairs[:, 1]]) ** 2).sum(axis=1)


def rca_objective(problem, metric):
    closure = problem.constraints.closure()
    in_chunklet = closure.sizes[closure.components] > 1
    chunklet = closure.components[in_chunklet]
    Z = (problem.X @ root(metric))[in_chunklet]
    means = np.stack([Z[chunklet == c].mean(axis=0) for c in chunklet])
    sq_spread = ((Z - means) ** 2).sum(axis=1).mean()
    return np.log(sq_spread) - np.linalg.slogdet(metric)[1] / len(metric)


def mmc_objective(problem, metric):
    Z = problem.X @ root(metric)
    together = sq_distances(Z, problem.constraints.must_link).sum()
    apart = np.sqrt(sq_distances(Z, problem.constraints.cannot_link)).sum()
    return np.log(together) / 2 - np.log(apart)


def lsml_objective(problem, metric):
    Z = problem.X @ root(metric)
    smaller, larger, _ = problem.constraints.distance_inequalities()
    excess = np.sqrt(sq_distances(Z, smaller)) - np.sqrt(sq_distances(Z, larger))
    loss = np.mean(np.maximum(excess, 0) ** 2)
    return loss + np.trace(metric) - np.linalg.slogdet(metric)[1]


OBJECTIVES = {"RCA": rca_objective, "MMC": mmc_objective, "LSML": lsml_objective}
