"""Strength and sharpness of the softmax by held-out answers, and the trust in annotators.

    score(C, sharpness) = min over scale of the log-loss of held-out answers, at scale times d

The log-loss needs far fewer answers to distinguish candidates than the share of right guesses does,
and the scale makes it judge the order of distances, not their unit. It is smooth in both settings,
with one valley, so the search takes about seven trials: first the strength, then the sharpness
along C * sharpness = constant, where the valley is flat. Beyond 500 directions trials learn the 400
of largest variance and leave the others at the start, which decides as well and costs a twentieth;
what they learned is where the last fit begins. A few answers may prefer odd strengths by
chance, so settings have a prior: each octave away from the usual ones, squared, costs half a
log-odds in total, shared by the held-out answers. If the start does better than any strength, or if
what is learned predicts other answers no better than guessing, nothing is learned.

    chance of an answer = (1 - e_a) softmax + e_a / number of options      of annotator a

is fitted by EM: an answer's weight is the trust in it, e_a is the mean distrust of a's answers,
shrunk a little toward the mean of all annotators, and the softmax is the convex problem of
softmax.py. Based on dawid1979. We differ in judging each answer by a kernel learned from the other
folds: a kernel that has seen a slip explains it, and would never doubt it.
"""

from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.evaluation import can_judge, step_while_cheaper
from likewise.kernel_learning.logdet_kernel import expand
from likewise.kernel_learning.softmax import (
    Choices,
    Chosen,
    Rest,
    calibrate,
    choices_of,
    embed_root,
    learn_choices,
    log_loss,
    option_chances,
    option_sq_distances,
    rest_of,
    span_of_rows,
    split_directions,
)
from likewise.numerics.psd import symmetric_root

STRENGTH = 0.25  # with too few answers to choose by
CLIMB_FROM = 0.0625  # weak strengths are learned fast
SHARPNESS = 2.0
STRENGTHS = (2.0**-10, 2.0**6)
SHARPNESSES = (2.0**-3, 2.0**5)
OCTAVE_COST = 0.5  # a Gaussian prior on log2 of both, one octave wide
START_ODDS = 2.0  # log-odds in total by which the start must do better than what is learned
GUESS_ODDS = 3.0  # and by which that must do better than guessing
N_SPLITS = 3
MANY = 2000  # answers from which one fold, a fifth of them, is held out and no other
TRIAL_TOL = 3e-4
TRIAL_ITER = 200
TRIAL_DIRECTIONS = 400  # of largest variance, that a trial learns; the others stay at the start
ROUGH_TOL = 1e-4  # of the fit in single precision that goes ahead of the last one
EM_ROUNDS = 12
GUESSED = (0.0, 0.05, 0.1, 0.2, 0.4)  # shares of held-out answers, tried when annotators have noise
EM_MOVE = 0.01  # of any answer's trust, at which EM stops
PRIOR_ANSWERS = 5.0  # answers' worth of the mean error rate that each annotator's is mixed with
FIRST_ERROR = 0.1


class Strength(NamedTuple):
    C: float  # 0: the answers do not help
    sharpness: float
    scale: float  # calibrates squared distances on held-out answers
    log_loss: float  # of held-out answers, calibrated; nan when nothing was tried
    n_trials: int
    root: np.ndarray | None  # of the leading directions, from the first fold: near all answers'


class Trial(NamedTuple):
    cost: float  # the log-loss and the prior's share of it
    log_loss: float
    scale: float
    root: np.ndarray


class Trusted(NamedTuple):
    trust: np.ndarray  # (m,) chance that the answer was meant
    reliabilities: np.ndarray  # (n_annotators,)


