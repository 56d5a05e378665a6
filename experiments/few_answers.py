"""The first hundred answers, measured: `python -m experiments few_answers [TABLE]`.

There is no paper behind these but for PCCC's published scores (baumann2025). Sets, halves and rows
are those of experiments/guided.py; k is given. Pairs are half must-links where nothing else is
said. With LIKEWISE_BEFORE naming the `src` folder of an earlier commit, that commit is run beside
on the same rows and answers, in a process of its own.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.cobras import ask_cobras
from experiments.guided import (
    MIN_FREE,
    cells_of,
    guided,
    half_of,
    kmeans,
    load,
    names,
    own_labels,
    plain_labels,
    scaled,
    spectral_labels,
)
from experiments.published import PublishedTable
from experiments.runs import Record, Table, summarize
from likewise.constraints import Constraints
from likewise.evaluation import free_row_score
from likewise.metric_learning import ITML

FREE = "ARI of free rows"
FIRST_SEED = 100  # seeds 0 to 9 are for tuning
COUNTS = (30, 100, 200, 1000)
BEFORE = "0564d77"
BASELINES = ("k-means", "no answers")
METHODS = (*BASELINES, "spectral", "ITML", "COBRAS", "guided")
FLIPPED_SETS = ("iris", "wine", "seeds", "digits", "vehicle")
FLIPPED_COUNTS = (60, 200)
FLIPPED = 0.3
ROUND_SETS = (
    "digits",
    "glass",
    "heart_statlog",
    "ionosphere",
    "iris",
    "optdigits",
    "seeds",
    "synthetic_control",
    "vehicle",
    "wine",
)
N_ROUNDS, PER_ROUND = 20, 10
FALL = 0.03
N_CLICKS = 100
N_PAIRS = 100
N_JUDGED = 20_000  # pairs of free rows
N_BINS = 10
PCCC = {  # set, pairs: ARI by baumann2025, appendix; features z-scored
    ("heart_statlog", 91): 0.643,
    ("heart_statlog", 351): 0.913,
    ("glass", 55): 0.236,
    ("glass", 231): 0.203,
    ("sonar", 55): 0.012,
    ("sonar", 210): 0.742,
    ("wine", 36): 0.927,
    ("wine", 153): 0.933,
    ("breast_cancer_wdbc", 406): 0.931,
    ("breast_cancer_wdbc", 1596): 0.986,
    ("ionosphere", 153): 0.354,
    ("ionosphere", 630): 0.947,
    ("iris", 28): 0.698,
    ("iris", 105): 0.668,
    ("vehicle", 903): 0.137,
    ("vehicle", 3570): 0.959,
}


def run_pairs(*, data: str, answers: int, method: str, seed: int) -> dict[str, float]:
    """ARI of all rows and of those that no answer refers to, and CPU seconds of the fit."""
    seed += FIRST_SEED
    X, y = load(data)
    pairs = draw_pairs(y, answers, seed)
    started = os.times()
    if method == "k-means":
        labels = plain_labels(data, seed)
    elif method == "no answers":
        labels = own_labels(data, seed)
    elif method == "spectral":
        labels = spectral_labels(data, seed)
    elif method == "COBRAS":
        labels = cobras_labels(data, seed)[COUNTS.index(answers)]
        return {"ARI": adjusted_rand_score(y, labels), FREE: np.nan, "CPU seconds": np.nan}
    elif method == "ITML":
        X = scaled(X)
        Z = ITML(random_state=seed).fit(X, constraints=pairs).transform(X)
        labels = kmeans(Z, y, seed)
    elif method == BEFORE:
        labels, seconds = labels_before(X, pairs, len(np.unique(y)), seed)
        return scores(y, labels, pairs) | {"CPU seconds": seconds}
    else:
        labels = guided(X, y, pairs, seed).labels_
    ended = os.times()
    return scores(y, labels, pairs) | {"CPU seconds": ended.user - started.user}


@lru_cache(maxsize=1)  # the cells of a set and a seed follow each other
def cobras_labels(data: str, seed: int) -> np.ndarray:
    """After as many pairs, which COBRAS chooses itself."""
    X, y = load(data)
    return ask_cobras(scaled(X), y, COUNTS, seed)


def draw_pairs(y: np.ndarray, n_pairs: int, seed: int) -> Constraints:
    """Half must-links, or all that there are."""
    sizes = np.unique(y, return_counts=True)[1]
    n_must = int((sizes * (sizes - 1) // 2).sum())
    n_cannot = len(y) * (len(y) - 1) // 2 - n_must
    half = n_pairs // 2
    return Constraints.from_labels(
        y, n_must_link=min(half, n_must), n_cannot_link=min(half, n_cannot), random_state=seed
    )


def scores(y: np.ndarray, labels: np.ndarray, answers: Constraints) -> dict[str, float]:
    n_free = len(y) - len(answers.touched_rows())
    free = free_row_score(y, labels, answers) if n_free >= MIN_FREE else np.nan
    return {"ARI": adjusted_rand_score(y, labels), FREE: free}


EARLIER = """
import sys, time
import numpy as np
from likewise import Constraints, GuidedClustering
given = np.load(sys.argv[1])
pairs = Constraints(len(given["X"]), must_link=given["must"], cannot_link=given["cannot"])
k, seed = int(sys.argv[2]), int(sys.argv[3])
started = time.process_time()
model = GuidedClustering(k, random_state=seed).fit(given["X"], constraints=pairs)
np.savez(sys.argv[1], labels=model.labels_, seconds=time.process_time() - started)
"""


def labels_before(X: np.ndarray, pairs: Constraints, k: int, seed: int) -> tuple[np.ndarray, float]:
    """Labels by the commit whose `src` folder LIKEWISE_BEFORE names, and CPU seconds of its fit."""
    environment = {**os.environ, "PYTHONPATH": os.environ["LIKEWISE_BEFORE"]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        np.savez(path, X=X, must=pairs.must_link, cannot=pairs.cannot_link)
        command = [sys.executable, "-W", "ignore", "-c", EARLIER, str(path), str(k), str(seed)]
        subprocess.run(command, env=environment, check=True)
        with np.load(path) as found:
            return found["labels"], float(found["seconds"])


def pair_methods() -> tuple[str, ...]:
    return (*METHODS, BEFORE) if os.environ.get("LIKEWISE_BEFORE") else METHODS


def run_flipped(*, data: str, answers: int, method: str, seed: int) -> dict[str, float]:
    """ARI when three of ten answers are wrong."""
    seed += FIRST_SEED
    X, y = load(data)
    half = answers // 2
    pairs = Constraints.from_labels(
        y, n_must_link=half, n_cannot_link=half, noise=FLIPPED, random_state=seed
    )
    labels = own_labels(data, seed) if method == "no answers" else guided(X, y, pairs, seed).labels_
    return {"ARI": adjusted_rand_score(y, labels)}


def run_rounds(*, data: str, kind: str, seed: int) -> dict[str, float]:
    """ARI after every ten answers more, and in how many rounds it falls by more than .03."""
    seed += FIRST_SEED
    X, y = load(data)
    y = np.unique(y, return_inverse=True)[1]
    n_rounds = min(N_ROUNDS, len(y) // (2 * PER_ROUND))
    every = Constraints.from_labels(y, n_pairs=N_ROUNDS * PER_ROUND, random_state=seed)
    clicked = np.random.default_rng(seed).permutation(len(y))
    curve = []
    for one in range(1, n_rounds + 1):
        if kind == "pairs":
            order = np.random.default_rng(seed).permutation(every.n_answers)
            answers = every.subset(np.sort(order[: one * PER_ROUND]))
        else:
            known = np.full(len(y), -1)
            known[clicked[: one * PER_ROUND]] = y[clicked[: one * PER_ROUND]]
            answers = Constraints.from_partial_labels(known)
        curve.append(adjusted_rand_score(y, guided(X, y, answers, seed).labels_))
    steps = np.diff(curve)
    return {
        "rounds": float(len(steps)),
        "falls": float(np.count_nonzero(steps < -FALL)),
        "first": curve[0],
        "last": curve[-1],
    }


def run_calibration(*, data: str, seed: int) -> dict[str, float]:
    """Expected calibration error of memberships on free rows, 100 rows labeled at random."""
    seed += FIRST_SEED
    X, y = load(data)
    y = np.unique(y, return_inverse=True)[1]
    known = np.full(len(y), -1)
    n_clicks = min(N_CLICKS, len(y) // 2)
    clicked = np.random.default_rng(seed).choice(len(y), n_clicks, replace=False)
    known[clicked] = y[clicked]
    model = guided(X, y, Constraints.from_partial_labels(known), seed)
    free = np.flatnonzero(known < 0)
    memberships = model.predict_proba(X)[free]
    is_right = np.zeros(len(free))
    for cluster in np.unique(model.labels_):  # a cluster stands for the class of its known rows
        inside = known[(model.labels_ == cluster) & (known >= 0)]
        if len(inside):
            is_right[memberships.argmax(axis=1) == cluster] = (
                y[free[memberships.argmax(axis=1) == cluster]] == np.bincount(inside).argmax()
            )
    return {
        "error": calibration_error(memberships.max(axis=1), is_right),
        "sure": float(memberships.max(axis=1).mean()),
        "right": float(is_right.mean()),
    }


def run_sure_of_pairs(*, data: str, seed: int) -> dict[str, float]:
    """The same from 100 pairs, half of them must-links; and of "these two belong together".

    A cluster stands for the class that most of its rows are in.
    """
    seed += FIRST_SEED
    X, y = load(data)
    y = np.unique(y, return_inverse=True)[1]
    pairs = draw_pairs(y, N_PAIRS, seed)
    model = guided(X, y, pairs, seed)
    shares = model.predict_proba(X)
    class_of = np.array(
        [
            np.bincount(y[model.labels_ == one], minlength=1).argmax()
            for one in range(shares.shape[1])
        ]
    )
    free = np.setdiff1d(np.arange(len(y)), pairs.touched_rows())
    if len(free) < MIN_FREE:
        free = np.arange(len(y))
    is_right = class_of[shares[free].argmax(axis=1)] == y[free]
    judged = np.random.default_rng(seed).choice(free, (N_JUDGED, 2))
    i, j = judged[judged[:, 0] != judged[:, 1]].T
    together = (shares[i] * shares[j]).sum(axis=1)
    return {
        "error": calibration_error(shares[free].max(axis=1), is_right),
        "sure": float(shares[free].max(axis=1).mean()),
        "right": float(is_right.mean()),
        "error about pairs": calibration_error(together, y[i] == y[j]),
    }


def calibration_error(chances: np.ndarray, is_right: np.ndarray) -> float:
    """Mean over rows of the gap between chance and share of right ones in ten bins of chances."""
    bins = np.minimum((chances * N_BINS).astype(int), N_BINS - 1)
    gaps = [
        np.count_nonzero(bins == one)
        * abs(chances[bins == one].mean() - is_right[bins == one].mean())
        for one in np.unique(bins)
    ]
    return float(np.sum(gaps) / len(chances))


def run_pccc(*, data: str, pairs: int, wrong: float, seed: int) -> dict[str, float]:
    """ARI from as many must-links and cannot-links, and the share of the answers that hold."""
    seed += FIRST_SEED
    X, y = load(data)
    half = pairs // 2
    answers = Constraints.from_labels(
        y, n_must_link=pairs - half, n_cannot_link=half, noise=wrong, random_state=seed
    )
    model = guided(X, y, answers, seed)
    held = 1 - len(model.violated_) / answers.n_answers
    return {"ARI": adjusted_rand_score(y, model.labels_), "answers that hold": held}


def published_pccc(cell) -> str:
    if cell["measure"] != "ARI" or cell["wrong"] != "0.0":
        return ""
    return f"{PCCC[cell['data'], int(cell['pairs'])]:.3f}"


def compare_pairs(records: list[Record]) -> PublishedTable:
    """By number of pairs: mean ARI of every method, the gain over the earlier commit, and harm."""
    methods = [one for one in (*METHODS, BEFORE) if any(r["method"] == one for r in records)]
    lines = []
    for measure, rows in (("ARI", "all"), (FREE, "free")):
        for half in ("tuned on", "other", "both"):
            for count in COUNTS:
                part = [
                    record
                    for record in records
                    if half in ("both", half_of(record["data"]))
                    and record["answers"] == str(count)
                    and record[measure] != "nan"
                ]
                if part:
                    lines.append([rows, half, str(count), *sum_up_pairs(part, measure, methods)])
    fields = [
        "rows",
        "half",
        "pairs",
        "sets",
        *methods,
        f"gain over {BEFORE}",
        "CPU",
        "below -1",
        "below -2",
    ]
    return PublishedTable(fields, lines, [("title", "Pairs, half of them must-links: means")])


def sum_up_pairs(part: list[Record], measure: str, methods: list[str]) -> list[str]:
    """Sets, means, paired gain over the earlier commit, ratio of CPU time, sets that are hurt."""
    found = summarize(part, ("method",), measure)
    gain, ratio = "", ""
    if BEFORE in methods:
        gaps = [a - b for a, b, _ in paired(part, measure, BEFORE).values()]
        gain = f"{np.mean(gaps):+.3f} ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.3f}"
        seconds = summarize(part, ("method",), "CPU seconds")
        ratio = f"{seconds[('guided',)].mean / seconds[(BEFORE,)].mean:.2f}"
    hurt = hurt_sets(part, measure)
    none = "none" if hurt else "one run"  # has no standard error
    below = [", ".join(one for one, t in hurt.items() if t < -limit) or none for limit in (1, 2)]
    sets = str(len({record["data"] for record in part}))
    means = [f"{found[(one,)].mean:.3f}" if (one,) in found else "" for one in methods]
    return [sets, *means, gain, ratio, *below]


def paired(part: list[Record], measure: str, other: str) -> dict[str, tuple[float, float, int]]:
    """By set: means of guided and another method over the seeds of both, and their number."""
    by_seed: dict[str, dict[str, dict[str, float]]] = {}
    for record in part:
        if record["method"] in ("guided", other):
            seeds = by_seed.setdefault(record["data"], {})
            seeds.setdefault(record["seed"], {})[record["method"]] = float(record[measure])
    means = {}
    for data, seeds in by_seed.items():
        both = np.array([[one["guided"], one[other]] for one in seeds.values() if len(one) == 2])
        if len(both):
            means[data] = (*both.mean(axis=0).tolist(), len(both))
    return means


def hurt_sets(part: list[Record], measure: str) -> dict[str, float]:
    """By set: guided minus the better baseline, in standard errors of the paired difference."""
    leads = {}
    for data in dict.fromkeys(record["data"] for record in part):
        runs: dict[str, dict[str, float]] = {}
        for record in part:
            if record["data"] == data:
                runs.setdefault(record["seed"], {})[record["method"]] = float(record[measure])
        whole = [one for one in runs.values() if {*BASELINES, "guided"} <= one.keys()]
        if len(whole) > 1:
            better = max(BASELINES, key=lambda name: np.mean([one[name] for one in whole]))
            gaps = np.array([one["guided"] - one[better] for one in whole])
            error = gaps.std(ddof=1) / np.sqrt(len(gaps))
            leads[data] = float(gaps.mean() / error) if error > 0 else 0.0
    return leads


def conclude_rounds(records: list[Record]) -> list[str]:
    sentences = []
    for kind in dict.fromkeys(record["kind"] for record in records):
        part = [record for record in records if record["kind"] == kind]
        n_rounds = sum(float(record["rounds"]) for record in part)
        n_falls = sum(float(record["falls"]) for record in part)
        sentences.append(
            f"With {kind} the ARI falls by more than {FALL:.2f} in {n_falls:.0f} of {n_rounds:.0f} "
            f"rounds ({n_falls / n_rounds:.1%})."
        )
    return sentences


def conclude_calibration(records: list[Record]) -> list[str]:
    errors = [float(record["error"]) for record in records]
    return [f"Mean expected calibration error of {len(errors)} runs: {np.mean(errors):.3f}."]


def conclude_sure_of_pairs(records: list[Record]) -> list[str]:
    errors = [float(record["error about pairs"]) for record in records]
    return [*conclude_calibration(records), f"About pairs of rows: {np.mean(errors):.3f}."]


def conclude_flipped(records: list[Record]) -> list[str]:
    found = summarize(records, ("data", "answers", "method"), "ARI")
    hurt = [
        f"{data} with {count} ({found[data, count, 'guided'].mean:.3f}, {plain.mean:.3f})"
        for (data, count, method), plain in found.items()
        if method == "no answers"
        and found[data, count, "guided"].mean
        < plain.mean - np.nan_to_num(found[data, count, "guided"].standard_error)
    ]
    return [f"Below no answers by more than a standard error: {', '.join(hurt) or 'none'}."]


def at_hand(sets: Iterable[str]) -> list[str]:
    return [one for one in sets if one in names()]


TABLES = (
    Table(
        "pairs",
        "ARI from few pairs, half of them must-links, beside no answers and an earlier commit",
        cells=lambda: cells_of(data=names(), answers=COUNTS, method=pair_methods()),
        run=run_pairs,
        rows=("data", "answers"),
        columns="method",
        measures=("ARI", FREE, "CPU seconds"),
        data=names,
        compare=compare_pairs,
        first_seed=FIRST_SEED,
    ),
    Table(
        "flipped",
        "ARI when 30 % of the pairs are wrong, beside no answers",
        cells=lambda: cells_of(
            data=at_hand(FLIPPED_SETS), answers=FLIPPED_COUNTS, method=("no answers", "guided")
        ),
        run=run_flipped,
        rows=("data", "answers"),
        columns="method",
        data=lambda: at_hand(FLIPPED_SETS),
        conclude=conclude_flipped,
        first_seed=FIRST_SEED,
    ),
    Table(
        "rounds",
        "Twenty rounds of ten answers more: how often the ARI falls by more than .03",
        cells=lambda: cells_of(data=at_hand(ROUND_SETS), kind=("pairs", "clicks")),
        run=run_rounds,
        rows=("data",),
        columns="kind",
        measures=("rounds", "falls", "first", "last"),
        data=lambda: at_hand(ROUND_SETS),
        conclude=conclude_rounds,
        first_seed=FIRST_SEED,
    ),
    Table(
        "calibration",
        "Expected calibration error of memberships on free rows, 100 rows labeled",
        cells=lambda: cells_of(data=names()),
        run=run_calibration,
        rows=(),
        columns="data",
        measures=("error", "sure", "right"),
        data=names,
        conclude=conclude_calibration,
        first_seed=FIRST_SEED,
    ),
    Table(
        "sure_of_pairs",
        "Expected calibration error on free rows, 100 pairs, half of them must-links",
        cells=lambda: cells_of(data=names()),
        run=run_sure_of_pairs,
        rows=(),
        columns="data",
        measures=("error", "sure", "right", "error about pairs"),
        data=names,
        conclude=conclude_sure_of_pairs,
        first_seed=FIRST_SEED,
    ),
    Table(
        "pccc",
        "Pairs that must hold, beside PCCC's published scores, and with a tenth of them wrong",
        cells=lambda: [
            {"data": data, "pairs": pairs, "wrong": wrong}
            for wrong in (0.0, 0.1)
            for data, pairs in PCCC
            if data in names()
        ],
        run=run_pccc,
        rows=("data", "pairs"),
        columns="wrong",
        measures=("ARI", "answers that hold"),
        data=lambda: at_hand(dict.fromkeys(data for data, _ in PCCC)),
        published=published_pccc,
        first_seed=FIRST_SEED,
    ),
)
