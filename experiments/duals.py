"""The experiments of randel2021, and ours around them: `python -m experiments duals [TABLE]`.

The paper prints figures and no numbers for these sections, so what its text says of them stands on
the page beside ours. Metrics are compared by k-medoids, as there; its 500 sets of constraints for
one draw of the data are here some sets for each of several draws. The Eclipse traces are not to be
had: a made set of sequences stands in (`make_traces`).
"""

from functools import lru_cache, partial

import numpy as np
from sklearn.cluster import KMeans

from experiments.duals_doubts import (
    DOUBT_SETS,
    DOUBTED_KINDS,
    DOUBTS,
    EPSILONS,
    FILTERS,
    N_ANSWERS,
    run_doubts,
    run_eps,
    run_filter,
)
from experiments.duals_metrics import (
    MAX_PAIRS,
    METRICS,
    N_SETS,
    PUBLISHED,
    REAL_SETS,
    TEXT_METRICS,
    TEXTS,
    ZERO_METRICS,
    ZERO_ROWS,
    ZERO_SOLVERS,
    draw_figure1,
    draw_figure2,
    draw_fitness,
    fetch_once,
    run_figure1,
    run_figure2,
    run_fitness,
    run_published_fitness,
    run_zeros,
)
from experiments.figures import draw_curves
from experiments.runs import Table
from experiments.sklr import load
from likewise.constraints import Constraints
from likewise.datasets import constraints_of
from likewise.duals import MovedPoints, move_points

MOVED = {"iris": 15, "seeds": 20, "optdigits": 400}  # violated pairs
N_TRAIN_DIGITS = 3823
ORDERS = ("dearest", "cheapest", "random")  # the paper: cheapest
WAYS = {  # how prices are found, and k-means made again; the paper: the last
    "LP, warm": {"solver": "lp", "restarts": "warm"},
    "LP, 100 starts": {"solver": "lp", "restarts": "paper"},
    "sub-gradient, warm": {"solver": "alternating", "restarts": "warm"},
    "sub-gradient, 100 starts": {"solver": "alternating", "restarts": "paper"},
}
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way to the end


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


def run_way(*, data: str, way: str, order: str, seed: int) -> dict[str, float]:
    """Where the moves end, the published way and step by step away from it."""
    X, y, k, labels = clustered(data)
    answers = violated_pairs(y, labels, MOVED[data], seed)
    moved = move_points(X, answers, k, order=order, y=y, random_state=seed, **WAYS[way])
    return {
        "ARI": moved.ari[-1],
        "travelled": moved.travelled[-1],
        "rounds": len(moved.ari) - 1,
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
        f"Figure 3: fitness over {N_SETS} sets of 1 to {MAX_PAIRS} pairs per draw, made data",
        cells=lambda: [{"data": data, "metric": one} for data in METRICS for one in METRICS],
        run=run_fitness,
        rows=("data",),
        columns="metric",
        measures=FITNESS,
        draw=draw_fitness,
    ),
    Table(
        "figure4",
        f"Figure 4: fitness over {N_SETS} sets of 1 to {MAX_PAIRS} pairs per seed, measured data",
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
        "figure6-ways",
        "Figure 6: where the moves end, by the prices and the starts of k-means; the last row of a "
        "set, cheapest first, is as published",
        cells=lambda: [
            {"data": data, "way": way, "order": order}
            for data in ("iris", "seeds")
            for way in WAYS
            for order in ORDERS
            if order != "random" or way.startswith("LP")  # no prices enter
        ],
        run=run_way,
        rows=("data", "way"),
        columns="order",
        measures=("ARI", "travelled", "rounds", "unsatisfied"),
        data=lambda: ("iris", "seeds"),
    ),
    Table(
        "zeros",
        f"Fitness of {ZERO_ROWS} made points by the Lagrangian and by the linear program, and with "
        "(16) as printed: share of pairs that cost nothing, and how often the metric is the best",
        cells=lambda: [
            {"data": data, "metric": metric, "solver": solver}
            for data in ZERO_METRICS
            for metric in ZERO_METRICS
            for solver in ZERO_SOLVERS
        ],
        run=run_zeros,
        rows=("data", "metric"),
        columns="solver",
        measures=("share", "best"),
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
        f"Finding the wrong ones among {N_ANSWERS} answers, a tenth of them flipped",
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
