"""Strength and sharpness of the softmax by answers held out, and how far to trust who answers.

    score(C, sharpness) = min over scale of the log-loss of held-out answers, at scale times d

The log-loss tells candidates apart by far fewer answers than the share of right guesses does, and
the scale makes it judge the order of distances, not their unit. It is smooth in both settings, with
one valley, so a climb takes some seven trials: first the strength, then the sharpness along
C * sharpness = constant, where the valley is flat. Where no strength beats the start, the answers
are left alone.

    chance of an answer = (1 - e_a) softmax + e_a / number of options      of annotator a

is fitted by EM: answers weigh as much as they are trusted, e_a is the mean distrust of a's answers
drawn a little towards everybody's, and the softmax is the convex problem of softmax.py. After
dawid1979.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.evaluation.held_out import is_judgeable
from likewise.evaluation.search import MIN_HELD_OUT
from likewise.kernel_learning.logdet import expand
from likewise.kernel_learning.softmax import (
    Choices,
    Chosen,
    calibrate,
    choices_of,
    learn_choices,
    option_sq_distances,
    span_of_rows,
)
from likewise.numerics.psd import symmetric_root

STRENGTH = 0.125  # with too few answers to choose by, and where the climb begins
SHARPNESS = 2.0
STRENGTHS = (2.0**-9, 2.0**5)
SHARPNESSES = (0.25, 32.0)
N_SPLITS = 3
MANY = 5000  # answers from which one fold, a fifth of them, is held out and no other
TRIAL_TOL = 1e-3
TRIAL_ITER = 60
EM_ROUNDS = 25
EM_MOVE = 0.01  # of any answer's trust, at which EM stops
PRIOR_ANSWERS = 5.0  # answers' worth of everybody's error rate in each annotator's
FIRST_ERROR = 0.1


class Strength(NamedTuple):
    C: float  # 0: the answers do not help
    sharpness: float
    scale: float  # calibrates squared distances on held-out answers
    log_loss: float  # of held-out answers, calibrated; nan when nothing was tried
    n_trials: int


class Trusted(NamedTuple):
    fitted: Chosen
    trust: np.ndarray  # (m,) chance that the answer was meant
    reliabilities: np.ndarray  # (n_annotators,)


class FittedChoices(NamedTuple):
    strength: Strength
    chosen: Chosen
    metric: np.ndarray  # M (r, r)
    root: np.ndarray  # its symmetric root
    duals: np.ndarray  # (m,) how hard each answer pulls
    trust: np.ndarray  # (m,)
    annotators: np.ndarray  # (n_annotators,) names, "" for all who have none
    reliabilities: np.ndarray  # (n_annotators,)
    is_unlikely: np.ndarray  # (m,) another answer was likelier


def fit_choices(
    Y: np.ndarray,  # (n, r) coordinates of the start, mean squared distance 1
    answers: Constraints,
    *,
    C: float | None,
    sharpness: float | None,
    annotator_noise: bool,
    tol: float,
    max_iter: int,
    seed: int,
) -> FittedChoices:
    """Choose what is not given, then learn; in the span of the rows that answers speak of."""
    rows = answers.touched_rows()
    basis, spoken_of = span_of_rows(Y[rows] if len(rows) else Y)
    answers = answers.restrict(rows) if len(rows) else answers
    strength = choose_strength(spoken_of, answers, C=C, sharpness=sharpness, seed=seed)
    moves = strength.C > 0 and answers.weights.any()

    def learn(choices: Choices, root: np.ndarray | None) -> Chosen:
        return learn_choices(
            np.sqrt(strength.sharpness) * spoken_of,
            choices,
            C=strength.C,
            tol=tol,
            max_iter=max_iter if moves else 0,
            root=root,
        )

    choices = choices_of(answers)
    named = np.full(answers.n_answers, "") if answers.annotators is None else answers.annotators
    annotators, who = np.unique(named, return_inverse=True)
    if annotator_noise and moves:
        chosen, trust, reliabilities = learn_trust(learn, choices, who)
    else:
        chosen = learn(choices, None)
        trust, reliabilities = np.ones(len(who)), np.ones(len(annotators))
    metric, root = chosen.metric, symmetric_root(chosen.metric)
    if basis is not None:
        metric, root = expand(basis, metric), expand(basis, root)
    pulls = np.abs(choices.targets - chosen.chances).sum(axis=1) / 2
    duals = strength.C * choices.weights * trust * pulls
    said = np.where(choices.targets > 0, chosen.chances, 0.0).max(axis=1)
    is_unlikely = said < chosen.chances.max(axis=1)
    return FittedChoices(
        strength, chosen, metric, root, duals, trust, annotators, reliabilities, is_unlikely
    )


def choose_strength(
    Y: np.ndarray,  # (n, r) coordinates of the start, mean squared distance 1
    answers: Constraints,
    *,
    C: float | None,
    sharpness: float | None,
    seed: int,
) -> Strength:
    """Climb to the strength and the sharpness, unless given, that held-out answers like best."""
    many = answers.n_answers >= MANY
    splits = list(answers.folds(5 if many else N_SPLITS, random_state=seed))[: 1 if many else None]
    splits = [split for split in splits if split.fit_part.n_answers and split.held_out.n_answers]
    n_judged = sum(np.count_nonzero(is_judgeable(split.held_out)) for split in splits)
    if n_judged < MIN_HELD_OUT:
        return Strength(C or STRENGTH, sharpness or SHARPNESS, 1.0, np.nan, 0)
    Y = Y.astype(np.float32)
    folds = [(choices_of(split.fit_part), choices_of(split.held_out)) for split in splits]
    roots: list = [(None, 1.0)] * len(folds)
    tried: dict[tuple[float, float], tuple[float, float]] = {}

    def judge(C: float, sharpness: float) -> float:
        """Held-out log-loss, calibrated; every fold goes on from its last root."""
        if (C, sharpness) in tried:
            return tried[C, sharpness][0]
        distances, targets, weights = [], [], []
        for k, (fit_part, held_out) in enumerate(folds):
            root, of_sharpness = roots[k]
            fitted = learn_choices(
                np.sqrt(sharpness, dtype=np.float32) * Y,
                fit_part,
                C=C,
                tol=TRIAL_TOL,
                max_iter=TRIAL_ITER,
                root=None if root is None else np.sqrt(of_sharpness / sharpness) * root,
                certify=False,
            )
            roots[k] = fitted.root, sharpness
            Z = np.sqrt(sharpness) * Y @ fitted.root[: Y.shape[1]]
            threshold = fitted.threshold if fit_part.has_threshold else sharpness
            distances.append(option_sq_distances(Z, held_out, threshold))
            targets.append(held_out.targets)
            weights.append(held_out.weights)
        scale, loss = calibrate(*map(np.concatenate, (distances, targets, weights)))
        tried[C, sharpness] = loss, scale
        return loss

    start = [option_sq_distances(Y, held_out, 1.0) for _, held_out in folds]
    targets = np.concatenate([held_out.targets for _, held_out in folds])
    weights = np.concatenate([held_out.weights for _, held_out in folds])
    start_scale, start_loss = calibrate(np.concatenate(start), targets, weights)

    best_C, best_sharpness = C or STRENGTH, sharpness or SHARPNESS
    if C is None:
        for factor in (4.0, 2.0):
            best_C = _climb(lambda C: judge(C, best_sharpness), best_C, factor, STRENGTHS)
    if sharpness is None:
        product = best_C * best_sharpness if C is None else None

        def judge_sharpness(sharpness: float) -> float:
            return judge(best_C if product is None else product / sharpness, sharpness)

        best_sharpness = _climb(judge_sharpness, best_sharpness, 4.0, SHARPNESSES)
        best_C = best_C if product is None else product / best_sharpness
    loss = judge(best_C, best_sharpness)
    if C is None and start_loss <= loss:
        return Strength(0.0, 1.0, start_scale, start_loss, len(tried))
    return Strength(best_C, best_sharpness, tried[best_C, best_sharpness][1], loss, len(tried))


def learn_trust(
    learn: Callable[[Choices, np.ndarray | None], Chosen],  # from choices and a root
    choices: Choices,
    annotators: np.ndarray,  # (m,) 0 ... k - 1
) -> Trusted:
    """EM over who is reliable: fit, distrust what does not fit, fit again from there."""
    n_options = np.where(choices.options[:, 2] < len(choices.pairs), 3, 2)
    is_said = choices.targets.max(axis=1) == 1.0  # "can't tell" is no slip
    counts = np.bincount(annotators, choices.weights * is_said)
    errors = np.full(len(counts), FIRST_ERROR)
    trust = np.ones(len(annotators))
    fitted = learn(choices, None)
    for _ in range(EM_ROUNDS):
        said = (fitted.chances * choices.targets).sum(axis=1)
        meant = (1 - errors[annotators]) * said
        slipped = errors[annotators] / n_options
        last, trust = trust, np.where(is_said, meant / (meant + slipped), 1.0)
        distrust = choices.weights * is_said * (1 - trust)
        overall = distrust.sum() / max(counts.sum(), 1.0)
        errors = (np.bincount(annotators, distrust) + PRIOR_ANSWERS * overall) / (
            counts + PRIOR_ANSWERS
        )
        if np.abs(trust - last).max() <= EM_MOVE:
            break
        fitted = learn(choices._replace(weights=choices.weights * trust), fitted.root)
    return Trusted(fitted, trust, 1 - errors)


def _climb(judge: Callable[[float], float], at: float, factor: float, limits: tuple) -> float:
    """Walk up or down by a factor while the loss falls."""
    for step in (factor, 1 / factor):
        came_from = at
        while limits[0] <= at * step <= limits[1] and judge(at * step) < judge(at):
            at *= step
        if at != came_from:
            break
    return at
