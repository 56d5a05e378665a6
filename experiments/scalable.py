"""The experiments of yeung2007, and ours beside them: `python -m experiments scalable [TABLE]`.

J, the mean distance across classes over that inside them, is the paper's only measure. What it does
not say, and what we took: an RBF kernel whose width is the mean squared distance, eigenvalues above
a thousandth of the largest, eight neighbors, pixels from 0 to 1. The paper's method is
``SpectralReweighting(contrast=False, n_passes=3, cut=1e-3)``. The images are drawn once, the
must-links anew for every seed, as in the paper.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from experiments.figures import draw_linked_points
from experiments.runs import Record, Table
from likewise.constraints import Constraints
from likewise.datasets import fetch, make_xor
from likewise.evaluation import separation_score
from likewise.kernel_learning import SpectralReweighting
from likewise.kernels import rbf, rbf_theta, sq_distance_blocks
from likewise.metric_learning import RCA
from likewise.numerics.psd import positive_part

N_PAIRS, N_PASSES = 50, 3
CUT, FLOOR = 1e-3, 1e-3
XOR_ROWS, XOR_LANDMARKS = 8000, tuple(range(100, 900, 100))
FIGURE_ROWS, FIGURE_NEW, FIGURE_PAIRS, FIGURE_LANDMARKS = 360, 40, 20, 40
N_LANDMARKS = 100
N_IMAGES = 2000  # of a digit
DIGITS = ("01", "13", "15", "17", "19", "012", "678", "019", "3456")
SETS = ("isolet", *(f"mnist {digits}" for digits in DIGITS))
UNLEARNED = f"start, m = {N_LANDMARKS}"  # the same landmarks, with the weights of the kernel
TABLE2_METHODS = ("input", "RBF", "RCA", "full", UNLEARNED, f"m = {N_LANDMARKS}")

SENSITIVE_SETS = ("xor", "isolet", "mnist 01")
SENSITIVE_LANDMARKS, SENSITIVE_XOR_ROWS = 200, 2000
WIDTHS, CUTS = (0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1e-3, 1e-2)
NOISY_SETS = ("isolet", "mnist 01", "mnist 17")
SHARES_WRONG = (0.0, 0.1, 0.2, 0.3)
BEYOND_SETS = ("isolet", "mnist 01", "mnist 13", "mnist 15", "mnist 17", "mnist 19")
BEYOND_LANDMARKS = 300
KINDS: dict[str, dict[str, int]] = {
    "none": {"n_pairs": 0},
    "50 must-links": {"n_must_link": 50},
    "25 + 25 cannot-links": {"n_must_link": 25, "n_cannot_link": 25},
    "50 + 50 cannot-links": {"n_must_link": 50, "n_cannot_link": 50},
    "50 cannot-links": {"n_cannot_link": 50},
    "50 + 50 triples": {"n_must_link": 50, "n_odd_one_out": 50},
    "50 triples": {"n_odd_one_out": 50},
}

PUBLISHED1 = dict(
    zip(
        ("input", "RBF", "RCA", *(f"m = {m}" for m in XOR_LANDMARKS)),
        (
            *("1.2460", "1.4253", "1.2552 ± .19", "2.8657 ± 1.28", "3.0886 ± .42"),
            *("3.5640 ± .78", "3.8422 ± 1.25", "4.2378 ± .99", "4.6395 ± .68"),
            *("4.8334 ± .90", "4.7463 ± .65"),
        ),
    )
)
PUBLISHED2 = {  # input, RBF, RCA, landmarks; ± is the standard deviation of 10 runs
    "isolet": ("1.3888", "1.2477", "1.3049 ± .0030", "2.7938 ± .0430"),
    "mnist 01": ("1.3914", "1.2460", "1.2970 ± .0324", "2.9078 ± .4614"),
    "mnist 13": ("1.2124", "1.1447", "1.1779 ± .0270", "1.7070 ± .2252"),
    "mnist 15": ("1.1920", "1.1357", "1.1705 ± .0283", "1.4015 ± .1400"),
    "mnist 17": ("1.2458", "1.1570", "1.1820 ± .0399", "1.5463 ± .2055"),
    "mnist 19": ("1.2379", "1.1548", "1.2086 ± .0391", "1.7023 ± .3567"),
    "mnist 012": ("1.2408", "1.1598", "1.1844 ± .0311", "1.8620 ± .3160"),
    "mnist 678": ("1.1534", "1.0963", "1.1207 ± .0160", "1.6233 ± .1996"),
    "mnist 019": ("1.2779", "1.1796", "1.2087 ± .0200", "1.9608 ± .1884"),
    "mnist 3456": ("1.1162", "1.0729", "1.0793 ± .0110", "1.2945 ± .0667"),
}


def run_figure(*, method: str, seed: int) -> dict[str, float]:
    """J of the rows of figure 1 and of its new rows, in one method's space."""
    X, y, answers = figure_data(seed)
    if method == "RBF":
        theta = rbf_theta(X[:FIGURE_ROWS])
        old, new = slice(None, FIGURE_ROWS), slice(FIGURE_ROWS, None)
        scores = [kernel_separation(X[part], y[part], theta) for part in (old, new)]
    else:
        Z = figure_space(method, X, answers)(X)
        scores = [separation_score(Z[:FIGURE_ROWS], y[:FIGURE_ROWS])]
        scores.append(separation_score(Z[FIGURE_ROWS:], y[FIGURE_ROWS:]))
    return dict(zip(("J", "J of new rows"), scores))


