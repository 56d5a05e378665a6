"""How informative a set of constraints is, and whether its pairs agree with each other.

    informativeness = share of the pairs that an unsupervised partition violates
    coherence       = share of (must-link, cannot-link) pairs whose segments, each projected onto
                      the line of the other, do not overlap
Reference: davidson2006. Overlap counts in either direction, so coherence is symmetric.
"""

import numpy as np

ROWS_AT_A_TIME = 256  # must-links handled together: bounds memory at 256 x n_cannot_link


def informativeness(constraints, labels) -> float:
    """Share of the pairs that a partition violates: what it does not know already.

    Triples say nothing about clusters by themselves and do not count.

    Parameters
    ----------
    constraints : Constraints
    labels : array-like of shape (n_samples,)
        A clustering made without the constraints.

    Returns
    -------
    float
        Between 0 and 1; nan without pairs.

    References
    ----------
    davidson2006

    Examples
    --------
    >>> from likewise.constraints import Constraints, informativeness
    >>> c = Constraints(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3), (2, 3)])
    >>> informativeness(c, [0, 0, 1, 1])
    0.5
    """
    labels = np.asarray(labels)
    pairs, sign = constraints.signed_pairs()
    together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return float(np.mean(together != (sign > 0))) if len(pairs) else float("nan")


def coherence(constraints, Z) -> float:
    """Share of must-link and cannot-link pairs that do not pull against each other.

    Parameters
    ----------
    constraints : Constraints
    Z : array-like of shape (n_samples, n_features)
        Rows in the space whose metric is meant: ``transform(X)`` for a learned one.

    Returns
    -------
    float
        Between 0 and 1, higher is better; nan without a must-link and a cannot-link.

    References
    ----------
    davidson2006

    Examples
    --------
    >>> from likewise.constraints import Constraints, coherence
    >>> c = Constraints(4, must_link=[(0, 1)], cannot_link=[(2, 3)])
    >>> coherence(c, [[0, 0], [1, 0], [0, 0], [0, 1]])  # at right angles
    1.0
    >>> coherence(c, [[0, 0], [2, 0], [1, 0], [3, 0]])  # on one line, overlapping
    0.0
    """
    Z = np.asarray(Z, dtype=np.float64)
    must, cannot = Z[constraints.must_link], Z[constraints.cannot_link]  # (m, 2, d)
    if not len(must) or not len(cannot):
        return float("nan")
    n_clear = 0
    for start in range(0, len(must), ROWS_AT_A_TIME):
        block = must[start : start + ROWS_AT_A_TIME]
        pull = overlap(block, cannot) + overlap(cannot, block).T
        n_clear += int(np.count_nonzero(pull == 0))
    return n_clear / (len(must) * len(cannot))


def overlap(segments: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Overlap of each segment, projected onto each line, with the line's own segment.

    (m, 2, d) and (q, 2, d) give (m, q), in units of the line's segment, 0 where they only touch.
    """
    direction = lines[:, 1] - lines[:, 0]  # (q, d)
    sq_length = np.einsum("qd,qd->q", direction, direction)
    unit = direction / np.where(sq_length > 0, sq_length, np.inf)[:, None]  # no length, no overlap
    offset = np.einsum("qd,qd->q", lines[:, 0], unit)
    along = np.einsum("med,qd->meq", segments, unit) - offset  # the line's segment is [0, 1]
    reach = np.minimum(along.max(axis=1), 1) - np.maximum(along.min(axis=1), 0)
    touching = 1e-12  # rounding error of the projections, in units of the segment
    return np.where((reach > touching) & (sq_length > 0), reach, 0.0)
