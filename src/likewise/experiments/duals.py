"""The experiments of randel2021, and ours around them: `likewise reproduce duals [TABLE]`.

The paper prints figures and no numbers for these sections, so what its text says of them stands on
the page beside ours. Metrics are compared by k-medoids, as there; its 500 sets of constraints for
one draw of the data are here some sets for each of several draws. The Eclipse traces are not to be
had: a made set of sequences stands in (`make_traces`).
"""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import adjusted_rand_score, average_precision_score
from sklearn.preprocessing import StandardScaler

from likewise.cluster import MPCKMeans
from likewise.constraints import Constraints
from likewise.constraints.protocols import draw_bagged_sets
from likewise.datasets import constraints_of, fetch, make_metric_clusters, thin_by_class
from likewise.duals import (
    MovedPoints,
    constraint_prices,
    dissimilarity_matrix,
    filter_constraints,
    move_points,
    suspect_answers,
)
from likewise.duals.fitness import judge
from likewise.duals.pairs import pairs_of
from likewise.experiments.figures import draw_bars, draw_curves, draw_points
from likewise.experiments.runs import Record, Table
from likewise.kernel_learning import SKLR
from likewise.metric_learning import ITML

METRICS = ("euclidean", "manhattan", "chebyshev", "mahalanobis")
EPS = 0.1
N_INIT = 10  # starts of k-means

N_SETS = 25  # of constraints, for each draw of made data or each seed; the paper: 500 in all
MAX_PAIRS = 100  # in a set: 1 to so many
REAL_SETS = ("iris", "wine", "synthetic_control")
N_SEGMENTS = 6  # of a control chart

GROUPS = ("comp.graphics", "rec.sport.hockey", "sci.med", "talk.politics.mideast")
N_TERMS = 10_000
TEXTS = ("posts, counts", "posts, tf-idf", "traces")
TEXT_METRICS = ("euclidean", "cosine", "damerau_levenshtein")
N_TRACES, N_TRACE_CLASSES, N_CALLS = 460, 5, 24

MOVED = {"iris": 15, "seeds": 20, "optdigits": 400}  # violated pairs
N_TRAIN_DIGITS = 3823
ORDERS = ("dearest", "cheapest", "random")  # the paper: cheapest
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way to the end
PUBLISHED = {  # the first author's own pairs, and our name of their data
    "iris": "iris", "control": "synthetic_control", "protein": "protein_xing",
    "soybean": "soybean_small", "ionosphere": "ionosphere", "balance": "balance_scale",
}  # fmt: skip

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


def run_figure1(*, data: str, distance: str, seed: int) -> dict[str, float]:
    """ARI of MPCK-means with 20 pairs."""
    _, labels, y = figure1_labels(data, distance, seed)
    return {"ARI": adjusted_rand_score(y, labels)}


def figure1_labels(data: str, distance: str, seed: int):
    X, y = load(data, None, seed)
    answers = Constraints.from_labels(y, n_pairs=20, random_state=seed)
    model = MPCKMeans(len(np.unique(y)), distance=distance, random_state=seed)
    return X, model.fit_predict(X, constraints=answers), y


def draw_figure1(records: list[Record], path: Path) -> None:
    """The clusters of seed 0 in the plane of the principal components."""
    data = records[0]["data"]
    found = {one: figure1_labels(data, one, 0) for one in ("euclidean", "cosine")}
    X, _, y = found["euclidean"]
    flat = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    labels = {name: (flat, one[1]) for name, one in found.items()}
    draw_points({"classes": (flat, y), **labels}, path)


def run_figure2(*, data: str, metric: str, seed: int) -> dict[str, float]:
    """How well three medoids under the metric find the classes."""
    X, y = made(data, seed)
    found = constraint_prices(
        X, Constraints(len(y)), 3, model="k-medoids", metric=metric, random_state=seed
    )
    return {"ARI": adjusted_rand_score(y, found.labels)}


def draw_figure2(records: list[Record], path: Path) -> None:
    """The four sets of seed 0 with their classes."""
    draw_points({name: made(name, 0) for name in METRICS}, path)


