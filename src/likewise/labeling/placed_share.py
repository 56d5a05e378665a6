"""The share of rows that are placed rightly, from what known rows say about each other.

    x_i    = log odds of the largest membership of row i, of a known row without itself
    hit_i  = the largest membership of a known row is in its own group
    P(hit_i) = e / k + (1 - e - e / k) s(a + b x_i),    s(t) = 1 / (1 + exp(-t)), e the error rate
    share  = (known rows + sum over other rows of s(a + b x_i)) / n

Known rows were chosen where memberships are doubtful, so that their hits alone say too little about
the others. What was chosen by is in x, though, and given x an answer is as good as any: hits say
how far memberships can be trusted, and rows drawn at random say it for rows that look certain.
(a, b) have the prior N(0, 1) x N(1, 1/4), memberships as they are, and are summed out on a grid.
A row that is alone in its group is not judged: before it was known the others could not name its
group, and now they can. Rows near each other are right or wrong together: a known row counts as
EVIDENCE of an independent one.

Where people err and groups are the likeliest of many (likely_groups.py), some of those drawn are
taken for the truth in turn: a hit is in the group matched to that of its largest membership.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from likewise.guided import sharpen
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.likely_groups import LikelyGroups
from likewise.labeling.settled_groups import SHARPNESS, Settled, leave_one_out

LEVEL = 0.9  # of the interval
Z_SCORE = 1.645  # of a normal distribution, for this level
EVIDENCE = 0.4
EVIDENCE_OF_DRAW = 0.8  # of a known row, where draws differ in what nearby rows share
SHIFTS = np.linspace(-4, 4, 41)  # a
SLOPES = np.linspace(0, 2.5, 26)  # b
SHIFT_SPREAD, SLOPE_MEAN, SLOPE_SPREAD = 1.0, 1.0, 0.5  # of the prior
LEAST_CHANCE = 0.001
MOST_DRAWS = 40  # of likely groups, each taken for the truth
MOST_POINTS = 200  # of the distribution of x among all other rows


class PlacedShare(NamedTuple):
    """Estimated share of the rows whose cluster is their class, clusters matched one to one."""

    mean: float
    low: float  # of an interval that holds it with 90 %
    high: float


def estimate_placed(knowledge: Knowledge, settled: Settled, error_rate: float = 0.0) -> PlacedShare:
    """The share of rows placed rightly by the memberships in the settled groups.

    Before two groups are known, and before any of them has two known rows, nothing is known.
    """
    known = np.flatnonzero(settled.groups >= 0)
    own = settled.groups[known]
    if settled.n_groups < 2 or np.bincount(own).max() < 2:
        return PlacedShare(0.5, 0.0, 1.0)
    without_self = leave_one_out(knowledge.walks, known, own, settled.n_groups)
    is_other = settled.groups < 0
    if knowledge.is_uniform is not None:  # the rest were drawn where memberships are in doubt
        is_other &= knowledge.is_uniform
    others = sharpen(settled.memberships[is_other], SHARPNESS).max(axis=1)
    if not len(others):
        if knowledge.likely is None:
            return PlacedShare(1 - error_rate, 1 - error_rate, 1 - error_rate)
        drawn = groups_drawn(knowledge.likely, settled)
        agreed = np.array([np.mean(match_groups(own, truth)[own] == truth) for truth in drawn])
        return summarize_shares(agreed, np.full(len(agreed), 1 / len(agreed)))
    is_judged = np.bincount(own)[own] > 1
    x = log_odds(without_self.max(axis=1))[is_judged]
    x_others = log_odds(np.quantile(others, np.linspace(0, 1, min(len(others), MOST_POINTS))))
    said = without_self.argmax(axis=1)
    share_known = len(known) / len(settled.groups)
    truths = [own]
    if knowledge.likely is not None:
        error_rate = 0.0  # draws differ where answers are wrong
        drawn = groups_drawn(knowledge.likely, settled)
        truths = list(drawn[:: max(len(drawn) // MOST_DRAWS, 1)])
    found = []
    for truth in truths:
        matched = np.arange(settled.n_groups) if truth is own else match_groups(own, truth)
        shares, chances = share_given_hits(
            x,
            (matched[said] == truth)[is_judged],
            x_others,
            guess=error_rate / settled.n_groups,
            lapse=error_rate,
            evidence=EVIDENCE if truth is own else EVIDENCE_OF_DRAW,
        )
        right = float(np.mean(matched[own] == truth)) * (1 - error_rate)
        found.append((share_known * right + (1 - share_known) * shares, chances / len(truths)))
    all_shares, all_chances = (np.concatenate(parts) for parts in zip(*found))
    return add_chance(summarize_shares(all_shares, all_chances), len(others))


def groups_drawn(likely: LikelyGroups, settled: Settled) -> np.ndarray:
    """(s, m) likely groups of the rows that count as known, ascending."""
    order = np.argsort(likely.rows)
    return likely.drawn[:, order[settled.groups[likely.rows[order]] >= 0]]


def match_groups(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The group that each label is matched to, one to one, so that most rows agree; or -1."""
    names, numbers = np.unique(groups, return_inverse=True)
    counts = np.zeros((labels.max() + 1, len(names)))
    np.add.at(counts, (labels, numbers), 1)
    matched = np.full(len(counts), -1)
    of_labels, of_groups = linear_sum_assignment(-counts)
    matched[of_labels] = names[of_groups]
    return matched


def share_given_hits(
    x: np.ndarray,
    is_hit: np.ndarray,
    x_others: np.ndarray,
    *,
    guess: float,
    lapse: float,
    evidence: float = EVIDENCE,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean chance of the other rows at every point of the grid (g,), and chances (g,) of these."""
    a, b = (axis.ravel() for axis in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
    hits = guess + (1 - lapse - guess) * logistic(a[:, None] + b[:, None] * x)  # (g, m)
    log_likelihood = np.log(np.where(is_hit, hits, 1 - hits)).sum(axis=1)
    log_prior = -(np.square(a / SHIFT_SPREAD) + np.square((b - SLOPE_MEAN) / SLOPE_SPREAD)) / 2
    log_chances = evidence * log_likelihood + log_prior
    chances = np.exp(log_chances - log_chances.max())
    shares = logistic(a[:, None] + b[:, None] * x_others).mean(axis=1)
    return shares, chances / chances.sum()


def summarize_shares(shares: np.ndarray, chances: np.ndarray) -> PlacedShare:
    """Mean and quantiles of weighted values."""
    order = np.argsort(shares, kind="stable")
    below = np.cumsum(chances[order])
    tail = (1 - LEVEL) / 2
    low, high = shares[order[np.searchsorted(below, [tail, 1 - tail])]]
    return PlacedShare(float(shares @ chances), float(low), float(high))


def add_chance(placed: PlacedShare, n_rows: int) -> PlacedShare:
    """The interval of so many rows drawn with a share, where before it was of the share."""
    mean = np.clip(placed.mean, 1 / n_rows, 1 - 1 / n_rows)
    spread = np.sqrt(mean * (1 - mean) / (EVIDENCE * n_rows))
    below = np.hypot(placed.mean - placed.low, Z_SCORE * spread)
    above = np.hypot(placed.high - placed.mean, Z_SCORE * spread)
    low, high = max(placed.mean - below, 0.0), min(placed.mean + above, 1.0)
    return PlacedShare(placed.mean, float(low), float(high))


def log_odds(chances: np.ndarray) -> np.ndarray:
    kept = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
    return np.log(kept / (1 - kept))


def logistic(t: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-t))
