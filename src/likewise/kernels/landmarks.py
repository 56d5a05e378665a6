"""Landmarks: the few rows that stand for all.

Uniform draws follow the density of the data. k-means++ draws each next landmark with probability
proportional to its squared distance from those chosen, so small far groups get one too. Rows that
answers talk about can be forced in.
Reference: yeung2007 (every row in a must-link, plus random ones); arthur2007 for
k-means++.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from likewise.kernels.distances import as_rows


def choose_landmarks(
    X,
    n_landmarks: int,
    *,
    method: Literal["uniform", "k-means++"] = "uniform",
    forced: Sequence[int] | np.ndarray = (),
    random_state=None,
) -> np.ndarray:
    """Choose distinct rows as landmarks.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    n_landmarks : int
        How many in all, clipped to n. Raising it costs memory in n and time in its cube.
    method : {"uniform", "k-means++"}, default="uniform"
        How the rows beyond the forced ones are drawn.
    forced : sequence of int, default=()
        Rows that are landmarks in any case, even when they alone are more than `n_landmarks`.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (m,)
        Row numbers: the forced ones first, in the order given and without repeats, then those
        drawn.

    References
    ----------
    yeung2007, arthur2007

    Examples
    --------
    >>> import numpy as np
    >>> choose_landmarks(np.zeros((100, 2)), 4, forced=[7, 3, 7], random_state=0)
    array([ 7,  3, 28, 87])
    """
    X = as_rows(X)
    n = X.shape[0]
    forced = np.asarray(forced, dtype=np.int64).ravel()
    outside = np.flatnonzero((forced < 0) | (forced >= n))
    if len(outside):
        i = outside[0]
        raise ValueError(f"forced[{i}] = {forced[i]} points outside X, which has {n} rows.")
    if n_landmarks < 1:
        raise ValueError(f"n_landmarks={n_landmarks} leaves no landmark. Use 1 or more.")
    if method not in ("uniform", "k-means++"):
        raise ValueError(f"method={method!r} is unknown. Use 'uniform' or 'k-means++'.")
    forced = forced[np.sort(np.unique(forced, return_index=True)[1])]
    n_drawn = max(0, min(n_landmarks, n) - len(forced))
    rng = check_random_state(random_state)
    if method == "uniform":
        others = np.setdiff1d(np.arange(n), forced)
        return np.concatenate([forced, rng.choice(others, n_drawn, replace=False)])
    return _spread_out(X, forced, n_drawn, rng)


def _spread_out(X, forced, n_drawn, rng) -> np.ndarray:
    """Draw each next row in proportion to its squared distance from the rows already chosen."""
    if not issparse(X):
        X = X - X.mean(axis=0)  # the distances below cancel less
    sq_norms = row_norms(X, squared=True)
    chosen = list(forced)
    is_free = np.ones(X.shape[0])
    nearest = np.full(X.shape[0], np.inf)

    def count_in(i):
        row = X[[i]].toarray()[0] if issparse(X) else X[i]
        np.minimum(nearest, np.maximum(sq_norms - 2 * (X @ row) + sq_norms[i], 0.0), out=nearest)
        is_free[i] = 0.0

    for i in chosen:
        count_in(i)
    for _ in range(n_drawn):
        weights = is_free * nearest if chosen else is_free
        if not weights.any():  # all that is left lies on top of a landmark
            weights = is_free
        chosen.append(rng.choice(len(weights), p=weights / weights.sum()))
        count_in(chosen[-1])
    return np.array(chosen, dtype=np.int64)
