"""A pool of pairs, and metrics made of a few of them, without a matrix as large as the features.

    M = I + V'CV,   V the differences of the chosen pairs (s, d), C their core (s, s)

Whatever ITML learns from s pairs has this form, for inv(M) = I + V'DV with D = diag(sign dual), so
that C = -D inv(I + VV'D). Products of rows with all differences of the pool are formed once; a
metric is then learned, changed by one projection, and clustered under, by its small core:

    |x - y|_M^2 = |x - y|^2 + (Vx - Vy)' C (Vx - Vy)
    one projection adds beta ww' to the core of V and p, w = (C V p, 1): the metric gains rank one

Reference: davis2007 for the projections, rao2013 for what they are used for here.
"""

from typing import NamedTuple

import numpy as np

from likewise.metric_learning import project_onto_pairs
from likewise.numerics.partitions import cluster_means, refill_empty
from likewise.numerics.psd import positive_part

TOL, MAX_SWEEPS = 1e-3, 1000  # ITML's own
MAX_STEPS = 100  # of k-means


class Pool(NamedTuple):
    """Pairs to choose from, and the rows that are clustered to judge them."""

    X: np.ndarray  # (n, d) rows, centered
    pairs: np.ndarray  # (p, 2) into X
    sign: np.ndarray  # (p,) +1.0 must-link, -1.0 cannot-link
    weights: np.ndarray  # (p,) > 0
    sq_bounds: np.ndarray  # (p,)
    strengths: np.ndarray  # (p,) C times weight
    differences: np.ndarray  # (p, d)
    along: np.ndarray  # (n, p) X @ differences'
    gram: np.ndarray  # (p, p) differences @ differences'
    scatter: float  # sum of |x|^2


class Metric(NamedTuple):
    """M = I + V'CV over chosen pairs."""

    chosen: np.ndarray  # (s,) places in the pool
    core: np.ndarray  # (s, s) C
    duals: np.ndarray  # (s,) of the pairs; zeros where they are not kept (online)


class Clusters(NamedTuple):
    labels: np.ndarray  # (n,)
    centers: np.ndarray  # (k, d)
    error: float  # sum of squared distances to the centers under the metric
    scatter: float  # the same with one cluster


IDENTITY = Metric(np.empty(0, dtype=np.int64), np.empty((0, 0)), np.empty(0))


def make_pool(X, pairs, sign, weights, sq_bounds, C) -> Pool:
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    return Pool(
        X,
        pairs,
        sign,
        weights,
        sq_bounds,
        C * weights,
        differences,
        X @ differences.T,
        differences @ differences.T,
        float(np.sum(X**2)),
    )


def learn_from_chosen(pool: Pool, chosen: np.ndarray, start: np.ndarray, seed: int) -> Metric:
    """ITML from the chosen pairs, with the identity as prior."""
    G = pool.gram[np.ix_(chosen, chosen)]
    return metric_of_duals(pool, chosen, fit_duals(pool, chosen, G, start, seed))


def learn_again(pool: Pool, metric: Metric, candidate: int, seed: int) -> Metric:
    """ITML from all chosen pairs and one more, with the last metric as prior.

    inv(M) = inv(M_last) + V'DV: the duals of all rounds add up.
    """
    chosen, before = np.append(metric.chosen, candidate), np.append(metric.duals, 0.0)
    G = pool.gram[np.ix_(chosen, chosen)]
    under_prior = G + G @ np.pad(metric.core, (0, 1)) @ G  # V M_last V'
    duals = fit_duals(pool, chosen, (under_prior + under_prior.T) / 2, np.zeros(len(chosen)), seed)
    return metric_of_duals(pool, chosen, before + duals)


def fit_duals(pool: Pool, chosen: np.ndarray, gram, start: np.ndarray, seed: int) -> np.ndarray:
    """Duals of ITML, in the coordinates of the space that the pairs span under a prior."""
    part = positive_part(gram)
    rows = np.vstack([part.vectors * np.sqrt(part.values), np.zeros(len(part.values))])
    fitted = project_onto_pairs(
        rows,
        np.column_stack([np.arange(len(chosen)), np.full(len(chosen), len(chosen))]),
        pool.sign[chosen],
        pool.sq_bounds[chosen],
        pool.strengths[chosen],
        start=start,
        tol=TOL,
        max_iter=MAX_SWEEPS,
        rng=np.random.RandomState(seed),
    )
    return fitted.duals


def metric_of_duals(pool: Pool, chosen: np.ndarray, duals: np.ndarray) -> Metric:
    """inv(M) = I + V'DV, as the core of M."""
    G = pool.gram[np.ix_(chosen, chosen)]
    D = pool.sign[chosen] * duals
    core = -np.linalg.solve(np.eye(len(chosen)) + D[:, None] * G, np.diag(D))
    return Metric(chosen, (core + core.T) / 2, duals)


class Steps(NamedTuple):
    """One projection of a metric for each of some candidates."""

    candidates: np.ndarray  # (c,) places in the pool
    betas: np.ndarray  # (c,) M gains beta (Mp)(Mp)'
    leads: np.ndarray  # (s, c) C V p


