"""The experiments of hoi2007, and ours beside them: `python -m experiments npk [TABLE]`.

The paper shows bars and one curve; its text names a few figures, which stand beside ours. Every set
is z-scored: the paper does not say. All methods end in k-means in their space, kernel k-means being
that, with must-linked rows kept together (but for plain k-means), from the same starting rows.
Accuracy is its equation (11), the share of pairs of rows on which clusters and classes agree.
"""

import re
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from sklearn.metrics import rand_score
from sklearn.preprocessing import StandardScaler

from experiments.drawn_answers import draw_components
from experiments.figures import draw_bars, draw_curves, draw_points
from experiments.runs import Record, Table
from likewise.cluster import KernelKMeans
from likewise.constraints import Constraints
from likewise.datasets import Dataset, fetch, make_chessboard, make_double_spiral
from likewise.evaluation import satisfaction_score
from likewise.kernel_learning import NPK, KernelAlignment, LogDetPairs, SimpleNPK
from likewise.kernels import laplacian, linear, neighbor_graph, rbf, rbf_theta
from likewise.metric_learning import MMC, RCA
from likewise.numerics.psd import drop_negative

N_STARTS = 10  # of k-means, the same rows for every method of a run
AMOUNTS = ("little", "much")  # components: 90 % and 70 % of the rows
MADE: dict[str, Callable[..., Dataset]] = {
    "chessboard": make_chessboard,
    "double_spiral": make_double_spiral,
}
FETCHED = ("glass", "heart_statlog", "iris", "protein_xing", "sonar", "soybean_small", "wine")
SETS = (*MADE, *FETCHED)  # table 1; its wine has 12 features, ours 13, and none is dropped
WIDTHS = 4.0 ** np.arange(-3, 4)  # of the RBF kernel, times the median squared distance
N_FOLDS = 3  # of the pairs, to choose the width

STALL_SETS = ("double_spiral", "iris", "wine")
STALL_PAIRS, STALL_DELTAS = (20, 60), (0.01, 0.1)
STALL_MEASURES = (
    "dual over the optimum",
    "primal over the optimum",
    "accuracy of the exact kernel",
    "accuracy of SMO",
    "accuracy of k-means",
)

TIMED_ROWS, TIMED_PAIRS = (20, 40, 60, 80, 100, 150, 200), 100
MOST_ROWS_OF_SDP = 100  # Clarabel takes 40 s there and minutes beyond
GROUPS = ("rec.autos", "rec.sport.hockey", "sci.med", "sci.space")
N_SUBJECTS, SUBJECT_LENGTH = 60, 40  # of each group, and letters of each


def run_bar(*, data: str, amount: str, method: str, seed: int) -> dict[str, float]:
    """Accuracy of one bar of figure 2."""
    X, y = load(data, seed)
    answers = draw_components(y, amount, random_state=seed)
    starts = draw_starts(y, seed)
    K = METHODS[method](X, answers, starts, seed)
    together = None if method == "k-means" else answers
    return {"accuracy": rand_score(y, cluster(K, starts, together))}


def run_shape(*, data: str, method: str, seed: int) -> dict[str, float]:
    """Accuracy of a method that needs no pairs on a set of figure 1."""
    return run_bar(data=data, amount="little", method=method, seed=seed)


def draw_shapes(records: list[Record], path: Path) -> None:
    """Figure 1: the first two features of seed 0."""
    drawn = {name: MADE[name](random_state=0) for name in MADE}
    draw_points({name: (data.X[:, :2], np.asarray(data.y)) for name, data in drawn.items()}, path)


def run_stall(*, data: str, pairs: int, delta: float, seed: int) -> dict[str, float]:
    """How far the paper's solver gets, and what that does to clusters."""
    X, y = load(data, seed)
    answers = Constraints.from_labels(y, n_pairs=pairs, random_state=seed)
    starts = draw_starts(y, seed)
    exact = NPK(delta=delta).fit(X, constraints=answers)
    smo = NPK(delta=delta, solver="smo", random_state=seed).fit(X, constraints=answers)
    shares = (smo.dual_value_ / exact.dual_value_, smo.primal_value_ / exact.primal_value_)
    kernels = (exact.kernel_, smo.kernel_, linear(X))
    scores = (rand_score(y, cluster(K, starts, None)) for K in kernels)
    return dict(zip(STALL_MEASURES, (*shares, *scores)))


def run_timed(*, rows: int, solver: str, seed: int) -> dict[str, float]:
    """CPU seconds of one solver on a double spiral, and how far above the optimum it ended."""
    data = make_double_spiral(rows, random_state=seed)
    answers = Constraints.from_labels(data.y, n_pairs=TIMED_PAIRS, random_state=seed)
    began = time.process_time()
    value = SOLVERS[solver](data.X, answers, seed)
    seconds = time.process_time() - began
    optimum = NPK().fit(data.X, constraints=answers).dual_value_
    return {"CPU seconds": seconds, "above the optimum": value / optimum - 1}


