"""Do nearest rows share a group? A test of pairs where classes are many small patches.

    nearness(i, j) = 1 / rank of j among the rows nearest to i, of the rows that pairs refer to
    lead = mean nearness of the rows that must-links tie together, directly or by others,
           less that of the rows that they and a cannot-link tie apart
    p    = how often the lead is as large by chance: signs permuted among the pairs and what they
           tie found anew, or rows in each other's places; the larger of both

Distances, walks and eigenvectors (evidence.py) compare all rows and see no patches; ranks count the
first neighbors alone. What two hundred pairs tie are thousands of pairs of rows, and most of the
near ones are among these. Permuted signs tell how much groups of any size would lead, rows in
others' places how much rows that are near to everything would.
"""

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from likewise.constraints import Closure, Constraints, close
from likewise.kernels import sq_distances
from likewise.numerics.rows import sample_rows

MOST_ROWS = 500  # that are compared
N_DRAWS = 199
SLACK = 1e-9  # sums of equal ranks may differ in their last digits


def p_of_nearest(X: np.ndarray, answers: Constraints, seed: int = 0) -> float:
    """How often random pairs would be led as well by nearest rows; 1 without both kinds."""
    touched = answers.touched_rows()
    compared = sample_rows(len(touched), MOST_ROWS, np.empty(0, dtype=np.int64), seed)
    pairs, sign = answers.restrict(touched[compared]).signed_pairs()
    if not 0 < np.count_nonzero(sign > 0) < len(sign):
        return 1.0
    nearness = nearness_between(X[touched[compared]])
    rng = np.random.default_rng(seed)
    lead = lead_of_known(nearness, pairs, sign)
    closure = close(pairs[sign > 0], pairs[sign < 0], len(nearness))
    n_as_good = np.zeros(2)
    for _ in range(N_DRAWS):
        by_signs = lead_of_known(nearness, pairs, rng.permutation(sign))
        places = rng.permutation(len(nearness))
        by_rows = lead_of_closure(nearness[places][:, places], closure)
        n_as_good += np.array([by_signs, by_rows]) >= lead - SLACK
    return float((1 + n_as_good.max()) / (1 + N_DRAWS))


def lead_of_known(nearness: np.ndarray, pairs: np.ndarray, sign: np.ndarray) -> float:
    """Mean nearness (m, m) of rows that pairs (p, 2) tie together, less that of rows tied apart."""
    return lead_of_closure(nearness, close(pairs[sign > 0], pairs[sign < 0], len(nearness)))


def lead_of_closure(nearness: np.ndarray, closure: Closure) -> float:
    """The same of what is known."""
    n_rows, sizes = len(nearness), closure.sizes.astype(float)
    entries = (np.ones(n_rows), (np.arange(n_rows), closure.components))
    members = sparse.csr_array(entries, shape=(n_rows, closure.n_components))
    sums = members.T @ nearness @ members  # of pairs of components
    a, b = closure.apart_pairs().T
    n_together, n_apart = (sizes * (sizes - 1)).sum(), 2 * (sizes[a] * sizes[b]).sum()
    together, apart = np.trace(sums), sums[a, b].sum() + sums[b, a].sum()
    return float(together / max(n_together, 1) - apart / max(n_apart, 1))


def nearness_between(X: np.ndarray) -> np.ndarray:
    """(m, m) 1 for the nearest other row, 1/2 for the next, 1/3 and so on."""
    sq_dists = sq_distances(X, X)
    np.fill_diagonal(sq_dists, np.inf)
    nearness = 1 / rankdata(sq_dists, axis=1)
    np.fill_diagonal(nearness, 0)
    return nearness
