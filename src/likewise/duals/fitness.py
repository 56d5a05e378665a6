"""Which metric do the answers refer to? The one in which most of them cost nothing.

    F(m) = number of (pair, center) whose multipliers are 0 in k-medoids under the metric m

The count favors no metric by its unit: zero is zero in any. Beside it stands the share of pairs
that cost nothing at all, which also compares sets of answers of different sizes, and by which
metrics are ranked unless by="count" is asked for.
Zeros are those of the Lagrangian, rounded: it spreads a price over pairs that could share it, so
some of its prices are above 0 where the linear program (solver="lp") has a solution with 0. How
often is in docs/experiments/duals.md.
Reference: randel2021, (20), which sums over the k clusters; with k-medoids it runs over all rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from likewise.cluster import check_choice
from likewise.constraints import Constraints, check_constraints
from likewise.duals.dissimilarity import dissimilarity_matrix, len_of
from likewise.duals.medoid_prices import cluster_without_pairs, price_sets
from likewise.duals.priced_pairs import pairs_of
from likewise.progress import track

METRICS = ("euclidean", "manhattan", "chebyshev", "mahalanobis", "cosine")
WIDTHS = (1e-3,)  # to recognize zeros, a tenth of a percent is close enough
N_SPLITS = 5  # of the answers, when a space is learned from them


@dataclass(frozen=True, eq=False, repr=False)
class MetricFitness:
    """How well metrics fit the answers, best first.

    Attributes
    ----------
    names : list of str
        The metrics, best first: by the mean share over the sets, then by the count, or the reverse.
    shares : ndarray of shape (n_metrics,)
        Mean share of pairs that cost nothing.
    standard_errors : ndarray of shape (n_metrics,)
        Of the shares over the sets; nan for a single one.
    counts : ndarray of shape (n_metrics,)
        Equation (20), mean over the sets: of all (pair, row) those without a multiplier.
    wins : ndarray of shape (n_metrics,)
        Share of the sets in which the metric is the best, ties divided: how stable the ranking is.
        Best by what the metrics are ranked by.
    set_shares : ndarray of shape (n_sets, n_metrics)
    """

    names: list[str]
    shares: np.ndarray
    standard_errors: np.ndarray
    counts: np.ndarray
    wins: np.ndarray
    set_shares: np.ndarray

    @property
    def best(self) -> str:
        """The name of the metric that fits best."""
        return self.names[0]

    def __repr__(self) -> str:
        ranking = ", ".join(f"{name} {share:.3f}" for name, share in zip(self.names, self.shares))
        return f"<MetricFitness: {ranking}>"


def metric_fitness(
    X,
    constraints,
    n_clusters,
    metrics=METRICS,
    *,
    n_sets=20,
    eps=0.1,
    solver="lagrangian",
    tight=True,
    by="share",
    n_jobs=None,
    random_state=None,
) -> MetricFitness:
    """Rank metrics, and learned spaces, by how many answers they satisfy at no cost.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Its must-links and cannot-links are used.
    n_clusters : int
        At least 2.
    metrics : sequence or mapping of name to metric
        Each as in `dissimilarity_matrix`: a name, a function of two rows, a matrix of
        dissimilarities, a fitted learner. A learner not fitted yet is fitted to a part of the
        answers, and then all metrics are judged by the rest, which none of them saw.
    n_sets : int, default=20
        Sets of pairs drawn from the answers with replacement, to judge the stability; 0 takes the
        answers once as they are. With a learner to fit: 5 parts of the answers, each held out once.
    eps : float, default=0.1
        As in `constraint_prices`.
    solver : {"lagrangian", "lp"}, default="lagrangian"
        "lp" solves every set's linear program, for zeros that are exact, and takes about ten times
        as long.
    tight : bool, default=True
        As in `constraint_prices`: False takes cannot-links as equation (16) prints them.
    by : {"share", "count"}, default="share"
        What metrics are ranked by: the share of pairs that cost nothing, or equation (20). As
        published are ``by="count", tight=False``.
    n_jobs : int, default=None
        Sets in parallel, by joblib.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    MetricFitness
        ``.best``, ``.names``, ``.shares``, ``.counts``, ``.wins``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, metric_fitness
    >>> from likewise.datasets import make_metric_clusters
    >>> data = make_metric_clusters("mahalanobis", 60, random_state=0)
    >>> c = Constraints.from_labels(data.y, n_pairs=30, random_state=0)
    >>> metric_fitness(data.X, c, 3, ["euclidean", "mahalanobis"], n_sets=0, random_state=0).best
    'mahalanobis'
    """
    constraints = check_constraints(constraints, n_samples=len_of(X))
    check_scalar(n_clusters, "n_clusters", (int, np.integer), min_val=2)
    check_scalar(n_sets, "n_sets", (int, np.integer), min_val=0)
    check_choice("solver", solver, ("lagrangian", "lp"))
    check_choice("by", by, ("share", "count"))
    rng = check_random_state(random_state)
    chosen = name_metrics(metrics)
    pairs_only = constraints.subset(constraints.positions("must_link", "cannot_link"))
    if not pairs_only.n_answers:
        raise ValueError("metric_fitness needs must-links or cannot-links; there are none.")
    settings = {"n_jobs": n_jobs, "exact": solver == "lp", "tight": tight}
    seed = rng.randint(2**31 - 1)
    learned = [name for name, metric in chosen.items() if is_unfitted(metric)]
    sets = draw_sets(constraints, pairs_only, n_sets, rng, held_out=bool(learned))
    judged = [judged for _, judged in sets]
    shares, counts = np.empty((2, len(sets), len(chosen)))
    for column, (name, metric) in enumerate(track(list(chosen.items()), "judging metrics")):
        if name in learned:
            for row, (fit_part, _) in enumerate(sets):
                space = clone(metric).fit(X, constraints=fit_part)
                D = dissimilarity_matrix(X, space)
                fitness = fitness_of_sets(
                    D, judged[row : row + 1], n_clusters, eps, seed=seed, **settings
                )
                shares[row, column], counts[row, column] = fitness[0][0], fitness[1][0]
        else:
            D = dissimilarity_matrix(X, metric)
            fitness = fitness_of_sets(D, judged, n_clusters, eps, seed=seed, **settings)
            shares[:, column], counts[:, column] = fitness
    return rank(list(chosen), shares, counts, by)


def fitness_of_sets(
    D,
    sets: Sequence[Constraints],
    n_clusters: int,
    eps: float,
    *,
    seed: int,
    exact: bool = False,
    tight: bool = True,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Share of pairs that cost nothing, and equation (20), for each set: two arrays (n_sets,)."""
    prepared = cluster_without_pairs(D, n_clusters, check_random_state(seed))
    pairs = list(map(pairs_of, sets))
    settings: dict[str, Any] = {"tight": tight, "exact": exact, "n_jobs": n_jobs}
    priced = price_sets(prepared, pairs, eps, widths=WIDTHS, **settings)
    free = [np.mean(prices.prices == 0) for prices in priced]
    zeros = [np.count_nonzero(prices.multipliers == 0) for prices in priced]
    return np.array(free), np.array(zeros)


