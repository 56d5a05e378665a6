"""What training is told, and what it hands back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LOSSES = ("angular", "student")
SCHEDULES = ("short", "layer-wise", "none")


@dataclass(frozen=True)
class Settings:
    """The parameters of DeepConstrainedClustering that training reads, under the same names."""

    n_clusters: int
    widths: tuple[int, ...]
    loss: str
    t_power: int
    pretraining: str
    pretraining_epochs: int
    must_link_weight: float
    cannot_link_weight: float
    triple_weight: float
    answers_apart: bool
    kl_weight: float
    reconstruction_weight: float
    size_weight: float
    difficulty_weight: float
    drop_share: float | None
    image_shape: tuple[int, int] | None
    batch_size: int
    learning_rate: float
    decay: bool
    max_epochs: int
    tol: float
    patience: int
    n_init: int


class Trained(NamedTuple):
    encoder: list[tuple[np.ndarray, np.ndarray]]  # weights (inputs, outputs) and biases by layer
    decoder: list[tuple[np.ndarray, np.ndarray]]
    centers: np.ndarray  # (k, n_code)
    offset: np.ndarray  # (d,)
    scale: float
    labels: np.ndarray  # (n,)
    objective: np.ndarray  # (n_epochs,) mean loss of each epoch
    n_kept: np.ndarray  # (n_epochs,) pairs learned from
    held_out: np.ndarray  # (n_epochs + 1,) share of held-out answers foretold, or empty
    converged: bool  # few rows changed, or the held-out answers were foretold no better
    changed: float  # share of the rows that changed their cluster in the last epoch
