"""SKLR on 60,000 images, step by step, beside the prototype it came from, each in its own process.

The prototype does the same work plainly: 1,000 random landmarks, the 400 leading directions of
their self-tuning Gaussian kernel, soft projections one at a time in numpy until little moves.
Times are CPU seconds, which a busy machine does not change; memory is the peak of the process.
"""

import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.constraints import Constraints
from likewise.datasets import fetch
from likewise.kernel_learning import SKLR
from likewise.kernels import self_tuning_gaussian
from likewise.numerics.psd import symmetric_root

SCALE_DATA, N_TRAIN, N_ANSWERS = "mnist", 60_000, 3_000
N_LANDMARKS, RANK = 1_000, 400
C, GAMMA, TOL, MAX_SWEEPS = 3.0, 2.0, 1e-2, 100
SHARE = 0.9  # of the trace: about RANK directions
N_INIT = 3
SCALE_MEASURES = (
    "ARI",
    "seconds to learn",
    "seconds to map",
    "seconds to cluster",
    "seconds in all",
    "peak memory in MB",
)


def run_scale(*, data: str, form: str, seed: int) -> dict[str, float]:
    """One form's scores, from a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(measure, data, form, seed).result()


def measure(data: str, form: str, seed: int) -> dict[str, float]:
    """Scores, CPU seconds of every step and the peak memory of this process."""
    digits = fetch(data)
    X = (digits.X[:N_TRAIN] / 255).astype(np.float32, copy=False)
    y = np.asarray(digits.y)[:N_TRAIN]
    del digits
    answers = Constraints.from_labels(y, n_odd_one_out=N_ANSWERS, random_state=seed)
    times = [time.process_time()]
    to_space = FORMS[form](X, answers, seed)
    times.append(time.process_time())
    Z = to_space(X)
    times.append(time.process_time())
    labels = KMeans(len(np.unique(y)), n_init=N_INIT, random_state=seed).fit_predict(Z)
    times.append(time.process_time())
    steps = (*np.diff(times), times[-1] - times[0])
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return dict(zip(SCALE_MEASURES, (adjusted_rand_score(y, labels), *steps, peak)))


def learn_sklr(X: np.ndarray, answers: Constraints, seed: int) -> Callable:
    """The library's own way."""
    space = SKLR(
        C=C,
        n_components=SHARE,
        n_landmarks=N_LANDMARKS,
        tol=TOL,
        max_iter=MAX_SWEEPS,
        random_state=seed,
    )
    return space.fit(X, constraints=answers).transform


def learn_prototype(X: np.ndarray, answers: Constraints, seed: int) -> Callable:
    """Landmarks, their leading directions, projections one at a time."""
    rng = np.random.RandomState(seed)
    landmarks = X[rng.permutation(len(X))[:N_LANDMARKS]].astype(np.float64)
    kernel = self_tuning_gaussian(landmarks)
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    whitening = vectors[:, -RANK:] / np.sqrt(values[-RANK:])
    touched, where = np.unique(answers.odd_one_out, return_inverse=True)
    Y = kernel(X[touched].astype(np.float64), landmarks) @ whitening
    unit = np.sqrt(2 * Y.var(axis=0).sum())
    triples = where.reshape(-1, 3)
    rows = np.concatenate([triples, triples[:, [1, 0, 2]]])
    root = symmetric_root(project_one_at_a_time(Y / unit, rows, rng)) / unit
    return lambda rows: (kernel(rows.astype(np.float64), landmarks) @ whitening) @ root


def project_one_at_a_time(Y: np.ndarray, rows: np.ndarray, rng) -> np.ndarray:
    """M (r, r) from I: every row (i, j, k) asks that GAMMA d(i, j) <= d(i, k), at a cost of C."""
    M = np.eye(Y.shape[1])
    duals = np.zeros(len(rows))
    for _ in range(MAX_SWEEPS):
        largest_move = 0.0
        for c in rng.permutation(len(rows)):
            i, j, k = rows[c]
            u, v = Y[i] - Y[j], Y[i] - Y[k]
            Mu, Mv = M @ u, M @ v
            p, q, x = u @ Mu, v @ Mv, u @ Mv
            det = p * q - x * x
            if det <= 1e-14 * p * q:
                continue
            step = np.clip(duals[c] + (GAMMA * p - q) / (2 * GAMMA * det), 0, C) - duals[c]
            if abs(step) * max(p, q) < 1e-12:
                continue
            duals[c] += step
            core = np.linalg.inv([[1 / (step * GAMMA) + p, x], [x, q - 1 / step]])
            both = np.stack([Mu, Mv])
            M -= both.T @ core @ both  # Sherman-Morrison-Woodbury
            largest_move = max(largest_move, abs(step) * max(p, q))
        if largest_move <= TOL:
            break
    return (M + M.T) / 2


FORMS: dict[str, Callable] = {"likewise": learn_sklr, "prototype": learn_prototype}
