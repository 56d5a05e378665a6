"""Rows as the front door takes them: on which scale, in how many directions."""

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler

N_DIRECTIONS = 100  # of sparse features
FEW_FEATURES = 10  # standardize when the variance sits in fewer features than this,
SMALL_SHARE = 0.25  # and in a smaller share of them


def fit_scaler(X, scale) -> tuple[StandardScaler | None, str]:
    """A scaler where it is asked for or where a few features drown the others, and why."""
    scaler = StandardScaler(with_mean=not issparse(X))
    if scale == "auto" and issparse(X):
        return None, "taken as they are: they are sparse"
    if scale != "auto":
        return (scaler.fit(X), "standardized, as asked") if scale else (None, "taken as they are")
    variances = scaler.fit(X).var_
    if not variances.any():
        return None, "taken as they are: they do not vary"
    n_loud = variances.sum() ** 2 / np.square(variances).sum()
    loud = f"the variance sits in about {n_loud:.0f} of {X.shape[1]}"
    if n_loud < min(FEW_FEATURES, SMALL_SHARE * X.shape[1]):
        return scaler, f"standardized, since {loud}"
    return None, f"taken as they are: {loud}"


def fit_reducer(X, seed: int) -> TruncatedSVD | None:
    """Sparse features are many: their leading directions stand for them, dense."""
    if not issparse(X) or min(X.shape) <= N_DIRECTIONS:
        return None
    return TruncatedSVD(N_DIRECTIONS, random_state=seed).fit(X)
