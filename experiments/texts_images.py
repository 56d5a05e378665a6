"""Texts and folders of images, one call: `python -m experiments texts_images [TABLE]`.

There is no paper behind these. 1,000 texts or images of each set, drawn anew in each run, go to
every method by the same features; images are written as PNG files and read from their folder. k is
given, but to HDBSCAN. Clicks are the classes of rows drawn at random, the same for all methods.

    k-means           on the features; with clicks from the means of the clicked rows of each class,
                      where every class was clicked
    UMAP + HDBSCAN    BERTopic's pipeline with its own settings, clicks as its labels of some texts;
                      rows that it calls noise are a cluster of their own
    UMAP + k-means    the same with k-means for HDBSCAN, as BERTopic offers
    guided            GuidedClustering

The tables "texts" and "images" need no network: tf-idf, histograms. "embedded" has the same sets by
networks (extra `embed`). Without natural photos, clothes of 28 x 28 pixels are the test of images.
UMAP and HDBSCAN are compared where they are installed (pip install umap-learn hdbscan).
"directions" has the same texts by 25 to 200 of the leading directions of their terms.
Seeds are from 100 on: 0 to 9 are for tuning, on newsgroups and the first 38 intents of banking77.

"bertopic" is BERTopic itself (pip install bertopic) with 300 pairs about the same texts, by tf-idf:

    as it is          its own HDBSCAN, which takes no pairs
    with pairs        hdbscan_model=BoundClusterer(COPKMeans(k), pairs)
    guided            GuidedClustering on the same features and pairs, without BERTopic
"""

import tempfile
import warnings
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.features import seeded_kmeans
from experiments.runs import Record, Table, data_of, summarize
from likewise.cluster import COPKMeans
from likewise.constraints import Constraints
from likewise.datasets import fetch
from likewise.evaluation import BoundClusterer, free_row_score, satisfaction_score
from likewise.features import ImageFeatures, TextFeatures
from likewise.guided import GuidedClustering

INTENTS = {  # of banking77, by number
    "banking77_text 0-19": range(20),
    "banking77_text 57-76": range(57, 77),
    "banking77_text all": range(77),
}
TEXTS = ("newsgroups20_text150", "reuters_r8_text", *INTENTS)
IMAGES = ("fashion_mnist_test10k", "mnist")
CLICKS = (0, 30, 100)
OURS, PLAIN = "guided", "k-means"
UMAPS = ("UMAP + HDBSCAN", "UMAP + k-means")
N_ROWS = 1000
FIRST_SEED = 100
COMPONENTS = (25, 50, 100, 200)
# BERTopic 0.17's own: bertopic/_bertopic.py
N_NEIGHBORS, N_DIMENSIONS, SMALLEST_CLUSTER = 15, 5, 10
TOPICS = ("as it is", "with pairs")
N_PAIRS = 300


def run_cell(
    *, data: str, clicks: int, method: str, seed: int, by_network: bool = False
) -> dict[str, float]:
    """ARI of all rows."""
    seed += FIRST_SEED
    X, y = load(data, seed, by_network)
    known = click(y, clicks, seed)
    k = len(np.unique(y))
    if method == OURS:
        answers = Constraints.from_partial_labels(known)
        labels = GuidedClustering(k, random_state=seed).fit(X, constraints=answers).labels_
    elif method == PLAIN:
        labels = seeded_kmeans(X, known, k, seed)
    else:
        Z = umap_rows(data, clicks, seed, by_network)
        labels = hdbscan(Z) if method == UMAPS[0] else seeded_kmeans(Z, known, k, seed)
    return {"ARI": adjusted_rand_score(y, labels)}


def run_directions(*, data: str, clicks: int, directions: int, seed: int) -> dict[str, float]:
    """ARI of all texts."""
    seed += FIRST_SEED
    texts, y = texts_of(data, seed)
    answers = Constraints.from_partial_labels(click(y, clicks, seed))
    features = TextFeatures(n_components=directions)
    model = GuidedClustering(len(np.unique(y)), features=features, random_state=seed)
    return {"ARI": adjusted_rand_score(y, model.fit(texts, constraints=answers).labels_)}


