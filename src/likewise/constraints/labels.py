"""Labels as people store them, and the one meaning of "unlabeled": no class, however written.

A row is unlabeled when its label is -1, NaN, None, pd.NA, NaT or an empty text. Labels are
numbers, text, booleans or anything else with an order or a hash, in a list, an array, or a pandas
or polars series, categorical or nullable.
"""

from typing import Any

import numpy as np

from likewise.files.cell_values import is_missing

UNLABELLED = -1


def class_codes(y: Any) -> np.ndarray:
    """Classes numbered from 0 in their order (n,), UNLABELLED where there is none."""
    y = as_labels(y)
    is_labelled = find_labelled(y)
    codes = np.full(len(y), UNLABELLED, dtype=np.int64)
    codes[is_labelled] = number_classes(y[is_labelled])
    return codes


def check_all_labelled(y: Any) -> np.ndarray:
    """Class codes (n,) of labels that every row has, or an error that names the first gap."""
    labels = as_labels(y)
    for i in np.flatnonzero(~find_labelled(labels))[:1]:
        label = str(labels[i]) or "''"
        raise ValueError(
            f"y[{i}] = {label} means unlabeled, and every row needs a class here. Use "
            "from_partial_labels(y), or keep only the labeled rows; if it is a class, rename it."
        )
    return class_codes(labels)


def as_labels(y: Any) -> np.ndarray:
    """One label per row (n,), unchanged: NumPy would turn ["a", None] into text."""
    cells = y.to_list() if hasattr(y, "to_list") else y  # a series, with its gaps as they are
    is_mixed = isinstance(cells, list | tuple) and len(set(map(type, cells))) > 1
    labels = np.asarray(cells, dtype=object if is_mixed else None)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; it must have one class per row.")
    return labels


def find_labelled(labels: np.ndarray) -> np.ndarray:
    """(n,) which rows have a class."""
    if labels.dtype.kind in "bu":
        return np.ones(len(labels), dtype=bool)
    if labels.dtype.kind in "if":
        return (labels == labels) & (labels != UNLABELLED)
    return np.array([not _is_unlabelled(label) for label in labels], dtype=bool)


def number_classes(labels: np.ndarray) -> np.ndarray:
    """Codes (n,) from 0: by order where labels have one, else as they first come."""
    try:
        return np.unique(labels, return_inverse=True)[1].ravel()
    except TypeError:  # text beside numbers
        code_of: dict[Any, int] = {}
        return np.array([code_of.setdefault(label, len(code_of)) for label in labels], np.int64)


def _is_unlabelled(label: Any) -> bool:
    return is_missing(label) or (not isinstance(label, str) and bool(label == UNLABELLED))
