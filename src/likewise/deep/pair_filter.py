"""Which pairs to learn from in the next epoch: not those that cost the clusters most.

Prices are those of the pairs at the centers as they stand (`duals`). Of the pairs that cost
something, the `drop_share` most costly are left out; pairs that cost nothing are satisfied anyway
and not used either. While violated pairs have few points, prices are exact, by the linear program,
which then takes milliseconds; with more, the search starts from the prices of the last epoch.
Reference: randel2021, Algorithm 3.
"""

from typing import NamedTuple

import numpy as np

from likewise.duals import PricedPairs, price_by_climbing, price_by_lp, split_groups
from likewise.kernels import sq_distances

EPS = 0.1
LARGEST_PROGRAM = 20_000  # points of violated groups times clusters: a few tenths of a second
N_CLIMBS = 100  # steps from the last epoch's prices


class FilteredPairs(NamedTuple):
    kept: np.ndarray  # (m,) whether the pair is used
    multipliers: np.ndarray  # (m, k) to start from next time


def filter_pairs(
    codes: np.ndarray, centers: np.ndarray, pairs: PricedPairs, drop_share: float, multipliers
) -> FilteredPairs:
    """Codes (p, d) are of `pairs.points`; `multipliers` those of the last epoch, or None."""
    costs = sq_distances(codes, centers)
    if program_size(costs, pairs) <= LARGEST_PROGRAM:
        priced = price_by_lp(costs, pairs, EPS)
    else:
        priced = price_by_climbing(costs, pairs, EPS, max_iter=N_CLIMBS, start=multipliers)
    return FilteredPairs(keep_by_price(priced.prices, drop_share), priced.multipliers)


def program_size(costs: np.ndarray, pairs: PricedPairs) -> int:
    """Points in groups of pairs that are not satisfied already, times clusters."""
    groups, violated, alone = split_groups(pairs, costs.argmin(axis=1))
    hard = np.isin(groups, groups[violated & ~(alone & ~pairs.must)])
    return len(np.unique(pairs.ends[hard])) * costs.shape[1]


def keep_by_price(prices: np.ndarray, drop_share: float) -> np.ndarray:
    """Those that cost something, without the floor(drop_share * how many) most costly."""
    costly = np.flatnonzero(prices > 0)
    costly = costly[np.argsort(-prices[costly], kind="stable")]
    kept = np.zeros(len(prices), dtype=bool)
    kept[costly[int(drop_share * len(costly)) :]] = True
    return kept