def solve_by_clarabel(X: np.ndarray, answers: Constraints, seed: int = 0) -> float:
    """Value of the whole program over n x n matrices by a general solver: the paper's NPK-SDP."""
    import cvxpy

    L = laplacian(neighbor_graph(X, 5), delta=0.01).toarray()
    pairs, signs = answers.signed_pairs()
    Z = cvxpy.Variable(L.shape, PSD=True)
    lack = cvxpy.pos(1 - cvxpy.multiply(signs, Z[pairs[:, 0], pairs[:, 1]]))
    goal = cvxpy.trace(L @ Z) + 2 * cvxpy.sum(lack)
    return float(cvxpy.Problem(cvxpy.Minimize(goal)).solve(solver="CLARABEL"))


def solve_by_npk(solver: str, X: np.ndarray, answers: Constraints, seed: int) -> float:
    return NPK(solver=solver, random_state=seed).fit(X, constraints=answers).primal_value_


def draw_times(records: list[Record], path: Path) -> None:
    """Figure 3, all solvers in one panel."""
    whole = [{**record, "all": "double spiral"} for record in records]
    panels: list[tuple[str, dict, str]] = [("", {}, "CPU seconds")]
    draw_curves(whole, path, x="rows", line="solver", down="all", across=panels)


def run_strings(*, amount: str, method: str, seed: int) -> dict[str, float]:
    """Accuracy of clusters of subject lines, from their edit distances and some pairs."""
    S, y = subject_similarity()
    answers = draw_components(y, amount, random_state=seed)
    if method == "NPK on the similarity":
        K = NPK(affinity="precomputed").fit(S, constraints=answers).kernel_
    elif method == "LRK on its positive part":
        Z = LogDetPairs(start="precomputed", random_state=seed).fit_transform(
            drop_negative(S)[0], constraints=answers
        )
        K = linear(Z)
    else:
        K = drop_negative(S)[0]
    return {"accuracy": rand_score(y, cluster(K, draw_starts(y, seed), answers))}


@lru_cache(maxsize=1)
def subject_similarity() -> tuple[np.ndarray, np.ndarray]:
    """1 - edit distance / longer length of the subjects of posts to four newsgroups."""
    posts = fetch("newsgroups20_text150")
    names = np.array(posts.target_names)[np.asarray(posts.y)]
    rows = np.concatenate([np.flatnonzero(names == group)[:N_SUBJECTS] for group in GROUPS])
    subjects = [subject_of(posts.X[row]) for row in rows]
    lengths = np.array([len(subject) for subject in subjects])
    distances = edit_distances(subjects)
    return 1 - distances / np.maximum(lengths[:, None], lengths), np.asarray(posts.y)[rows]


def subject_of(post: str) -> str:
    """The subject line in lower case, without "Re:", cut to its beginning; "-" if there is none."""
    found = re.search(r"^Subject:\s*(?:re:\s*)*(.*)$", post, re.MULTILINE | re.IGNORECASE)
    return (found.group(1).lower().strip()[:SUBJECT_LENGTH] if found else "") or "-"


def edit_distances(strings: list[str]) -> np.ndarray:
    """Levenshtein distances (n, n), all pairs at once, letter by letter."""
    lengths = np.array([len(string) for string in strings])
    codes = np.zeros((len(strings), lengths.max()), dtype=np.int32)
    for row, string in zip(codes, strings):
        row[: len(string)] = [ord(letter) for letter in string]
    a, b = np.triu_indices(len(strings), 1)
    row = np.tile(np.arange(codes.shape[1] + 1), (len(a), 1))
    distances = np.zeros((len(strings), len(strings)))
    for i in range(codes.shape[1]):
        replaced = row[:, :-1] + (codes[a, i, None] != codes[b])
        best = np.minimum(replaced, row[:, 1:] + 1)
        row = np.column_stack([np.full(len(a), i + 1), best])
        for j in range(1, row.shape[1]):
            np.minimum(row[:, j], row[:, j - 1] + 1, out=row[:, j])
        ended = lengths[a] == i + 1
        distances[a[ended], b[ended]] = row[ended, lengths[b[ended]]]
    return distances + distances.T


def cluster(K: np.ndarray, starts: np.ndarray, together: Constraints | None) -> np.ndarray:
    """Labels of the best of several starts of kernel k-means, must-linked rows kept together."""
    together = together and together.subset(together.positions("must_link"))
    runs = []
    for rows in starts:
        near = np.argmin(K.diagonal()[rows] - 2 * K[:, rows], axis=1)
        model = KernelKMeans(len(rows), kernel="precomputed", init=near, n_init=1)
        runs.append(model.fit(K, constraints=together))
    return min(runs, key=lambda model: model.inertia_).labels_


def draw_starts(y: np.ndarray, seed: int) -> np.ndarray:
    """Rows (N_STARTS, n_clusters) to start from, whatever the method."""
    rng = np.random.RandomState(seed)
    n_clusters = len(np.unique(y))
    return np.array([rng.permutation(len(y))[:n_clusters] for _ in range(N_STARTS)])


