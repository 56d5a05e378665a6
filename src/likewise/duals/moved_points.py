"""Move as few points as little as possible until the clusters satisfy the pairs.

Repeat: cluster by k-means; of the violated pairs take the one of highest price; move one of its
rows, or both, just across the border to the cluster where that costs least,

    x <- x + 1.01 t v,   v = y_to - y_from,   t = 1/2 - (x - y_from)'v / |v|^2

A row never moves back to a cluster it left, so the moves end: with every pair satisfied, or with an
account of those that cannot be.
Reference: randel2021, Algorithms 1 and 2. We differ from it in five ways. The dearest pair goes
first: its cheaper row is the misplaced one, and its move often mends other pairs; the paper's
order="cheapest" begins with rows near a border, many of them well placed, and goes a longer way
than a random order. Clusters keep their names from one k-means to the next (new starts exchange
them, so that the list of clusters left and the prices would refer to others); k-means goes on from
the last centers instead of making 100 new starts, which is restarts="paper"; prices are those of
fixed centers by a linear program, the paper's sub-gradients being solver="alternating"; and a move
that only repeats what the list has puts its target there, without which the list need not grow.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from likewise.cluster import check_choice
from likewise.constraints import Constraints, check_constraints
from likewise.duals.priced_pairs import PricedPairs, pairs_of
from likewise.duals.prices import SOLVERS, price_fixed
from likewise.kernels import sq_distances
from likewise.numerics.rows import check_rows
from likewise.progress import track

BEYOND = 1.01  # just across the border
ALREADY_ACROSS = 0.01  # of v, for a row that is on the other side and yet in the cluster
N_STARTS = 100  # of k-means: first, and always for "paper"


class Move(NamedTuple):
    answer: int  # the pair it was for
    row: int
    left: int  # cluster
    to: int  # cluster
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class MovedPoints:
    """Rows after the moves, and the way there.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    centers : ndarray of shape (n_clusters, n_features)
    moves : list of Move
        Every move: for which answer, which row, from and to which cluster, how far.
    n_broken : ndarray of shape (n_iter + 1,)
        Pairs violated before the first move and after each round of one pair.
    travelled : ndarray of shape (n_iter + 1,)
        Distance travelled by all rows so far.
    ari : ndarray of shape (n_iter + 1,)
        Agreement with the classes ``y``; nan without them.
    unsatisfied : ndarray of int
        Positions of the pairs that are still violated.
    conflicts : tuple of str
        Those of them that contradict other answers, in words. The others have no move left that
        was not made and undone.
    """

    X: np.ndarray
    labels: np.ndarray
    centers: np.ndarray
    moves: list[Move]
    n_broken: np.ndarray
    travelled: np.ndarray
    ari: np.ndarray
    unsatisfied: np.ndarray
    conflicts: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"<MovedPoints: {len(self.moves)} moves, {self.travelled[-1]:.4g} travelled, "
            f"{len(self.unsatisfied)} pairs unsatisfied>"
        )


def move_points(
    X,
    constraints,
    n_clusters,
    *,
    order="dearest",
    restarts="warm",
    solver="lp",
    eps=0.1,
    max_iter=500,
    y=None,
    random_state=None,
) -> MovedPoints:
    """Move points until k-means satisfies the pairs, changing the data as little as it can.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Its must-links and cannot-links are used.
    n_clusters : int
    order : {"dearest", "cheapest", "random"}, default="dearest"
        Which violated pair comes next, by the prices of `constraint_prices`. "cheapest" is the
        paper's; it moves more points, and farther.
    restarts : {"warm", "paper"}, default="warm"
        k-means after each move: from the last centers, or with 99 new starts as well.
    solver : {"lp", "subgradient", "isolated", "alternating", "auto"}, default="lp"
        How the prices are found, as in `constraint_prices`; "alternating" is the paper's, by
        sub-gradients over centers that move. Algorithms 1 and 2 as published are
        ``order="cheapest", restarts="paper", solver="alternating"``.
    eps : float, default=0.1
        As in `constraint_prices`.
    max_iter : int, default=500
        Steps of the sub-gradient solvers.
    y : array-like of shape (n_samples,), default=None
        Classes, to record the agreement with after each move.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means and the random order.

    Returns
    -------
    MovedPoints
        ``.X``, ``.labels``, ``.travelled``, ``.unsatisfied``, ``.ari``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, move_points
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> moved = move_points(X, Constraints(6, must_link=[(2, 3)]), 2, random_state=0)
    >>> moved.labels[2] == moved.labels[3], len(moved.moves), moved.unsatisfied
    (np.True_, 1, array([], dtype=int64))
    """
    check_choice("order", order, ("dearest", "cheapest", "random"))
    check_choice("restarts", restarts, ("warm", "paper"))
    check_choice("solver", solver, SOLVERS["mssc"])
    X = check_rows(X, dtype=np.float64, copy=True)
    constraints = check_constraints(constraints, n_samples=len(X))
    rng = check_random_state(random_state)
    pairs = pairs_of(constraints)
    is_left = np.zeros((len(X), n_clusters), dtype=bool)  # the paper's list
    labels, centers = cluster_rows(X, n_clusters, None, N_STARTS, rng)
    moves: list[Move] = []
    history = [measure(labels, pairs, moves, y)]
    for _ in track(range(is_left.size), "moving points", may_end_early=True):
        options = find_options(X, labels, centers, pairs, is_left)
        if not options:
            break
        if order == "random":
            chosen = int(rng.choice(sorted(options)))
        else:
            priced, _ = price_fixed(X, centers, labels, 0.0, pairs, solver, eps, max_iter)
            chosen = choose(options, priced.prices, order)
        answer = int(pairs.answers[chosen])
        rows = pairs.points[pairs.ends[chosen]]
        n_listed = int(is_left.sum())
        to = options[chosen].to
        for row in rows[options[chosen].moved]:
            left = int(labels[row])
            step = crossing(X[row], centers[left], centers[to])
            X[row] += step
            moves.append(Move(answer, int(row), left, to, float(np.linalg.norm(step))))
            is_left[row, left] = True
        if is_left.sum() == n_listed:
            is_left[moves[-1].row, moves[-1].to] = True
        n_new = 0 if restarts == "warm" else N_STARTS - 1
        labels, centers = cluster_rows(X, n_clusters, centers, n_new, rng)
        history.append(measure(labels, pairs, moves, y))
    unsatisfied = pairs.answers[pairs.violated(labels)]
    n_broken, travelled, ari = np.array(history).T
    return MovedPoints(
        X,
        labels,
        centers,
        moves,
        n_broken.astype(np.int64),
        travelled,
        ari,
        unsatisfied,
        explain(constraints, unsatisfied),
    )


def cluster_rows(X, n_clusters: int, before, n_new: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Labels and centers of the best k-means: on from the centers before, and from new starts."""
    fits = []
    if before is not None:
        fits.append(KMeans(n_clusters, init=before, n_init=1, random_state=rng).fit(X))
    if n_new:
        fits.append(KMeans(n_clusters, n_init=n_new, random_state=rng).fit(X))
    best = min(fits, key=lambda fit: fit.inertia_)
    if before is None:
        return best.labels_, best.cluster_centers_
    return keep_names(before, best.labels_, best.cluster_centers_)


