"""The loss of one step: of rows and their targets, of answers of one kind, or of both together.

    rows       kl KL(P || Q) + |x - decode(encode(x))|^2 + sizes + difficulty
    answers    weight * mean over those of the step; for must-links + |x - decode(encode(x))|^2
    together   rows + pairs + triples

Apart, each answer is seen once in an epoch, among its own kind; together, an answer counts as much
as any other: the pairs' part is a mean over all pairs, the triples' over all triples.
Reference: zhang2021, zhang2025. The way together is ours; zhang2021 steps apart.
"""

import torch

from likewise.deep import losses
from likewise.deep.batches import Answers, batch_of_answers, n_steps_of
from likewise.deep.distributed import World
from likewise.deep.fit_settings import Settings
from likewise.deep.images import warp

DIFFICULTY_WEIGHT = 0.1  # of `ease`: a user who wants more of it doubles `ease` itself
RULES = {
    "must_link": losses.must_link_loss,
    "cannot_link": losses.cannot_link_loss,
    "odd_one_out": losses.choice_loss,
    "closer": losses.choice_loss,
    "undecided": losses.undecided_loss,
}


class Objective:
    """The losses of a step, each as a function of the step's inputs."""

    def __init__(
        self, model, rows, answers: dict[str, Answers], target, ease, settings: Settings, world
    ):
        self.model, self.rows, self.answers = model, rows, answers
        self.target, self.ease, self.settings = target, ease, settings
        self.widening = losses.widening_of(settings.n_clusters, settings.widths[-1])
        self.weights = kind_weights(answers, settings, len(rows), world)

    def together(self, at, warps, *chosen):
        """Of rows, and of some answers of every kind."""
        named = [self.rows_of(kind, some) for kind, some in zip(self.answers, chosen)]
        back, target, codes, q = self.look(torch.cat([at, *named]), warps)
        n = len(at)
        loss = self.row_loss(at, back[:n], target[:n], q[:n])
        first = n
        for kind, some in zip(self.answers, chosen):
            loss = loss + self.weights[kind] * self.answer_loss(kind, codes, q, first, some)
            first += some.shape[0] * self.answers[kind].rows.shape[1]
        return loss

    def of_rows(self, at, warps):
        back, target, _, q = self.look(at, warps)
        return self.row_loss(at, back, target, q)

    def of_answers(self, kind: str, chosen, warps, share):
        """The loss of answers of one kind: a mean over those of weight > 0."""
        back, target, codes, q = self.look(self.rows_of(kind, chosen), warps)
        loss = self.weights[kind] / share * self.answer_loss(kind, codes, q, 0, chosen)
        if kind == "must_link":
            counts = (self.answers[kind].weights[chosen] > 0).repeat(2)
            error = ((back - target).square().mean(dim=1) * counts).mean()
            loss = loss + 2 / share * error
        return loss

    def rows_of(self, kind: str, chosen):
        """Row numbers of answers, column after column."""
        return self.answers[kind].rows[chosen].T.reshape(-1)

    def look(self, at, warps):
        """Rows as reconstructed and as they should be, their codes and assignments."""
        x = self.rows[at]
        if self.settings.image_shape is not None:
            x = warp(x, warps, self.settings.image_shape)
        codes, back, q = self.model(x)
        network = getattr(self.model, "module", self.model)
        return back, network.autoencoder.standardize(x), codes, q

    def row_loss(self, at, back, target, q):
        settings = self.settings
        loss = (back - target).square().mean()
        if settings.kl_weight:
            loss = loss + settings.kl_weight * losses.kl_loss(self.target[at], q)
        if settings.size_weight:
            loss = loss + settings.size_weight * losses.size_loss(q)
        if self.ease is not None:
            loss = loss + DIFFICULTY_WEIGHT * losses.difficulty_loss(q, self.ease[at])
        return loss

    def answer_loss(self, kind: str, codes, q, first: int, chosen):
        """The loss of answers of one kind, whose rows start at `first`, column after column."""

        def similarity(a, b):
            return self.similarity(codes, q, (a, b), kind)

        return loss_of_answers(kind, self.answers[kind], chosen, first, similarity)

    def similarity(self, codes, q, pair, kind: str):
        i, j = pair
        if self.settings.loss != "angular":
            return losses.overlap(q[i], q[j])
        cosine = losses.cosines(codes[i], codes[j])
        return losses.nearness(cosine, self.widening if kind == "cannot_link" else 1)


def loss_of_answers(kind: str, answers: Answers, chosen, first: int, similarity):
    """The mean loss of the chosen answers of one kind, whose rows start at `first`.

    Rows stand column after column; `similarity` gives (m,) of two slices of them.
    """
    m, width = chosen.shape[0], answers.rows.shape[1]
    a, b, c = (slice(first + i * m, first + (i + 1) * m) for i in range(3))
    asked = {"closer": [(a, b), (a, c)]}.get(kind, [(a, b), (a, c), (b, c)])
    alike = [similarity(*pair) for pair in (asked if width == 3 else [(a, b)])]
    given = alike[0] if width == 2 else torch.stack(alike, dim=1)
    return RULES[kind](given, answers.weights[chosen])


def kind_weights(
    answers: dict[str, Answers], settings: Settings, n_rows: int, world: World
) -> dict[str, float]:
    """What the mean loss of each kind counts: a pair as much as a pair, a triple as a triple.

    As given, where each kind has steps of its own. Else batches that are longer because processes
    share them count as much as they would for one.
    """
    named = {"must_link": settings.must_link_weight, "cannot_link": settings.cannot_link_weight}
    given = {kind: named.get(kind, settings.triple_weight) for kind in answers}
    if settings.answers_apart:
        return given
    counts = {kind: len(one.positions) for kind, one in answers.items()}
    n_pairs = sum(counts[kind] for kind in counts if kind in named)
    n_triples = sum(counts.values()) - n_pairs
    n_steps = n_steps_of(n_rows, settings.batch_size)
    weights = {}
    for kind, m in counts.items():
        longer = batch_of_answers(m, n_steps, world) / batch_of_answers(m, n_steps, World(0, 1))
        weights[kind] = given[kind] * longer * m / (n_pairs if kind in named else n_triples)
    return weights
