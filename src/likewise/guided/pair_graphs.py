"""Clusters from pairs: neighbor graphs of learned spaces, raised and lowered by the pairs, joined.

    A = mean over the spaces s of  W_s + 2 F_s      W_s: the neighbor graph of s
                                                    F_s: the pairs, spread over it (propagation.py)
    E = its k leading eigenvectors, normalized by absolute row sums, each row scaled to length 1
    Y = a map of the rows, on which the 30 largest entries of A in each row pull (kernels/layout.py)

The spaces are SKLR from a gaussian start and ITML, beyond 300 features in their 50 leading
directions: the graph knows where rows are dense, the learned spaces know which directions matter.
These clusters are averaged with those of k-means in each space and in the features
(pair_consensus.py).

The last step: answers that are consistent hold, and only rows that they refer to are moved for it,
unless held-out answers prefer a price on violated pairs, or clusters that pairs do not move. An
answer is doubtful if it is violated and rather wrong than right: by all ways to cluster, learned
without it, as one, at the rate of errors that all answers together suggest. None is where held-out
answers are predicted clearly better when the others hold, or where memberships expect as many
contradictions: the data are hard then, and the people careful. Nor where answers could contradict
each other often and never do: they all hold then. Where one in five or more is wrong, clusters are
not moved by what is left of them. Decisions 32, 68 and 70 have the figures.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from likewise.cluster import (
    PCKMeans,
    hold_pairs,
    known_components,
    signed_graph,
)
from likewise.constraints import Constraints
from likewise.evaluation import ahead_of_first, beats
from likewise.guided.calibration import evenness_by_pairs
from likewise.guided.known_groups import sharpen
from likewise.guided.placed import share_by_distance
from likewise.kernel_learning import SKLR
from likewise.kernels import self_tuning_graph, sq_distances
from likewise.numerics.threads import one_thread_if_small

MOST_FEATURES = 300  # that ITML is fitted to: its cost grows with their square,
N_DIRECTIONS = 50  # and of more, so many principal directions
TRIAL_TOL = 1e-2  # of SKLR
TOL = 1e-6  # of the walks
SHARE = 0.95  # of a start's spectrum
N_LANDMARKS = 1000
BLOCK = 500  # rows whose edges are looked for at once
N_EDGES = 30  # of a row, on the map
TINY = 1e-12  # pull, where a row has fewer neighbors: no row is without edges
PRICE = 0.5  # of a violated pair, in half mean squared distances
LEAST = 1e-3  # chance of an answer: one alone must not decide how sharp memberships are
ERROR_RATE, ERROR_WEIGHT = 0.05, 20.0  # of people before any answer, and its weight in answers,
WAYS_WEIGHT = 10.0  # and where ways are averaged: unsure of more, they find fewer answers wrong
ERROR_RATES = (0.05, 0.1, 0.15, 0.2, 0.3)  # that are tried
STEPS = HELD, PRICED, FREE = 0, 1, 2  # the last step: pairs hold, have a price, or move nothing
STEP_ERRORS = 1.8  # by which a later one must be ahead of the first: four answers, none behind
SURE_ERRORS = 1.5  # by which answers that hold must make better clusters, so that none is wrong,
SURER_ERRORS = 2.5  # and where they suggest that many are
OFTEN = 0.22  # share of answers that are contradicted: few people are wrong more often,
CARELESS = 2.0  # unless so many times as often as uncertain memberships expect
MANY_WRONG = 0.2  # rate of errors from which on doubted answers no longer move clusters
ENOUGH_CHECKS = 20  # of answers by others, from which on none is wrong that never disagree, and
SOME_CHECKS = 9  # not one in five: two answers to a check, all pass once in a hundred
PULL, WAYS_PULL = 0.02, 0.15  # of powers towards 1, nats per answer; an average needs less power


class PairTrials(NamedTuple):
    """What clusters learned without an answer say about it."""

    first: np.ndarray  # (n_answers, k) membership of a pair's first row; nan: not judged
    second: np.ndarray  # (n_answers, k)
    hits: np.ndarray  # (n_steps, n_answers) 1 where a pair is predicted right
    right: np.ndarray  # (n_answers,) chance of a pair by memberships as uncertain as they come
    of_triples: np.ndarray  # (n_answers,) credits by distances in the space of SKLR


def kernel_learner(seed: int) -> SKLR:
    return SKLR(
        start="gaussian",
        C=1.0,
        n_components=SHARE,
        n_landmarks=N_LANDMARKS,
        tol=TRIAL_TOL,
        random_state=seed,
    )


def join_graphs(spaces: list[np.ndarray], answers: Constraints) -> np.ndarray:
    """A of the graphs of some spaces, (n, r) each."""
    known = known_components(pairs_of(answers.subset(answers.weights > 0)))
    joined = np.zeros((len(spaces[0]), len(spaces[0])))
    for space in spaces:
        joined += signed_graph(self_tuning_graph(space), known, tol=TOL)
    joined /= len(spaces)
    return joined


def strongest_edges(A: np.ndarray, n_edges: int = N_EDGES) -> csr_array:
    """Symmetric (n, n): of each row its largest entries; those below zero hardly pull."""
    n = len(A)
    n_edges = min(n_edges, n - 1)
    largest = np.empty((n, n_edges), dtype=np.int64)
    for start in range(0, n, BLOCK):
        dropped = -A[start : start + BLOCK]
        np.fill_diagonal(dropped[:, start:], np.inf)
        largest[start : start + BLOCK] = np.argpartition(dropped, n_edges - 1)[:, :n_edges]
    pulls = np.maximum(np.take_along_axis(A, largest, axis=1), TINY)
    ends = np.arange(0, largest.size + 1, n_edges)
    edges = csr_array((pulls.ravel(), largest.ravel(), ends), shape=(n, n))
    return csr_array(edges + edges.T)


@one_thread_if_small(lambda E, *_: E.size)
def find_centers(E: np.ndarray, n_clusters: int, n_init: int, seed: int) -> np.ndarray:
    n_clusters = min(n_clusters, len(E))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than clusters
        return KMeans(n_clusters, n_init=n_init, random_state=seed).fit(E).cluster_centers_


def share_rows(E: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Memberships (n, k) by squared distances to centers, in half mean least distances."""
    sq_dists = sq_distances(E, centers)
    return share_by_distance(sq_dists, sq_dists.min(axis=1).mean() / 2)


