"""Which space to cluster in, by answers that were held out.

The spaces that are tried stand in CANDIDATES: log-det learning (SKLR) from two starts, at three
strengths, and ITML where there are pairs. Each is judged by answers that it has not seen, in two
ways at once: do its distances foretell them, and do its clusters. The best must beat the features
as they are by more than a standard error, and a linear metric beyond doubt; answers about rows that
no other answer spoke of have the last word: learning must not hurt.
Decision 7 has the measurements behind these choices.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils.parallel import Parallel, delayed

from likewise.constraints import Constraints, Split
from likewise.evaluation import (
    MIN_HELD_OUT,
    answer_credits,
    beats,
    cross_credits,
    is_judgeable,
    mean_and_error,
)
from likewise.kernel_learning import SKLR
from likewise.kernel_learning.logdet import learn_from_answers
from likewise.kernel_learning.starts import fit_start
from likewise.metric_learning import ITML
from likewise.progress import track

N_SPLITS = 3
TOL = 1e-2  # enough for clusters: on 2,000 pairs of digits, a hundred times finer changed none
TRIAL_STARTS = 2  # of k-means
N_LANDMARKS = 1000
SHARE = 0.95  # of a start's spectrum; the last hundredths cost more time than they are worth
MOSTLY_NEW = 0.5  # share of held-out answers about new rows with which these have had their say
BEYOND_DOUBT = 2.0  # standard errors by which a kernel must be ahead of a linear metric
MOST_FEATURES = 1000  # that ITML is tried with: its cost grows with their square


class Candidate(NamedTuple):
    """A space to try."""

    method: str  # "none", "ITML" or "SKLR"
    start: str = "linear"
    C: float = 1.0

    def __str__(self):
        if self.method == "SKLR":
            return f"SKLR from a {self.start} start, C={self.C:g}"
        return "the features as they are" if self.method == "none" else self.method

    def make(self, seed: int) -> SKLR | ITML | None:
        """The learner, not fitted; None for the features as they are."""
        if self.method == "SKLR":
            return SKLR(
                start=self.start,
                C=self.C,
                share=SHARE,
                n_landmarks=N_LANDMARKS,
                tol=TOL,
                random_state=seed,
            )
        return ITML(random_state=seed) if self.method == "ITML" else None


AS_THEY_ARE = Candidate("none")
LINEAR = Candidate("ITML")
CANDIDATES = (
    Candidate("SKLR", "gaussian", 1.0),
    Candidate("SKLR", "gaussian", 3.0),
    Candidate("SKLR", "gaussian", 0.3),
    Candidate("SKLR", "diffusion", 1.0),
    Candidate("SKLR", "diffusion", 3.0),
    Candidate("SKLR", "diffusion", 0.3),
)


class Choice(NamedTuple):
    learner: BaseEstimator | None  # not fitted
    names: Sequence  # of what was tried
    scores: np.ndarray  # (n_trials,)
    errors: np.ndarray  # (n_trials,)
    chosen: int
    why: str
    credits: np.ndarray | None  # (n_answers,) in the chosen space, learned without the answer


def choose_space(
    X, answers: Constraints, n_clusters: int | None, *, seed: int, n_jobs: int | None
) -> Choice:
    """Try every candidate on held-out answers; the features as they are win unless beaten."""
    splits = list(answers.folds(N_SPLITS, random_state=seed))
    plain = cross(X, AS_THEY_ARE, splits, answers, n_clusters, seed)
    n_judged = np.count_nonzero(~np.isnan(plain))
    if n_judged < MIN_HELD_OUT:
        few = "no answers" if not answers.n_answers else f"{n_judged} answers can be held out"
        why = f"the features as they are: {few}, and {MIN_HELD_OUT} are needed to learn a space."
        return Choice(None, (), np.empty(0), np.empty(0), -1, why, None)
    tried = list(CANDIDATES)
    if len(answers.positions("must_link", "cannot_link")) and X.shape[1] <= MOST_FEATURES:
        tried.append(LINEAR)
    spaces = {start: start_space(start, X, seed) for start in {one.start for one in tried}}
    run = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(cross)(spaces[one.start], one, splits, answers, n_clusters, seed) for one in tried
    )
    credits = np.array([plain, *track(run, "trying spaces", total=len(tried))])
    tried.insert(0, AS_THEY_ARE)
    judged = ~np.isnan(credits).any(axis=0)
    weights = answers.weights[judged]
    linear = tried.index(LINEAR) if LINEAR in tried else None
    best = choose_best(credits[:, judged], weights, linear)
    scores, errors = mean_and_error(credits[:, judged], weights)
    told = f"it foretells {scores[best]:.0%} of {judged.sum()} held-out answers"
    if best == 0:
        why = f"{AS_THEY_ARE}: {told}, and no learned space does better by a standard error."
    else:
        why = f"{tried[best]}: {told}, {AS_THEY_ARE} {scores[0]:.0%}."
        top = int(np.argmax(scores))
        if top != best:
            why += f" {tried[top]} ({scores[top]:.0%}) is not ahead of it beyond doubt."
        one = tried[best]
        if share_about_new_rows(splits) < MOSTLY_NEW and not helps_new_rows(
            X, spaces[one.start], one, answers, n_clusters, seed
        ):
            best = 0
            why = f"{AS_THEY_ARE}: {one} does better only where answers were given."
    return Choice(tried[best].make(seed), tried, scores, errors, best, why, credits[best])


def share_about_new_rows(splits: Sequence[Split]) -> float:
    """The share of held-out answers that speak of no row that an answer to learn from speaks of."""
    are_new = [
        not known.intersection(held_out.points_of(i))
        for known, held_out in ((set(part.touched_rows()), rest) for part, rest in splits)
        for i in range(held_out.n_answers)
    ]
    return float(np.mean(are_new)) if are_new else 0.0


def helps_new_rows(X, Y, one: Candidate, answers: Constraints, n_clusters, seed: int) -> bool:
    """False when answers about rows that no other answer spoke of prefer the features as they are.

    Where answers are dense, those held out speak of rows that the others have moved already. It
    costs half of the answers to learn from, so it is asked only there.
    """
    splits = list(answers.row_folds(N_SPLITS, random_state=seed))
    if sum(is_judgeable(split.held_out).sum() for split in splits) < MIN_HELD_OUT:
        return True
    learned = cross(Y, one, splits, answers, n_clusters, seed)
    plain = cross(X, AS_THEY_ARE, splits, answers, n_clusters, seed)
    judged = ~np.isnan(learned) & ~np.isnan(plain) & (answers.weights > 0)
    return not beats(plain[judged], learned[judged], answers.weights[judged])


def choose_best(credits: np.ndarray, weights: np.ndarray, linear: int | None) -> int:
    """The best of the learned spaces if it beats the first, the features as they are; or those.

    A linear metric that beats them too is kept unless the best is ahead of it beyond doubt: where
    answers can hardly tell the two apart, it is the one that clusters better.
    """
    means, _ = mean_and_error(credits, weights)
    best = 1 + int(np.argmax(means[1:]))
    if not beats(credits[best], credits[0], weights):
        return 0
    if linear is None or not beats(credits[linear], credits[0], weights):
        return best
    is_ahead = beats(credits[best], credits[linear], weights, n_errors=BEYOND_DOUBT)
    return best if is_ahead else linear


def start_space(start: str, X: np.ndarray, seed: int) -> np.ndarray:
    """Coordinates of a start, in units of its mean squared distance, as SKLR takes them."""
    if start == "linear":
        return X
    Y = fit_start(start, X, share=SHARE, n_landmarks=N_LANDMARKS, random_state=seed).transform(X)
    return Y / np.sqrt(2 * Y.var(axis=0).sum() or 1.0)


def cross(
    Y: np.ndarray,
    one: Candidate,
    splits: Sequence[Split],
    answers: Constraints,
    n_clusters: int | None,
    seed: int,
) -> np.ndarray:
    """Credits (n_answers,) of held-out answers in what a candidate learns from coordinates Y."""

    def judge(fit_part, held_out):
        Z = learn_space(Y, one, fit_part, seed)
        credits = answer_credits(Z, held_out)
        if n_clusters is None:
            return credits
        labels = KMeans(n_clusters, n_init=TRIAL_STARTS, random_state=seed).fit_predict(Z)
        together = labels[:, None] == np.arange(n_clusters)
        return (credits + answer_credits(together, held_out)) / 2

    return cross_credits(judge, splits, answers.n_answers)


def learn_space(Y: np.ndarray, one: Candidate, answers: Constraints, seed: int) -> np.ndarray:
    """All rows in the space learned from these answers."""
    if one.method == "none":
        return Y
    if one.method == "SKLR":
        settings = SKLR(C=one.C)
        fitted = learn_from_answers(
            Y,
            answers,
            C=settings.C,
            sq_bounds=settings.bounds,
            gamma=settings.gamma,
            tol=TOL,
            seed=seed,
        )
        return Y @ fitted.root
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # triples are not for it, and it need not settle
        return ITML(random_state=seed).fit(Y, constraints=answers).transform(Y)
