"""Train the network: codes first, then clusters and answers together.

    repeat   Z = encode(X), Q = assign(Z), P = target(Q)                       all rows, no gradient
             pairs left after the filter, when there is one                         (filtering.py)
             for batches of rows:              one step of Adam on
                 kl KL(P || Q) + r |x - decode(encode(x))|^2 + sizes + difficulty     (losses.py)
             for each kind of answers, and batches of them:  one step on their loss
    until    less than `tol` of the rows change their cluster, held-out answers are foretold no
             better for `patience` epochs, or `max_epochs`

Reference: zhang2021; randel2021, Algorithm 3; zhang2025 for the angular loss; guo2018 for learning
from warped images with the targets of the plain ones. We differ from zhang2021 in a random order of
the rows. Without `answers_apart` a step sees rows and answers together.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch

from likewise.constraints import Constraints
from likewise.deep import losses
from likewise.deep.checkpoints import Checkpoint, fingerprint_of
from likewise.deep.distributed import agree, average, gather_parts, join, local_device, wrap
from likewise.deep.filtering import filter_pairs
from likewise.deep.images import N_NUMBERS, draw_warps
from likewise.deep.kmeans import improve, kmeans
from likewise.deep.networks import Autoencoder, Clusterer, start_weights
from likewise.deep.objective import Objective
from likewise.deep.plans import answers_by_kind, n_steps_of, plan_answers, plan_kind, plan_rows
from likewise.deep.pretraining import shuffled_epochs, train_layer_wise
from likewise.deep.settings import Settings, Trained
from likewise.deep.steps import adam, make_step, set_rate, tensors_of
from likewise.duals.pairs import pairs_of
from likewise.evaluation import held_out_accuracy
from likewise.progress import track

SPREAD = 100.0  # least mean squared distance of codes from their mean: Student's unit is 1
BLOCK = 8192  # rows encoded at once
N_LLOYD = 10  # steps of k-means between epochs, for angular codes


def train(
    X: np.ndarray,
    answers: Constraints,
    held_out: Constraints,
    ease: np.ndarray | None,
    settings: Settings,
    *,
    start=None,
    device: str | None,
    seed: int,
    checkpoint=None,
) -> Trained:
    """Cluster the rows X (n, d) of float32; all random numbers start from `seed`, one a world."""
    where = local_device(device)
    world = join()
    with matmul_precision("high"):
        generator = torch.Generator().manual_seed(seed)
        fingerprint = ""
        if checkpoint is not None:
            fingerprint = fingerprint_of(
                X, answers, ease, start, settings, seed, held_out.n_answers
            )
        file = Checkpoint(checkpoint, fingerprint, is_writer=world.rank == 0)
        run = Run(X, answers, held_out, ease, settings, where, world, generator)
        if start is not None:
            run.take_over(start)
        saved = file.load()
        if saved is not None:
            run.put_back(*saved)
        run.pretrain(file)
        run.cluster(file)
        file.remove()
        return run.trained()


def agree_on_seed(seed: int, device: str | None) -> int:
    """The first process's, for all."""
    return agree(seed, join(), local_device(device))


