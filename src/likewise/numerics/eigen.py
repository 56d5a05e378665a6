"""Eigenpairs of a symmetric matrix, whatever its spectrum.

LAPACK's quickest driver gives up ("Internal Error") now and then when many eigenvalues are nearly
equal, as those of graphs and of standardized features are; the slower one it is then left to
always ends.
"""

import numpy as np
from numpy.linalg import LinAlgError
from scipy import linalg

from likewise.numerics.threads import one_thread_if_small


@one_thread_if_small(lambda A, **_: A.size)
def eigh(
    A: np.ndarray, *, n_largest: int | None = None, above: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and vectors: all, the `n_largest`, or those `above` a value.

    Examples
    --------
    >>> import numpy as np
    >>> eigh(np.diag([3.0, -1.0, 2.0]), n_largest=2)[0]
    array([2., 3.])
    >>> eigh(np.diag([3.0, -1.0, 2.0]), above=0.0)[0]
    array([2., 3.])
    """
    n = len(A)
    first = 0 if n_largest is None else max(0, n - n_largest)
    span: dict = {"subset_by_index": [first, n - 1]} if first else {}
    if above is not None:
        span["subset_by_value"] = (above, np.inf)
    try:
        return linalg.eigh(A, **span)
    except LinAlgError:
        values, vectors = linalg.eigh(A, driver="evd")
    kept = np.arange(n) >= first
    if above is not None:
        kept &= values > above
    return values[kept], vectors[:, kept]