def project_once(pool: Pool, metric: Metric, candidates: np.ndarray) -> Steps:
    """The step of ITML onto a pair it has not seen: equation 3 of rao2013."""
    products = pool.gram[np.ix_(metric.chosen, candidates)]  # (s, c) V p
    leads = metric.core @ products
    sq_dists = pool.gram[candidates, candidates] + np.sum(products * leads, axis=0)
    sign, strengths = pool.sign[candidates], pool.strengths[candidates]
    wanted = sign * (1 / pool.sq_bounds[candidates] - 1 / sq_dists) / (1 + 1 / strengths)
    steps = sign * np.maximum(wanted, 0)
    return Steps(candidates, -steps / (1 + steps * sq_dists), leads)  # Sherman-Morrison


def take_step(metric: Metric, steps: Steps, at: int) -> Metric:
    """The metric after one of the steps; duals are forgotten, since no later step uses them."""
    w = np.append(steps.leads[:, at], 1.0)
    core = np.pad(metric.core, (0, 1)) + steps.betas[at] * np.outer(w, w)
    chosen = np.append(metric.chosen, steps.candidates[at])
    return Metric(chosen, core, np.zeros(len(chosen)))


def cluster_pool(pool: Pool, metric: Metric, centers: np.ndarray) -> Clusters:
    """k-means under a metric, from given centers until no row moves.

    Sums and distances are brought up to date only for the clusters whose rows have changed.
    """
    n_clusters = len(centers)
    parts = pool.along[:, metric.chosen]  # (n, s) V x
    leads = parts @ metric.core
    part_centers = centers @ pool.differences[metric.chosen].T
    nearer = np.empty((len(parts), n_clusters))  # squared distances, less what all clusters share
    labels, changed = np.empty(0, dtype=np.int64), np.arange(n_clusters)
    for _ in range(MAX_STEPS):
        nearer[:, changed] = sq_norms(centers[changed], part_centers[changed], metric.core)
        nearer[:, changed] -= 2 * (pool.X @ centers[changed].T + leads @ part_centers[changed].T)
        moved = refill_empty(nearer.argmin(axis=1), nearer.min(axis=1), n_clusters)
        sizes = np.bincount(moved, minlength=n_clusters)
        if not len(labels):
            sums = cluster_means(pool.X, moved, n_clusters) * sizes[:, None]
            part_sums = cluster_means(parts, moved, n_clusters) * sizes[:, None]
        else:
            who = np.flatnonzero(moved != labels)
            if not len(who):
                break
            flow = np.zeros((n_clusters, len(who)))
            flow[moved[who], np.arange(len(who))] = 1.0
            flow[labels[who], np.arange(len(who))] = -1.0
            changed = np.flatnonzero(flow.any(axis=1))
            sums += flow @ pool.X[who]
            part_sums += flow @ parts[who]
        labels = moved
        centers, part_centers = sums / sizes[:, None], part_sums / sizes[:, None]
    scatter = pool.scatter + float(np.sum(parts * leads))
    between = float(sizes @ sq_norms(centers, part_centers, metric.core))
    return Clusters(labels, centers, scatter - between, scatter)


def sq_norms(centers, part_centers, core) -> np.ndarray:
    """(k,) mu'M mu."""
    return np.sum(centers**2, axis=1) + np.sum((part_centers @ core) * part_centers, axis=1)


def distances_to_centers(pool: Pool, metric: Metric, centers, rows) -> np.ndarray:
    """Squared distances (r, k) of some rows to centers under a metric."""
    V = pool.differences[metric.chosen]
    offsets = pool.X[rows][:, None] - centers  # (r, k, d)
    parts = offsets @ V.T
    return np.sum(offsets**2, axis=2) + np.sum((parts @ metric.core) * parts, axis=2)


def foresee(pool: Pool, metric: Metric, clusters: Clusters, steps: Steps, rows) -> np.ndarray:
    """(c, r) clusters of some rows after each step, the centers held: a rank-one change."""
    parts = pool.along[:, metric.chosen]
    pulls = pool.along[:, steps.candidates] + parts @ steps.leads  # (n, c) x'Mp
    at_centers = cluster_means(pulls, clusters.labels, len(clusters.centers))  # (k, c)
    sq_dists = distances_to_centers(pool, metric, clusters.centers, rows)
    labels = np.empty((len(steps.candidates), len(rows)), dtype=np.int64)
    for c in range(len(labels)):
        change = (pulls[rows, c][:, None] - at_centers[:, c]) ** 2
        labels[c] = (sq_dists + steps.betas[c] * change).argmin(axis=1)
    return labels


def matrix_of(metric: Metric, differences: np.ndarray) -> np.ndarray:
    """M as a matrix (d, d), from the differences of all pairs of the pool."""
    V = differences[metric.chosen]
    M = np.eye(differences.shape[1]) + V.T @ metric.core @ V
    return (M + M.T) / 2
