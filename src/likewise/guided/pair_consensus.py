"""Clusters from pairs, found in several ways and averaged by what held-out answers say.

    M_w = memberships (n, k) by the clusters of way w, to the power that predicts held-out pairs
    a_w = exp(l_w / 10 + prior_w), normalized;  l_w: log-likelihood of the pairs by memberships that
          were learned without their fold
    C   = [sqrt(a_w) M_w] side by side, of all ways, learned from all pairs and without each fold;
          the latter weigh less where they were learned from a part of the rows

k-means on the rows of C gives the clusters: two rows are near where most of the ways put them
together. The ways are k-means on the eigenvectors of the joined graphs and on their map
(pair_graphs.py), in the space of SKLR, in that of ITML, and the clusters without answers
(plain_clusters.py). A few answers more often change which
way predicts best, and with it half of the clusters if one had to be chosen; they change an average
little. Fits that left a fold out are made anyway, and averages over them depend less on any one
answer.
Reference: strehl2002 for clusters of memberships side by side, breiman1996 for averages over fits.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from likewise.cluster import spectral_rows
from likewise.constraints import Constraints, Split
from likewise.evaluation import answer_credits, mean_and_error
from likewise.guided.known_groups import sharpen
from likewise.guided.pair_graphs import (
    LEAST,
    MOST_FEATURES,
    N_DIRECTIONS,
    STEPS,
    PairTrials,
    chances,
    find_centers,
    fit_power_and_errors,
    join_graphs,
    kernel_learner,
    last_steps,
    share_rows,
    strongest_edges,
    to_power,
)
from likewise.guided.spaces import AS_THEY_ARE, learn_space
from likewise.kernels import interpolation_weights, lay_out_edges
from likewise.metric_learning import ITML
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

N_SPLITS = 3
N_STARTS = 3  # of k-means where answers are held out, and in learned spaces
NATS = 0.1  # per nat of held-out pairs: they share rows, and ways are alike
JOINED = "neighbor graphs of learned spaces, joined"
IN_SPACE = "learned kernel (SKLR, gaussian start, C=1)"
LINEAR = "learned linear metric (ITML)"
ON_MAP = "a map of the joined graphs"
PRIORS = {JOINED: 1.0, ON_MAP: 1.0, IN_SPACE: 0.0, AS_THEY_ARE.name: -1.0, LINEAR: 0.0}  # nats
WAYS = tuple(PRIORS)


class WayTrials(NamedTuple):
    """Memberships by clusters that were learned without a fold of the answers."""

    folds: list[np.ndarray]  # of each fold (n_ways, n, k), of the rows that were tried
    of_triples: np.ndarray  # (n_answers,) credits by distances in the space of SKLR


class Weighed(NamedTuple):
    """How much each way counts."""

    weights: np.ndarray  # (n_ways,) they sum to 1
    sharpness: np.ndarray  # (n_ways,)
    scores: np.ndarray  # (n_ways,) share of the held-out pairs that its clusters predict right
    errors: np.ndarray  # (n_ways,) of these, standard errors


@one_thread_if_small(lambda X, *_, **__: len(X) ** 2)
def find_ways(
    X: np.ndarray,
    Z: np.ndarray,
    answers: Constraints,
    n_clusters: int,
    *,
    plain: np.ndarray,
    n_init: int,
    seed: int,
) -> np.ndarray:
    """Memberships (n_ways, n, k) in the order of WAYS.

    `X` are the rows in their leading directions, `Z` in the space of SKLR, `plain` their
    memberships by clusters without answers.
    """
    spaces = [Z, learn_linear(X, answers, seed)]
    A = join_graphs(spaces, answers)
    graphs = [spectral_rows(A, n_clusters), lay_out_edges(strongest_edges(A), X)]
    few = min(n_init, N_STARTS)
    joined, mapped = (share_clusters(place, n_clusters, n_init, seed) for place in graphs)
    learned, linear = (share_clusters(space, n_clusters, few, seed) for space in spaces)
    return np.array([joined, mapped, learned, plain, linear])


def learn_spaces(
    X: np.ndarray, start: np.ndarray, answers: Constraints, seed: int
) -> list[np.ndarray]:
    """The rows in the spaces of SKLR, which starts from the coordinates `start`, and of ITML.

    `X` are the rows in their leading directions.
    """
    return [learn_space(start, kernel_learner(seed), answers), learn_linear(X, answers, seed)]


def learn_linear(X: np.ndarray, answers: Constraints, seed: int) -> np.ndarray:
    """The rows, given in their leading directions, in the space of ITML."""
    return learn_space(X, ITML(random_state=seed), answers)


def lead_directions(X: np.ndarray, seed: int) -> np.ndarray:
    """The rows in their leading principal directions, where they have many features."""
    if X.shape[1] <= MOST_FEATURES or len(X) <= N_DIRECTIONS:
        return X
    return PCA(N_DIRECTIONS, svd_solver="randomized", random_state=seed).fit_transform(X)


def share_clusters(E: np.ndarray, n_clusters: int, n_init: int, seed: int) -> np.ndarray:
    """Memberships (n, k) by the clusters of k-means."""
    return share_rows(E, find_centers(E, n_clusters, n_init, seed))


def try_ways(
    X: np.ndarray,
    start: np.ndarray,
    answers: Constraints,
    splits: list[Split],
    n_clusters: int,
    *,
    plain: np.ndarray,
    seed: int,
) -> WayTrials:
    """Every way, learned without each fold.

    `X` are the rows in their leading directions, `start` the coordinates that SKLR starts from,
    `plain` memberships (n, k) without answers.
    """
    folds, of_triples = [], np.full(answers.n_answers, np.nan)
    for split in track(splits, "holding out answers"):
        Z = learn_space(start, kernel_learner(seed), split.fit_part)
        of_triples[split.held_out_at] = answer_credits(Z, split.held_out)
        folds.append(
            find_ways(X, Z, split.fit_part, n_clusters, plain=plain, n_init=N_STARTS, seed=seed)
        )
    return WayTrials(folds, of_triples)


def weigh_ways(trials: WayTrials, answers: Constraints, splits: list[Split]) -> Weighed:
    """By the likelihood of held-out pairs; by the priors alone where none can be held out."""
    n_ways = len(trials.folds[0])
    priors = np.array([PRIORS[way] for way in WAYS[:n_ways]])
    held_out = [split.held_out.signed_pairs() for split in splits]
    sign = np.concatenate([signs for _, signs in held_out])
    weights = np.concatenate(
        [part.weights[part.positions("must_link", "cannot_link")] for _, part in splits]
    )
    if not weights.any():
        unknown = np.full(n_ways, np.nan)
        return Weighed(softmax(priors), np.ones(n_ways), unknown, unknown)
    log_likelihoods, sharpness, hits = np.zeros(n_ways), np.ones(n_ways), []
    for way in range(n_ways):
        rows = [fold[way][pairs] for fold, (pairs, _) in zip(trials.folds, held_out)]  # (m, 2, k)
        first, second = np.moveaxis(np.concatenate(rows), 1, 0)
        is_heard = weights > 0
        heard = (first[is_heard], second[is_heard], sign[is_heard])
        sharpness[way], rate = fit_power_and_errors(partial(chances, *heard))
        right = chances(first, second, sign, sharpness[way])
        likelihood = np.maximum((1 - rate) * right + rate * (1 - right), LEAST)
        log_likelihoods[way] = weights @ np.log(likelihood)
        hits.append((first.argmax(axis=1) == second.argmax(axis=1)) == (sign > 0))
    scores, errors = mean_and_error(np.array(hits, dtype=float), weights)
    return Weighed(softmax(NATS * log_likelihoods + priors), sharpness, scores, errors)


def softmax(values: np.ndarray) -> np.ndarray:
    odds = np.exp(values - values.max())
    return odds / odds.sum()


def place_side_by_side(fits: list[np.ndarray], shares: list[float], weighed: Weighed) -> np.ndarray:
    """C (n, n_fits n_ways k) of memberships (n_ways, n, k) by one or more fits.

    `shares` of the rows that each was fitted to: a graph of a third of the rows has a ninth of the
    pairs of rows to know where they are dense.
    """
    portions = np.square(shares) / np.square(shares).sum()
    parts = [
        np.sqrt(portion * weight) * sharpen(memberships, sharpness)
        for ways, portion in zip(fits, portions)
        for memberships, weight, sharpness in zip(ways, weighed.weights, weighed.sharpness)
    ]
    return np.hstack(parts)


@one_thread_if_small(lambda trials, *_: trials.folds[0].size)
def judge_answers(
    trials: WayTrials,
    weighed: Weighed,
    answers: Constraints,
    splits: list[Split],
    n_clusters: int,
    seed: int,
) -> PairTrials:
    """What the average of the ways says about pairs that it was learned without."""
    first = np.full((answers.n_answers, n_clusters), np.nan)
    second, right = first.copy(), np.full(answers.n_answers, np.nan)
    hits = np.full((len(STEPS), answers.n_answers), np.nan)
    for ways, split in zip(trials.folds, splits):
        C = place_side_by_side([ways], [1.0], weighed)
        centers = find_centers(C, n_clusters, N_STARTS, seed)
        shares = share_rows(C, centers)
        pairs, sign = split.held_out.signed_pairs()
        at = split.held_out_at[split.held_out.positions("must_link", "cannot_link")]
        first[at], second[at] = shares[pairs[:, 0]], shares[pairs[:, 1]]
        right[at] = average_chances(ways, weighed, pairs, sign)
        for step, labels in enumerate(last_steps(C, split.fit_part, centers)):
            hits[step, at] = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) == (sign > 0)
    return PairTrials(first, second, hits, right, trials.of_triples)


def average_chances(
    ways: np.ndarray, weighed: Weighed, pairs: np.ndarray, sign: np.ndarray
) -> np.ndarray:
    """Chance (m,) of each pair by memberships (n_ways, n, k) as uncertain as they come."""
    by_way = [chances(one[pairs[:, 0]], one[pairs[:, 1]], sign, 1.0) for one in ways]
    return weighed.weights @ np.array(by_way)


def judge_others(
    folds: list[np.ndarray], weighed: Weighed, answers: Constraints, power: float
) -> np.ndarray:
    """Chance (n_answers,) of answers that no fold was learned from; nan for triples.

    `folds` are memberships (n_ways, n, k) of the rows of these answers, without each fold.
    """
    credits = np.full(answers.n_answers, np.nan)
    pairs, sign = answers.signed_pairs()
    right = np.mean([average_chances(ways, weighed, pairs, sign) for ways in folds], axis=0)
    credits[answers.positions("must_link", "cannot_link")] = to_power(right, power)
    return credits


def extend_folds(trials: WayTrials, Z: np.ndarray, trial_rows: np.ndarray) -> list[np.ndarray]:
    """Memberships (n_ways, n, k) of all rows Z by their neighbors among those that were tried."""
    if len(trial_rows) == len(Z):
        return trials.folds
    weights = interpolation_weights(Z, Z[trial_rows])
    extended = []
    for ways in trials.folds:
        everywhere = np.array([weights @ memberships for memberships in ways])
        everywhere[:, trial_rows] = ways
        extended.append(everywhere)
    return extended
