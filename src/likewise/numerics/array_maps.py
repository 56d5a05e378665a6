"""The steps of maps and of k-means over any array library: NumPy here, torch on a GPU.

    |x - y|^2 = |x|^2 + |y|^2 - 2 x'y          centered on the mean of Y, clipped at 0
    label     = argmax_c  x'c - |c|^2 / 2      the nearest center
    w         = argmin |phi(x) - sum_j w_j phi(x_j)|^2   s.t.  sum_j w_j = 1

Every function takes arrays of one library and returns arrays of it, in the same float type, and
uses nothing beyond the array API standard. NumPy's own paths (`likewise.kernels`) are more exact
where rows nearly coincide; these are for many rows.
"""

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_numpy_array

RIDGE = 1e-3  # of the squared distance to the nearest landmark: steadies the local weights
ROUNDING = 1e-10  # of the mean squared distance to them: keeps the system regular on a landmark


def is_array_elsewhere(X) -> bool:
    """Whether this is an array of another library than NumPy, a torch tensor for instance."""
    return is_array_api_obj(X) and not is_numpy_array(X)


def find_device(torch, named):
    """The device of torch's that is meant, or one line that says why there is none."""
    try:
        device = torch.device(named)
    except RuntimeError:
        raise ValueError(f"device={named!r} is none that torch knows. Try 'cuda'.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={named!r}: torch sees no GPU here. Leave device out for the CPU.")
    return device


def assign_rows(X, centers):
    """The nearest center (n,) of each row and the squared distance (n,) to it."""
    xp = array_namespace(X, centers)
    middle = xp.mean(centers, axis=0)  # cancels less
    X, centers = X - middle, centers - middle
    closeness = X @ centers.T - xp.sum(centers * centers, axis=1) / 2
    labels = xp.argmax(closeness, axis=1)
    sq_dists = xp.sum(X * X, axis=1) - 2 * xp.max(closeness, axis=1)
    return labels, xp.where(sq_dists > 0, sq_dists, xp.zeros_like(sq_dists))


def cluster_sums(X, labels, n_clusters: int):
    """Sums (k, d) of the rows of each cluster and how many they are (k,)."""
    xp = array_namespace(X, labels)
    names = xp.arange(n_clusters, dtype=labels.dtype, device=device(X))
    members = xp.astype(labels[:, None] == names[None, :], X.dtype)  # (n, k)
    return members.T @ X, xp.sum(members, axis=0, dtype=xp.float64)


def sq_distances(X, Y):
    """Squared distances (n, m), good to the rounding of |x|^2 + |y|^2 around the mean of Y."""
    xp = array_namespace(X, Y)
    middle = xp.mean(Y, axis=0)
    X, Y = X - middle, Y - middle
    sq_dists = -2 * (X @ Y.T)
    sq_dists += xp.sum(X * X, axis=1)[:, None]
    sq_dists += xp.sum(Y * Y, axis=1)[None, :]
    return xp.where(sq_dists > 0, sq_dists, xp.zeros_like(sq_dists))


def gaussian(X, Y, theta: float):
    """exp(-|x - y|^2 / theta), (n, m)."""
    return array_namespace(X, Y).exp(sq_distances(X, Y) / -theta)


def self_tuning(X, Y, Y_sigmas, training, n_neighbors: int, count_self: bool, least: float):
    """exp(-|x - y|^2 / (sigma_x sigma_y)), (n, m); sigma_x by the l-th nearest training row."""
    xp = array_namespace(X, Y)
    sq_dists = sq_distances(X, training)
    nearest = xp.sort(sq_dists, axis=1)
    last = nearest[:, n_neighbors - 1]
    if not count_self:  # a row on top of x is x itself, and the l-th is one further
        closest = xp.take(training, xp.argmin(sq_dists, axis=1), axis=0)
        last = xp.where(xp.all(closest == X, axis=1), nearest[:, n_neighbors], last)
    sigmas = xp.sqrt(last)
    sigmas = xp.where(sigmas > 0, sigmas, xp.full_like(sigmas, least))
    sq_dists = sq_dists if training is Y else sq_distances(X, Y)
    return xp.exp(-sq_dists / sigmas[:, None] / Y_sigmas[None, :])


def combine_nearest(own, cross, gram, coordinates, n_neighbors: int):
    """Coordinates (n, q) as combinations of those (m, q) of the nearest landmarks.

    `own` (n,) is k(x, x), `cross` (n, m) k(x, landmarks) and `gram` (m, m) the landmarks' kernel.
    """
    xp = array_namespace(own, cross, gram, coordinates)
    m = gram.shape[0]
    sq_dists = own[:, None] + xp.linalg.diagonal(gram)[None, :] - 2 * cross
    nearest = nearest_columns(sq_dists, n_neighbors)
    near = xp.take_along_axis(cross, nearest, axis=1)
    pairs = xp.reshape(nearest[:, :, None] * m + nearest[:, None, :], (-1,))
    grams = xp.take(xp.reshape(gram, (-1,)), pairs)
    grams = xp.reshape(grams, (*nearest.shape, nearest.shape[1]))
    weights = local_weights(own, near, grams)
    chosen = xp.take(coordinates, xp.reshape(nearest, (-1,)), axis=0)
    chosen = xp.reshape(chosen, (*nearest.shape, coordinates.shape[1]))
    return (weights[:, None, :] @ chosen)[:, 0, :]


def local_weights(own, near, grams):
    """Weights (n, k), summing to 1, that combine near landmarks to each row in a kernel's space.

    `own` (n,) is k(x, x), `near` (n, k) k(x, landmark), nearest first, and `grams` (n, k, k) the
    kernel among those landmarks.
    """
    xp = array_namespace(own, near, grams)
    k = near.shape[1]
    G = grams + own[:, None, None] - near[:, :, None] - near[:, None, :]
    closest = G[:, 0, 0]
    closest = xp.where(closest > 0, closest, xp.zeros_like(closest))
    mean = xp.linalg.trace(G) / k
    # On a landmark the ridge is next to nothing, and its own weight is all there is.
    ridge = RIDGE * closest + ROUNDING * xp.where(mean > 0, mean, xp.ones_like(mean))
    G = G + ridge[:, None, None] * xp.eye(k, dtype=G.dtype, device=device(G))
    weights = xp.linalg.solve(G, xp.ones((*near.shape, 1), dtype=G.dtype, device=device(G)))
    weights = weights[:, :, 0]
    return weights / xp.sum(weights, axis=1)[:, None]


def nearest_columns(values, k: int):
    """Columns (n, k) of the k smallest values of each row, the smallest first: k times argmin."""
    xp = array_namespace(values)
    columns = xp.arange(values.shape[1], device=device(values))
    found = []
    for _ in range(k):
        found.append(xp.argmin(values, axis=1))
        values = xp.where(columns[None, :] == found[-1][:, None], np.inf, values)
    return xp.stack(found, axis=1)
