"""Clusters from codes and answers: the likelihood of agreement, pseudo-labels, and the contrast.

    repeat   for batches of rows and of answers:  one step of AdamW on
                 answers      -log s, -log(1 - s), s = e + (1 - 2e) q_i.q_j, where e of them may
                              be wrong; triples by softmax                           (losses.py)
                 + (1 - ramp) * labels that clusters start from                    (starts.py)
                 + ramp * pseudo-labels of the rows that are sure of their cluster
                 + size_weight * evenness + contrast_weight * contrast
    for      `max_epochs` passes over the rows, the rate along one cycle

Answers are first closed (what they imply is learned too) unless they contradict each other or
differ in weight. Answers that are trusted (e = 0) are shown nearly plain and learned by heart;
others are warped more, so that what no other row supports is not.
Reference: hsu2019 for the likelihood, patrini2017 for e, sohn2020 for pseudo-labels.
"""

import math

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep import losses
from likewise.deep.batches import Answers, answers_by_kind, plan_rows
from likewise.deep.fit_settings import Settings
from likewise.deep.objective import DIFFICULTY_WEIGHT, loss_of_answers
from likewise.deep.self_supervision import (
    ALONE,
    TEMPERATURE,
    WEIGHT_DECAY,
    CodeState,
    Views,
    changing_buffers,
    encode_rows,
    tensors_in,
)
from likewise.deep.starts import are_enough_alone, start_clusters
from likewise.deep.steps import adam, make_step, one_cycle, set_rate
from likewise.evaluation import held_out_accuracy

N_ANSWERS = 256  # in a step, at most as many as rows
LEAST_SHARE = 1 / 8  # of a kind in a step: few must-links are seen often
SURE = 0.9  # membership above which a weak view labels the strong one
RAMP = 0.3  # share of the steps over which pseudo-labels come in, and first labels go
MOST_CLOSED = 200_000  # pairs that the closure may have


