"""The loss of one step: rows, their targets and the answers that fall to it, in one pass.

    kl KL(P || Q) + r |x - decode(encode(x))|^2 + pairs + triples + sizes + difficulty

The pairs' part is a mean over all pairs of the step, the triples' over all triples: a must-link
counts as much as a cannot-link, however few of them there are.
Reference: zhang2021, zhang2025. We differ from zhang2021, which takes a mean over each kind.
"""

import torch

from likewise.deep import losses
from likewise.deep.images import warp
from likewise.deep.plans import Answers
from likewise.deep.settings import Settings

RULES = {
    "must_link": losses.must_link_loss,
    "cannot_link": losses.cannot_link_loss,
    "odd_one_out": losses.choice_loss,
    "closer": losses.choice_loss,
    "undecided": losses.undecided_loss,
}


def kind_weights(answers: dict[str, Answers], settings: Settings) -> dict[str, float]:
    """What the mean loss of each kind counts: a pair as much as a pair, a triple as a triple."""
    named = {"must_link": settings.must_link_weight, "cannot_link": settings.cannot_link_weight}
    counts = {kind: len(one.positions) for kind, one in answers.items()}
    n_pairs = sum(counts[kind] for kind in counts if kind in named)
    n_triples = sum(counts.values()) - n_pairs
    return {
        kind: named[kind] * count / n_pairs
        if kind in named
        else settings.triple_weight * count / n_triples
        for kind, count in counts.items()
    }


def clustering_loss(model, rows, answers: dict[str, Answers], target, ease, settings: Settings):
    """The loss of one step as a function of its inputs."""
    network = getattr(model, "module", model)
    widening = losses.widening_of(settings.n_clusters, settings.widths[-1])
    weights = kind_weights(answers, settings)

    def similarity(codes, q, pair, kind):
        i, j = pair
        if settings.loss != "angular":
            return losses.overlap(q[i], q[j])
        cosine = losses.cosines(codes[i], codes[j])
        return losses.nearness(cosine, widening if kind == "cannot_link" else 1)

    def answer_loss(kind, codes, q, first: int, chosen):
        """Of the answers of one kind, whose rows stand from `first` on, column after column."""
        one = answers[kind]
        m, width = chosen.shape[0], one.rows.shape[1]
        a, b, c = (slice(first + i * m, first + (i + 1) * m) for i in range(3))
        asked = {"closer": [(a, b), (a, c)]}.get(kind, [(a, b), (a, c), (b, c)])
        alike = [similarity(codes, q, pair, kind) for pair in (asked if width == 3 else [(a, b)])]
        given = alike[0] if width == 2 else torch.stack(alike, dim=1)
        return weights[kind] * RULES[kind](given, one.weights[chosen])

    def loss_of(at, warps, *chosen):
        named = [answers[kind].rows[some].T.reshape(-1) for kind, some in zip(answers, chosen)]
        x = rows[torch.cat([at, *named])]
        if settings.image_shape is not None:
            x = warp(x, warps, settings.image_shape)
        codes, back, q = model(x)
        n = len(at)
        standard = network.autoencoder.standardize(x[:n])
        loss = settings.reconstruction_weight * (back[:n] - standard).square().mean()
        if settings.kl_weight:
            loss = loss + settings.kl_weight * losses.kl_loss(target[at], q[:n])
        if settings.size_weight:
            loss = loss + settings.size_weight * losses.size_loss(q[:n])
        if ease is not None:
            loss = loss + settings.difficulty_weight * losses.difficulty_loss(q[:n], ease[at])
        first = n
        for kind, some in zip(answers, chosen):
            loss = loss + answer_loss(kind, codes, q, first, some)
            first += some.shape[0] * answers[kind].rows.shape[1]
        return loss

    return loss_of
