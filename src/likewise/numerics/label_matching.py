"""Clusters of one labeling named after those of another that they share most rows with."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def match_labels(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """`labels` (n,) with the names that make them agree with `others` on the most rows.

    Clusters are never merged; those that are left over, because there are more of them, get the
    next free names. ``others`` may be shorter: then they are about the first rows. -1 in either
    means no cluster and stays.
    """
    labels, others = np.asarray(labels), np.asarray(others)[: len(labels)]
    codes = np.unique(np.concatenate([labels, others]))
    codes = codes[codes != -1]
    if not len(codes):
        return labels.copy()
    i, j = np.searchsorted(codes, labels), np.searchsorted(codes, others)
    shared = np.zeros((len(codes), len(codes)), dtype=int)
    both = (labels[: len(others)] != -1) & (others != -1)
    np.add.at(shared, (i[: len(others)][both], j[both]), 1)
    _, new = linear_sum_assignment(-shared)
    return np.where(labels == -1, -1, codes[new][np.minimum(i, len(codes) - 1)])
