"""The second edition of the networks: convolutions, self-supervision, chosen by the answers.

Seeds 0 to 4; 100 to 103 were used for tuning. Pairs are drawn at random; the smaller sets are the
first of the larger ones. Codes are learned once per data set and seed, and shared by the sets of
answers; whether images are mirrored is decided by the smallest set of pairs. Seconds are those of
the codes and of the clusters together, as one fit would take.

Few answers: a click is the class of the row nearest to a center of k-means, with as many centers
as clicks, among 3,000 codes. These codes see no answers, since clicks are chosen by them: no image
is mirrored. "codes" is GuidedClustering on the codes, "network" DeepConstrainedClustering from
them, "guided" GuidedClustering with `image_shape`, which chooses.
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
from likewise.maps import gpu_at_hand
from likewise.scale import transform

N_PAIRS = {
    "mnist": ("6000", "2000", "600"),
    "fashion_mnist": ("6000", "2000"),
    "usps_roweis11000": ("1100", "300"),
    "digits": ("500", "180"),
    "reuters_r8_text": ("767",),
}
FEW = ("20 clicks", "50 clicks", "100 clicks", "200 pairs", "600 pairs", "2000 pairs")
CLICKS = {"mnist": "20 clicks", "fashion_mnist": "100 clicks"}
FEW_DATA = ("mnist", "fashion_mnist", "usps_roweis11000", "digits")
FIXED = ("angular", "student", "likelihood")  # settings that the default is to be as good as
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
def learn_codes(data: str, seed: int, unseen: bool = False) -> tuple[SelfSupervisedCodes, float]:
    """Codes of all rows, and how long they took; `unseen` by any answer, or by the fewest."""
    X, _ = load_rows(data)
    fewest = None if unseen else draw_pairs(data, min(map(int, N_PAIRS[data])), seed)
    codes = SelfSupervisedCodes(image_shape=shape_of(data, X.shape[1]), random_state=seed)
    started = time.perf_counter()
    codes.fit(X, constraints=fewest)
    return codes, time.perf_counter() - started


def fit_network(
    data: str, answers: Constraints, seed: int, *, unseen: bool = False, **settings
) -> dict[str, float]:
    """Scores of the network, and how long it took with its codes."""
    X, y = load_rows(data)
    shape = shape_of(data, X.shape[1])
    by_codes = shape is not None and settings.get("training") not in ("angular", "student")
    codes, seconds = learn_codes(data, seed, unseen) if by_codes else (None, 0.0)
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


def draw_few(data: str, few: str, seed: int) -> Constraints:
    """So many random pairs, or classes of rows that lie in the middle of the codes."""
    X, y = load_rows(data)
    n, kind = int(few.split()[0]), few.split()[1]
    if kind == "pairs":
        n_most = max(int(other.split()[0]) for other in FEW)
        answers = Constraints.from_labels(y, n_pairs=n_most, random_state=seed)
        return answers.subset(np.sort(np.random.RandomState(seed).permutation(n_most)[:n]))
    looked_at = np.random.RandomState(seed).permutation(len(X))[:N_LOOKED_AT]
    codes = transform(learn_codes(data, seed, unseen=True)[0], X[looked_at], device=gpu_at_hand())
    centers = KMeans(n, n_init=3, random_state=seed).fit(codes).cluster_centers_
    clicked = looked_at[np.unique((codes @ centers.T).argmax(axis=0))]
    known = np.full(len(X), -1)
    known[clicked] = y[clicked]
    return Constraints.from_partial_labels(known)


def run_few(*, data: str, answers: str, way: str, seed: int) -> dict[str, float]:
    """Few answers: on the codes alone, by the network, or by what held-out answers prefer."""
    X, y = load_rows(data)
    few = draw_few(data, answers, seed)
    if way == "network":
        return fit_network(data, few, seed, unseen=True)
    codes, seconds = learn_codes(data, seed, unseen=True)
    model = GuidedClustering(len(np.unique(y)), random_state=seed)
    started = time.perf_counter()
    if way == "codes":
        model.fit(transform(codes, X, device=gpu_at_hand()), constraints=few)
    else:
        shape = shape_of(data, X.shape[1])
        model.set_params(features=codes, image_shape=shape).fit(X, constraints=few)
    seconds += time.perf_counter() - started
    return {"ARI": adjusted_rand_score(y, model.labels_), "fit seconds": seconds}


def short_name(data: str) -> str:
    return data.split("_")[0]


def pairs_table(data: str) -> Table:
    ways = ("default", *FIXED) if data == "reuters_r8_text" else ("default",)
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


def fixed_table(data: str) -> Table:
    most = N_PAIRS[data][0]
    return Table(
        f"fixed-{short_name(data)}",
        f"{data}: the ways of training that the default is to be as good as",
        cells=lambda: [{"data": data, "pairs": most, "way": way} for way in FIXED],
        run=run_pairs,
        rows=("data", "pairs"),
        columns="way",
        measures=MEASURES,
        data=lambda: (data,),
    )


def few_table(data: str) -> Table:
    return Table(
        f"few-{short_name(data)}",
        f"{data}: few answers, on the codes alone, by the network, and by what they prefer",
        cells=lambda: [
            {"data": data, "answers": answers, "way": way}
            for answers in FEW
            for way in ("codes", "network", "guided")
        ],
        run=run_few,
        rows=("data", "answers"),
        columns="way",
        measures=MEASURES,
        data=lambda: (data,),
    )


def clicks_table() -> Table:
    return Table(
        "clicks",
        "Few clicks, on the codes alone and by what held-out answers prefer",
        cells=lambda: [
            {"data": data, "answers": clicks, "way": way}
            for data, clicks in CLICKS.items()
            for way in ("codes", "guided")
        ],
        run=run_few,
        rows=("data", "answers"),
        columns="way",
        measures=MEASURES,
        data=lambda: tuple(CLICKS),
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
    *(fixed_table(data) for data in FEW_DATA),
    clicks_table(),
    *(few_table(data) for data in FEW_DATA),
    *(noise_table(data) for data in ("usps_roweis11000", "mnist", "digits")),
)
