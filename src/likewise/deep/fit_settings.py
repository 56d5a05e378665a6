"""The estimator's settings, checked before torch is imported: each error is one line."""

from dataclasses import dataclass, fields

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.deep.training_plan import TrainingPlan, check_drop_share

EPOCHS = {"short": 30, "layer-wise": 500, "none": 0}  # of pretraining, where the plan has None
STEPS, BATCHES = 100, (64, 512)  # of an epoch, and the rows of a step, where the plan has None


@dataclass(frozen=True, kw_only=True)
class Settings(TrainingPlan):
    """A plan with every value filled in, and the network and clusters it is for."""

    n_clusters: int
    widths: tuple[int, ...]
    image_shape: tuple[int, int] | None
    pretraining_epochs: int
    batch_size: int

    def plan(self) -> TrainingPlan:
        """The plan alone."""
        names = [field.name for field in fields(TrainingPlan)]
        return TrainingPlan(**{name: getattr(self, name) for name in names})


def read_settings(model, n_samples: int, n_features: int) -> Settings:
    """What training reads, or one error."""
    plan = check_plan(model.training)
    check_scalar(model.n_clusters, "n_clusters", (int, np.integer), min_val=1)
    check_drop_share(model.drop_share)
    drop_share = plan.drop_share if model.drop_share is None else model.drop_share
    if drop_share is not None and model.n_clusters < 2:
        raise ValueError("drop_share needs n_clusters >= 2: one cluster has no prices.")
    check_scalar(
        model.held_out_share,
        "held_out_share",
        (int, float),
        min_val=0,
        max_val=1,
        include_boundaries="left",
    )
    if n_samples < model.n_clusters:
        raise ValueError(
            f"n_samples={n_samples} should be >= n_clusters={model.n_clusters}. "
            "Lower n_clusters, or give more rows."
        )
    image_shape = model.image_shape
    if image_shape is not None:
        image_shape = tuple(int(side) for side in image_shape)
        if np.prod(image_shape) != n_features:
            raise ValueError(
                f"image_shape={image_shape} has {np.prod(image_shape)} values, "
                f"but X has {n_features} features."
            )
    epochs, batch_size = plan.pretraining_epochs, plan.batch_size
    filled = {
        "drop_share": drop_share,
        "pretraining_epochs": EPOCHS[plan.pretraining] if epochs is None else int(epochs),
        "batch_size": int(
            np.clip(n_samples // STEPS, *BATCHES) if batch_size is None else batch_size
        ),
    }
    return Settings(
        n_clusters=model.n_clusters,
        widths=tuple(int(width) for width in model.encoder),
        image_shape=image_shape,
        **{**vars(plan), **filled},
    )


def check_plan(training) -> TrainingPlan:
    """The plan given, or the one of that name, or one error."""
    if isinstance(training, TrainingPlan):
        return training
    if isinstance(training, str):
        return TrainingPlan.named(training)
    raise TypeError(f"training={training!r} is neither a TrainingPlan nor the name of one.")


def check_init_model(init_model, n_features: int, widths: tuple[int, ...]):
    """The layers of a fitted model, encoder and decoder, or None; one error if they do not fit."""
    if init_model is None:
        return None
    check_is_fitted(init_model)
    layers = init_model.map_.layers
    sizes = (len(init_model.map_.center), *(len(bias) for _, bias in layers))
    if sizes != (n_features, *widths):
        raise ValueError(
            f"init_model has layers of {sizes}, but X and encoder need {(n_features, *widths)}."
        )
    return layers, init_model.decoder_


def check_ease(ease, n_samples: int) -> np.ndarray | None:
    """One finite number per row, or None; all zeros say nothing and are None too."""
    if ease is None:
        return None
    ease = np.asarray(ease, dtype=np.float32)
    if ease.shape != (n_samples,):
        raise ValueError(f"ease has shape {ease.shape}, but X has {n_samples} rows.")
    if not np.isfinite(ease).all():
        at = int(np.flatnonzero(~np.isfinite(ease))[0])
        raise ValueError(f"ease[{at}] = {ease[at]} is not finite. Use 0 for a row of unknown ease.")
    return ease if ease.any() else None
