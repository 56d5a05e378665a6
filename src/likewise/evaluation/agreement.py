"""Scores against known classes: pairwise F1, ARI on free rows, separation, k-means error.

    pair F1     2 TP / (2 TP + FP + FN)   over pairs of rows; positive: in one cluster
    J           mean |z_i - z_j| over classes apart / mean |z_i - z_j| inside a class,  i != j
    error       sum_i |z_i - mean of its cluster|^2

J takes distances as they are, not squared, and streams them in blocks: 8,000 rows have 32 million
pairs. Reference: rao2013 for F1, yeung2007 for J.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from likewise.constraints import check_constraints
from likewise.kernels import sq_distance_blocks
from likewise.numerics.partitions import cluster_means


def pair_f1_score(y_true, labels) -> float:
    """F1 score over pairs of rows: precision and recall of putting two rows in one cluster.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The class of each row.
    labels : array-like of shape (n_samples,)
        The cluster of each row; names do not matter.

    Returns
    -------
    float
        Between 0 and 1; 1 when both agree on every pair, also when neither joins any two rows.

    References
    ----------
    rao2013

    Examples
    --------
    >>> from likewise.evaluation import pair_f1_score
    >>> pair_f1_score([0, 0, 1, 1], [0, 0, 0, 1])  # 3 pairs joined, 1 rightly, of 2
    0.4
    """
    (_, n_wrong), (n_missed, n_right) = pair_confusion_matrix(y_true, labels)
    n_joined = 2 * int(n_right) + int(n_wrong) + int(n_missed)
    return 2 * int(n_right) / n_joined if n_joined else 1.0


def free_row_score(y_true, labels, constraints) -> float:
    """Adjusted Rand index on the rows that no answer refers to: what the answers taught.

    Parameters
    ----------
    y_true, labels : array-like of shape (n_samples,)
        The class and the cluster of each row.
    constraints : Constraints
        The answers that were used.

    Returns
    -------
    float
        At most 1; nan when fewer than two rows are free.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import free_row_score
    >>> answers = Constraints(6, must_link=[(0, 1)])
    >>> free_row_score([0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 1, 1], answers)
    1.0
    """
    y_true, labels = column_or_1d(y_true), column_or_1d(labels)
    check_consistent_length(y_true, labels)
    constraints = check_constraints(constraints, n_samples=len(y_true))
    free = np.ones(len(y_true), dtype=bool)
    free[constraints.touched_rows()] = False
    if np.count_nonzero(free) < 2:
        return float("nan")
    return float(adjusted_rand_score(y_true[free], labels[free]))


def separation_score(Z, y) -> float:
    """How far apart classes are, relative to how wide they are: the J of yeung2007.

    Parameters
    ----------
    Z : array-like or CSR of shape (n_samples, n_features)
        Rows in the space that is judged: ``transform(X)`` for a learned one.
    y : array-like of shape (n_samples,)
        The class of each row.

    Returns
    -------
    float
        Mean distance of two rows of different classes over that of two rows of one class. About 1
        when the space says nothing about the classes; nan when there is no pair of either sort.

    References
    ----------
    yeung2007

    Examples
    --------
    >>> from likewise.evaluation import separation_score
    >>> separation_score([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])  # (4 + 5 + 3 + 4) / 4 over 1
    4.0
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    y = column_or_1d(y)
    check_consistent_length(Z, y)
    codes, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
    order = np.argsort(codes, kind="stable")
    within, between = _distance_sums(Z[order], codes[order], np.cumsum(sizes) - sizes)
    n_within = np.sum(sizes * (sizes - 1))
    n_between = len(y) ** 2 - np.sum(sizes**2)
    if not n_within or not n_between:
        return float("nan")
    with np.errstate(divide="ignore", invalid="ignore"):  # classes that are points each: inf
        return float(np.divide(between / n_between, within / n_within))


def _distance_sums(Z, codes, starts) -> tuple[float, float]:
    """Sums over ordered pairs inside a class and across; Z sorted by class, classes from starts."""
    within = between = 0.0
    for rows, sq_dists in sq_distance_blocks(Z, Z):
        to_classes = np.add.reduceat(np.sqrt(sq_dists, out=sq_dists), starts, axis=1)  # (b, k)
        own = to_classes[np.arange(len(to_classes)), codes[rows]].sum()
        within += own
        between += to_classes.sum() - own
    return within, between


def kmeans_error(Z, labels, *, metric=None) -> float:
    """Sum of squared distances to the mean of each cluster: lower is tighter.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : array-like of shape (n_features, n_features), default=None
        M of the squared distance v'Mv, positive semi-definite; None is Euclid. The scale of M is
        the scale of the error: compare errors under one metric only.

    Returns
    -------
    float

    Examples
    --------
    >>> from likewise.evaluation import kmeans_error
    >>> Z = [[0.0, 0.0], [2.0, 0.0], [5.0, 5.0]]
    >>> kmeans_error(Z, [0, 0, 1]), kmeans_error(Z, [0, 0, 1], metric=[[3.0, 0.0], [0.0, 1.0]])
    (2.0, 6.0)
    """
    Z = check_array(Z, dtype=np.float64)
    labels = column_or_1d(labels)
    check_consistent_length(Z, labels)
    names, codes = np.unique(labels, return_inverse=True)
    spread = Z - cluster_means(Z, codes, len(names))[codes]
    if metric is None:
        return float(np.sum(spread**2))
    M = check_array(metric, dtype=np.float64, input_name="metric")
    if M.shape != (Z.shape[1], Z.shape[1]):
        raise ValueError(f"metric has shape {M.shape}, but Z has {Z.shape[1]} features.")
    return float(np.sum((spread @ M) * spread))
