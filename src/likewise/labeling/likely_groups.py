"""Groups by pairs where people err: draws of all partitions that answers and walks leave likely.

    z        groups of the known rows 0, 1, ..., in the order in which they were asked about
    prior    row i begins a group with odds nu_i / (1 - nu_i) = (half / i)^FALL, or joins that of
             an earlier row j with chance (1 - nu_i) q_ij;  q_ij by how much row j says about row i
             beside the other earlier rows, over the graph and by distances, squared
    half     the row from which on new groups are the exception, drawn with the groups: log half
             is normal around log USUAL_HALF
    answers  each is wrong with chance e, whatever the others are;  e has mean PRIOR_ERRORS,
             worth PRIOR_REVIEWS answers, and becomes what the groups drawn last violate
    draws    link by link (Gibbs), several times from single rows, answers counting more and more

Links go to earlier rows, so a group has one row that links to itself, and

    P(z) = prod_i (nu_i if row i is the first of its group, else sum of (1 - nu_i) q_ij over
           earlier rows j of its group).

The groups that are settled on are those whose adjusted Rand index with the groups drawn is expected
to be largest.
Reference: blei2011 for groups by links, fritsch2009 for the choice. We differ from blei2011 in
links that go back only, so that there are no cycles, in fewer late groups, and in answers for data.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from likewise.cluster import noisy
from likewise.labeling.walks import NOISE, Walks
from likewise.numerics.loops import CompiledLoop
from likewise.numerics.threads import one_thread

FALL = 2.5  # of the odds of a new group: rows asked about first are far apart, and of new groups
USUAL_HALF = 5.6  # the larger, the more groups are expected
HALF_SPREAD = 0.8  # of its logarithm
HALVES = np.geomspace(1.4, 64, 12)  # where it is drawn
SHARPNESS = 2.0  # of the shares that earlier rows have in a row
DISTANCE_WEIGHT = 0.5  # of shares by distances, beside 1 of those over the graph
LEAST_SHARE = 0.005  # of an earlier row, before shares are sharpened
SURPRISE = 0.02  # chance that a row follows any earlier row, however far
PRIOR_ERRORS = 0.05  # share of answers that are wrong, before any was heard,
PRIOR_REVIEWS = 10  # believed like so many
MOST_ERRORS = 0.3  # above one half, groups that contradict most answers would be likely
LEAST_CHANCE = 1e-300  # of a link; logarithms stay finite
N_CHAINS = 4  # each from single rows
N_SWEEPS = 50  # over all rows, of each
N_WARMING = 20  # of these, in which answers count more and more, and no groups are kept
COLDEST = 0.1  # weight of answers in the first sweep
MOST_MERGED = 40  # groups up to which merging any two is tried


class LikelyGroups(NamedTuple):
    """Groups that are likely, drawn with the chance that they have."""

    rows: np.ndarray  # (m,) known rows in the order in which they were asked about
    drawn: np.ndarray  # (s, m) their groups, draw by draw; names mean nothing between draws
    groups: np.ndarray  # (m,) those settled on, from 0
    error_rate: float  # share of the answers that are wrong
    half: float  # the row from which on new groups are the exception


@one_thread()
def draw_groups(
    walks: Walks, pairs: Sequence[tuple[int, int, float]], rows: np.ndarray, seed: int
) -> LikelyGroups:
    """Likely groups of the known rows, from pairs (a, b, weight): together > 0, apart < 0."""
    together, apart = votes_between(pairs, rows)
    draws = [np.random.default_rng([seed, chain]) for chain in range(N_CHAINS)]
    log_joins = np.log(np.maximum(join_chances(walks, rows), LEAST_CHANCE))
    new = np.array([new_chances(len(rows), half) for half in HALVES])
    log_new, log_old = np.log(np.maximum([new, 1 - new], LEAST_CHANCE))
    log_halves = -np.square(np.log(HALVES / USUAL_HALF) / HALF_SPREAD) / 2
    drawn = np.empty((N_CHAINS, N_SWEEPS, len(rows)), dtype=np.int64)
    errors, at_half = np.empty((N_CHAINS, N_SWEEPS)), np.empty((N_CHAINS, N_SWEEPS), dtype=np.int64)
    for chain, rng in enumerate(draws):
        uniforms = rng.random((N_SWEEPS, len(rows)))
        prior = log_joins, log_new, log_old, log_halves
        found = drawn[chain], errors[chain], at_half[chain]
        walk_links(*prior, together, apart, uniforms, *found)
    kept = drawn[:, N_WARMING:].reshape(-1, len(rows))
    half = np.exp(np.log(HALVES)[at_half[:, N_WARMING:]].mean())
    error_rate = errors[:, N_WARMING:].mean()
    return LikelyGroups(rows, kept, settle_on(kept), float(error_rate), float(half))


def votes_between(
    pairs: Sequence[tuple[int, int, float]], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (m, m) of answers that two rows are together, and that they are apart."""
    place = {int(row): i for i, row in enumerate(rows)}
    together, apart = np.zeros((2, len(rows), len(rows)))
    for a, b, weight in pairs:
        i, j = place[a], place[b]
        if i != j:
            votes = together if weight > 0 else apart
            votes[i, j] += abs(weight)
            votes[j, i] += abs(weight)
    return together, apart


