"""People, machines and views together: `python -m experiments together [TABLE]`.

Views of the THINGS objects joined, panels of three people one of whom guesses, machines measured by
50 answers of a person, one space with weights for each of ten people (personal_weights.py), people
who see two classes as one (other_views.py), and intervals (how_sure.py). Seeds 0 to 9 were looked
at while this was built; runs use seeds from 100 on, where rows or answers are drawn.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments import how_sure, other_views, personal_weights
from experiments.asking import draw_rows
from experiments.people import FEATURES, THINGS, draw, judge, split_of
from experiments.runs import Table
from experiments.things_tables import NORMS, things_views
from likewise.constraints import Constraints
from likewise.datasets import load_digits
from likewise.guided import GuidedClustering
from likewise.kernel_learning import ChoiceKernel
from likewise.labeling import LabelOracle, ask

FIRST_SEED = 100  # 0 to 9 are for tuning
VIEWS = ("pictures", "words", "categories", "ratings")
VIEW_SIZES = ("200", "2000", "20000", "all")
PANEL_KINDS = ("pairs", "triples")
THIRD_PERSON = {"random in 30 %": 0.3, "a spammer": 1.0}  # share of answers that are guessed
ANSWERS_EACH = 100
MACHINE_SETS = (
    "digits",
    "usps_libsvm9298",
    "optdigits",
    "mnist",
    "vehicle",
    "ionosphere",
    "synthetic_control",
)
MACHINES = ("confuses two classes", "wrong in 25 %")
BUDGET = {"machine": 2000, "person": 50}


def run_views(*, features: str, answers: str, seed: int) -> dict[str, float]:
    """Held-out choices over 1,854 objects predicted, from four tables joined or from pictures."""
    X, widths = things_views()
    is_joined = features == "joined"
    X = X if is_joined else X[:, : widths[0]]
    told, test = split_of(THINGS)
    space = ChoiceKernel(views=widths if is_joined else None, random_state=seed)
    space.fit(X, constraints=draw(told, answers, seed + FIRST_SEED))
    shares = space.view_weights_ if is_joined else np.full(len(VIEWS), np.nan)
    weights = dict(zip(VIEWS, shares.tolist()))
    return judge(space, X, test) | {"sharpness": space.sharpness_} | weights


def run_panel(*, kind: str, third: str, seed: int) -> dict[str, float]:
    """Digits, three people: ARI with all answers, and without those of the third."""
    digits = load_digits()
    X, y = digits.X / 16, np.asarray(digits.y)
    shares = (0.0, 0.0, THIRD_PERSON[third])
    people = [
        answers_of(y, kind, name, share, 1000 * (seed + FIRST_SEED) + i)
        for i, (name, share) in enumerate(zip("abc", shares))
    ]
    careful = people[0] + people[1]
    model = GuidedClustering(10, random_state=seed).fit(X, constraints=careful + people[2])
    without = GuidedClustering(10, random_state=seed).fit(X, constraints=careful)
    scores = [adjusted_rand_score(y, one.labels_) for one in (model, without)]
    return {
        "ARI": scores[0],
        "without": scores[1],
        "difference": scores[0] - scores[1],
        "reliability": float(model.reliabilities_[-1]),
    }


def answers_of(y: np.ndarray, kind: str, name: str, guessed: float, seed: int) -> Constraints:
    """The answers of one person, a share of them drawn at random among those offered."""
    rng = np.random.default_rng(seed)
    is_guess = rng.random(ANSWERS_EACH) < guessed
    if kind == "pairs":
        drawn = Constraints.from_labels(y, n_pairs=ANSWERS_EACH, random_state=seed)
        pairs, sign = drawn.signed_pairs()
        sign = np.where(is_guess, rng.choice([-1, 1], ANSWERS_EACH), sign)
        said = {"must_link": pairs[sign > 0], "cannot_link": pairs[sign < 0]}
    else:
        drawn = Constraints.from_labels(y, n_odd_one_out=ANSWERS_EACH, random_state=seed)
        triples = drawn.odd_one_out.copy()
        triples[is_guess] = rng.permuted(triples[is_guess], axis=1)
        said = {"odd_one_out": triples}
    return Constraints(len(y), **said, annotators=[name] * ANSWERS_EACH)


def run_machine(*, data: str, machine: str, seed: int) -> dict[str, float]:
    """A machine, a person, and both: ARI of the session's labels.

    The machine alone is the better of two: a session in which it answers the person's questions
    too, and the majority of what it says of every row, group names given.
    """
    X, y = draw_rows(data, seed + FIRST_SEED)
    a, b = np.random.default_rng(seed + FIRST_SEED).choice(y.max() + 1, 2, replace=False)
    seen, wrong = (y, 0.25) if machine == "wrong in 25 %" else (np.where(y == b, a, y), 0.0)

    def answering() -> LabelOracle:
        return LabelOracle(seen, wrong=wrong, random_state=seed)

    n_all = sum(BUDGET.values())
    sessions = {
        "both": ask(X, [answering(), LabelOracle(y)], BUDGET, random_state=seed),
        "person alone": ask(X, LabelOracle(y), BUDGET["person"], random_state=seed),
        "machine alone": ask(X, [answering(), answering()], BUDGET, random_state=seed),
    }
    scores = {name: adjusted_rand_score(y, one.labels) for name, one in sessions.items()}
    named = adjusted_rand_score(y, majority_of_looks(seen, wrong, n_all, seed))
    scores["machine alone"] = max(scores["machine alone"], named)
    better = max(scores["person alone"], scores["machine alone"])
    return {**scores, "better": better, "gain": scores["both"] - better}


def majority_of_looks(seen: np.ndarray, wrong: float, n_looks: int, seed: int) -> np.ndarray:
    """(n,) classes by the majority of so many looks, shared out among all rows; ties at random."""
    rng = np.random.default_rng(seed)
    k = seen.max() + 1
    rows = np.resize(rng.permutation(len(seen)), max(n_looks, len(seen)))
    is_wrong = rng.random(len(rows)) < wrong
    others = rng.integers(1, max(k, 2), len(rows))  # of one class there is no other
    said = np.where(is_wrong, (seen[rows] + others) % k, seen[rows])
    votes = rng.random((len(seen), k)) / 2
    np.add.at(votes, (rows, said), 1.0)
    return votes.argmax(axis=1)


TABLES = (
    Table(
        "views",
        "Odd-one-out choices over 1,854 objects: share predicted of a fixed fifth, from pictures "
        "(CLIP), and from pictures, words (word2vec), categories and ratings joined",
        cells=lambda: [
            {"features": features, "answers": size}
            for size in VIEW_SIZES
            for features in ("joined", "pictures")
        ],
        run=run_views,
        rows=("features",),
        columns="answers",
        measures=("accuracy", "log-loss", "C", "sharpness", "gap", *VIEWS),
        data=lambda: (THINGS, FEATURES, NORMS),
    ),
    Table(
        "panel",
        f"Digits, three people with {ANSWERS_EACH} answers each, the third guessing: ARI with all "
        "answers, and without the third person's",
        cells=lambda: [
            {"kind": kind, "third": third} for kind in PANEL_KINDS for third in THIRD_PERSON
        ],
        run=run_panel,
        rows=("kind",),
        columns="third",
        measures=("ARI", "without", "difference", "reliability"),
    ),
    Table(
        "machine",
        "A machine with 2,000 answers, a person with 50, and both: ARI, and what both gain over "
        "the better of the two",
        cells=lambda: [
            {"data": data, "machine": machine} for data in MACHINE_SETS for machine in MACHINES
        ],
        run=run_machine,
        rows=("data",),
        columns="machine",
        measures=("both", "person alone", "machine alone", "better", "gain"),
        data=lambda: tuple(name for name in MACHINE_SETS if name != "digits"),
    ),
    personal_weights.TABLE,
    other_views.TABLE,
    *how_sure.TABLES,
)