def choose_rbf(X: np.ndarray, answers: Constraints, starts: np.ndarray, seed: int) -> np.ndarray:
    """RBF kernel of the width whose clusters honor most of the pairs held out."""
    median = rbf_theta(X, "median")
    honored = np.zeros(len(WIDTHS))
    for fit_part, held_out in answers.folds(N_FOLDS, random_state=seed):
        for i, width in enumerate(WIDTHS):
            labels = cluster(rbf(X, theta=width * median), starts[:2], fit_part)
            honored[i] += satisfaction_score(None, held_out, labels) if held_out.n_answers else 0
    return rbf(X, theta=WIDTHS[honored.argmax()] * median)


def learn(space: Callable, X: np.ndarray, answers: Constraints, _, seed: int) -> np.ndarray:
    """Kernel of the space that an estimator learns."""
    return linear(space(seed).fit_transform(X, constraints=answers))


def learn_rca(X: np.ndarray, answers: Constraints, *_) -> np.ndarray:
    """The same of RCA, which takes must-links alone."""
    together = answers.subset(answers.positions("must_link"))
    return linear(RCA().fit_transform(X, constraints=together))


METHODS: dict[str, Callable] = {  # the bars of figure 2, left to right, and two of ours
    "k-means": lambda X, *_: linear(X),
    "constrained": lambda X, *_: linear(X),
    "+ RCA": learn_rca,
    "+ Xing": partial(learn, lambda seed: MMC()),
    "+ RBF": choose_rbf,
    "+ MPK": partial(learn, lambda seed: KernelAlignment()),
    "+ LRK": partial(learn, lambda seed: LogDetPairs(start="rbf", random_state=seed)),
    "+ NPK by SMO": partial(learn, lambda seed: NPK(solver="smo", random_state=seed)),
    "+ NPK": partial(learn, lambda seed: NPK()),
    "+ SimpleNPK": partial(learn, lambda seed: SimpleNPK()),
}
SOLVERS: dict[str, Callable] = {
    "SDP by Clarabel": solve_by_clarabel,
    "SMO": partial(solve_by_npk, "smo"),
    "exact": partial(solve_by_npk, "interior-point"),
}
STRING_METHODS = ("positive part", "LRK on its positive part", "NPK on the similarity")
TOLD = {  # what the paper's text says of figure 2
    ("double_spiral", "k-means"): "about .50",
    ("double_spiral", "+ NPK by SMO"): "about .90",
    ("sonar", "k-means"): "about .50",
    ("sonar", "+ NPK by SMO"): "about .70",
}


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d), z-scored, and classes (n,); a made set is drawn anew for every seed."""
    data = MADE[name](random_state=seed) if name in MADE else fetch(name)
    return StandardScaler().fit_transform(data.X), np.asarray(data.y)


TABLES = (
    Table(
        "figure1",
        "Figure 1: chessboard and double spiral, and what plain k-means makes of them",
        cells=lambda: [{"data": name, "method": "k-means"} for name in MADE],
        run=run_shape,
        rows=("data",),
        columns="method",
        measures=("accuracy",),
        draw=draw_shapes,
    ),
    Table(
        "figure2",
        "Figure 2: accuracy of k-means in the space that each method learns",
        cells=lambda: [
            {"data": data, "amount": amount, "method": method}
            for data in SETS
            for amount in AMOUNTS
            for method in METHODS
        ],
        run=run_bar,
        rows=("data", "amount"),
        columns="method",
        measures=("accuracy",),
        data=lambda: FETCHED,
        published=lambda cell: TOLD.get((cell["data"], cell["method"]), ""),
        draw=partial(draw_bars, bar="method", group="amount", panel="data", measure="accuracy"),
    ),
    Table(
        "figure3",
        f"Figure 3: CPU seconds by the number of rows of a double spiral, {TIMED_PAIRS} pairs",
        cells=lambda: [
            {"rows": rows, "solver": solver}
            for solver in SOLVERS
            for rows in TIMED_ROWS
            if solver != "SDP by Clarabel" or rows <= MOST_ROWS_OF_SDP
        ],
        run=run_timed,
        rows=("rows",),
        columns="solver",
        measures=("CPU seconds", "above the optimum"),
        draw=draw_times,
    ),
    Table(
        "stall",
        "How far the paper's solver gets: values relative to the optimum, and accuracies",
        cells=lambda: [
            {"data": data, "pairs": pairs, "delta": delta}
            for data in STALL_SETS
            for pairs in STALL_PAIRS
            for delta in STALL_DELTAS
        ],
        run=run_stall,
        rows=("data", "pairs"),
        columns="delta",
        measures=STALL_MEASURES,
        data=lambda: STALL_SETS[1:],
    ),
    Table(
        "strings",
        "Accuracy on 240 subject lines of four newsgroups, by an indefinite edit similarity",
        cells=lambda: [
            {"amount": amount, "method": method} for amount in AMOUNTS for method in STRING_METHODS
        ],
        run=run_strings,
        rows=("amount",),
        columns="method",
        measures=("accuracy",),
        data=lambda: ("newsgroups20_text150",),
    ),
)
