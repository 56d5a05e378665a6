"""A trained network without torch: codes and soft assignments of new rows, in numpy.

The same arithmetic as `networks` and `losses`, in the float type of the rows, so that a saved model
can be used where torch is not installed.
"""

import numpy as np

from likewise.kernels import row_blocks, sq_distances

SHARPNESS = 10.0  # of the softmax over cosines: opposite directions are e^20 apart


def encode(
    X: np.ndarray, layers, offset: np.ndarray, scale: float, *, on_sphere: bool
) -> np.ndarray:
    """Codes (n, n_code) of rows X (n, d); a layer is (weights, biases)."""
    widest = max(len(bias) for _, bias in layers)
    codes = np.empty((len(X), len(layers[-1][1])), dtype=X.dtype)
    for block in row_blocks(len(X), widest):
        rows = (X[block] - offset.astype(X.dtype)) / X.dtype.type(scale)
        for weights, bias in layers[:-1]:
            rows = np.maximum(rows @ weights.astype(X.dtype) + bias.astype(X.dtype), 0)
        weights, bias = layers[-1]
        codes[block] = rows @ weights.astype(X.dtype) + bias.astype(X.dtype)
    return to_sphere(codes) if on_sphere else codes


def to_sphere(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; one of length 0 stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def assign(codes: np.ndarray, centers: np.ndarray, *, t_power: int | None) -> np.ndarray:
    """Soft assignments (n, k): Student's t of a power, or, for None, by cosines."""
    if t_power is None:
        logits = SHARPNESS * codes @ to_sphere(centers).T
        q = np.exp(logits - logits.max(axis=1, keepdims=True))
    else:
        q = (1 + sq_distances(codes, centers)) ** -t_power
    return q / q.sum(axis=1, keepdims=True)
