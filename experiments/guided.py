"""What GuidedClustering promises, measured: `python -m experiments guided [TABLE]`.

There is no paper behind these. Sets with an even place in the list of labelled sets were used to
tune it, the others were not, and the two halves are reported apart. Sets beyond 1,000
rows are thinned by class. Scores are the adjusted Rand index (ARI), also of the rows that no answer
touches ("free rows").
"""

import resource
import sys
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.semi_supervised import LabelSpreading

from experiments.published import PublishedTable
from experiments.runs import Record, Table, summarize
from likewise.cluster import GraphPropagation
from likewise.constraints import Constraints
from likewise.datasets import Dataset, fetch, labelled_sets, load_digits
from likewise.evaluation import free_row_score
from likewise.guided import GuidedClustering, fit_preparation
from likewise.kernel_learning import fit_start
from likewise.metric_learning import ITML

N_INIT = 10
MOST_ROWS = 1000
KINDS = ("pairs", "odd one out")
COUNTS = (10, 30, 100, 300)
METHODS = ("k-means", "no answers", "guided")
FREE = "ARI of free rows"
HARM_VERDICT = "Where answers helped and where they hurt, by half of the sets"
MIN_FREE = 50  # free rows below which their score is mostly chance

RIVALS = ("k-means", "ITML", "guided")
TUNED_ON = (  # every second set by name: what decision 7 was made on
    "balance_scale",
    "digits",
    "fashion_mnist_test10k",
    "heart_statlog",
    "iris",
    "letterIJL_mpck",
    "mnist",
    "optdigits",
    "protein_xing",
    "sonar",
    "synthetic_control",
    "usps_roweis11000",
    "wine",
)
N_PAIRS = 200

DIGIT_PAIRS = (200, 2000)
NOISE = (0.0, 0.1, 0.2)
CLICK_SETS = (
    "digits",
    "usps_libsvm9298",
    "optdigits",
    "mnist",
    "vehicle",
    "ionosphere",
    "synthetic_control",
)
CLICKS = (30, 50, 100)
CLICK_METHODS = ("k-means", "spectral", "LabelSpreading", "GraphPropagation", "guided")
CLICK_ROWS = 800  # of digits 1,000
FIRST_SEED = 100  # seeds 0 to 9 are for tuning
COUNTED = ("none", "100 pairs", "300 pairs", "30 clicks")
FIRST_COUNT_SEED = 3  # seeds 0 to 2 are for tuning
COUNT_VERDICT = "How often the number of clusters is that of the classes, by half of the sets"
RIGHT_AT_0564D77 = {  # share of runs at that commit: 3 runs of every set, the same seeds
    ("tuned on", "100 pairs"): 15 / 39,
    ("other", "100 pairs"): 16 / 36,
}
PERMUTED = ("pairs", "odd one out", "labels")
PERMUTED_COUNTS = (30, 60, 200)
ROWS = (200, 2_000, 20_000, 200_000, 1_000_000)
SIZE_MEASURES = ("ARI", "CPU seconds", "peak memory in MB")


def run_harm(*, data: str, kind: str, answers: int, method: str, seed: int) -> dict[str, float]:
    """ARI with answers, without, and of k-means on the same rows."""
    X, y = load(data)
    told = draw(y, kind, answers, seed)
    if method == "k-means":
        labels = plain_labels(data, seed)
    elif method == "no answers":
        labels = own_labels(data, seed)
    else:
        labels = guided(X, y, told, seed).labels_
    free = np.setdiff1d(np.arange(len(y)), told.touched_rows())
    free_score = free_row_score(y, labels, told) if len(free) >= MIN_FREE else np.nan
    return {"ARI": adjusted_rand_score(y, labels), FREE: free_score}


