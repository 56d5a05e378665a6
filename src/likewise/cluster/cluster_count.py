"""How many clusters: where a clustering of the space is most distinct, and what answers demand.

    k* = argmax_k  5 silhouette of k clusters - 2 log k + log P(share of must-links | k clusters)

where pairs look drawn at random (together_share.py): the sum is a log-posterior, its two weights
picked on half of the data sets. Other answers give credit to the clusters they agree with:

    k* = argmax_k  silhouette of k clusters + share of the pairs that they satisfy

Clusters are those of Ward's tree, cut at k, with k-means from their means. Rows that answers keep
apart, each from every other, need one cluster each: such a clique is a lower bound on k. Everything
is computed on a sample of rows, and of answers where they are many.
Reference: rousseeuw1987 for the silhouette.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.utils import check_random_state

from likewise.cluster.feasible import find_clique, prepare_links
from likewise.cluster.together_share import (
    TogetherShare,
    estimate_together_share,
    together_likelihood,
)
from likewise.constraints import Constraints, check_constraints
from likewise.evaluation import answer_credits, percent
from likewise.kernels import sq_distances
from likewise.numerics.rows import check_rows, sample_rows
from likewise.numerics.threads import one_thread_if_small

MOST = 30
N_ROWS = 1000
N_ANSWERS = 500  # drawn at random if there are more
NATS = 5.0  # that a silhouette of 1 is worth, beside the log-likelihood of random pairs
DECAY = 2.0  # many clusters are less likely than few: k^-2


@dataclass(frozen=True)
class ClusterCount:
    """A number of clusters, and why it was chosen.

    Attributes
    ----------
    n_clusters : int
    why : str
        A sentence for people.
    """

    n_clusters: int
    why: str


def choose_n_clusters(
    Z, constraints=None, n_clusters="auto", *, X=None, random_state=None
) -> ClusterCount:
    """Find a number of clusters for a space, from the space and from answers.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        Rows in the space to cluster.
    constraints : Constraints, default=None
        Answers of any kind.
    n_clusters : int or "auto", default="auto"
        A number is used unchanged.
    X : array-like of shape (n_samples, n_features), default=None
        The rows in a space that was not learned from these answers. With it, pairs that were drawn
        at random say how large clusters are; leave it out where they were drawn otherwise. Z may be
        given again.
    random_state : int, RandomState instance or None, default=None
        Draws the sample of large data.

    Returns
    -------
    ClusterCount
        ``n_clusters`` and a sentence ``why``. At most 30 clusters are tried.

    References
    ----------
    rousseeuw1987

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.cluster import choose_n_clusters
    >>> Z = np.repeat([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0]], 10, axis=0)
    >>> Z += np.random.default_rng(0).normal(size=Z.shape)
    >>> choose_n_clusters(Z, random_state=0).n_clusters
    3
    """
    if n_clusters != "auto":
        return ClusterCount(n_clusters, f"{n_clusters}, as asked")
    Z = check_rows(Z, dtype=[np.float64, np.float32])
    answers = check_constraints(constraints, n_samples=len(Z))
    least = max(2, least_n_clusters(answers))
    seed = check_random_state(random_state).randint(2**31 - 1)
    if answers.n_answers > N_ANSWERS:
        drawn = np.random.RandomState(seed).choice(answers.n_answers, N_ANSWERS, replace=False)
        answers = answers.subset(np.sort(drawn))
    rows = sample_rows(len(Z), N_ROWS, answers.touched_rows(), seed)
    Z, answers = Z[rows], answers.restrict(rows)
    n_distinct = len(np.unique(Z, axis=0))
    most = min(max(MOST, least), n_distinct - 1)
    if most < 2 or least > most:
        alone = min(n_distinct, 1 if most < 2 else least)
        return ClusterCount(alone, f"{alone}: there are {n_distinct} distinct rows")
    estimate = None
    if X is not None and len(answers.positions("must_link", "cannot_link")):
        estimate = estimate_together_share(np.asarray(X)[rows], answers)
    fit = partial(credit, answers=answers)
    if estimate is not None:
        fit = partial(posterior, estimate=estimate)
    counts = np.arange(least, most + 1)
    best = int(counts[np.argmax(score_counts(Z, counts, fit, seed))])
    return ClusterCount(best, explain(best, least, most, estimate))


def explain(best: int, least: int, most: int, estimate: TogetherShare | None) -> str:
    bound = f", and answers keep {least} rows all apart" if least > 2 else ""
    if estimate is None:
        return f"{best}, where clusters are most distinct of {least} to {most}{bound}"
    return (
        f"{best}, where clusters are distinct and of the sizes that {estimate.n_asked} pairs "
        f"suggest: {percent(estimate.share)} of all pairs belong together{bound}"
    )


def least_n_clusters(constraints: Constraints) -> int:
    """How many rows, each kept apart from every other, greedy search finds; 1 without pairs."""
    closure = constraints.closure()
    links = closure.cannot_link[closure.cannot_link[:, 0] != closure.cannot_link[:, 1]]
    n_clusters = 1
    while find_clique(prepare_links(links, closure.n_components, n_clusters), n_clusters):
        n_clusters += 1
    return n_clusters


@one_thread_if_small(lambda Z, *_: Z.size)
def score_counts(
    Z: np.ndarray, counts: np.ndarray, fit: Callable[[np.ndarray, float], float], seed: int
) -> np.ndarray:
    """`fit(labels, silhouette)` of each number of clusters; -inf where there are fewer."""
    dists = np.sqrt(sq_distances(Z))
    cuts = cut_tree(linkage(squareform(dists, checks=False), "ward"), n_clusters=counts)
    scores = np.full(len(counts), -np.inf)
    for i, k in enumerate(counts):
        means = np.array([Z[cuts[:, i] == cluster].mean(axis=0) for cluster in range(k)])
        labels = KMeans(k, init=means, n_init=1, random_state=seed).fit_predict(Z)
        if len(np.unique(labels)) == k:
            scores[i] = fit(labels, silhouette_score(dists, labels, metric="precomputed"))
    return scores


def posterior(labels: np.ndarray, silhouette: float, *, estimate: TogetherShare) -> float:
    """Log-posterior of clusters, but for a constant, by pairs drawn at random."""
    prior = NATS * silhouette - DECAY * np.log(labels.max() + 1)
    return float(prior + together_likelihood(estimate, labels))


def credit(labels: np.ndarray, silhouette: float, *, answers: Constraints) -> float:
    """The silhouette, and the credit that answers give to clusters where they can."""
    credits = answer_credits(labels[:, None] == np.arange(labels.max() + 1), answers)
    judged = ~np.isnan(credits) & (answers.weights > 0)
    agreed = np.average(credits[judged], weights=answers.weights[judged]) if judged.any() else 0.0
    return float(silhouette + agreed)
