"""What answers choose before the long run, each by a short one.

    mirrored views   codes with and without, judged by all answers, which codes have not seen
    plan             each is fitted to three quarters of the answers, and the others judge
    error rate       the first plan, so fitted: how many of the others contradict its clusters

A tenth of wrong answers is little among cannot-links, but of random pairs about ten classes only a
tenth are must-links, and half of these are then wrong. So answers are learned with an error rate of
CAREFUL, which costs nothing where the graph of the codes has the clusters. Where pairs alone have
to sort the rows it does cost, and there are enough of them to tell: clusters that are not quite
right yet put some rows apart that belong together, and some together that do not, so that among
pairs they put apart, must-links are at least as many as wrong answers, and among those they put
together, cannot-links. The smaller of the two shares is at most a little above the error rate.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from likewise.constraints import Constraints, Split
from likewise.deep.fit_settings import CodeSettings, Settings
from likewise.deep.learning_from_answers import (
    begin_clustering,
    learn_clusters,
    least_entropy,
    memberships_of,
)
from likewise.deep.self_supervision import CodeState, encode_rows, pretraining_optimizer
from likewise.deep.starts import are_enough_alone
from likewise.evaluation import answer_credits, first_unless_ahead, select

TRIAL_SHARE = 0.25  # of the epochs
LEARNED_SHARE = 0.75  # of the answers; the others judge
N_ERRORS = 1.0  # by which another plan must be ahead of the first
FLIP_ERRORS = 2.0  # by which mirrored views must be ahead: they cost much where they are wrong
CLOSE = 0.1  # entropies whose plans do the same
CAREFUL = 0.2  # the error rate that answers are learned with
MOST_WRONG = 0.05  # of held-out pairs, if all are to be trusted


class ShortRun(NamedTuple):
    """What a short run starts from."""

    state: CodeState
    rows: torch.Tensor
    answers: Constraints
    ease: torch.Tensor | None
    init_labels: np.ndarray | None

    def memberships(self, settings: Settings, learned: Constraints, at: np.ndarray) -> np.ndarray:
        """Of the rows `at`, after a quarter of the epochs."""
        n_epochs = max(1, round(TRIAL_SHARE * settings.max_epochs))
        settings = replace(settings, max_epochs=n_epochs)
        some = copy_of(self.state)
        begin_clustering(some, self.rows, learned, settings, self.init_labels)
        for _ in learn_clusters(
            some, self.rows, learned, self.ease, settings, epochs=range(n_epochs)
        ):
            pass
        asked = self.rows[torch.as_tensor(at, device=self.rows.device)]
        return memberships_of(some.network, asked).cpu().numpy()

    def split(self) -> Split:
        """Answers to learn, and answers to judge by."""
        seed = int(torch.randint(2**31, (), generator=self.state.generator))
        return self.answers.split(LEARNED_SHARE, random_state=seed)


def copy_of(state: CodeState) -> CodeState:
    """The same network with an optimizer of its own, before its first step."""
    network = deepcopy(state.network)
    generator = torch.Generator()
    generator.set_state(state.generator.get_state())
    return CodeState(network, pretraining_optimizer(network), generator)


def choose_flips(state: CodeState, rows, answers: Constraints, settings: CodeSettings, run) -> bool:
    """Mirror views if answers find their rows nearer in such codes, and go on from there.

    Codes have not seen any answer, so all of them judge.
    """
    nothing = answers.subset(np.zeros(answers.n_answers, dtype=bool))
    split = Split(nothing, answers, np.arange(answers.n_answers), 0)
    n_trial = max(1, round(TRIAL_SHARE * settings.epochs))
    tried: dict[bool, CodeState] = {}

    def trial(mirrored: bool, _fit_part, held_out) -> np.ndarray:
        tried[mirrored] = copy_of(state)
        for _ in run(tried[mirrored], 0, n_trial, mirrored):
            pass
        touched = held_out.touched_rows()
        at = torch.as_tensor(touched, device=rows.device)
        codes = encode_rows(tried[mirrored].network, rows[at]).cpu().numpy()
        return answer_credits(codes, held_out.restrict(touched))

    if settings.image_shape is None or not settings.epochs:
        return False
    selected = select([False, True], trial, answers, splits=[split], what="trying views")
    if not tried:
        return False
    flips = bool(first_unless_ahead(selected, answers, FLIP_ERRORS))
    state.network, state.optimizer = tried[flips].network, tried[flips].optimizer
    state.generator, state.epoch = tried[flips].generator, tried[flips].epoch
    state.objective = tried[flips].objective
    return flips


def choose_plan(problem: ShortRun, candidates: Sequence[Settings]) -> int:
    """Place of the plan that predicts held-out answers best; the first, if too few can judge."""
    answers = problem.answers
    entropies = [
        least_entropy(answers, one.n_clusters, one.sizes) * bool(one.size_weight)
        for one in candidates
    ]
    differ = [i for i, one in enumerate(entropies) if not i or abs(one - entropies[0]) > CLOSE]
    if len(differ) < 2 or not candidates[0].max_epochs:
        return 0

    def trial(settings: Settings, fit_part: Constraints, held_out: Constraints) -> np.ndarray:
        touched = held_out.touched_rows()
        q = problem.memberships(carefully(settings), fit_part, touched)
        return answer_credits(q, held_out.restrict(touched))

    tried = [candidates[i] for i in differ]
    selected = select(tried, trial, answers, splits=[problem.split()], what="trying plans")
    return differ[first_unless_ahead(selected, answers, N_ERRORS)]


def carefully(settings: Settings) -> Settings:
    """The same, with an error rate."""
    return replace(settings, error_rate=CAREFUL) if settings.error_rate is None else settings


def choose_error_rate(problem: ShortRun, settings: Settings) -> float:
    """The one given; else 0 if pairs can sort the rows alone and hardly any is wrong."""
    if settings.error_rate is not None:
        return settings.error_rate
    enough = are_enough_alone(problem.answers, settings.n_clusters)
    if problem.init_labels is not None or not enough or not settings.max_epochs:
        return CAREFUL
    split = problem.split()
    touched = split.held_out.touched_rows()
    q = problem.memberships(carefully(settings), split.fit_part, touched)
    return CAREFUL if most_wrong(q, split.held_out.restrict(touched)) > MOST_WRONG else 0.0


def most_wrong(q: np.ndarray, answers: Constraints) -> float:
    """The larger share of wrong pairs that memberships allow; 1 if they allow any."""
    pairs, signs = answers.signed_pairs()
    labels = q.argmax(axis=1)
    together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    contradicted = [(signs > 0)[~together], (signs < 0)[together]]
    return min(float(one.mean()) if len(one) else 1.0 for one in contradicted)