def never_contradict(answers: Constraints) -> bool:
    """Whether pairs that check each other often enough never disagree: none is wrong then."""
    return clean_checks(answers) >= ENOUGH_CHECKS


def clean_checks(answers: Constraints) -> int:
    """How many pairs are checked by others, where none of them disagree; 0 where any do.

    A must-link inside a component checks it, and so does a second cannot-link between two
    components. One answer in fifty wrong would leave a cannot-link inside a component.
    """
    pairs = pairs_of(answers.subset(answers.weights > 0))
    known = known_components(pairs)
    musts, cannots = (
        np.unique(np.sort(links, axis=1), axis=0) for links in (pairs.must_link, pairs.cannot_link)
    )
    ends = np.sort(known.components[cannots], axis=1)
    if (ends[:, 0] == ends[:, 1]).any():
        return 0
    n_spanning = np.count_nonzero(known.components >= 0) - known.n_components
    return len(musts) - int(n_spanning) + len(ends) - len(known.apart)


def choose_step(
    trials: PairTrials, answers: Constraints, error_rate: float, is_trusted: bool
) -> int:
    """Answers hold unless held-out ones prefer a price, or clusters that answers do not move.

    Where many are wrong and not all of these are found, what is left would hold, too.
    """
    if error_rate >= MANY_WRONG and not is_trusted:
        return FREE
    hits, weights = judged_hits(trials.hits, answers)
    if len(weights) == 0:
        return HELD
    return ahead_of_first([STEP_ERRORS, STEP_ERRORS])(hits, weights)


def are_trusted(trials: PairTrials, answers: Constraints, error_rate: float) -> bool:
    """Whether no answer is doubted.

    Where held-out answers are predicted clearly better if all others hold, none is wrong. Where
    memberships contradict more answers than people get wrong, but about as many as they expect to,
    being uncertain, the data are hard rather than the people careless; but not beyond the rates
    that held-out answers about hard data suggest. Nor are they careless where answers check each
    other and never disagree: memberships that contradict so many are too sure of themselves.
    """
    hits, weights = judged_hits(trials.hits, answers)
    if len(weights) == 0:
        return False
    are_many_wrong = error_rate > MANY_WRONG
    n_errors = SURER_ERRORS if are_many_wrong else SURE_ERRORS
    if beats(hits[HELD], hits[FREE], weights, n_errors=n_errors):
        return True
    contradicted, expected = shares_contradicted(trials, answers)
    if contradicted > OFTEN and clean_checks(answers) >= SOME_CHECKS:
        return True
    if are_many_wrong:
        return False
    return OFTEN < contradicted <= CARELESS * expected


def shares_contradicted(trials: PairTrials, answers: Constraints) -> tuple[float, float]:
    """The share of held-out answers that the ways contradict, and what they expect it to be."""
    is_judged = ~np.isnan(trials.right) & (answers.weights > 0)
    if not is_judged.any():
        return 0.0, 0.0
    right, weights = trials.right[is_judged], answers.weights[is_judged]
    contradicted = np.average(right < 0.5, weights=weights)
    expected = np.average(np.minimum(right, 1 - right), weights=weights)
    return float(contradicted), float(expected)


