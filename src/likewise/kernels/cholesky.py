"""Pivoted incomplete Cholesky: a thin factor of a large kernel from a few of its columns.

    K ~ G G',  G (n, r);   K - G G' is PSD, and zero in the rows and columns of the r pivots

Greedy: the next pivot is the row with the largest remaining diagonal. Only the diagonal and the
pivots' columns are ever asked for: O(n r) memory, O(n r^2) time. For new rows, g(x) = inv(T)
k(pivots, x) with T = G[pivots] lower triangular: on a training row it returns that row of G.
Reference: fine2001. The rule "frobenius" of amid2015 needs the norm of a K that nobody formed.
Unless it is given, the bound |K|_F <= |G G'|_F + tr(K - G G') takes its place: the share is then
reached for certain, but late.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from likewise.numerics.psd import Measure

EXHAUSTED = 1e-12  # a remaining diagonal below this share of the largest is rounding


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """The factor of `pivoted_cholesky`, and how to extend it to new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.kernels import kernel_oracle, linear, pivoted_cholesky
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> found = pivoted_cholesky(*kernel_oracle(linear, X))
    >>> rows = found.extend(linear(X, X[found.pivots]))
    >>> np.allclose(rows, found.factor)
    True
    """

    factor: np.ndarray  # G (n, r)
    pivots: np.ndarray  # (r,) rows, in the order chosen
    residual_share: float  # tr(K - G G') / tr K
    negative_share: (
        float  # what fell below zero on the remaining diagonal, over tr K; 0 when K is PSD
    )

    def extend(self, K_new: np.ndarray) -> np.ndarray:
        """Rows of G (m, r) for new rows, from their kernel values with the pivots (m, r)."""
        return solve_triangular(self.factor[self.pivots], np.asarray(K_new).T, lower=True).T


def pivoted_cholesky(
    diagonal: np.ndarray,
    column: Callable[[int], np.ndarray],
    *,
    share: float = 0.99,
    by: Measure = "trace",
    norm: float | None = None,
    max_rank: int | None = None,
) -> PivotedCholesky:
    """Factor a positive semi-definite kernel known by its diagonal and its columns.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        K[i, i], not negative.
    column : callable
        `column(i)` is K[:, i], of shape (n,). Called once for each pivot.
    share : float, default=0.99
        Stop once G G' holds this share of K. Raising it adds columns; 1 goes on to the numerical
        rank.
    by : {"trace", "frobenius"}, default="trace"
        What is shared: the trace, or the Frobenius norm (which few, large directions reach early).
    norm : float, default=None
        Frobenius norm of K for `by="frobenius"`. None takes an upper bound and more columns.
    max_rank : int, default=None
        At most so many columns. None is n.

    Returns
    -------
    PivotedCholesky
        factor G (n, r), pivots (r,), residual_share, negative_share, and `extend`.

    References
    ----------
    fine2001

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found = pivoted_cholesky(K.diagonal(), lambda i: K[:, i], share=1.0)
    >>> found.pivots
    array([0, 2])
    >>> found.factor @ found.factor.T
    array([[4., 2., 0.], [2., 1., 0.], [0., 0., 1.]])
    """
    if not 0 < share <= 1:
        raise ValueError(f"share={share} is outside (0, 1]. Use 1 to go on to the numerical rank.")
    if by not in ("trace", "frobenius"):
        raise ValueError(f"by={by!r} is unknown. Use 'trace' or 'frobenius'.")
    left = np.array(diagonal, dtype=np.float64)
    if left.min(initial=0.0) < 0:
        raise ValueError(f"diagonal[{left.argmin()}] = {left.min()} is negative: K is not PSD.")
    max_rank = len(left) if max_rank is None else max_rank
    n, trace, floor = len(left), left.sum(), EXHAUSTED * left.max(initial=0.0)
    columns = np.empty((min(n, 16), n))  # G', so that its rows are contiguous; doubled as needed
    pivots: list[int] = []
    sq_norm, negative = 0.0, 0.0  # |G G'|_F^2, and what the diagonal lost below zero

    def holds() -> bool:
        if by == "trace":
            return left.sum() <= (1 - share) * trace
        return np.sqrt(sq_norm) >= share * (norm or np.sqrt(sq_norm) + left.sum())

    while len(pivots) < min(n, max_rank) and not holds():
        r, pivot = len(pivots), int(left.argmax())
        if left[pivot] <= floor:
            break
        if r == len(columns):
            columns = np.concatenate([columns, np.empty((min(r, n - r), n))])
        found = columns[:r]
        root = np.sqrt(left[pivot])
        g = (np.asarray(column(pivot), dtype=np.float64) - found[:, pivot] @ found) / root
        g[pivots] = 0.0  # exactly, so that G[pivots] is triangular
        g[pivot] = root
        columns[r] = g
        sq_norm += (g @ g) ** 2 + 2 * np.square(found @ g).sum()
        left -= g * g
        negative -= left[left < -floor].sum()
        np.maximum(left, 0.0, out=left)  # an indefinite K goes below: those rows are never pivots
        left[pivot] = 0.0
        pivots.append(pivot)

    return PivotedCholesky(
        factor=np.ascontiguousarray(columns[: len(pivots)].T),
        pivots=np.array(pivots, dtype=np.int64),
        residual_share=float(left.sum() / trace) if trace > 0 else 0.0,
        negative_share=float(negative / trace) if trace > 0 else 0.0,
    )
