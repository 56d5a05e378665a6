"""Settings of GuidedClustering, refused before any work where they cannot mean anything."""

from pathlib import Path

import numpy as np

from likewise.guided.last_step import check_last_step
from likewise.guided.preparation import PREPARATIONS
from likewise.maps import on_device


def check_settings(model) -> None:
    """Raise on the first setting that is wrong."""
    is_count = isinstance(model.n_clusters, (int, np.integer)) and model.n_clusters >= 1
    if model.n_clusters != "auto" and not is_count:
        raise ValueError(f'n_clusters={model.n_clusters!r} must be "auto" or 1 or more.')
    if model.preparation not in PREPARATIONS:
        known = ", ".join(PREPARATIONS)
        raise ValueError(f"preparation={model.preparation!r} is unknown. Use one of {known}.")
    if model.views is not None and model.preparation != "auto":
        raise ValueError(f"views={model.views!r} are prepared by themselves. Drop preparation.")
    if model.learner != "auto" and not hasattr(model.learner, "transform"):
        raise TypeError(
            f"learner={model.learner!r} has no transform, so there is no space to cluster in. "
            "Use a clusterer on its own."
        )
    if model.features != "auto" and not hasattr(model.features, "transform"):
        raise TypeError(
            f'features={model.features!r} must be "auto" or a transformer. Name columns in '
            "features=TableFeatures(features=names)."
        )
    check_last_step(model.min_size, model.max_size, model.outliers, model.last_step)
    if model.checkpoint is not None and not isinstance(model.random_state, (int, np.integer)):
        raise ValueError(
            f"checkpoint needs an int as random_state, not {model.random_state!r}: what was "
            "learned before must be learned again."
        )
    if model.checkpoint is not None:
        path = Path(model.checkpoint)
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(
                f"checkpoint={model.checkpoint!r} must be a file in a folder that exists."
            )
    if model.device is not None:
        on_device(np.empty(0), model.device)  # refused before the work if it is not there