def close_answers(answers: Constraints) -> Constraints:
    """Pairs with all that they imply, where they are of one weight and free of contradictions."""
    pairs = answers.positions("must_link", "cannot_link")
    weights = answers.weights[pairs]
    if not len(pairs) or np.ptp(weights) > 0 or weights[0] == 0 or answers.conflicts():
        return answers
    closure = answers.closure()
    sizes = closure.sizes
    n_cannot = int((sizes[closure.cannot_link[:, 0]] * sizes[closure.cannot_link[:, 1]]).sum())
    if (sizes * (sizes - 1) // 2).sum() + n_cannot > MOST_CLOSED:
        return answers
    others = answers.subset(np.setdiff1d(np.arange(answers.n_answers), pairs))
    implied = Constraints(
        answers.n_samples,
        must_link=closure.must_link_pairs(),
        cannot_link=closure.cannot_link_pairs(),
    )
    return implied + others


def least_entropy(answers: Constraints, n_clusters: int, sizes: str) -> float:
    """Of the clusters' shares: of equal ones, or what the share of must-links implies.

    Two rows drawn at random are of one cluster with the sum of the squared shares, and no
    distribution with that sum has a smaller entropy than minus its logarithm.
    """
    if sizes == "equal":
        return math.log(n_clusters)
    must, cannot = (
        float(answers.weights[answers.positions(kind)].sum())
        for kind in ("must_link", "cannot_link")
    )
    together = must / (must + cannot) if must + cannot else 1.0
    return -math.log(max(together, 1 / n_clusters))


def clustering_optimizer(network, learning_rate: float):
    return adam(network.parameters(), learning_rate, weight_decay=WEIGHT_DECAY)


def slots_of(answers: dict[str, Answers], n_slots: int) -> dict[str, int]:
    """How many answers of each kind a step has: by their numbers, few ones more often."""
    counts = {kind: len(some.positions) for kind, some in answers.items()}
    total = sum(counts.values())
    return {
        kind: max(1, round(n_slots * max(count / total, LEAST_SHARE)))
        for kind, count in counts.items()
    }


class StepLoss:
    """The loss of one step, as a function of its inputs."""

    def __init__(self, state, rows, answers, ease, settings: Settings, least: float, views: Views):
        self.network, self.rows, self.answers, self.ease = state.network, rows, answers, ease
        self.settings, self.least, self.views = settings, least, views
        self.start, self.level = state.start, "mild" if settings.error_rate else "weak"
        self.slots = slots_of(answers, min(N_ANSWERS, settings.batch_size))

    def __call__(self, at, ramp, *inputs):
        chosen, drawn = inputs[: len(self.slots)], inputs[len(self.slots) :]
        n, network, settings = len(at), self.network, self.settings
        with torch.no_grad():
            weak = self.views.show(at, tuple(one[:n] for one in drawn), "weak")
            q_weak = network.assign(network.encode(weak))
        named = [
            some.rows[which].T.reshape(-1) for some, which in zip(self.answers.values(), chosen)
        ]
        rows = self.views.show(at.repeat(2), tuple(one[n : 3 * n] for one in drawn), "strong")
        if named:
            drawn_for_named = tuple(one[3 * n :] for one in drawn)
            asked = self.views.show(torch.cat(named), drawn_for_named, self.level)
            rows = torch.cat([rows, asked])
        features = network.features(rows)
        codes = torch.nn.functional.normalize(features, dim=1)
        q = network.assign(codes)
        loss = settings.pseudo_weight * ramp * losses.pseudo_label_loss(q_weak, q[:n], SURE)
        if self.start is not None:
            loss = loss + (1 - ramp) * losses.label_loss(q[:n], self.start[at])
        if settings.size_weight:
            loss = loss + settings.size_weight * losses.evenness_loss(q[: 2 * n], self.least)
        if settings.contrast_weight:
            projected = torch.nn.functional.normalize(network.projection(features[: 2 * n]), dim=1)
            contrast = losses.contrast_loss(projected[:n], projected[n:], TEMPERATURE)
            loss = loss + settings.contrast_weight * contrast
        if self.ease is not None:
            loss = loss + DIFFICULTY_WEIGHT * losses.difficulty_loss(q[:n], self.ease[at])
        return loss + self.of_answers(q, 2 * n, chosen)

    def of_answers(self, q, first: int, chosen):
        """A mean over the pairs, and one over the triples, weighted by kind."""
        settings, total = self.settings, 0.0
        named = {"must_link": settings.must_link_weight, "cannot_link": settings.cannot_link_weight}
        n_pairs = sum(n for kind, n in self.slots.items() if kind in named)
        n_triples = sum(self.slots.values()) - n_pairs
        for (kind, some), which in zip(self.answers.items(), chosen):
            weight = named.get(kind, settings.triple_weight)
            weight = weight * self.slots[kind] / (n_pairs if kind in named else n_triples)
            error_rate = settings.error_rate if kind in named else 0.0

            def similarity(a, b, error_rate=error_rate):
                return losses.overlap(q[a], q[b], error_rate)

            loss = loss_of_answers(kind, some, which, first, similarity)
            total = total + weight * loss
            first += which.shape[0] * some.rows.shape[1]
        return total


def learn_clusters(
    state: CodeState, rows, answers: Constraints, ease, settings: Settings, *, epochs
):
    """Make some of `max_epochs` epochs; yields the mean loss of each."""
    least = least_entropy(answers, settings.n_clusters, settings.sizes)
    by_kind = answers_by_kind(close_answers(answers), rows.device)
    views = Views(state.network, rows, flips=bool(settings.flips))
    loss_of = StepLoss(state, rows, by_kind, ease, settings, least, views)
    n_named = sum(n * by_kind[kind].rows.shape[1] for kind, n in loss_of.slots.items())
    network, optimizer, generator = state.network, state.optimizer, state.generator
    step = None
    network.train()
    for epoch in epochs:
        plan = plan_rows(len(rows), settings.batch_size, generator, ALONE).to(rows.device)
        n_steps, batch = plan.shape
        n_all = settings.max_epochs * n_steps
        chosen = [
            torch.randint(len(by_kind[kind].positions), (n_steps, n), generator=generator)
            for kind, n in loss_of.slots.items()
        ]
        chosen = [some.to(rows.device) for some in chosen]
        done = (epoch * n_steps + torch.arange(n_steps)) / n_all
        ramp = (done / RAMP).clamp(max=1).to(rows.device)
        total = torch.zeros((), device=rows.device)
        for i, drawn in enumerate(views.draw(n_steps, 3 * batch + n_named, generator)):
            set_rate(optimizer, one_cycle(epoch * n_steps + i, n_all, settings.learning_rate))
            inputs = (plan[i], ramp[i], *(some[i] for some in chosen), *drawn)
            if step is None:
                step = make_step(
                    loss_of,
                    optimizer,
                    inputs,
                    captured=rows.is_cuda,
                    buffers=changing_buffers(network),
                )
            total += step(*inputs)
        state.epoch = epoch + 1
        state.objective.append(float(total) / n_steps)
        yield state.objective[-1]


def begin_clustering(
    state: CodeState, rows, answers: Constraints, settings: Settings, init_labels
) -> None:
    """Put clusters to start from into the state, which then is before its first epoch."""
    n_clusters = settings.n_clusters
    from_nothing = not settings.error_rate and are_enough_alone(answers, n_clusters)
    start_clusters(state, rows, answers, n_clusters, init_labels, from_nothing=from_nothing)
    state.phase, state.epoch, state.objective = "clustering", 0, []
    state.optimizer = clustering_optimizer(state.network, settings.learning_rate)


@torch.no_grad()
def memberships_of(network, rows):
    """Memberships (n, k) of rows as they are."""
    return network.assign(encode_rows(network, rows))


def note_score(state: CodeState, rows, held_out: Constraints) -> None:
    """Score the held-out answers, and keep the best state."""
    if not held_out.n_answers:
        return
    touched = held_out.touched_rows()
    at = torch.as_tensor(touched, device=rows.device)
    q = memberships_of(state.network, rows[at]).cpu().numpy()
    state.scores.append(held_out_accuracy(q, held_out.restrict(touched)))
    if int(np.argmax(state.scores)) == len(state.scores) - 1:
        state.best = [tensor.clone() for tensor in tensors_in(state)]