def run_rival(*, data: str, method: str, seed: int) -> dict[str, float]:
    """ARI from the same 200 pairs, half of them must-links, on the same features."""
    X, y = load(data)
    told = draw(y, "pairs", N_PAIRS, seed)
    if method == "guided":
        return {"ARI": adjusted_rand_score(y, guided(X, y, told, seed).labels_)}
    if method == "ITML":
        X = ITML(random_state=seed).fit(X := scaled(X), constraints=told).transform(X)
        return {"ARI": adjusted_rand_score(y, kmeans(X, y, seed))}
    return {"ARI": adjusted_rand_score(y, plain_labels(data, seed))}


def run_digits(*, pairs: int, noise: float, method: str, seed: int) -> dict[str, float]:
    """ARI on scikit-learn's digits over 16, and how well wrong answers are found."""
    seed += FIRST_SEED
    digits = load_digits()
    X, y = digits.X / 16, np.asarray(digits.y)
    half = pairs // 2
    told = Constraints.from_labels(
        y, n_must_link=half, n_cannot_link=half, noise=noise, random_state=seed
    )
    nothing = {"precision": np.nan, "recall": np.nan}
    if method == "ITML":
        Z = ITML(random_state=seed).fit(X, constraints=told).transform(X)
        return {"ARI": adjusted_rand_score(y, kmeans(Z, y, seed))} | nothing
    if method == "k-means":
        return {"ARI": adjusted_rand_score(y, kmeans(X, y, seed))} | nothing
    model = guided(X, y, told, seed)
    found = precision_and_recall(model.doubtful_, wrong_pairs(told, y)) if noise else nothing
    return {"ARI": adjusted_rand_score(y, model.labels_)} | found


def run_count(*, data: str, answers: str, seed: int) -> dict[str, float]:
    """The number of clusters found from random pairs, or labels of medoids, beside the true one."""
    X, y = load(data)
    seed += FIRST_COUNT_SEED
    number, kind = answers.split() if answers != "none" else ("0", "pairs")
    if kind == "pairs":
        drawn = Constraints.from_labels(y, n_pairs=int(number), random_state=seed)
    else:
        medoids = clicked_rows(X, int(number), seed)
        known = np.full(len(y), -1)
        known[medoids] = np.unique(y, return_inverse=True)[1][medoids]
        drawn = Constraints.from_partial_labels(known)
    model = GuidedClustering(random_state=seed).fit(X, constraints=drawn)
    k = len(np.unique(y))
    return {
        "clusters": model.n_clusters_,
        "classes": k,
        "right": float(model.n_clusters_ == k),
        "ARI": adjusted_rand_score(y, model.labels_),
    }


def run_clicks(*, data: str, clicks: int, method: str, seed: int) -> dict[str, float]:
    """ARI of all rows when some are labeled: medoids of k-means in diffusion coordinates."""
    X, y, known = click(data, clicks, seed + FIRST_SEED)
    k = len(np.unique(y))
    if method == "k-means":
        return {"ARI": adjusted_rand_score(y, kmeans(scaled(X), y, seed))}
    if method == "spectral":
        return {"ARI": adjusted_rand_score(y, spectral(X, y, seed))}
    if method == "LabelSpreading":
        spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.98, max_iter=1000, tol=1e-6)
        return {"ARI": adjusted_rand_score(y, spread.fit(scaled(X), known).transduction_)}
    answers = Constraints.from_partial_labels(known)
    if method == "GraphPropagation":
        model = GraphPropagation(k, random_state=seed).fit(scaled(X), constraints=answers)
    else:
        model = guided(X, y, answers, seed)
    return {"ARI": adjusted_rand_score(y, model.labels_)}


