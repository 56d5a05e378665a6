"""Which space to cluster in, by answers that were held out.

First comes a test: do the answers follow the data at all (evidence.py)? The spaces that are tried
stand in `candidates_for`: log-det learning (SKLR) from two starts, at three strengths, and ITML
where there are pairs. Each is judged by answers that it has not seen, in two ways at once: do its
distances predict them, and do its clusters; of the features, those that would be found without
answers (plain_clusters.py). The best must beat the features as they are by more than a standard
error, and a linear metric beyond doubt; answers about rows that no other answer refers to have the
last word: learning must not hurt.
Decision 7 has the measurements behind these choices.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans

from likewise.constraints import Constraints, Split
from likewise.evaluation import (
    MIN_HELD_OUT,
    Rule,
    answer_credits,
    beats,
    count_judged,
    is_judgeable,
    mean_and_error,
    percent,
    select,
)
from likewise.guided.evidence import weigh_evidence
from likewise.guided.plain_clusters import cluster_plainly
from likewise.kernel_learning import SKLR, ChoiceKernel, fit_start, map_training_rows
from likewise.metric_learning import ITML
from likewise.numerics.threads import one_thread_if_small

N_SPLITS = 3
TOL = 1e-2  # enough for clusters: on 2,000 pairs of digits, a hundred times finer changed none
TRIAL_STARTS = 2  # of k-means
N_LANDMARKS = 1000
SHARE = 0.95  # of a start's spectrum; the last hundredths cost more time than they are worth
STRENGTHS = (1.0, 3.0, 0.3)
MOSTLY_NEW = 0.5  # share of held-out answers about new rows that makes another check needless
BEYOND_DOUBT = 2.0  # standard errors by which a kernel must be ahead of a linear metric
USUAL_C, USUAL_SHARPNESS = (
    0.25,
    2.0,
)  # of ChoiceKernel; a search for better takes five times as long
LEAST_CHOICES = 100  # triples that choices by chance are tried with
MOST_CHOICES = 2000  # and tried on, where there are more
ENOUGH_JUDGED = 600  # held-out answers after which no other fold is learned from
MOST_FEATURES = 1000  # that ITML is tried with: its cost grows with their square


Coordinates = dict[str | None, np.ndarray]  # by the start; None: the features


class HasStart(Protocol):
    @property
    def start(self) -> str | None: ...


class Candidate(NamedTuple):
    """A space to try."""

    name: str
    learner: SKLR | ITML | None = None  # not fitted; None for the features as they are

    @property
    def start(self) -> str | None:
        """The kernel that it starts from; None where it starts from the features."""
        return self.learner.start if isinstance(self.learner, SKLR) else None


AS_THEY_ARE = Candidate("the features as they are")


class Choice(NamedTuple):
    learner: BaseEstimator | None  # not fitted
    names: Sequence[str]  # of what was tried
    scores: np.ndarray  # (n_trials,)
    errors: np.ndarray  # (n_trials,)
    chosen: int
    why: str
    credits: np.ndarray  # (n_answers,) in the chosen space, learned without the answer
    follows: bool = True  # False: the answers do not follow the data


def candidates_for(X, answers: Constraints, seed: int) -> list[Candidate]:
    """What to try, the features as they are first."""
    candidates = [AS_THEY_ARE]
    for start in ("gaussian", "diffusion"):
        for C in STRENGTHS:
            learner = SKLR(
                start=start,
                C=C,
                n_components=SHARE,
                n_landmarks=N_LANDMARKS,
                tol=TOL,
                random_state=seed,
            )
            candidates.append(Candidate(f"learned kernel (SKLR, {start} start, C={C:g})", learner))
    if len(answers.positions("must_link", "cannot_link")) and X.shape[1] <= MOST_FEATURES:
        candidates.append(Candidate("learned linear metric (ITML)", ITML(random_state=seed)))
    return candidates


@one_thread_if_small(lambda X, *_, **__: X.shape[0] * X.shape[1])
def choose_space(
    X, answers: Constraints, n_clusters: int | None, *, seed: int, n_jobs: int | None
) -> Choice:
    """Try every candidate on held-out answers; the features as they are win unless beaten."""
    splits = list(answers.folds(N_SPLITS, random_state=seed))
    n_judged = count_judged(splits)
    if n_judged < MIN_HELD_OUT:
        count = f"only {n_judged} answers can be held out" if answers.n_answers else "no answers"
        why = f"{AS_THEY_ARE.name}: {count}, and {MIN_HELD_OUT} are needed to learn a space."
        unknown = np.full(answers.n_answers, np.nan)
        return Choice(None, (), np.empty(0), np.empty(0), -1, why, unknown)
    candidates = candidates_for(X, answers, seed)
    coordinates = start_coordinates(X, candidates, seed)
    gaussian = candidates[1]
    evidence = weigh_evidence(
        X,
        answers,
        lambda part: [learn_space(coordinates[gaussian.start], gaussian.learner, part)],
        n_clusters=n_clusters,
        seed=seed,
    )
    if not evidence.follows:
        why = (
            f"{AS_THEY_ARE.name}: the answers agree with the data no better than permuted ones "
            f"would (p = {evidence.p_value:.2f}), so nothing is learned from them."
        )
        unknown = np.full(answers.n_answers, np.nan)
        return Choice(None, (), np.empty(0), np.empty(0), -1, why, unknown, follows=False)
    linear = next((i for i, c in enumerate(candidates) if isinstance(c.learner, ITML)), None)
    plain = None if n_clusters is None else cluster_plainly(X, n_clusters, TRIAL_STARTS, seed)

    def trial(candidate, fit_part, held_out):
        Z = learn_space(coordinates[candidate.start], candidate.learner, fit_part)
        if n_clusters is None or plain is None:
            return answer_credits(Z, held_out)
        if candidate.learner is None:
            return judge_space(Z, plain.labels, held_out)
        return judge_space(Z, cluster_quickly(Z, n_clusters, seed), held_out)

    selected = select(
        candidates,
        trial,
        answers,
        rule=beats_the_features(linear),
        splits=splits,
        n_jobs=n_jobs,
        what="trying spaces",
    )
    best, scores = selected.chosen or 0, selected.scores
    candidate = candidates[best]
    predicts = f"it predicts {percent(scores[best])} of {n_judged} held-out answers"
    if best == 0:
        why = f"{AS_THEY_ARE.name}: {predicts}, and no learned space is clearly better."
    else:
        why = f"{candidate.name}: {predicts}, {AS_THEY_ARE.name} predict {percent(scores[0])}."
        top = int(np.argmax(scores))
        if top != best:
            why += f" {candidates[top].name} ({percent(scores[top])}) is not clearly better."
        if share_about_new_rows(splits) < MOSTLY_NEW and not helps_new_rows(
            [AS_THEY_ARE, candidate], trial, answers, seed
        ):
            best = 0
            why = f"{AS_THEY_ARE.name}: {candidate.name} does better only on rows with answers."
    learner = candidates[best].learner
    names = [candidate.name for candidate in candidates]
    return Choice(learner, names, scores, selected.errors, best, why, selected.credits[best])


def people_disagree(choice: Choice, answers: Constraints) -> bool:
    """Whether no margin predicts held-out triples better than the features, as they contradict.

    A margin learns contradictions too. Where triples do not contradict each other, every margin has
    to be worse: those drawn from labels do not disagree, and a margin gains from them.
    """
    triples = answers.positions("odd_one_out", "closer")
    margins = choice.scores[1:]
    if len(triples) < LEAST_CHOICES or choice.chosen != 0 or len(margins) == 0:
        return False
    contradict = np.isin(answers.conflicts().answers, triples).any()
    return bool(contradict or (margins < choice.scores[0]).all())


def try_choices(X, answers: Constraints, choice: Choice, *, seed: int) -> Choice:
    """Choices by chance (ChoiceKernel) instead, if they predict held-out answers better.

    No answer is doubted then: who chooses by chance gives unlikely answers too.
    """
    positions = np.arange(answers.n_answers)
    if len(positions) > MOST_CHOICES:
        rng = np.random.RandomState(seed)
        positions = np.sort(rng.choice(positions, MOST_CHOICES, replace=False))
    trial = ChoiceKernel(
        C=USUAL_C,
        sharpness=USUAL_SHARPNESS,
        n_components=SHARE,
        n_landmarks=N_LANDMARKS,
        tol=TOL,
        random_state=seed,
    )
    credits: list[np.ndarray] = []  # (2, m) of held-out answers, by the features and by choices
    for fit_part, held_out in answers.subset(positions).folds(N_SPLITS, random_state=seed):
        held_out = held_out.subset(is_judgeable(held_out))
        spaces = (X, learn_space(X, trial, fit_part))
        credits.append(np.array([answer_credits(Z, held_out) for Z in spaces]))
        if sum(part.shape[1] for part in credits) >= ENOUGH_JUDGED:
            break
    judged = np.concatenate(credits, axis=1)
    (plain, by_chance), (_, error) = mean_and_error(judged, np.ones(judged.shape[1]))
    names = [*choice.names, "choices by chance (ChoiceKernel)"]
    scores, errors = np.append(choice.scores, by_chance), np.append(choice.errors, error)
    if by_chance <= plain:
        return choice._replace(names=names, scores=scores, errors=errors)
    learner = ChoiceKernel(C=USUAL_C, sharpness=USUAL_SHARPNESS, tol=TOL, random_state=seed)
    why = (
        f"{names[-1]}: it predicts {percent(by_chance)} of {judged.shape[1]} held-out answers, "
        f"{AS_THEY_ARE.name} predict {percent(plain)}, and no margin is better: people disagree."
    )
    unknown = np.full(answers.n_answers, np.nan)
    return Choice(learner, names, scores, errors, len(names) - 1, why, unknown)


def start_coordinates(X, candidates: Iterable[HasStart], seed: int) -> Coordinates:
    """The rows in every start that a candidate has, made once for all its trials."""
    coordinates: Coordinates = {None: X}
    for start in {candidate.start for candidate in candidates}:
        if start is not None:
            fitted = fit_start(
                start, X, n_components=SHARE, n_landmarks=N_LANDMARKS, random_state=seed
            )
            coordinates[start] = map_training_rows(fitted, X)
    return coordinates


@one_thread_if_small(lambda Y, *_, **__: Y.size)
def learn_space(
    Y: np.ndarray, learner: SKLR | ITML | ChoiceKernel | None, answers: Constraints
) -> np.ndarray:
    """All rows in the space learned from these answers, from the coordinates of its start."""
    if learner is None:
        return Y
    learner = clone(learner)
    if isinstance(learner, SKLR):
        learner.set_params(start="coordinates")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # triples are not for ITML, and a trial need not settle
        return learner.fit(Y, constraints=answers).transform(Y)


@one_thread_if_small(lambda Z, *_, **__: Z.size)
def cluster_quickly(Z: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Labels (n,) of rows in a learned space."""
    labels = KMeans(n_clusters, n_init=TRIAL_STARTS, random_state=seed).fit_predict(Z)
    return np.asarray(labels)


