"""The price of every answer: how much worse the clustering becomes by satisfying it.

    model="mssc"       sum of squares to k fixed centers (centroid_prices.py)
    model="k-medoids"  any dissimilarity, to k of the rows (medoid_prices.py)

The price of a pair is the sum of its Lagrange multipliers over the centers, without the sign: 0
when the clusters satisfy it anyway, large when they would have to change a lot. The paper's
"impact" is its negative. A triple refers to distances, not to clusters: its price is the multiplier
that a learner gave it, in the learner's unit.
Reference: randel2021, section 3.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state, check_scalar

from likewise.constraints import Constraints, check_constraints
from likewise.duals import centroid_prices, medoid_prices
from likewise.duals.dissimilarity import dissimilarity_matrix, len_of
from likewise.duals.priced_pairs import PricedPairs, pairs_of
from likewise.kernels import sq_distance_blocks, sq_distances
from likewise.numerics.pair_distances import pair_sq_distances
from likewise.numerics.rows import check_rows

SOLVERS = {
    "mssc": ("auto", "lp", "subgradient", "isolated", "alternating"),
    "k-medoids": ("auto", "lp", "lagrangian", "isolated"),
}
LARGEST_PROGRAM = 500_000  # points in pairs times centers: beyond, HiGHS takes minutes
N_INIT = 10  # starts of k-means


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintPrices:
    """What every answer costs.

    Attributes
    ----------
    prices : ndarray of shape (n_answers,)
        >= 0, in the order of ``constraints.answers()``. Those of pairs are in the unit of the cost
        (squared distances for "mssc"), those of triples in the learner's: compare within a kind.
    satisfied : ndarray of shape (n_answers,)
        Whether the answer is already satisfied: pairs by the clusters without answers, triples by
        the distances. "Can't tell" asks for nothing and is always satisfied.
    priced : ndarray of shape (n_answers,)
        Whether the answer has a price: all pairs of weight > 0, and triples with a learner.
    multipliers : ndarray of shape (n_pairs, n_centers)
        One row per pair, in the order given: eta <= 0 of a cannot-link, nu = lambda - gamma of a
        must-link, which is positive where its first row is pushed out of the center.
    bound : float
        The least that a clustering under the (relaxed) pairs costs; an estimate for "alternating".
    cost : float
        What it costs without them.
    labels : ndarray of shape (n_samples,)
        The clusters without answers.
    centers : ndarray
        The centers, (n_clusters, n_features), or the rows that are medoids, (n_clusters,).
    settled : bool
        Whether the solver ended by itself; for k-medoids, whether the bound is proved to lie within
        0.1 % of the best one.
    """

    prices: np.ndarray
    satisfied: np.ndarray
    priced: np.ndarray
    multipliers: np.ndarray
    bound: float
    cost: float
    labels: np.ndarray
    centers: np.ndarray
    settled: bool

    def __repr__(self) -> str:
        n_costly = int(np.count_nonzero(self.prices > 0))
        return f"<ConstraintPrices of {len(self.prices)} answers, {n_costly} above 0>"


def constraint_prices(
    X,
    constraints,
    n_clusters,
    *,
    model="mssc",
    metric="euclidean",
    solver="auto",
    eps=0.1,
    tight=True,
    centers=None,
    learner=None,
    max_iter=500,
    random_state=None,
) -> ConstraintPrices:
    """Compute what satisfying each answer costs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; with a precomputed metric their dissimilarities (n_samples, n_samples).
    constraints : Constraints
    n_clusters : int
        At least 2.
    model : {"mssc", "k-medoids"}, default="mssc"
        Sum of squares to centers, for any number of rows, or dissimilarities to medoids, which
        takes a matrix of n_samples squared.
    metric : str, callable or array, default="euclidean"
        Of "k-medoids", as in `dissimilarity_matrix`; "mssc" knows the Euclidean alone.
    solver : str, default="auto"
        "mssc": "lp" exact, "subgradient" for more pairs than fit, "isolated" each pair by itself,
        "alternating" as in the paper; "auto" takes "lp" up to 500,000 points in pairs times
        clusters. "k-medoids": "lagrangian", within some hundredths of a percent of "lp" and ten
        times faster, "lp", or "isolated" with the medoids fixed; "auto" takes "lagrangian".
    eps : float, default=0.1
        How far each center's part of a pair may be off, in ]0, 1[. Raising it asks less of answers
        and, with many clusters, makes must-links cheaper than cannot-links.
    tight : bool, default=True
        For "k-medoids": no more of a cannot-link's two rows at a center than it is open. False is
        the paper's equation (16) as printed, at most one of the two: the same partitions, a lower
        bound and smaller prices.
    centers : array-like of shape (n_clusters, n_features), default=None
        For "mssc": the centers, when there are some already. None finds them by k-means.
    learner : fitted SKLR or other learner, default=None
        Fitted to the same constraints; its ``duals_`` become the prices of the triples.
    max_iter : int, default=500
        Steps of "subgradient" and "alternating".
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means or of the search for medoids.

    Returns
    -------
    ConstraintPrices
        ``.prices``, ``.satisfied``, ``.bound``, ``.multipliers``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, constraint_prices
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> c = Constraints(6, must_link=[(0, 2)], cannot_link=[(0, 5), (3, 4)])
    >>> result = constraint_prices(X, c, 2, random_state=0)
    >>> result.prices, result.satisfied
    (array([ 0.,  0., 80.]), array([ True,  True, False]))
    """
    constraints = check_constraints(constraints, n_samples=len_of(X))
    check_choices(model, solver, metric, n_clusters, eps)
    rng = check_random_state(random_state)
    pairs = pairs_of(constraints)
    if model == "mssc":
        X = check_rows(X, dtype=[np.float64, np.float32])
        labels, found_centers, cost = cluster_once(X, n_clusters, centers, rng)
        priced, bound = price_fixed(X, found_centers, labels, cost, pairs, solver, eps, max_iter)
        triples_satisfied = satisfied_triples(constraints, lambda some: pair_sq_distances(X, some))
    else:
        D = dissimilarity_matrix(X, metric)
        prepared = medoid_prices.cluster_without_pairs(D, n_clusters, rng)
        labels, found_centers = prepared.swapped.labels, prepared.swapped.medoids
        cost = prepared.swapped.cost * prepared.scale
        priced = price_medoids(prepared, pairs, solver, eps, tight)
        bound = priced.bound
        triples_satisfied = satisfied_triples(constraints, lambda some: D[some[:, 0], some[:, 1]])
    return assemble(
        constraints, pairs, priced, bound, labels, triples_satisfied, learner, cost, found_centers
    )


def price_fixed(
    X, centers, labels, cost, pairs: PricedPairs, solver: str, eps: float, max_iter: int
) -> tuple[centroid_prices.Priced, float]:
    """Multipliers at fixed centers, and the bound on what all rows cost."""
    if solver == "alternating":
        priced = centroid_prices.price_by_alternating(
            X, labels, pairs, eps, n_clusters=len(centers), max_iter=max_iter
        )
        return priced, priced.bound
    costs = sq_distances(X[pairs.points], centers)
    if solver == "auto":
        solver = "lp" if costs.size <= LARGEST_PROGRAM else "subgradient"
    if solver == "isolated":
        priced = centroid_prices.price_alone(costs, pairs)
    elif solver == "lp":
        priced = centroid_prices.price_by_lp(costs, pairs, eps)
    else:
        priced = centroid_prices.price_by_climbing(costs, pairs, eps, max_iter=max_iter)
    return priced, cost - float(costs.min(axis=1).sum()) + priced.bound


def price_medoids(
    prepared: medoid_prices.Prepared, pairs: PricedPairs, solver: str, eps: float, tight: bool
) -> centroid_prices.Priced:
    """Multipliers of one set of pairs over dissimilarities already clustered."""
    if solver == "lp":
        return medoid_prices.price_exactly(prepared, pairs, eps, tight=tight)
    if solver == "isolated":
        at_medoids = prepared.costs[np.ix_(pairs.points, prepared.swapped.medoids)]
        alone = centroid_prices.price_alone(at_medoids, pairs)
        spread = np.zeros((len(pairs.ends), len(prepared.costs)))
        spread[:, prepared.swapped.medoids] = alone.multipliers * prepared.scale
        return centroid_prices.Priced(spread, prepared.bound * prepared.scale, settled=True)
    return medoid_prices.price_by_lagrangian(prepared, pairs, eps, tight=tight)


def cluster_once(X, n_clusters: int, centers, rng) -> tuple[np.ndarray, np.ndarray, float]:
    """Labels, centers and cost: of k-means, or of the centers given."""
    if centers is None:
        model = KMeans(n_clusters, n_init=N_INIT, random_state=rng).fit(X)
        return model.labels_, model.cluster_centers_, float(model.inertia_)
    centers = check_array(centers, dtype=[np.float64, np.float32], input_name="centers")
    if centers.shape != (n_clusters, X.shape[1]):
        raise ValueError(
            f"centers have shape {centers.shape}, but n_clusters={n_clusters} and X has "
            f"{X.shape[1]} features."
        )
    labels, cost = np.empty(len(X), dtype=np.int64), 0.0
    for rows, sq_dists in sq_distance_blocks(X, centers):
        labels[rows] = sq_dists.argmin(axis=1)
        cost += float(sq_dists.min(axis=1).sum())
    return labels, centers, cost


def satisfied_triples(constraints: Constraints, distances) -> np.ndarray:
    """(n_answers,) False where the distances violate a triple."""
    smaller, larger, answers = constraints.distance_inequalities()
    satisfied = np.ones(constraints.n_answers, dtype=bool)
    satisfied[answers[distances(smaller) >= distances(larger)]] = False
    return satisfied


def assemble(
    constraints: Constraints,
    pairs: PricedPairs,
    solved: centroid_prices.Priced,
    bound: float,
    labels: np.ndarray,
    triples_satisfied: np.ndarray,
    learner,
    cost: float,
    centers: np.ndarray,
) -> ConstraintPrices:
    """Prices of the pairs and of the triples, one per answer."""
    prices = np.zeros(constraints.n_answers)
    prices[pairs.answers] = solved.prices
    priced = np.zeros(constraints.n_answers, dtype=bool)
    priced[pairs.answers] = True
    if learner is not None:
        triples = constraints.positions("odd_one_out", "closer", "undecided")
        prices[triples] = learner_duals(learner, constraints)[triples]
        priced[triples] = constraints.weights[triples] > 0
    ends, sign = constraints.signed_pairs()
    satisfied = triples_satisfied.copy()
    together = labels[ends[:, 0]] == labels[ends[:, 1]]
    all_pairs = constraints.positions("must_link", "cannot_link")
    satisfied[all_pairs] = together == (sign > 0)
    multipliers = np.zeros((len(ends), solved.multipliers.shape[1]))
    multipliers[np.searchsorted(all_pairs, pairs.answers)] = solved.multipliers
    return ConstraintPrices(
        prices, satisfied, priced, multipliers, bound, cost, labels, centers, solved.settled
    )


def learner_duals(learner, constraints: Constraints) -> np.ndarray:
    """How hard each answer pulls in a learner fitted to these answers, or one error."""
    duals = getattr(learner, "duals_", None)
    if duals is None:
        raise ValueError(
            f"learner={type(learner).__name__} has no duals_. Fit SKLR to these answers first."
        )
    if len(duals) != constraints.n_answers:
        raise ValueError(
            f"The learner was fitted to {len(duals)} answers, but there are "
            f"{constraints.n_answers}. Fit it to the same constraints."
        )
    return np.asarray(duals)


def check_choices(model: str, solver: str, metric, n_clusters: int, eps: float) -> None:
    """One error when a setting is not one of its choices."""
    if model not in SOLVERS:
        raise ValueError(f"model={model!r} is not one of {', '.join(map(repr, SOLVERS))}.")
    if solver not in SOLVERS[model]:
        known = ", ".join(map(repr, SOLVERS[model]))
        raise ValueError(f"solver={solver!r} is not one of {known}, those of model={model!r}.")
    if model == "mssc" and not (isinstance(metric, str) and metric == "euclidean"):
        raise ValueError(f"model='mssc' is Euclidean; metric={metric!r} needs model='k-medoids'.")
    check_scalar(n_clusters, "n_clusters", (int, np.integer), min_val=2)
    check_scalar(eps, "eps", float, min_val=0, max_val=1, include_boundaries="neither")