class FittedChoices(NamedTuple):
    strength: Strength
    chosen: Chosen
    metric: np.ndarray  # M (r, r)
    root: np.ndarray  # its symmetric root
    duals: np.ndarray  # (m,) how hard each answer pulls
    trust: np.ndarray  # (m,)
    reliabilities: np.ndarray  # (n_annotators,)
    annotators: np.ndarray  # (n_annotators,) names, "" for all who have none
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
    """Choose what is not given, then learn, in the span of the rows that answers refer to."""
    rows = answers.touched_rows()
    basis, spoken_of = span_of_rows(Y[rows] if len(rows) else Y)
    answers = answers.restrict(rows) if len(rows) else answers
    strength = choose_strength(
        spoken_of,
        answers,
        C=C,
        sharpness=sharpness,
        annotator_noise=annotator_noise,
        seed=seed,
    )
    moves = strength.C > 0 and answers.weights.any()

    choices = choices_of(answers)
    scaled = np.sqrt(strength.sharpness) * spoken_of
    annotators, who = annotators_of(answers)
    trusted = Trusted(np.ones(len(who)), np.ones(len(annotators)))
    if annotator_noise and moves:
        questions = answers.questions()
        turn = np.random.RandomState(seed).permutation(questions.max() + 1)
        trusted = learn_trust(scaled, choices, who, turn[questions] % N_SPLITS, C=strength.C)
    weighed = choices._replace(weights=choices.weights * trusted.trust)
    root = None
    if moves and strength.root is not None:
        leading, others = split_directions(spoken_of.astype(np.float32), TRIAL_DIRECTIONS)
        root = embed_root(strength.root, leading, spoken_of.shape[1])
        if len(others):  # half the price of a step, for all but the last ones
            rough = scaled.astype(np.float32)
            settings = {"C": strength.C, "tol": ROUGH_TOL, "max_iter": max_iter}
            root = learn_choices(rough, weighed, root=root, certify=False, **settings).root
    chosen = learn_choices(
        scaled,
        weighed,
        C=strength.C,
        tol=tol,
        max_iter=max_iter if moves else 0,
        root=root,
    )
    metric, root = chosen.metric, symmetric_root(chosen.metric)
    if basis is not None:
        metric, root = expand(basis, metric), expand(basis, root)
    pulls = np.abs(choices.targets - chosen.chances).sum(axis=1) / 2
    duals = strength.C * choices.weights * trusted.trust * pulls
    chances = np.where(choices.targets > 0, chosen.chances, 0.0).max(axis=1)
    is_unlikely = chances < chosen.chances.max(axis=1)
    return FittedChoices(strength, chosen, metric, root, duals, *trusted, annotators, is_unlikely)


def choose_strength(
    Y: np.ndarray,  # (n, r) coordinates of the start, mean squared distance 1
    answers: Constraints,
    *,
    C: float | None,
    sharpness: float | None,
    annotator_noise: bool,
    seed: int,
) -> Strength:
    """The strength and the sharpness, unless given, that predict held-out answers best."""
    many = answers.n_answers >= MANY
    splits = list(answers.folds(5 if many else N_SPLITS, random_state=seed))[: 1 if many else None]
    splits = [split for split in splits if split.fit_part.n_answers and split.held_out.n_answers]
    if not can_judge(splits):
        return Strength(C or STRENGTH, sharpness or SHARPNESS, 1.0, np.nan, 0, None)
    Y = Y.astype(np.float32)
    leading, others = split_directions(Y, TRIAL_DIRECTIONS)
    Y_leading, Y_others = Y[:, leading], Y[:, others]
    folds = [(choices_of(split.fit_part), choices_of(split.held_out)) for split in splits]
    rests = [rest_of(Y_others, fit_part) for fit_part, _ in folds]
    roots: list = [(None, 1.0)] * len(folds)
    targets = np.concatenate([held_out.targets for _, held_out in folds])
    weights = np.concatenate([held_out.weights for _, held_out in folds])
    tried: dict[tuple[float, float], Trial] = {}

    def fit_scale(sq_dists: np.ndarray) -> tuple[float, float]:
        if annotator_noise:
            return calibrate_guessing(sq_dists, targets, weights)
        return calibrate(sq_dists, targets, weights)

    def judge(C: float, sharpness: float) -> float:
        """Held-out log-loss, calibrated; every fold goes on from its last root."""
        if (C, sharpness) in tried:
            return tried[C, sharpness].cost
        distances = []
        for k, (fit_part, held_out) in enumerate(folds):
            root, of_sharpness = roots[k]
            rest = rests[k]
            fitted = learn_choices(
                np.sqrt(sharpness, dtype=np.float32) * Y_leading,
                fit_part,
                C=C,
                tol=TRIAL_TOL,
                max_iter=TRIAL_ITER,
                root=None if root is None else np.sqrt(of_sharpness / sharpness) * root,
                certify=False,
                rest=None
                if rest is None
                else Rest(sharpness * rest.sq_dists, sharpness * rest.spread),
            )
            roots[k] = fitted.root, sharpness
            learned = Y_leading @ fitted.root[: len(leading)]
            Z = np.sqrt(sharpness) * np.hstack([learned, Y_others])
            threshold = fitted.threshold if fit_part.has_threshold else sharpness
            distances.append(option_sq_distances(Z, held_out, threshold))
        scale, loss = fit_scale(np.concatenate(distances))
        octaves = np.log2([C * sharpness / (STRENGTH * SHARPNESS), sharpness / SHARPNESS])
        cost = loss + OCTAVE_COST * np.square(octaves).sum() / weights.sum()
        tried[C, sharpness] = Trial(cost, loss, scale, roots[0][0])
        return cost

    best_C, best_sharpness = C or CLIMB_FROM, sharpness or SHARPNESS
    if C is None:
        for factor in (4.0, 2.0):
            best_C = step_while_cheaper(
                lambda C: judge(C, best_sharpness), best_C, factor, STRENGTHS
            )
    if sharpness is None:
        product = best_C * best_sharpness if C is None else None

        def judge_sharpness(sharpness: float) -> float:
            return judge(best_C if product is None else product / sharpness, sharpness)

        best_sharpness = step_while_cheaper(judge_sharpness, best_sharpness, 4.0, SHARPNESSES)
        best_C = best_C if product is None else product / best_sharpness
    cost = judge(best_C, best_sharpness)
    unlearned = np.concatenate([option_sq_distances(Y, held_out, 1.0) for _, held_out in folds])
    scale, loss = fit_scale(unlearned)
    best = tried[best_C, best_sharpness]
    guessing = log_loss(np.where(np.isinf(unlearned), np.inf, 0.0), targets, weights)
    is_beaten = loss + START_ODDS / weights.sum() < cost
    is_guess = best.log_loss + GUESS_ODDS / weights.sum() > guessing
    if C is None and not annotator_noise and (is_beaten or is_guess):
        return Strength(0.0, 1.0, scale, loss, len(tried), None)
    return Strength(best_C, best_sharpness, best.scale, best.log_loss, len(tried), best.root)


