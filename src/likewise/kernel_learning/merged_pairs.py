"""Each pair once, with the weights of its answers added up."""

from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints


class MergedPairs(NamedTuple):
    """Distinct signed pairs, and the answers that each comes from."""

    pairs: np.ndarray  # (m, 2), the lower row first
    signs: np.ndarray  # (m,) +1 for a must-link, -1 for a cannot-link
    weights: np.ndarray  # (m,) summed over the answers, > 0
    answers: np.ndarray  # (k,) positions of the answers used
    pair_of: np.ndarray  # (k,) the pair each of them refers to
    shares: np.ndarray  # (k,) of the pair's weight


def merge_pairs(answers: Constraints) -> MergedPairs:
    """Must-links and cannot-links of weight > 0; a repeated pair has the weight of both answers.

    A pair that is both a must-link and a cannot-link appears twice, once with each sign.
    """
    positions = answers.positions("must_link", "cannot_link")
    pairs, signs = answers.signed_pairs()
    weights = answers.weights[positions]
    used = weights > 0
    signed = np.column_stack([np.sort(pairs[used], axis=1), signs[used]])
    distinct, pair_of = np.unique(signed, axis=0, return_inverse=True)
    pair_of = pair_of.reshape(-1)
    totals = np.bincount(pair_of, weights=weights[used], minlength=len(distinct))
    return MergedPairs(
        distinct[:, :2],
        distinct[:, 2].astype(np.float64),
        totals,
        positions[used],
        pair_of,
        weights[used] / totals[pair_of],
    )