def judged_hits(hits: np.ndarray, answers: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Of the answers with weight that were held out: hits (n, n_judged) and weights."""
    is_judged = ~np.isnan(hits[0]) & (answers.weights > 0)
    return hits[:, is_judged], answers.weights[is_judged]


def chances(first: np.ndarray, second: np.ndarray, sign: np.ndarray, sharpness: float):
    """(m,) the chance of each pair by the memberships of its two rows."""
    together = (sharpen(first, sharpness) * sharpen(second, sharpness)).sum(axis=1)
    return np.where(sign > 0, together, 1 - together)


def fit_power_and_errors(
    chances_at: Callable[[float], np.ndarray], *, pull: float = PULL, weight: float = ERROR_WEIGHT
) -> tuple[float, float]:
    """The power, and the rate of wrong answers, that make held-out pairs likeliest.

    Both at once: wrong answers would otherwise make all memberships look uncertain. The rate is
    drawn towards one in twenty as by so many answers, the power towards 1. `chances_at(power)`
    gives the chance (m,) of each pair.
    """
    n_pairs = len(chances_at(1.0))
    if n_pairs == 0:
        return 1.0, ERROR_RATE

    def loss(log_power, rate):
        right = chances_at(np.exp(log_power))
        likelihood = np.maximum((1 - rate) * right + rate * (1 - right), LEAST)
        prior = (weight - 1) * np.log(1 - rate) / n_pairs
        return -np.log(likelihood).mean() - prior + pull * log_power**2

    found = [
        (minimize_scalar(loss, bounds=(-1.5, 3.0), args=(rate,), method="bounded"), rate)
        for rate in ERROR_RATES
    ]
    best, rate = min(found, key=lambda one: one[0].fun)
    return float(np.exp(best.x)), rate


class Unseen(NamedTuple):
    """What answers look like to clusters learned without them."""

    credits: np.ndarray  # (n_answers,) the chance of each; nan: not judged
    power: float  # of chances as uncertain as they come, for these credits
    sharpness: float  # of memberships
    error_rate: float


def unseen_credits(trials: PairTrials, answers: Constraints) -> Unseen:
    """The chance of every answer by what was learned without it, and the rate of wrong ones.

    The chance is that of the ways on average: one that puts two classes together would alone
    contradict right answers, and be sure of it. Where they contradict far more answers than they
    expect to, many are wrong, whatever fits few answers best.
    """
    credits = trials.of_triples.copy()
    at = answers.positions("must_link", "cannot_link")
    _, sign = answers.signed_pairs()
    is_judged = ~np.isnan(trials.first[at, 0])
    credits[at] = np.nan
    at, sign = at[is_judged], sign[is_judged]
    first, second, right = trials.first[at], trials.second[at], trials.right[at]
    sharpness, _ = fit_power_and_errors(partial(chances, first, second, sign))
    to_right = partial(to_power, right)
    power, rate = fit_power_and_errors(to_right, pull=WAYS_PULL, weight=WAYS_WEIGHT)
    credits[at] = to_right(power)
    contradicted, expected = shares_contradicted(trials, answers)
    if contradicted > max(OFTEN, CARELESS * expected):
        rate = max(rate, MANY_WRONG)
    return Unseen(credits, power, sharpness, rate)


def unseen_evenness(trials: PairTrials, answers: Constraints, sharpness: float) -> float:
    """The share of memberships to spread evenly, by pairs that these were learned without."""
    at = answers.positions("must_link", "cannot_link")
    _, sign = answers.signed_pairs()
    is_judged = ~np.isnan(trials.first[at, 0])
    at, sign = at[is_judged], sign[is_judged]
    first, second = (sharpen(shares[at], sharpness) for shares in (trials.first, trials.second))
    return evenness_by_pairs(first, second, sign, answers.weights[at])


def to_power(chances: np.ndarray, power: float) -> np.ndarray:
    """Chances (m,) with their odds to a power."""
    right = np.clip(chances, LEAST, 1 - LEAST) ** power
    wrong = np.clip(1 - chances, LEAST, 1 - LEAST) ** power
    return right / (right + wrong)


def doubt_answers(credits: np.ndarray, rate: float) -> np.ndarray:
    """(n_answers,) the chance that an answer is wrong, by its chance and the rate of errors."""
    credits = np.maximum(credits, LEAST)
    return rate * (1 - credits) / (rate * (1 - credits) + (1 - rate) * credits)


def last_steps(
    E: np.ndarray, answers: Constraints, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels (n,) that satisfy every pair, with a price on those violated, and by E alone.

    The first are the second where contradictions forbid them.
    """
    pairs = pairs_of(answers.subset(answers.weights > 0))
    free = sq_distances(E, centers).argmin(axis=1)
    if pairs.n_answers == 0:
        return free, free, free
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it would say stands in the report
        priced = PCKMeans(len(centers), C=PRICE, init=centers).fit(E, constraints=pairs)
    held = hold_pairs(E, pairs, priced.cluster_centers_)
    return priced.labels_ if held is None else held, priced.labels_, free


def pairs_of(answers: Constraints) -> Constraints:
    return answers.subset(answers.positions("must_link", "cannot_link"))


def memberships_of(
    E: np.ndarray, labels: np.ndarray, centers: np.ndarray, sharpness: float
) -> np.ndarray:
    """Memberships (n, k); a row that answers moved to another cluster is all of that one."""
    memberships = sharpen(share_rows(E, centers), sharpness)
    moved = np.flatnonzero(labels != memberships.argmax(axis=1))
    memberships[moved] = np.eye(len(centers))[labels[moved]]
    return memberships
