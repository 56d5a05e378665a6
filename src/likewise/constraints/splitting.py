"""Answers to learn from, and answers to judge by that the first do not imply.

By questions: repeats of a question (the same rows, in any order) stay on one side, whatever was
answered, and so do answers from one screen, which are one look. Held-out answers that follow from
the pairs of the fit part are dropped and counted.
By rows: held-out answers refer to rows that the fit part has never seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from likewise.constraints.closure import Closure, link_graph
from likewise.constraints.table import NO_ROW

if TYPE_CHECKING:
    from likewise.constraints.constraints import Constraints


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


def number_questions(points: np.ndarray, screens: np.ndarray | None) -> np.ndarray:
    """(n_answers,) the question of each answer: its rows, in any order, and those of its screen."""
    rows = np.sort(points, axis=1)
    questions = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    if screens is None:
        return questions
    n_questions = questions.max(initial=-1) + 1
    has_screen = screens != ""
    names = np.unique(screens[has_screen], return_inverse=True)[1] + n_questions
    links = np.column_stack([questions[has_screen], names])
    n_nodes = links.max(initial=n_questions - 1) + 1
    joined = connected_components(link_graph(links, n_nodes), directed=False)[1]
    return np.unique(joined[questions], return_inverse=True)[1]


def split_once(answers: "Constraints", share: float, random_state) -> Split:
    """A share of the questions to fit, the others to judge by."""
    if not 0 <= share <= 1:
        raise ValueError(f"train_share={share} must lie between 0 and 1.")
    questions, turn = _shuffle_questions(answers, random_state)
    return split_by(answers, turn[questions] < round(share * len(turn)))


def deal_questions(answers: "Constraints", n_splits: int, random_state) -> Iterator[Split]:
    """Each question is held out in one of the splits."""
    _check_n_splits(n_splits)
    questions, turn = _shuffle_questions(answers, random_state)
    return (split_by(answers, turn[questions] % n_splits != fold) for fold in range(n_splits))


def deal_rows(
    answers: "Constraints", points: np.ndarray, n_splits: int, random_state
) -> Iterator[Split]:
    """Each row is held out in one split; answers about rows of both sides are in neither part."""
    _check_n_splits(n_splits)
    part = check_random_state(random_state).permutation(answers.n_samples) % n_splits

    def split_at(fold: int) -> Split:
        inside = np.append(part == fold, False)[points]  # NO_ROW is -1
        held_out_at = np.flatnonzero((inside | (points == NO_ROW)).all(axis=1))
        fit_part = answers.subset(~inside.any(axis=1))
        return Split(fit_part, answers.subset(held_out_at), held_out_at, 0)

    return map(split_at, range(n_splits))


def _check_n_splits(n_splits: int) -> None:
    if n_splits < 2:
        raise ValueError(f"n_splits={n_splits} must be at least 2.")


def _shuffle_questions(answers: "Constraints", random_state) -> tuple[np.ndarray, np.ndarray]:
    """The question of each answer, and the turn of each question, in random order."""
    questions = answers.questions()
    rng = check_random_state(random_state)
    return questions, rng.permutation(questions.max(initial=-1) + 1)


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
