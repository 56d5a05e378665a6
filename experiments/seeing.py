"""Maps and names of clusters: `python -m experiments seeing [TABLE]`.

There is no paper behind these.

    map     digits after 200 pairs: of a row's ten nearest rows on the map, the share that is in its
            cluster, and the trustworthiness of the map in the learned space (ten neighbors), for
            the layout and for a projection to the two directions in which the rows differ most.
            Neither sees labels.
    size    the layout of 40 made groups in 20 directions, by the number of rows: seconds of CPU
            from nothing and from the layout of slightly other rows; neighbors in their group, and
            the trustworthiness among 3,000 rows
    ranking 30 pairs about each of four sets: what leaving each out changes by the quick model of
            the report, beside what a fit without it changes (rows in another cluster): the rank
            correlation over the pairs, and how many of the five that matter most by fits are among
            the ten that the report names first
    names   200 made tables with one column that differs by 1 to 2 standard deviations in one
            cluster: the share in which that column is named first
"""

import time
from copy import copy
from functools import lru_cache

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import NearestNeighbors

from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.datasets import load_digits
from likewise.guided import GuidedClustering
from likewise.report import describe_clusters, influential_answers, lay_out

N_PAIRS = 200
N_RANKED = 30
SIZES = (2_000, 100_000, 1_000_000)
N_NEIGHBORS = 10
JUDGED = 3_000  # rows that a large map is judged by
N_GROUPS, N_DIRECTIONS = 40, 20
N_TABLES, N_COLUMNS, N_CLUSTERS, CLUSTER_ROWS = 200, 8, 4, 40


def run_map(*, method: str, seed: int) -> dict[str, float]:
    """How well the clusters of digits are apart on a map."""
    Z, labels = learned_digits(seed)
    begun = time.process_time()
    flat = lay_out(Z) if method == "layout" else PCA(2, random_state=0).fit_transform(Z)
    seconds = time.process_time() - begun
    return {
        "neighbors in the cluster": share_of_neighbors(flat, labels, np.arange(len(flat))),
        "trustworthiness": trustworthiness(Z, flat, n_neighbors=N_NEIGHBORS),
        "CPU seconds": seconds,
    }


@lru_cache(maxsize=1)
def learned_digits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    digits = load_digits()
    pairs = Constraints.from_labels(digits.y, n_pairs=N_PAIRS, random_state=seed)
    model = GuidedClustering(10, random_state=seed).fit(digits.X, constraints=pairs)
    return model.transform(digits.X), model.labels_


def share_of_neighbors(flat: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
    """Of the ten nearest on the map, the share with the label of a row."""
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS + 1).fit(flat)
    nearest = search.kneighbors(flat[rows], return_distance=False)
    others = nearest != rows[:, None]
    same = labels[nearest] == labels[rows][:, None]
    return float((same & others).sum() / others.sum())


def run_size(*, rows: int, seed: int) -> dict[str, float]:
    """Time and quality of the layout of made groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, N_GROUPS, rows)
    centers = 1.5 * rng.normal(size=(N_GROUPS, N_DIRECTIONS))
    Z = (centers[groups] + rng.normal(size=(rows, N_DIRECTIONS))).astype(np.float32)
    begun = time.process_time()
    flat = lay_out(Z, random_state=seed)
    first = time.process_time() - begun
    moved = Z + 0.05 * rng.normal(size=Z.shape).astype(np.float32)
    begun = time.process_time()
    again = lay_out(moved, previous=flat, random_state=seed)
    second = time.process_time() - begun
    judged = np.sort(rng.choice(rows, min(rows, JUDGED), replace=False))
    wide = np.linalg.norm(np.ptp(flat, axis=0))
    return {
        "CPU seconds": first,
        "CPU seconds from the last layout": second,
        "share of the width moved": float(np.median(np.linalg.norm(again - flat, axis=1)) / wide),
        "neighbors in the group": share_of_neighbors(flat, groups, judged),
        "trustworthiness": trustworthiness(Z[judged], flat[judged], n_neighbors=N_NEIGHBORS),
    }


def run_ranking(*, data: str, seed: int) -> dict[str, float]:
    """The report's ranking of answers beside fits without each."""
    X, y = RANKED[data]()
    pairs = Constraints.from_labels(y, n_pairs=N_RANKED, random_state=seed)
    n_clusters = len(np.unique(y))
    model = GuidedClustering(n_clusters, random_state=seed).fit(X, constraints=pairs)
    quick = influential_answers(model, X, pairs)
    by_report = np.zeros(N_RANKED)
    by_report[quick.positions] = np.arange(len(quick.positions), 0, -1)
    by_fits = np.array(
        [n_moved_without(X, pairs, at, model.labels_, n_clusters, seed) for at in range(N_RANKED)]
    )
    first = np.argsort(-by_report, kind="stable")[:10]
    most = np.argsort(-by_fits, kind="stable")[:5]
    return {
        "rank correlation": float(spearmanr(by_report, by_fits).statistic),
        "of the five that matter most": float(np.isin(most, first).mean()),
        "rows moved, on average": float(by_fits.mean()),
    }


