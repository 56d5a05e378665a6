"""One step of the optimizer: plain on the CPU, captured once and replayed on a GPU.

A step of this network is about a hundred small kernels; launching them takes the host longer than
running them takes the GPU. A CUDA graph launches all of them at once. What a step reads (rows,
plans, weights, targets) therefore stays where it is in memory and is overwritten, never replaced.
"""

import math
from collections.abc import Callable

import torch

MOMENTUM = 0.9
WARM_SHARE = 0.1  # of the steps of one cycle
N_WARM = 3  # steps before the capture, for libraries that set themselves up in the first ones


def adam(parameters, learning_rate: float, *, weight_decay: float = 0.0):
    """Adam whose moments exist from the start, so that they can be saved and restored.

    Weights decay apart from the gradient, as in AdamW, which without decay is Adam.
    """
    parameters = list(parameters)
    rate = changeable_rate(learning_rate, parameters)
    on_gpu = parameters[0].is_cuda
    optimizer = torch.optim.AdamW(
        parameters, lr=rate, weight_decay=weight_decay, fused=True, capturable=on_gpu
    )
    for p in parameters:
        optimizer.state[p] = {
            "step": torch.zeros((), device=p.device),
            "exp_avg": torch.zeros_like(p),
            "exp_avg_sq": torch.zeros_like(p),
        }
    return optimizer


def descent(parameters, learning_rate: float):
    """Gradient descent with momentum, set up the same way; the momentum is xie2016's."""
    parameters = list(parameters)
    rate = changeable_rate(learning_rate, parameters)
    optimizer = torch.optim.SGD(parameters, lr=rate, momentum=MOMENTUM, fused=True)
    for p in parameters:
        optimizer.state[p] = {"momentum_buffer": torch.zeros_like(p)}
    return optimizer


def changeable_rate(learning_rate: float, parameters):
    """The rate in the GPU's memory, where a captured step reads it."""
    device = parameters[0].device
    return torch.tensor(learning_rate, device=device) if device.type == "cuda" else learning_rate


def set_rate(optimizer, rate: float) -> None:
    """Change the learning rate, in place where a captured step reads it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def one_cycle(step: int, n_steps: int, peak: float) -> float:
    """The rate of a step: up in a line over WARM_SHARE of the steps, down to 0 along a cosine."""
    done = (step + 1) / n_steps
    if done < WARM_SHARE:
        return peak * done / WARM_SHARE
    return peak * 0.5 * (1 + math.cos(math.pi * (done - WARM_SHARE) / (1 - WARM_SHARE)))


def tensors_of(optimizer) -> list[torch.Tensor]:
    """Everything a step changes, in a fixed order: parameters, then the optimizer's own."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    moments = [optimizer.state[p][name] for p in parameters for name in sorted(optimizer.state[p])]
    return [*(p.detach() for p in parameters), *moments]


def make_step(loss_of: Callable, optimizer, inputs, *, captured: bool, buffers=()) -> Callable:
    """A function of the same inputs that takes one step and returns the loss, a tensor.

    `buffers` are what else a step changes: running statistics.
    """

    def step(*given):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*given)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if not captured:
        return step
    fixed = [one.clone() for one in inputs]
    changed = [*tensors_of(optimizer), *buffers]
    before = [one.clone() for one in changed]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(N_WARM):
            step(*fixed)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(*fixed)
    for now, then in zip(changed, before):  # the warm steps never happened
        now.copy_(then)

    def replay(*given):
        for mine, yours in zip(fixed, given):
            mine.copy_(yours, non_blocking=True)
        graph.replay()
        return loss

    return replay
