"""Codes before there are clusters: an autoencoder that mends damaged rows.

    short       the whole network at once, rows with a fifth of their values masked, Adam
    layer-wise  each layer as an autoencoder of the one below, then the whole, by plain descent with
                momentum whose rate falls to a tenth after every third of the epochs

Rows that are images are warped too (images.py).
Reference: xie2016 and zhang2021 for the layer-wise schedule (300 epochs a layer, 500 in all), which
takes hours on a CPU; the short one reaches codes of the same use in minutes.
"""

import torch
from torch import nn
from torch.nn import functional as F

from likewise.deep.distributed import World, wrap
from likewise.deep.images import draw_warps, warp
from likewise.deep.networks import Autoencoder, start_weights
from likewise.deep.plans import plan_rows
from likewise.deep.settings import Settings
from likewise.deep.steps import adam, make_step

MASKED = 0.2  # share of values set to the mean
DROPPED = 0.2  # share of hidden units left out, layer-wise
RATE, MOMENTUM, N_DROPS = 0.1, 0.9, 3  # of the layer-wise descent
LAYER_SHARE = 0.6  # epochs of a layer to those of the whole: 300 to 500
BATCH = 256  # rows of a step of the layer-wise schedule


def mending_loss(model, rows, settings: Settings):
    """Mean squared error of clean rows made from damaged ones, as a function of a step's inputs."""
    network = getattr(model, "module", model)

    def loss_of(at, warps, damage):
        clean = rows[at]
        if settings.image_shape is not None:
            clean = warp(clean, warps, settings.image_shape)
        target = network.standardize(clean)
        damaged = torch.where(damage, network.offset, clean)
        _, back = model(damaged)
        return F.mse_loss(back, target)

    return loss_of


def shuffled_epochs(model: Autoencoder, rows, settings: Settings, generator, world: World):
    """The optimizer, and a function that runs one epoch and returns its mean loss."""
    optimizer = adam(model.parameters(), settings.learning_rate)
    loss_of = mending_loss(wrap(model, world), rows, settings)
    noise = torch.Generator(rows.device)
    step = None

    def run():
        nonlocal step
        plan = plan_rows(len(rows), settings.batch_size, generator, world).to(rows.device)
        warps = draw_warps(plan.numel(), generator).to(rows.device)
        warps = warps.reshape(*plan.shape, -1)
        noise.manual_seed(int(torch.randint(2**31, (), generator=generator)) + world.rank)
        total = torch.zeros((), device=rows.device)
        for at, how in zip(plan, warps):
            shape = (len(at), rows.shape[1])
            damage = torch.rand(shape, generator=noise, device=rows.device) < MASKED
            if step is None:
                captured = rows.is_cuda and world.is_alone
                step = make_step(loss_of, optimizer, (at, how, damage), captured=captured)
            total += step(at, how, damage)
        return float(total) / len(plan)

    return optimizer, run


def train_layer_wise(model: Autoencoder, rows, n_epochs: int, generator) -> None:
    """Each layer with its mirror image, from the rows up, in place."""
    start_weights(model, generator, small=True)
    below = model.standardize(rows)
    n_layers = len(model.encoder)
    noise = torch.Generator(rows.device)
    noise.manual_seed(int(torch.randint(2**31, (), generator=generator)))
    for depth, down in enumerate(model.encoder):
        up = model.decoder[n_layers - 1 - depth]
        is_code, is_data = depth == n_layers - 1, depth == 0
        optimizer = torch.optim.SGD(
            [*down.parameters(), *up.parameters()], lr=RATE, momentum=MOMENTUM
        )
        epochs = max(1, round(LAYER_SHARE * n_epochs))
        falling = torch.optim.lr_scheduler.StepLR(optimizer, max(1, epochs // N_DROPS))
        for _ in range(epochs):
            for at in plan_rows(len(below), BATCH, generator, World(0, 1)).to(rows.device):
                descend_layer(below[at], down, up, is_code, is_data, optimizer, noise)
            falling.step()
        with torch.no_grad():
            below = down(below) if is_code else F.relu(down(below))


def descend_layer(x, down, up, is_code: bool, is_data: bool, optimizer, noise) -> None:
    """One step of one layer: dropped in, dropped hidden, linear at the two ends."""

    def drop(values, share):
        kept = torch.rand(values.shape, generator=noise, device=values.device) >= share
        return values * kept / (1 - share)

    hidden = down(drop(x, MASKED))
    if not is_code:
        hidden = drop(F.relu(hidden), DROPPED)
    back = up(hidden) if is_data else F.relu(up(hidden))
    optimizer.zero_grad(set_to_none=True)
    nn.functional.mse_loss(back, x).mul(0.5).backward()
    optimizer.step()
