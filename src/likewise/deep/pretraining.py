"""Codes before there are clusters: an autoencoder that repairs damaged rows.

    short       the whole network at once, rows with a fifth of their values masked, Adam
    layer-wise  each layer as an autoencoder of the one below, then the whole, by plain descent with
                momentum whose rate falls to a tenth after every third of the epochs

Rows that are images are warped too (images.py).
Reference: xie2016 and zhang2021 for the layer-wise schedule (300 epochs per layer, then 500 for
the whole), which takes hours on a CPU; the short one reaches codes that are as useful in minutes.
"""

import torch
from torch.nn import functional as F

from likewise.deep.batches import plan_rows
from likewise.deep.distributed import World, wrap
from likewise.deep.fit_settings import Settings
from likewise.deep.images import draw_warps, warp
from likewise.deep.networks import Autoencoder, start_weights
from likewise.deep.steps import adam, descent, make_step, set_rate
from likewise.progress import track

MASKED = 0.2  # share of values set to the mean
DROPPED = 0.2  # share of hidden units left out, layer-wise
RATE, N_DROPS = 0.05, 3  # of the layer-wise descent; 0.1 where errors are halved
LAYER_SHARE = 0.6  # epochs of a layer to those of the whole: 300 to 500
BATCH = 256  # rows of a step of the layer-wise schedule


def mending_loss(model, rows, settings: Settings):
    """Mean squared error of rows repaired from damaged ones, as a function of a step's inputs."""
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


def pretraining_optimizer(model: Autoencoder, settings: Settings):
    if settings.pretraining == "layer-wise":
        return descent(model.parameters(), RATE)
    return adam(model.parameters(), settings.learning_rate)


def make_pretraining_epoch(
    model: Autoencoder, optimizer, rows, settings: Settings, generator, world: World
):
    """A function that runs one epoch, by its number."""
    loss_of = mending_loss(wrap(model, world), rows, settings)
    noise = torch.Generator(rows.device)
    step = None

    def run_epoch(epoch: int) -> None:
        nonlocal step
        if settings.pretraining == "layer-wise":
            set_rate(optimizer, falling_rate(epoch, settings.pretraining_epochs))
        plan = plan_rows(len(rows), settings.batch_size, generator, world).to(rows.device)
        warps = draw_warps(plan.numel(), generator).to(rows.device)
        warps = warps.reshape(*plan.shape, -1)
        noise.manual_seed(int(torch.randint(2**31, (), generator=generator)) + world.rank)
        for at, how in zip(plan, warps):
            damage = draw_drops((len(at), rows.shape[1]), MASKED, noise)
            if step is None:
                captured = rows.is_cuda and world.is_alone
                step = make_step(loss_of, optimizer, (at, how, damage), captured=captured)
            step(at, how, damage)

    return run_epoch


def train_layer_wise(model: Autoencoder, rows, n_epochs: int, generator) -> None:
    """Each layer with its mirror image, from the rows up, in place."""
    start_weights(model, generator, small=True)
    below = model.standardize(rows)
    n_layers, n_epochs = len(model.encoder), max(1, round(LAYER_SHARE * n_epochs))
    noise = torch.Generator(rows.device)
    noise.manual_seed(int(torch.randint(2**31, (), generator=generator)))
    for depth, down in enumerate(model.encoder):
        is_code, is_data = depth == n_layers - 1, depth == 0
        up = model.decoder[n_layers - 1 - depth]
        optimizer = descent([*down.parameters(), *up.parameters()], RATE)
        loss_of = layer_loss(down, up, below, is_code=is_code, is_data=is_data)
        dropped = 0.0 if is_code else DROPPED
        step = None
        for epoch in track(range(n_epochs), f"pretraining layer {depth + 1} of {n_layers}"):
            set_rate(optimizer, falling_rate(epoch, n_epochs))
            for at in plan_rows(len(below), BATCH, generator, World(0, 1)).to(rows.device):
                masks = (
                    draw_drops((len(at), below.shape[1]), MASKED, noise),
                    draw_drops((len(at), down.out_features), dropped, noise),
                )
                if step is None:
                    step = make_step(loss_of, optimizer, (at, *masks), captured=rows.is_cuda)
                step(at, *masks)
        with torch.no_grad():
            below = down(below) if is_code else F.relu(down(below))


def layer_loss(down, up, below, *, is_code: bool, is_data: bool):
    """Mean squared error of one layer: dropped in, dropped hidden, linear at the two ends."""

    def loss_of(at, dropped_in, dropped_hidden):
        x = below[at]
        hidden = down(drop(x, dropped_in, MASKED))
        if not is_code:
            hidden = drop(F.relu(hidden), dropped_hidden, DROPPED)
        back = up(hidden) if is_data else F.relu(up(hidden))
        return F.mse_loss(back, x)

    return loss_of


def draw_drops(shape, share: float, noise: torch.Generator):
    return torch.rand(shape, generator=noise, device=noise.device) < share


def drop(values, dropped, share: float):
    return values.masked_fill(dropped, 0.0) / (1 - share)


def falling_rate(epoch: int, n_epochs: int) -> float:
    """A tenth of the rate after every third of the epochs."""
    return RATE * 0.1 ** (epoch * N_DROPS // n_epochs)
