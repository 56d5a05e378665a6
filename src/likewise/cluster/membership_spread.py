"""Memberships over a graph: walks from known groups, and clusters from pairs that are spread too.

propagation.py states the problems; they are solved here, by conjugate gradients over the sparse
graph: F for Y (`spread_over`), and B, A and its leading eigenvectors (`spread_pairs`,
`cluster_by_pairs`) if answers do not keep all groups apart.
Reference: zhou2004, zhu2003, lu2013, as there.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from likewise.cluster.kernel_kmeans import one_hot
from likewise.constraints import Constraints
from likewise.kernels import (
    interpolation_weights,
    leading_eigenpairs,
    normalized_adjacency,
    normalized_similarity,
    self_tuning_graph,
)
from likewise.numerics.conjugate_gradients import SolvedSystem, solve_columns

PAIR_ALPHA = 0.8  # how far pairs spread: lu2013 uses it on all its data
STRENGTH = 2.0  # of spread pairs relative to W; with 200 pairs on seven sets ARI .744, with 1 .728
CLUSTER_ALPHA = 0.5  # a row that has a cluster is mostly its own evidence
CORE_ROWS = 2000  # that clusters from pairs are found on: A is dense
ROUNDING = 100  # times tol: what a walk that is solved for is surely above
EVENNESS = 0.75  # 0: groups as large as they come out; 1: groups of equal size
MAX_ITER = 1000  # at alpha = .98 about 130 iterations reach 1e-12


class Known(NamedTuple):
    """What pairs say about the rows of a graph."""

    components: np.ndarray  # (n,), the must-link component of each answered row; others -1
    n_components: int
    apart: np.ndarray  # (m, 2), components known to be apart, each pair once

    @property
    def are_all_apart(self) -> bool:
        """Every two components are known to be apart: each is a group of its own."""
        return len(self.apart) == self.n_components * (self.n_components - 1) // 2

    @property
    def sizes(self) -> np.ndarray:
        """Rows in each component."""
        return np.bincount(self.components[self.components >= 0], minlength=self.n_components)


class SpreadMemberships(NamedTuple):
    memberships: np.ndarray  # (n, n_clusters), rows sum to 1
    n_iter: int
    converged: bool


def known_components(constraints: Constraints) -> Known:
    """The must-link components that answers refer to, numbered by their first rows."""
    closure = constraints.closure()
    answered = constraints.touched_rows()
    names, numbers = np.unique(closure.components[answered], return_inverse=True)
    components = np.full(constraints.n_samples, -1)
    components[answered] = numbers
    return Known(components, len(names), np.searchsorted(names, closure.cannot_link))


def propagate(
    X,
    W: csr_array,
    known: Known,
    *,
    n_clusters: int,
    n_neighbors: int,
    alpha: float,
    n_init: int,
    tol: float,
    rng,
) -> SpreadMemberships:
    """Memberships of the rows X of a graph W from the groups, or the pairs, that are known."""
    are_groups = known.are_all_apart and 0 < known.n_components <= n_clusters
    seeds = known.components  # (n,), the cluster of a row that memberships spread from, or -1
    if not are_groups or known.n_components < n_clusters:
        core = core_rows(known, rng)
        W_core = W if len(core) == len(seeds) else self_tuning_graph(X[core], n_neighbors)
        clusters = np.full(len(seeds), -1)
        clusters[core] = cluster_by_pairs(
            W_core,
            known._replace(components=known.components[core]),
            n_clusters=n_clusters,
            n_init=n_init,
            tol=tol,
            rng=rng,
        )
        if are_groups:
            seeds = add_clusters(known.components, clusters, known.n_components, n_clusters)
        else:
            seeds = clusters
            alpha = CLUSTER_ALPHA if len(core) == len(seeds) else alpha
    Y = one_hot(seeds, n_clusters)
    if are_groups:
        Y /= np.maximum(Y.sum(axis=0), 1)
    S, _ = normalized_adjacency(W)
    memberships, n_iter, converged = spread_over(S, Y, alpha=alpha, tol=tol)
    is_reached = memberships.any(axis=1)
    if not is_reached.all():  # pieces of the graph where nothing is known
        weights = interpolation_weights(X[~is_reached], X[is_reached], n_neighbors)
        memberships[~is_reached] = weights @ memberships[is_reached]
    answered = known.components >= 0
    if are_groups:
        memberships[answered] = one_hot(known.components[answered], n_clusters)
    elif answered.any():  # must-linked rows share theirs
        members = one_hot(known.components[answered], known.n_components)
        means = members.T @ memberships[answered] / known.sizes[:, None]
        memberships[answered] = means[known.components[answered]]
    return SpreadMemberships(memberships, n_iter, converged)


def solve_walks(S: csr_array, Y: np.ndarray, *, alpha: float, tol: float) -> SolvedSystem:
    """F = inv(I - alpha S) Y: the walks that begin in each column of Y, a step counted alpha."""
    return solve_columns(lambda V: V - alpha * (S @ V), Y, tol=tol, max_iter=MAX_ITER)


def spread_over(S: csr_array, Y: np.ndarray, *, alpha: float, tol: float) -> SpreadMemberships:
    """Rows of F divided by their sums; 0 in pieces of the graph where Y is 0."""
    solved = solve_walks(S, Y, alpha=alpha, tol=tol)
    memberships = share_walks(S, solved.X, alpha=alpha, tol=tol)
    return SpreadMemberships(memberships, solved.n_iter, solved.converged)


def share_walks(S: csr_array, F: np.ndarray, *, alpha: float, tol: float) -> np.ndarray:
    """Rows of walks F (n, k) divided by their sums; 0 where no walk comes.

    Walks so long that only rounding is left of them start again where the shorter ones ended.
    """
    memberships = np.zeros_like(F)
    is_reached = np.zeros(len(F), dtype=bool)
    while True:
        totals = np.maximum(F, 0.0).sum(axis=1)
        is_new = ~is_reached & (totals > ROUNDING * tol * totals.max())
        memberships[is_new] = np.maximum(F[is_new], 0.0) / totals[is_new, None]
        is_reached |= is_new
        if is_reached.all() or not is_new.any():
            return memberships
        F = solve_walks(S, memberships, alpha=alpha, tol=tol).X


def spread_memberships(
    W: csr_array, groups: np.ndarray, n_groups: int, *, alpha: float, tol: float
) -> np.ndarray:
    """Memberships (n, k) over a graph from known groups (n,), -1 for unknown; 0 if not reached."""
    Y = one_hot(groups, n_groups)
    S, _ = normalized_adjacency(W)
    return spread_over(S, Y / np.maximum(Y.sum(axis=0), 1), alpha=alpha, tol=tol).memberships


def interpolate_groups(
    S: csr_array,
    groups: np.ndarray,
    n_groups: int,
    *,
    alpha: float,
    tol: float,
    noise: float,
    covariance: np.ndarray | None = None,
) -> np.ndarray:
    """Memberships (n, k) over a graph from known groups (n,), -1 for unknown; 0 if not reached.

    Beside `spread_memberships`, for known rows that were chosen where groups meet: a known row
    holds its own surroundings, and several side by side say little more than one.

        F = inv(I - alpha S + D / noise) Y / noise,    D = 1 for known rows, Y their groups

    This is the mean of a Gaussian field with covariance K = inv(I - alpha S), seen with variance
    `noise` at the known rows: K_:A inv(K_AA + noise I) Y_A, which is computed so where the
    `covariance` K (n, n) is given. Columns are then divided by a power of
    their share of all rows, since groups with few known rows would otherwise come out too small.
    """
    Y = one_hot(groups, n_groups)
    if covariance is not None:
        known = np.flatnonzero(groups >= 0)
        at_known = covariance[np.ix_(known, known)] + noise * np.eye(len(known))
        F = covariance[:, known] @ solve(at_known, Y[known], assume_a="pos")
    else:
        scales = np.where(groups >= 0, 1 / np.sqrt(1 + 1 / noise), 1.0)[:, None]  # of the diagonal
        weights = np.where(groups >= 0, 1 / noise, 0.0)[:, None]

        def multiply(V: np.ndarray) -> np.ndarray:
            F = scales * V
            return scales * (F - alpha * (S @ F) + weights * F)

        F = scales * solve_columns(multiply, scales * Y / noise, tol=tol, max_iter=MAX_ITER).X
    memberships = share_walks(S, F, alpha=alpha, tol=tol)
    return even_out(memberships, memberships.mean(axis=0))


def field_covariance(S: csr_array, *, alpha: float) -> np.ndarray:
    """K = inv(I - alpha S), (n, n): for few rows; one inverse is cheaper than many systems."""
    return np.linalg.inv(np.eye(S.shape[0]) - alpha * S.toarray())


def even_out(memberships: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Memberships (n, k) over a power of the shares (k,) that groups have of all rows; 0 stay 0."""
    evened = memberships / np.where(shares > 0, shares, 1.0) ** EVENNESS
    totals = evened.sum(axis=1, keepdims=True)
    return np.divide(evened, totals, out=np.zeros_like(evened), where=totals > 0)


