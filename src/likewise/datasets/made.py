"""Made sets with known classes: the artificial data of the papers.

Each is drawn from `random_state`. Where a paper shows a figure but no numbers (XOR, chessboard
and double spiral), the shape is the paper's, and the numbers are ours and parameters.
References: yeung2007 (XOR), hoi2007 (chessboard, double spiral), randel2021 section 4.1.
"""

from types import MappingProxyType

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from likewise.datasets.dataset import Dataset

CELL_METRICS = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}
XOR_SPREAD = 0.235  # gives yeung2007's ratio J = 1.246 of between- to within-class distances


def make_xor(n_samples=400, *, spread=XOR_SPREAD, random_state=None) -> Dataset:
    """Draw four round clouds on the corners of a square; opposite corners are one class.

    No linear map separates the two classes, a kernel does (yeung2007, figure 1 and table 1; there
    with 400 and 8,000 points).

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, spread over the four clouds as evenly as possible.
    spread : float, default=0.235
        Standard deviation of a cloud, whose centers are (-1, -1), (-1, 1), (1, -1) and (1, 1).
        Higher makes the classes overlap. The default gives the paper's J = 1.246 on the raw data.
    random_state : int, RandomState or None, default=None
        Seeds the draw.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2), y in {0, 1}, rows shuffled.

    References
    ----------
    yeung2007

    Examples
    --------
    >>> from likewise.datasets import make_xor
    >>> make_xor(8, random_state=0)
    Dataset('xor': 8 rows, 2 features, 2 classes)
    """
    rng = check_random_state(random_state)
    centers = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]], dtype=float)
    cloud = rng.permutation(n_samples) % 4
    X = centers[cloud] + spread * rng.standard_normal((n_samples, 2))
    return Dataset("xor", X, cloud // 2)


def make_chessboard(n_samples=100, *, n_cells=4, gap=0.2, random_state=None) -> Dataset:
    """Draw points on a chessboard; the class is the color of the square.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, spread over the squares as evenly as possible (hoi2007 has 100).
    n_cells : int, default=4
        Squares along one side. Higher makes the classes more entangled.
    gap : float, default=0.2
        Share of a square's side left empty between neighbors, in [0, 1). Higher is easier.
    random_state : int, RandomState or None, default=None
        Seeds the draw.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2) on [0, n_cells] x [0, n_cells], y in {0, 1}, rows shuffled.

    References
    ----------
    hoi2007

    Examples
    --------
    >>> from likewise.datasets import make_chessboard
    >>> board = make_chessboard(random_state=0)
    >>> bool((board.X.astype(int).sum(axis=1) % 2 == board.y).all())
    True
    """
    rng = check_random_state(random_state)
    cells = rng.permutation(n_samples) % n_cells**2
    corners = np.column_stack(np.divmod(cells, n_cells))
    X = corners + gap / 2 + (1 - gap) * rng.uniform(size=(n_samples, 2))
    return Dataset("chessboard", X, corners.sum(axis=1) % 2)


def make_double_spiral(
    n_samples=100, *, n_turns=1.5, noise=0.02, n_features=3, random_state=None
) -> Dataset:
    """Draw two interleaved spirals; each arm is a class.

    Points lie evenly along each arm, so a neighbor graph follows the arms, while k-means cuts
    across them. hoi2007 has 100 points with 3 features.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, half on each arm.
    n_turns : float, default=1.5
        Turns of an arm from the center to radius 1. Higher brings the arms closer together.
    noise : float, default=0.02
        Standard deviation added to every coordinate. Higher blurs the arms into each other.
    n_features : {2, 3}, default=3
        With 3, the arms climb from height 0 to 1 as they turn; with 2 they lie flat.
    random_state : int, RandomState or None, default=None
        Seeds the noise.

    Returns
    -------
    Dataset
        X of shape (n_samples, n_features), y in {0, 1}, arm by arm from the center outward.

    References
    ----------
    hoi2007

    Examples
    --------
    >>> from likewise.datasets import make_double_spiral
    >>> make_double_spiral(random_state=0).X.shape
    (100, 3)
    """
    if n_features not in (2, 3):
        raise ValueError(f"n_features = {n_features!r}: a double spiral has 2 or 3 features.")
    rng = check_random_state(random_state)
    arms = np.repeat([0, 1], [n_samples - n_samples // 2, n_samples // 2])
    # The length of an arm up to radius r grows as r^2: even steps in r^2 are even along the arm.
    radii = np.concatenate([np.sqrt(np.linspace(0.02, 1, n)) for n in np.bincount(arms)])
    angles = 2 * np.pi * n_turns * radii + np.pi * arms
    X = np.column_stack([radii * np.cos(angles), radii * np.sin(angles), radii])[:, :n_features]
    return Dataset("double_spiral", X + noise * rng.standard_normal(X.shape), arms)


def make_metric_clusters(metric="euclidean", n_samples=200, *, random_state=None) -> Dataset:
    """Draw three balanced clusters that one metric fits better than the others (randel2021, 4.1).

    For the first three metrics, points from N(10, 1) join the nearest of three centers under that
    metric, until each cluster is full. For "mahalanobis", the clusters are three long thin strips.

    Parameters
    ----------
    metric : {"euclidean", "manhattan", "chebyshev", "mahalanobis"}, default="euclidean"
        The metric that fits.
    n_samples : int, default=200
        Number of rows; no cluster gets more than a third of them, rounded up.
    random_state : int, RandomState or None, default=None
        Seeds the draw.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2), y in {0, 1, 2}, `extras["centers"]` of shape (3, 2).

    References
    ----------
    randel2021

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.datasets import make_metric_clusters
    >>> int(np.bincount(make_metric_clusters("chebyshev", random_state=0).y).max())
    67
    """
    rng = check_random_state(random_state)
    if metric == "mahalanobis":
        return _strips(n_samples, rng)
    if metric in CELL_METRICS:
        return _cells(metric, n_samples, rng)
    known = ", ".join([*CELL_METRICS, "mahalanobis"])
    raise ValueError(f"metric = {metric!r} is not known. Choose one of {known}.")


def _cells(metric, n_samples, rng):
    def draw(n):
        return rng.normal(10, 1, size=(n, 2))

    def distances(A, B):
        return cdist(A, B, metric=CELL_METRICS[metric])

    pairs = draw(1000), draw(1000)
    far_apart = np.max(np.diag(distances(*pairs))) / 3
    centers = draw(3)
    while distances(centers, centers)[np.triu_indices(3, k=1)].min() < far_apart:
        centers = draw(3)
    X, y = np.empty((0, 2)), np.empty(0, dtype=np.int64)
    largest = -(-n_samples // 3)
    while len(y) < n_samples:
        points = draw(n_samples)
        X = np.vstack([X, points])
        y = np.append(y, distances(points, centers).argmin(axis=1))
        earlier = np.array([np.count_nonzero(y[:i] == y[i]) for i in range(len(y))])
        X, y = X[earlier < largest], y[earlier < largest]  # the cluster was full
    extras = MappingProxyType({"centers": centers})
    return Dataset(f"{metric}_clusters", X[:n_samples], y[:n_samples], extras=extras)


def _strips(n_samples, rng):
    y = np.sort(np.arange(n_samples) % 3)
    heights = 5.0 * y + rng.uniform(-0.1, 0.1, size=n_samples)
    X = np.column_stack([rng.uniform(0, 100, size=n_samples), heights])
    extras = MappingProxyType({"centers": np.array([[50.0, 0], [50, 5], [50, 10]])})
    return Dataset("mahalanobis_clusters", X, y, extras=extras)
