"""One look at a set of answers before anything is learned from them.

Which contradict others, and by which; what each costs; which are likely wrong; which metric the
pairs speak of.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, check_random_state

from likewise.constraints import Conflict, Constraints, check_constraints
from likewise.duals.filtering import TOL, C, Suspects, suspect_answers
from likewise.duals.fitness import METRICS, MetricFitness, metric_fitness
from likewise.duals.prices import ConstraintPrices, constraint_prices
from likewise.kernel_learning import SKLR

MOST_ROWS = 1000  # for the metrics, which compare all rows with all
N_SETS = 5


@dataclass(frozen=True, eq=False)
class AnswerCheck:
    """What is to be said about a set of answers.

    Attributes
    ----------
    constraints : Constraints
    conflicts : list of Conflict
        Every contradiction, with its witness.
    prices : ConstraintPrices
        In the data as they are; those of triples are the learner's multipliers.
    suspects : Suspects
        The answers most likely wrong, in a space learned from all of them.
    fitness : MetricFitness or None
        Of the usual metrics, best first; None without pairs.
    """

    constraints: Constraints
    conflicts: list[Conflict]
    prices: ConstraintPrices
    suspects: Suspects
    fitness: MetricFitness | None

    def rows(self) -> list[dict]:
        """One record an answer, in the order given, of plain numbers and text."""
        contradicts = {one.answer: one.message for one in self.conflicts}
        doubted = {int(at): rank for rank, at in enumerate(self.suspects.positions, start=1)}
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
                    "doubt": round(float(self.suspects.scores[at]), 4),
                    "doubt_rank": doubted.get(at, ""),
                    "conflict": contradicts.get(at, ""),
                }
            )
        return records

    def to_dict(self) -> dict:
        """All of it, of plain numbers and text: what the JSON file holds."""
        fitness = self.fitness
        columns = (fitness.names, fitness.shares, fitness.counts, fitness.wins) if fitness else ()
        return {
            "n_rows": self.constraints.n_samples,
            "n_answers": self.constraints.n_answers,
            "cost": float(self.prices.cost),
            "bound": float(self.prices.bound),
            "conflicts": [
                {"answer": one.answer, "witness": list(one.witness), "message": one.message}
                for one in self.conflicts
            ],
            "metrics": [
                {"metric": name, "share": float(share), "count": float(count), "wins": float(win)}
                for name, share, count, win in zip(*columns)
            ],
            "answers": self.rows(),
        }


def check_answers(X, constraints, n_clusters, *, metrics=METRICS, random_state=None) -> AnswerCheck:
    """Tell what contradicts, what costs, what is likely wrong, and which metric fits.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    constraints : Constraints
        Answers of every kind.
    n_clusters : int
        At least 2.
    metrics : sequence or mapping, default=the usual five
        As in `metric_fitness`; of more than 1,000 rows a part is compared, those of pairs first.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    AnswerCheck
        ``.conflicts``, ``.prices``, ``.suspects``, ``.fitness``; ``.rows()`` and ``.to_dict()``.

    References
    ----------
    randel2021

    Examples
    --------
    >>> from likewise import Constraints, check_answers
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> c = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 5)])
    >>> found = check_answers(X, c, 2, metrics=["euclidean"], random_state=0)
    >>> print(found.conflicts[0])
    cannot_link[0] = (0, 2) contradicts the must-link path 0-1-2.
    >>> int(found.suspects.positions[0])
    2
    """
    X = check_array(X, dtype=[np.float64, np.float32])
    constraints = check_constraints(constraints, n_samples=len(X))
    rng = check_random_state(random_state)
    learner = SKLR(C=C, tol=TOL, random_state=rng).fit(X, constraints=constraints)
    return AnswerCheck(
        constraints,
        list(constraints.conflicts()),
        constraint_prices(X, constraints, n_clusters, learner=learner, random_state=rng),
        suspect_answers(X, constraints, n_clusters, learner=learner, random_state=rng),
        fit_metrics(X, constraints, n_clusters, metrics, rng),
    )


def fit_metrics(X, constraints: Constraints, n_clusters, metrics, rng) -> MetricFitness | None:
    """The fitness over a part of the rows that is not too large, those of pairs first."""
    pairs = constraints.subset(constraints.positions("must_link", "cannot_link"))
    if len(X) > MOST_ROWS:
        touched = rng.permutation(pairs.touched_rows())
        others = rng.permutation(np.setdiff1d(np.arange(len(X)), touched))
        rows = np.sort(np.concatenate([touched, others])[:MOST_ROWS])
        X, pairs = X[rows], pairs.restrict(rows)
    if not pairs.n_answers:
        return None
    return metric_fitness(X, pairs, n_clusters, metrics, n_sets=N_SETS, random_state=rng)
