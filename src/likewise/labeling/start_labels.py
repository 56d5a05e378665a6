"""Clusters that a session begins from: believed until answers contradict them.

    share of group g in cluster c  =  rows of c known to be of g, + TRUST if c began as g,
                                      divided by their sum over the groups

Each cluster begins as a group of its own: its middle row stands for it, and weak cannot-links keep
these rows apart until an answer joins two of them. Memberships that spread from answers are
multiplied by these shares, so that a cluster whose answers agree stays as it was, and one whose
answers do not is placed by its neighbors.

They are reviewed: does a row drawn from a cluster belong with its middle row, and do the middle
rows of two clusters that lie side by side belong together?
"""

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.questions import Question
from likewise.labeling.settled_groups import Settled

if TYPE_CHECKING:
    from likewise.labeling.rows_in_mind import RowsInMind

TRUST = 3.0  # answers that a cluster is worth
WEAK = 0.1  # weight of a link between clusters, beside 1 for a look


class StartLabels(NamedTuple):
    """A clustering to begin from."""

    clusters: np.ndarray  # (n_samples,) from 0, -1 for none
    typical: np.ndarray  # (k,) the row next to the middle of each cluster

    @classmethod
    def of(cls, labels, X) -> "StartLabels":
        """Labels of any kind as clusters; -1, None, NaN and "" are none."""
        labels, n_samples = np.asarray(labels), X.shape[0]
        if labels.shape != (n_samples,):
            raise ValueError(
                f"start_labels has shape {labels.shape}, but X has {n_samples} rows. Give one "
                "label per row, -1 for none."
            )
        texts = np.array(["" if is_none(label) else str(label) for label in labels.tolist()])
        names, clusters = np.unique(texts, return_inverse=True)
        if names[0] == "":
            clusters = clusters - 1
        if clusters.max(initial=-1) < 0:
            raise ValueError("start_labels names no cluster. Leave it out.")
        return cls(clusters, typical_of_clusters(X, clusters))

    def links(self, mind: "RowsInMind") -> Constraints:
        """Weak cannot-links between the rows that stand for clusters, by position."""
        typical = mind.position[self.typical]
        pairs = list(combinations(typical.tolist(), 2))
        return Constraints(len(mind.rows), cannot_link=pairs, weights=np.full(len(pairs), WEAK))

    def review(
        self, knowledge: Knowledge, mind: "RowsInMind", rng: np.random.Generator
    ) -> Question | None:
        """Whether a cluster is one, or two clusters are; None if every such question was asked."""
        within = self._review_within(knowledge, mind, rng)
        between = self._review_between(knowledge, mind)
        first, second = (between, within) if rng.random() < 1 / 2 else (within, between)
        return first or second

    def _review_within(self, knowledge, mind, rng) -> Question | None:
        typical = mind.position[self.typical]
        clusters = self.clusters[mind.rows]
        is_open = (knowledge.groups < 0) & (clusters >= 0)
        asked = {row for key in knowledge.asked for row in key}
        is_open[list(asked)] = False
        rows = np.flatnonzero(is_open)
        if not len(rows):
            return None
        row = int(rng.choice(rows))
        why = "drawn from this cluster, to see whether it is one"
        return Question("review", (int(typical[clusters[row]]), row), is_random=True, why=why)

    def _review_between(self, knowledge, mind) -> Question | None:
        """The two clusters that share most of the graph, for their size, and were not compared."""
        typical = mind.position[self.typical]
        clusters = self.clusters[mind.rows]
        members = np.eye(self.clusters.max() + 1)[clusters] * (clusters >= 0)[:, None]
        sizes = np.sqrt(np.maximum(members.sum(axis=0), 1))
        shared = (members.T @ (mind.S @ members)) / np.outer(sizes, sizes)
        for c, d in zip(*np.unravel_index(np.argsort(-shared, axis=None), shared.shape)):
            a, b = sorted((int(typical[c]), int(typical[d])))
            if c < d and shared[c, d] > 0 and (a, b) not in knowledge.asked:
                return Question("pair", (a, b), why="two clusters that lie side by side")
        return None

    def weigh(self, settled: Settled, knowledge: Knowledge, mind: "RowsInMind") -> np.ndarray:
        """Memberships (n, k) in settled groups, times the shares of these in each row's cluster."""
        memberships, n_groups = settled.memberships, settled.n_groups
        clusters = self.clusters[mind.rows]
        n_clusters = self.clusters.max() + 1
        counts = np.zeros((n_clusters, n_groups))
        groups = settled.groups
        is_known = (groups >= 0) & (clusters >= 0)
        np.add.at(counts, (clusters[is_known], groups[is_known]), 1.0)
        stands_for = groups[mind.position[self.typical]]
        began = np.flatnonzero(stands_for >= 0)
        counts[began, stands_for[began]] += TRUST
        counts += 1 / n_groups
        shares = counts / counts.sum(axis=1, keepdims=True)
        weighed = memberships * np.where(clusters[:, None] >= 0, shares[clusters], 1 / n_groups)
        is_free = knowledge.groups < 0
        totals = weighed.sum(axis=1, keepdims=True)
        weighed = np.divide(weighed, totals, out=memberships.copy(), where=totals > 0)
        return np.where(is_free[:, None], weighed, memberships)


def typical_of_clusters(X, clusters: np.ndarray) -> np.ndarray:
    """(k,) the row next to the middle of each cluster."""
    typical = []
    for cluster in range(clusters.max() + 1):
        rows = np.flatnonzero(clusters == cluster)
        part = X[rows].toarray() if hasattr(X, "toarray") else np.asarray(X[rows])
        sq_dists = np.square(part - part.mean(axis=0)).sum(axis=1)
        typical.append(int(rows[np.argmin(sq_dists)]))
    return np.array(typical)


def is_none(label) -> bool:
    """Whether a label says that a row has no cluster."""
    return label is None or label != label or label in (-1, "", "-1")
