"""The estimator's settings, checked before torch is imported: each error is one line."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_scalar

from likewise.deep.training_plan import PLANS, TrainingPlan, check_drop_share

EPOCHS = {"short": 30, "layer-wise": 500, "none": 0}  # of pretraining, where the plan has None
STEPS, BATCHES = 100, (64, 512)  # of an epoch, and the rows of a step, where the plan has None
CONTRAST_EPOCHS = {"small": 20, "medium": 30}  # by the size of the network that fits the rows
CONTRAST_STEPS = 200  # at least
CONTRAST_PARTS, CONTRAST_BATCHES = 8, (64, 1024)  # of an epoch, and the rows of a step
LIKELIHOOD_PARTS = 16  # of an epoch
AUTOENCODER = (500, 500, 2000, 10)
SIZES_OF_IMAGES = {"small": (16, 32, 64), "medium": (48, 96, 192)}  # channels of the stages
SIZES_OF_ROWS = {"small": (128, 128, 64), "medium": (512, 512, 128)}
FEW_VALUES = 1_000_000  # in all rows together, for a small network


@dataclass(frozen=True, kw_only=True)
class Settings(TrainingPlan):
    """A plan with every value filled in, and the network and clusters it is for."""

    n_clusters: int
    widths: tuple[int, ...]
    image_shape: tuple[int, int, int] | None
    pretraining_epochs: int
    batch_size: int
    contrast_batch_size: int = 0

    def plan(self) -> TrainingPlan:
        """The plan alone."""
        names = [field.name for field in fields(TrainingPlan)]
        return TrainingPlan(**{name: getattr(self, name) for name in names})

    def pretraining_settings(self) -> "CodeSettings":
        """Those of the codes."""
        return CodeSettings(
            self.widths,
            self.image_shape,
            self.pretraining_epochs,
            self.contrast_batch_size,
            self.flips,
        )


class CodeSettings(NamedTuple):
    """What learning codes by contrast reads."""

    widths: tuple[int, ...]
    image_shape: tuple[int, int, int] | None
    epochs: int
    batch_size: int
    flips: bool | None


def read_code_settings(model, n_samples: int, n_features: int) -> CodeSettings:
    """What SelfSupervisedCodes has, or one error."""
    if model.flips not in ("auto", True, False):
        raise ValueError(f'flips={model.flips!r} must be "auto", True or False.')
    if model.epochs is not None:
        check_scalar(model.epochs, "epochs", (int, np.integer), min_val=0)
    image_shape = check_image_shape(model.image_shape, n_features)
    return CodeSettings(
        check_encoder(model.encoder, "likelihood", image_shape, n_samples * n_features),
        image_shape,
        contrast_epochs(n_samples, n_features) if model.epochs is None else int(model.epochs),
        contrast_batch(n_samples),
        None if model.flips == "auto" else bool(model.flips),
    )


def contrast_batch(n_samples: int) -> int:
    """Rows of a step, or one error."""
    if n_samples < 2:
        raise ValueError(f"n_samples={n_samples}, but codes are learned from 2 rows or more.")
    return int(np.clip(n_samples // CONTRAST_PARTS, *CONTRAST_BATCHES))


def contrast_epochs(n_samples: int, n_features: int) -> int:
    n_steps = max(1, round(n_samples / contrast_batch(n_samples)))
    return max(CONTRAST_EPOCHS[size_for(n_samples * n_features)], CONTRAST_STEPS // n_steps)


def size_for(n_values: int) -> str:
    """Of a network, by the values of all rows together."""
    return "small" if n_values <= FEW_VALUES else "medium"


def check_image_shape(image_shape, n_features: int) -> tuple[int, int, int] | None:
    """Height, width and channels, or one error."""
    if image_shape is None:
        return None
    image_shape = tuple(int(side) for side in image_shape)
    if np.prod(image_shape) != n_features:
        raise ValueError(
            f"image_shape={image_shape} has {np.prod(image_shape)} values, "
            f"but X has {n_features} features."
        )
    if len(image_shape) not in (2, 3):
        raise ValueError(
            f"image_shape={image_shape} must be height and width, and channels if there are more "
            "than one."
        )
    height, width, *channels = image_shape
    return height, width, (channels or [1])[0]


def check_encoder(encoder, loss: str, image_shape, n_values: int) -> tuple[int, ...]:
    """Channels or units of the layers, or one error."""
    if not isinstance(encoder, str):
        return tuple(int(width) for width in encoder)
    if encoder not in ("auto", "small", "medium"):
        raise ValueError(
            f'encoder={encoder!r} must be "auto", "small", "medium" or a tuple of numbers.'
        )
    if loss != "likelihood":
        if encoder != "auto":
            raise ValueError(
                f"encoder={encoder!r} names layers for loss='likelihood'. "
                'Give a tuple of units, or "auto".'
            )
        return AUTOENCODER
    if encoder == "auto":
        encoder = size_for(n_values)
    return (SIZES_OF_ROWS if image_shape is None else SIZES_OF_IMAGES)[encoder]


def read_settings(model, plan: TrainingPlan, n_samples: int, n_features: int) -> Settings:
    """What training by a plan reads, or one error."""
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
    image_shape = check_image_shape(model.image_shape, n_features)
    epochs, batch_size = plan.pretraining_epochs, plan.batch_size
    is_likelihood = plan.loss == "likelihood"
    if epochs is None:
        by_contrast = plan.pretraining == "contrastive"
        epochs = contrast_epochs(n_samples, n_features) if by_contrast else EPOCHS[plan.pretraining]
    if batch_size is None:
        parts = LIKELIHOOD_PARTS if is_likelihood else STEPS
        batch_size = np.clip(n_samples // parts, *BATCHES)
    filled = {
        "drop_share": drop_share,
        "pretraining_epochs": int(epochs),
        "batch_size": int(batch_size),
    }
    return Settings(
        n_clusters=model.n_clusters,
        widths=(
            model.init_model.widths_
            if model.encoder == "auto" and hasattr(model.init_model, "widths_")
            else check_encoder(model.encoder, plan.loss, image_shape, n_samples * n_features)
        ),
        image_shape=image_shape,
        contrast_batch_size=contrast_batch(n_samples) if is_likelihood else 0,
        **{**vars(plan), **filled},
    )


def check_plan(training) -> TrainingPlan:
    """The plan given, or the one of that name, or one error."""
    if isinstance(training, TrainingPlan):
        return training
    if isinstance(training, str) and training not in PLANS:
        raise ValueError(
            f"training={training!r} is not one of 'auto', {', '.join(map(repr, PLANS))}."
        )
    if isinstance(training, str):
        return TrainingPlan.named(training)
    raise TypeError(f"training={training!r} is neither a TrainingPlan nor the name of one.")


def check_init_codes(init_model, settings: Settings, n_features: int):
    """Arrays of a network of codes and whether it saw mirrored images, or None; or one error."""
    if init_model is None:
        return None
    check_is_fitted(init_model)
    if getattr(init_model, "network_", None) is None:
        raise ValueError(
            "init_model has no codes to start the likelihood from. Give a SelfSupervisedCodes, or "
            "a model fitted with loss='likelihood'."
        )
    own = (init_model.n_features_in_, init_model.widths_, init_model.image_shape is None)
    needed = (n_features, settings.widths, settings.image_shape is None)
    if own != needed:
        raise ValueError(
            f"init_model has {own[0]} features and layers of {own[1]}, "
            f"but X and encoder need {needed[0]} and {needed[1]}."
        )
    return init_model.network_, bool(init_model.flips_)


def check_init_model(init_model, n_features: int, widths: tuple[int, ...]):
    """The layers of a fitted model, encoder and decoder, or None; one error if they do not fit."""
    if init_model is None:
        return None
    check_is_fitted(init_model)
    if not getattr(init_model, "decoder_", None):
        raise ValueError(
            "init_model has no decoder, which loss='angular' and 'student' need. Give a model "
            'fitted with one of these, or use training="likelihood".'
        )
    layers = init_model.map_.layers
    sizes = (len(init_model.map_.center), *(len(bias) for _, bias in layers))
    if sizes != (n_features, *widths):
        raise ValueError(
            f"init_model has layers of {sizes}, but X and encoder need {(n_features, *widths)}."
        )
    return layers, init_model.decoder_


def check_init_labels(init_labels, n_samples: int, n_clusters: int, plan: TrainingPlan):
    """(n,) labels to start from, -1 where unknown, or None; or one error."""
    if init_labels is None:
        return None
    if plan.loss != "likelihood":
        raise ValueError(
            f"init_labels starts clusters by the likelihood, not by loss={plan.loss!r}. "
            'Give image_shape, or training="likelihood".'
        )
    labels = np.asarray(init_labels)
    if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init_labels has type {labels.dtype} and shape {labels.shape}, not one int for each "
            f"of the {n_samples} rows of X."
        )
    if labels.min() < -1 or labels.max() >= n_clusters:
        at = int(np.flatnonzero((labels < -1) | (labels >= n_clusters))[0])
        raise ValueError(
            f"init_labels[{at}] = {labels[at]} is neither -1 nor one of {n_clusters} clusters."
        )
    return labels.astype(np.int64)


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
