"""Rows of the data sets of the tables on deep clustering."""

from functools import lru_cache

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from likewise.datasets import fetch

N_TRAIN = 60_000
PAIR_SHARE = 0.1  # pairs to rows
N_TERMS = 2_000


@lru_cache(maxsize=2)
def load_rows(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of float32 and their classes."""
    found = fetch(data)
    y = np.asarray(found.y)[:N_TRAIN]
    if data == "reuters_r8_text":
        terms = TfidfVectorizer(max_features=N_TERMS, stop_words="english", sublinear_tf=True)
        return terms.fit_transform(found.X[:N_TRAIN]).toarray().astype(np.float32), y
    return np.asarray(found.X[:N_TRAIN], dtype=np.float32), y


def shape_of(data: str, n_features: int) -> tuple[int, int] | None:
    """Height and width of the images, if they are."""
    side = round(n_features**0.5)
    return None if data == "reuters_r8_text" else (side, side)
