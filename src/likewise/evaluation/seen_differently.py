"""Who sees the clusters differently: joins two of them, or splits one.

    null          the shared clusters; of the answers that would change, others give a share s as if
                  they saw it differently too
    alternative   the person's own partition: two clusters as one, or one of them in two

How likely an answer is under a partition: statements.py. The share e of guesses is the
likeliest one of each person under either partition, so somebody who guesses sees nothing
differently: guesses fit both. Logarithms are weighed by the answers' weights. A difference is
reported when it is 20 times as likely as not, beside all that were tried for everybody. Sides of a
split are looked for in the features: the halves of the cluster by 2-means and along its widest
directions.
Reference: dawid1979 for guesses. We differ in what else people may be: not only worse than others.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from likewise.constraints import check_constraints
from likewise.evaluation.statements import (
    Statements,
    chances_of,
    statements_by_clusters,
    statements_of_people,
)

LEAST_TELLING = 3  # of them, that a difference rests on
ODDS = 20.0
MOST_DIFFERENCES = 5  # of a person
N_DIRECTIONS = 2  # that a cluster is halved along
LEAST_SIDE = 3  # rows
MOST_ROWS = 1000  # that directions are found from
N_ROUNDS = 20  # of EM, for the share of others


class Difference(NamedTuple):
    """Somebody who sees two clusters as one, or one cluster as two.

    Attributes
    ----------
    name : str
        Whose answers say so.
    kind : str
        "merges" or "splits".
    clusters : tuple of int
        The two clusters that are one to this person, or the one that is two.
    rows : ndarray of int
        The smaller side of a split; empty of a merge.
    answers : ndarray of int
        Positions of the answers that the shared clusters make unlikelier than this person's do.
    log_odds : float
        How much likelier all their answers are if they see it so, as a logarithm.
    """

    name: str
    kind: str
    clusters: tuple[int, ...]
    rows: np.ndarray
    answers: np.ndarray
    log_odds: float


class Partition(NamedTuple):
    """Clusters as one person may see them."""

    kind: str
    clusters: tuple[int, ...]
    rows: np.ndarray  # the smaller side of a split
    labels: np.ndarray  # (n,)


def seen_differently(labels, constraints, X=None) -> list[Difference]:
    """Say who joins two clusters, or splits one, by their answers.

    Parameters
    ----------
    labels : array-like of int, of shape (n_samples,)
        The shared clusters; -1 for rows in none.
    constraints : Constraints
        Answers with ``annotators``: pairs and triples. At least two people must have given ten.
    X : array-like of shape (n_samples, n_features), default=None
        Features in which the sides of a split are looked for. None looks for merges only.

    Returns
    -------
    list of Difference
        The likeliest first.

    See Also
    --------
    people_agreement : Who agrees with whom, and camps.

    References
    ----------
    dawid1979

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints
    >>> from likewise.evaluation import seen_differently
    >>> y = np.arange(60) % 3
    >>> ann = Constraints.from_labels(y, n_pairs=60, random_state=0)
    >>> bob = Constraints.from_labels(np.minimum(y, 1), n_pairs=60, random_state=1)
    >>> answers = Constraints(
    ...     60,
    ...     must_link=[*ann.must_link, *bob.must_link],
    ...     cannot_link=[*ann.cannot_link, *bob.cannot_link],
    ...     annotators=["ann"] * 30 + ["bob"] * 30 + ["ann"] * 30 + ["bob"] * 30,
    ... )
    >>> found = seen_differently(y, answers)[0]
    >>> found.name, found.kind, found.clusters
    ('bob', 'merges', (1, 2))
    """
    labels = np.asarray(labels, dtype=np.int64)
    answers = check_constraints(constraints, n_samples=len(labels))
    statements, names, statement_of = statements_of_people(answers, labels)
    if len(names) < 2:
        return []
    halves = Halves(labels, None if X is None else np.asarray(X, dtype=np.float64))
    logs = statements.weights[:, None] * np.log(chances_of(statements, labels))
    totals = np.array(
        [logs[statements.people == person].sum(axis=0) for person in range(len(names))]
    )
    guessed = totals.argmax(axis=1)[statements.people]
    places = statements_by_clusters(statements, labels)
    n_tried = max(1, sum(len(told_by(statements, places, p)) for p in range(len(names))))
    least = np.log(ODDS * n_tried)
    found = []
    for person, name in enumerate(names):
        current, mine = labels, places
        for _ in range(MOST_DIFFERENCES):
            best = likeliest_difference(statements, person, current, mine, halves, guessed)
            if best is None or best[1] <= least:
                break
            tried, log_odds, telling = best
            telling = np.flatnonzero(np.isin(statement_of, telling))
            found.append(Difference(name, *tried[:3], telling, log_odds))
            current, mine = tried.labels, statements_by_clusters(statements, tried.labels)
    return sorted(found, key=lambda one: -one.log_odds)


def told_by(statements: Statements, places: dict[tuple[int, int], np.ndarray], person: int) -> list:
    """The clusters about which somebody gave enough answers to tell a difference."""
    return [
        clusters
        for clusters, at in places.items()
        if np.count_nonzero(statements.people[at] == person) >= LEAST_TELLING
    ]


class Halves:
    """The sides that a cluster may be split into, found once."""

    def __init__(self, labels: np.ndarray, X: np.ndarray | None):
        self._labels, self._X = labels, X
        self._found: dict[int, list[np.ndarray]] = {}

    def of(self, cluster: int) -> list[np.ndarray]:
        """The rows of the smaller side of each way to halve it."""
        if self._X is None:
            return []
        if cluster not in self._found:
            rows = np.flatnonzero(self._labels == cluster)
            self._found[cluster] = [rows[side] for side in halves_of(self._X[rows])]
        return self._found[cluster]


def halves_of(X: np.ndarray) -> list[np.ndarray]:
    """Smaller sides (n,) of rows: by 2-means, and by the sign along the widest directions."""
    if len(X) < 2 * LEAST_SIDE or not X.var(axis=0).any():
        return []
    centered = X - X.mean(axis=0)
    directions = np.linalg.svd(centered[:MOST_ROWS], full_matrices=False)[2][:N_DIRECTIONS]
    sides = [centered @ direction > 0 for direction in directions]
    sides.append(KMeans(2, n_init=2, random_state=0).fit_predict(X) == 1)
    sides = [side if 2 * side.sum() <= len(side) else ~side for side in sides]
    return [side for side in sides if side.sum() >= LEAST_SIDE]


def likeliest_difference(
    statements: Statements,
    person: int,
    current: np.ndarray,
    places: dict[tuple[int, int], np.ndarray],
    halves: Halves,
    guessed: np.ndarray,  # (m,) places in `GUESSED`, by who said it
) -> tuple[Partition, float, np.ndarray] | None:
    """The partition that somebody's answers fit best, its log-odds, and the answers that tell."""
    of_person = np.flatnonzero(statements.people == person)
    own_statements = statements.subset(of_person)
    total = own_statements.weights @ np.log(chances_of(own_statements, current))
    best = None
    for clusters in told_by(statements, places, person):
        at = places[clusters]
        these = statements.subset(at)
        shared = chances_of(these, current)
        is_own = these.people == person
        weights = these.weights
        known = total - weights[is_own] @ np.log(shared[is_own])
        for tried in partitions(current, clusters, halves):
            other = chances_of(these, tried.labels)
            is_changed = (other != shared).any(axis=1)
            own, others = is_changed & is_own, is_changed & ~is_own
            if np.count_nonzero(own) < LEAST_TELLING:
                continue
            at_theirs = np.flatnonzero(others), guessed[at[others]]
            share = share_of_others(shared[at_theirs], other[at_theirs], weights[others])
            unchanged = is_own & ~is_changed
            same = known + weights[unchanged] @ np.log(shared[unchanged])
            mixed = (1 - share) * shared[own] + share * other[own]
            null = same + weights[own] @ np.log(mixed)
            alternative = same + weights[own] @ np.log(other[own])
            log_odds = float(alternative.max() - null.max())
            if best is None or log_odds > best[1]:
                e = alternative.argmax()
                best = tried, log_odds, at[own & (other[:, e] > shared[:, e])]
    return best


def partitions(
    labels: np.ndarray, clusters: tuple[int, int], halves: Halves
) -> Iterator[Partition]:
    """The ways to see two clusters as one, or one as two."""
    first, second = clusters
    if first != second:
        merged = np.where(labels == second, first, labels)
        yield Partition("merges", clusters, np.empty(0, dtype=np.int64), merged)
        return
    for rows in halves.of(first):
        split = labels.copy()
        split[rows] = labels.max() + 1
        yield Partition("splits", (first,), rows, split)


def share_of_others(shared: np.ndarray, other: np.ndarray, weights: np.ndarray) -> float:
    """How many of others' answers are given as if they saw it differently too; 1/2 of none."""
    share = 0.5
    for _ in range(N_ROUNDS):
        odds = share * other / (share * other + (1 - share) * shared)
        share = (odds @ weights + 1) / (weights.sum() + 2)
    return float(share)
