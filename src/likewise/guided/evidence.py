"""Do the answers follow the data at all? A test with a known error, before anything is learned.

    null: the answers were given to permuted rows; then must-links are no nearer than cannot-links,
          the odd one out is any of three, and "b is closer" is a toss-up

    by distances of the features          at .3 of the level
    by walks over their neighbor graph    at .3
    by held-out answers in a learned      at .4, with 60 answers or more, where both others fail
    space, five folds

Pairs are compared by a rank sum, triples by their number right; each of the kinds that were given
takes its part of the level. The first two need no fit, so all answers count and the test is exact
but for answers that share rows; permuted answers pass in 3 to 5 % of fits (decision 24). Best of
many candidates by a standard error, as before, is no test: it let 61 % of them pass.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, mannwhitneyu, norm

from likewise.cluster import solve_walks
from likewise.constraints import Constraints, Split
from likewise.kernels import normalized_adjacency, self_tuning_graph
from likewise.numerics.pair_distances import pair_sq_distances

LEVEL = 0.05
PARTS = {"distances": 0.3, "walks": 0.3, "learned": 0.4}
N_FOLDS = 5  # three leave too little to learn from where only a learned space agrees
LEAST_HELD_OUT = 60  # answers, for the learned space
ALPHA = 0.98  # a step over the graph, as in GraphPropagation
TOL = 1e-6

Far = Callable[[np.ndarray], np.ndarray]  # how far apart (m,) the rows of pairs (m, 2) are


class Evidence(NamedTuple):
    """Whether answers follow the data."""

    follows: bool
    p_value: float  # corrected for the families that were tried


def weigh_evidence(
    X: np.ndarray,
    answers: Constraints,
    learn: Callable[[Constraints], np.ndarray],
    seed: int = 0,
) -> Evidence:
    """Test the answers, family after family, until one passes.

    `learn(fit_part)` gives all rows in the space learned from a part of the answers.
    """
    answers = answers.subset(answers.weights > 0)
    p_value = p_of(answers, lambda pairs: pair_sq_distances(X, pairs)) / PARTS["distances"]
    if p_value > LEVEL:
        p_value = min(p_value, p_of(answers, walks_over(X, answers)) / PARTS["walks"])
    if p_value > LEVEL and answers.n_answers >= LEAST_HELD_OUT:
        folds = list(answers.folds(N_FOLDS, random_state=seed))
        p_value = min(p_value, p_of_held_out(folds, learn) / PARTS["learned"])
    return Evidence(bool(p_value <= LEVEL), float(min(p_value, 1.0)))


def p_of(answers: Constraints, far: Far) -> float:
    """How often permuted answers would agree as well with how far apart rows are; 1 without any."""
    p_values = []
    musts, cannots = far(answers.must_link), far(answers.cannot_link)
    if len(musts) and len(cannots):
        p_values.append(mannwhitneyu(musts, cannots, alternative="less").pvalue)
    for n_right, n, chance in triples_right(answers, far):
        p_values.append(binomtest(n_right, n, chance, alternative="greater").pvalue)
    return float(min(p_values) * len(p_values)) if p_values else 1.0


def triples_right(answers: Constraints, far: Far) -> list[tuple[int, int, float]]:
    """Of each kind of triple that was given: how many are right, how many there are, by chance."""
    counts = []
    odd, closer = answers.odd_one_out, answers.closer
    if len(odd):
        named, others = far(odd[:, [0, 1]]), np.minimum(far(odd[:, [0, 2]]), far(odd[:, [1, 2]]))
        counts.append((int(np.count_nonzero(named < others)), len(odd), 1 / 3))
    if len(closer):
        is_closer = far(closer[:, [0, 1]]) < far(closer[:, [0, 2]])
        counts.append((int(np.count_nonzero(is_closer)), len(closer), 1 / 2))
    return counts


def walks_over(X: np.ndarray, answers: Constraints) -> Far:
    """How few walks over the neighbor graph join two rows that answers refer to."""
    rows = answers.touched_rows()
    ends = np.zeros((len(X), len(rows)))
    ends[rows, np.arange(len(rows))] = 1
    S, _ = normalized_adjacency(self_tuning_graph(X))
    walks = solve_walks(S, ends, alpha=ALPHA, tol=TOL).X[rows]

    def far(pairs: np.ndarray) -> np.ndarray:
        at = np.searchsorted(rows, pairs)
        return -walks[at[:, 0], at[:, 1]]

    return far


def p_of_held_out(splits: list[Split], learn: Callable[[Constraints], np.ndarray]) -> float:
    """The same of held-out answers in learned spaces, pooled over the folds.

    Folds share answers, so this is no exact test: of 300 fits to permuted pairs .013 were below
    .01.
    """
    gain, variance = 0.0, 0.0
    for fit_part, held_out in splits:
        Z = learn(fit_part)

        def far(pairs, Z=Z):
            return pair_sq_distances(Z, pairs)

        musts, cannots = far(held_out.must_link), far(held_out.cannot_link)
        gain += float(np.sign(cannots - musts[:, None]).sum()) / 2
        variance += len(musts) * len(cannots) * (len(musts) + len(cannots) + 1) / 12
        for n_right, n, chance in triples_right(held_out, far):
            gain += n_right - n * chance
            variance += n * chance * (1 - chance)
    return float(norm.sf(gain / np.sqrt(variance))) if variance else 1.0
