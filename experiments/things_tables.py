"""Four feature tables of the 1,854 THINGS objects, side by side."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.people import FEATURES, fetch_once

NORMS = "things_norms"


def things_views() -> tuple[np.ndarray, list[int]]:
    """Four tables of the objects side by side, and their widths; missing ratings are the mean."""
    extras = fetch_once(FEATURES).extras
    ratings = np.asarray(fetch_once(NORMS).X, dtype=np.float64)
    ratings = np.where(np.isnan(ratings), np.nanmean(ratings, axis=0), ratings)
    tables = [
        np.asarray(extras[name], dtype=np.float64)
        for name in ("X_clip_vit_b32", "X_word2vec", "category_matrix")
    ]
    tables.append(StandardScaler().fit_transform(ratings))
    return np.hstack(tables), [table.shape[1] for table in tables]
