"""Which rows and answers each step of an epoch uses: drawn in advance, the same on every device."""

from typing import NamedTuple

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep.distributed import World

KINDS = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided")


class Answers(NamedTuple):
    """The answers of one kind, plus one of weight 0 to fill up batches."""

    rows: torch.Tensor  # (m + 1, 2 or 3)
    weights: torch.Tensor  # (m + 1,)
    positions: np.ndarray  # (m,) of the answers among all


def answers_by_kind(constraints: Constraints, device) -> dict[str, Answers]:
    """The answers of weight > 0, by kind; the mean weight of a kind becomes 1."""
    by_kind = {}
    for kind in KINDS:
        positions = constraints.positions(kind)
        weights = constraints.weights[positions]
        rows, positions = getattr(constraints, kind)[weights > 0], positions[weights > 0]
        if len(rows):
            weights = weights[weights > 0] / weights[weights > 0].mean()
            filled = np.concatenate([rows, np.zeros((1, rows.shape[1]), dtype=rows.dtype)])
            by_kind[kind] = Answers(
                torch.as_tensor(filled.astype(np.int64), device=device),
                torch.as_tensor(np.append(weights, 0.0).astype(np.float32), device=device),
                positions,
            )
    return by_kind


def n_steps_of(n_rows: int, batch_size: int) -> int:
    return max(1, round(n_rows / batch_size))


def plan_rows(n_rows: int, batch_size: int, generator, world: World):
    """Row numbers (n_steps, batch) of this process: all rows in random order, some twice at most.

    Batches are equal, and a multiple of the world's size, so that a step can be replayed and means
    over processes are means over rows.
    """
    n_steps = n_steps_of(n_rows, batch_size)
    batch = -(-n_rows // (n_steps * world.size)) * world.size
    order = torch.randperm(n_rows, generator=generator)
    order = order.repeat(-(-n_steps * batch // n_rows))[: n_steps * batch]
    return order.reshape(n_steps, batch)[:, world.rank :: world.size]


def batch_of_answers(m: int, n_steps: int, world: World) -> int:
    """Room for m answers in n_steps, a multiple of the world's size."""
    return -(-m // (n_steps * world.size)) * world.size


def plan_answers(m: int, n_steps: int, generator, world: World):
    """Positions (n_steps, batch) of this process: each of m answers once, and m to fill up."""
    batch = batch_of_answers(m, n_steps, world)
    order = torch.full((n_steps * batch,), m)
    order[:m] = torch.randperm(m, generator=generator)
    return order.reshape(batch, n_steps).T[:, world.rank :: world.size]


def plan_kind(one: Answers, batch_size: int, generator, world: World):
    """Positions (n_steps, batch) of this process, and what share of all processes' weigh anything.

    Each answer of weight > 0 is used once. Batches are equal whatever is left out, so that a step
    can be replayed; n_steps is 0 if nothing is left.
    """
    m = len(one.positions)
    used = torch.nonzero(one.weights[:m].cpu()).flatten()
    batch = -(-min(batch_size, m) // world.size) * world.size
    n_steps = -(-len(used) // batch)
    order = torch.full((n_steps * batch,), m)
    order[: len(used)] = used[torch.randperm(len(used), generator=generator)]
    order = order.reshape(batch, n_steps).T
    return order[:, world.rank :: world.size], (order < m).float().mean(dim=1)