def figure_data(seed: int) -> tuple[np.ndarray, np.ndarray, Constraints]:
    """Rows and classes, the new rows last, and must-links among the others."""
    data = make_xor(FIGURE_ROWS + FIGURE_NEW, random_state=seed)
    y = np.asarray(data.y)
    answers = Constraints.from_labels(y[:FIGURE_ROWS], n_must_link=FIGURE_PAIRS, random_state=seed)
    return data.X, y, answers


def figure_space(method: str, X: np.ndarray, answers: Constraints) -> Callable:
    """The map that a method learns from the rows that are not new."""
    learners: dict[str, Any] = {
        "RCA": RCA(),
        "RBF": SpectralReweighting(n_landmarks=FIGURE_ROWS, cut=0.0),
        "full": paper_method(FIGURE_ROWS),
        f"m = {FIGURE_LANDMARKS}": paper_method(FIGURE_LANDMARKS),
    }
    if method == "input":
        return lambda rows: rows
    told = None if method == "RBF" else answers
    return learners[method].fit(X[:FIGURE_ROWS], constraints=told).transform


def draw_figure(records: list[Record], path: Path) -> None:
    """Figure 1 at seed 0: rows, new rows, RCA, and leading directions of three kernels."""
    X, y, answers = figure_data(0)
    none = np.empty((0, 2), dtype=np.int64)
    new = slice(FIGURE_ROWS, None)
    panels = {
        "(a) rows and must-links": (X[:FIGURE_ROWS], y[:FIGURE_ROWS], answers.must_link),
        "(b) new rows": (X[new], y[new], none),
    }
    names = {"RCA": "(c)", "RBF": "(d)", "full": "(e)", f"m = {FIGURE_LANDMARKS}": "(f)"}
    for method, letter in names.items():
        Z = figure_space(method, X, answers)(X)
        flat = Z if method == "RCA" else PCA(2).fit(Z[:FIGURE_ROWS]).transform(Z)
        panels[f"{letter} {method}"] = (flat, y, none)
    draw_linked_points(panels, path)


def paper_method(n_landmarks: int, seed: int = 0, **settings) -> SpectralReweighting:
    """Must-links alone, the map made three times."""
    settings = {"contrast": False, "n_passes": N_PASSES, "cut": CUT, "floor": FLOOR} | settings
    return SpectralReweighting(n_landmarks=n_landmarks, random_state=seed, **settings)


def run_set(*, data: str, method: str, seed: int) -> dict[str, float]:
    """J on XOR, isolet or some digits."""
    return {"J": score(data, method, seed)}


def score(data: str, method: str, seed: int) -> float:
    """J in the space that a method learns from must-links."""
    if method in ("input", "RBF"):  # no answer enters: the same for every seed
        return score_start(data, method)
    X, y = load(data)
    answers = Constraints.from_labels(y, n_must_link=N_PAIRS, random_state=seed)
    if method == "RCA":
        Z = RCA().fit(X, constraints=answers).transform(X)
    elif method == "full":
        Z = full_method(data, answers)
    elif method == UNLEARNED:
        space = paper_method(N_LANDMARKS, seed, n_passes=1).fit(X, constraints=answers)
        Z = space.transform(X) / space.weights_ * np.sqrt(space.eigenvalues_)
    else:
        space = paper_method(int(method.split()[-1]), seed)
        Z = space.fit(X, constraints=answers).transform(X)
    return separation_score(Z, y)


