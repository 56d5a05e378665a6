"""Train by the likelihood of agreement: codes without answers, a choice by answers, clusters.

    1.  codes       contrast of views, the same for all sets of answers        (self_supervision.py)
                    mirrored views only if the answers find their rows in such codes
    2.  plan        of several, that which predicts held-out answers after a quarter of its epochs
    3.  clusters    all answers, the plan that was chosen                 (learning_from_answers.py)

Several processes do the same work, each all of it, and end with the first one's network.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from likewise.constraints import Constraints, Split
from likewise.deep.checkpoints import Checkpoint, fingerprint_of
from likewise.deep.distributed import join_workers, local_device, take_first
from likewise.deep.encoders import CodeNetwork, arrays_of, map_of, take_arrays
from likewise.deep.fit_settings import CodeSettings, Settings
from likewise.deep.learning_from_answers import (
    clustering_optimizer,
    learn_clusters,
    least_entropy,
    memberships_of,
    note_score,
)
from likewise.deep.self_supervision import (
    CodeState,
    encode_rows,
    learn_codes,
    pretraining_optimizer,
    start_state,
    tensors_in,
)
from likewise.deep.starts import start_clusters
from likewise.deep.training import matmul_precision
from likewise.evaluation import answer_credits, first_unless_ahead, select
from likewise.maps import Map
from likewise.progress import track

TRIAL_SHARE = 0.25  # of the epochs, for a choice
LEARNED_SHARE = 0.75  # of the answers; the others judge
N_ERRORS = 1.0  # by which another plan must be ahead of the first
FLIP_ERRORS = 2.0  # by which mirrored views must be ahead: they cost much where they are wrong
CLOSE = 0.1  # entropies whose plans do the same


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
        flips, chosen = None, None
        if init_network is not None:
            take_arrays(state.network, init_network[0])
            flips = init_network[1]
        saved = file.load()
        if saved is not None:
            flips, chosen = take_from_file(state, first, *saved)
        if init_network is None and state.phase == "pretraining":
            flips = pretrain(state, rows, answers, first.pretraining_settings(), file, flips)
        settings = first if chosen is None else candidates[chosen]
        if chosen is None:
            candidates = [replace(one, flips=bool(flips)) for one in candidates]
            chosen = choose(state, rows, answers, eased, candidates, init_labels)
            settings = candidates[chosen]
            begin_clustering(state, rows, answers, settings, init_labels)
        settings = replace(settings, flips=bool(flips))
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
            file.save(lambda: to_file(state, flips, None))
    return flips


def choose_flips(state: CodeState, rows, answers: Constraints, settings: CodeSettings, run) -> bool:
    """Mirror views if answers find their rows nearer in such codes, and go on from there.

    Codes have not seen any answer, so all of them judge.
    """
    nothing = answers.subset(np.zeros(answers.n_answers, dtype=bool))
    split = Split(nothing, answers, np.arange(answers.n_answers), 0)
    n_trial = max(1, round(TRIAL_SHARE * settings.epochs))
    tried: dict[bool, CodeState] = {}

    def trial(mirrored: bool, _fit_part, held_out) -> np.ndarray:
        tried[mirrored] = copy_of(state)
        for _ in run(tried[mirrored], 0, n_trial, mirrored):
            pass
        touched = held_out.touched_rows()
        at = torch.as_tensor(touched, device=rows.device)
        codes = encode_rows(tried[mirrored].network, rows[at]).cpu().numpy()
        return answer_credits(codes, held_out.restrict(touched))

    if settings.image_shape is None or not settings.epochs:
        return False
    selected = select([False, True], trial, answers, splits=[split], what="trying views")
    if not tried:
        return False
    flips = bool(first_unless_ahead(selected, answers, FLIP_ERRORS))
    state.network, state.optimizer = tried[flips].network, tried[flips].optimizer
    state.generator, state.epoch = tried[flips].generator, tried[flips].epoch
    state.objective = tried[flips].objective
    return flips


def copy_of(state: CodeState) -> CodeState:
    """The same network with an optimizer of its own, before its first step."""
    network = deepcopy(state.network)
    generator = torch.Generator()
    generator.set_state(state.generator.get_state())
    return CodeState(network, pretraining_optimizer(network), generator)


def choose(
    state: CodeState, rows, answers: Constraints, ease, candidates: Sequence[Settings], init_labels
) -> int:
    """Place of the plan that predicts held-out answers best; the first, if too few can judge."""
    entropies = [
        least_entropy(answers, one.n_clusters, one.sizes) * bool(one.size_weight)
        for one in candidates
    ]
    differ = [i for i, one in enumerate(entropies) if not i or abs(one - entropies[0]) > CLOSE]
    if len(differ) < 2 or not candidates[0].max_epochs:
        return 0

    def trial(settings: Settings, fit_part: Constraints, held_out: Constraints) -> np.ndarray:
        some = copy_of(state)
        n_epochs = max(1, round(TRIAL_SHARE * settings.max_epochs))
        settings = replace(settings, max_epochs=n_epochs)
        begin_clustering(some, rows, fit_part, settings, init_labels)
        for _ in learn_clusters(some, rows, fit_part, ease, settings, epochs=range(n_epochs)):
            pass
        touched = held_out.touched_rows()
        at = torch.as_tensor(touched, device=rows.device)
        q = memberships_of(some.network, rows[at]).cpu().numpy()
        return answer_credits(q, held_out.restrict(touched))

    seed = int(torch.randint(2**31, (), generator=state.generator))
    split = answers.split(LEARNED_SHARE, random_state=seed)
    tried = [candidates[i] for i in differ]
    selected = select(tried, trial, answers, splits=[split], what="trying plans")
    return differ[first_unless_ahead(selected, answers, N_ERRORS)]


def begin_clustering(
    state: CodeState, rows, answers: Constraints, settings: Settings, init_labels
) -> None:
    start_clusters(state, rows, answers, settings.n_clusters, init_labels)
    state.phase, state.epoch, state.objective = "clustering", 0, []
    state.optimizer = clustering_optimizer(state.network, settings.learning_rate)


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
        file.save(lambda: to_file(state, bool(settings.flips), chosen))
    if state.best is not None:
        for now, then in zip(tensors_in(state), state.best):
            now.copy_(then)


def to_codes(state: CodeState, flips: bool) -> TrainedCodes:
    network = state.network
    return TrainedCodes(map_of(network), arrays_of(network), flips, np.array(state.objective))


def unit_centers(network: CodeNetwork) -> np.ndarray:
    return torch.nn.functional.normalize(network.centers.detach(), dim=1).cpu().numpy()


def to_file(state: CodeState, flips: bool, chosen: int | None):
    """Arrays and document of a checkpoint."""
    arrays = {f"now.{i}": numbers(one) for i, one in enumerate(tensors_in(state))}
    arrays |= {f"best.{i}": numbers(one) for i, one in enumerate(state.best or ())}
    arrays["generator"] = state.generator.get_state().numpy()
    arrays["objective"], arrays["scores"] = np.array(state.objective), np.array(state.scores)
    arrays["centers"] = numbers(state.network.centers)
    if state.start is not None:
        arrays["start"] = numbers(state.start)
    document = {"phase": state.phase, "epoch": state.epoch, "flips": flips, "chosen": chosen}
    return arrays, document


def numbers(tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy().copy()


def take_from_file(state: CodeState, settings: Settings, arrays, document):
    """The state that `to_file` wrote, in place of this one; its flips and its chosen plan."""
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
    return document["flips"], document["chosen"]
