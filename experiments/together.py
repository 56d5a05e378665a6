"""People, machines and views together: `python -m experiments people [TABLE]`.

These tables belong to people.py, which lists them: views of the THINGS objects joined, panels of
three people one of whom guesses, and machines measured by 50 answers of a person. Seeds 0 and 1
were looked at while this was built; runs use seeds from 100 on, where rows or answers are drawn.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.asking import draw_rows
from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.datasets import load_digits
from likewise.guided import GuidedClustering
from likewise.labeling import LabelOracle, ask

FIRST_SEED = 100  # 0 and 1 are for tuning
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
    """A machine, a person, and both: ARI of the session's labels."""
    X, y = draw_rows(data, seed + FIRST_SEED)
    a, b = np.random.default_rng(seed + FIRST_SEED).choice(y.max() + 1, 2, replace=False)

    def answering() -> LabelOracle:
        if machine == "wrong in 25 %":
            return LabelOracle(y, wrong=0.25, random_state=seed)
        return LabelOracle(np.where(y == b, a, y))

    sessions = {
        "both": ask(X, [answering(), LabelOracle(y)], BUDGET, random_state=seed),
        "person": ask(X, LabelOracle(y), BUDGET["person"], random_state=seed),
        "machine": ask(X, answering(), BUDGET["machine"], random_state=seed),
    }
    scores = {name: adjusted_rand_score(y, one.labels) for name, one in sessions.items()}
    better = max(scores["person"], scores["machine"])
    return {**scores, "gain": scores["both"] - better}


TABLES = (
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
        measures=("both", "person", "machine", "gain"),
        data=lambda: tuple(name for name in MACHINE_SETS if name != "digits"),
    ),
)
