"""Codes without answers: two views of a row should be nearer than views of different rows.

    repeat   for batches of rows:  one step of AdamW on the contrast of two views (losses.py)
    for      `epochs` passes over the rows, the rate along one cycle

Reference: chen2020; bahri2022 for rows that are not images.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from likewise.deep import losses
from likewise.deep.batches import plan_rows
from likewise.deep.distributed import World
from likewise.deep.encoders import CodeNetwork, start_network
from likewise.deep.steps import adam, make_step, one_cycle, set_rate, tensors_of
from likewise.deep.views import draw_taken, draw_views, view_images, view_rows

TEMPERATURE = 0.5
RATE = 2e-3
WEIGHT_DECAY = 1e-4
BLOCK = 4096  # rows encoded at once
ALONE = World(0, 1)


@dataclass
class CodeState:
    """What an epoch changes."""

    network: CodeNetwork
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    phase: str = "pretraining"  # then "clustering"
    epoch: int = 0  # epochs of this phase done
    objective: list[float] = field(default_factory=list)  # mean loss of each epoch of this phase
    scores: list[float] = field(default_factory=list)  # of held-out answers
    best: list[torch.Tensor] | None = None  # tensors_in(state) at the best of the scores
    start: torch.Tensor | None = None  # (n,) labels that clusters start from, -1 where unknown


class Views:
    """Draws views of rows, and shows them to the network."""

    def __init__(self, network: CodeNetwork, rows, *, flips: bool):
        self.network, self.rows, self.flips = network, rows, flips

    def draw(self, n_steps: int, n: int, generator) -> Iterator[tuple]:
        """For each step, what n views need: tensors with n entries each."""
        device = self.rows.device
        numbers = draw_views(n_steps * n, generator).reshape(n_steps, n, -1).to(device)
        if self.network.image_shape is not None:
            yield from ((some,) for some in numbers)
            return
        others = torch.randint(len(self.rows), (n_steps, 2, n), generator=generator).to(device)
        noise = torch.Generator(device)
        noise.manual_seed(int(torch.randint(2**31, (), generator=generator)))
        for some, (second, third) in zip(numbers, others):
            yield some, second, third, draw_taken((n, self.rows.shape[1]), noise)

    def show(self, at, drawn: tuple, level: str):
        """Standardized rows (n, d), each under its own view: "weak", "mild" or "strong"."""
        rows = self.rows[at]
        if self.network.image_shape is not None:
            return view_images(self.network, rows, drawn[0], level=level, flips=self.flips)
        if level != "strong":
            return self.network.standardize(rows)
        numbers, second, third, taken = drawn
        return view_rows(self.network, rows, self.rows[second], self.rows[third], numbers, taken)


def start_state(
    X: np.ndarray, widths, image_shape, n_clusters: int, device, seed: int
) -> CodeState:
    """First weights drawn, no epoch made."""
    generator = torch.Generator().manual_seed(seed)
    network = start_network(X, widths, image_shape, n_clusters, generator).to(device)
    if torch.device(device).type == "cuda":
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return CodeState(network, pretraining_optimizer(network), generator)


def pretraining_optimizer(network: CodeNetwork):
    parameters = [*network.body.parameters(), *network.projection.parameters()]
    return adam(parameters, RATE, weight_decay=WEIGHT_DECAY)


def tensors_in(state: CodeState) -> list[torch.Tensor]:
    """All that a step changes, in a fixed order."""
    return [*tensors_of(state.optimizer), *changing_buffers(state.network)]


def changing_buffers(network: CodeNetwork) -> list[torch.Tensor]:
    """Running statistics."""
    norms = [*network.body.norms, network.last_norm]
    return [tensor for norm in norms for tensor in norm.buffers()]


def learn_codes(state: CodeState, rows, *, batch_size: int, epochs: range, n_epochs: int, flips):
    """Make some of `n_epochs` epochs; yields after each of them."""
    network, optimizer = state.network, state.optimizer
    views = Views(network, rows, flips=flips)
    step = None

    def loss_of(at, *drawn):
        projected = network.project(views.show(at.repeat(2), drawn, "strong"))
        return losses.contrast_loss(projected[: len(at)], projected[len(at) :], TEMPERATURE)

    network.train()
    for epoch in epochs:
        plan = plan_rows(len(rows), batch_size, state.generator, ALONE).to(rows.device)
        n_steps, batch = plan.shape
        total = torch.zeros((), device=rows.device)
        for i, drawn in enumerate(views.draw(n_steps, 2 * batch, state.generator)):
            set_rate(optimizer, one_cycle(epoch * n_steps + i, n_epochs * n_steps, RATE))
            if step is None:
                step = make_step(
                    loss_of,
                    optimizer,
                    (plan[i], *drawn),
                    captured=rows.is_cuda,
                    buffers=changing_buffers(network),
                )
            total += step(plan[i], *drawn)
        state.epoch = epoch + 1
        state.objective.append(float(total) / n_steps)
        yield epoch


@torch.no_grad()
def encode_rows(network: CodeNetwork, rows):
    """Codes (n, n_code) of rows as they are, with the running normalization."""
    network.eval()
    codes = [network.encode(network.standardize(part)) for part in rows.split(BLOCK)]
    network.train()
    return torch.cat(codes)
