"""How GuidedClustering prepares rows: standardized or not, and in how many directions."""

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler

from likewise.maps import LinearMap

N_DIRECTIONS = 100  # of sparse features
FEW_FEATURES = 10  # standardize when fewer features than this hold most of the variance,
SMALL_SHARE = 0.25  # and in a smaller share of them


PREPARATIONS = ("auto", "none", "standardize")


def fit_scaler(X, preparation: str) -> tuple[StandardScaler | None, str]:
    """A scaler if asked for, or if a few features dominate the variance, and why."""
    scaler = StandardScaler(with_mean=not issparse(X))
    if preparation == "standardize":
        return scaler.fit(X), "standardized, as asked"
    if preparation == "none":
        return None, "used as they are"
    if issparse(X):
        return None, "used as they are: they are sparse"
    variances = scaler.fit(X).var_
    if not variances.any():
        return None, "used as they are: they do not vary"
    n_dominant = variances.sum() ** 2 / np.square(variances).sum()
    dominant = f"about {n_dominant:.0f} of {X.shape[1]} holds most of the variance"
    dominant = dominant if round(n_dominant) == 1 else dominant.replace("holds", "hold")
    if n_dominant < min(FEW_FEATURES, SMALL_SHARE * X.shape[1]):
        return scaler, f"standardized ({dominant})"
    return None, f"used as they are ({dominant})"


def fit_reducer(X, seed: int) -> TruncatedSVD | None:
    """Sparse features are many: their leading directions stand for them, dense."""
    if not issparse(X) or min(X.shape) <= N_DIRECTIONS:
        return None
    return TruncatedSVD(N_DIRECTIONS, random_state=seed).fit(X)


def preparation_map(
    scaler: StandardScaler | None, reducer: TruncatedSVD | None, d: int
) -> LinearMap:
    """Rows (n, d) as dense features, standardized and reduced where that was decided, as one."""
    matrix = None if reducer is None else reducer.components_.T
    if scaler is not None:
        return LinearMap(matrix, scaler.mean_ if scaler.with_mean else None, scaler.scale_)
    return LinearMap(scale=np.ones(d)) if matrix is None else LinearMap(matrix)