def n_moved_without(X, pairs, at: int, labels: np.ndarray, n_clusters: int, seed: int) -> int:
    """Rows in another cluster after a fit without one answer; clusters matched one to one."""
    rest = pairs.subset(np.arange(pairs.n_answers) != at)
    other = GuidedClustering(n_clusters, random_state=seed).fit(X, constraints=rest).labels_
    shared = contingency_matrix(labels, other)
    return len(labels) - int(shared[linear_sum_assignment(-shared)].sum())


def some_digits() -> tuple[np.ndarray, np.ndarray]:
    digits = load_digits()
    return np.asarray(digits.X)[:300], np.asarray(digits.y)[:300]


RANKED = {
    "digits": some_digits,
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "moons": lambda: make_moons(200, noise=0.15, random_state=0),
}


def run_names(*, table: str, seed: int) -> dict[str, float]:
    """How often the column that differs is named first."""
    first = 0
    for draw in range(N_TABLES):
        rng = np.random.default_rng((seed, draw))
        labels = np.repeat(np.arange(N_CLUSTERS), CLUSTER_ROWS)
        X = rng.normal(size=(len(labels), N_COLUMNS))
        cluster, planted = rng.integers(N_CLUSTERS), rng.integers(N_COLUMNS)
        X[labels == cluster, planted] += rng.choice([-1, 1]) * rng.uniform(1, 2)
        names = [f"column {j}" for j in range(N_COLUMNS)]
        described = describe_clusters(given_clusters(X, labels), X, feature_names=names)
        traits = described[cluster].traits
        first += bool(traits) and traits[0].what == names[planted]
    return {"named first": first / N_TABLES}


def given_clusters(X: np.ndarray, labels: np.ndarray) -> GuidedClustering:
    """A model whose clusters are these: the description alone is measured."""
    model = copy(fitted_once(X.shape))
    model.labels_ = model.nearest_labels_ = labels
    return model


@lru_cache(maxsize=1)
def fitted_once(shape: tuple[int, int]) -> GuidedClustering:
    rows = np.random.default_rng(0).normal(size=shape)
    return GuidedClustering(N_CLUSTERS, n_init=1, random_state=0).fit(rows)


TABLES = (
    Table(
        "map",
        "The map of digits after 200 pairs, by the way it is made",
        cells=lambda: [{"data": "digits", "method": name} for name in ("projection", "layout")],
        run=lambda *, data, method, seed: run_map(method=method, seed=seed),
        rows=("data",),
        columns="method",
        measures=("neighbors in the cluster", "trustworthiness", "CPU seconds"),
    ),
    Table(
        "size",
        "The layout by the number of rows",
        cells=lambda: [{"data": "made groups", "rows": rows} for rows in SIZES],
        run=lambda *, data, rows, seed: run_size(rows=rows, seed=seed),
        rows=("data",),
        columns="rows",
        measures=(
            "CPU seconds",
            "CPU seconds from the last layout",
            "share of the width moved",
            "neighbors in the group",
            "trustworthiness",
        ),
    ),
    Table(
        "ranking",
        "The report's ranking of answers beside fits without each",
        cells=lambda: [{"data": data, "answers": "30 pairs"} for data in RANKED],
        run=lambda *, data, answers, seed: run_ranking(data=data, seed=seed),
        rows=("data",),
        columns="answers",
        measures=(
            "rank correlation",
            "of the five that matter most",
            "rows moved, on average",
        ),
    ),
    Table(
        "names",
        "The share of made tables in which the planted column is named first",
        cells=lambda: [{"data": "made tables", "table": "planted"}],
        run=lambda *, data, table, seed: run_names(table=table, seed=seed),
        rows=("data",),
        columns="table",
        measures=("named first",),
    ),
)