def link_chances(walks: Walks, rows: np.ndarray, half: float) -> np.ndarray:
    """(m, m) chance that a row links to an earlier row, and to itself; rows sum to 1."""
    new = new_chances(len(rows), half)
    chances = (1 - new)[:, None] * join_chances(walks, rows)
    np.fill_diagonal(chances, new)
    return chances


def new_chances(n_rows: int, half: float) -> np.ndarray:
    """(m,) chance that each row, in the order in which they were asked about, begins a group."""
    places = np.arange(1, n_rows)
    return np.append(1.0, 1 / (1 + (places / half) ** FALL))


def join_chances(walks: Walks, rows: np.ndarray) -> np.ndarray:
    """(m, m) chance that a row that begins no group links to each earlier row."""
    m = len(rows)
    Phi = walks.coordinates[rows]
    shares = earlier_shares(Phi @ Phi.T + (1 + NOISE) * np.eye(m))
    if walks.distances is not None:
        R = walks.distances.columns(rows)[rows]
        shares += DISTANCE_WEIGHT * earlier_shares(noisy(R))
    chances = rows_to_one(shares**SHARPNESS)
    evenly = rows_to_one(np.tril(np.ones((m, m)), -1))
    return (1 - SURPRISE) * chances + SURPRISE * evenly


def earlier_shares(covariance: np.ndarray) -> np.ndarray:
    """Weights (m, m), below the diagonal, by which a Gaussian row is predicted from earlier ones.

    Row i of the inverse Cholesky factor has minus these weights, over the spread that is left.
    """
    inverse = solve_triangular(np.linalg.cholesky(covariance), np.eye(len(covariance)), lower=True)
    weights = -inverse / np.diag(inverse)[:, None]
    return rows_to_one(np.tril(np.maximum(weights, LEAST_SHARE), -1))