def draw_sets(
    constraints: Constraints, pairs_only: Constraints, n_sets: int, rng, *, held_out: bool
) -> list[tuple[Constraints, Constraints]]:
    """(answers to learn from, pairs to judge by) for each set."""
    if held_out:
        sets = []
        for fit_part, rest in constraints.folds(N_SPLITS, random_state=rng):
            rest = rest.subset(rest.positions("must_link", "cannot_link"))
            if rest.n_answers:
                sets.append((fit_part, rest))
        if not sets:
            raise ValueError(
                "There are too few pairs to hold some out. Pass fitted learners, or add pairs."
            )
        return sets
    m = pairs_only.n_answers
    if not n_sets:
        return [(constraints, pairs_only)]
    draws = (np.unique(rng.randint(m, size=m)) for _ in range(n_sets))
    return [(constraints, pairs_only.subset(draw)) for draw in draws]


def rank(names: list[str], shares: np.ndarray, counts: np.ndarray, by: str) -> MetricFitness:
    """Best first, with what the sets say of the ranking."""
    means, mean_counts = shares.mean(axis=0), counts.mean(axis=0)
    keys = (-mean_counts, -means) if by == "share" else (-means, -mean_counts)
    order = np.lexsort(keys)
    ranked = shares if by == "share" else counts
    firsts = ranked == ranked.max(axis=1, keepdims=True)
    wins = (firsts / firsts.sum(axis=1, keepdims=True)).mean(axis=0)
    n_sets = len(shares)
    errors = shares.std(axis=0, ddof=1) / np.sqrt(n_sets) if n_sets > 1 else means * np.nan
    return MetricFitness(
        [names[i] for i in order],
        means[order],
        errors[order],
        mean_counts[order],
        wins[order],
        shares[:, order],
    )


def name_metrics(metrics) -> dict[str, Any]:
    """A name for every metric; one error where two have the same."""
    if isinstance(metrics, Mapping):
        return dict(metrics)
    named: dict[str, Any] = {}
    for i, metric in enumerate(metrics):
        if isinstance(metric, str):
            name = metric
        elif hasattr(metric, "transform"):
            name = type(metric).__name__
        else:
            name = getattr(metric, "__name__", f"metric {i}")
        if name in named:
            raise ValueError(f"Two metrics are called {name!r}. Give a dict of name to metric.")
        named[name] = metric
    return named


def is_unfitted(metric) -> bool:
    """Whether this is a learner that was not fitted yet."""
    if not hasattr(metric, "transform") or not hasattr(metric, "fit"):
        return False
    try:
        check_is_fitted(metric)
    except NotFittedError:
        return True
    return False
