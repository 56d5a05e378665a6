"""Which answers a learned space violates: what learners have as ``violated_``."""

import numpy as np

from likewise.constraints import Constraints
from likewise.evaluation.satisfaction import violated_answers
from likewise.maps import Map
from likewise.numerics.pair_distances import pair_sq_distances

NEAR_ENOUGH = 1e-3  # of a bound: a pair that misses it by less counts as satisfied


def violated_by_bounds(
    learned: Map, X, constraints: Constraints, sq_bounds: tuple[float, float]
) -> np.ndarray:
    """Positions of the pairs beyond their squared bounds (near, far) in the learned space."""
    Z, touched = learned_rows(learned, X, constraints)
    pairs, sign = touched.signed_pairs()
    sq_targets = np.where(sign > 0, *sq_bounds)
    is_beyond = sign * (pair_sq_distances(Z, pairs) - sq_targets) > NEAR_ENOUGH * sq_targets
    return constraints.positions("must_link", "cannot_link")[is_beyond]


def violated_on_average(
    learned: Map, X, constraints: Constraints, sq_mean: float, kinds: tuple[str, ...]
) -> np.ndarray:
    """Positions of the answers of these kinds that the learned space contradicts.

    A must-link is farther apart than rows are on average (`sq_mean`, a squared distance), a
    cannot-link closer; a triple is in the wrong order.
    """
    Z, touched = learned_rows(learned, X, constraints)
    pairs, sign = touched.signed_pairs()
    is_violated = np.zeros(constraints.n_answers, dtype=bool)
    is_violated[violated_answers(Z, touched)] = True
    is_violated[constraints.positions("must_link", "cannot_link")] = (
        sign * (pair_sq_distances(Z, pairs) - sq_mean) > 0
    )
    positions = constraints.positions(*kinds)
    return positions[is_violated[positions]]


def learned_rows(learned: Map, X, constraints: Constraints) -> tuple[np.ndarray, Constraints]:
    """The rows that answers refer to in the learned space, and the answers about these alone."""
    rows = constraints.touched_rows()
    if not len(rows):
        return np.empty((0, learned.n_directions)), constraints.restrict(rows)
    return learned.transform(X[rows], dtype=np.float64), constraints.restrict(rows)
