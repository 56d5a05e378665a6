"""Which answers are wrong, and what leaving them out does: answers with a tenth of them flipped."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, average_precision_score
from sklearn.preprocessing import StandardScaler

from experiments.sklr import load
from likewise.constraints import Constraints
from likewise.duals import constraint_prices, costly_answers, filter_constraints
from likewise.kernel_learning import SKLR
from likewise.metric_learning import ITML

EPS = 0.1
N_INIT = 10  # starts of k-means
FLIPPED = 0.1
DOUBT_SETS = ("digits", "wine", "vehicle")
DOUBT_ROWS, N_ANSWERS = 800, 300
SPACES: dict[str, Callable[[int], Any]] = {
    "SKLR": lambda seed: SKLR(C=1.0, tol=1e-2, random_state=seed),
    "ITML": lambda seed: ITML(random_state=seed),
}
DOUBTS = {  # (measure, space)
    "lp, data": ("lp", None),
    "isolated, data": ("isolated", None),
    "lp, SKLR": ("lp", "SKLR"),
    "isolated, SKLR": ("isolated", "SKLR"),
    "isolated, ITML": ("isolated", "ITML"),
    "duals, SKLR": ("duals", "SKLR"),
    "duals, ITML": ("duals", "ITML"),
}
DOUBTED_KINDS: dict[str, dict[str, Any]] = {
    "pairs": {"n_must_link": N_ANSWERS // 2, "n_cannot_link": N_ANSWERS // 2},
    "odd one out": {"n_odd_one_out": N_ANSWERS},
    "closer": {"n_closer": N_ANSWERS},
    "both": {
        "n_must_link": N_ANSWERS // 4,
        "n_cannot_link": N_ANSWERS // 4,
        "n_odd_one_out": N_ANSWERS // 2,
    },
}
EPSILONS = (0.01, 0.05, 0.1, 0.2, 0.5)
FILTERS = ("no answers", "all", "isolated", "lp, data", "paper", "right ones")


def run_doubts(*, data: str, answers: str, by: str, seed: int) -> dict[str, float]:
    """How well wrong answers are found among right ones."""
    X, y, told, wrong = some_wrong(data, answers, seed)
    measure, space = DOUBTS[by]
    learner = None if space is None else learned(space, data, answers, seed)
    k = len(np.unique(y))
    found = costly_answers(X, told, k, by=measure, learner=learner, random_state=seed)
    first = found.ranking[: wrong.sum()]
    flagged = wrong[found.positions]
    order = np.empty(len(wrong))
    order[found.ranking] = -np.arange(len(wrong))
    return {
        "found": float(wrong[first].mean()),
        "average precision": float(average_precision_score(wrong, order)),
        "precision of flagged": float(flagged.mean()) if len(flagged) else 0.0,
        "recall of flagged": float(flagged.sum() / wrong.sum()),
    }


def some_wrong(data: str, answers: str, seed: int):
    """Standardized rows, classes, answers of which a tenth is wrong, and which."""
    X, y = load(data, DOUBT_ROWS, seed)
    X = StandardScaler().fit_transform(X)
    counts = DOUBTED_KINDS[answers]
    right = Constraints.from_labels(y, random_state=seed, **counts)
    told = Constraints.from_labels(y, noise=FLIPPED, random_state=seed, **counts)
    wrong = [
        (a.kind, a.points) != (b.kind, b.points) for a, b in zip(right.answers(), told.answers())
    ]
    return X, y, told, np.array(wrong)


@lru_cache(maxsize=2)
def learned(space: str, data: str, answers: str, seed: int):
    X, _, told, _ = some_wrong(data, answers, seed)
    return SPACES[space](seed).fit(X, constraints=told)


def run_filter(*, data: str, kept: str, seed: int) -> dict[str, float]:
    """ARI of k-means in SKLR's space from what is kept of answers of which a tenth is wrong."""
    X, y, told, wrong = some_wrong(data, "pairs", seed)
    k = len(np.unique(y))
    if kept == "no answers":
        told = told.subset(np.empty(0, dtype=int))
    elif kept == "right ones":
        told = told.subset(~wrong)
    elif kept != "all":
        by, space = DOUBTS["isolated, SKLR" if kept == "isolated" else "lp, data"]
        learner = None if space is None else learned(space, data, "pairs", seed)
        told = filter_constraints(
            X,
            told,
            k,
            by=by,
            learner=learner,
            keep="costly" if kept == "paper" else "all",
            random_state=seed,
        ).constraints
    Z = SKLR(C=1.0, tol=1e-2, random_state=seed).fit(X, constraints=told).transform(X)
    labels = KMeans(k, n_init=N_INIT, random_state=seed).fit_predict(Z)
    return {"ARI": adjusted_rand_score(y, labels), "answers": told.n_answers}


def run_eps(*, data: str, model: str, eps: float, seed: int) -> dict[str, float]:
    """Rank correlation of the prices with those at eps = 0.1."""
    X, y = load(data, 300, seed)
    X = StandardScaler().fit_transform(X)
    answers = Constraints.from_labels(y, n_pairs=100, random_state=seed)
    prices = [
        constraint_prices(X, answers, len(np.unique(y)), model=model, eps=one, random_state=seed)
        for one in (EPS, eps)
    ]
    return {"Spearman": rank_correlation(*(one.prices for one in prices))}


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    return 1.0 if np.array_equal(a, b) else float(spearmanr(a, b)[0])
