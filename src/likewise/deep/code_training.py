"""Train by the likelihood of agreement: codes without answers, a choice by answers, clusters.

    1.  codes       contrast of views, the same for all sets of answers        (self_supervision.py)
                    mirrored views only if the answers find their rows in such codes
    2.  plan        of several, that which predicts held-out answers after a quarter of its epochs;
                    and how far answers are trusted                                     (trials.py)
    3.  clusters    all answers, the plan that was chosen                 (learning_from_answers.py)

Several processes do the same work, each all of it, and end with the first one's network.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep.checkpoints import Checkpoint, fingerprint_of
from likewise.deep.distributed import join_workers, local_device, take_first
from likewise.deep.encoders import CodeNetwork, arrays_of, map_of, take_arrays
from likewise.deep.fit_settings import CodeSettings, Settings
from likewise.deep.learning_from_answers import (
    begin_clustering,
    clustering_optimizer,
    learn_clusters,
    memberships_of,
    note_score,
)
from likewise.deep.self_supervision import CodeState, learn_codes, start_state, tensors_in
from likewise.deep.training import matmul_precision
from likewise.deep.trials import ShortRun, choose_error_rate, choose_flips, choose_plan
from likewise.maps import Map
from likewise.progress import track


class TrainedCodes(NamedTuple):
    map: Map
    network: list[np.ndarray]  # to start another network from
    flips: bool  # whether views were mirrored
    objective: np.ndarray  # (n_epochs,) mean loss of each epoch


class TrainedClusters(NamedTuple):
    codes: TrainedCodes
    settings: Settings  # those that were chosen
    centers: np.ndarray  # (k, n_code)
    labels: np.ndarray  # (n,)
    held_out: np.ndarray  # (n_epochs + 1,) share of held-out answers predicted, or empty


def train_codes(
    X: np.ndarray, answers: Constraints, settings: CodeSettings, *, device: str | None, seed: int
) -> TrainedCodes:
    """Codes of the rows X (n, d) of float32, without clusters."""
    where, world = local_device(device), join_workers()
    with matmul_precision("high"), fast_convolutions():
        rows = torch.as_tensor(X, device=where)
        state = start_state(X, settings.widths, settings.image_shape, 1, where, seed)
        flips = pretrain(state, rows, answers, settings)
        take_first(tensors_in(state), world)
        return to_codes(state, flips)


def train_clusters(
    X: np.ndarray,
    answers: Constraints,
    held_out: Constraints,
    ease: np.ndarray | None,
    candidates: Sequence[Settings],
    *,
    init_network: tuple[list[np.ndarray], bool] | None,
    init_labels: np.ndarray | None = None,
    device: str | None,
    seed: int,
    checkpoint=None,
) -> TrainedClusters:
    """Cluster the rows X (n, d) of float32 by the plan that the answers choose."""
    where, world, first = local_device(device), join_workers(), candidates[0]
    with matmul_precision("high"), fast_convolutions():
        begun = (init_network, init_labels)
        file = open_checkpoint(
            checkpoint, world, X, answers, held_out, ease, begun, candidates, seed
        )
        rows = torch.as_tensor(X, device=where)
        eased = None if ease is None else torch.as_tensor(ease, device=where)
        state = start_state(X, first.widths, first.image_shape, first.n_clusters, where, seed)
        flips, chosen, error_rate = None, None, None
        if init_network is not None:
            take_arrays(state.network, init_network[0])
            flips = init_network[1]
        saved = file.load()
        if saved is not None:
            flips, chosen, error_rate = take_from_file(state, first, *saved)
        if init_network is None and state.phase == "pretraining":
            flips = pretrain(state, rows, answers, first.pretraining_settings(), file, flips)
        candidates = [replace(one, flips=bool(flips)) for one in candidates]
        problem = ShortRun(state, rows, answers, eased, init_labels)
        is_new = chosen is None
        if chosen is None:
            chosen = choose_plan(problem, candidates)
            error_rate = choose_error_rate(problem, candidates[chosen])
        settings = replace(candidates[chosen], error_rate=error_rate)
        if is_new:
            begin_clustering(state, rows, answers, settings, init_labels)
        cluster(state, rows, answers, held_out, eased, settings, file, chosen)
        take_first(tensors_in(state), world)
        labels = memberships_of(state.network, rows).argmax(dim=1)
        file.remove()
        return TrainedClusters(
            to_codes(state, bool(flips)),
            settings,
            unit_centers(state.network),
            labels.cpu().numpy(),
            np.array(state.scores),
        )


@contextmanager
def fast_convolutions():
    """Within it, the GPU tries which of its convolutions is fastest; no effect on the CPU."""
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


def open_checkpoint(path, world, X, answers, held_out, ease, begun, candidates, seed):
    """The file of this problem, `begun` with a network or labels; without a path an idle one."""
    fingerprint = ""
    if path is not None:
        network, labels = begun
        arrays = [*(network or [()])[0], *(() if labels is None else (labels,))]
        begun = [[(array,) for array in arrays]]
        fingerprint = fingerprint_of(
            X, answers, ease, begun, tuple(candidates), seed, held_out.n_answers
        )
    return Checkpoint(path, fingerprint, is_writer=world.rank == 0)


def pretrain(
    state: CodeState,
    rows,
    answers: Constraints,
    settings: CodeSettings,
    file: Checkpoint | None = None,
    flips: bool | None = None,
) -> bool:
    """Learn codes, in place; whether views were mirrored."""
    n_epochs, batch_size = settings.epochs, settings.batch_size

    def run(some: CodeState, first: int, last: int, mirrored: bool):
        done = range(first, last)
        return learn_codes(
            some, rows, batch_size=batch_size, epochs=done, n_epochs=n_epochs, flips=mirrored
        )

    if flips is None:
        flips = settings.flips
    if flips is None:
        flips = choose_flips(state, rows, answers, settings, run)
    epochs = run(state, state.epoch, n_epochs, flips)
    for _ in track(epochs, "learning codes", total=n_epochs - state.epoch):
        if file is not None:
            file.save(lambda: to_file(state, flips))
    return flips


def cluster(state, rows, answers, held_out, ease, settings: Settings, file, chosen: int) -> None:
    """Run the epochs that are left; of held-out answers, end in the best state."""
    if not state.epoch:
        note_score(state, rows, held_out)
    epochs = range(state.epoch, settings.max_epochs)
    running = learn_clusters(state, rows, answers, ease, settings, epochs=epochs)
    for mean_loss in track(running, "clustering", total=len(epochs), may_end_early=True):
        if not np.isfinite(mean_loss):
            break
        note_score(state, rows, held_out)
        file.save(lambda: to_file(state, bool(settings.flips), chosen, settings.error_rate))
    if state.best is not None:
        for now, then in zip(tensors_in(state), state.best):
            now.copy_(then)


def to_codes(state: CodeState, flips: bool) -> TrainedCodes:
    network = state.network
    return TrainedCodes(map_of(network), arrays_of(network), flips, np.array(state.objective))


def unit_centers(network: CodeNetwork) -> np.ndarray:
    return torch.nn.functional.normalize(network.centers.detach(), dim=1).cpu().numpy()


def to_file(
    state: CodeState, flips: bool, chosen: int | None = None, error_rate: float | None = None
):
    """Arrays and document of a checkpoint."""
    arrays = {f"now.{i}": numbers(one) for i, one in enumerate(tensors_in(state))}
    arrays |= {f"best.{i}": numbers(one) for i, one in enumerate(state.best or ())}
    arrays["generator"] = state.generator.get_state().numpy()
    arrays["objective"], arrays["scores"] = np.array(state.objective), np.array(state.scores)
    arrays["centers"] = numbers(state.network.centers)
    if state.start is not None:
        arrays["start"] = numbers(state.start)
    document = {"phase": state.phase, "epoch": state.epoch}
    document |= {"flips": flips, "chosen": chosen, "error_rate": error_rate}
    return arrays, document


def numbers(tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy().copy()


def take_from_file(state: CodeState, settings: Settings, arrays, document):
    """The state that `to_file` wrote, in place of this one; flips, chosen plan and error rate."""
    device = state.network.offset.device
    state.phase, state.epoch = document["phase"], document["epoch"]
    if state.phase == "clustering":
        state.optimizer = clustering_optimizer(state.network, settings.learning_rate)
    with torch.no_grad():
        for i, now in enumerate(tensors_in(state)):
            now.copy_(torch.as_tensor(arrays[f"now.{i}"], device=device))
        state.network.centers.copy_(torch.as_tensor(arrays["centers"], device=device))
    n_best = sum(name.startswith("best.") for name in arrays)
    best = [torch.as_tensor(arrays[f"best.{i}"], device=device) for i in range(n_best)]
    state.best = best or None
    state.start = torch.as_tensor(arrays["start"], device=device) if "start" in arrays else None
    state.generator.set_state(torch.as_tensor(arrays["generator"]))
    state.objective, state.scores = arrays["objective"].tolist(), arrays["scores"].tolist()
    return document["flips"], document["chosen"], document["error_rate"]