def run_fitness(*, data: str, metric: str, seed: int) -> dict[str, float]:
    """Fitness over many sets of pairs, and the ARI of the unsupervised medoids."""
    X, y = load_for_metrics(data, seed)
    D = distances_of(data, X, metric)
    sets = [pairs_of(c) for c in bagged(y, seed)]
    shares, counts = judge(D, sets, len(np.unique(y)), EPS, None, seed)
    alone = constraint_prices(
        D,
        Constraints(len(y)),
        len(np.unique(y)),
        model="k-medoids",
        metric="precomputed",
        random_state=seed,
    )
    return {
        "share": float(shares.mean()),
        "count": float(counts.mean()),
        "ARI": adjusted_rand_score(y, alone.labels),
    }


def draw_fitness(records: list[Record], path: Path) -> None:
    """Fitness and ARI side by side, by metric."""
    bars = [
        {"data": one["data"], "metric": one["metric"], "what": what, "value": one[measure]}
        for one in records
        for what, measure in (("fitness (share)", "share"), ("ARI", "ARI"))
    ]
    draw_bars(bars, path, bar="what", group="metric", panel="data", measure="value", n_across=2)


def bagged(y: np.ndarray, seed: int) -> list[Constraints]:
    return list(draw_bagged_sets(y, n_sets=N_SETS, max_pairs=MAX_PAIRS, random_state=seed))


def load_for_metrics(data: str, seed: int):
    if data in METRICS:
        return made(data, seed)
    if data.startswith("posts"):
        return load_posts(data)
    if data == "traces":
        return make_traces(seed)
    return load(data, None, seed)


def distances_of(data: str, X, metric: str) -> np.ndarray:
    """Dissimilarities (n, n); those of control charts are summed over segments."""
    if data == "synthetic_control":
        segments = np.split(X, N_SEGMENTS, axis=1)
        return np.sum([dissimilarity_matrix(one, metric) for one in segments], axis=0)
    if data == "traces" and metric != "damerau_levenshtein":
        X = CountVectorizer(analyzer=list).fit_transform(X).astype(float)
    return dissimilarity_matrix(X, metric)


@lru_cache(maxsize=2)
def load_posts(data: str):
    """600 posts of 4 groups as counts, or tf-idf, of the most frequent terms."""
    posts = fetch_once("newsgroups20_text150")
    y = np.asarray(posts.y)
    rows = np.flatnonzero(np.isin(y, [posts.target_names.index(name) for name in GROUPS]))
    counts = CountVectorizer(max_features=N_TERMS).fit_transform([posts.X[i] for i in rows])
    X = (
        counts.astype(float)
        if data == "posts, counts"
        else TfidfTransformer().fit_transform(counts)
    )
    return X, y[rows]


