"""Several processes as one: torch's own data parallelism, if torchrun started the program.

Every process holds all rows and draws the same plan; it takes its share of each batch, and the
gradients are averaged. A single process is a world of 1 and runs the same code.
"""

import atexit
import os
from typing import NamedTuple

import torch
from torch import distributed, nn

from likewise.maps import find_device


class World(NamedTuple):
    rank: int
    size: int

    @property
    def is_alone(self) -> bool:
        return self.size == 1


def join_workers() -> World:
    """The world this process belongs to; joined once for all fits, if torchrun named one.

    Processes that leave a world and join it again may find remains of the old one, and hang.
    """
    if not distributed.is_initialized():
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return World(0, 1)
        kinds = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(kinds)
        atexit.register(leave)
    return World(distributed.get_rank(), distributed.get_world_size())


def leave() -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()


def local_device(named: str | None) -> torch.device:
    """The device to use: None takes a GPU if there is one; of several GPUs, this process's own."""
    if named is None:
        named = "cuda" if torch.cuda.is_available() else "cpu"
    device = find_device(torch, named)
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return device


def wrap(module: nn.Module, world: World, *, in_parts: bool = False) -> nn.Module:
    """The module, averaging gradients over the world; `in_parts` if a step may skip some."""
    if world.is_alone:
        return module
    return nn.parallel.DistributedDataParallel(module, find_unused_parameters=in_parts)


def agree(number: int, world: World, device) -> int:
    """The first process's number."""
    if world.is_alone:
        return number
    first = torch.tensor(number, device=device)
    distributed.broadcast(first, src=0)
    return int(first)


def average(number, world: World):
    """The mean over all processes, each of which has a tensor."""
    if world.is_alone:
        return number
    total = number.clone()
    distributed.all_reduce(total)
    return total / world.size


def gather_parts(function, rows, world: World):
    """function(rows) for all rows, where each process works on its share of them."""
    if world.is_alone:
        return function(rows)
    share = -(-len(rows) // world.size)
    starts = [min(r * share, len(rows) - share) for r in range(world.size)]
    part = function(rows[starts[world.rank] :][:share]).contiguous()
    parts = [torch.empty_like(part) for _ in starts]
    distributed.all_gather(parts, part)
    whole = torch.empty(len(rows), *part.shape[1:], dtype=part.dtype, device=part.device)
    for start, one in zip(starts, parts):  # the last shares may overlap
        whole[start : start + share] = one
    return whole


def take_first(tensors, world: World) -> None:
    """Put the first process's tensors in place of this one's."""
    if not world.is_alone:
        for tensor in tensors:
            dense = tensor.detach().contiguous()
            distributed.broadcast(dense, src=0)
            tensor.detach().copy_(dense)