def click(y: np.ndarray, clicks: int, seed: int) -> np.ndarray:
    """(n,) the classes of rows drawn at random, -1 elsewhere."""
    known = np.full(len(y), -1)
    clicked = np.random.default_rng(seed).permutation(len(y))[:clicks]
    known[clicked] = y[clicked]
    return known


def run_embedded(**settings) -> dict[str, float]:
    """The same on what networks make of texts and images."""
    return run_cell(**settings, by_network=True)


def run_topics(*, data: str, method: str, seed: int) -> dict[str, float]:
    """BERTopic with its own clusterer or ours inside; texts that it leaves out are one topic."""
    seed += FIRST_SEED
    X, y = load(data, seed, False)
    k = len(np.unique(y))
    pairs = Constraints.from_labels(y, n_pairs=N_PAIRS, random_state=seed)
    if method == OURS:
        labels = GuidedClustering(k, random_state=seed).fit(X, constraints=pairs).labels_
    else:
        bound = BoundClusterer(COPKMeans(k, random_state=seed), pairs)
        labels = find_topics(data, X, None if method == TOPICS[0] else bound, seed)
    return {
        "ARI": adjusted_rand_score(y, labels),
        "ARI of free rows": free_row_score(y, labels, pairs),
        "pairs that hold": satisfaction_score(None, pairs, labels),
        "topics": len(np.unique(labels[labels >= 0])),
        "left out": float(np.mean(labels < 0)),
    }


def find_topics(data: str, X: np.ndarray, clusterer, seed: int) -> np.ndarray:
    """The topic of each text by BERTopic, from features that are made already."""
    from bertopic import BERTopic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BERTopic(embedding_model=None, umap_model=umap_of(seed), hdbscan_model=clusterer)
        return np.array(model.fit_transform(texts_of(data, seed)[0], X)[0])


def umap_of(seed: int):
    """UMAP as BERTopic sets it."""
    from umap import UMAP

    return UMAP(
        n_neighbors=N_NEIGHBORS,
        n_components=N_DIMENSIONS,
        min_dist=0.0,
        metric="cosine",
        random_state=seed,
    )


