"""Check a set of answers: contradictions, prices, doubtful answers, and the metric that fits.

An answer is doubtful when the clusters violate it and a space learned without it predicts
otherwise. That is the one meaning everywhere: `GuidedClustering` sets these aside, ``doubtful_``.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from likewise.constraints import Conflict, Constraints, check_constraints
from likewise.duals import (
    METRICS,
    ConstraintPrices,
    MetricFitness,
    constraint_prices,
    metric_fitness,
)
from likewise.evaluation import percent
from likewise.files.html_table import html_table
from likewise.guided.guided_clustering import GuidedClustering
from likewise.kernel_learning import SKLR

MOST_ROWS = 1000  # for the metrics, which compare all rows with all
N_SETS = 5
C = 1.0  # of the SKLR whose multipliers are the prices of triples
TOL = 1e-2  # near enough to rank by


@dataclass(frozen=True, eq=False)
class DoubtfulAnswers:
    """Answers that the clusters violate and that a space learned without them contradicts.

    Attributes
    ----------
    positions : ndarray of int
        Positions of the doubtful answers, the most doubtful first.
    doubts : ndarray of shape (n_answers,)
        How strongly a space learned without the answer contradicts it, from 0 to 1; nan where it
        could not be judged.
    """

    positions: np.ndarray
    doubts: np.ndarray

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [(int(i), percent(self.doubts[i])) for i in self.positions]
        return html_table(f"{len(rows)} doubtful answers", rows, ("answer", "doubt"))


@dataclass(frozen=True, eq=False)
class AnswerCheck:
    """The results of checking a set of answers.

    Attributes
    ----------
    constraints : Constraints
    conflicts : list of Conflict
        Every contradiction, with the answers that prove it.
    prices : ConstraintPrices
        In the prepared features; those of triples are the learner's multipliers.
    doubtful : DoubtfulAnswers
        What `GuidedClustering` sets aside.
    fitness : MetricFitness or None
        Of the usual metrics, best first; None without pairs.
    why_prepared : str
        What was done to the features, in a sentence.
    """

    constraints: Constraints
    conflicts: list[Conflict]
    prices: ConstraintPrices
    doubtful: DoubtfulAnswers
    fitness: MetricFitness | None
    why_prepared: str

    def rows(self) -> list[dict]:
        """One record per answer, in the order given, of plain numbers and text."""
        doubts = self.doubtful.doubts
        contradicts = {conflict.answer: conflict.message for conflict in self.conflicts}
        doubted = {int(at): rank for rank, at in enumerate(self.doubtful.positions, start=1)}
        records = []
        for at, answer in enumerate(self.constraints.answers()):
            names = [self.constraints.row_name(row) for row in answer.points]
            records.append(
                {
                    "answer": at,
                    "kind": answer.kind,
                    **dict(zip("abc", [*names, ""])),
                    "price": float(self.prices.prices[at]),
                    "satisfied": bool(self.prices.satisfied[at]),
                    "doubt": "" if np.isnan(doubts[at]) else round(float(doubts[at]), 4),
                    "doubt_rank": doubted.get(at, ""),
                    "conflict": contradicts.get(at, ""),
                }
            )
        return records

    def to_dict(self) -> dict:
        """Everything, as plain numbers and text: the content of the JSON file."""
        fitness = self.fitness
        columns = (fitness.names, fitness.shares, fitness.counts, fitness.wins) if fitness else ()
        return {
            "n_rows": self.constraints.n_samples,
            "n_answers": self.constraints.n_answers,
            "cost": float(self.prices.cost),
            "bound": float(self.prices.bound),
            "conflicts": [
                {"answer": c.answer, "witness": list(c.witness), "message": c.message}
                for c in self.conflicts
            ],
            "metrics": [
                {"metric": name, "share": float(share), "count": float(count), "wins": float(win)}
                for name, share, count, win in zip(*columns)
            ],
            "answers": self.rows(),
        }


def doubtful_answers(X, constraints, n_clusters="auto", *, random_state=None) -> DoubtfulAnswers:
    """Find the answers worth asking again.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Answers of every kind.
    n_clusters : int or "auto", default="auto"
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    DoubtfulAnswers
        ``.positions``, the most doubtful first, and ``.doubts`` of all answers: those of a
        `GuidedClustering` with the same settings, which has them in ``doubtful_`` and ``doubts_``.

    References
    ----------
    The idea of reviewing the answers that the rest contradicts is from randel2021.

    Examples
    --------
    >>> from likewise import Constraints, doubtful_answers
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_pairs=100, noise=0.1, random_state=0)
    >>> positions = doubtful_answers(iris.X, answers, 3, random_state=0).positions
    >>> answers.describe(int(positions[0]))  # two species
    'must_link[1] = (17, 108)'
    """
    model = GuidedClustering(n_clusters, random_state=random_state)
    return _doubtful(model.fit(X, constraints=constraints))


def check_answers(
    X, constraints, n_clusters="auto", *, preparation="auto", metrics=METRICS, random_state=None
) -> AnswerCheck:
    """Find contradictions, prices, doubtful answers, and the metric that fits best.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Answers of every kind.
    n_clusters : int or "auto", default="auto"
    preparation : {"auto", "none", "standardize", "robust", "unit", "tfidf"}, default="auto"
        Of the features, as in `GuidedClustering`.
    metrics : sequence or mapping, default=the usual five
        As in `metric_fitness`; with more than 1,000 rows a sample is compared, rows of pairs first.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    AnswerCheck
        ``.conflicts``, ``.prices``, ``.doubtful``, ``.fitness``; ``.rows()`` and ``.to_dict()``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, check_answers
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> c = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 5)])
    >>> checked = check_answers(X, c, 2, metrics=["euclidean"], random_state=0)
    >>> print(checked.conflicts[0])
    cannot_link[0] = (0, 2) contradicts the must-link path 0-1-2.
    """
    model = GuidedClustering(n_clusters, preparation=preparation, random_state=random_state)
    model.fit(X, constraints=constraints)
    X = model.prepare(X)
    constraints = check_constraints(constraints, n_samples=len(X))
    rng = check_random_state(random_state)
    learner = SKLR(C=C, tol=TOL, random_state=rng).fit(X, constraints=constraints)
    k = max(model.n_clusters_, 2)  # with one cluster nothing costs anything
    return AnswerCheck(
        constraints,
        list(constraints.conflicts()),
        constraint_prices(X, constraints, k, learner=learner, random_state=rng),
        _doubtful(model),
        fit_metrics(X, constraints, k, metrics, rng),
        model.report_.why_prepared,
    )


def _doubtful(model: GuidedClustering) -> DoubtfulAnswers:
    return DoubtfulAnswers(model.doubtful_, model.doubts_)


def fit_metrics(X, constraints: Constraints, n_clusters, metrics, rng) -> MetricFitness | None:
    """The fitness over a sample of the rows, those of pairs first."""
    pairs = constraints.subset(constraints.positions("must_link", "cannot_link"))
    if len(X) > MOST_ROWS:
        touched = rng.permutation(pairs.touched_rows())
        others = rng.permutation(np.setdiff1d(np.arange(len(X)), touched))
        rows = np.sort(np.concatenate([touched, others])[:MOST_ROWS])
        X, pairs = X[rows], pairs.restrict(rows)
    if not pairs.n_answers:
        return None
    return metric_fitness(X, pairs, n_clusters, metrics, n_sets=N_SETS, random_state=rng)
