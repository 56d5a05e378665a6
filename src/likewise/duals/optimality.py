"""How far clusters may be from the best there are, proved by a bound on all labelings.

    model="mssc"       sums of squares to the means, under pairs, groups and sizes
                       (partition_bound.py)
    model="k-medoids"  any dissimilarity to k of the rows, under pairs (medoid_prices.py)

The bound of prices at fixed centers says nothing about other centers; these two hold for all.
Reference: peng2007 (mssc), randel2021 (k-medoids).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_scalar

from likewise.cluster import check_choice, size_bounds
from likewise.constraints import Constraints, check_constraints
from likewise.duals.dissimilarity import dissimilarity_matrix, len_of
from likewise.duals.partition_bound import bound_partitions, partition_program
from likewise.duals.prices import constraint_prices
from likewise.evaluation import violated_answers
from likewise.numerics.partitions import cluster_means
from likewise.numerics.rows import check_rows

MOST_GROUPS = 2_000  # a minute or two; each step takes the eigenvectors of so large a matrix
NO_SLACK = 1e-6  # of the pairs of k-medoids, which the program knows relaxed alone


@dataclass(frozen=True, eq=False)
class OptimalityGap:
    """What labels cost, and what no labels can cost less than.

    Attributes
    ----------
    cost : float
        Of the labels: the sum of squared distances to the means of their clusters, or of
        dissimilarities to their best medoids.
    bound : float
        No labels that satisfy the pairs and the sizes cost less.
    gap : float
        ``(cost - bound) / cost``: by which share the cost could be lowered, at most. 0.02 means
        that the best labels there are may cost up to 2 % less, or be the very same.
    settled : bool
        Whether more steps would hardly raise the bound. The bound holds in either case.
    """

    cost: float
    bound: float
    gap: float
    settled: bool


def optimality_gap(
    X,
    labels,
    constraints=None,
    *,
    n_clusters=None,
    model="mssc",
    metric="euclidean",
    min_size=None,
    max_size=None,
    tol=1e-3,
    max_iter=300,
    random_state=None,
) -> OptimalityGap:
    """Prove how far labels may be from the best clusters that satisfy the same answers and rules.

    A large gap does not say that the labels are bad: the bound may be loose. It is tight where
    clusters lie apart, or where answers and sizes leave little choice.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, up to 2,000, must-linked ones counted once. With a precomputed metric their
        dissimilarities (n_samples, n_samples).
    labels : array-like of shape (n_samples,)
        Clusters that satisfy the constraints, of any clusterer.
    constraints : Constraints, default=None
        Must-links, cannot-links and exclusive groups that the best clusters must satisfy, too.
        Pairs of weight 0 ask for nothing.
    n_clusters : int, default=None
        Clusters that the best may have; None takes as many as the labels have.
    model : {"mssc", "k-medoids"}, default="mssc"
        What clusters cost: squares to means, as k-means has it, or dissimilarities to medoids.
    metric : str, callable or array, default="euclidean"
        Of "k-medoids", as in `dissimilarity_matrix`; "mssc" knows the Euclidean alone.
    min_size, max_size : int or array-like of shape (n_clusters,), default=None
        Rows of a cluster, as in :class:`COPKMeans`. Of sizes per cluster the bound knows the
        smallest and the largest, that of "k-medoids" none.
    tol : float, default=1e-3
        It ends when the gap is below, or when several bounds in a row gained less than that.
    max_iter : int, default=300
        Steps for "mssc", each about 0.1 s with 1,000 rows. More of them can raise the bound.
    random_state : int, RandomState instance or None, default=None
        Draws the first medoids of "k-medoids".

    Returns
    -------
    OptimalityGap
        ``.cost``, ``.bound``, ``.gap``, ``.settled``.

    See Also
    --------
    COPKMeans : Its ``gap_`` is about labels at its own centers, not about other centers.

    References
    ----------
    peng2007, randel2021

    Examples
    --------
    >>> from likewise import COPKMeans, Constraints, optimality_gap
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> c = Constraints(4, must_link=[(1, 2)])
    >>> labels = COPKMeans(2, random_state=0).fit(X, constraints=c).labels_
    >>> found = optimality_gap(X, labels, c)
    >>> found.cost, found.gap < 1e-3
    (48.666666666666664, True)
    """
    constraints = check_constraints(constraints, n_samples=len_of(X))
    check_choice("model", model, ("mssc", "k-medoids"))
    check_scalar(tol, "tol", (int, float, np.number), min_val=0)
    check_scalar(max_iter, "max_iter", (int, np.integer), min_val=1)
    labels = check_labels(labels, constraints.n_samples)
    k = int(labels.max()) + 1 if n_clusters is None else n_clusters
    check_scalar(k, "n_clusters", (int, np.integer), min_val=int(labels.max()) + 1)
    lower, upper = size_bounds(min_size, max_size, k, len(labels))
    smallest, largest = int(lower.min()), int(upper.max())
    asked = constraints.subset(asking_pairs(constraints))
    check_rules_hold(labels, asked, k, smallest, largest)
    if model == "k-medoids":
        return medoid_gap(X, metric, labels, asked, k, random_state)
    if not (isinstance(metric, str) and metric == "euclidean"):
        raise ValueError(f"model='mssc' is Euclidean; metric={metric!r} needs model='k-medoids'.")
    rows = check_rows(X, dtype=np.float64)
    return square_gap(rows, labels, asked, k, smallest, largest, tol=tol, max_iter=max_iter)


def square_gap(
    X: np.ndarray,
    labels: np.ndarray,
    constraints: Constraints,
    k: int,
    smallest: int,
    largest: int,
    *,
    tol: float,
    max_iter: int,
) -> OptimalityGap:
    """The gap of sums of squares, rows of a must-linked group moving as one."""
    closure = constraints.closure()
    if closure.n_components > MOST_GROUPS:
        raise ValueError(
            f"optimality_gap takes up to {MOST_GROUPS:,} rows, must-linked ones counted once, and "
            f"there are {closure.n_components:,}. Take a sample of them."
        )
    X = X - X.mean(axis=0)
    total = float((X**2).sum())
    cost = float(((X - cluster_means(X, labels, labels.max() + 1)[labels]) ** 2).sum())
    sums = np.zeros((closure.n_components, X.shape[1]))
    np.add.at(sums, closure.components, X)
    k = min(k, closure.n_components)
    program = partition_program(sums, closure.sizes, closure.apart_pairs(), k, smallest, largest)
    enough = total - cost * (1 - tol)
    found = bound_partitions(program, enough=enough, worth=tol * cost, max_iter=max_iter)
    return gap_of(cost, total - found.most, found.converged)


def medoid_gap(
    X, metric, labels: np.ndarray, constraints: Constraints, k: int, random_state
) -> OptimalityGap:
    """The gap of dissimilarities to medoids, by the bound that prices come with."""
    D = dissimilarity_matrix(X, metric)
    to_each = [D[np.ix_(labels == c, labels == c)].sum(axis=0) for c in range(labels.max() + 1)]
    cost = float(sum(sums.min() for sums in to_each))
    prices = constraint_prices(
        D,
        constraints,
        k,
        model="k-medoids",
        metric="precomputed",
        eps=NO_SLACK,
        random_state=random_state,
    )
    return gap_of(cost, prices.bound, prices.settled)


def gap_of(cost: float, bound: float, settled: bool) -> OptimalityGap:
    """The gap as a share of the cost: 0 where there is none to pay."""
    bound = min(max(bound, 0.0), cost)
    return OptimalityGap(cost, bound, (cost - bound) / cost if cost > 0 else 0.0, settled)


def check_labels(labels, n_samples: int) -> np.ndarray:
    """Labels (n,) as numbers 0 .. k - 1, or one error."""
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"labels have shape {labels.shape}, but X has {n_samples} rows. Give one per row."
        )
    if labels.dtype.kind in "iuf" and (labels < 0).any():
        row = int(np.flatnonzero(labels < 0)[0])
        raise ValueError(
            f"labels[{row}] = {labels[row]} is no cluster. Leave such rows out of X, labels and "
            "constraints (constraints.restrict(rows))."
        )
    return np.unique(labels, return_inverse=True)[1]


def asking_pairs(constraints: Constraints) -> np.ndarray:
    """Positions of the must-links and cannot-links that count."""
    pairs = constraints.positions("must_link", "cannot_link")
    return pairs[constraints.weights[pairs] > 0]


def check_rules_hold(
    labels: np.ndarray, constraints: Constraints, k: int, smallest: int, largest: int
) -> None:
    """One error where the labels violate what the bound assumes: they do not compare then."""
    way_out = "The bound is about clusters that satisfy it: leave it out, or mend the labels."
    for answer in violated_answers(None, constraints, labels)[:1]:
        raise ValueError(f"The labels violate {constraints.describe(int(answer))}. {way_out}")
    for number, rows in enumerate(constraints.exclusive):
        if len(np.unique(labels[rows])) < len(rows):
            raise ValueError(f"The labels violate exclusive[{number}]. {way_out}")
    for size in np.bincount(labels, minlength=k):
        if not smallest <= size <= largest:
            raise ValueError(
                f"A cluster has {size} rows, outside min_size={smallest} and max_size={largest}. "
                f"{way_out}"
            )
