"""A map of rows in two dimensions: rows that are close in the learned space are close on it.

    minimize over y   KL(p || q),   q_ij ~ 1 / (1 + |y_i - y_j|^2)

where p_ij is the same for all pairs of which one is among the 15 nearest of the other, and 0
elsewhere (t-SNE with uniform affinities, vandermaaten2008, bohm2022). Labels are never seen.

Attraction is a sum over the edges of the neighbor graph. Repulsion is a convolution of the density
of the rows with a smooth kernel: rows are spread over the nodes of a grid, the grid is convolved by
FFT, and the forces are read off again (linderman2019), so a step is nearly linear in the rows.

Beyond 5,000 rows, 5,000 drawn at random are laid out, and the others are placed among those of
their neighbors that are close together on the map. From a previous layout it takes fewer steps and
no early exaggeration, and the result is turned and shifted onto the previous one.
"""

from functools import lru_cache

import numpy as np
from scipy import fft, sparse
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.utils import check_array

from likewise.kernels.distances import nearest_rows
from likewise.kernels.placement import place_rows
from likewise.numerics.rows import sample_rows
from likewise.numerics.threads import one_thread_if_small

LAID_OUT = 5_000  # rows that forces act on; the others are placed among them
N_NEIGHBORS = 15
EARLY = (120, 12.0)  # steps, and how much stronger attraction is: clusters gather
LATE = (180, 1.5)  # then they spread; above 1, so that clusters keep a gap around them
SOON, LITTLE = (100, 12.0), (50, 1.5)  # of edges that are given
AGAIN = (100, 1.5)  # from a previous layout
MOMENTUM = 0.8
LARGEST_STEP = 5.0  # of a row, in units of the map
FEW_ROWS = 150  # up to here all pairs are quicker than a grid, and exact
SPACING = 0.5  # of the grid, where the kernel of the forces has width 1
MAX_NODES = 512  # of the grid a side; beyond, it is coarser
SPARSE_DIRECTIONS = 50  # of sparse rows, which are laid out in
START_SPREAD = 1e-2  # standard deviation of a layout from nothing