@contextmanager
def matmul_precision(wanted: str):
    """float32 products through the GPU's faster units while this lasts; nothing on the CPU."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


class Run:
    """The state of one training: what an epoch reads and changes."""

    def __init__(self, X, answers, held_out, ease, settings, device, world, generator):
        self.settings, self.device, self.world, self.generator = settings, device, world, generator
        self.rows = torch.as_tensor(X, device=device)
        self.constraints, self.held_out = answers, held_out
        self.answers = answers_by_kind(answers, device)
        self.ease = None if ease is None else torch.as_tensor(ease, device=device)
        offset = X.mean(axis=0, dtype=np.float64)
        scale = float(np.sqrt(np.mean(np.var(X, axis=0, dtype=np.float64)))) or 1.0
        self.autoencoder = Autoencoder(
            (X.shape[1], *settings.widths),
            on_sphere=settings.loss != "student",
            offset=offset,
            scale=scale,
        ).to(device)
        start_weights(self.autoencoder, generator)
        self.phase, self.epoch, self.pretrained = "pretraining", 0, False
        centers = torch.zeros(settings.n_clusters, settings.widths[-1])
        self.model = Clusterer(
            self.autoencoder, centers, loss=settings.loss, t_power=settings.t_power
        ).to(device)
        self.optimizer = adam(self.model.parameters(), settings.learning_rate)
        self.labels = torch.zeros(len(X), dtype=torch.int64, device=device)
        self.multipliers: np.ndarray | None = None
        self.objective: list[float] = []
        self.n_kept: list[int] = []
        self.scores: list[float] = []
        self.best: list[torch.Tensor] | None = None
        self.saved: list[torch.Tensor] | None = None
        self.converged, self.changed = False, 1.0

    def encode(self):
        """Codes of all rows as they are, (n, n_code)."""

        def encode_part(rows):
            with torch.no_grad():
                return torch.cat([self.autoencoder.encode(part) for part in rows.split(BLOCK)])

        return gather_parts(encode_part, self.rows, self.world)

    # Codes

    def take_over(self, start) -> None:
        """The layers of another network in place of pretraining."""
        self.pretrained = True
        with torch.no_grad():
            for part, layers in zip((self.autoencoder.encoder, self.autoencoder.decoder), start):
                for layer, (weights, bias) in zip(part, layers):
                    own_weights, own_bias = layer.parameters()
                    own_weights.copy_(torch.as_tensor(weights.T))
                    own_bias.copy_(torch.as_tensor(bias))

    def pretrain(self, file: Checkpoint) -> None:
        settings = self.settings
        if self.pretrained or self.phase != "pretraining" or settings.pretraining == "none":
            return
        if settings.pretraining == "layer-wise" and self.epoch == 0:
            train_layer_wise(
                self.autoencoder, self.rows, settings.pretraining_epochs, self.generator
            )
        self.optimizer, run_epoch = shuffled_epochs(
            self.autoencoder, self.rows, settings, self.generator, self.world
        )
        self.restore_saved()
        epochs = range(self.epoch, settings.pretraining_epochs)
        for epoch in track(epochs, "pretraining"):
            run_epoch(epoch)
            self.epoch = epoch + 1
            file.save(self.collect)

    # Clusters

    def begin_clusters(self) -> None:
        """Centers by k-means on the codes; the moments of pretraining are forgotten."""
        settings = self.settings
        if self.phase == "pretraining":
            if settings.loss == "student":
                self.spread_codes()
            found = kmeans(
                self.encode(),
                settings.n_clusters,
                n_init=settings.n_init,
                generator=self.generator,
            )
            self.model.centers.data.copy_(found.centers)
            self.phase, self.epoch = "clustering", 0
        self.optimizer = adam(self.model.parameters(), settings.learning_rate)
        self.restore_saved()

    def spread_codes(self) -> None:
        """Spread codes too close for Student's t, undone in the decoder: no row changes."""
        codes = self.encode()
        spread = (codes - codes.mean(dim=0)).square().sum(dim=1).mean()
        factor = torch.sqrt(SPREAD / spread.clamp(min=1e-12)).clamp(min=1)
        last, first = self.autoencoder.encoder[-1], self.autoencoder.decoder[0]
        with torch.no_grad():
            for parameter in last.parameters():
                parameter.mul_(factor)
            next(first.parameters()).div_(factor)

    def cluster(self, file: Checkpoint) -> None:
        settings = self.settings
        self.begin_clusters()
        model = wrap(self.model, self.world, in_parts=settings.answers_apart)
        target = torch.zeros(len(self.rows), settings.n_clusters, device=self.device)
        objective = Objective(
            model, self.rows, self.answers, target, self.ease, settings, self.world
        )
        steps: dict[str, Callable] = {}
        pairs = pairs_of(self.constraints)
        full = {kind: one.weights.clone() for kind, one in self.answers.items()}
        epochs = range(self.epoch, settings.max_epochs)
        for epoch in track(epochs, "clustering", may_end_early=True):
            codes, q = self.look()
            if not torch.isfinite(codes).all():
                self.note_epoch(np.nan, 0)
                break
            if self.settle(q):
                break
            target.copy_(losses.target_assignments(q))
            n_kept = len(pairs.ends)
            if settings.drop_share is not None and n_kept:
                n_kept = self.filter_answers(codes, pairs, full)
            if self.is_past_best(q):
                self.converged = True
                break
            if settings.decay:
                set_rate(self.optimizer, settings.learning_rate * (1 - epoch / settings.max_epochs))
            total, n_steps = torch.zeros((), device=self.device), 0
            for part, loss_of, batches in self.parts(objective):
                for inputs in zip(*batches):
                    if part not in steps:
                        captured = self.device.type == "cuda" and self.world.is_alone
                        steps[part] = make_step(loss_of, self.optimizer, inputs, captured=captured)
                    total += steps[part](*inputs)
                    n_steps += 1
            self.epoch = epoch + 1
            if not self.note_epoch(float(average(total, self.world)) / n_steps, n_kept):
                break
            file.save(self.collect)
        self.finish()

    def note_epoch(self, mean_loss: float, n_kept: int) -> bool:
        """Whether the loss is still a number."""
        self.objective.append(mean_loss)
        self.n_kept.append(n_kept)
        return bool(np.isfinite(mean_loss))

    def look(self):
        """Codes and soft assignments of all rows; angular centers follow their codes."""
        codes = self.encode()
        if self.settings.loss == "angular":
            moved = improve(codes, self.model.centers[None], N_LLOYD).centers
            self.model.centers.data.copy_(moved)
        with torch.no_grad():
            return codes, self.model.assign(codes)

    def settle(self, q) -> bool:
        """Note the clusters; True when hardly any row has changed its own."""
        labels = q.argmax(dim=1)
        if self.epoch > 0:
            self.changed = float((labels != self.labels).float().mean())
            self.converged = self.changed < self.settings.tol
        self.labels = labels
        return self.converged

    def is_past_best(self, q) -> bool:
        """Score the held-out answers; keep the best state; True when it is too long ago."""
        if not self.held_out.n_answers:
            return False
        touched = self.held_out.touched_rows()
        score = held_out_accuracy(q[touched].cpu().numpy(), self.held_out.restrict(touched))
        self.scores.append(score)
        best_at = int(np.argmax(self.scores))
        if best_at == len(self.scores) - 1:
            self.best = [one.clone() for one in self.everything()]
        return len(self.scores) - 1 - best_at >= self.settings.patience

    def filter_answers(self, codes, pairs, full) -> int:
        """Set the weights of the pairs left out to 0; how many are used."""
        kept, self.multipliers = filter_pairs(
            codes[pairs.points].cpu().numpy().astype(np.float64),
            self.model.centers.detach().cpu().numpy().astype(np.float64),
            pairs,
            self.settings.drop_share,
            self.multipliers,
        )
        used = pairs.answers[kept]
        for kind in ("must_link", "cannot_link"):
            if kind in self.answers:
                is_used = np.append(np.isin(self.answers[kind].positions, used), False)
                mask = torch.as_tensor(is_used, device=self.device)
                self.answers[kind].weights.copy_(full[kind] * mask)
        return int(kept.sum())

    def parts(self, objective: Objective):
        """Name, loss and steps' inputs, (n_steps, ...) each, of the parts of an epoch."""
        generator, world, batch_size = self.generator, self.world, self.settings.batch_size
        at = plan_rows(len(self.rows), batch_size, generator, world)
        if self.settings.answers_apart:
            yield "rows", objective.of_rows, self.with_warps(at.shape[1], at)
            for kind, one in self.answers.items():
                if not objective.weights[kind]:
                    continue
                chosen, shares = plan_kind(one, batch_size, generator, world)
                n_rows = chosen.shape[1] * one.rows.shape[1]
                loss_of = partial(objective.of_answers, kind)
                yield kind, loss_of, self.with_warps(n_rows, chosen, shares)
            return
        n_steps = n_steps_of(len(self.rows), batch_size)
        chosen = [
            plan_answers(len(one.positions), n_steps, generator, world)
            for one in self.answers.values()
        ]
        n_rows = at.shape[1] + sum(
            part.shape[1] * one.rows.shape[1] for part, one in zip(chosen, self.answers.values())
        )
        yield "together", objective.together, self.with_warps(n_rows, at, *chosen)

    def with_warps(self, n_rows: int, first, *others) -> list[torch.Tensor]:
        """Inputs on the device, after the first the warps of each step's rows."""
        warps = torch.zeros(len(first), 0, 1)
        if self.settings.image_shape is not None:
            drawn = draw_warps(len(first) * n_rows, self.generator)
            warps = drawn.reshape(len(first), n_rows, N_NUMBERS)
        return [one.to(self.device) for one in (first, warps, *others)]

    def finish(self) -> None:
        """The best state if there is one, and the clusters of it."""
        codes, q = self.look()
        if not self.converged:
            self.settle(q)
        if len(self.scores) == len(self.objective) and torch.isfinite(codes).all():
            self.is_past_best(q)
        if self.best is not None:
            for now, then in zip(self.everything(), self.best):
                now.copy_(then)
            codes, q = self.look()
        if self.settings.loss == "angular":
            found = kmeans(
                codes,
                self.settings.n_clusters,
                n_init=self.settings.n_init,
                generator=self.generator,
            )
            self.model.centers.data.copy_(found.centers)
            with torch.no_grad():
                q = self.model.assign(codes)
        self.labels = q.argmax(dim=1)

    def trained(self) -> Trained:
        def arrays(layers):
            return [(to_numpy(layer.weight.T), to_numpy(layer.bias)) for layer in layers]

        return Trained(
            arrays(self.autoencoder.encoder),
            arrays(self.autoencoder.decoder),
            to_numpy(self.model.centers),
            to_numpy(self.autoencoder.offset),
            self.autoencoder.scale,
            self.labels.cpu().numpy(),
            np.array(self.objective),
            np.array(self.n_kept, dtype=np.int64),
            np.array(self.scores),
            self.converged,
            self.changed,
        )

    # The file

    def everything(self) -> list[torch.Tensor]:
        """All tensors an epoch changes, in a fixed order."""
        return [*tensors_of(self.optimizer), *self.model.buffers()]

    def collect(self):
        arrays = {f"now.{i}": to_numpy(one) for i, one in enumerate(self.everything())}
        arrays["generator"] = self.generator.get_state().numpy()
        for i, one in enumerate(self.best or ()):
            arrays[f"best.{i}"] = to_numpy(one)
        arrays["labels"] = self.labels.cpu().numpy()
        if self.multipliers is not None:
            arrays["multipliers"] = self.multipliers
        arrays["objective"] = np.array(self.objective)
        arrays["n_kept"] = np.array(self.n_kept, dtype=np.int64)
        arrays["scores"] = np.array(self.scores)
        return arrays, {"phase": self.phase, "epoch": self.epoch}

    def put_back(self, arrays, document) -> None:
        """Take over a saved state; the tensors wait until their optimizer is there."""

        def listed(name):
            found = sorted((key for key in arrays if key.startswith(name)), key=number_of)
            return [torch.as_tensor(arrays[key], device=self.device) for key in found]

        self.phase, self.epoch = document["phase"], document["epoch"]
        self.saved, self.best = listed("now."), listed("best.") or None
        self.generator.set_state(torch.as_tensor(arrays["generator"]))
        self.labels = torch.as_tensor(arrays["labels"], device=self.device)
        self.multipliers = arrays.get("multipliers")
        self.objective = arrays["objective"].tolist()
        self.n_kept, self.scores = arrays["n_kept"].tolist(), arrays["scores"].tolist()

    def restore_saved(self) -> None:
        if self.saved is not None:
            for now, then in zip(self.everything(), self.saved):
                now.copy_(then)
            self.saved = None


def number_of(key: str) -> int:
    return int(key.rpartition(".")[2])


def to_numpy(tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().copy()
