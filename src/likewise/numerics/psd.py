"""The positive part of a symmetric matrix, whole or only its leading directions.

    K = V diag(w) V'   ->   K+ = sum of w_r v_r v_r' over w_r > 1e-10 max w

K+ is the positive semi-definite matrix nearest to K in Frobenius norm. An SVD would turn the
negative eigenvalues positive without a word, so this is always an `eigh`. What was negative is
measured, never hidden.
Reference: amid2015, algorithm 1. We differ from it in cutting by share of the trace: its Frobenius
rule, meant for an incomplete Cholesky, keeps 12 eigenvectors where the authors' code keeps 465.
"""

from typing import Literal, NamedTuple

import numpy as np

from likewise.numerics.eigen import eigh

Measure = Literal["trace", "frobenius"]
CUTOFF = (
    1e-10  # smaller eigenvalues, relative to the largest, are rounding: their inverse would explode
)


class PositivePart(NamedTuple):
    """Leading positive eigenpairs: K+ is about `(vectors * values) @ vectors.T`."""

    vectors: np.ndarray  # (n, r), orthonormal columns, the largest entry of each is positive
    values: np.ndarray  # (r,), positive, falling
    negative_share: float  # sum of |negative eigenvalues| over sum of |eigenvalues|


def positive_part(
    K: np.ndarray, *, share: float = 1.0, by: Measure = "trace", cutoff: float = CUTOFF
) -> PositivePart:
    """Eigenpairs that make up a share of the positive part of a symmetric matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric, possibly indefinite.
    share : float, default=1.0
        Keep the fewest leading eigenpairs that reach this share. Raising it keeps more.
    by : {"trace", "frobenius"}, default="trace"
        What is shared: the sum of the positive eigenvalues, or the root of their sum of squares.
    cutoff : float, default=1e-10
        Eigenvalues up to `cutoff` times the largest are dropped. Raising it drops more.

    Returns
    -------
    PositivePart
        vectors (n, r), values (r,) falling, and the share of the spectrum that was negative.
        A matrix without a positive eigenvalue has r = 0.

    Examples
    --------
    >>> import numpy as np
    >>> part = positive_part(np.diag([3.0, -1.0, 2.0]))
    >>> part.values, round(part.negative_share, 3)
    (array([3., 2.]), 0.167)
    """
    values, vectors = eigh(np.asarray(K, dtype=np.float64))
    mass = np.abs(values).sum()
    negative_share = float(-values[values < 0].sum() / mass) if mass > 0 else 0.0
    values, vectors = values[::-1], vectors[:, ::-1]
    n_positive = np.count_nonzero(values > cutoff * max(values[0], 0.0))
    n_kept = n_leading(values[:n_positive], share=share, by=by)
    return PositivePart(fix_signs(vectors[:, :n_kept]), values[:n_kept].copy(), negative_share)


def drop_negative(K: np.ndarray) -> tuple[np.ndarray, float]:
    """Nearest positive semi-definite matrix (n, n), and the share of the spectrum that was dropped.

    Examples
    --------
    >>> import numpy as np
    >>> K, dropped = drop_negative(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> np.round(K, 12), round(dropped, 12)
    (array([[0.5, 0.5], [0.5, 0.5]]), 0.5)
    """
    part = positive_part(K)
    root = part.vectors * np.sqrt(part.values)
    return root @ root.T, part.negative_share


def n_leading(values: np.ndarray, *, share: float, by: Measure = "trace") -> int:
    """How many of the falling positive values reach the share of them all."""
    if by not in ("trace", "frobenius"):
        raise ValueError(f"by={by!r} is unknown. Use 'trace' or 'frobenius'.")
    if not 0 < share <= 1:
        raise ValueError(f"share={share} is outside (0, 1]. Use 1 to keep everything positive.")
    if share == 1.0 or not len(values):
        return len(values)
    reached = np.cumsum(values) if by == "trace" else np.sqrt(np.cumsum(np.square(values)))
    return int(np.searchsorted(reached, share * reached[-1])) + 1


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Turn each column (n, r) so that its largest entry is positive; solvers give either sign."""
    if not vectors.size:
        return vectors.copy()
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def symmetric_root(M: np.ndarray) -> np.ndarray:
    """The one symmetric L >= 0 with L'L = M (d, d); it turns and mirrors nothing."""
    values, vectors = eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
