"""Learned distances for other tools: neighbors as a sparse matrix, or all of them, condensed.

UMAP, HDBSCAN and DBSCAN (``metric="precomputed"``) and SciPy's ``linkage`` take distances. Those of
a fitted model are the Euclidean ones of its ``transform``.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.neighbors import kneighbors_graph

MOST_CONDENSED = 20_000  # rows: 1.6 GB of distances


def neighbor_distances(model, X, n_neighbors: int = 15) -> csr_array:
    """Learned distances of each row to its nearest others, for precomputed neighbors.

    Parameters
    ----------
    model : fitted learner or GuidedClustering
        Anything with ``transform``.
    X : array-like of shape (n_samples, n_features)
    n_neighbors : int, default=15
        Of each row, without itself.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        ``n_neighbors`` distances in each row; it is not symmetric.

    Examples
    --------
    >>> from likewise import ITML
    >>> from likewise.maps import neighbor_distances
    >>> X = [[0.0], [1.0], [3.0]]
    >>> neighbor_distances(ITML().fit(X), X, n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    Z = np.asarray(model.transform(X), dtype=np.float64)
    if not 1 <= n_neighbors < len(Z):
        raise ValueError(
            f"n_neighbors={n_neighbors} must be at least 1 and less than the {len(Z)} rows of X."
        )
    return csr_array(kneighbors_graph(Z, n_neighbors, mode="distance", include_self=False))


def condensed_distances(model, X) -> np.ndarray:
    """All learned distances, as SciPy's ``linkage`` and ``squareform`` take them.

    Parameters
    ----------
    model : fitted learner or GuidedClustering
        Anything with ``transform``.
    X : array-like of shape (n_samples, n_features)
        At most 20,000 rows.

    Returns
    -------
    ndarray of shape (n_samples * (n_samples - 1) / 2,)

    Examples
    --------
    >>> from likewise import ITML
    >>> from likewise.maps import condensed_distances
    >>> X = [[0.0], [1.0], [3.0]]
    >>> condensed_distances(ITML().fit(X), X)
    array([1., 3., 2.])
    """
    Z = np.asarray(model.transform(X), dtype=np.float64)
    if len(Z) > MOST_CONDENSED:
        raise ValueError(
            f"X has {len(Z)} rows, and all distances of more than {MOST_CONDENSED} take gigabytes. "
            "Use neighbor_distances."
        )
    return pdist(Z)
