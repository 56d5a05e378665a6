"""How many of all pairs of rows belong together, by pairs that were asked about at random.

    q = sum_c (share of cluster c)^2,   the chance that two random rows are in one cluster

The share of must-links among random pairs estimates q. Near rows belong together more often than
far ones, so the estimate is sharper with the rank of a pair's distance known, u in (0, 1):

    P(together | u) = 1 / (1 + exp(-a - b log u)),   fitted to the answers;   q = its mean over u

Distances must not be learned from these answers, or must-links are near by construction. Pairs
that were not drawn at random (half of them must-links, or chosen by a session) say nothing about q:
where their distances are not spread like those of all pairs, there is no estimate.
Reference: cochran1977, regression estimators.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import kstest
from sklearn.linear_model import LogisticRegression

from likewise.constraints import Constraints
from likewise.kernels import sq_distances
from likewise.numerics.threads import one_thread_if_small

LEAST_PAIRS = 20  # fewer say too little
LEVEL = 0.05  # of the test whether the pairs look drawn at random
MODEL_ERROR = 0.03  # beside the sampling error: clusters in the data are not quite the classes
N_RANKS = 1000  # places of u that the mean is taken over
PENALTY = 0.02  # on b^2, where answers are separated


class TogetherShare(NamedTuple):
    """An estimate of q."""

    share: float
    n_pairs: float  # independent random pairs that would tell as much
    n_asked: int


@one_thread_if_small(lambda X, *_: X.size)
def estimate_together_share(X: np.ndarray, answers: Constraints) -> TogetherShare | None:
    """The share of all pairs of rows X that belong together; None where answers cannot tell."""
    pairs, signs = answers.signed_pairs()
    weights = answers.weights[answers.positions("must_link", "cannot_link")]
    pairs, signs, weights = (values[weights > 0] for values in (pairs, signs, weights))
    if len(signs) < LEAST_PAIRS or len(np.unique(signs)) < 2:
        return None
    sq_dists = sq_distances(X)
    all_sq_dists = np.sort(sq_dists[np.triu_indices(len(X), 1)])
    ranks = (np.searchsorted(all_sq_dists, sq_dists[tuple(pairs.T)]) + 0.5) / (
        len(all_sq_dists) + 1
    )
    if kstest(ranks, "uniform").pvalue < LEVEL:
        return None
    model = LogisticRegression(C=1 / PENALTY)
    model.fit(np.log(ranks)[:, None], signs > 0, sample_weight=weights)
    everywhere = (np.arange(N_RANKS) + 0.5) / N_RANKS
    q = float(model.predict_proba(np.log(everywhere)[:, None])[:, 1].mean())
    chances = model.predict_proba(np.log(ranks)[:, None])[:, 1]
    n_independent = weights.sum() ** 2 / np.square(weights).sum()
    variance = np.average(chances * (1 - chances), weights=weights) / n_independent
    return TogetherShare(q, q * (1 - q) / (variance + MODEL_ERROR**2), len(pairs))


def together_likelihood(estimate: TogetherShare, labels: np.ndarray) -> float:
    """Log-likelihood of the estimate if these are the clusters, 0 at best."""
    q = float(np.square(np.bincount(labels) / len(labels)).sum())
    p = estimate.share
    return -estimate.n_pairs * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