def rows_to_one(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; those of zeros stay."""
    totals = weights.sum(axis=1, keepdims=True)
    return weights / np.where(totals > 0, totals, 1.0)


@CompiledLoop
def walk_links(
    log_joins, log_new, log_old, log_halves, together, apart, uniforms, drawn, errors, at_half
):
    """Sweeps over all links, from single rows: groups (t, m), error rates (t,) and halves (t,).

    Groups have the numbers of their first rows, halves their places in `HALVES`. log_new and
    log_old (h, m) are the chances that rows begin groups, or do not, by half.
    """
    m = len(log_joins)
    links, groups = np.arange(m), np.arange(m)
    below = np.zeros(m, dtype=np.bool_)  # rows that hang on the one that is linked anew
    votes = together - apart
    n_answers = together.sum() / 2 + apart.sum() / 2
    error_rate = PRIOR_ERRORS
    half = int(np.argmax(log_halves))
    logs_of_half = np.empty(len(log_halves))
    for t in range(len(uniforms)):
        warmth = min(1.0, COLDEST + (1 - COLDEST) * t / N_WARMING)
        surprise = warmth * math.log((1 - error_rate) / error_rate)
        for i in range(1, m):
            below[:] = False
            below[i] = True
            for r in range(i + 1, m):
                below[r] = links[r] != r and below[links[r]]
            groups[below] = i
            for_rows = np.dot(below.astype(np.float64), votes)
            for_group = np.bincount(groups, for_rows, m)
            for_group[i] = 0.0  # what is said about rows below i holds wherever i links to
            logs = log_joins[i, : i + 1] + log_old[half, i]
            logs[i] = log_new[half, i]
            logs += surprise * for_group[groups[: i + 1]]
            summed = np.cumsum(np.exp(logs - logs.max()))
            j = min(np.searchsorted(summed, uniforms[t, i] * summed[-1]), i)
            links[i] = j
            if j != i:
                groups[below] = groups[j]
        if t >= N_WARMING // 2:  # before, most rows are single ones
            begins = links == np.arange(m)
            for h in range(len(log_halves)):
                logs_of_half[h] = log_halves[h] + np.where(begins, log_new[h], log_old[h]).sum()
            summed = np.cumsum(np.exp(logs_of_half - logs_of_half.max()))
            half = min(np.searchsorted(summed, uniforms[t, 0] * summed[-1]), len(log_halves) - 1)
        if t >= N_WARMING:  # before, answers hardly count, and most seem wrong
            n_wrong = np.where(groups.reshape(m, 1) == groups, apart, together).sum() / 2
            n_wrong += PRIOR_REVIEWS * PRIOR_ERRORS
            error_rate = min(n_wrong / (PRIOR_REVIEWS + n_answers), MOST_ERRORS)
        drawn[t] = groups
        errors[t] = error_rate
        at_half[t] = half


def extend(drawn: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Groups (s, n) of more rows, drawn beside those of the first m by chances (n, n) of links."""
    n_draws, m = drawn.shape
    groups = np.empty((n_draws, len(chances)), dtype=np.int64)
    groups[:, :m] = drawn
    for row in range(m, len(chances)):
        summed = np.cumsum(chances[row, : row + 1])
        links = np.searchsorted(summed, rng.random(n_draws) * summed[-1])
        groups[:, row] = row
        joins = np.flatnonzero(links < row)
        groups[joins, row] = groups[joins, links[joins]]
    return groups


def settle_on(drawn: np.ndarray) -> np.ndarray:
    """The groups (m,) with the largest expected adjusted Rand index, numbered by first rows.

    The best of those drawn, then two groups of them joined as long as that is better.
    """
    same = np.mean([groups[:, None] == groups for groups in drawn], axis=0)
    distinct = np.unique(drawn, axis=0)
    groups = max(distinct, key=lambda groups: expected_index(groups, same))
    groups = np.unique(groups, return_inverse=True)[1]
    while 2 < groups.max() + 1 <= MOST_MERGED:
        k = groups.max() + 1
        merged = [np.where(groups == b, a, groups) for b in range(k) for a in range(b)]
        best = max(merged, key=lambda groups: expected_index(groups, same))
        if expected_index(best, same) <= expected_index(groups, same):
            break
        groups = np.unique(best, return_inverse=True)[1]
    return number_by_first(groups)


def expected_index(groups: np.ndarray, same: np.ndarray) -> float:
    """Adjusted Rand index (its expectation, nearly) with groups where `same` (m, m) are chances."""
    m = len(groups)
    n_pairs = m * (m - 1) / 2
    is_same = groups[:, None] == groups
    joined = (np.count_nonzero(is_same) - m) / 2
    likely = (same.sum() - m) / 2
    both = ((same * is_same).sum() - m) / 2
    by_chance = joined * likely / n_pairs
    most = (joined + likely) / 2
    return float((both - by_chance) / (most - by_chance)) if most > by_chance else 1.0


def number_by_first(groups: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first rows."""
    _, first, names = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[names]
