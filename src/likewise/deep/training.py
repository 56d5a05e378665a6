"""Train the network: codes first, then clusters and answers together.

    repeat   Z = encode(X), Q = assign(Z), P = target(Q)                       all rows, no gradient
             pairs left after the filter, when there is one                       (pair_filter.py)
             for batches of rows:              one step of Adam on
                 kl KL(P || Q) + |x - decode(encode(x))|^2 + sizes + difficulty       (losses.py)
             for each kind of answers, and batches of them:  one step on their loss   (epochs.py)
    until    less than `tol` of the rows change their cluster, held-out answers are predicted no
             better for PATIENCE epochs, or `max_epochs`

`train` and `form_clusters` are these lines; a Problem is read, a State changed (state.py).
Reference: zhang2021; randel2021, Algorithm 3; zhang2025 for the angular loss; guo2018 for learning
from warped images with the targets of the plain ones. We differ from zhang2021 in a random order of
the rows. Without `answers_apart` a step sees rows and answers together.
"""

from contextlib import contextmanager

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep import losses
from likewise.deep.checkpoints import Checkpoint, fingerprint_of
from likewise.deep.distributed import agree, gather_parts, join_workers, local_device
from likewise.deep.epochs import make_epoch
from likewise.deep.fit_settings import Settings
from likewise.deep.pair_filter import filter_pairs
from likewise.deep.pretraining import make_pretraining_epoch, train_layer_wise
from likewise.deep.state import (
    Problem,
    State,
    Trained,
    begin_phase,
    copy_tensors,
    make_problem,
    start_state,
    take_from_file,
    take_layers,
    tensors_in,
    to_file,
    to_trained,
)
from likewise.deep.steps import set_rate
from likewise.deep.torch_kmeans import improve, kmeans
from likewise.evaluation import held_out_accuracy
from likewise.progress import track

SPREAD = 100.0  # least mean squared distance of codes from their mean: Student's unit is 1
BLOCK = 8192  # rows encoded at once
N_LLOYD = 10  # steps of k-means between epochs, for angular codes
N_INIT = 20  # starts of k-means on the codes, as in zhang2021: seconds at most, on a GPU
PATIENCE = 10  # epochs without a better score on held-out answers: an eighth of the default's 80


def train(
    X: np.ndarray,
    answers: Constraints,
    held_out: Constraints,
    ease: np.ndarray | None,
    settings: Settings,
    *,
    init_layers=None,
    device: str | None,
    seed: int,
    checkpoint=None,
) -> Trained:
    """Cluster the rows X (n, d) of float32; all random numbers start from `seed`, one per world."""
    where, world = local_device(device), join_workers()
    with matmul_precision("high"):
        fingerprint = ""
        if checkpoint is not None:
            fingerprint = fingerprint_of(
                X, answers, ease, init_layers, settings, seed, held_out.n_answers
            )
        file = Checkpoint(checkpoint, fingerprint, is_writer=world.rank == 0)
        problem = make_problem(X, answers, held_out, ease, settings, where, world)
        state = start_state(X, settings, where, seed)
        if init_layers is not None:
            take_layers(state.model.autoencoder, init_layers)
        saved = file.load()
        if saved is not None:
            take_from_file(state, settings, *saved)
        if init_layers is None and state.phase == "pretraining":
            pretrain(problem, state, file)
        if state.phase == "pretraining":
            start_clusters(problem, state)
        form_clusters(problem, state, file)
        choose_state(problem, state)
        file.remove()
        return to_trained(state)


def agree_on_seed(seed: int, device: str | None) -> int:
    """The first process's, for all."""
    return agree(seed, join_workers(), local_device(device))


