"""The space that kernel learning starts from: coordinates of a kernel, for any rows.

    k0(x, y) = z0(x)' z0(y),   z0(x) = W' k0(landmarks, x),   W W' = the inverse of K0 on landmarks

The landmarks are all rows if an n x n kernel is small, and otherwise a sample of them; the inverse
is cut at a share of the trace, since a full one would explode. Diffusion already has coordinates,
and so does the linear kernel: the features, rotated to their principal axes.

factor="cholesky" takes the coordinates of a pivoted incomplete Cholesky instead (algorithm 1 of
amid2015): each next landmark is the row that those before leave out the most of, and nothing of
size n x n is formed. It needs more directions for the same share than eigenvectors do.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import issparse

from likewise.kernels import (
    choose_landmarks,
    kernel_function,
    kernel_oracle,
    pivoted_cholesky,
    row_blocks,
)
from likewise.maps import DiffusionMap, LinearMap, NystromMap, diffusion_map
from likewise.numerics.pair_distances import mean_sq_distance
from likewise.numerics.psd import Measure, positive_part

ALL_ROWS = 2000  # up to this many rows all are landmarks
N_LANDMARKS = 1000  # and this many beyond it

StartMap = NystromMap | DiffusionMap | LinearMap


def fit_start(
    start: str | Callable,
    X,
    *,
    n_components: float = 0.99,
    by: Measure = "trace",
    factor: str = "eigen",
    n_landmarks: int | None = None,
    forced: Sequence[int] | np.ndarray = (),
    random_state=None,
    **settings: Any,
) -> StartMap:
    """Coordinates of a starting kernel, for training rows and new ones.

    Parameters
    ----------
    start : str or callable
        As for `likewise.kernels.kernel_function`; "coordinates" takes X itself.
    X : array-like or CSR of shape (n, d)
        Training rows; for "precomputed" their kernel (n, n).
    n_components : float in (0, 1] or int, default=0.99
        Share of the spectrum of the landmarks' kernel to keep, or the number of leading directions.
        Diffusion and given coordinates have no spectrum here, and keep everything unless it is an
        int. Raising it keeps more directions.
    by : {"trace", "frobenius"}, default="trace"
        What the share refers to: amid2015 states the second, its code uses the first.
    factor : {"eigen", "cholesky"}, default="eigen"
        How the directions are found: eigenvectors of the landmarks' kernel, or pivots of all rows'.
        Diffusion and given coordinates have theirs already.
    n_landmarks : int, default=None
        None takes all rows up to 2,000, and 1,000 if there are more.
    forced : sequence of int, default=()
        Rows to have among the landmarks if they are at most half of them.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.
    **settings
        Of the named kernel.
    """
    if isinstance(n_components, Integral):
        whole = fit_start(
            start,
            X,
            n_components=1.0,
            factor=factor,
            n_landmarks=n_landmarks if factor == "eigen" else int(n_components),
            forced=forced,
            random_state=random_state,
            **settings,
        )
        return keep_leading(whole, int(n_components))
    if not 0 < n_components <= 1:
        raise ValueError(
            f"n_components={n_components} is not a share. Use one in (0, 1], or a whole number of "
            "directions."
        )
    if start == "diffusion":
        return diffusion_map(X, **settings)
    if start == "coordinates":
        return LinearMap(np.eye(X.shape[1]))
    n = X.shape[0]
    if factor == "cholesky":
        return _pivots(start, X, n_components, by, n_landmarks, random_state, settings)
    if start == "linear" and X.shape[1] < n and not issparse(X):
        return _principal_axes(X, n_components, by)
    n_landmarks = (n if n <= ALL_ROWS else N_LANDMARKS) if n_landmarks is None else n_landmarks
    if n_landmarks >= n:
        chosen = np.arange(n)
    else:
        forced = forced if len(forced) <= n_landmarks / 2 else ()
        rows = np.empty((n, 1)) if start == "precomputed" else X
        chosen = choose_landmarks(rows, n_landmarks, forced=forced, random_state=random_state)
    if start == "precomputed":
        kernel = kernel_function(start, X)
        part = positive_part(np.asarray(X)[np.ix_(chosen, chosen)], share=n_components, by=by)
        whitening = np.zeros((n, len(part.values)))  # a new row brings its values with all rows
        whitening[chosen] = part.vectors / np.sqrt(part.values)
        return NystromMap(kernel, np.empty((0, n)), whitening, part.negative_share)
    landmarks = X if len(chosen) == n else X[chosen]
    kernel = kernel_function(start, landmarks, **settings)  # widths by all rows take n^2 distances
    part = positive_part(kernel(landmarks, landmarks), share=n_components, by=by)
    whitening = part.vectors / np.sqrt(part.values)
    return NystromMap(kernel, landmarks, whitening, part.negative_share)


class UnitStart(NamedTuple):
    map: StartMap
    Y: np.ndarray  # (n, r) its coordinates of the training rows, mean squared distance 1
    sq_unit: float  # the mean squared distance before


def fit_unit_start(start: str | Callable, X, **settings: Any) -> UnitStart:
    """`fit_start`, with the coordinates of X in units of their mean squared distance."""
    start_map = fit_start(start, X, **settings)
    Y = map_training_rows(start_map, X)
    sq_unit = mean_sq_distance(Y)
    return UnitStart(start_map, Y / np.sqrt(sq_unit), sq_unit)


def map_training_rows(start_map: StartMap, X) -> np.ndarray:
    """Coordinates (n, r) of the rows X of a fitted start: where all are landmarks, at no cost.

    K W = V diag(sqrt w), where the columns of W = V diag(1 / sqrt w) have squared lengths 1 / w.
    """
    if isinstance(start_map, NystromMap) and start_map.landmarks is X:
        return start_map.whitening / np.square(start_map.whitening).sum(axis=0)
    return start_map.transform(X, dtype=np.float64)


def takes_sparse(estimator) -> bool:
    """Whether rows may be CSR: all starts take them but a kernel that is given."""
    return estimator.start != "precomputed"


def keep_leading(start: StartMap, n_components: int) -> StartMap:
    """The same coordinates, so many of the leading ones."""
    if n_components < 1:
        raise ValueError(f"n_components={n_components} leaves no direction. Use 1 or more.")
    return start.times(np.eye(start.n_directions)[:, :n_components])


def _principal_axes(X: np.ndarray, share: float, by: Measure) -> LinearMap:
    """The linear kernel of all rows, through the (d, d) matrix that has the same eigenvalues."""
    X = np.asarray(X, dtype=np.float64)
    return LinearMap(positive_part(X.T @ X, share=share, by=by).vectors)


def _pivots(
    start: str | Callable, X, share: float, by: Measure, n_landmarks, random_state, settings: dict
) -> NystromMap:
    """Coordinates by pivots: z(x) = inv(T) k(pivots, x), T the pivots' own rows, triangular."""
    n = X.shape[0]
    max_rank = n_landmarks or (n if n <= ALL_ROWS else N_LANDMARKS)
    if start == "precomputed":
        kernel = kernel_function(start, X)
        diagonal, column = np.asarray(X).diagonal(), lambda i: np.asarray(X)[:, i]
        norm = float(np.linalg.norm(X)) if by == "frobenius" else None
    else:
        few = n > ALL_ROWS  # widths by all rows take n^2 distances
        sample = choose_landmarks(X, N_LANDMARKS, random_state=random_state) if few else None
        kernel = kernel_function(start, X if sample is None else X[sample], **settings)
        diagonal, column = kernel_oracle(kernel, X)
        norm = _frobenius_norm(kernel, X) if by == "frobenius" else None
    cut = pivoted_cholesky(diagonal, column, share=share, by=by, norm=norm, max_rank=max_rank)
    whitening = solve_triangular(cut.factor[cut.pivots], np.eye(len(cut.pivots)), lower=True).T
    if start != "precomputed":
        return NystromMap(kernel, X[cut.pivots], whitening, cut.negative_share)
    spread = np.zeros((n, len(cut.pivots)))  # a new row brings its values with all rows
    spread[cut.pivots] = whitening
    return NystromMap(kernel, np.empty((0, n)), spread, cut.negative_share)


def _frobenius_norm(kernel: Callable, X) -> float:
    """|K|_F, some rows at a time."""
    n = X.shape[0]
    return float(np.sqrt(sum(np.square(kernel(X[rows], X)).sum() for rows in row_blocks(n, n))))
