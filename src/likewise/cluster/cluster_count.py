"""How many clusters: where a clustering of the space is most distinct, and what answers demand.

    k* = argmax_k  silhouette of k-means with k clusters + share of the pairs that it satisfies

Rows that answers keep apart, each from every other, need one cluster each: such a clique is a lower
bound on k. The silhouette is computed on a sample of rows.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.utils import check_random_state

from likewise.cluster.feasible import find_clique, prepare_links
from likewise.constraints import Constraints, check_constraints
from likewise.evaluation import answer_credits
from likewise.numerics.threads import one_thread_if_small

MOST = 30
N_ROWS = 1000
N_INIT = 3


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


def choose_n_clusters(Z, constraints=None, n_clusters="auto", *, random_state=None) -> ClusterCount:
    """Find a number of clusters for a space, from the space and from answers.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        Rows in the space to cluster.
    constraints : Constraints, default=None
        Answers of any kind.
    n_clusters : int or "auto", default="auto"
        A number is used unchanged.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means, and the sample of large data.

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
    Z = np.asarray(Z)
    answers = check_constraints(constraints, n_samples=len(Z))
    rng = check_random_state(random_state)
    rows = np.arange(len(Z))
    if len(Z) > N_ROWS:
        drawn = rng.choice(len(Z), N_ROWS, replace=False)
        rows = np.union1d(drawn, answers.touched_rows())
        Z, answers = Z[rows], answers.restrict(rows)
    n_distinct = len(np.unique(Z, axis=0))
    least = max(2, least_n_clusters(answers))
    most = min(max(MOST, least), n_distinct - 1)
    if most < 2 or least > most:
        alone = min(n_distinct, 1 if most < 2 else least)
        return ClusterCount(alone, f"{alone}: there are {n_distinct} distinct rows")
    seed = rng.randint(2**31 - 1)
    scores = [distinctness(Z, answers, k, seed) for k in range(least, most + 1)]
    best = least + int(np.argmax(scores))
    bound = f", and answers keep {least} rows all apart" if least > 2 else ""
    return ClusterCount(
        best, f"{best}, where clusters are most distinct of {least} to {most}{bound}"
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
def distinctness(Z: np.ndarray, answers: Constraints, n_clusters: int, seed: int) -> float:
    """Silhouette of k-means, plus the credit that answers give to its clusters if there are any."""
    labels = KMeans(n_clusters, n_init=N_INIT, random_state=seed).fit_predict(Z)
    if len(np.unique(labels)) < 2:
        return -1.0
    credits = answer_credits(labels[:, None] == np.arange(n_clusters), answers)
    judged = ~np.isnan(credits) & (answers.weights > 0)
    agreed = np.average(credits[judged], weights=answers.weights[judged]) if judged.any() else 0.0
    return float(silhouette_score(Z, labels) + agreed)