def annotators_of(answers: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Annotators' names, "" for all without one, and whose answer each one is, (n_answers,)."""
    if answers.annotators is None:
        return np.array([""]), np.zeros(answers.n_answers, dtype=np.int64)
    return np.unique(answers.annotators, return_inverse=True)


def calibrate_guessing(sq_dists, targets, weights) -> tuple[float, float]:
    """`calibrate`, if a share of the answers is guessed: the likeliest share."""
    tried = [calibrate(sq_dists, targets, weights, guessed) for guessed in GUESSED]
    return min(tried, key=lambda scale_and_loss: scale_and_loss[1])


def learn_trust(
    Y: np.ndarray,  # (n, r) coordinates of the start, scaled
    choices: Choices,
    annotators: np.ndarray,  # (m,) 0 ... k - 1
    fold_of: np.ndarray,  # (m,) answers to one question have one fold
    *,
    C: float,
) -> Trusted:
    """EM over annotators' reliability, where kernels judge only answers they have not seen."""
    n_options = np.where(choices.options[:, 2] < len(choices.pairs), 3, 2)
    is_said = choices.targets.max(axis=1) == 1.0  # "can't tell" is no slip
    asked = choices.weights * is_said
    counts = np.bincount(annotators, asked)
    trust, errors = np.ones(len(annotators)), np.full(len(counts), FIRST_ERROR)
    Y = Y.astype(np.float32)
    roots: list = [None] * N_SPLITS
    sq_dists = np.empty(choices.targets.shape)
    for _ in range(EM_ROUNDS):
        for fold in range(N_SPLITS):
            fit_part, held_out = fold_of != fold, fold_of == fold
            trusted = choices._replace(weights=choices.weights * trust * fit_part)
            learned = learn_choices(
                Y,
                trusted,
                C=C,
                tol=TRIAL_TOL,
                max_iter=TRIAL_ITER,
                root=roots[fold],
                certify=False,
            )
            roots[fold] = learned.root
            sq_dists[held_out] = learned.sq_dists[held_out]
        scale, _ = calibrate_guessing(sq_dists, choices.targets, choices.weights)
        chances = (option_chances(scale * sq_dists)[0] * choices.targets).sum(axis=1)
        for _ in range(EM_ROUNDS):  # the errors, for these chances
            meant, slipped = (1 - errors[annotators]) * chances, errors[annotators] / n_options
            new_trust = np.where(is_said, meant / (meant + slipped), 1.0)
            distrusted = np.bincount(annotators, asked * (1 - new_trust))
            overall = distrusted.sum() / max(counts.sum(), 1.0)
            errors = (distrusted + PRIOR_ANSWERS * overall) / (counts + PRIOR_ANSWERS)
        last, trust = trust, new_trust
        if np.abs(trust - last).max() <= EM_MOVE:
            break
    return Trusted(trust, 1 - errors)
