"""SSC: choose the few pairs of many that help clustering most, and learn the metric from them.

    repeat:  for every candidate c of the pool:  M_c = ITML(chosen + c)
                                                 labels_c = k-means under M_c, from the same centers
             choose the c whose clusters agree best with the whole pool

active learns M_c from all chosen pairs with the identity as prior (equation 2 of the paper), online
projects the last metric onto c alone (equation 3), random chooses without looking, and printed is
algorithm 1 to the letter: all chosen pairs, with the last metric as prior. Ties go to the smaller
error of k-means beside the scatter.

Made fast in three ways. A metric is kept by its small core (pool.py), so that learning starts from
the duals of the last round and costs nothing in features. Of many candidates only finalists are
judged in full: half of them because one projection of the metric, a rank-one change of all
distances, would satisfy most of the pool; half because they were judged best when last judged, or
never (a lazy greedy choice; agreement is not submodular, so it may miss the best). ``exact=True``
judges all.
Reference: rao2013. Its quality of a clustering is not defined; the default is the agreement with
the pool, must-links and cannot-links weighing the same. Its k-means error is offered too, but a
metric that shrinks all distances lowers it; and any function of the clusters. Its algorithm 1 takes
the last metric as the prior of all chosen pairs, which counts them again in every round; the
default follows its text instead.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from likewise.constraints import (
    Constraints,
    check_constraints,
    coherence,
    informativeness,
)
from likewise.metric_learning import ITML
from likewise.numerics.pair_distances import mean_sq_distance, pair_sq_distances
from likewise.numerics.psd import positive_part
from likewise.numerics.rows import check_rows
from likewise.progress import track
from likewise.selection.pool import (
    IDENTITY,
    Clusters,
    Metric,
    Pool,
    cluster_pool,
    foresee,
    learn_again,
    learn_from_chosen,
    make_pool,
    matrix_of,
    project_once,
    take_step,
)

STRATEGIES = ("active", "online", "random", "printed")
QUALITIES = ("agreement", "error")
N_FINALISTS = 50  # candidates judged in full in a round
SAME_ROW = 1e-12  # a squared difference below this share of the mean is rounding


@dataclass(frozen=True, eq=False)
class SelectedConstraints:
    """The pairs chosen, round by round, and the metric learned from them.

    Attributes
    ----------
    chosen : ndarray of shape (n_chosen,)
        Positions in the pool's ``answers()``, in the order of choice.
    constraints : Constraints
        The chosen answers, in that order; with ``closure=True`` also what they imply.
    metric : ndarray of shape (n_features, n_features)
        M of the squared distance ``(x - y) @ M @ (x - y)``.
    labels : ndarray of shape (n_samples,)
        Clusters under that metric.
    qualities : ndarray of shape (n_chosen + 1,)
        Before the first choice and after each.
    informativeness, coherence : ndarray of shape (n_chosen,)
        Of the pairs chosen so far, after each choice: the share that k-means without answers
        violates, and the share of must-links and cannot-links that do not pull against each other
        under the metric of that round.
    n_judged : int
        Metrics learned and clustered under.
    """

    chosen: np.ndarray
    constraints: Constraints
    metric: np.ndarray
    labels: np.ndarray
    qualities: np.ndarray
    informativeness: np.ndarray
    coherence: np.ndarray
    n_judged: int
    _differences: np.ndarray
    _metrics: tuple[Metric, ...]

    def metric_after(self, n_chosen: int) -> np.ndarray:
        """The metric of a round: ``metric_after(0)`` is the identity."""
        return matrix_of(self._metrics[n_chosen], self._differences)

    def transform(self, X) -> np.ndarray:
        """Rows in the space whose Euclidean distance is the learned one."""
        part = positive_part(self.metric)
        return np.asarray(X) @ (part.vectors * np.sqrt(part.values)) @ part.vectors.T


def select_constraints(
    X,
    pool: Constraints,
    n_clusters: int,
    *,
    n_select: int = 50,
    strategy: str = "active",
    quality: str | Callable[[np.ndarray], float] = "agreement",
    closure: bool = False,
    exact: bool = False,
    patience: int | None = 3,
    init=None,
    C: float = 1.0,
    bounds=None,
    random_state=None,
    n_jobs: int | None = None,
) -> SelectedConstraints:
    """Choose the informative pairs of a pool, greedily, and learn a metric from them.

    Use it when there are many answers of mixed quality and the clusters should depend on a few.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    pool : Constraints
        The answers to choose from; its must-links and cannot-links are used.
    n_clusters : int
        Clusters of k-means.
    n_select : int, default=50
        Maximum number of pairs to choose. Raising it takes proportionally longer.
    strategy : "active", "online", "random" or "printed", default="active"
        The paper's SSC-active, SSC-OLDML and SSC-rand; "printed" is its algorithm 1 to the letter,
        which learns from all chosen pairs again with the last metric as prior.
    quality : "agreement", "error" or callable, default="agreement"
        Share of the pool that the clusters satisfy, must-links and cannot-links weighing the same;
        the k-means error under the metric, negative; or ``quality(labels)``, larger is better, of
        the clusters (n_samples,) of all rows. Finalists are found by agreement in any case;
        ``exact=True`` judges every candidate by the quality given.
    closure : bool, default=False
        Skip pairs that those chosen imply, and learn the last metric from all that they imply.
    exact : bool, default=False
        Judge every candidate in every round, not only finalists.
    patience : int or None, default=3
        Stop after this many rounds without a better quality, and return what was chosen before
        them. None always chooses ``n_select``.
    init : array-like of shape (n_clusters, n_features), default=None
        Centers that every k-means starts from. None takes those of k-means on X, best of ten.
    C : float, default=1.0
        What a missed bound costs, as in `ITML`. Raising it follows the chosen pairs more closely.
    bounds : tuple of two floats, "percentiles" or None, default=None
        Squared distances asked of must-links and cannot-links, in units of the mean squared
        distance, as in `ITML`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Candidates judged in parallel, through joblib.

    Returns
    -------
    SelectedConstraints

    References
    ----------
    rao2013

    Examples
    --------
    >>> from likewise import Constraints, select_constraints
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> pool = Constraints.from_labels(iris.y, n_pairs=60, random_state=0)
    >>> selected = select_constraints(iris.X, pool, 3, n_select=5, random_state=0)
    >>> selected.qualities[-1] > selected.qualities[0]
    np.True_
    """
    X = check_rows(X, dtype=np.float64)
    pool = check_constraints(pool, n_samples=len(X))
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1)) if not isinstance(random_state, int) else random_state
    check_selection_settings(n_clusters, n_select, strategy, quality, patience, len(X))
    bounds = ITML(C=C, bounds=bounds, random_state=seed).fit(X).bounds_
    near, far = mean_sq_distance(X) * np.array(bounds)
    usable = find_usable(X, pool)
    pairs, sign = pool.subset(usable).signed_pairs()
    sign, sq_bounds = sign.astype(np.float64), np.where(sign > 0, near, far)
    mean = X.mean(axis=0)
    rows = make_pool(X - mean, pairs, sign, pool.weights[usable], sq_bounds, C)
    centers = starting_centers(rows.X, mean, n_clusters, init, seed)

    before = cluster_pool(rows, IDENTITY, centers)
    judge = Judge(rows, centers, quality, strategy, seed)
    rounds = [Judged(IDENTITY, before, judge.rate(before))]
    last_known = np.full(len(pairs), np.inf)
    turn = rng.permutation(len(pairs))
    n_judged = best = 0
    counts = range(min(n_select, len(pairs)))
    for n_chosen in track(counts, "choosing pairs", may_end_early=True):
        now = rounds[-1]
        left = find_left(pool.subset(usable), now.metric.chosen, closure)
        if not len(left):
            break
        if strategy == "random":
            left = turn[np.isin(turn, left)][:1]
        elif not exact:
            left = find_finalists(judge, now, left, last_known)
        judged = Parallel(n_jobs=n_jobs)(delayed(judge.judge)(now.metric, c) for c in left)
        n_judged += len(judged)
        last_known[left] = [result.score[0] for result in judged]
        rounds.append(max(judged, key=lambda result: result.score))
        if rounds[-1].score[0] > rounds[best].score[0]:
            best = n_chosen + 1
        elif patience is not None and strategy != "random" and n_chosen + 1 - best >= patience:
            break
    if patience is not None and strategy != "random":
        rounds = rounds[: best + 1]
    last = rounds[-1]
    chosen = usable[last.metric.chosen]
    constraints = pool.subset(chosen)
    metric, labels = matrix_of(last.metric, rows.differences), last.clusters.labels
    if closure:
        constraints = implied_pairs(constraints)
        itml = ITML(C=C, bounds=bounds, random_state=seed)
        metric = itml.fit(X, constraints=constraints).metric_
        labels = cluster_under(rows, metric, centers)
    return SelectedConstraints(
        chosen,
        constraints,
        metric,
        labels,
        np.array([result.score[0] for result in rounds]),
        *describe_rounds(rows, pool.subset(usable), rounds),
        n_judged,
        rows.differences,
        tuple(result.metric for result in rounds),
    )


class Judged(NamedTuple):
    metric: Metric
    clusters: Clusters
    score: tuple[float, float]  # quality, and what decides among equals


@dataclass(frozen=True)
class Judge:
    """Learn from a candidate, cluster and rate: what one turn of the inner loop does."""

    pool: Pool
    centers: np.ndarray
    quality: str | Callable[[np.ndarray], float]
    strategy: str
    seed: int

    def judge(self, metric: Metric, candidate: int) -> Judged:
        if self.strategy == "online":
            steps = project_once(self.pool, metric, np.array([candidate]))
            metric = take_step(metric, steps, 0)
        elif self.strategy == "printed":
            metric = learn_again(self.pool, metric, candidate, self.seed)
        else:
            chosen, start = np.append(metric.chosen, candidate), np.append(metric.duals, 0.0)
            metric = learn_from_chosen(self.pool, chosen, start, self.seed)
        clusters = cluster_pool(self.pool, metric, self.centers)
        return Judged(metric, clusters, self.rate(clusters))

    def rate(self, clusters: Clusters) -> tuple[float, float]:
        if self.quality == "error":
            return -clusters.error, 0.0
        spread = clusters.error / clusters.scatter if clusters.scatter > 0 else 0.0
        if callable(self.quality):
            return float(self.quality(clusters.labels)), -spread
        return agreement(self.pool, clusters.labels), -spread


def agreement(pool: Pool, labels: np.ndarray) -> float:
    """Share of the pairs that labels satisfy, the mean of the two kinds."""
    together = labels[pool.pairs[:, 0]] == labels[pool.pairs[:, 1]]
    kinds = [pool.sign == kind for kind in (1.0, -1.0) if (pool.sign == kind).any()]
    satisfied = (together == (pool.sign > 0)) * pool.weights
    shares = [satisfied[kind].sum() / pool.weights[kind].sum() for kind in kinds]
    return float(np.mean(shares)) if shares else float("nan")


def find_finalists(judge: Judge, now: Judged, left: np.ndarray, last_known) -> np.ndarray:
    """Candidates worth judging: by one projection, and by what they were worth when last judged."""
    if len(left) <= N_FINALISTS:
        return left
    pool = judge.pool
    steps = project_once(pool, now.metric, left)
    touched, local = np.unique(pool.pairs, return_inverse=True)
    ahead = foresee(pool, now.metric, now.clusters, steps, touched)
    there = pool._replace(pairs=local.reshape(-1, 2))
    promises = np.array([agreement(there, labels) for labels in ahead])
    by_promise = left[np.argsort(-promises, kind="stable")][: N_FINALISTS // 2]
    others = np.setdiff1d(left, by_promise)
    by_past = others[np.argsort(-last_known[others], kind="stable")]
    return np.sort(np.append(by_promise, by_past[: N_FINALISTS - len(by_promise)]))


def find_usable(X: np.ndarray, pool: Constraints) -> np.ndarray:
    """Positions of the pairs of weight > 0 between rows that differ; one warning for the others."""
    usable = pool.positions("must_link", "cannot_link")
    sq_dists = pair_sq_distances(X, pool.signed_pairs()[0])
    same = sq_dists <= SAME_ROW * mean_sq_distance(X)
    usable = usable[~same & (pool.weights[usable] > 0)]
    if (n_left_out := pool.n_answers - len(usable)) > 0:
        warnings.warn(
            f"{n_left_out} answers of the pool cannot be chosen: they are not pairs, link "
            "identical rows, or have weight 0."
        )
    return usable


def find_left(pool: Constraints, chosen: np.ndarray, closure: bool) -> np.ndarray:
    """Pairs not chosen yet, and with ``closure`` not implied by those chosen either."""
    is_left = np.ones(pool.n_answers, dtype=bool)
    is_left[chosen] = False
    if closure:
        is_left &= pool.subset(chosen).closure().known(pool.signed_pairs()[0]) == 0
    return np.flatnonzero(is_left)


def starting_centers(X, mean, n_clusters: int, init, seed: int) -> np.ndarray:
    """Centers (k, d) among centered rows."""
    if init is None:
        return KMeans(n_clusters, n_init=10, random_state=seed).fit(X).cluster_centers_
    init = check_array(init, dtype=np.float64, input_name="init")
    if init.shape != (n_clusters, X.shape[1]):
        raise ValueError(f"init has shape {init.shape}; it must be {(n_clusters, X.shape[1])}.")
    return init - mean


def implied_pairs(constraints: Constraints) -> Constraints:
    """Everything that the pairs imply, as pairs."""
    closure = constraints.closure()
    return Constraints(
        constraints.n_samples,
        must_link=closure.must_link_pairs(),
        cannot_link=closure.cannot_link_pairs(),
        ids=constraints.ids,
    )


def cluster_under(pool: Pool, metric: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Labels of k-means under any metric, from the same centers."""
    part = positive_part(metric)
    root = part.vectors * np.sqrt(part.values)
    flat = pool._replace(X=pool.X @ root, differences=np.empty((0, root.shape[1])))
    return cluster_pool(flat, IDENTITY, centers @ root).labels


