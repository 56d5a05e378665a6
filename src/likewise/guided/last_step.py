"""What is done to clusters at the end, where asked: outliers, sizes and groups, or by density.

    outliers  rows that lie much less densely than their neighbors in the learned space (their local
              outlier factor), and those that people said belong nowhere: label -1. "auto" takes the
              factor that tells best what people said belongs nowhere from what they put together,
              and 1.5 where they said too little. Rows of must-links are no outliers.
    rules     the likeliest labels, by memberships, that keep sizes and exclusive groups, and every
              pair that the clusters satisfied before. Pairs that cannot be kept with the rules are
              let go one by one, those of the least weight first.
    density   HDBSCAN over the learned space instead of the clusters found: it chooses their number,
              asks for no pair, and leaves rows out (-1).
Reference: breunig2000 (local outlier factor), campello2013 (HDBSCAN).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import LocalOutlierFactor

from likewise.cluster import label_by_rules, size_bounds
from likewise.constraints import Constraints, InconsistentConstraints
from likewise.evaluation import satisfied_answers
from likewise.guided.outcome import Outcome
from likewise.guided.placed import largest_first

OUTLIER = -1
N_NEIGHBORS = 20
FACTOR = 1.5  # the local outlier factor of "auto" where people said too little
FEWEST_SAID = 3  # rows that belong nowhere, from which people's word decides
LEAST = 1e-12  # a membership below costs no more


class Finished(NamedTuple):
    labels: np.ndarray  # (n,) -1 for outliers
    nearest_labels: np.ndarray  # (n,) outliers in the clusters where they belong most
    why: str  # what was done, in words; empty where nothing was


def finish(
    labels: np.ndarray,  # (n,)
    answers: Constraints,  # about all rows, with their exclusive groups
    n_clusters: int,
    *,
    Z: np.ndarray,  # (m, r) the rows that were learned from
    map_all: Callable[[], np.ndarray],  # (n, r) all rows, where they are more
    memberships: Callable[[], np.ndarray],  # (n, k)
    min_size: int | None,
    max_size: int | None,
    outliers,
) -> Finished:
    """Outliers set aside, then sizes and groups kept among the others; nothing where not asked."""
    is_outlier, done = labels == OUTLIER, []
    nearest = labels
    if is_outlier.any():  # by density
        nearest = np.where(is_outlier, memberships().argmax(axis=1), labels)
    if outliers is not None:
        is_all = len(Z) == len(labels)
        factors = outlier_factors(Z if is_all else map_all(), Z, is_all)
        is_found, why = find_outliers(factors, answers, outliers)
        is_outlier = is_outlier | is_found
        done.append(f"outliers: {why}")
    elif is_outlier.any():
        done.append(f"outliers: {np.count_nonzero(is_outlier)} rows, where they lie sparsely")
    if min_size or max_size or answers.exclusive:
        inside = np.flatnonzero(~is_outlier)
        lower, upper = size_bounds(min_size, max_size, n_clusters, len(inside))
        some, shares = answers.restrict(inside), memberships()[inside]
        kept, n_let_go = keep_rules(shares, labels[inside], some, lower, upper)
        n_moved = np.count_nonzero(kept != labels[inside])
        nearest = nearest.copy()
        nearest[inside] = kept
        done.append(f"rules: {n_moved} rows moved, {n_let_go} pairs let go")
    labels = np.where(is_outlier, OUTLIER, nearest) if is_outlier.any() else nearest
    return Finished(labels, nearest, "; ".join(done))


def check_last_step(min_size, max_size, outliers, last_step) -> None:
    """One error where a setting of the last step is not possible."""
    for name, size in (("min_size", min_size), ("max_size", max_size)):
        is_count = isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size >= 1
        if size is not None and not is_count:
            raise ValueError(f"{name}={size!r} must be a whole number >= 1, or None.")
    is_share = isinstance(outliers, (float, np.floating)) and 0 < outliers <= 0.5
    if (
        outliers is not None
        and not is_share
        and not (isinstance(outliers, str) and outliers == "auto")
    ):
        raise ValueError(f'outliers={outliers!r} must be "auto", a share up to 0.5, or None.')
    if last_step not in ("auto", "density"):
        raise ValueError(f"last_step={last_step!r} is unknown. Use one of auto, density.")
    if last_step == "density" and (outliers is not None or max_size is not None):
        raise ValueError(
            'last_step="density" finds outliers itself and has no max_size. Leave outliers and '
            "max_size out."
        )


def nowhere_rows(answers: Constraints) -> np.ndarray:
    """Rows that people said belong nowhere: kept from all groups shown, with no weight."""
    is_nowhere = answers.weights[answers.positions("cannot_link")] == 0
    return np.unique(answers.cannot_link[is_nowhere, 0])


def outlier_factors(Z: np.ndarray, Z_fit: np.ndarray, is_fit: bool) -> np.ndarray:
    """(n,) how much less densely rows lie than their neighbors among ``Z_fit``; about 1 inside."""
    n_neighbors = min(N_NEIGHBORS, len(Z_fit) - 1)
    if n_neighbors < 1:
        return np.ones(len(Z))
    model = LocalOutlierFactor(n_neighbors, novelty=not is_fit).fit(Z_fit)
    return -model.negative_outlier_factor_ if is_fit else -model.score_samples(Z)


def find_outliers(factors: np.ndarray, answers: Constraints, outliers) -> tuple[np.ndarray, str]:
    """(n,) which rows belong nowhere, and why."""
    nowhere, linked = nowhere_rows(answers), placed_rows(answers)
    nowhere = np.setdiff1d(nowhere, linked)
    ranks = factors.copy()
    ranks[linked], ranks[nowhere] = -np.inf, np.inf
    said = f"{len(nowhere)} of them said to belong nowhere"
    if outliers == "auto":
        limit = FACTOR
        if len(nowhere) >= FEWEST_SAID and len(linked):
            limit = best_limit(factors[nowhere], factors[linked])
        is_outlier = ranks > limit
        why = f"by a local outlier factor above {limit:.2f}; {said}"
    else:
        n_outliers = max(round(outliers * len(factors)), len(nowhere))
        is_outlier = np.zeros(len(factors), dtype=bool)
        is_outlier[np.argsort(-ranks, kind="stable")[:n_outliers]] = True
        is_outlier[linked] = False
        why = f"the share that was asked for; {said}"
    return is_outlier, f"{np.count_nonzero(is_outlier)} rows, {why}"


def placed_rows(answers: Constraints) -> np.ndarray:
    """Rows that an answer puts together with others."""
    counts = answers.weights[answers.positions("must_link")] > 0
    return np.unique(answers.must_link[counts])


def best_limit(outside: np.ndarray, inside: np.ndarray) -> float:
    """The limit that tells the two best apart, both counted alike; above 1."""
    values = np.unique(np.concatenate([outside, inside, [FACTOR]]))
    limits = (values[1:] + values[:-1]) / 2
    limits = limits[limits > 1]
    if not len(limits):
        return FACTOR
    right = [(outside > limit).mean() + (inside <= limit).mean() for limit in limits]
    return float(limits[int(np.argmax(right))])


def keep_rules(
    memberships: np.ndarray,  # (n, k)
    labels: np.ndarray,  # (n,)
    answers: Constraints,  # with the exclusive groups
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Labels (n,) that keep sizes and groups, and how many pairs were let go for that."""
    costs = -np.log(np.maximum(memberships, LEAST))
    pairs = answers.positions("must_link", "cannot_link")
    holds = satisfied_answers(None, answers.subset(pairs), labels) == 1
    kept = pairs[holds & (answers.weights[pairs] > 0)]
    n_let_go = 0
    while True:
        try:
            found = label_by_rules(costs, answers.subset(kept), lower, upper)
        except InconsistentConstraints as clash:
            if not clash.witness:
                raise
            against = kept[list(clash.witness)]
            least = int(against[np.argmin(answers.weights[against])])
            kept = kept[kept != least]
            n_let_go += 1
        else:
            return found, n_let_go


