"""A scatter matrix that can be inverted, even if it is made from few differences.

    S  ->  (1 - s) S + s tr(S) / d I

In directions without any difference S is singular, and a metric made from its inverse would depend
on exactly those directions. "auto" takes the s with the least expected squared error for Gaussian
data, large for few differences, near 0 for many.

Reference: chen2010, the oracle approximating estimator. We differ from it in counting weighted
differences by their effective number, (sum w)^2 / sum w^2.
"""

import numpy as np


def check_shrinkage(shrinkage) -> None:
    """A number in (0, 1] or "auto"; 0 could leave a matrix without an inverse."""
    if isinstance(shrinkage, str) and shrinkage == "auto":
        return
    if not isinstance(shrinkage, int | float | np.number) or not 0 < shrinkage <= 1:
        raise ValueError(
            f"shrinkage={shrinkage!r} must be 'auto' or a number in (0, 1]. "
            "For next to none, try 1e-6."
        )


def shrink(S: np.ndarray, shrinkage, n_effective: float) -> np.ndarray:
    """S (d, d) >= 0, not zero, moved towards the multiple of the identity with its trace."""
    d = len(S)
    mean_variance = np.trace(S) / d
    if shrinkage == "auto":
        shrinkage = oracle_shrinkage(S / mean_variance, n_effective)
    return (1 - shrinkage) * S + shrinkage * mean_variance * np.eye(d)


def oracle_shrinkage(S: np.ndarray, n_effective: float) -> float:
    """The share s in (0, 1] for a scatter (d, d) of trace d from so many differences."""
    d = len(S)
    sq_size = np.vdot(S, S) / d**2  # 1 / d when S is the identity, more when it is not
    spread = (n_effective + 1) * (sq_size - 1 / d)
    return float((sq_size + 1) / max(spread, sq_size + 1))