def keep_names(before, labels, centers) -> tuple[np.ndarray, np.ndarray]:
    """Labels and centers renamed so that they lie nearest to the centers before, all together."""
    _, new = linear_sum_assignment(sq_distances(before, centers))  # new[i] is now called i
    return np.argsort(new)[labels], centers[new]


class Option(NamedTuple):
    """The cheapest way to satisfy a violated pair."""

    moved: np.ndarray  # which of its two rows move
    to: int  # cluster


def find_options(X, labels, centers, pairs: PricedPairs, is_left) -> dict[int, Option]:
    """For each violated pair that has a move left, the move that raises the cost least."""
    broken = np.flatnonzero(pairs.violated(labels))
    rows = pairs.points[pairs.ends[broken]]  # (b, 2)
    raises = np.where(is_left[rows], np.inf, cost_changes(X, labels, centers, rows))  # (b, 2, k)
    options = {}
    for pair, costs, homes in zip(broken, raises, labels[rows]):
        if pairs.must[pair]:
            total = costs.sum(axis=0)
            to = int(total.argmin())
            moved, cost = np.flatnonzero(homes != to), float(total[to])
        else:
            costs[:, homes[0]] = np.inf
            one, to = np.unravel_index(costs.argmin(), costs.shape)
            moved, cost = np.array([one]), float(costs[one, to])
        if np.isfinite(cost):
            options[int(pair)] = Option(moved, int(to))
    return options


def cost_changes(X, labels, centers, rows: np.ndarray) -> np.ndarray:
    """What the sum of squares changes by when each row goes to each cluster, (*rows.shape, k).

    0 to stay; inf to leave a cluster empty.
    """
    sizes = np.bincount(labels, minlength=len(centers))
    home = labels[rows.ravel()]
    sq_dists = sq_distances(X[rows.ravel()], centers)  # (r, k)
    each = np.arange(len(home))
    saved = sizes[home] / np.maximum(sizes[home] - 1, 1) * sq_dists[each, home]
    changes = sizes / (sizes + 1) * sq_dists - saved[:, None]
    changes[sizes[home] == 1] = np.inf
    changes[each, home] = 0.0
    return changes.reshape(*rows.shape, len(centers))


def choose(options: dict[int, Option], prices: np.ndarray, order: str) -> int:
    """The violated pair to satisfy next, by what each pair costs."""
    candidates = np.array(sorted(options))
    dear = prices[candidates]
    return int(candidates[dear.argmin() if order == "cheapest" else dear.argmax()])


def crossing(x: np.ndarray, left: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The step along the line of centers that takes x just beyond the border between them."""
    v = to - left
    t = 0.5 - (x - left) @ v / ((v @ v) or 1.0)  # two centers in one place: nowhere to go
    return (BEYOND * t if t > 0 else ALREADY_ACROSS) * v


def measure(labels, pairs: PricedPairs, moves: list[Move], y) -> tuple[int, float, float]:
    """PricedPairs violated, distance traveled, agreement."""
    ari = np.nan if y is None else adjusted_rand_score(y, labels)
    return int(pairs.violated(labels).sum()), sum(move.length for move in moves), ari


def explain(constraints: Constraints, unsatisfied: np.ndarray) -> tuple[str, ...]:
    """The contradictions that unsatisfied answers have a part in, in words."""
    if not len(unsatisfied):
        return ()
    return tuple(
        conflict.message
        for conflict in constraints.conflicts()
        if np.isin([conflict.answer, *conflict.witness], unsatisfied).any()
    )
