"""The leading directions of many features, sparse or dense: a truncated SVD that is the same anew.

    X ~ U S V',    rows in the directions: X (V R),  R orthogonal

scikit-learn's TruncatedSVD draws random numbers; here the same rows give the same directions, also
in another order: ARPACK runs to full precision from a fixed start, and signs follow the features.
R turns the directions so that each has about the same variance. Distances stay as they are, and a
scaler after it nearly so: on V alone it would make the last direction, which is noise, as wide as
the first.
"""

import numpy as np
import scipy.fft
import scipy.linalg
from scipy import sparse
from sklearn.utils.extmath import svd_flip

from likewise.numerics.threads import one_thread

SMALLEST_SHARE = 1e-7  # of the first singular value: below, a direction is rounding


@one_thread()
def leading_directions(X, n_components: int) -> np.ndarray:
    """(V R)' (k, d) of rows X (n, d), k at most `n_components` and the rank of X; at least 1."""
    k = min(n_components, *X.shape)
    if min(X.shape) <= 2 * k:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        _, singular, components = scipy.linalg.svd(dense, full_matrices=False)
        singular, components = singular[:k], components[:k]
    else:
        start = np.random.RandomState(0).uniform(-1, 1, min(X.shape))
        _, singular, components = sparse.linalg.svds(X, k=k, v0=start, return_singular_vectors="vh")
        order = np.argsort(-singular)
        singular, components = singular[order], components[order]
    n_kept = max(1, np.count_nonzero(singular > SMALLEST_SHARE * singular[0]))
    _, components = svd_flip(None, components[:n_kept], u_based_decision=False)
    return scipy.fft.dct(components, axis=0, norm="ortho")  # cosines: orthogonal, and all alike
