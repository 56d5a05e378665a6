"""Labels of low cost where pairs of rows have prices: what PCK-Means and MPCK-Means share.

    sum_i unary[i, l_i] + sum_{must-links p = (i, j)}  [l_i != l_j] (price[p, l_i] + price[p, l_j])
                        + sum_{cannot-links p = (i, j)} [l_i = l_j] price[p, l_i]

Finding the minimum is NP-hard. We descend: every must-linked group moves as a whole to where it
costs least, then every row of such a group alone. Moves that no pair connects are made at once, so
a sweep is a few array operations and not a loop over rows; rows without pairs just take their least
cost. No step ever raises the sum.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from likewise.cluster.coloring import color_classes
from likewise.numerics.partitions import refill_empty

ROUNDING = 1e-12  # a move must gain more than this share of its cost, or sweeps could go in circles


class MoveClass(NamedTuple):
    """Blocks of rows that no pair joins to each other."""

    rows: np.ndarray  # (r,) all rows of the blocks
    block: np.ndarray  # (r,) which block each row is in
    own: np.ndarray  # (e,) the row of the block for each pair that leaves it
    other: np.ndarray  # (e,) the row that the pair leads to
    pair: np.ndarray  # (e,) which pair it is
    inner: np.ndarray  # (q,) pairs inside a block
    ends: np.ndarray  # (q, 2) their rows
    add: csr_array  # (blocks, r + e + q) adds up by block what its rows and pairs cost


class Moves(NamedTuple):
    pairs: np.ndarray  # (m, 2)
    must: np.ndarray  # (m,) True for must-links
    groups: np.ndarray  # (n,) must-linked group of each row
    free: np.ndarray  # rows that no pair names
    together: list[MoveClass]  # groups and rows with cannot-links, each as a whole
    alone: list[MoveClass]  # the rows of groups


def prepare_moves(pairs: np.ndarray, must: np.ndarray, groups: np.ndarray) -> Moves:
    """Sort the rows into what can move at once; ``groups`` (n,) are the must-linked components."""
    named = np.zeros(len(groups), dtype=bool)
    named[pairs] = True
    grouped = np.bincount(groups)[groups] > 1
    rows = np.arange(len(groups))
    return Moves(
        pairs,
        must,
        groups,
        np.flatnonzero(~named),
        move_classes(pairs, np.where(named, groups, -1)),
        move_classes(pairs, np.where(grouped, rows, -1)),
    )


def move_classes(pairs: np.ndarray, blocks: np.ndarray) -> list[MoveClass]:
    """Classes of blocks that no pair joins; ``blocks`` (n,): the block of each row, or -1.

    Rows 0 and 1 are one block, and 2 another that a pair ties to it: they move in turn. Row 3 is a
    third, tied to none, and moves with the first; row 4 is in no block.

    >>> classes = move_classes(np.array([[0, 1], [1, 2]]), np.array([0, 0, 1, 2, -1]))
    >>> [movers.rows.tolist() for movers in classes]
    [[0, 1, 3], [2]]
    >>> first = classes[0]  # pair 0 lies inside its block; by pair 1 row 1 leads to row 2
    >>> first.block.tolist(), first.inner.tolist(), first.own.tolist(), first.other.tolist()
    ([0, 0, 1], [0], [1], [2])
    """
    numbers, blocks = np.unique(blocks, return_inverse=True)
    blocks = blocks - int(len(numbers) > 0 and numbers[0] == -1)  # -1 stays -1
    ends = blocks[pairs]
    inside = ends[:, 0] == ends[:, 1]
    between = ends[~inside & (ends >= 0).all(axis=1)]
    n_blocks = int(blocks.max(initial=-1)) + 1
    classes = color_classes(between, n_blocks)
    color, place = np.empty((2, n_blocks + 1), dtype=np.int64)  # one more: where -1 points
    color[-1] = -1
    for number, members in enumerate(classes):
        color[members], place[members] = number, np.arange(len(members))

    leaving = np.flatnonzero(~inside)
    own = np.concatenate([pairs[leaving, 0], pairs[leaving, 1]])
    other = np.concatenate([pairs[leaving, 1], pairs[leaving, 0]])
    pair = np.concatenate([leaving, leaving])
    inner = np.flatnonzero(inside & (ends[:, 0] >= 0))
    rows_of, pairs_of, inner_of = (
        split_by(color[blocks[rows]], len(classes))
        for rows in (np.arange(len(blocks)), own, pairs[inner, 0])
    )
    made = []
    for members, rows, half, within in zip(classes, rows_of, pairs_of, inner_of):
        of_pairs, of_inner = place[blocks[own[half]]], place[ends[inner[within], 0]]
        made.append(
            MoveClass(
                rows,
                place[blocks[rows]],
                own[half],
                other[half],
                pair[half],
                inner[within],
                pairs[inner[within]],
                adder(np.concatenate([place[blocks[rows]], of_pairs, of_inner]), len(members)),
            )
        )
    return made


def split_by(color: np.ndarray, n_colors: int) -> list[np.ndarray]:
    """Indices of color 0, of color 1, and so on; those of color -1 are left out."""
    order = np.argsort(color, kind="stable")
    return np.split(order, np.searchsorted(color[order], np.arange(n_colors + 1)))[1:-1]


def adder(block: np.ndarray, n_blocks: int) -> csr_array:
    """The matrix that adds up entries by block."""
    ones, entries = np.ones(len(block)), np.arange(len(block))
    return csr_array((ones, (block, entries)), shape=(n_blocks, len(block)))


def sweep(labels: np.ndarray, unary: np.ndarray, prices: np.ndarray, moves: Moves) -> np.ndarray:
    """Labels that cost no more: free rows at once, groups as a whole, then the rows of groups."""
    labels = labels.copy()
    labels[moves.free] = np.argmin(unary[moves.free], axis=1)
    for movers in moves.together:
        move(labels, unary, prices, moves.must, movers)
    for movers in moves.alone:
        move(labels, unary, prices, moves.must, movers)
    return labels


def move(labels, unary, prices, must, movers: MoveClass) -> None:
    """Each block to its cheapest cluster, in place."""
    at = np.arange(len(movers.pair))
    away, price = labels[movers.other], prices[movers.pair]  # (e,), (e, k)
    price_away = price[at, away]
    is_must = must[movers.pair]
    # A must-link costs in every cluster but the other end's; a cannot-link only there.
    links = np.where(is_must[:, None], price + price_away[:, None], 0.0)
    links[at, away] = np.where(is_must, 0.0, price_away)
    inner_must = must[movers.inner]
    joined = np.where(inner_must[:, None], 0.0, prices[movers.inner])
    own = unary[movers.rows]
    costs = np.concatenate([own, links, joined])  # (r + e + q, k) if the block were in a cluster
    now = np.concatenate(
        [
            own[np.arange(len(own)), labels[movers.rows]],
            links[at, labels[movers.own]],
            pair_costs(labels, prices[movers.inner], movers.ends, inner_must),
        ]
    )
    sums = movers.add @ np.column_stack([costs, now])
    options, now = sums[:, :-1], sums[:, -1]
    best = np.argmin(options, axis=1)
    gains = now - options[np.arange(len(best)), best] > ROUNDING * np.abs(now)
    moving = gains[movers.block]
    labels[movers.rows[moving]] = best[movers.block[moving]]


def reseed(labels: np.ndarray, unary: np.ndarray, floors: np.ndarray, moves: Moves) -> np.ndarray:
    """Fill empty clusters with rows that no pair names, where that lowers the cost.

    ``floors`` (k,) is what a row on the center of each cluster costs there.
    """
    n_clusters = unary.shape[1]
    empty = np.bincount(labels, minlength=n_clusters) == 0
    if not empty.any():
        return labels
    gains = np.zeros(len(labels))
    own = unary[moves.free, labels[moves.free]]
    gains[moves.free] = np.maximum(own - floors[empty].max(), 0.0)
    filled = refill_empty(labels, gains, n_clusters)
    return np.where(gains > ROUNDING * np.abs(unary).max(), filled, labels)


def pair_costs(labels, prices, pairs, must) -> np.ndarray:
    """What each pair costs under these labels, (m,); 0 where it is satisfied."""
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    at = np.arange(len(pairs))
    split = np.where(a != b, prices[at, a] + prices[at, b], 0.0)
    joined = np.where(a == b, prices[at, a], 0.0)
    return np.where(must, split, joined)


def violated(labels: np.ndarray, moves: Moves) -> np.ndarray:
    """(m,) which pairs these labels break."""
    a, b = labels[moves.pairs].T
    return np.where(moves.must, a != b, a == b)
