"""What a session of questions is worth: `python -m experiments asking [TABLE]`.

A session with its defaults, driven by somebody who knows the classes and sees the question alone;
the number of classes is given to nobody. Rows are drawn by seeds 100 and up; seeds 0 to 9 were used
to choose how questions are chosen. A question is one screen answered: "can't tell", random ones,
repeats and second screens count. Rows are counted each time they are shown: a pair shows two.
Careful people are right; hasty ones give a wrong answer in 10 % and cannot tell in 10 %.

COBRAS asks its own pairs (cobras.py).
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from experiments.cobras import ask_cobras
from experiments.guided import CLICK_ROWS, CLICK_SETS, cells_of
from experiments.runs import Record, Table, summarize
from likewise.constraints import Constraints
from likewise.datasets import fetch, load_digits
from likewise.guided import GuidedClustering, fit_preparation
from likewise.labeling import LabelingSession, LabelOracle
from likewise.selection import next_questions

FIRST_SEED = 100  # 0 to 9 are for tuning
PEOPLE = {
    "careful": {"wrong": 0.0, "cant_tell": 0.0},
    "hasty": {"wrong": 0.1, "cant_tell": 0.1},
}
FURTHER_SETS = (
    "fashion_mnist_test10k",
    "isolet",
    "mit_scene8_gist512",
    "usps_roweis11000",
    "letterIJL_mpck",
    "breast_cancer_wdbc",
    "glass",
    "wine",
)
GROUP_QUESTIONS = (20, 30, 50, 100)
PAIR_QUESTIONS = (30, 50, 100, 200)
ROWS_SHOWN = (60, 100, 200, 400)  # those of as many pairs
PAIR_METHODS = ("careful", "hasty", "COBRAS")
RIVALS = ("session", "random pairs", "expected-change")
BATCH = 10  # questions between two fits of an older strategy
QUICK_MEASURES = ("ARI", "rows shown", "placed", "estimate", "low", "high")
MEASURES = ("ARI", "quick ARI", "rows shown", "placed", "estimate", "low", "high")
COBRAS = {  # pairs 30, 50, 100, 200; two to three seeds, cobras-ts 0.1.3
    "digits": (0.498, 0.542, 0.675, 0.727),
    "usps_libsvm9298": (0.294, 0.306, 0.400, 0.470),
    "optdigits": (0.439, 0.526, 0.621, 0.736),
    "mnist": (0.209, 0.256, 0.380, 0.409),
    "vehicle": (0.133, 0.184, 0.265, 0.319),
    "ionosphere": (0.578, 0.611, 0.674, 0.749),
    "synthetic_control": (0.673, 0.689, 0.819, 0.920),
}


def run_groups(*, data: str, people: str, questions: int, seed: int) -> dict[str, float]:
    """After so many questions "which of these does it belong with?"."""
    return run_session(data, "group", people, GROUP_QUESTIONS, seed)[questions]


def run_pairs(*, data: str, method: str, questions: int, seed: int) -> dict[str, float]:
    """After so many questions "do these two belong together?", however they were chosen."""
    if method == "session":
        return run_session(data, "pair", "careful", PAIR_QUESTIONS, seed)[questions]
    return run_rival(data, method, seed)[questions]


def run_labels(*, data: str, people: str, after: str, seed: int) -> dict[str, float]:
    """The labels that are there at once, after group questions or rows shown; without a model."""
    return run_quickly(data, "group", people, GROUP_QUESTIONS, seed)[after]


def run_pair_labels(*, data: str, people: str, after: str, seed: int) -> dict[str, float]:
    """The same after pairs, and what COBRAS makes of pairs that it chooses."""
    if people == "COBRAS":
        return run_cobras(data, seed)[after]
    return run_quickly(data, "pair", people, PAIR_QUESTIONS, seed)[after]


def after_questions(counts: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{n} questions" for n in counts)


def after_rows() -> tuple[str, ...]:
    return tuple(f"{n} rows" for n in ROWS_SHOWN)


def run_hasty(*, data: str, people: str, seed: int) -> dict[str, float]:
    """After 100 questions to somebody who takes care, or does not."""
    return run_session(data, "group", people, (100,), seed)[100]


@lru_cache(maxsize=1)  # the cells of one session follow each other
def run_session(
    data: str, kind: str, people: str, counts: tuple[int, ...], seed: int
) -> dict[int, dict[str, float]]:
    """Measures by the number of questions answered."""
    return ask_and_measure(data, kind, people, counts, seed, measure)


@lru_cache(maxsize=1)
def run_quickly(
    data: str, kind: str, people: str, counts: tuple[int, ...], seed: int
) -> dict[str, dict[str, float]]:
    """The same of the labels that are there at once, and by rows shown: the last screen within."""
    by_rows: dict[str, dict[str, float]] = {}

    def see_rows(session: LabelingSession, y: np.ndarray, n_shown: int, n_next: int) -> None:
        for n_rows in ROWS_SHOWN:
            if n_shown <= n_rows < n_shown + n_next:
                by_rows[f"{n_rows} rows"] = measure_labels(session, y)

    by_questions = ask_and_measure(data, kind, people, counts, seed, measure_labels, see_rows)
    last = by_questions[max(counts)]
    return {
        **{f"{n} questions": measures for n, measures in by_questions.items()},
        **{name: by_rows.get(name, last) for name in after_rows()},
    }


def ask_and_measure(
    data: str,
    kind: str,
    people: str,
    counts: tuple[int, ...],
    seed: int,
    measure_session,
    before_next=None,
) -> dict[int, dict[str, float]]:
    X, y = draw_rows(data, seed + FIRST_SEED)
    session = LabelingSession(X, kinds=(kind,), random_state=seed)
    oracle = LabelOracle(y, **PEOPLE[people], random_state=seed)
    measures = {}
    n_shown = 0
    for n_asked in range(1, max(counts) + 1):
        question = session.next_question()
        if question is not None:
            if before_next is not None:
                before_next(session, y, n_shown, len(question.shown))
            n_shown += len(question.shown)
            session.answer(question, oracle(question))
        if n_asked in counts:
            measures[n_asked] = measure_session(session, y)
    return measures


@lru_cache(maxsize=1)
def run_cobras(data: str, seed: int) -> dict[str, dict[str, float]]:
    """COBRAS on the same rows, asking pairs of its own; it is not told how many clusters there are.

    It clusters the rows as they are, standardized where a session would standardize them.
    """
    X, y = draw_rows(data, seed + FIRST_SEED)
    prepared = fit_preparation(X, "auto", seed=seed)
    found = ask_cobras(np.asarray(prepared.map.transform(X)), y, PAIR_QUESTIONS, seed)
    unknown = dict.fromkeys(QUICK_MEASURES, np.nan)
    return {
        f"{n} questions": unknown
        | {"ARI": adjusted_rand_score(y, labels), "placed": share_placed(y, labels)}
        | {"rows shown": 2 * n}
        for n, labels in zip(PAIR_QUESTIONS, found)
    }


def measure(session: LabelingSession, y: np.ndarray) -> dict[str, float]:
    """How good the clusters are, and how good the session thinks that its labels are."""
    of_labels = measure_labels(session, y)
    of_model = adjusted_rand_score(y, session.model.labels_)
    return of_labels | {"ARI": of_model, "quick ARI": of_labels["ARI"]}


def measure_labels(session: LabelingSession, y: np.ndarray) -> dict[str, float]:
    """The same without a model."""
    progress, labels = session.progress, session.labels
    return {
        "ARI": adjusted_rand_score(y, labels),
        "rows shown": progress.n_rows_shown,
        "placed": share_placed(y, labels),
        "estimate": progress.placed.mean,
        "low": progress.placed.low,
        "high": progress.placed.high,
    }


def share_placed(y: np.ndarray, labels: np.ndarray) -> float:
    """Share of the rows in the cluster of their class, clusters matched to classes one to one."""
    classes, rows = np.unique(y, return_inverse=True)
    counts = np.zeros((len(classes), labels.max() + 2))  # the last is for rows that belong nowhere
    np.add.at(counts, (rows, labels), 1)
    matched = linear_sum_assignment(-counts[:, :-1])
    return float(counts[:, :-1][matched].sum() / len(y))


@lru_cache(maxsize=1)
def run_rival(data: str, method: str, seed: int) -> dict[int, dict[str, float]]:
    """GuidedClustering after pairs drawn uniformly, or by an older strategy."""
    X, y = draw_rows(data, seed + FIRST_SEED)
    rng = np.random.default_rng(seed)
    pairs: list[tuple[int, ...]] = []
    measures = {}
    while len(pairs) < max(PAIR_QUESTIONS):
        if method == "random pairs":
            pairs += [tuple(rng.choice(len(y), 2, replace=False).tolist()) for _ in range(BATCH)]
        else:
            told = answer_pairs(pairs, y)
            proposed = next_questions(
                X, told, BATCH, strategy=method, random_state=seed + len(pairs)
            )
            pairs += [question.rows for question in proposed]
        if len(pairs) in PAIR_QUESTIONS:
            model = GuidedClustering(random_state=seed).fit(X, constraints=answer_pairs(pairs, y))
            score = adjusted_rand_score(y, model.labels_)
            others = dict.fromkeys(MEASURES, np.nan)
            measures[len(pairs)] = others | {"ARI": score, "rows shown": 2 * len(pairs)}
    return measures


def answer_pairs(pairs: list[tuple[int, ...]], y: np.ndarray) -> Constraints:
    together = [pair for pair in pairs if y[pair[0]] == y[pair[1]]]
    apart = [pair for pair in pairs if y[pair[0]] != y[pair[1]]]
    return Constraints(len(y), must_link=together, cannot_link=apart)


def draw_rows(data: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """800 rows of a set, 1,000 of digits, and their classes."""
    found = load_digits() if data == "digits" else fetch(data)
    classes = np.asarray(found.y)
    n_rows = 1000 if data == "digits" else CLICK_ROWS
    rows = np.random.default_rng(seed).permutation(len(classes))[:n_rows]
    X = np.asarray(found.X)[rows].reshape(len(rows), -1).astype(np.float64)
    X /= 16 if data == "digits" else 1
    return X, np.unique(classes[rows], return_inverse=True)[1]


def conclude_groups(records: list[Record]) -> list[str]:
    found = summarize(records, ("questions",), "ARI")
    means = ", ".join(f"{one} questions {found[str(one),].mean:.3f}" for one in GROUP_QUESTIONS)
    return [f"Mean of the sets: {means}.", *conclude_intervals(records)]


def conclude_pairs(records: list[Record]) -> list[str]:
    found = summarize(records, ("method", "questions"), "ARI")
    lines = [
        f"Mean of the sets, {method}: "
        + ", ".join(f"{n} pairs {found[method, str(n)].mean:.3f}" for n in PAIR_QUESTIONS)
        + "."
        for method in RIVALS
        if (method, str(PAIR_QUESTIONS[-1])) in found
    ]
    return lines + conclude_intervals([one for one in records if one["method"] == "session"])


def conclude_labels(records: list[Record]) -> list[str]:
    """Means by people and questions or rows, what haste costs with the most, and the intervals."""
    found = means_of_sets(records)
    lines = []
    for people in PAIR_METHODS:
        means = [f"{after} {mean:.3f}" for (who, after), mean in found.items() if who == people]
        if means:
            lines.append(f"Mean of the sets, {name_people(people)}: {', '.join(means)}.")
        asked = [one for one in records if one["people"] == people and "questions" in one["after"]]
        if asked and people in PEOPLE:
            lines += [f"{people.capitalize()} people: {one}" for one in conclude_intervals(asked)]
    most = max((after for _, after in found if "questions" in after), key=leading_number)
    if ("careful", most) in found and ("hasty", most) in found:
        cost = found["careful", most] - found["hasty", most]
        lines.append(f"Hasty people cost {cost:.3f} at {most}.")
    return lines + conclude_cobras(records)


def means_of_sets(records: list[Record]) -> dict[tuple[str, str], float]:
    """ARI by people and questions or rows: every set counts the same, however often it was run."""
    by_set: dict[tuple[str, str], list[float]] = {}
    for (who, after, _), one in summarize(records, ("people", "after", "data"), "ARI").items():
        by_set.setdefault((who, after), []).append(one.mean)
    return {key: float(np.mean(means)) for key, means in by_set.items()}


def conclude_cobras(records: list[Record]) -> list[str]:
    """Where COBRAS is ahead of a session of pairs."""
    found = summarize(records, ("people", "data", "after"), "ARI")
    ahead: dict[str, list[str]] = {}
    for who, data, after in found:
        if who == "COBRAS" and ("careful", data, after) in found:
            behind = found["careful", data, after].mean < found[who, data, after].mean
            ahead.setdefault(after, []).extend([data] if behind else [])
    where = [f"{after} on {', '.join(sets) or 'no set'}" for after, sets in ahead.items()]
    return [f"COBRAS is ahead of careful people's pairs after {'; after '.join(where)}."] * bool(
        where
    )


def name_people(people: str) -> str:
    return people if people == "COBRAS" else f"{people} people"


def leading_number(after: str) -> int:
    return int(after.split()[0])


def conclude_hasty(records: list[Record]) -> list[str]:
    found = summarize(records, ("people",), "ARI")
    if len(found) < 2:
        return []
    cost = found["careful",].mean - found["hasty",].mean
    return [f"Hasty people cost {cost:.3f} at 100 questions.", *conclude_intervals(records)]


def conclude_intervals(records: list[Record]) -> list[str]:
    """How often the 90 % interval holds the share of rows placed rightly."""
    placed, low, high = (
        np.array([float(one[name]) for one in records]) for name in ("placed", "low", "high")
    )
    if not len(placed):
        return []
    holds = np.mean((low <= placed) & (placed <= high))
    return [
        f"The 90 % interval holds the share of rows placed rightly in {holds:.0%} of {len(placed)} "
        f"cases; mean width {np.mean(high - low):.3f}."
    ]


def published_pairs(cell) -> str:
    """What COBRAS reaches with as many pairs."""
    if cell["method"] != "session":
        return ""
    return f"{COBRAS[cell['data']][PAIR_QUESTIONS.index(int(cell['questions']))]:.3f}"


def fetched() -> tuple[str, ...]:
    return tuple(name for name in CLICK_SETS if name != "digits")


def label_cells(sets: tuple[str, ...]) -> list[dict]:
    after = after_questions(GROUP_QUESTIONS) + after_rows()
    return cells_of(data=sets, people=tuple(PEOPLE), after=after)


def pair_cells(sets: tuple[str, ...]) -> list[dict]:
    return cells_of(data=sets, people=PAIR_METHODS, after=after_questions(PAIR_QUESTIONS))


TABLES = (
    Table(
        "labels",
        "ARI of the labels that are there at once, by group questions and by rows shown",
        cells=lambda: label_cells(CLICK_SETS),
        run=run_labels,
        rows=("data", "people"),
        columns="after",
        measures=QUICK_MEASURES,
        first_seed=FIRST_SEED,
        data=fetched,
        conclude=conclude_labels,
    ),
    Table(
        "pair_labels",
        "ARI of the labels that are there at once, by pairs, beside COBRAS on the same rows",
        cells=lambda: pair_cells(CLICK_SETS),
        run=run_pair_labels,
        rows=("data", "people"),
        columns="after",
        measures=QUICK_MEASURES,
        first_seed=FIRST_SEED,
        data=fetched,
        conclude=conclude_labels,
    ),
    Table(
        "further_labels",
        "Eight further sets: ARI by group questions and by rows shown",
        cells=lambda: label_cells(FURTHER_SETS),
        run=run_labels,
        rows=("data", "people"),
        columns="after",
        measures=QUICK_MEASURES,
        first_seed=FIRST_SEED,
        data=lambda: FURTHER_SETS,
        conclude=conclude_labels,
    ),
    Table(
        "further_pair_labels",
        "Eight further sets: ARI by pairs, beside COBRAS on the same rows",
        cells=lambda: pair_cells(FURTHER_SETS),
        run=run_pair_labels,
        rows=("data", "people"),
        columns="after",
        measures=QUICK_MEASURES,
        first_seed=FIRST_SEED,
        data=lambda: FURTHER_SETS,
        conclude=conclude_labels,
    ),
    Table(
        "groups",
        "ARI by group questions: which of these does it belong with?",
        cells=lambda: cells_of(data=CLICK_SETS, people=("careful",), questions=GROUP_QUESTIONS),
        run=run_groups,
        rows=("data",),
        columns="questions",
        measures=MEASURES,
        data=fetched,
        conclude=conclude_groups,
    ),
    Table(
        "pairs",
        "ARI by pairs, chosen by a session, at random, and by an older strategy",
        cells=lambda: cells_of(data=CLICK_SETS, method=RIVALS, questions=PAIR_QUESTIONS),
        run=run_pairs,
        rows=("data", "questions"),
        columns="method",
        measures=MEASURES,
        data=fetched,
        published=published_pairs,
        conclude=conclude_pairs,
    ),
    Table(
        "hasty",
        "ARI after 100 group questions to people who take care, and who do not",
        cells=lambda: cells_of(data=CLICK_SETS, people=tuple(PEOPLE)),
        run=run_hasty,
        rows=("data",),
        columns="people",
        measures=MEASURES,
        data=fetched,
        conclude=conclude_hasty,
    ),
)
