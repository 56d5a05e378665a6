"""Which metric fits: the data and the runs of figures 1 to 5 of randel2021."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from experiments.drawn_answers import draw_bagged_sets
from experiments.figures import draw_bars, draw_points
from experiments.runs import Record
from experiments.sklr import load
from likewise.cluster import MPCKMeans
from likewise.constraints import Constraints
from likewise.datasets import constraints_of, fetch, make_metric_clusters
from likewise.duals import constraint_prices, dissimilarity_matrix, fitness_of_sets

METRICS = ("euclidean", "manhattan", "chebyshev", "mahalanobis")
EPS = 0.1
N_SETS = 25  # of constraints, for each draw of made data or each seed; the paper: 500 in all
MAX_PAIRS = 100  # in a set: 1 to so many
REAL_SETS = ("iris", "wine", "synthetic_control")
N_SEGMENTS = 6  # of a control chart

GROUPS = ("comp.graphics", "rec.sport.hockey", "sci.med", "talk.politics.mideast")
N_TERMS = 10_000
TEXTS = ("posts, counts", "posts, tf-idf", "traces")
TEXT_METRICS = ("euclidean", "cosine", "damerau_levenshtein")
SHORT = {  # under the bars of a figure
    "euclidean": "Eucl.", "manhattan": "Manh.", "chebyshev": "Cheb.", "mahalanobis": "Mahal.",
    "cosine": "cosine", "damerau_levenshtein": "D.-L.",
}  # fmt: skip
N_TRACES, N_TRACE_CLASSES, N_CALLS = 460, 5, 24
ZERO_ROWS, ZERO_PAIRS = 72, 30
ZERO_METRICS = METRICS[:3]
ZERO_SOLVERS: dict[str, dict[str, bool]] = {
    "Lagrangian": {"exact": False, "tight": True},
    "program": {"exact": True, "tight": True},
    "program, (16)": {"exact": True, "tight": False},
}
PUBLISHED = {  # the first author's own pairs, and our name of their data
    "iris": "iris", "control": "synthetic_control", "protein": "protein_xing",
    "soybean": "soybean_small", "ionosphere": "ionosphere", "balance": "balance_scale",
}  # fmt: skip


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
    shares, counts = fitness_of_sets(D, bagged(y, seed), len(np.unique(y)), EPS, seed=seed)
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


def run_zeros(*, data: str, metric: str, solver: str, seed: int) -> dict[str, float]:
    """Share of free pairs under a metric, and whether no other metric has more."""
    shares = zero_shares(data, solver, seed)
    return {"share": shares[metric], "best": float(shares[metric] >= max(shares.values()))}


@lru_cache(maxsize=len(ZERO_SOLVERS))  # the metrics of a solver follow each other
def zero_shares(data: str, solver: str, seed: int) -> dict[str, float]:
    drawn = make_metric_clusters(data, ZERO_ROWS, random_state=seed)
    answers = Constraints.from_labels(drawn.y, n_pairs=ZERO_PAIRS, random_state=seed)
    shares = {}
    for metric in ZERO_METRICS:
        D = dissimilarity_matrix(drawn.X, metric)
        share, _ = fitness_of_sets(D, [answers], 3, EPS, seed=seed, **ZERO_SOLVERS[solver])
        shares[metric] = float(share[0])
    return shares


def draw_fitness(records: list[Record], path: Path) -> None:
    """Fitness and ARI side by side, by metric."""
    bars = [
        {"data": one["data"], "metric": SHORT[one["metric"]], "what": what, "value": one[measure]}
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


def run_published_fitness(*, data: str, pairs: int, metric: str, seed: int) -> dict[str, float]:
    """Fitness under the first author's own pairs."""
    X, y = load(PUBLISHED[data], None, seed)
    answers = constraints_of(fetch_once("randel_ssc_constraints"), f"{data}{pairs}")
    D = distances_of(PUBLISHED[data], X, metric)
    shares, counts = fitness_of_sets(D, [answers], len(np.unique(y)), EPS, seed=seed)
    return {
        "share": float(shares[0]),
        "count": float(counts[0]),
        "answers": answers.n_answers,
    }


def made(data: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = make_metric_clusters(data, random_state=seed)
    return drawn.X, np.asarray(drawn.y)


fetch_once = lru_cache(maxsize=2)(fetch)  # posts and published pairs
