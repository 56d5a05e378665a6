"""Do the answers follow the data at all? A test with a known error, before anything is learned.

    null: the answers were given at random; then must-links are no nearer than cannot-links, the odd
          one out is any of three, and "b is closer" is a toss-up

    agreement = sum of z-scores over three views and the kinds of answers that were given:
                distances of the features, walks over their neighbor graph, its leading eigenvectors
    p         = how often answers drawn at random agree as well: signs permuted among the pairs, the
                odd one of three drawn, in all views at once

    two more, joined with the first by the mean of cot(pi p) (liu2020), unless that one is enough:
    by nearest rows (nearest_known.py), with 60 answers or more
    by held-out answers in learned spaces, with 25 answers or more; below 60, they are dealt to five
          folds three times

Pairs are compared by a rank sum, triples by their number right. The views need no fit, so all
answers count, and the test is exact but for answers that share rows. Held-out answers are judged
where others hardly refer to their rows: groups drawn at random are consistent, too. One sum of
correlated views has more power than the best of them after a correction, and so has one p-value of
tests that agree: parts of the level for each are lost where they do (decision 24).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from likewise.cluster import solve_walks
from likewise.constraints import Constraints
from likewise.guided.nearest_known import p_of_nearest
from likewise.kernels import leading_eigenpairs, normalized_adjacency, self_tuning_graph
from likewise.numerics.pair_distances import pair_sq_distances
from likewise.numerics.threads import one_thread_if_small

LEVEL = 0.05
FEW = 20  # answers; fewer have little power, and a prior lets them pass more easily,
FEW_LEVEL = 0.2  # at most at this level
N_DRAWS = 999
N_FOLDS = 5  # three leave too little to learn from where only a learned space agrees
N_DEALS = 3  # of few answers to folds: which are held out together decides much
N_SEEDS = 2**32  # behind the last comes the first
LEAST_HELD_OUT = 25  # answers, for the learned space
ENOUGH = 60  # for the nearest rows, and for one deal of held-out answers
NO_WORSE = 0.9  # a test that fails takes no more from the others than with this p-value
TOGETHER = 1.15  # p-values that go along join to one that is too small by up to a seventh
ALPHA = 0.9  # a step over the graph: short walks tell pairs apart, long ones reach everywhere
N_VECTORS = 10  # of the graph, where the number of clusters is not given
TOL = 1e-6
SLACK = 1e-9  # sums of equal ranks may differ in their last digits

Fold = tuple[Constraints, Constraints]  # to learn from, held out
Far = Callable[[np.ndarray], np.ndarray]  # how far apart (m,) the rows of pairs (m, 2) are
Learn = Callable[[Constraints], Sequence[np.ndarray]]  # spaces (n, r) from a part of the answers


class Evidence(NamedTuple):
    """Whether answers follow the data."""

    follows: bool
    p_value: float  # corrected for what was tried


@one_thread_if_small(lambda X, *_, **__: X.size)
def weigh_evidence(
    X: np.ndarray,
    answers: Constraints,
    learn: Learn,
    *,
    n_clusters: int | None = None,
    seed: int = 0,
) -> Evidence:
    """Test the answers by the data as they are, then in learned spaces.

    `learn(fit_part)` gives all rows in the spaces learned from a part of the answers.
    """
    answers = answers.subset(answers.weights > 0)

    def by_views() -> float:
        return p_of(answers, views_of(X, answers, n_clusters or N_VECTORS), seed)

    def by_nearest() -> float:
        return p_of_nearest(X, answers, seed)

    def by_held_out(deal: int) -> float:
        dealt = (int(seed) + deal) % N_SEEDS
        return p_of_held_out(folds_about_new_rows(answers, dealt), learn, dealt)

    tests: list[Callable[[], float]] = [by_views, by_nearest]
    tests += [partial(by_held_out, deal) for deal in range(N_DEALS)]
    weights = weights_of_tests(answers.n_answers)
    level = level_for(answers.n_answers)
    p_values: list[float] = []
    p_value = 1.0
    for test, weight in zip(tests, weights):
        p_values.append(test() if weight else 1.0)
        p_value = join(p_values, weights)
        if p_value <= level:  # whatever the others say
            break
    return Evidence(p_value <= level, p_value)


def level_for(n_answers: int) -> float:
    """The level of the test; below 20 answers it rises without a jump, or one more would undo much.

    >>> [round(level_for(n), 3) for n in (4, 10, 19, 20, 200)]
    [0.2, 0.1, 0.053, 0.05, 0.05]
    """
    return min(LEVEL * max(FEW / max(n_answers, 1), 1.0), FEW_LEVEL)


def weights_of_tests(n_answers: int) -> tuple[float, ...]:
    """Of the views, the nearest rows and every deal of held-out answers; they sum to 1."""
    if n_answers < LEAST_HELD_OUT:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    if n_answers < ENOUGH:
        return 0.5, 0.0, 0.5 / N_DEALS, 0.5 / N_DEALS, 0.5 / N_DEALS
    return 0.4, 0.2, 0.4, 0.0, 0.0


def join(p_values: Sequence[float], weights: Sequence[float]) -> float:
    """One p-value of several that may go along with each other; what is missing counts as failed.

    The weighted mean of cot(pi p) is nearly Cauchy however they go along: of normal scores with any
    correlation, at most 1.14 times the level pass.

    >>> [round(join([p, 1.0, p], (0.4, 0.2, 0.4)), 3) for p in (0.01, 0.05)]
    [0.015, 0.081]
    >>> join([0.04], (1.0, 0.0, 0.0))
    0.04
    """
    if max(weights) == 1:
        return float(p_values[int(np.argmax(weights))])
    every = np.full(len(weights), NO_WORSE)
    every[: len(p_values)] = np.minimum(p_values, NO_WORSE)
    mean = np.dot(weights, np.tan(np.pi * (0.5 - every)))
    return float(min(TOGETHER * (0.5 - np.arctan(mean) / np.pi), 1.0))


def views_of(X: np.ndarray, answers: Constraints, n_vectors: int) -> list[Far]:
    """Distances of the features, walks over their graph, angles between its leading vectors."""
    S, _ = normalized_adjacency(self_tuning_graph(X))
    rows = answers.touched_rows()
    ends = np.zeros((len(X), len(rows)))
    ends[rows, np.arange(len(rows))] = 1
    walks = solve_walks(S, ends, alpha=ALPHA, tol=TOL).X[rows]
    _, vectors = leading_eigenpairs(S, min(n_vectors, len(X) - 1))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)

    def few_walks(pairs: np.ndarray) -> np.ndarray:
        at = np.searchsorted(rows, pairs)
        return -walks[at[:, 0], at[:, 1]]

    return [
        lambda pairs: pair_sq_distances(X, pairs),
        few_walks,
        lambda pairs: pair_sq_distances(directions, pairs),
    ]


def p_of(answers: Constraints, views: Sequence[Far], seed: int = 0) -> float:
    """How often answers drawn at random agree as well with the views; 1 without any to compare."""
    rng = np.random.default_rng(seed)
    draws = [*draw_signs(answers, rng), *draw_choices(answers, rng)]
    agreement = np.zeros(1 + N_DRAWS)  # of the answers as they are first
    for far in views:
        right = [*rank_pairs(answers, far), *right_choices(answers, far)]
        for drawn, credits in zip(draws, right, strict=True):
            total = drawn @ credits if credits.ndim == 1 else pick(credits, drawn).sum(axis=1)
            spread = total[1:].std()
            if spread > 0:
                agreement += (total - total[1:].mean()) / spread
    return float((1 + np.count_nonzero(agreement[1:] >= agreement[0] - SLACK)) / (1 + N_DRAWS))


def draw_signs(answers: Constraints, rng) -> list[np.ndarray]:
    """Signs (1 + N_DRAWS, m) of the pairs: as they are, then permuted; nothing without pairs."""
    _, signs = answers.signed_pairs()
    if len(signs) == 0:
        return []
    return [np.array([signs, *(rng.permutation(signs) for _ in range(N_DRAWS))], dtype=float)]


def rank_pairs(answers: Constraints, far: Far) -> list[np.ndarray]:
    """(m,) the nearest pair highest."""
    pairs, _ = answers.signed_pairs()
    return [-rankdata(far(pairs))] if len(pairs) else []


def draw_choices(answers: Constraints, rng) -> list[np.ndarray]:
    """Choices (1 + N_DRAWS, m) of each kind of triple: 0 as it was given, then any."""
    kinds = ((answers.odd_one_out, 3), (answers.closer, 2))
    return [
        np.concatenate([np.zeros((1, len(some)), int), rng.integers(n, size=(N_DRAWS, len(some)))])
        for some, n in kinds
        if len(some)
    ]


def right_choices(answers: Constraints, far: Far) -> list[np.ndarray]:
    """Of each kind of triple that was given, (m, n_choices): is the choice right? As given first.

    An odd one is right if the two others are nearest to each other, a closer row if it is closer.
    """
    odd, closer = answers.odd_one_out, answers.closer
    found = []
    if len(odd):
        found.append(is_nearest([far(odd[:, [0, 1]]), far(odd[:, [0, 2]]), far(odd[:, [1, 2]])]))
    if len(closer):
        found.append(is_nearest([far(closer[:, [0, 1]]), far(closer[:, [0, 2]])]))
    return found


def is_nearest(distances: list[np.ndarray]) -> np.ndarray:
    """(m, n_choices) 1 where a pair is nearer than all others of its answer."""
    sq_dists = np.column_stack(distances)
    others = [np.delete(sq_dists, j, axis=1).min(axis=1) for j in range(sq_dists.shape[1])]
    return (sq_dists < np.column_stack(others)).astype(float)


def pick(credits: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """(n_draws, m) the credit of each answer's choice."""
    return credits[np.arange(len(credits)), choices]


