"""Choose among candidates by answers that were held out: the one place where anything is tuned.

    credits[c, i] = how well candidate c, having learned without answer i, predicts it
    chosen        = rule(credits)

All rows stay; the answers are split into folds. Each candidate learns from the answers of all
folds but one, on every row, and is judged by that one (held_out.py says what a credit is). Folds do
not leak: ``Constraints.folds`` keeps repeats of a question together and drops what the fit part
implies. All candidates are judged by the same answers, so a rule can compare them answer by answer.

Few answers cannot separate candidates: 20 of them have a standard error of 0.1. Below that
nothing is tried, and the caller's default is used.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from likewise.constraints import Constraints, Split
from likewise.evaluation.held_out import gain_and_error, is_judgeable, mean_and_error
from likewise.progress import track

MIN_HELD_OUT = 20  # usable held-out answers, all folds together

Trial = Callable[[Any, Constraints, Constraints], np.ndarray | float]
Rule = Callable[[np.ndarray, np.ndarray], int]


@dataclass(frozen=True, eq=False)
class Selected:
    """Which candidate held-out answers prefer, and what each earned.

    Attributes
    ----------
    chosen : int or None
        Place of the chosen candidate; None when too few answers could be judged, and nothing was
        tried.
    credits : ndarray of shape (n_candidates, n_answers)
        Of each answer, by what was learned without it; nan where it was not judged.
    is_judged : ndarray of shape (n_answers,)
        Which answers were held out and could be judged.
    scores, errors : ndarray of shape (n_candidates,)
        Mean credit by weight, and its standard error.
    folds : ndarray of shape (n_answers,)
        The fold that held each answer out; -1 for those that the others imply.
    n_implied : ndarray of shape (n_splits,)
        Answers dropped from each fold because its fit part implies them.
    """

    chosen: int | None
    credits: np.ndarray
    is_judged: np.ndarray
    scores: np.ndarray
    errors: np.ndarray
    folds: np.ndarray
    n_implied: np.ndarray

    @property
    def n_held_out(self) -> np.ndarray:
        """(n_splits,) answers judged in each fold."""
        return np.bincount(self.folds[self.is_judged], minlength=len(self.n_implied))


def count_judged(splits: Iterable[Split]) -> int:
    """How many held-out answers, all folds together, can be judged."""
    return sum(int(is_judgeable(split.held_out).sum()) for split in splits)


def can_judge(splits: Iterable[Split]) -> bool:
    """Whether enough answers are held out to choose by them."""
    return count_judged(splits) >= MIN_HELD_OUT


def hold_out(
    constraints: Constraints, share: float, *, random_state=None
) -> tuple[Constraints, Constraints]:
    """Answers to learn from and answers to judge by; none of the latter when too few are usable."""
    nothing = constraints.subset(np.zeros(constraints.n_answers, dtype=bool))
    if not share:
        return constraints, nothing
    split = constraints.split(1 - share, random_state=random_state)
    return (split.fit_part, split.held_out) if can_judge([split]) else (constraints, nothing)


def step_while_cheaper(
    cost: Callable[[float], float], start: float, factor: float, limits: tuple[float, float]
) -> float:
    """From a setting up, or else down, by a factor while the cost falls: for one valley."""
    setting = start
    for step in (factor, 1 / factor):
        while limits[0] <= setting * step <= limits[1] and cost(setting * step) < cost(setting):
            setting *= step
        if setting != start:
            break
    return setting


def highest_mean(credits: np.ndarray, weights: np.ndarray) -> int:
    """The candidate with the highest mean credit; of equals the first, never one that is nan."""
    means = np.average(credits, axis=1, weights=weights)
    if np.isnan(means).all():
        raise ValueError(f"Every one of the {len(means)} candidates scored nan.")
    return int(np.nanargmax(means))


def ahead_of_first(n_errors: Sequence[float]) -> Rule:
    """A rule: the best of those ahead of the first by so many standard errors, else the first.

    For credits of triples, or for hits; pairs that are ranked among each other have larger errors
    (`first_unless_ahead`).

    Parameters
    ----------
    n_errors : sequence of float
        For each candidate after the first, how far ahead it must be.
    """

    def rule(credits: np.ndarray, weights: np.ndarray) -> int:
        gains, errors = mean_and_error(credits[1:] - credits[0], weights)
        gains = np.where(gains > np.asarray(n_errors) * errors, gains, 0.0)
        return 1 + int(np.argmax(gains)) if gains.max(initial=0.0) > 0 else 0

    return rule


def first_unless_ahead(
    selected: Selected, constraints: Constraints, n_errors: float, *, least: float = 0.0
) -> int:
    """The best of those ahead of the first by so many standard errors of ranked pairs, or 0.

    `least` is the mean credit that a lead must come to: where all predict nearly all answers, a
    lead of a thousandth is many errors, and means nothing.
    """
    if selected.chosen is None:
        return 0
    judged = constraints.subset(selected.is_judged)
    credits = selected.credits[:, selected.is_judged]
    found = [gain_and_error(rival - credits[0], judged) for rival in credits]
    gains = [gain if gain > max(n_errors * error, least) else 0.0 for gain, error in found]
    return int(np.argmax(gains))


def select(
    candidates: Sequence[Any],
    trial: Trial,
    constraints: Constraints,
    *,
    rule: Rule = highest_mean,
    splits: Sequence[Split] | None = None,
    n_splits: int = 5,
    random_state=None,
    n_jobs: int | None = None,
    what: str = "trying settings",
) -> Selected:
    """Try every candidate on every fold of the answers, and choose by a rule.

    Parameters
    ----------
    candidates : sequence
        Of anything ``trial`` takes; the default first, for rules that ask who beats it.
    trial : callable
        ``trial(candidate, fit_part, held_out)`` learns from the first answers and returns a credit
        for each of the second, higher is better: ``answer_credits(Z, held_out)`` unless there is a
        reason. A single number is taken as the credit of all of them.
    constraints : Constraints
    rule : callable, default=highest_mean
        ``rule(credits, weights)`` gets what the judged answers earned, (n_candidates, n_judged),
        and their weights, and returns the place of the chosen candidate.
    splits : sequence of Split, default=None
        How the answers are held out; None deals the questions into ``n_splits`` folds.
    n_splits : int, default=5
    random_state : int, RandomState or None, default=None
        Deals the questions to the folds.
    n_jobs : int, default=None
        How many trials at a time.
    what : str, default="trying settings"
        What the progress bar says.

    Returns
    -------
    Selected
        With ``chosen`` None when under 20 held-out answers can be judged; nothing is tried then.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints
    >>> from likewise.evaluation import answer_credits, select
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> answers = Constraints.from_labels(X[:, 0] > 0, n_odd_one_out=60, random_state=0)
    >>> def trial(scale, fit_part, held_out):  # learns nothing, for once
    ...     return answer_credits(X * [1.0, scale], held_out)
    >>> select([10.0, 1.0, 0.0], trial, answers, random_state=0).chosen
    2
    """
    if splits is None:
        splits = list(constraints.folds(n_splits, random_state=random_state))
    folds = np.full(constraints.n_answers, -1)
    is_judged = np.zeros(constraints.n_answers, dtype=bool)
    for fold, split in enumerate(splits):
        folds[split.held_out_at] = fold
        is_judged[split.held_out_at] = is_judgeable(split.held_out)
    n_implied = np.array([split.n_implied for split in splits])
    credits = np.full((len(candidates), constraints.n_answers), np.nan)
    unknown = np.full(len(candidates), np.nan)
    if not can_judge(splits):
        return Selected(None, credits, is_judged, unknown, unknown, folds, n_implied)

    trials = [(c, fold) for c in range(len(candidates)) for fold in np.unique(folds[is_judged])]
    run = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(trial)(candidates[c], splits[fold].fit_part, splits[fold].held_out)
        for c, fold in trials
    )
    for (c, fold), earned in zip(trials, track(run, what, total=len(trials))):
        credits[c, splits[fold].held_out_at] = earned
    credits[:, ~is_judged] = np.nan
    weights = constraints.weights[is_judged]
    scores, errors = mean_and_error(credits[:, is_judged], weights)
    chosen = rule(credits[:, is_judged], weights)
    return Selected(chosen, credits, is_judged, scores, errors, folds, n_implied)
