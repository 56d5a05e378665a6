"""What every fitted learner does with rows: check them, and hand them to its map.

A learner takes these as its own methods (``transform = by_map.transform``), so their names are
those of methods. Whether it accepts sparse rows stands in its tags.
"""

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from likewise.numerics.rows import validate_rows


def validate(self, X, *, reset: bool):
    """X as float64 or float32, and CSR where the learner accepts it."""
    accept_sparse = "csr" if get_tags(self).input_tags.sparse else False
    return validate_rows(
        self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse=accept_sparse
    )


def transform(self, X):
    """Map rows to the space whose squared Euclidean distances are the learned ones.

    Parameters
    ----------
    X : array-like, or CSR where ``fit`` accepts it, of shape (n_samples, n_features)
        Where ``fit`` was given a precomputed kernel or similarity: values with the training rows.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_directions)
        In the float type of X.
    """
    check_is_fitted(self)
    return self.map_.transform(validate(self, X, reset=False))


def kernel(self, X, Y=None):
    """The learned kernel between rows: ``transform(X) @ transform(Y).T``.

    Parameters
    ----------
    X, Y : array-like or CSR
        Rows as for ``transform``; Y=None means X.

    Returns
    -------
    K : ndarray of shape (n, m)
    """
    check_is_fitted(self)
    X = validate(self, X, reset=False)
    return self.map_.kernel(X, None if Y is None else validate(self, Y, reset=False))
