"""Answers drawn the way the papers drew them, so that their tables can be made again.

draw_sklr_answers       amid2015, 5.2 (binary, multi-class; mixed is the sum of the two) and 5.5
draw_components         hoi2007: "little" and "much" side information by connected components
draw_bagged_sets        randel2021, 4.1: many sets of 1 to 100 pairs
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from likewise.constraints import Constraints, check_all_labelled

SHARE_OF_COMPONENTS = {"little": 0.9, "much": 0.7}


class SKLRAnswers(NamedTuple):
    """The same amount of side information as pairs and as triples."""

    pairs: Constraints
    triples: Constraints


def draw_sklr_answers(
    y, *, n_labelled: int, n_undecided: int = 0, random_state=None
) -> SKLRAnswers:
    """Pairs among a few labelled rows of each class, and as many triples over all rows.

    All must-links among the labelled rows, as many cannot-links among them, and as many odd-one-out
    answers as both together, which need no labelled rows: "equal number" in the paper counts both
    kinds of pairs (360 = 2 x 45 x 4 triples at 10 labelled rows of 4 classes).

    For the mixed experiment draw twice, with coarse and with fine labels, and add.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_labelled : int
        Labelled rows in each class, 5 to 19 in the paper.
    n_undecided : int, default=0
        "Can't tell" triples to add to the triples (section 5.5): three rows of one class or of
        three different ones.
    random_state : int, RandomState or None, default=None
    """
    y = check_all_labelled(y)
    rng = check_random_state(random_state)
    labelled = np.concatenate(
        [_some_rows(np.flatnonzero(y == label), n_labelled, label, rng) for label in np.unique(y)]
    )
    n_must_link = len(np.unique(y)) * n_labelled * (n_labelled - 1) // 2
    among = Constraints.from_labels(
        y[labelled], n_must_link=n_must_link, n_cannot_link=n_must_link, random_state=rng
    )
    pairs = Constraints(
        len(y), must_link=labelled[among.must_link], cannot_link=labelled[among.cannot_link]
    )
    triples = Constraints.from_labels(
        y, n_odd_one_out=2 * n_must_link, n_undecided=n_undecided, random_state=rng
    )
    return SKLRAnswers(pairs, triples)


def draw_components(y, amount: str = "little", *, random_state=None) -> Constraints:
    """Must-links until the rows fall into few enough components, and as many cannot-links.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    amount : {"little", "much"}, default="little"
        Components left: 90 % or 70 % of the rows.
    random_state : int, RandomState or None, default=None
    """
    if amount not in SHARE_OF_COMPONENTS:
        raise ValueError(f"amount={amount!r} must be 'little' or 'much'.")
    y = check_all_labelled(y)
    rng = check_random_state(random_state)
    target = round(SHARE_OF_COMPONENTS[amount] * len(y))
    _, sizes = np.unique(y, return_counts=True)
    if len(sizes) > target:
        raise ValueError(f"{len(sizes)} classes cannot fall into {target} components.")
    n_must_link = len(y) - target  # joins needed when none is wasted
    pool = Constraints.from_labels(y, n_must_link=n_must_link, random_state=rng).must_link
    while True:
        n_components = Constraints(len(y), must_link=pool).closure().n_components
        if n_components <= target:
            break
        more = Constraints.from_labels(y, n_must_link=n_components - target, random_state=rng)
        pool = np.concatenate([pool, more.must_link])
    cannot_link = Constraints.from_labels(y, n_cannot_link=len(pool), random_state=rng).cannot_link
    return Constraints(len(y), must_link=pool, cannot_link=cannot_link)


def draw_bagged_sets(
    y, *, n_sets: int = 500, max_pairs: int = 100, random_state=None
) -> Iterator[Constraints]:
    """Sets of 1 to ``max_pairs`` pairs, each drawn anew from all pairs of rows."""
    rng = check_random_state(random_state)
    for _ in range(n_sets):
        n_pairs = rng.randint(1, max_pairs + 1)
        yield Constraints.from_labels(y, n_pairs=n_pairs, random_state=rng)


def _some_rows(rows: np.ndarray, n: int, label, rng) -> np.ndarray:
    if n > len(rows):
        raise ValueError(f"n_labelled={n}, but class {label} has only {len(rows)} rows.")
    return rng.permutation(rows)[:n]
