"""Do intervals hold what they should? `accuracy_interval`, `membership_intervals`, made people.

    accuracy     the share predicted of 10,000 further answers of the same people, or of others
    memberships  their mean over 8 models of as many answers of the same people, drawn anew

People answer about classes of known sets, each with a share of wrong answers of their own, drawn
evenly from 0 to .4. Intervals are asked for at .9. Runs use seeds from 100 on.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from experiments.people import labelled_rows
from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.evaluation import accuracy_interval, held_out_accuracy, membership_intervals
from likewise.guided import GuidedClustering

SETS = ("wine", "seeds", "vehicle")
N_ROWS = 200
KINDS = ("pairs", "triples")
PEOPLE = (4, 20)
ANSWERS_EACH = {4: 25, 20: 10}
N_INTERVALS = 40  # a run
N_OTHERS = 8  # independent draws of answers
N_TRUE = 10_000
LEVEL = 0.9
MOST_WRONG = 0.4
MODEL_ANSWERS = (60, 200)
FIRST_SEED = 100


def run_accuracy(*, data: str, kind: str, people: int, seed: int) -> dict[str, float]:
    """How often intervals hold the share among all answers, and how wide they are."""
    seed += FIRST_SEED
    X, y = labelled_rows(data, N_ROWS, seed)
    rng = np.random.default_rng(seed)
    is_by_person = people >= 10
    shares = rng.uniform(0, MOST_WRONG, people)
    many = MOST_WRONG * (np.arange(200) + 0.5) / 200 if is_by_person else shares
    truth = held_out_accuracy(X, ask_people(y, kind, many, N_TRUE // len(many), rng))
    held, widths = [], []
    for _ in range(N_INTERVALS):
        if is_by_person:
            shares = rng.uniform(0, MOST_WRONG, people)
        answers = ask_people(y, kind, shares, ANSWERS_EACH[people], rng)
        found = accuracy_interval(X, answers, level=LEVEL, random_state=seed)
        held.append(found.low <= truth <= found.high)
        widths.append(found.high - found.low)
    return {"holds": float(np.mean(held)), "width": float(np.mean(widths))}


def run_memberships(*, data: str, answers: int, seed: int) -> dict[str, float]:
    """How often intervals hold the mean memberships from as many answers, drawn independently."""
    seed += FIRST_SEED
    X, y = labelled_rows(data, N_ROWS, seed)
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0, MOST_WRONG / 2, 4)
    k = int(y.max()) + 1
    own = ask_people(y, "pairs", shares, answers // 4, rng)
    model = GuidedClustering(k, random_state=seed).fit(X, constraints=own)
    found = membership_intervals(model, X, own, level=LEVEL, random_state=seed)
    memberships = model.predict_proba(X)
    others = []
    for _ in range(N_OTHERS):
        other = ask_people(y, "pairs", shares, answers // 4, rng)
        model.fit(X, constraints=other)
        others.append(in_order(memberships, model.predict_proba(X)))
    mean = np.mean(others, axis=0)
    agrees = np.mean([one.argmax(axis=1) == memberships.argmax(axis=1) for one in others], axis=0)
    is_stable = found.stable >= LEVEL
    slack = 1e-6  # of memberships that are 0 or 1
    return {
        "holds": float(((found.low - slack <= mean) & (mean <= found.high + slack)).mean()),
        "width": float((found.high - found.low).mean()),
        "said to stay": float(found.stable.mean()),
        "stays": float(agrees.mean()),
        "stable rows": float(is_stable.mean()),
        "of them stay": float(agrees[is_stable].mean()) if is_stable.any() else float("nan"),
    }


def in_order(shares: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Memberships (n, k) with clusters matched one to one to those they share most with."""
    own, theirs = linear_sum_assignment(-(shares.T @ others))
    return others[:, theirs[np.argsort(own)]]


def ask_people(
    y: np.ndarray, kind: str, shares: np.ndarray, n_each: int, rng: np.random.Generator
) -> Constraints:
    """Answers of people with these shares of wrong ones."""
    n, seed = len(shares) * n_each, int(rng.integers(2**31))
    wrong = rng.random(n) < np.repeat(shares, n_each)
    asked = {"n_pairs" if kind == "pairs" else "n_odd_one_out": n}
    right = Constraints.from_labels(y, random_state=seed, **asked)
    order = rng.permutation(n)
    if kind == "pairs":
        pairs, sign = right.signed_pairs()
        pairs, sign = pairs[order], np.where(wrong, -sign[order], sign[order])
        names = np.repeat(np.arange(len(shares)), n_each)
        said = {"must_link": pairs[sign > 0], "cannot_link": pairs[sign < 0]}
        who = np.concatenate([names[sign > 0], names[sign < 0]])
    else:
        triples = right.odd_one_out[order].copy()
        turned = triples[:, [0, 2, 1]]  # another one is said to be odd
        said = {"odd_one_out": np.where(wrong[:, None], turned, triples)}
        who = np.repeat(np.arange(len(shares)), n_each)
    return Constraints(len(y), **said, annotators=[f"person {i}" for i in who])


TABLES = (
    Table(
        "sure_of_answers",
        f"Share of {N_INTERVALS} intervals (level {LEVEL}) that hold the share of answers "
        "predicted by the features, among all answers of 4 people or among other people than 20",
        cells=lambda: [
            {"data": data, "kind": kind, "people": people}
            for data in SETS
            for kind in KINDS
            for people in PEOPLE
        ],
        run=run_accuracy,
        rows=("data", "kind"),
        columns="people",
        measures=("holds", "width"),
        data=lambda: SETS,
    ),
    Table(
        "sure_of_clusters",
        "Memberships of rows from pairs of four people: share of the mean ones from other answers "
        f"inside the intervals (level {LEVEL}), and rows that stay in their cluster with these",
        cells=lambda: [
            {"data": data, "answers": answers} for data in SETS for answers in MODEL_ANSWERS
        ],
        run=run_memberships,
        rows=("data",),
        columns="answers",
        measures=("holds", "width", "said to stay", "stays", "stable rows", "of them stay"),
        data=lambda: SETS,
    ),
)