def n_clusters_for(
    n_clusters: int, answers: Constraints, min_size: int | None, max_size: int | None
) -> int:
    """The number of clusters nearest to ``n_clusters`` that sizes and groups allow."""
    n_rows = answers.n_samples
    least = -(-n_rows // max_size) if max_size else 1
    least = max(least, max((len(rows) for rows in answers.exclusive), default=1))
    most = n_rows // min_size if min_size else n_rows
    return max(min(n_clusters, most), least)


def cluster_by_density(outcome: Outcome, min_size: int | None) -> Outcome:
    """Clusters where rows of the space lie densely; without any, one that no row is in."""
    Z = outcome.Z
    min_size = max(min_size or len(Z) // 100, 5 if min_size is None else 2)
    labels = np.full(len(Z), OUTLIER)
    if len(Z) > min_size:
        labels = HDBSCAN(min_cluster_size=min_size, copy=True).fit_predict(Z).astype(np.int64)
    n_clusters = int(labels.max()) + 1
    names = np.append(np.argsort(largest_first(labels[labels >= 0], n_clusters)), OUTLIER)
    labels = names[labels]  # the last name is for -1
    centers = [Z[labels == cluster].mean(axis=0) for cluster in range(n_clusters)]
    return outcome._replace(
        labels=labels,
        centers=np.array(centers or [Z.mean(axis=0)]),
        why_n_clusters=f"{n_clusters}, where rows of the space lie densely",
        anchors=None,
        anchor_memberships=None,
        anchor_directions=None,
        sq_unit=None,
        evenness=0.0,
    )


def apart_labels(labels: np.ndarray) -> np.ndarray:
    """Labels (n,) in which every outlier is in a cluster of its own: no two are together."""
    own = labels.max(initial=0) + 1 + np.arange(len(labels))
    return np.where(labels == OUTLIER, own, labels)
