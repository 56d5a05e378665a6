"""Scores of many rows, a block at a time.

    J       all rows against a sample of them: distances, n x n_rows, a block at a time
    error   sum_i |z_i - mean of its cluster|^2, from sums of blocks
    answers the rows that they refer to are gathered; the others do not matter

Scores of labels alone (ARI, pair F1) take two arrays of integers: those of scikit-learn and
`likewise.evaluation` work for any number of rows.
Reference: yeung2007 for J.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from likewise.constraints import check_constraints
from likewise.evaluation import Satisfaction
from likewise.evaluation import satisfaction_report as report_in_memory
from likewise.kernels import sq_distance_blocks
from likewise.scale.blocks import Blocks, as_blocks, read

N_REFERENCE = 2000  # rows that all are compared with: J to about half a percent


def separation_score(
    Z, y, *, n_rows: int = N_REFERENCE, client=None, n_jobs=None, random_state=None
) -> float:
    """How far apart classes are, relative to their width, over rows in blocks.

    Parameters
    ----------
    Z : array-like, CSR, path, Dask array or Blocks
        Rows in the space that is judged; `mapped` gives those of a learned space.
    y : array-like of shape (n,)
        The class of each row.
    n_rows : int, default=2000
        Rows, drawn uniformly, that all rows are compared with. Raising it makes the score more
        exact; with all rows it is `likewise.separation_score`.
    client : distributed.Client, default=None
    n_jobs : int, default=None
        Threads.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    float
        Mean distance between rows of different classes, divided by that between rows of one class.

    Examples
    --------
    >>> from likewise import scale
    >>> scale.separation_score([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    4.0
    """
    blocks = as_blocks(Z, client=client)
    codes = np.unique(column_or_1d(y), return_inverse=True)[1]
    check_consistent_length(codes, range(blocks.shape[0]))
    rng = check_random_state(random_state)
    n = blocks.shape[0]
    chosen = np.sort(rng.choice(n, min(n_rows, n), replace=False))
    reference = blocks.take(chosen, n_jobs=n_jobs)
    numbered = _with_codes(blocks, codes)
    found = list(
        numbered.run(
            distance_sums, reference, codes[chosen], what="measuring distances", n_jobs=n_jobs
        )
    )
    within, n_within, between, n_between = np.sum(found, axis=0)
    n_within -= len(chosen)  # each of them has met itself, at distance 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.divide(between / n_between, within / n_within))


def distance_sums(rows_and_codes, reference, classes: np.ndarray) -> np.ndarray:
    """Sum and number of distances within and across classes, from one block to the sample."""
    rows, codes = rows_and_codes
    sums = np.zeros(4)
    for few, sq_dists in sq_distance_blocks(rows, reference):
        dists = np.sqrt(sq_dists, out=sq_dists)
        is_same = codes[few, None] == classes
        n_same, inside = np.count_nonzero(is_same), dists[is_same].sum()
        sums += inside, n_same, dists.sum() - inside, is_same.size - n_same
    return sums


def kmeans_error(Z, labels, *, client=None, n_jobs=None) -> float:
    """Sum of squared distances to the mean of each cluster, over rows in blocks.

    Parameters
    ----------
    Z : array-like, path, Dask array or Blocks
    labels : array-like of shape (n,)
        The cluster of each row.
    client : distributed.Client, default=None
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    float
        As `likewise.evaluation.kmeans_error`, in two passes.

    Examples
    --------
    >>> from likewise import scale
    >>> scale.kmeans_error([[0.0, 0.0], [2.0, 0.0], [5.0, 5.0]], [0, 0, 1])
    2.0
    """
    blocks = as_blocks(Z, client=client)
    names, codes = np.unique(column_or_1d(labels), return_inverse=True)
    check_consistent_length(codes, range(blocks.shape[0]))
    numbered = _with_codes(blocks, codes)
    found = numbered.run(sums_of_labels, len(names), what="adding clusters", n_jobs=n_jobs)
    sums = sum(found, start=np.zeros((len(names), blocks.n_features + 1)))
    means = sums[:, 1:] / sums[:, :1]
    return float(sum(numbered.run(error_of_labels, means, what="adding errors", n_jobs=n_jobs)))


def sums_of_labels(rows_and_codes, n_clusters: int) -> np.ndarray:
    """Size and sum of the rows of each cluster in one block, (k, 1 + d)."""
    rows, codes = rows_and_codes
    sums = np.zeros((n_clusters, 1 + rows.shape[1]))
    np.add.at(sums[:, 1:], codes, rows)
    sums[:, 0] = np.bincount(codes, minlength=n_clusters)
    return sums


def error_of_labels(rows_and_codes, means: np.ndarray) -> float:
    rows, codes = rows_and_codes
    return float(np.square(rows - means[codes]).sum())


def satisfaction_report(Z, constraints, labels, *, client=None, n_jobs=None) -> Satisfaction:
    """Shares of the answers that clusters and space satisfy, from the rows they refer to.

    Parameters
    ----------
    Z : array-like, CSR, path, Dask array or Blocks
        Rows in the space that triples are judged by.
    constraints : Constraints
        The answers.
    labels : array-like of shape (n,)
        The cluster of each row.
    client : distributed.Client, default=None
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    Satisfaction
        As `likewise.satisfaction_report`.

    Examples
    --------
    >>> from likewise import Constraints, scale
    >>> answers = Constraints(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> scale.satisfaction_report([[0.0], [1.0], [9.0]], answers, [0, 0, 0]).share
    0.5
    """
    blocks = as_blocks(Z, client=client)
    answers = check_constraints(constraints, n_samples=blocks.shape[0])
    touched = answers.touched_rows()
    rows = blocks.take(touched, n_jobs=n_jobs)
    return report_in_memory(rows, answers.restrict(touched), column_or_1d(labels)[touched])


def _with_codes(blocks: Blocks, codes: np.ndarray) -> Blocks:
    """The same blocks, each with the codes of its own rows."""
    parts = [
        (part, codes[start:stop])
        for part, start, stop in zip(blocks.parts, blocks.bounds[:-1], blocks.bounds[1:])
    ]
    return replace(
        blocks, parts=parts, load=partial(_load_with_codes, blocks.load, blocks.maps), maps=()
    )


def _load_with_codes(load, maps, part_and_codes):
    part, codes = part_and_codes
    return read(load, maps, part), codes