def describe_rounds(pool: Pool, answers: Constraints, rounds) -> tuple[np.ndarray, np.ndarray]:
    """Informativeness and coherence of the chosen pairs, after each choice."""
    informative, coherent = [], []
    for metric, *_ in rounds[1:]:
        chosen = answers.subset(metric.chosen)
        informative.append(informativeness(chosen, rounds[0].clusters.labels))
        rows = chosen.touched_rows()
        parts = pool.along[np.ix_(rows, metric.chosen)]
        part = positive_part(pool.X[rows] @ pool.X[rows].T + parts @ metric.core @ parts.T)
        coherent.append(coherence(chosen.restrict(rows), part.vectors * np.sqrt(part.values)))
    return np.array(informative), np.array(coherent)


def check_selection_settings(n_clusters, n_select, strategy, quality, patience, n_rows) -> None:
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r} is unknown. Use one of {', '.join(STRATEGIES)}.")
    if quality not in QUALITIES and not callable(quality):
        raise ValueError(f"quality={quality!r} is unknown. Use agreement, error or a function.")
    if not 1 <= n_clusters <= n_rows:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and the {n_rows} rows of X.")
    if n_select < 0:
        raise ValueError(f"n_select={n_select} must be 0 or more.")
    if patience is not None and patience < 1:
        raise ValueError(f"patience={patience} must be 1 or more, or None to never stop early.")
