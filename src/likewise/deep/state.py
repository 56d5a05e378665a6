"""What training reads, what it changes, and what a checkpoint contains."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep.batches import Answers, answers_by_kind
from likewise.deep.distributed import World
from likewise.deep.fit_settings import Settings
from likewise.deep.networks import Autoencoder, Clusterer, start_weights
from likewise.deep.pretraining import pretraining_optimizer
from likewise.deep.steps import adam, tensors_of
from likewise.duals import PricedPairs, pairs_of


class Problem(NamedTuple):
    """What training reads and does not change, except the weights of pairs that are left out."""

    rows: torch.Tensor  # (n, d)
    answers: dict[str, Answers]  # to learn from
    full_weights: dict[str, torch.Tensor]  # theirs, before any is left out
    pairs: PricedPairs  # the pairs among them, for the filter
    held_out: Constraints
    ease: torch.Tensor | None  # (n,)
    settings: Settings
    world: World


@dataclass
class State:
    """What an epoch changes."""

    model: Clusterer
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    labels: torch.Tensor  # (n,)
    phase: str = "pretraining"  # then "clustering"
    epoch: int = 0  # epochs of this phase done
    objective: list[float] = field(default_factory=list)  # one entry per epoch of clustering
    n_kept: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # of the held-out answers
    best: list[torch.Tensor] | None = None  # tensors_in(state) at the best of the scores
    multipliers: np.ndarray | None = None  # of the pairs' prices, to go on from
    converged: bool = False
    changed: float = 1.0  # share of the rows whose cluster changed in the last epoch


class Trained(NamedTuple):
    encoder: list[tuple[np.ndarray, np.ndarray]]  # weights (inputs, outputs) and biases by layer
    decoder: list[tuple[np.ndarray, np.ndarray]]
    centers: np.ndarray  # (k, n_code)
    offset: np.ndarray  # (d,)
    scale: float
    labels: np.ndarray  # (n,)
    objective: np.ndarray  # (n_epochs,) mean loss of each epoch
    n_kept: np.ndarray  # (n_epochs,) pairs learned from
    held_out: np.ndarray  # (n_epochs + 1,) share of held-out answers predicted, or empty
    converged: bool  # few rows changed, or the held-out answers were predicted no better
    changed: float  # share of the rows that changed their cluster in the last epoch


def make_problem(X, answers, held_out, ease, settings, device, world) -> Problem:
    by_kind = answers_by_kind(answers, device)
    return Problem(
        torch.as_tensor(X, device=device),
        by_kind,
        {kind: of_kind.weights.clone() for kind, of_kind in by_kind.items()},
        pairs_of(answers),
        held_out,
        None if ease is None else torch.as_tensor(ease, device=device),
        settings,
        world,
    )


def start_state(X: np.ndarray, settings: Settings, device, seed: int) -> State:
    """First weights drawn, no epoch made."""
    generator = torch.Generator().manual_seed(seed)
    autoencoder = Autoencoder(
        (X.shape[1], *settings.widths),
        on_sphere=settings.loss != "student",
        offset=X.mean(axis=0, dtype=np.float64),
        scale=float(np.sqrt(np.mean(np.var(X, axis=0, dtype=np.float64)))) or 1.0,
    ).to(device)
    start_weights(autoencoder, generator)
    centers = torch.zeros(settings.n_clusters, settings.widths[-1])
    model = Clusterer(autoencoder, centers, loss=settings.loss, t_power=settings.t_power).to(device)
    optimizer = pretraining_optimizer(autoencoder, settings)
    return State(model, optimizer, generator, torch.zeros(len(X), dtype=torch.int64, device=device))


def take_layers(autoencoder: Autoencoder, layers) -> None:
    """Put the layers of another network, encoder and decoder, in place of its own."""
    with torch.no_grad():
        for part, given in zip((autoencoder.encoder, autoencoder.decoder), layers):
            for layer, (weights, bias) in zip(part, given):
                own_weights, own_bias = layer.parameters()
                own_weights.copy_(torch.as_tensor(weights.T))
                own_bias.copy_(torch.as_tensor(bias))


def begin_phase(state: State, phase: str, epoch: int, settings: Settings) -> None:
    """A new optimizer for each phase: the moments of pretraining are forgotten."""
    state.phase, state.epoch = phase, epoch
    if phase == "pretraining":
        state.optimizer = pretraining_optimizer(state.model.autoencoder, settings)
    else:
        state.optimizer = adam(state.model.parameters(), settings.learning_rate)


def tensors_in(state: State) -> list[torch.Tensor]:
    """All tensors a step changes, in a fixed order."""
    return [*tensors_of(state.optimizer), *state.model.buffers()]


def copy_tensors(state: State, tensors) -> None:
    for now, then in zip(tensors_in(state), tensors):
        now.copy_(then)


def to_file(state: State):
    """Arrays and document of a checkpoint."""
    arrays = {f"now.{i}": to_numpy(tensor) for i, tensor in enumerate(tensors_in(state))}
    arrays |= {f"best.{i}": to_numpy(tensor) for i, tensor in enumerate(state.best or ())}
    arrays["generator"] = state.generator.get_state().numpy()
    arrays["labels"] = state.labels.cpu().numpy()
    if state.multipliers is not None:
        arrays["multipliers"] = state.multipliers
    arrays["objective"] = np.array(state.objective)
    arrays["n_kept"] = np.array(state.n_kept, dtype=np.int64)
    arrays["scores"] = np.array(state.scores)
    return arrays, {"phase": state.phase, "epoch": state.epoch}


def take_from_file(state: State, settings: Settings, arrays, document) -> None:
    """The state that `to_file` wrote, in place of this one."""
    device = state.labels.device

    def listed(name):
        keys = sorted(
            (key for key in arrays if key.startswith(name)),
            key=lambda key: int(key.removeprefix(name)),
        )
        return [torch.as_tensor(arrays[key], device=device) for key in keys]

    begin_phase(state, document["phase"], document["epoch"], settings)
    copy_tensors(state, listed("now."))
    state.best = listed("best.") or None
    state.generator.set_state(torch.as_tensor(arrays["generator"]))
    state.labels = torch.as_tensor(arrays["labels"], device=device)
    state.multipliers = arrays.get("multipliers")
    state.objective = arrays["objective"].tolist()
    state.n_kept, state.scores = arrays["n_kept"].tolist(), arrays["scores"].tolist()


def to_trained(state: State) -> Trained:
    autoencoder = state.model.autoencoder

    def arrays(layers):
        return [(to_numpy(layer.weight.T), to_numpy(layer.bias)) for layer in layers]

    return Trained(
        arrays(autoencoder.encoder),
        arrays(autoencoder.decoder),
        to_numpy(state.model.centers),
        to_numpy(autoencoder.offset),
        autoencoder.scale,
        state.labels.cpu().numpy(),
        np.array(state.objective),
        np.array(state.n_kept, dtype=np.int64),
        np.array(state.scores),
        state.converged,
        state.changed,
    )


def to_numpy(tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().copy()