def judge_space(Z: np.ndarray, labels: np.ndarray, held_out: Constraints) -> np.ndarray:
    """Credits (n_held_out,) by the distances in a space and by the clusters of its rows."""
    together = labels[:, None] == np.arange(labels.max() + 1)
    return (answer_credits(Z, held_out) + answer_credits(together, held_out)) / 2


def beats_the_features(linear: int | None) -> Rule:
    """A rule: the best of the learned spaces if it beats the first, the features; or the first.

    A linear metric that beats them too is kept unless the best is ahead of it beyond doubt: where
    answers can hardly tell the two apart, it is the one that clusters better.
    """

    def rule(credits: np.ndarray, weights: np.ndarray) -> int:
        means, _ = mean_and_error(credits, weights)
        best = 1 + int(np.argmax(means[1:]))
        if not beats(credits[best], credits[0], weights):
            return 0
        if linear is None or not beats(credits[linear], credits[0], weights):
            return best
        is_ahead = beats(credits[best], credits[linear], weights, n_errors=BEYOND_DOUBT)
        return best if is_ahead else linear

    return rule


def share_about_new_rows(splits: Sequence[Split]) -> float:
    """The share of held-out answers that refer to no row that an answer to learn from refers to."""
    are_new = [
        not known.intersection(held_out.points_of(i))
        for known, held_out in ((set(part.touched_rows()), rest) for part, rest in splits)
        for i in range(held_out.n_answers)
    ]
    return float(np.mean(are_new)) if are_new else 0.0


def helps_new_rows(rivals: Sequence[Candidate], trial, answers: Constraints, seed: int) -> bool:
    """False when answers about rows that no other answer refers to prefer the first of two rivals.

    Where answers are dense, those held out refer to rows that the others have moved already. It
    costs half of the answers to learn from, so it is asked only there.
    """
    splits = list(answers.row_folds(N_SPLITS, random_state=seed))

    def prefers_the_first(credits, weights):
        return 0 if beats(credits[0], credits[1], weights) else 1

    return select(rivals, trial, answers, rule=prefers_the_first, splits=splits).chosen != 0


def rank_doubtful(credits: np.ndarray, satisfied: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Violated answers that a space learned without them gets wrong too, the worst first."""
    unseen = np.nan_to_num(credits, nan=0.5)
    doubtful = np.flatnonzero((satisfied == 0) & (unseen <= 0.5))
    return doubtful[np.lexsort((-pulls[doubtful], unseen[doubtful]))]
