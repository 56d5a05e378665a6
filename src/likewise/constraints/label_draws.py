"""Answers drawn from labels: uniformly, without repeats, and then with some of them wrong.

Every kind is drawn by rank: count the answers there are, draw distinct numbers below the count,
and turn each number into its answer. No rejection, no n x n table, exact for any class sizes.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from likewise.constraints.table import AnswerTable, widen


def draw_answers(
    y: np.ndarray, counts: Sequence[int | None], noise: float, random_state
) -> AnswerTable:
    """The wanted number of answers of each kind, and of pairs of either kind."""
    if not 0 <= noise <= 1:
        raise ValueError(f"noise={noise} must lie between 0 and 1.")
    if all(count is None for count in counts):
        raise ValueError(
            "from_labels(y) needs the number of answers to draw. Try n_pairs=100, or "
            "from_partial_labels(y) for all that the labels say."
        )
    rng = check_random_state(random_state)
    *n_by_kind, n_pairs = (count or 0 for count in counts)
    draws = (draw_must_links, draw_cannot_links, draw_odd_ones_out, draw_closer, draw_undecided)
    blocks = [draw(y, n, rng) for draw, n in zip(draws, n_by_kind)]
    pairs, is_must_link = draw_pairs(y, n_pairs, rng)
    codes = np.repeat(np.arange(len(draws)), n_by_kind)
    codes = np.concatenate([codes, np.where(is_must_link, 0, 1)]).astype(np.int8)
    points = np.concatenate([widen(points) for points in (*blocks, pairs)])
    codes, points = flip(codes, points, noise, rng)
    return AnswerTable(codes, points, np.ones(len(codes)), None, None)


def link_labelled(y: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fewest links that say which of some rows share a class: (m, 2) must, (q, 2) cannot."""
    rows = rows[np.argsort(y[rows], kind="stable")]
    same = y[rows[1:]] == y[rows[:-1]]
    must_link = np.stack([rows[:-1][same], rows[1:][same]], axis=1)  # a chain through each class
    firsts = np.concatenate([rows[:1], rows[1:][~same]])  # one row of each
    i, j = np.triu_indices(len(firsts), 1)
    return must_link, np.stack([firsts[i], firsts[j]], axis=1)


