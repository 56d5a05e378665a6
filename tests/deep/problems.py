"""Small problems, quick to train."""

from dataclasses import replace

import numpy as np
from sklearn.datasets import make_blobs

from likewise.constraints import Constraints
from likewise.deep import training
from likewise.deep.fit_settings import Settings

PLAIN = Settings(
    n_clusters=3,
    widths=(8, 3),
    loss="student",
    t_power=1,
    pretraining="none",
    pretraining_epochs=2,
    must_link_weight=1.0,
    cannot_link_weight=1.0,
    triple_weight=1.0,
    answers_apart=True,
    kl_weight=0.1,
    size_weight=0.0,
    drop_share=None,
    image_shape=None,
    batch_size=20,
    learning_rate=0.01,
    decay=False,
    max_epochs=3,
    tol=0.0,
)

TOGETHER = replace(PLAIN, answers_apart=False)


def draw_blobs(seed=0, n=60, spread=3.0):
    X, y = make_blobs(n, 4, centers=3, cluster_std=spread, random_state=seed)
    return X.astype(np.float32), y


def nothing(n=60):
    return Constraints(n)


ALL_KINDS = Constraints(
    60,
    must_link=[(0, 1), (2, 3), (4, 5)],
    cannot_link=[(0, 9), (1, 8)],
    odd_one_out=[(0, 1, 2), (3, 4, 5)],
    closer=[(6, 7, 8)],
    undecided=[(9, 10, 11)],
    weights=[1, 2, 3, 1, 2, 1, 2, 1, 1],
)
RESUMED = replace(PLAIN, pretraining="short", pretraining_epochs=2, max_epochs=5, drop_share=0.2)


def fit(settings=PLAIN, X=None, answers=None, *, held_out=None, ease=None, seed=0, **more):
    X = draw_blobs()[0] if X is None else X
    answers = nothing(len(X)) if answers is None else answers
    held_out = nothing(len(X)) if held_out is None else held_out
    return training.train(X, answers, held_out, ease, settings, device="cpu", seed=seed, **more)
