"""The second edition of the networks: convolutions, self-supervision, chosen by the answers.

Seeds 0 to 4; 100 to 103 were used for tuning. Pairs are drawn at random; the smaller sets are the
first of the larger ones. Codes are learned once per data set and seed, and shared by the sets of
answers; whether images are mirrored is decided by the smallest set of pairs. Seconds are those of
the codes and of the clusters together, as one fit would take. A click is the class of the row
nearest to a center of k-means, with as many centers as clicks, among 3,000 codes.
"""

import time
from functools import lru_cache

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from experiments.deep_rows import load_rows, shape_of
from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.deep import DeepConstrainedClustering, SelfSupervisedCodes
from likewise.guided import GuidedClustering

N_PAIRS = {
    "mnist": ("6000", "2000", "600", "200"),
    "fashion_mnist": ("6000", "2000", "600"),
    "usps_roweis11000": ("1100", "300"),
    "digits": ("500", "180"),
    "reuters_r8_text": ("767",),
}
CLICKS = ("20", "50", "100")
NOISE = ("0.1", "0.2", "0.3")
PUBLISHED = {("mnist", "6000"): ".943", ("fashion_mnist", "6000"): ".424"}
N_LOOKED_AT = 3000  # rows that clicks are chosen among
MEASURES = ("ARI", "fit seconds")


def draw_pairs(data: str, n_pairs: int, seed: int, noise: float = 0.0) -> Constraints:
    """The first of the largest set of random pairs."""
    y = load_rows(data)[1]
    n_most = max(map(int, N_PAIRS[data]))
    answers = Constraints.from_labels(y, n_pairs=n_most, noise=noise, random_state=seed)
    kept = np.random.RandomState(seed).permutation(n_most)[:n_pairs]
    return answers.subset(np.sort(kept))


@lru_cache(maxsize=1)
def learn_codes(data: str, seed: int) -> tuple[SelfSupervisedCodes, float]:
    """Codes of all rows, and how long they took."""
    X, _ = load_rows(data)
    fewest = draw_pairs(data, min(map(int, N_PAIRS[data])), seed)
    codes = SelfSupervisedCodes(image_shape=shape_of(data, X.shape[1]), random_state=seed)
    started = time.perf_counter()
    codes.fit(X, constraints=fewest)
    return codes, time.perf_counter() - started


def fit_network(data: str, answers: Constraints, seed: int, **settings) -> dict[str, float]:
    """Scores of the network, and how long it took with its codes."""
    X, y = load_rows(data)
    shape = shape_of(data, X.shape[1])
    codes, seconds = (None, 0.0) if shape is None else learn_codes(data, seed)
    model = DeepConstrainedClustering(
        len(np.unique(y)), image_shape=shape, init_model=codes, random_state=seed, **settings
    )
    started = time.perf_counter()
    model.fit(X, constraints=answers)
    seconds += time.perf_counter() - started
    return {"ARI": adjusted_rand_score(y, model.labels_), "fit seconds": seconds}


def run_pairs(*, data: str, pairs: str, way: str, seed: int) -> dict[str, float]:
    """The default, from random pairs."""
    training = {"default": "auto"}.get(way, way)
    return fit_network(data, draw_pairs(data, int(pairs), seed), seed, training=training)


def run_noise(*, data: str, noise: str, pairs: str, seed: int) -> dict[str, float]:
    """The default, with some pairs flipped."""
    return fit_network(data, draw_pairs(data, int(pairs), seed, float(noise)), seed)


def draw_clicks(data: str, n_clicks: int, seed: int) -> Constraints:
    """Classes of rows that lie in the middle of the codes."""
    X, y = load_rows(data)
    looked_at = np.random.RandomState(seed).permutation(len(X))[:N_LOOKED_AT]
    codes = learn_codes(data, seed)[0].transform(X[looked_at])
    centers = KMeans(n_clicks, n_init=3, random_state=seed).fit(codes).cluster_centers_
    clicked = looked_at[np.unique((codes @ centers.T).argmax(axis=0))]
    known = np.full(len(X), -1)
    known[clicked] = y[clicked]
    return Constraints.from_partial_labels(known)


def run_clicks(*, data: str, clicks: str, way: str, seed: int) -> dict[str, float]:
    """Few known rows: on the codes alone, or by what held-out answers prefer."""
    X, y = load_rows(data)
    shape = shape_of(data, X.shape[1])
    codes, seconds = learn_codes(data, seed)
    answers = draw_clicks(data, int(clicks), seed)
    if way == "network":
        return fit_network(data, answers, seed)
    settings = {"features": codes} if way == "codes" else {"features": codes, "image_shape": shape}
    model = GuidedClustering(len(np.unique(y)), random_state=seed, **settings)
    started = time.perf_counter()
    model.fit(X, constraints=answers)
    seconds += time.perf_counter() - started
    return {"ARI": adjusted_rand_score(y, model.labels_), "fit seconds": seconds}


def short_name(data: str) -> str:
    return data.split("_")[0]


def pairs_table(data: str) -> Table:
    ways = (
        ("default",)
        if data != "reuters_r8_text"
        else ("default", "angular", "student", "likelihood")
    )
    return Table(
        f"pairs-{short_name(data)}",
        f"{data}: the default of the second edition, by the number of random pairs",
        cells=lambda: [
            {"data": data, "pairs": pairs, "way": way} for pairs in N_PAIRS[data] for way in ways
        ],
        run=run_pairs,
        rows=("data", "pairs"),
        columns="way",
        measures=MEASURES,
        data=lambda: (data,),
        published=lambda cell: (
            PUBLISHED.get((cell["data"], cell["pairs"]), "") if cell["measure"] == "ARI" else ""
        ),
    )


def clicks_table(data: str) -> Table:
    return Table(
        f"clicks-{short_name(data)}",
        f"{data}: a few known rows, on the codes alone and by the network",
        cells=lambda: [
            {"data": data, "clicks": clicks, "way": way}
            for clicks in CLICKS
            for way in ("codes", "network")
        ],
        run=run_clicks,
        rows=("data", "clicks"),
        columns="way",
        measures=MEASURES,
        data=lambda: (data,),
    )


def noise_table(data: str) -> Table:
    most = N_PAIRS[data][0]
    return Table(
        f"flipped-{short_name(data)}",
        f"{data}, some pairs flipped: the default of the second edition",
        cells=lambda: [{"data": data, "noise": share, "pairs": most} for share in NOISE],
        run=run_noise,
        rows=("data", "pairs"),
        columns="noise",
        measures=MEASURES,
        data=lambda: (data,),
    )


TABLES = (
    *(pairs_table(data) for data in N_PAIRS),
    *(clicks_table(data) for data in ("mnist", "fashion_mnist")),
    *(noise_table(data) for data in ("usps_roweis11000", "mnist")),
)