@lru_cache(maxsize=1)  # k-means and HDBSCAN take the same
def umap_rows(data: str, clicks: int, seed: int, by_network: bool) -> np.ndarray:
    X, y = load(data, seed, by_network)
    known = click(y, clicks, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, and of scikit-learn's new names
        return umap_of(seed).fit_transform(X, known if (known >= 0).any() else None)


def hdbscan(Z: np.ndarray) -> np.ndarray:
    from hdbscan import HDBSCAN

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HDBSCAN(min_cluster_size=SMALLEST_CLUSTER).fit_predict(Z)


@lru_cache(maxsize=1)
def load(data: str, seed: int, by_network: bool) -> tuple[np.ndarray, np.ndarray]:
    """The features of 1,000 rows, and their classes."""
    if data in TEXTS:
        texts, y = texts_of(data, seed)
        return TextFeatures("sentences" if by_network else "tfidf").fit_transform(texts), y
    rows, y = rows_of(data, seed)
    with tempfile.TemporaryDirectory() as folder:
        write_images(fetch(data).X[rows], Path(folder))
        images = ImageFeatures("network" if by_network else "histograms")
        return images.fit_transform(folder), y


def texts_of(data: str, seed: int) -> tuple[list[str], np.ndarray]:
    """1,000 texts, and their classes."""
    rows, y = rows_of(data, seed)
    texts = fetch(data_of({"data": data})).X
    return [body(texts[i]) if data == TEXTS[0] else texts[i] for i in rows], y


def rows_of(data: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which 1,000 rows of a set are drawn, and their classes."""
    labels = np.asarray(fetch(data_of({"data": data})).y)
    rows = np.random.default_rng(seed).permutation(len(labels))
    rows = rows[np.isin(labels[rows], INTENTS[data])] if data in INTENTS else rows
    rows = rows[:N_ROWS]
    return rows, np.unique(labels[rows], return_inverse=True)[1]


def body(post: str) -> str:
    """A post without its headers, which name the group."""
    return post.partition("\n\n")[2]


def write_images(rows: np.ndarray, folder: Path) -> None:
    """Rows of gray pixels from 0 to 255 as PNG files, 28 x 28."""
    from PIL import Image

    for i, pixels in enumerate(np.asarray(rows).reshape(-1, 28, 28)):
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i:05d}.png")


def cells_of(sets: tuple[str, ...]) -> list[dict]:
    methods = (PLAIN, *(UMAPS if find_spec("umap") and find_spec("hdbscan") else ()), OURS)
    return [
        {"data": data, "clicks": clicks, "method": method}
        for data in sets
        for clicks in CLICKS
        for method in methods
    ]


def conclude(records: list[Record]) -> list[str]:
    """In how many cells we are ahead of all others, or within one standard error."""
    found = summarize(records, ("data", "clicks", "method"), "ARI")
    cells = sorted(
        {cell[:2] for cell in found if cell[2] == OURS}
        & {cell[:2] for cell in found if cell[2] != OURS}
    )
    if not cells:  # only ours, or only the others, were run
        return []
    behind = []
    for data, clicks in cells:
        ours = found[data, clicks, OURS]
        others = [v for (d, c, m), v in found.items() if (d, c) == (data, clicks) and m != OURS]
        best = max(others, key=lambda one: one.mean)
        error = np.hypot(np.nan_to_num(ours.standard_error), np.nan_to_num(best.standard_error))
        if ours.mean < best.mean - error:
            behind.append(f"{data} with {clicks} clicks ({ours.mean:.3f}, {best.mean:.3f})")
    return [
        f"GuidedClustering is ahead of all or within one standard error in "
        f"{len(cells) - len(behind)} of {len(cells)} cells; behind on "
        f"{', '.join(behind) or 'none'}."
    ]


def sets_of(names: tuple[str, ...]) -> list[str]:
    """The sets that are read, each once."""
    return list(dict.fromkeys(data_of({"data": name}) for name in names))


def _table(name: str, title: str, run, sets: tuple[str, ...]) -> Table:
    return Table(
        name,
        title,
        cells=lambda: cells_of(sets),
        run=run,
        rows=("data", "clicks"),
        columns="method",
        data=lambda: sets_of(sets),
        conclude=conclude,
        first_seed=FIRST_SEED,
    )


TABLES = (
    _table("texts", "ARI of 1,000 texts by tf-idf, with 0, 30 or 100 clicks", run_cell, TEXTS),
    _table("images", "ARI of 1,000 image files by histograms, with clicks", run_cell, IMAGES),
    _table(
        "embedded",
        "ARI of the same texts and images by trained networks",
        run_embedded,
        (*TEXTS, *IMAGES),
    ),
    Table(
        "bertopic",
        f"BERTopic with {N_PAIRS} pairs bound to its clusterer: 1,000 texts by tf-idf",
        cells=lambda: [
            {"data": data, "method": method}
            for data in TEXTS
            for method in (*(TOPICS if find_spec("bertopic") else ()), OURS)
        ],
        run=run_topics,
        rows=("data",),
        columns="method",
        measures=("ARI", "ARI of free rows", "pairs that hold", "topics", "left out"),
        data=lambda: sets_of(TEXTS),
        first_seed=FIRST_SEED,
    ),
    Table(
        "directions",
        "ARI of 1,000 texts by GuidedClustering, by the number of directions of their terms",
        cells=lambda: [
            {"data": data, "clicks": clicks, "directions": directions}
            for data in TEXTS
            for clicks in CLICKS
            for directions in COMPONENTS
        ],
        run=run_directions,
        rows=("data", "clicks"),
        columns="directions",
        data=lambda: sets_of(TEXTS),
        first_seed=FIRST_SEED,
    ),
)