@contextmanager
def matmul_precision(wanted: str):
    """Within it, float32 products use the GPU's faster units; no effect on the CPU."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def pretrain(problem: Problem, state: State, file: Checkpoint) -> None:
    """Learn codes from which rows can be reconstructed."""
    settings, autoencoder = problem.settings, state.model.autoencoder
    if settings.pretraining == "none":
        return
    if settings.pretraining == "layer-wise" and state.epoch == 0:
        train_layer_wise(autoencoder, problem.rows, settings.pretraining_epochs, state.generator)
    run_epoch = make_pretraining_epoch(
        autoencoder, state.optimizer, problem.rows, settings, state.generator, problem.world
    )
    for epoch in track(range(state.epoch, settings.pretraining_epochs), "pretraining"):
        run_epoch(epoch)
        state.epoch = epoch + 1
        file.save(lambda: to_file(state))


def start_clusters(problem: Problem, state: State) -> None:
    """Centers by k-means on the codes."""
    if problem.settings.loss == "student":
        spread_codes(problem, state)
    place_centers(problem, state, encode_rows(problem, state))
    begin_phase(state, "clustering", 0, problem.settings)


def form_clusters(problem: Problem, state: State, file: Checkpoint) -> None:
    """Run epochs until the clusters settle, held-out answers stop it, or `max_epochs`."""
    settings = problem.settings
    target = torch.zeros(len(problem.rows), settings.n_clusters, device=problem.rows.device)
    run_epoch = make_epoch(problem, state, target)
    epochs = range(state.epoch, settings.max_epochs)
    for epoch in track(epochs, "clustering", may_end_early=True):
        codes, q = look(problem, state)
        if not torch.isfinite(codes).all():
            note_epoch(state, np.nan, 0)
            return
        note_labels(state, q, settings.tol)
        if state.converged:
            return
        target.copy_(losses.target_assignments(q))
        n_kept = leave_out_pairs(problem, state, codes)
        if is_past_best(problem, state, q):
            state.converged = True
            return
        if settings.decay:
            set_rate(state.optimizer, settings.learning_rate * (1 - epoch / settings.max_epochs))
        mean_loss = run_epoch()
        state.epoch = epoch + 1
        note_epoch(state, mean_loss, n_kept)
        if not np.isfinite(mean_loss):
            return
        file.save(lambda: to_file(state))


def choose_state(problem: Problem, state: State) -> None:
    """The best state by held-out answers, or the last if there are none; and its clusters."""
    codes, q = look(problem, state)
    if not state.converged:
        note_labels(state, q, problem.settings.tol)
    if len(state.scores) == len(state.objective) and torch.isfinite(codes).all():
        is_past_best(problem, state, q)  # the last epoch may be the best
    if state.best is not None:
        copy_tensors(state, state.best)
        codes, q = look(problem, state)
    if problem.settings.loss == "angular":
        place_centers(problem, state, codes)
        with torch.no_grad():
            q = state.model.assign(codes)
    state.labels = q.argmax(dim=1)


def encode_rows(problem: Problem, state: State):
    """Codes of all rows as they are, (n, n_code)."""

    def encode_part(rows):
        with torch.no_grad():
            return torch.cat([state.model.autoencoder.encode(part) for part in rows.split(BLOCK)])

    return gather_parts(encode_part, problem.rows, problem.world)


def look(problem: Problem, state: State):
    """Codes and soft assignments of all rows; angular centers follow their codes."""
    codes = encode_rows(problem, state)
    if problem.settings.loss == "angular":
        moved = improve(codes, state.model.centers[None], N_LLOYD).centers
        state.model.centers.data.copy_(moved)
    with torch.no_grad():
        return codes, state.model.assign(codes)


def place_centers(problem: Problem, state: State, codes) -> None:
    """Centers by k-means on the codes (n, n_code)."""
    n_clusters = problem.settings.n_clusters
    clustered = kmeans(codes, n_clusters, n_init=N_INIT, generator=state.generator)
    state.model.centers.data.copy_(clustered.centers)


def spread_codes(problem: Problem, state: State) -> None:
    """Spread codes too close for Student's t; the decoder undoes it, so that no row changes."""
    codes, autoencoder = encode_rows(problem, state), state.model.autoencoder
    spread = (codes - codes.mean(dim=0)).square().sum(dim=1).mean()
    factor = torch.sqrt(SPREAD / spread.clamp(min=1e-12)).clamp(min=1)
    last, first = autoencoder.encoder[-1], autoencoder.decoder[0]
    with torch.no_grad():
        for parameter in last.parameters():
            parameter.mul_(factor)
        next(first.parameters()).div_(factor)


def note_epoch(state: State, mean_loss: float, n_kept: int) -> None:
    state.objective.append(mean_loss)
    state.n_kept.append(n_kept)


def note_labels(state: State, q, tol: float) -> None:
    """Labels, and whether they have settled since the last epoch."""
    labels = q.argmax(dim=1)
    if state.epoch > 0:
        state.changed = float((labels != state.labels).float().mean())
        state.converged = state.changed < tol
    state.labels = labels


def is_past_best(problem: Problem, state: State, q) -> bool:
    """Score the held-out answers and keep the best state; True if it was too many epochs ago."""
    if not problem.held_out.n_answers:
        return False
    touched = problem.held_out.touched_rows()
    answers = problem.held_out.restrict(touched)
    state.scores.append(held_out_accuracy(q[touched].cpu().numpy(), answers))
    best_at, last = int(np.argmax(state.scores)), len(state.scores) - 1
    if best_at == last:
        state.best = [tensor.clone() for tensor in tensors_in(state)]
    return last - best_at >= PATIENCE


def leave_out_pairs(problem: Problem, state: State, codes) -> int:
    """Set the weights of the pairs left out to 0; how many are used."""
    pairs, answers, drop_share = problem.pairs, problem.answers, problem.settings.drop_share
    if drop_share is None or not len(pairs.ends):
        return len(pairs.ends)
    kept, state.multipliers = filter_pairs(
        codes[pairs.points].cpu().numpy().astype(np.float64),
        state.model.centers.detach().cpu().numpy().astype(np.float64),
        pairs,
        drop_share,
        state.multipliers,
    )
    used = pairs.answers[kept]
    for kind in ("must_link", "cannot_link"):
        if kind in answers:
            is_used = np.append(np.isin(answers[kind].positions, used), False)
            mask = torch.as_tensor(is_used, device=codes.device)
            answers[kind].weights.copy_(problem.full_weights[kind] * mask)
    return int(kept.sum())
