"""Several numbers of clusters from one space, and the tree that joins the finest of them.

Each number of clusters has its own k-means: coarse clusters need not be unions of fine ones. The
centers of the finest are joined into a tree. Each join is the one that raises the k-means error
least,

    s_a s_b / (s_a + s_b) |c_a - c_b|^2,    s the rows in a cluster and c its center

so that cutting the tree does give nested clusters.
Reference: amid2015, section 5.3, clusters one kernel at several resolutions; ward1963 for the tree.
We differ from scipy's Ward linkage in weighing each center by its rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cut_tree
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_scalar

from likewise.progress import track


@dataclass(frozen=True, eq=False)
class Resolutions:
    """Clusters of the same rows at several resolutions; made by `resolutions`.

    Attributes
    ----------
    n_clusters : tuple of int
        Ascending.
    labels : dict of int to ndarray of shape (n_samples,)
        The clusters of each k-means.
    centers : ndarray of shape (n_finest, n_features)
        Of the finest clusters.
    sizes : ndarray of shape (n_finest,)
        Rows in each of them.
    linkage : ndarray of shape (n_finest - 1, 4)
        The tree over the centers as scipy's ``dendrogram`` takes it. A height is the root of twice
        the error added by the join, which is scipy's measure for Ward; the last column counts
        centers.
    """

    n_clusters: tuple[int, ...]
    labels: dict[int, np.ndarray]
    centers: np.ndarray
    sizes: np.ndarray
    linkage: np.ndarray

    def nested(self, n_clusters: int) -> np.ndarray:
        """Labels (n_samples,) from cutting the tree: unions of the finest clusters."""
        n_finest = len(self.centers)
        check_scalar(n_clusters, "n_clusters", (int, np.integer), min_val=1, max_val=n_finest)
        finest = self.labels[n_finest]
        if n_finest == 1:
            return finest
        return cut_tree(self.linkage, n_clusters=n_clusters)[finest, 0]


def resolutions(Z, n_clusters=(2, 3, 5, 8), *, n_init=10, random_state=None) -> Resolutions:
    """Cluster the rows of one space at several resolutions.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        Rows in the space: ``transform(X)`` of any learner.
    n_clusters : sequence of int, default=(2, 3, 5, 8)
        Numbers of clusters; the tree is built on the largest.
    n_init : int, default=10
        Starts of each k-means. Raising it takes longer and finds better clusters.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Resolutions

    References
    ----------
    amid2015, ward1963

    Examples
    --------
    Two continents of two towns each:

    >>> import numpy as np
    >>> from likewise.cluster import resolutions
    >>> Z = np.repeat([[0.0], [2.0], [20.0], [23.0]], 5, axis=0)
    >>> found = resolutions(Z, [2, 4], random_state=0)
    >>> [len(np.unique(found.labels[k])) for k in found.n_clusters]
    [2, 4]
    >>> found.nested(2)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    >>> found.linkage[:, 2].round(2)  # sqrt(5) * 2, sqrt(5) * 3, sqrt(10) * 20.5
    array([ 4.47,  6.71, 64.83])
    """
    Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
    counts = tuple(sorted({int(k) for k in n_clusters}))
    if not counts or counts[0] < 1 or counts[-1] > len(Z):
        raise ValueError(f"n_clusters={n_clusters} must be numbers from 1 to the {len(Z)} rows.")
    rng = check_random_state(random_state)
    fitted = {
        k: KMeans(k, n_init=n_init, random_state=rng).fit(Z)
        for k in track(counts, "clustering at several resolutions")
    }
    finest = fitted[counts[-1]]
    centers = finest.cluster_centers_.astype(np.float64)
    sizes = np.bincount(finest.labels_, minlength=counts[-1])
    labels = {k: model.labels_ for k, model in fitted.items()}
    return Resolutions(counts, labels, centers, sizes, join_centers(centers, sizes))


def join_centers(centers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Ward's tree over centers that stand for ``sizes`` rows each, as a linkage (k - 1, 4)."""
    k = len(centers)
    centers, sizes = centers.astype(np.float64), sizes.astype(np.float64)
    nodes, n_leaves = np.arange(k), np.ones(k)
    tree = np.empty((k - 1, 4))
    for step in range(k - 1):
        sq_dists = ((centers[:, None] - centers) ** 2).sum(axis=2)
        added = sizes[:, None] * sizes / np.maximum(sizes[:, None] + sizes, 1) * sq_dists
        added[np.tril_indices(len(added))] = np.inf
        a, b = np.unravel_index(np.argmin(added), added.shape)  # a < b
        left, right = sorted((nodes[a], nodes[b]))
        tree[step] = left, right, np.sqrt(2 * added[a, b]), n_leaves[a] + n_leaves[b]
        total = sizes[a] + sizes[b]
        centers[a] = (sizes[a] * centers[a] + sizes[b] * centers[b]) / max(total, 1)
        sizes[a], n_leaves[a], nodes[a] = total, tree[step, 3], k + step
        centers, sizes, n_leaves, nodes = (
            np.delete(array, b, axis=0) for array in (centers, sizes, n_leaves, nodes)
        )
    return tree
