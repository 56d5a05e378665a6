"""Must-links and cannot-links as rows of a linear program: who is in which, and the relaxation.

    cannot-link (i, j):  x_i^c + x_j^c <= 1 + eps        multiplier eta^c <= 0
    must-link (i, j):    |x_i^c - x_j^c| <= eps          multiplier nu^c = lambda^c - gamma^c

for every center c. lambda and gamma <= 0 belong to the two sides of the absolute value; at an
optimum at most one of them is not 0, so nu gives both, and |nu| = -(lambda + gamma). What a pair
costs is the sum of its multipliers over the centers, without the sign.
Reference: randel2021, (5')-(6'') and (8).
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise.constraints import Constraints


class PricedPairs(NamedTuple):
    """Pairs among a few points, renumbered 0 .. p - 1."""

    points: np.ndarray  # (p,) the rows that pairs refer to
    ends: np.ndarray  # (m, 2) positions in `points`
    must: np.ndarray  # (m,) whether a must-link, else a cannot-link
    answers: np.ndarray  # (m,) positions of the answers

    @property
    def incidence(self) -> sparse.csr_array:
        """(m, p): +1 at both ends of a cannot-link, +1 and -1 at those of a must-link."""
        m = len(self.ends)
        values = np.stack([np.ones(m), np.where(self.must, -1.0, 1.0)], axis=1)
        rows = np.repeat(np.arange(m), 2)
        shape = (m, len(self.points))
        return sparse.csr_array((values.ravel(), (rows, self.ends.ravel())), shape=shape)

    def take(self, kept: np.ndarray) -> "PricedPairs":
        """Some of the pairs, with the points they need."""
        points, ends = np.unique(self.points[self.ends[kept]], return_inverse=True)
        return PricedPairs(points, ends.reshape(-1, 2), self.must[kept], self.answers[kept])

    def violated(self, labels: np.ndarray) -> np.ndarray:
        """(m,) which pairs the labels (n,) of all rows violate."""
        i, j = labels[self.points[self.ends]].T
        return (i == j) != self.must


def pairs_of(constraints: Constraints) -> PricedPairs:
    """The pairs of weight > 0."""
    pairs, sign = constraints.signed_pairs()
    answers = constraints.positions("must_link", "cannot_link")
    counts = constraints.weights[answers] > 0
    points, ends = np.unique(pairs[counts], return_inverse=True)
    return PricedPairs(points, ends.reshape(-1, 2), sign[counts] > 0, answers[counts])