def cluster_by_pairs(
    W: csr_array, known: Known, *, n_clusters: int, n_init: int, tol: float, rng
) -> np.ndarray:
    """Clusters (n,) of the rows of a graph whose weights the pairs have raised and lowered.

    Numbered in the order of their first rows; rows of one component are in one cluster.
    """
    Z = spectral_rows(signed_graph(W, known, tol=tol), n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fit says when clusters are missing
        labels = KMeans(n_clusters, n_init=n_init, random_state=rng).fit_predict(Z)
    answered = known.components >= 0
    if answered.any():
        votes = one_hot(known.components, known.n_components).T @ one_hot(labels, n_clusters)
        labels[answered] = np.argmax(votes, axis=1)[known.components[answered]]
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def signed_graph(W: csr_array, known: Known, *, tol: float) -> csr_array | np.ndarray:
    """A = W + 2 F, the graph with the pairs spread over it; W itself where nothing is known."""
    if not known.n_components:
        return W
    A = spread_pairs(W, known, tol=tol)
    A *= STRENGTH
    i, j = W.tocoo().coords
    A[i, j] += W.data
    return A


def spectral_rows(A: csr_array | np.ndarray, n_vectors: int) -> np.ndarray:
    """Rows (n, n_vectors) of the leading eigenvectors of a graph, each scaled to length 1."""
    is_full = isinstance(A, np.ndarray)
    P = normalized_similarity(A) if is_full else normalized_adjacency(A)[0]
    _, vectors = leading_eigenpairs(P, n_vectors)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def spread_pairs(W: csr_array, known: Known, *, tol: float) -> np.ndarray:
    """What pairs say about every two rows (n, n): from 1, together, to -1, apart; 0 nothing."""
    sizes = known.sizes
    members = one_hot(known.components, known.n_components) / np.sqrt(np.maximum(sizes, 1))
    B = solve_walks(normalized_adjacency(W)[0], members, alpha=PAIR_ALPHA, tol=tol).X
    Z = np.diag((sizes > 1).astype(np.float64))  # a row alone says nothing about its neighbors
    a, b = known.apart.T
    Z[a, b] = Z[b, a] = -1.0
    influence = B @ Z @ B.T
    influence /= max(influence.max(), -influence.min()) or 1.0
    return influence


def core_rows(known: Known, rng) -> np.ndarray:
    """Rows, ascending, to find clusters on: half of them at most are rows with answers."""
    n = len(known.components)
    if n <= CORE_ROWS:
        return np.arange(n)
    answered = np.flatnonzero(known.components >= 0)
    if len(answered) > CORE_ROWS // 2:
        answered = rng.choice(answered, CORE_ROWS // 2, replace=False)
    others = np.setdiff1d(np.arange(n), answered)
    drawn = rng.choice(others, min(CORE_ROWS - len(answered), len(others)), replace=False)
    return np.sort(np.concatenate([answered, drawn]))


def add_clusters(
    groups: np.ndarray, clusters: np.ndarray, n_groups: int, n_clusters: int
) -> np.ndarray:
    """Known groups (n,), and elsewhere the clusters that match no group.

    Each group is matched to the cluster that has most of its rows, no two to the same one.
    """
    number = match_clusters(groups, clusters, n_groups, n_clusters)
    number[number < n_groups] = -1
    return np.where(groups >= 0, groups, np.where(clusters >= 0, number[clusters], -1))


def match_clusters(
    groups: np.ndarray, clusters: np.ndarray, n_groups: int, n_clusters: int
) -> np.ndarray:
    """(n_clusters,) the group that each cluster is matched to; the others are numbered after them.

    Each group is matched to the cluster that has most of its rows, no two to the same one.
    """
    both = (groups >= 0) & (clusters >= 0)
    shared = one_hot(groups[both], n_groups).T @ one_hot(clusters[both], n_clusters)
    matched, taken = linear_sum_assignment(-shared)
    number = np.empty(n_clusters, dtype=np.int64)
    number[taken] = matched
    number[np.setdiff1d(np.arange(n_clusters), taken)] = np.arange(n_groups, n_clusters)
    return number