def p_of_held_out(folds: Sequence[Fold], learn: Learn, seed: int = 0) -> float:
    """The same of held-out answers in learned spaces, pooled over folds, added up over spaces.

    What chance would do is what rows that nothing was learned about do when they change places:
    answers that share rows go with them. Folds share answers, so the test is not exact (decision 24
    has its error).
    """
    rng = np.random.default_rng(seed)
    signs = np.concatenate([held_out.signed_pairs()[1] for _, held_out in folds])
    counts = np.count_nonzero(signs > 0), np.count_nonzero(signs < 0)
    units = (1 / counts[0], 1 / counts[1]) if all(counts) else None
    # of each space and kind: (1 + N_DRAWS,), rows in their places first
    gains: dict[tuple[int, str], np.ndarray] = {}
    for fit_part, held_out in folds:
        new = np.setdiff1d(held_out.touched_rows(), fit_part.touched_rows())
        if len(new) < 2:
            continue
        places = np.tile(np.arange(held_out.n_samples), (1 + N_DRAWS, 1))
        places[1:, new] = rng.permuted(np.tile(new, (N_DRAWS, 1)), axis=1)
        for space, Z in enumerate(learn(fit_part)):
            for kind, gain in gains_of(held_out, Z, places, units):
                gains[space, kind] = gains.get((space, kind), 0.0) + gain
    agreement = sum((gain - gain.mean()) / (gain.std() or 1.0) for gain in gains.values())
    if not gains:
        return 1.0
    n_as_good = np.count_nonzero(agreement[1:] >= agreement[0] - SLACK)
    return float((1 + n_as_good) / (1 + N_DRAWS))