@lru_cache
def score_start(data: str, method: str) -> float:
    """J before anything is learned."""
    X, y = load(data)
    return separation_score(X, y) if method == "input" else kernel_separation(X, y, rbf_theta(X))


def full_method(data: str, answers: Constraints) -> np.ndarray:
    """Coordinates (n, q) by the basic method: every row a landmark, so that the map is I."""
    vectors, values = eigenvectors(data)
    i, j = answers.must_link.T
    spread = np.square(vectors[i] - vectors[j]).mean(axis=0)
    weights = 1 / np.maximum(spread, FLOOR * spread.max())
    return vectors * (np.sqrt(values).sum() / weights.sum() * weights)  # equation (4)


@lru_cache
def eigenvectors(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the centered RBF kernel of all rows: they do not depend on the answers."""
    X, _ = load(data)
    K = rbf(X, theta=rbf_theta(X))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1, keepdims=True)
    part = positive_part(K, cutoff=CUT)
    return part.vectors, part.values


def kernel_separation(X: np.ndarray, y: np.ndarray, theta: float) -> float:
    """J by the distances of an RBF kernel, |phi(x) - phi(y)|^2 = 2 - 2 k(x, y)."""
    together = (y[:, None] == np.unique(y)).astype(np.float64)  # (n, k)
    within = total = 0.0
    for rows, sq_dists in sq_distance_blocks(X, X):
        dists = np.sqrt(2 - 2 * np.exp(-sq_dists / theta))
        total += dists.sum()
        within += ((dists @ together) * together[rows]).sum()
    sizes = together.sum(axis=0)
    n_within = (sizes * (sizes - 1)).sum()
    n_between = len(y) ** 2 - (sizes**2).sum()
    return float((total - within) / n_between / (within / n_within))


def run_sensitive(*, data: str, width: float, cut: float, seed: int) -> dict[str, float]:
    """J before and after, at a multiple of the width and a cut of the eigenvalues."""
    X, y = load("small xor" if data == "xor" else data)
    answers = Constraints.from_labels(y, n_must_link=N_PAIRS, random_state=seed)
    theta = width * rbf_theta(X)
    space = paper_method(SENSITIVE_LANDMARKS, seed, start=partial(rbf, theta=theta), cut=cut)
    Z = space.fit(X, constraints=answers).transform(X)
    return {"J": separation_score(Z, y), "J before": start_at(data, width)}


@lru_cache
def start_at(data: str, width: float) -> float:
    X, y = load("small xor" if data == "xor" else data)
    return kernel_separation(X, y, width * rbf_theta(X))


def run_noisy(*, data: str, wrong: float, method: str, seed: int) -> dict[str, float]:
    """J when a share of the pairs is wrong."""
    X, y = load(data)
    if method == "must-links":
        answers = wrong_must_links(y, wrong, seed)
        space = paper_method(N_LANDMARKS, seed)
    else:
        half = N_PAIRS // 2
        answers = Constraints.from_labels(
            y, n_must_link=half, n_cannot_link=half, noise=wrong, random_state=seed
        )
        space = SpectralReweighting(
            n_landmarks=N_LANDMARKS, n_passes=N_PASSES, cut=CUT, random_state=seed
        )
    return {"J": separation_score(space.fit(X, constraints=answers).transform(X), y)}


def wrong_must_links(y: np.ndarray, share: float, seed: int) -> Constraints:
    """Must-links of which a share joins rows of different classes."""
    n_wrong = round(share * N_PAIRS)
    drawn = Constraints.from_labels(
        y, n_must_link=N_PAIRS, n_cannot_link=N_PAIRS, random_state=seed
    )
    pairs = np.concatenate([drawn.must_link[n_wrong:], drawn.cannot_link[:n_wrong]])
    return Constraints(len(y), must_link=pairs)


def run_beyond(*, data: str, answers: str, seed: int) -> dict[str, float]:
    """J, and agreement of k-means with the classes, by answers of several kinds."""
    X, y = load(data)
    told = Constraints.from_labels(y, **KINDS[answers], random_state=seed)
    space = SpectralReweighting(n_landmarks=BEYOND_LANDMARKS, cut=CUT, random_state=seed)
    Z = space.fit(X, constraints=told).transform(X)
    labels = KMeans(len(np.unique(y)), n_init=3, random_state=seed).fit_predict(Z)
    return {"J": separation_score(Z, y), "ARI": adjusted_rand_score(y, labels)}


def run_cut(*, data: str, cut: float, seed: int) -> dict[str, float]:
    """J and ARI of the default, but for the cut, from must-links and cannot-links."""
    X, y = load(data)
    told = Constraints.from_labels(y, **KINDS["50 + 50 cannot-links"], random_state=seed)
    space = SpectralReweighting(n_landmarks=BEYOND_LANDMARKS, cut=cut, random_state=seed)
    Z = space.fit(X, constraints=told).transform(X)
    labels = KMeans(len(np.unique(y)), n_init=3, random_state=seed).fit_predict(Z)
    return {"J": separation_score(Z, y), "ARI": adjusted_rand_score(y, labels)}


@lru_cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes; images and XOR are drawn once, whatever the seed."""
    if name in ("xor", "small xor"):
        data = make_xor(XOR_ROWS if name == "xor" else SENSITIVE_XOR_ROWS, random_state=0)
        return data.X, np.asarray(data.y)
    if name == "isolet":
        data = fetch("isolet")
        return data.X, np.asarray(data.y)
    mnist = fetch("mnist")
    y = np.asarray(mnist.y)[:60_000]
    rng = np.random.RandomState(0)
    chosen = [
        rng.choice(np.flatnonzero(y == int(digit)), N_IMAGES, replace=False)
        for digit in name.removeprefix("mnist ")
    ]
    rows = np.concatenate(chosen)
    return mnist.X[rows] / np.float32(255), y[rows]


TABLES = (
    Table(
        "figure1",
        "Figure 1: J on XOR, 360 rows and 40 new ones, 20 must-links, 40 landmarks",
        cells=lambda: [
            {"method": method}
            for method in ("input", "RCA", "RBF", "full", f"m = {FIGURE_LANDMARKS}")
        ],
        run=run_figure,
        rows=(),
        columns="method",
        measures=("J", "J of new rows"),
        draw=draw_figure,
    ),
    Table(
        "table1",
        "Table 1: J on XOR, 8,000 rows, 50 must-links, by landmarks (published ± deviation)",
        cells=lambda: [{"data": "xor", "method": method} for method in PUBLISHED1],
        run=run_set,
        rows=("method",),
        columns="data",
        measures=("J",),
        published=lambda cell: PUBLISHED1[cell["method"]],
    ),
    Table(
        "table2",
        "Table 2: J, 50 must-links, 100 landmarks (published ± deviation)",
        cells=lambda: [
            {"data": data, "method": method} for data in SETS for method in TABLE2_METHODS
        ],
        run=run_set,
        rows=("data",),
        columns="method",
        measures=("J",),
        data=lambda: ("isolet", "mnist"),
        published=lambda cell: published2(cell["data"], cell["method"]),
    ),
    Table(
        "sensitivity",
        "J by the width of the kernel, in mean squared distances, and by the cut of eigenvalues",
        cells=lambda: [
            {"data": data, "width": width, "cut": cut}
            for data in SENSITIVE_SETS
            for width in WIDTHS
            for cut in CUTS
        ],
        run=run_sensitive,
        rows=("data", "width"),
        columns="cut",
        measures=("J", "J before"),
        data=lambda: ("isolet", "mnist"),
    ),
    Table(
        "cut",
        "The default from 50 must-links and 50 cannot-links, by the cut of eigenvalues",
        cells=lambda: [{"data": data, "cut": cut} for data in BEYOND_SETS for cut in CUTS[1:]],
        run=run_cut,
        rows=("data",),
        columns="cut",
        measures=("J", "ARI"),
        data=lambda: ("isolet", "mnist"),
    ),
    Table(
        "noise",
        "J when a share of 50 pairs is wrong",
        cells=lambda: [
            {"data": data, "method": method, "wrong": wrong}
            for data in NOISY_SETS
            for method in ("must-links", "both kinds")
            for wrong in SHARES_WRONG
        ],
        run=run_noisy,
        rows=("data", "method"),
        columns="wrong",
        measures=("J",),
        data=lambda: ("isolet", "mnist"),
    ),
    Table(
        "beyond",
        "Cannot-links and triples in addition to must-links: J and ARI of k-means",
        cells=lambda: [{"data": data, "answers": kind} for data in BEYOND_SETS for kind in KINDS],
        run=run_beyond,
        rows=("data",),
        columns="answers",
        measures=("J", "ARI"),
        data=lambda: ("isolet", "mnist"),
    ),
)


def published2(data: str, method: str) -> str:
    """The figure of table 2, where there is one; the paper does not run all of ours."""
    names = tuple(name for name in TABLE2_METHODS if name not in ("full", UNLEARNED))
    return dict(zip(names, PUBLISHED2[data])).get(method, "")