class ByClass:
    """The rows of each class, side by side, with the arithmetic of choosing among them."""

    def __init__(self, y: np.ndarray):
        codes = np.unique(y, return_inverse=True)[1].ravel()
        self.rows = np.argsort(codes, kind="stable")  # rows, class after class
        self.sizes = np.bincount(codes)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.codes = codes
        self.n = len(codes)

    def members(self, classes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The offset-th row of each class."""
        return self.rows[self.starts[classes] + offsets]

    def others(self, classes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The offset-th row outside each class."""
        before = offsets < self.starts[classes]
        return self.rows[np.where(before, offsets, offsets + self.sizes[classes])]


def draw_must_links(y: np.ndarray, n: int, rng) -> np.ndarray:
    """Pairs inside a class, (n, 2)."""
    by_class = ByClass(y)
    per_class = by_class.sizes * (by_class.sizes - 1) // 2
    classes, ranks = _draw_ranks("n_must_link", n, per_class, rng)
    i, j = _unrank_pairs(ranks)
    return np.stack([by_class.members(classes, i), by_class.members(classes, j)], axis=1)


def draw_cannot_links(y: np.ndarray, n: int, rng) -> np.ndarray:
    """Pairs across classes, (n, 2)."""
    by_class = ByClass(y)
    later = by_class.n - by_class.starts - by_class.sizes  # rows of later classes
    classes, ranks = _draw_ranks("n_cannot_link", n, by_class.sizes * later, rng)
    offsets, beyond = np.divmod(ranks, later[classes])
    others = by_class.rows[by_class.starts[classes] + by_class.sizes[classes] + beyond]
    return np.stack([by_class.members(classes, offsets), others], axis=1)


def draw_odd_ones_out(y: np.ndarray, n: int, rng) -> np.ndarray:
    """Two rows of a class and the odd one from another, (n, 3)."""
    by_class = ByClass(y)
    outside = by_class.n - by_class.sizes
    per_class = by_class.sizes * (by_class.sizes - 1) // 2 * outside
    classes, ranks = _draw_ranks("n_odd_one_out", n, per_class, rng)
    pair_ranks, odd = np.divmod(ranks, outside[classes])
    i, j = _unrank_pairs(pair_ranks)
    pair = by_class.members(classes, i), by_class.members(classes, j)
    return np.stack([*pair, by_class.others(classes, odd)], axis=1)


def draw_closer(y: np.ndarray, n: int, rng) -> np.ndarray:
    """(a, b, c) with b of a's class and c of another, (n, 3): an odd one out, seen from one end."""
    by_class = ByClass(y)
    outside = by_class.n - by_class.sizes
    per_class = by_class.sizes * (by_class.sizes - 1) * outside
    classes, ranks = _draw_ranks("n_closer", n, per_class, rng)
    ordered_pairs, far = np.divmod(ranks, outside[classes])
    first, second = np.divmod(ordered_pairs, by_class.sizes[classes] - 1)
    second += second >= first
    pair = by_class.members(classes, first), by_class.members(classes, second)
    return np.stack([*pair, by_class.others(classes, far)], axis=1)


def draw_undecided(y: np.ndarray, n: int, rng) -> np.ndarray:
    """Three rows of one class or of three, (n, 3): nothing sets one apart (amid2015, 5.5)."""
    by_class = ByClass(y)
    sizes = by_class.sizes.astype(float)
    inside = (sizes * (sizes - 1) * (sizes - 2)).sum() / 6
    e1, e2, e3 = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
    across = (e1**3 - 3 * e1 * e2 + 2 * e3) / 6  # triples of rows from three different classes
    if n > round(inside + across):
        raise ValueError(_too_many("n_undecided", n, round(inside + across)))
    drawn: np.ndarray = np.empty((0, 3), dtype=np.int64)
    while len(drawn) < n:
        rows = rng.randint(by_class.n, size=(2 * (n - len(drawn)) + 8, 3))
        rows = np.sort(rows, axis=1)
        classes = np.sort(by_class.codes[rows], axis=1)
        distinct = (rows[:, 0] != rows[:, 1]) & (rows[:, 1] != rows[:, 2])
        n_classes = 1 + (np.diff(classes, axis=1) > 0).sum(axis=1)
        drawn = np.concatenate([drawn, rows[distinct & (n_classes != 2)]])
        first = np.sort(np.unique(drawn, axis=0, return_index=True)[1])
        drawn = drawn[first]
    return drawn[:n]


def draw_pairs(y: np.ndarray, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Pairs drawn whatever their classes, (n, 2), and whether each is a must-link, (n,)."""
    _, ranks = _draw_ranks("n_pairs", n, np.array([len(y) * (len(y) - 1) // 2]), rng)
    pairs = np.stack(_unrank_pairs(ranks), axis=1)
    return pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def _draw_ranks(name: str, n: int, per_class: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """n distinct answers of those there are: the class of each, and its rank within the class."""
    ends = np.cumsum(per_class)
    total = int(ends[-1]) if len(ends) else 0
    if n > total:
        raise ValueError(_too_many(name, n, total))
    if n == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    drawn = sample_without_replacement(total, n, random_state=rng).astype(np.int64)
    drawn = drawn[rng.permutation(n)]  # the sampler's order is not random for every method
    classes = np.searchsorted(ends, drawn, side="right")
    return classes, drawn - (ends - per_class)[classes]


def _unrank_pairs(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rank-th of the pairs (0,1), (0,2), (1,2), (0,3), ...: smaller, larger."""
    larger = ((1 + np.sqrt(1 + 8 * ranks.astype(float))) / 2).astype(np.int64)
    larger -= larger * (larger - 1) // 2 > ranks  # the square root may round up
    larger += (larger + 1) * larger // 2 <= ranks
    return ranks - larger * (larger - 1) // 2, larger


def _too_many(name: str, n: int, total: int) -> str:
    return f"{name}={n} asks for more than the {total} there are under these labels. Lower it."


def flip(codes: np.ndarray, points: np.ndarray, noise: float, rng) -> tuple[np.ndarray, np.ndarray]:
    """Make a share of the answers wrong, each in its place (kinds numbered as in table.KINDS)."""
    codes, points = codes.copy(), points.copy()
    wrong = rng.permutation(len(codes))[: round(noise * len(codes))]
    other_end = rng.randint(2, size=len(codes))  # which of the two takes the odd one's place
    must_or_cannot, odd, closer, undecided = (
        wrong[np.isin(codes[wrong], kinds)] for kinds in ([0, 1], [2], [3], [4])
    )
    codes[must_or_cannot] = 1 - codes[must_or_cannot]
    swaps = np.array([[0, 2, 1], [2, 1, 0]])[other_end]
    points[odd] = np.take_along_axis(points[odd], swaps[odd], axis=1)
    points[closer] = points[closer][:, [0, 2, 1]]
    codes[undecided] = 2
    points[undecided] = np.take_along_axis(points[undecided], swaps[undecided], axis=1)
    return codes, points