def click(data: str, n_clicks: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their classes, and the classes of the rows clicked, -1 for the others."""
    found = load_digits() if data == "digits" else fetch(data)
    labels = np.asarray(found.y)
    n_rows = 1000 if data == "digits" else CLICK_ROWS
    rows = np.random.default_rng(seed).permutation(len(labels))[:n_rows]
    X = np.asarray(found.X, dtype=np.float64)[rows] / (16 if data == "digits" else 1)
    y = np.unique(labels[rows], return_inverse=True)[1]
    medoids = clicked_rows(X, n_clicks, seed)
    known = np.full(len(y), -1)
    known[medoids] = y[medoids]
    return X, y, known


def clicked_rows(X: np.ndarray, n_clicks: int, seed: int) -> np.ndarray:
    """The medoids of k-means with as many clusters as clicks, in diffusion coordinates."""
    Z = fit_start("diffusion", scaled(X), random_state=seed).transform(scaled(X))
    model = KMeans(n_clicks, n_init=3, random_state=seed).fit(Z)
    return np.unique(model.transform(Z).argmin(axis=0))


def run_permuted(*, data: str, kind: str, answers: int, seed: int) -> dict[str, float]:
    """Whether answers about permuted rows change the cluster of any row they do not refer to."""
    seed += FIRST_SEED
    X, y = load(data)
    rng = np.random.default_rng(seed)
    permuted = rng.permutation(np.unique(y, return_inverse=True)[1])
    if kind == "labels":
        known = np.full(len(y), -1)
        labeled = rng.choice(len(y), min(answers, len(y) // 2), replace=False)
        known[labeled] = permuted[labeled]
        drawn = Constraints.from_partial_labels(known)
    else:
        drawn = draw(permuted, kind, answers, seed)
    labels = guided(X, y, drawn, seed).labels_
    free = np.setdiff1d(np.arange(len(y)), drawn.touched_rows())
    own = own_labels(data, seed)
    same = adjusted_rand_score(own[free], labels[free]) == 1 if len(free) else True
    return {"learned": float(not same)}


def conclude_clicks(records: list[Record]) -> list[str]:
    found = summarize(records, ("clicks", "method"), "ARI")
    means = [f"{one} clicks {found[str(one), 'guided'].mean:.3f}" for one in CLICKS]
    return [f"Mean of the sets, guided: {', '.join(means)}."]


def conclude_permuted(records: list[Record]) -> list[str]:
    learned = np.array([float(one["learned"]) for one in records])
    return [f"Something is learned in {learned.mean():.1%} of {len(learned)} fits."]


def run_size(*, rows: int, seed: int) -> dict[str, float]:
    """One call on made data of many rows, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(measure_size, rows, seed).result()


def measure_size(rows: int, seed: int) -> dict[str, float]:
    X, y = make_blobs(rows, n_features=20, centers=12, cluster_std=3.0, random_state=seed)
    y //= 2  # six classes, of two blobs each
    told = Constraints.from_labels(y, n_must_link=100, n_cannot_link=100, random_state=seed)
    started = time.process_time()
    labels = guided(X.astype(np.float32), y, told, seed).labels_
    seconds = time.process_time() - started
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return dict(zip(SIZE_MEASURES, (adjusted_rand_score(y, labels), seconds, peak)))


def guided(X: np.ndarray, y: np.ndarray, told: Constraints | None, seed: int) -> GuidedClustering:
    model = GuidedClustering(len(np.unique(y)), n_init=N_INIT, random_state=seed)
    return model.fit(X, constraints=told)


def scaled(X: np.ndarray) -> np.ndarray:
    """The features as GuidedClustering takes them, for a fair comparison."""
    return fit_preparation(X).map.transform(X)


def kmeans(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    return KMeans(len(np.unique(y)), n_init=N_INIT, random_state=seed).fit_predict(X)


def spectral(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Spectral clusters of the neighbor graph; it is no fault if its parts are not connected."""
    model = SpectralClustering(
        len(np.unique(y)), affinity="nearest_neighbors", n_neighbors=10, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit_predict(scaled(X))


@lru_cache(maxsize=64)
def plain_labels(data: str, seed: int) -> np.ndarray:
    """k-means on the features as they come; the cells of a seed share it."""
    X, y = load(data)
    return kmeans(X, y, seed)


@lru_cache(maxsize=64)
def spectral_labels(data: str, seed: int) -> np.ndarray:
    X, y = load(data)
    return spectral(X, y, seed)


@lru_cache(maxsize=64)
def own_labels(data: str, seed: int) -> np.ndarray:
    X, y = load(data)
    return guided(X, y, None, seed).labels_


def draw(y: np.ndarray, kind: str, n_answers: int, seed: int) -> Constraints:
    if kind == "pairs":
        half = n_answers // 2
        return Constraints.from_labels(y, n_must_link=half, n_cannot_link=half, random_state=seed)
    return Constraints.from_labels(y, n_odd_one_out=n_answers, random_state=seed)


def wrong_pairs(told: Constraints, y: np.ndarray) -> np.ndarray:
    """(n_answers,) which pairs the labels contradict."""
    pairs, sign = told.signed_pairs()
    return (y[pairs[:, 0]] == y[pairs[:, 1]]) != (sign > 0)


def precision_and_recall(doubtful: np.ndarray, is_wrong: np.ndarray) -> dict[str, float]:
    found = is_wrong[doubtful].sum()
    return {
        "precision": found / len(doubtful) if len(doubtful) else np.nan,
        "recall": found / is_wrong.sum() if is_wrong.any() else np.nan,
    }


@lru_cache(maxsize=64)
def thinned() -> dict[str, Dataset]:
    return {data.name: data for data in labelled_sets(MOST_ROWS)}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = thinned()[name]
    return np.asarray(data.X, dtype=np.float64), np.asarray(data.y)


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    return tuple(data.name for data in labelled_sets(30))


def half_of(data: str) -> str:
    return "tuned on" if data in TUNED_ON else "other"


def compare_harm(records: list[Record]) -> PublishedTable:
    """For each half and number of answers: how often answers helped, and where they hurt."""
    lines = []
    for measure, what in (("ARI", "all"), (FREE, "free")):
        for half in ("tuned on", "other"):
            for kind in KINDS:
                for count in COUNTS:
                    part = [
                        record
                        for record in records
                        if half_of(record["data"]) == half
                        and (record["kind"], record["answers"]) == (kind, str(count))
                        and record[measure] != "nan"
                    ]
                    if part:
                        better, hurt, n_sets = compare(part, measure)
                        cells = [half, str(count), kind, what, str(n_sets), f"{better:.0%}"]
                        lines.append([*cells, ", ".join(hurt) or "none"])
    fields = ["half", "answers", "kind", "rows", "sets", "better", "hurt"]
    return PublishedTable(fields, lines, [("title", HARM_VERDICT)])


def compare(records: list[Record], measure: str) -> tuple[float, list[str], int]:
    """Share of sets where guided is above both others, and those where it is a standard error
    below the better of them."""
    found = summarize(records, ("data", "method"), measure)
    sets = list(dict.fromkeys(record["data"] for record in records))
    sets = [one for one in sets if all((one, method) in found for method in METHODS)]
    better, hurt = 0, []
    for one in sets:
        mean, error, _ = found[one, "guided"]
        bar = max(found[one, method].mean for method in METHODS[:2])
        better += mean > bar
        if mean < bar - np.nan_to_num(error):
            hurt.append(f"{one} {mean - bar:+.3f}")
    return better / max(len(sets), 1), hurt, len(sets)


def conclude_rivals(records: list[Record]) -> list[str]:
    found = summarize(records, ("data", "method"), "ARI")
    lines = []
    for half in ("tuned on", "other"):
        sets = [one for one, by in found if by == "ITML" and half_of(one) == half]
        if sets:
            gaps = {one: found[one, "guided"].mean - found[one, "ITML"].mean for one in sets}
            below = [f"{one} {gap:+.3f}" for one, gap in gaps.items() if gap < -0.02]
            wins = sum(gap > 0 for gap in gaps.values())
            lines.append(
                f"Sets {half}: above ITML on {wins} of {len(sets)}; more than .02 below it on "
                f"{', '.join(below) or 'none'}."
            )
    return lines


def compare_counts(records: list[Record]) -> PublishedTable:
    """How often the number of clusters is that of the classes, by half of the sets."""
    lines = []
    for half in ("tuned on", "other"):
        for answers in COUNTED:
            gaps = np.array(
                [
                    float(record["clusters"]) - float(record["classes"])
                    for record in records
                    if half_of(record["data"]) == half and record["answers"] == answers
                ]
            )
            if len(gaps):
                shares = [f"{np.mean(gaps == 0):.0%}", f"{np.mean(np.abs(gaps) <= 1):.0%}"]
                before = RIGHT_AT_0564D77.get((half, answers))
                before_text = "" if before is None else f"{before:.0%}"
                lines.append([half, answers, str(len(gaps)), *shares, before_text])
    fields = ["half", "answers", "runs", "right", "within one", "right at 0564d77"]
    return PublishedTable(fields, lines, [("title", COUNT_VERDICT)])


def conclude_counts(records: list[Record]) -> list[str]:
    found = summarize(records, ("answers",), "right")
    shares = [f"{answers} {found[(answers,)].mean:.0%}" for answers in COUNTED]
    return [f"Right in this share of runs: {', '.join(shares)}."]


def cells_of(**choices: Iterable) -> list[dict]:
    """Every combination, the first choice slowest."""
    cells: list[dict] = [{}]
    for name, values in choices.items():
        cells = [{**cell, name: value} for cell in cells for value in list(values)]
    return cells


TABLES = (
    Table(
        "harm",
        "ARI with a few answers, with none, and of k-means: answers must not hurt",
        cells=lambda: cells_of(data=names(), kind=KINDS, answers=COUNTS, method=METHODS),
        run=run_harm,
        rows=("data", "kind", "answers"),
        columns="method",
        measures=("ARI", FREE),
        data=names,
        compare=compare_harm,
    ),
    Table(
        "rivals",
        f"ARI from {N_PAIRS} pairs, half of them must-links",
        cells=lambda: cells_of(data=names(), method=RIVALS),
        run=run_rival,
        rows=("data",),
        columns="method",
        data=names,
        conclude=conclude_rivals,
    ),
    Table(
        "digits",
        "Digits: ARI by pairs and the share of them that is wrong, and precision and "
        "recall of doubtful answers",
        cells=lambda: cells_of(pairs=DIGIT_PAIRS, noise=NOISE, method=RIVALS),
        run=run_digits,
        rows=("pairs", "noise"),
        columns="method",
        measures=("ARI", "precision", "recall"),
        first_seed=FIRST_SEED,
    ),
    Table(
        "counts",
        "The number of clusters found, compared with the number of classes",
        cells=lambda: cells_of(data=names(), answers=COUNTED),
        run=run_count,
        rows=("data",),
        columns="answers",
        measures=("clusters", "classes", "right", "ARI"),
        data=names,
        conclude=conclude_counts,
        compare=compare_counts,
        first_seed=FIRST_COUNT_SEED,
    ),
    Table(
        "clicks",
        "ARI when 30, 50 or 100 rows are labeled, k given",
        cells=lambda: cells_of(data=CLICK_SETS, clicks=CLICKS, method=CLICK_METHODS),
        run=run_clicks,
        rows=("data", "clicks"),
        columns="method",
        data=lambda: tuple(name for name in CLICK_SETS if name != "digits"),
        conclude=conclude_clicks,
        first_seed=FIRST_SEED,
    ),
    Table(
        "permuted",
        "Share of fits to permuted answers that learn something",
        cells=lambda: cells_of(data=names(), kind=PERMUTED, answers=PERMUTED_COUNTS),
        run=run_permuted,
        rows=("data", "kind"),
        columns="answers",
        measures=("learned",),
        data=names,
        conclude=conclude_permuted,
        first_seed=FIRST_SEED,
    ),
    Table(
        "size",
        "One call from 200 to 1,000,000 made rows: CPU seconds and peak memory",
        cells=lambda: cells_of(rows=ROWS),
        run=run_size,
        rows=(),
        columns="rows",
        measures=SIZE_MEASURES,
    ),
)