def gains_of(
    held_out: Constraints, Z: np.ndarray, places: np.ndarray, units: tuple[float, float] | None
) -> list[tuple[str, np.ndarray]]:
    """Of each kind of answer, how well distances agree (n_draws,) with rows in so many places.

    The distance of a pair is ranked among those in all places, so that pairs of other folds compare
    with it, however few are held out here. A must-link and a cannot-link have a unit each, by how
    many of them all folds hold out; None where only one kind is.
    """

    def far(rows: np.ndarray) -> np.ndarray:  # (m, 2)
        pairs = places[:, rows].reshape(-1, 2)
        return pair_sq_distances(Z, pairs).reshape(len(places), -1)

    gains = []
    pairs, sign = held_out.signed_pairs()
    if len(pairs) and units:
        distances = far(pairs)
        shares = rankdata(distances).reshape(distances.shape) / distances.size
        gains.append(("pairs", shares @ np.where(sign > 0, -units[0], units[1])))
    odd, closer = held_out.odd_one_out, held_out.closer
    if len(odd):
        near = far(odd[:, [0, 1]])
        is_right = (near < far(odd[:, [0, 2]])) & (near < far(odd[:, [1, 2]]))
        gains.append(("odd ones out", is_right.sum(axis=1).astype(float)))
    if len(closer):
        is_right = far(closer[:, [0, 1]]) < far(closer[:, [0, 2]])
        gains.append(("closer", is_right.sum(axis=1).astype(float)))
    return gains


def folds_about_new_rows(answers: Constraints, seed: int) -> list[Fold]:
    """Folds whose held-out answers refer to one row at most that others refer to.

    Where a is with b and b not with c, a is not with c either, however the groups were drawn. Folds
    of rows leave more to judge than folds of answers do where every row has many.
    """
    by_answers = [
        (fit_part, about_new_rows(fit_part, held_out))
        for fit_part, held_out in answers.folds(N_FOLDS, random_state=seed)
    ]
    by_rows = [
        (fit_part, held_out) for fit_part, held_out in answers.row_folds(N_FOLDS, random_state=seed)
    ]
    n_judged = [sum(held_out.n_answers for _, held_out in way) for way in (by_answers, by_rows)]
    return by_answers if n_judged[0] >= n_judged[1] else by_rows


def about_new_rows(fit_part: Constraints, held_out: Constraints) -> Constraints:
    """Held-out answers that refer to one row at most that the answers to learn from refer to."""
    is_known = np.zeros(held_out.n_samples, dtype=bool)
    is_known[fit_part.touched_rows()] = True
    n_known = np.zeros(held_out.n_answers, dtype=int)
    for kind in ("must_link", "cannot_link", "odd_one_out", "closer"):
        n_known[held_out.positions(kind)] = is_known[getattr(held_out, kind)].sum(axis=1)
    return held_out.subset(np.flatnonzero(n_known <= 1))
