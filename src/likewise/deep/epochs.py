"""One epoch of clustering: its parts, what each of their steps uses, and the steps themselves.

With answers apart, rows come first, then each kind of answers; otherwise there is one part. Steps
are made when first used and reused in every epoch, so that a GPU can replay them (steps.py).
"""

from collections.abc import Callable
from functools import partial

import torch

from likewise.deep.batches import n_steps_of, plan_answers, plan_kind, plan_rows
from likewise.deep.distributed import average, wrap
from likewise.deep.images import N_NUMBERS, draw_warps
from likewise.deep.objective import Objective
from likewise.deep.state import Problem, State
from likewise.deep.steps import make_step


def make_epoch(problem: Problem, state: State, target) -> Callable[[], float]:
    """A function that runs one epoch and returns its mean loss; `target` is overwritten between."""
    settings, world, device = problem.settings, problem.world, problem.rows.device
    model = wrap(state.model, world, in_parts=settings.answers_apart)
    objective = Objective(
        model, problem.rows, problem.answers, target, problem.ease, settings, world
    )
    captured = device.type == "cuda" and world.is_alone
    steps: dict[str, Callable] = {}

    def run_epoch() -> float:
        total, n_steps = torch.zeros((), device=device), 0
        for part, loss_of, batches in draw_parts(problem, objective, state.generator):
            for inputs in zip(*batches):
                if part not in steps:
                    steps[part] = make_step(loss_of, state.optimizer, inputs, captured=captured)
                total += steps[part](*inputs)
                n_steps += 1
        return float(average(total, world)) / n_steps

    return run_epoch


def draw_parts(problem: Problem, objective: Objective, generator):
    """Name, loss and steps' inputs, (n_steps, ...) each, of the parts of an epoch."""
    answers, settings, world = problem.answers, problem.settings, problem.world
    n_rows, batch_size = len(problem.rows), settings.batch_size

    def with_warps(n_warped, first, *others):
        """Inputs on the device, after the first the warps of each step's rows."""
        warps = torch.zeros(len(first), 0, 1)
        if settings.image_shape is not None:
            drawn = draw_warps(len(first) * n_warped, generator)
            warps = drawn.reshape(len(first), n_warped, N_NUMBERS)
        return [tensor.to(problem.rows.device) for tensor in (first, warps, *others)]

    at = plan_rows(n_rows, batch_size, generator, world)
    if settings.answers_apart:
        yield "rows", objective.of_rows, with_warps(at.shape[1], at)
        for kind, of_kind in answers.items():
            if objective.weights[kind]:
                chosen, shares = plan_kind(of_kind, batch_size, generator, world)
                n_warped = chosen.shape[1] * of_kind.rows.shape[1]
                loss_of = partial(objective.of_answers, kind)
                yield kind, loss_of, with_warps(n_warped, chosen, shares)
        return
    n_steps = n_steps_of(n_rows, batch_size)
    chosen = [
        plan_answers(len(of_kind.positions), n_steps, generator, world)
        for of_kind in answers.values()
    ]
    n_warped = at.shape[1] + sum(
        part.shape[1] * of_kind.rows.shape[1] for part, of_kind in zip(chosen, answers.values())
    )
    yield "together", objective.together, with_warps(n_warped, at, *chosen)
