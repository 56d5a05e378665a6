"""The pair whose answer tells most about which rows belong together, where people err.

    y      1 where a and b are in one group, 0 where not, draw by draw (likely_groups.py)
    L_st   number of pairs of rows that are together in both draw s and draw t: the sum of
           squares of (rows in both g and h) over groups g of s and h of t, but for the diagonal
    taken  (1 - 2e)^2 HSIC(y, L) / (p (1 - p)),  p = e + (1 - 2e) mean y, e the error rate
    asked  where taken * sqrt(p (1 - p)) is largest: few draws decide what nearly certain pairs take

Summed over all pairs of rows, the variance of "are they in one group?" that a noisy answer takes
away is the squared covariance over the variance of the answer, and these squared covariances are
the Hilbert-Schmidt independence criterion between y and the groups. Draws are few, so its unbiased
estimate is used. "All rows" are the known ones, some that are worth asking about and a sample of
the others, linked to earlier ones as the prior links them.
Reference: song2012 for the estimate.
"""

import numpy as np

from likewise.labeling.likely_groups import LikelyGroups, extend, link_chances
from likewise.labeling.walks import Walks
from likewise.numerics.threads import one_thread

N_NEW = 20  # rows not known that a pair may be about
N_SAMPLE = 100  # other rows that answers are to tell about
NEW_WEIGHT = 0.5  # of answers about these: what comes out of them is open to error longer


@one_thread()
def most_telling_pair(
    walks: Walks,
    likely: LikelyGroups,
    new_rows: np.ndarray,
    others: np.ndarray,
    asked: frozenset,
    rng: np.random.Generator,
) -> tuple[int, int] | None:
    """The pair to ask about: two known rows, or one of the new rows (c,) and a known one."""
    known, m = likely.rows, len(likely.rows)
    sample = rng.choice(others, min(N_SAMPLE, len(others)), replace=False)
    rows = np.concatenate([known, new_rows, sample])
    groups = extend(likely.drawn, link_chances(walks, rows, likely.half), rng)
    weights = np.ones(len(rows))
    weights[m + len(new_rows) :] = len(others) / max(len(sample), 1)
    firsts = np.concatenate(
        [np.repeat(np.arange(m, m + len(new_rows)), m), np.triu_indices(m, 1)[0]]
    )
    seconds = np.concatenate([np.tile(np.arange(m), len(new_rows)), np.triu_indices(m, 1)[1]])
    is_open = [
        (min(a, b), max(a, b)) not in asked
        for a, b in zip(rows[firsts].tolist(), rows[seconds].tolist())
    ]
    firsts, seconds = firsts[is_open], seconds[is_open]
    if not len(firsts):
        return None
    scores = variance_taken(groups, weights, firsts, seconds, likely.error_rate)
    together = chances_of_together(groups, firsts, seconds, likely.error_rate)
    scores *= np.sqrt(together * (1 - together))
    scores[firsts >= m] *= NEW_WEIGHT
    best = int(np.argmax(scores))
    return int(rows[firsts[best]]), int(rows[seconds[best]])


def variance_taken(
    groups: np.ndarray, weights: np.ndarray, firsts: np.ndarray, seconds: np.ndarray, e: float
) -> np.ndarray:
    """(c,) variance that the answer about each pair takes away, from groups (s, n) drawn."""
    is_same = (groups[:, firsts] == groups[:, seconds]).astype(np.float64)
    together = chances_of_together(groups, firsts, seconds, e)
    variance = np.maximum(together * (1 - together), 1e-6)
    return (1 - 2 * e) ** 2 * dependence(agreement(groups, weights), is_same) / variance


def chances_of_together(
    groups: np.ndarray, firsts: np.ndarray, seconds: np.ndarray, e: float
) -> np.ndarray:
    """(c,) chance that the answer about each pair is "together", from groups (s, n) drawn."""
    return e + (1 - 2 * e) * (groups[:, firsts] == groups[:, seconds]).mean(axis=0)


def agreement(groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """L (s, s) of groups (s, n) of rows with weights (n,); groups of one row have no pairs."""
    members = []
    in_pairs = np.zeros(groups.shape)
    for drawn, is_paired in zip(groups, in_pairs):
        numbers = np.unique(drawn, return_inverse=True)[1]
        sizes = np.bincount(numbers)
        is_paired[:] = sizes[numbers] > 1
        of_groups = np.eye(len(sizes))[numbers][:, sizes > 1]
        members.append(of_groups if of_groups.shape[1] else np.zeros((len(drawn), 1)))
    starts = np.cumsum([0, *(of_groups.shape[1] for of_groups in members[:-1])])
    joined = np.concatenate(members, axis=1)
    in_both = np.square((joined.T * weights) @ joined)
    squares = np.add.reduceat(np.add.reduceat(in_both, starts, axis=0), starts, axis=1)
    return squares - (in_pairs * np.square(weights)) @ in_pairs.T  # no pair of a row with itself


def dependence(L: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(c,) unbiased HSIC of each column of y (s, c), zeros and ones, with the kernel L (s, s)."""
    n = len(L)
    off = L - np.diag(np.diag(L))
    sums, ones = off.sum(axis=1), y.sum(axis=0)
    within = np.einsum("sc,sc->c", y, off @ y)
    apart = (ones * ones - ones) * sums.sum() / ((n - 1) * (n - 2))
    mixed = 2 / (n - 2) * (ones - 1) * (y.T @ sums)
    return (within + apart - mixed) / (n * (n - 3))
