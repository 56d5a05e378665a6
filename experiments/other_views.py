"""Three people, one of whom sees two classes as one, or one as two: is it found, what does it cost?

Two people answer by the classes; the third by classes of which two are joined. Or two people answer
by the joined ones, and the third by all. Each gives 100 pairs or odd ones out, or puts 60 rows into
the groups on a screen; a twentieth of all answers is wrong. Runs use seeds from 100 on.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.people import labelled_rows
from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.evaluation import seen_differently
from likewise.guided import GuidedClustering
from likewise.labeling import Event, LabelOracle, Question, constraints_from

SETS = ("wine", "seeds", "vehicle", "digits")
N_ROWS = 400
KINDS = ("pairs", "triples", "groups")
VIEWS = ("joins two", "splits one", "guesses", "sees the same")
N_ANSWERS = {"pairs": 100, "triples": 100, "groups": 60}
WRONG = 0.05
FIRST_SEED = 100


def run_other_views(*, data: str, kind: str, view: str, seed: int) -> dict[str, float]:
    """Whether the third person is named rightly, anybody wrongly, and ARI with and without them."""
    seed += FIRST_SEED
    X, y = labelled_rows(data, N_ROWS, seed)
    rng = np.random.default_rng(seed)
    a, b = rng.choice(y.max() + 1, 2, replace=False)
    joined = np.unique(np.where(y == b, a, y), return_inverse=True)[1]
    shared = joined if view == "splits one" else y
    third = {"joins two": joined, "splits one": y, "guesses": rng.permutation(y)}.get(view, y)
    people = [
        answers_of(classes, kind, name, 1000 * seed + i)
        for i, (name, classes) in enumerate(zip("abc", (shared, shared, third)))
    ]
    careful = people[0] + people[1]
    k = int(shared.max()) + 1
    model = GuidedClustering(k, random_state=seed).fit(X, constraints=careful + people[2])
    without = GuidedClustering(k, random_state=seed).fit(X, constraints=careful)
    scores = [adjusted_rand_score(shared, one.labels_) for one in (model, without)]
    found = seen_differently(model.labels_, careful + people[2], model.prepare(X))
    is_right = [is_the_view(one, model.labels_, y, view, a, b) for one in found]
    return {
        "found": float(any(is_right)),
        "found wrongly": float(not all(is_right)),
        "ARI": scores[0],
        "without": scores[1],
        "difference": scores[0] - scores[1],
    }


def is_the_view(found, labels: np.ndarray, y: np.ndarray, view: str, a: int, b: int) -> bool:
    """Whether a difference is the third person's, about the clusters of the two classes."""
    if found.name != "c" or found.kind != {"joins two": "merges", "splits one": "splits"}.get(view):
        return False
    classes = [np.bincount(y[labels == cluster]).argmax() for cluster in found.clusters]
    return set(classes) == {a, b} if view == "joins two" else classes[0] in (a, b)


def answers_of(y: np.ndarray, kind: str, name: str, seed: int) -> Constraints:
    """What one person says, a share of it wrong."""
    n = N_ANSWERS[kind]
    if kind == "groups":
        return put_into_groups(y, name, n, seed)
    drawn = Constraints.from_labels(
        y, noise=WRONG, random_state=seed, **{"n_pairs" if kind == "pairs" else "n_odd_one_out": n}
    )
    kinds = {kind: getattr(drawn, kind) for kind in ("must_link", "cannot_link", "odd_one_out")}
    return Constraints(len(y), **kinds, annotators=[name] * n)


def put_into_groups(y: np.ndarray, name: str, n: int, seed: int) -> Constraints:
    """Rows put with one of the groups on a screen: a row of each class that everybody knows."""
    rng = np.random.default_rng(seed)
    oracle = LabelOracle(y, wrong=WRONG, random_state=seed)
    shown = [int(np.flatnonzero(y == c)[0]) for c in range(y.max() + 1)]
    rows = rng.permutation(np.setdiff1d(np.arange(len(y)), shown))[:n]
    events = []
    for row in rows.tolist():
        question = Question("group", (row,), groups=tuple((one,) for one in shown))
        events.append(Event("answer", f"{name} {row}", question, oracle(question), name))
    return constraints_from(events, len(y))


TABLE = Table(
    "other_views",
    "Three people, the third of whom joins two classes, splits one, guesses or sees the same: "
    "share of runs in which that is found, or something else; ARI with all answers and without "
    "theirs",
    cells=lambda: [
        {"data": data, "kind": kind, "view": view}
        for view in VIEWS
        for data in SETS
        for kind in KINDS
    ],
    run=run_other_views,
    rows=("data", "kind"),
    columns="view",
    measures=("found", "found wrongly", "difference", "ARI", "without"),
    data=lambda: SETS,
)
