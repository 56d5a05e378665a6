"""What GuidedClustering tried, chose and reached, in words and in arrays."""

from dataclasses import dataclass, field

import numpy as np

from likewise.evaluation import percent
from likewise.files.html_table import html_table
from likewise.guided.spaces import AS_THEY_ARE


@dataclass(frozen=True, eq=False)
class GuidedReport:
    """What a `GuidedClustering` tried, chose and reached; ``print`` shows it as text.

    Attributes
    ----------
    n_rows, n_features, n_answers : int
    preparation : str
        What was done to the features: one of those that ``GuidedClustering(preparation=)`` takes.
    why_prepared, why, why_n_clusters : str
        One sentence each: about the features, the choice of the space, the number of clusters.
    trial_names : ndarray of str, of shape (n_trials,)
        The spaces tried; the first is the features as they are.
    trial_scores, trial_errors : ndarray of shape (n_trials,)
        Mean credit of held-out answers, between 0 and 1, and its standard error.
    chosen : int
        Position of the chosen space among them; -1 when nothing was tried.
    labels_before : ndarray of shape (n_rows,)
        Clusters without any answer.
    satisfied_before, satisfied : float
        Share of the answers that are satisfied, without learning and with it; nan without answers.
    n_doubtful : int
        Answers set aside as doubtful.
    conflicts : ndarray of str
        Contradictions between answers, each with the answers that prove it.
    columns : ndarray of str
        What became of each column of a table; empty where X had numbers already.
    last_step : str
        What was done at the end: outliers, sizes and groups; empty where nothing was asked for.
    people : str
        How reliable each person is; empty where fewer than two could be judged.
    """

    n_rows: int
    n_features: int
    n_answers: int
    preparation: str
    why_prepared: str
    trial_names: np.ndarray
    trial_scores: np.ndarray
    trial_errors: np.ndarray
    chosen: int
    why: str
    why_n_clusters: str
    labels_before: np.ndarray
    satisfied_before: float
    satisfied: float
    n_doubtful: int
    conflicts: np.ndarray
    columns: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=str))
    last_step: str = ""
    people: str = ""

    @property
    def size(self) -> str:
        """Rows, columns and answers in words."""
        columns = (
            f"{len(self.columns)} columns" if len(self.columns) else f"{self.n_features} features"
        )
        return f"{self.n_rows} rows, {columns}, {count_answers(self.n_answers)}"

    @property
    def how(self) -> str:
        """How the clusters came about, in plain words; ``why`` has the details."""
        if self.n_answers == 0:
            return "By the data alone: there are no answers."
        name = "" if self.chosen < 0 else str(self.trial_names[self.chosen])
        if name in ("", AS_THEY_ARE.name):
            return "By the data alone: the answers are too few, or teach nothing beyond themselves."
        if "graph" in name or "diffusion" in name:
            return "Learned from your answers, following the neighbor graph."
        if "fields" in name:
            return (
                "Learned from your answers: rows near the known ones, and along the neighbor graph."
            )
        if "nearest means" in name:
            return "Learned from your answers: each row goes to the group it is nearest to."
        if "linear" in name or "ITML" in name:
            return "Learned from your answers: which features matter."
        return "Learned from your answers: which rows are alike."

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [("how", self.how), ("features", self.why_prepared), ("details", self.why)]
        rows.append(("clusters", self.why_n_clusters))
        if self.last_step:
            rows.append(("last step", self.last_step))
        if self.people:
            rows.append(("people", self.people))
        if not np.isnan(self.satisfied):
            shares = f"{percent(self.satisfied_before)} before, {percent(self.satisfied)} after"
            rows.append(("answers satisfied", shares))
        if self.n_doubtful:
            rows.append(("set aside as doubtful", count_answers(self.n_doubtful)))
        rows += [("conflict", conflict) for conflict in self.conflicts]
        return html_table(self.size, rows)

    def __str__(self):
        lines = [
            self.size,
            f"how: {self.how}",
            f"features: {self.why_prepared}",
            *(f"  {column}" for column in self.columns),
            f"space: {self.why}",
            f"clusters: {self.why_n_clusters}",
        ]
        if self.last_step:
            lines.append(f"last step: {self.last_step}")
        if self.people:
            lines.append(f"people: {self.people}")
        tried = zip(self.trial_names, self.trial_scores, self.trial_errors)
        for i, (name, score, error) in enumerate(tried):
            lines.append(f"  {'*' if i == self.chosen else ' '} {score:.3f} ± {error:.3f}  {name}")
        if not np.isnan(self.satisfied):
            shares = f"{percent(self.satisfied_before)} before, {percent(self.satisfied)} after"
            lines.append(f"answers satisfied: {shares}")
        if self.n_doubtful:
            lines.append(f"set aside as doubtful: {count_answers(self.n_doubtful)} (doubtful_)")
        lines += [f"conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines)


def count_answers(n_answers: int) -> str:
    """The number in words: one answer is no "1 answers"."""
    return "1 answer" if n_answers == 1 else f"{n_answers} answers"