@lru_cache(maxsize=1)
def make_traces(seed: int):
    """Sequences of calls in 5 classes: the same calls in each class, in an order of its own.

    A trace is its class's order with some calls left out, repeated, replaced or exchanged.
    """
    rng = np.random.RandomState(seed)
    orders = [rng.permutation(N_CALLS) for _ in range(N_TRACE_CLASSES)]
    y = np.sort(np.arange(N_TRACES) % N_TRACE_CLASSES)
    traces = []
    for label in y:
        calls = list(orders[label][: rng.randint(N_CALLS // 2, N_CALLS + 1)])
        for _ in range(rng.randint(2, 9)):
            at, edit = rng.randint(len(calls)), rng.randint(4)
            if edit == 0 and len(calls) > 2:
                del calls[at]
            elif edit == 1:
                calls.insert(at, int(rng.randint(N_CALLS)))
            elif edit == 2:
                calls[at] = int(rng.randint(N_CALLS))
            elif at + 1 < len(calls):
                calls[at], calls[at + 1] = calls[at + 1], calls[at]
        traces.append([f"f{call}" for call in calls])
    return traces, y


def run_moving(*, data: str, order: str, step: float, seed: int) -> dict[str, float]:
    """Where the moves have led after a share of them."""
    moved = moved_points(data, order, seed)
    at = round(step * (len(moved.ari) - 1))
    return {
        "ARI": moved.ari[at],
        "travelled": moved.travelled[at],
        "moves": at,
        "unsatisfied": len(moved.unsatisfied),
    }


@lru_cache(maxsize=1)
def moved_points(data: str, order: str, seed: int) -> MovedPoints:
    X, y, k, labels = clustered(data)
    answers = violated_pairs(y, labels, MOVED[data], seed)
    return move_points(X, answers, k, order=order, y=y, random_state=seed)


@lru_cache(maxsize=3)
def clustered(data: str):
    """Rows, classes, how many, and the clusters of 100 starts of k-means."""
    X, y = load(data, None, 0)
    if data == "optdigits":
        X, y = X[:N_TRAIN_DIGITS], y[:N_TRAIN_DIGITS]
    k = len(np.unique(y))
    return X, y, k, KMeans(k, n_init=100, random_state=0).fit_predict(X)


def violated_pairs(y, labels, m: int, seed: int) -> Constraints:
    """m pairs, as the classes have them, that the clusters break."""
    rng = np.random.RandomState(seed)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < m:
        i, j = np.sort(rng.randint(len(y), size=2))
        if i < j and (y[i] == y[j]) != (labels[i] == labels[j]):
            pairs[int(i), int(j)] = None
    rows = np.array(list(pairs))
    same = y[rows[:, 0]] == y[rows[:, 1]]
    return Constraints(len(y), must_link=rows[same], cannot_link=rows[~same])


def run_published_fitness(*, data: str, pairs: int, metric: str, seed: int) -> dict[str, float]:
    """Fitness under the first author's own pairs."""
    X, y = load(PUBLISHED[data], None, seed)
    answers = constraints_of(fetch_once("randel_ssc_constraints"), f"{data}{pairs}")
    D = distances_of(PUBLISHED[data], X, metric)
    shares, counts = judge(D, [pairs_of(answers)], len(np.unique(y)), EPS, None, seed)
    return {
        "share": float(shares[0]),
        "count": float(counts[0]),
        "answers": answers.n_answers,
    }


def run_published_moves(*, data: str, pairs: int, order: str, seed: int) -> dict[str, float]:
    """Points moved for the first author's own pairs."""
    name = "optdigits" if data == "optical" else data
    X, y, k, _ = clustered(name)
    answers = constraints_of(fetch_once("randel_ssc_constraints"), f"{data}{pairs}")
    moved = move_points(X, answers, k, order=order, y=y, random_state=seed)
    return {
        "ARI before": moved.ari[0],
        "ARI": moved.ari[-1],
        "broken before": moved.n_broken[0],
        "unsatisfied": len(moved.unsatisfied),
        "travelled": moved.travelled[-1],
    }


def run_doubts(*, data: str, answers: str, by: str, seed: int) -> dict[str, float]:
    """How well wrong answers are found among right ones."""
    X, y, told, wrong = some_wrong(data, answers, seed)
    measure, space = DOUBTS[by]
    learner = None if space is None else learned(space, data, answers, seed)
    k = len(np.unique(y))
    found = suspect_answers(X, told, k, by=measure, learner=learner, random_state=seed)
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
    wrong = [a[:2] != b[:2] for a, b in zip(right.answers(), told.answers())]
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
    from scipy.stats import spearmanr

    return 1.0 if np.array_equal(a, b) else float(spearmanr(a, b)[0])


def made(data: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = make_metric_clusters(data, random_state=seed)
    return drawn.X, np.asarray(drawn.y)


fetch_once = lru_cache(maxsize=8)(fetch)


def load(name: str, n_rows: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) and classes (n,), thinned by class to `n_rows`."""
    data = fetch_once(name)
    X, y = data.X, np.asarray(data.y)
    if n_rows is None or n_rows >= len(y):
        return X, y
    rows = thin_by_class(y, n_rows, random_state=seed)
    return X[rows], y[rows]


def moving_cells(sets: tuple[str, ...]) -> list[dict]:
    return [
        {"data": data, "order": order, "step": step}
        for data in sets
        for order in ORDERS
        for step in STEPS  # together: they share the moves
    ]


FITNESS = ("share", "count", "ARI")
draw_moves = partial(
    draw_curves,
    x="step",
    line="order",
    down="data",
    across=[("", {}, "ARI"), ("", {}, "travelled")],
)
MOVES = ("ARI", "travelled", "moves", "unsatisfied")

TABLES = (
    Table(
        "figure1",
        "Figure 1: MPCK-means on wine with 20 pairs",
        cells=lambda: [{"data": "wine", "distance": one} for one in ("euclidean", "cosine")],
        run=run_figure1,
        rows=("data",),
        columns="distance",
        data=lambda: ("wine",),
        draw=draw_figure1,
    ),
    Table(
        "figure2",
        "Figure 2: the four made sets, and three medoids under their own metric",
        cells=lambda: [{"data": one, "metric": one} for one in METRICS],
        run=run_figure2,
        rows=("data",),
        columns="metric",
        draw=draw_figure2,
    ),
    Table(
        "figure3",
        f"Figure 3: fitness over {N_SETS} sets of 1 to {MAX_PAIRS} pairs a draw, made data",
        cells=lambda: [{"data": data, "metric": one} for data in METRICS for one in METRICS],
        run=run_fitness,
        rows=("data",),
        columns="metric",
        measures=FITNESS,
        draw=draw_fitness,
    ),
    Table(
        "figure4",
        f"Figure 4: fitness over {N_SETS} sets of 1 to {MAX_PAIRS} pairs a seed, measured data",
        cells=lambda: [{"data": data, "metric": one} for data in REAL_SETS for one in METRICS],
        run=run_fitness,
        rows=("data",),
        columns="metric",
        measures=FITNESS,
        data=lambda: REAL_SETS,
        draw=draw_fitness,
    ),
    Table(
        "figure5",
        "Figure 5: 600 posts of 4 groups, and made traces in place of Eclipse's",
        cells=lambda: [
            {"data": data, "metric": one}
            for data in TEXTS
            for one in TEXT_METRICS[: 3 if data == "traces" else 2]
        ],
        run=run_fitness,
        rows=("data",),
        columns="metric",
        measures=FITNESS,
        data=lambda: ("newsgroups20_text150",),
        draw=draw_fitness,
    ),
    Table(
        "figure6",
        "Figure 6: moving points for 15 and 20 violated pairs, by the share of the moves made",
        cells=lambda: moving_cells(("iris", "seeds")),
        run=run_moving,
        rows=("data", "order"),
        columns="step",
        measures=MOVES,
        data=lambda: ("iris", "seeds"),
        draw=draw_moves,
    ),
    Table(
        "figure6-digits",
        "Figure 6: moving points for 400 violated pairs of 3,823 digits",
        cells=lambda: moving_cells(("optdigits",)),
        run=run_moving,
        rows=("data", "order"),
        columns="step",
        measures=MOVES,
        data=lambda: ("optdigits",),
        draw=draw_moves,
    ),
    Table(
        "published-fitness",
        "Fitness under the first author's own pairs",
        cells=lambda: [
            {"data": data, "pairs": number, "metric": one}
            for data in PUBLISHED
            for number in (1, 2)
            for one in METRICS
        ],
        run=run_published_fitness,
        rows=("data", "pairs"),
        columns="metric",
        measures=("share", "count", "answers"),
        data=lambda: ("randel_ssc_constraints", *PUBLISHED.values()),
    ),
    Table(
        "published-moves",
        "Points moved for the first author's own pairs",
        cells=lambda: [
            {"data": data, "pairs": number, "order": order}
            for data in ("iris", "optical")
            for number in (1, 2)
            for order in ORDERS
        ],
        run=run_published_moves,
        rows=("data", "pairs"),
        columns="order",
        measures=("ARI before", "ARI", "broken before", "unsatisfied", "travelled"),
        data=lambda: ("randel_ssc_constraints", "iris", "optdigits"),
    ),
    Table(
        "suspects",
        f"Finding the wrong ones of {N_ANSWERS} answers, a tenth of them flipped",
        cells=lambda: [
            {"data": data, "answers": kind, "by": by}
            for kind in DOUBTED_KINDS
            for data in DOUBT_SETS
            for by in (DOUBTS if kind == "pairs" else ("isolated, SKLR", "duals, SKLR"))
        ],
        run=run_doubts,
        rows=("answers", "data"),
        columns="by",
        measures=(
            "found",
            "average precision",
            "precision of flagged",
            "recall of flagged",
        ),
        data=lambda: DOUBT_SETS,
    ),
    Table(
        "filter",
        "ARI in SKLR's space after leaving out the most costly 70 % of the costly pairs",
        cells=lambda: [{"data": data, "kept": kept} for data in DOUBT_SETS for kept in FILTERS],
        run=run_filter,
        rows=("data",),
        columns="kept",
        measures=("ARI", "answers"),
        data=lambda: DOUBT_SETS,
    ),
    Table(
        "eps",
        "Rank correlation of the prices of 100 pairs with those at eps = 0.1",
        cells=lambda: [
            {"data": data, "model": model, "eps": eps}
            for data in ("iris", "wine", "digits")
            for model in ("mssc", "k-medoids")
            for eps in EPSILONS
        ],
        run=run_eps,
        rows=("data", "model"),
        columns="eps",
        measures=("Spearman",),
        data=lambda: ("iris", "wine", "digits"),
    ),
)
