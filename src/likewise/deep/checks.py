"""What the estimator was given, checked before torch is imported: each error one line."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.cluster.checks import check_choice
from likewise.deep.settings import LOSSES, SCHEDULES, Settings

EPOCHS = {"short": 30, "layer-wise": 500, "none": 0}  # of pretraining, unless told otherwise
STEPS, BATCHES = 100, (64, 512)  # of an epoch, and the rows of a step, unless told otherwise
WEIGHTS = (
    "must_link_weight",
    "cannot_link_weight",
    "triple_weight",
    "kl_weight",
    "reconstruction_weight",
    "size_weight",
    "difficulty_weight",
)


def check_settings(model, n_samples: int, n_features: int) -> Settings:
    """What training reads, or one error."""
    check_choice("loss", model.loss, LOSSES)
    check_choice("pretraining", model.pretraining, SCHEDULES)
    batch_size = model.batch_size
    if batch_size is None:
        batch_size = int(np.clip(n_samples // STEPS, *BATCHES))
    check_scalar(batch_size, "batch_size", (int, np.integer), min_val=1)
    for name in ("n_clusters", "n_init", "patience"):
        check_scalar(getattr(model, name), name, (int, np.integer), min_val=1)
    check_scalar(model.max_epochs, "max_epochs", (int, np.integer), min_val=0)
    check_scalar(model.t_power, "t_power", (int, np.integer), min_val=1, max_val=2)
    for name in (*WEIGHTS, "tol"):
        check_scalar(getattr(model, name), name, (int, float, np.number), min_val=0)
    check_scalar(
        model.learning_rate,
        "learning_rate",
        (int, float),
        min_val=0,
        include_boundaries="neither",
    )
    if model.drop_share is not None:
        check_scalar(model.drop_share, "drop_share", (int, float), min_val=0, max_val=1)
        if model.n_clusters < 2:
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
    if model.image_shape is not None and np.prod(model.image_shape) != n_features:
        raise ValueError(
            f"image_shape={tuple(model.image_shape)} has {np.prod(model.image_shape)} values, "
            f"but X has {n_features} features."
        )
    epochs = model.pretraining_epochs
    if epochs is None:
        epochs = EPOCHS[model.pretraining]
    check_scalar(epochs, "pretraining_epochs", (int, np.integer), min_val=0)
    given = {name: getattr(model, name) for name in Settings.__dataclass_fields__}
    given |= {"batch_size": int(batch_size), "pretraining_epochs": int(epochs)}
    given["widths"] = tuple(int(width) for width in model.widths)
    if model.image_shape is not None:
        given["image_shape"] = tuple(int(side) for side in model.image_shape)
    return Settings(**given)


def check_start(start, n_features: int, widths: tuple[int, ...]):
    """The layers of a fitted model, encoder and decoder, or None; one error if they do not fit."""
    if start is None:
        return None
    check_is_fitted(start)
    sizes = (len(start.offset_), *(len(bias) for _, bias in start.encoder_))
    if sizes != (n_features, *widths):
        raise ValueError(
            f"start has layers of {sizes}, but X and widths ask for {(n_features, *widths)}."
        )
    return start.encoder_, start.decoder_


def check_ease(ease, n_samples: int) -> np.ndarray | None:
    """One finite number a row, or None; all zeros say nothing and are None too."""
    if ease is None:
        return None
    ease = np.asarray(ease, dtype=np.float32)
    if ease.shape != (n_samples,) or not np.isfinite(ease).all():
        raise ValueError(f"ease has shape {ease.shape}, but there are {n_samples} rows of X.")
    return ease if ease.any() else None