def lay_out(Z, *, previous=None, random_state: int = 0) -> np.ndarray:
    """Place rows on a plane such that neighbors in the learned space stay neighbors.

    Parameters
    ----------
    Z : array-like or CSR of shape (n, r)
        Rows in the learned space, as ``GuidedClustering.transform`` returns them. Of sparse rows
        the 50 leading directions are used.
    previous : array-like of shape (n, 2), default=None
        The layout of the same rows in an earlier space. The new one starts from it, and is turned
        and shifted so that rows move as little as possible.
    random_state : int, default=0
        Seed of the rows that are laid out first where there are more than 5,000.

    Returns
    -------
    ndarray of shape (n, 2), float32
        Centered at 0. The same input gives the same layout on one machine; elsewhere floats are
        rounded differently, and rows may end up slightly apart.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.report import lay_out
    >>> Z = np.repeat([[0.0, 0.0], [9.0, 0.0]], 50, axis=0) + np.random.RandomState(0).rand(100, 2)
    >>> flat = lay_out(Z)
    >>> left, right = flat[:50], flat[50:]
    >>> bool(np.linalg.norm(left.mean(axis=0) - right.mean(axis=0)) > 2 * left.std())
    True
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=0)
    n_rows = Z.shape[0]
    if sparse.issparse(Z):
        Z = to_leading_directions(Z, SPARSE_DIRECTIONS)
    if previous is not None:
        previous = check_array(previous, dtype=np.float64, ensure_min_samples=0)
        if previous.shape != (n_rows, 2):
            raise ValueError(
                f"previous has shape {previous.shape}, but Z has {n_rows} rows: it must be "
                f"({n_rows}, 2). Pass the layout of the same rows, or none."
            )
    if n_rows < 2:
        return np.zeros((n_rows, 2), dtype=np.float32)
    laid = sample_rows(n_rows, LAID_OUT, np.empty(0, dtype=int), random_state)
    start = None if previous is None else previous[laid]
    flat = _lay_out_all(Z[laid], start)
    if len(laid) < n_rows:
        flat = place_rows(Z, laid, flat)
    flat -= flat.mean(axis=0)
    if previous is not None:
        flat = align(flat, previous)
    return flat.astype(np.float32)


def to_leading_directions(Z, n_directions: int) -> np.ndarray:
    """Rows (n, n_directions) in the directions in which they differ most, and zeros beyond."""
    n_axes = min(n_directions, *Z.shape)
    flat = np.zeros((Z.shape[0], n_directions))
    if sparse.issparse(Z) and n_axes < min(Z.shape):  # what arpack asks for
        flat[:, :n_axes] = PCA(n_axes, svd_solver="arpack", random_state=0).fit_transform(Z)
    elif Z.shape[0] > 1:
        Z = Z.toarray() if sparse.issparse(Z) else Z
        with np.errstate(invalid="ignore"):  # equal rows differ in no direction
            flat[:, :n_axes] = PCA(n_axes, random_state=0).fit_transform(Z)
    return flat


def lay_out_edges(graph: csr_array, Z) -> np.ndarray:
    """Places (n, 2) of the rows Z, on which the edges of a graph (n, n) of theirs pull.

    A fit draws several such maps to find clusters on them, so it takes half of the steps.
    """
    if graph.shape[0] < 2:
        return np.zeros((graph.shape[0], 2))
    graph = csr_array(graph / graph.sum())
    return descend(graph, descend(graph, _first_places(Z), *SOON), *LITTLE)


def align(flat: np.ndarray, target: np.ndarray) -> np.ndarray:
    """A layout (n, 2) turned, mirrored and shifted onto another as closely as possible."""
    middle = target.mean(axis=0)
    U, _, Vt = np.linalg.svd((flat - flat.mean(axis=0)).T @ (target - middle))
    return (flat - flat.mean(axis=0)) @ (U @ Vt) + middle


@one_thread_if_small(lambda Z, start: Z.size)
def _lay_out_all(Z: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    graph = edge_shares(Z, min(N_NEIGHBORS, max(len(Z) // 3, 1)))
    if start is None:
        flat = descend(graph, _first_places(Z), *EARLY)
        return descend(graph, flat, *LATE)
    return descend(graph, start - start.mean(axis=0), *AGAIN)


def edge_shares(Z: np.ndarray, n_neighbors: int) -> csr_array:
    """Symmetric (n, n), entries that sum to 1: the edges between nearest neighbors."""
    n = len(Z)
    nearest, _ = nearest_rows(Z, Z, n_neighbors, exclude_self=True)
    ends = np.arange(0, nearest.size + 1, n_neighbors)
    graph = csr_array((np.ones(nearest.size), nearest.ravel(), ends), shape=(n, n))
    graph = csr_array(graph + graph.T)
    graph.data /= graph.data.sum()
    return graph


def _first_places(Z: np.ndarray) -> np.ndarray:
    """The two directions in which the rows differ most, made small."""
    flat = to_leading_directions(Z, 2)
    spread = max(flat.std(), np.finfo(float).tiny)
    # Equal rows would never part: a spiral sets them apart, the same everywhere.
    turns = np.arange(len(Z)) * np.pi * (3 - np.sqrt(5))
    radius = 1e-3 * np.sqrt(np.arange(1, len(Z) + 1) / len(Z))
    spiral = radius[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return START_SPREAD * (flat / spread + spiral)


def descend(graph: csr_array, flat: np.ndarray, n_steps: int, exaggeration: float) -> np.ndarray:
    """Gradient steps with momentum and a gain a coordinate, as vandermaaten2008 takes them."""
    rate = max(len(flat) / (4 * exaggeration), 10.0)
    rows = np.repeat(np.arange(len(flat)), np.diff(graph.indptr))
    flat, velocity, gains = flat.copy(), np.zeros_like(flat), np.ones_like(flat)
    for _ in range(n_steps):
        gradient = 4 * (exaggeration * attraction(graph, rows, flat) - repulsion(flat))
        keeps_on = np.sign(gradient) != np.sign(velocity)  # a step goes against its gradient
        gains = np.maximum(np.where(keeps_on, gains + 0.2, gains * 0.8), 0.01)
        velocity = MOMENTUM * velocity - rate * gains * gradient
        flat += np.clip(velocity, -LARGEST_STEP, LARGEST_STEP)
    return flat - flat.mean(axis=0)


def attraction(graph: csr_array, rows: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """(n, 2): sum over j of p_ij q_ij (y_i - y_j), where q is not normalized; `rows` of entries."""
    dx, dy = (line.take(rows) - line.take(graph.indices) for line in flat.T.copy())
    pulls = graph.data / (1 + dx * dx + dy * dy)
    starts = graph.indptr[:-1]
    return np.stack([np.add.reduceat(pulls * d, starts) for d in (dx, dy)], axis=1)


def repulsion(flat: np.ndarray) -> np.ndarray:
    """(n, 2): sum over j of q_ij^2 (y_i - y_j) over the sum of all q_ij."""
    return repulsion_of_pairs(flat) if len(flat) <= FEW_ROWS else repulsion_by_grid(flat)


def repulsion_of_pairs(flat: np.ndarray) -> np.ndarray:
    """The sum as it stands."""
    x, y = flat.T
    dx, dy = x[:, None] - x, y[:, None] - y
    q = 1 / (1 + dx * dx + dy * dy)
    total = q.sum() - len(flat)
    q *= q
    return np.stack([np.einsum("ij,ij->i", q, d) for d in (dx, dy)], axis=1) / total


def repulsion_by_grid(flat: np.ndarray) -> np.ndarray:
    """The sum by a convolution on a grid."""
    n, low, extent = len(flat), flat.min(axis=0), np.ptp(flat, axis=0).max()
    spacing = max(SPACING, extent / (MAX_NODES - 4))
    n_nodes = int(extent / spacing) + 5
    at = ((flat - low) / spacing + 1.5).T
    corner = at.astype(np.intp)
    near_x, near_y = np.moveaxis(_cubic(at - corner), 1, 0)  # (4, n) each
    shares = (near_x[:, None] * near_y).reshape(16, n)
    nodes = corner[0] * n_nodes + corner[1] + _steps(n_nodes)
    density = np.bincount(nodes.ravel(), shares.ravel(), n_nodes**2).reshape(n_nodes, n_nodes)
    total, pushes = _convolve(density, spacing)
    forces = [np.einsum("jn,jn->n", shares, push.ravel()[nodes]) for push in pushes]
    return np.stack(forces, axis=1) / (total - n)


def _steps(n_nodes: int) -> np.ndarray:
    """(16, 1): from a node to those around it, where a row of the grid has so many."""
    steps = np.arange(-1, 3)
    return (n_nodes * steps[:, None] + steps).reshape(16, 1)


def _convolve(density: np.ndarray, spacing: float) -> tuple[float, np.ndarray]:
    """The sum of q over all pairs, and the density convolved with q^2 dx and q^2 dy, (2, s, s).

    float32 halves the time. The sum needs no convolution: it is one of the squared spectrum.
    """
    size = len(density)
    n_padded = fft.next_fast_len(2 * size, real=True)
    spectrum = fft.rfft2(density.astype(np.float32), (n_padded, n_padded))
    q, kernels = _kernels(n_padded, spacing)
    total = float(np.vdot(q, np.square(spectrum.real) + np.square(spectrum.imag)))
    return total, fft.irfft2(kernels * spectrum, (n_padded, n_padded))[:, :size, :size]


@lru_cache(maxsize=4)  # the grid changes seldom from step to step
def _kernels(n_padded: int, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """The spectra of q, divided by the number of nodes and doubled where half is left out, and of
    q^2 dx and q^2 dy."""
    steps = fft.fftfreq(n_padded, 1 / n_padded) * spacing
    dx, dy = steps[:, None], steps[None, :]
    q = 1 / (1 + dx * dx + dy * dy)
    counts = np.full(n_padded // 2 + 1, 2.0)
    counts[0] = 1
    if n_padded % 2 == 0:
        counts[-1] = 1
    whole = fft.rfft2(q).real * counts / n_padded**2
    return whole, fft.rfft2(np.stack([q * q * dx, q * q * dy]).astype(np.float32))


def _cubic(t: np.ndarray) -> np.ndarray:
    """(4, ...): weights of the four nodes around a place t of the way from the second to the third.

    Lagrange's: exact for cubic polynomials.
    """
    inner, outer = t * (t - 1), (t + 1) * (t - 2)
    return np.stack(
        [inner * (t - 2) / -6, outer * (t - 1) / 2, outer * t / -2, inner * (t + 1) / 6]
    )
