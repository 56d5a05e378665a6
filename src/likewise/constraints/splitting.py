"""Answers to learn from, and answers to judge by that the first do not imply.

By questions: repeats of a question (the same rows, in any order) stay on one side, whatever was
answered, and held-out answers that follow from the pairs of the fit part are dropped and counted.
By rows: held-out answers refer to rows that the fit part has never seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.constraints.closure import Closure
from likewise.constraints.table import NO_ROW

if TYPE_CHECKING:
    from likewise.constraints.model import Constraints


@dataclass(frozen=True)
class Split:
    """Answers to fit and answers held out; unpacks as ``fit_part, held_out``.

    ``held_out_at`` are the places of the held-out answers in the whole; ``n_implied`` counts those
    that were dropped because the fit part implies them.
    """

    fit_part: "Constraints"
    held_out: "Constraints"
    held_out_at: np.ndarray
    n_implied: int

    def __iter__(self):
        return iter((self.fit_part, self.held_out))


def number_questions(points: np.ndarray) -> np.ndarray:
    """(n_answers,) the question that each answer belongs to: its rows, in any order."""
    rows = np.sort(points, axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def split_once(answers: "Constraints", share: float, rng: np.random.RandomState) -> Split:
    """A share of the questions to fit, the others to judge by."""
    questions = answers.questions()
    n_questions = questions.max(initial=-1) + 1
    turn = rng.permutation(n_questions)
    return split_by(answers, turn[questions] < round(share * n_questions))


def deal_questions(
    answers: "Constraints", n_splits: int, rng: np.random.RandomState
) -> Iterator[Split]:
    """Each question is held out in one of the splits."""
    questions = answers.questions()
    turn = rng.permutation(questions.max(initial=-1) + 1)
    for fold in range(n_splits):
        yield split_by(answers, turn[questions] % n_splits != fold)


def deal_rows(
    answers: "Constraints", points: np.ndarray, n_splits: int, rng: np.random.RandomState
) -> Iterator[Split]:
    """Each row is held out in one split; answers about rows of both sides are in neither part."""
    part = rng.permutation(answers.n_samples) % n_splits
    for fold in range(n_splits):
        inside = np.append(part == fold, False)[points]  # NO_ROW is -1
        held_out_at = np.flatnonzero((inside | (points == NO_ROW)).all(axis=1))
        fit_part = answers.subset(~inside.any(axis=1))
        yield Split(fit_part, answers.subset(held_out_at), held_out_at, 0)


def split_by(answers: "Constraints", in_fit: np.ndarray) -> Split:
    """The answers marked, and of the others those that they do not imply."""
    fit_part = answers.subset(in_fit)
    implied = which_follow(answers, fit_part.closure())
    held_out_at = np.flatnonzero(~in_fit & ~implied)
    n_implied = int(np.count_nonzero(~in_fit & implied))
    return Split(fit_part, answers.subset(held_out_at), held_out_at, n_implied)


def which_follow(answers: "Constraints", closure: Closure) -> np.ndarray:
    """(n_answers,) which answers known pairs imply; chains of triples are not followed."""
    follows = np.zeros(answers.n_answers, dtype=bool)
    pairs, sign = answers.signed_pairs()
    follows[answers.positions("must_link", "cannot_link")] = closure.known(pairs) == sign
    smaller, larger, places = answers.distance_inequalities()
    holds = (closure.known(smaller) == 1) & (closure.known(larger) == -1)
    follows[places] = True
    follows[places[~holds]] = False
    return follows
