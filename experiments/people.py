"""What people's answers can do: `python -m experiments people [TABLE]`.

Held out is a fixed fifth of the questions (a question: the rows it asks about, in any order); its
hash stands below, and data that give another are refused. Strength and sharpness are chosen inside
the rest. Runs differ in the answers drawn from the rest, where not all are taken.
"""

import hashlib
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from experiments.figures import draw_curves
from experiments.runs import Table
from likewise.constraints import Constraints
from likewise.datasets import constraints_of, fetch, thin_by_class
from likewise.evaluation import held_out_accuracy
from likewise.guided import GuidedClustering
from likewise.kernel_learning import SKLR, ChoiceKernel

THINGS, FEATURES = "triplets_things_odd_one_out", "things_features"
ZAPPOS = "triplets_zappos_shoes85"
TEST_HASHES = {  # of the answers held out, in the order of the file
    THINGS: "7420d4f5c0c14d55",
    ZAPPOS: "87708fe5ba4a591f",
    "triplets_food100": "5929138fb08095e3",
    "triplets_materials100": "1c6dc58e639b03d3",
    "triplets_music412": "2183e443f1a44b65",
    "triplets_cars60_most_central": "f7daf1881049e27b",
}
SIZES = (50, 200, 500, 2000, 20_000)
DEFAULT_ANSWERS = 2000
MARGINS = ("hinge", "hard")
MARGIN_SIZES = (50, 200)  # beyond, projections over 1,737 directions take hours
WITHOUT_FEATURES = tuple(name for name in TEST_HASHES if name not in (THINGS, ZAPPOS))
EMBEDDING_SIZES = (500, 2000, 5000)

BINS = np.linspace(1 / 3, 1.0, 9)  # of the chance given to the likeliest choice
CLUSTER_INIT = 10  # starts of k-means

LOSS_SETS = ("wine", "digits", "vehicle", "mit_scene8_gist512")
LOSS_ROWS, LOSS_ANSWERS = 400, 200
NOISE = (0.0, 0.1, 0.2)

PANEL_ROWS, PANEL_ANSWERS = 300, 120  # an annotator's answers
PANELS: dict[str, dict[str, float]] = {  # share of wrong answers by annotator
    "careful": {"a": 0.0, "b": 0.0, "c": 0.05, "d": 0.05, "e": 0.05},
    "mixed": {"a": 0.0, "b": 0.05, "c": 0.1, "d": 0.2, "e": 0.3},
    "lazy": {"a": 0.05, "b": 0.05, "c": 0.05, "d": 0.05, "lazy": 2 / 3},
    "contrary": {"a": 0.05, "b": 0.05, "c": 0.05, "d": 0.05, "contrary": 1.0},
}
CANNOT_TELL = 0.1  # share of each annotator's questions answered so


def run_things(*, answers: str, method: str, seed: int) -> dict[str, float]:
    """Held-out choices over 1,854 object images predicted, from CLIP features."""
    space = things_space(answers, method, seed)
    X, test = things_features(), split_of(THINGS)[1]
    return judge(space, X, test)


def run_default(*, method: str, seed: int) -> dict[str, float]:
    """The same choices predicted in the space that GuidedClustering chooses from 2,000 of them."""
    X, (told, test) = things_features(), split_of(THINGS)
    if method == "features":
        return {"accuracy": held_out_accuracy(X, test), "softmax": 0.0}
    answers = draw(told, str(DEFAULT_ANSWERS), seed)
    model = GuidedClustering(random_state=seed).fit(X, constraints=answers)
    return {
        "accuracy": held_out_accuracy(model.transform(X), test),
        "softmax": float(isinstance(model.learner_, ChoiceKernel)),
    }


def run_ceiling(*, answers: str, seed: int) -> dict[str, float]:
    """Our share of right guesses at 440 hard questions, and the best anybody can have."""
    space, X = things_space(answers, "softmax", seed), things_features()
    repeated = constraints_of(fetch_once(THINGS), "repeated_triplets")
    said = space.choice_chances(X, repeated)[:, 0]
    agreeing = agreeing_shares(repeated)
    questions = repeated.questions()
    majorities = np.zeros(questions.max() + 1)
    np.maximum.at(majorities, questions, agreeing)
    start = things_space("0", "gaussian start", 0)
    return {
        "accuracy": held_out_accuracy(space.transform(X), repeated),
        "majority": float(majorities[questions].mean()),
        "start": held_out_accuracy(start.transform(X), repeated),
        "log-loss": float(-np.log(said).mean()),
        "least log-loss": float(-np.log(agreeing).mean()),
        "correlation": float(np.corrcoef(said, agreeing)[0, 1]),
    }


def run_calibration(*, answers: str, chance: str, seed: int) -> dict[str, float]:
    """Among held-out questions whose likeliest choice has about this chance: how often it is so."""
    chances = test_chances(answers, seed)
    likeliest = chances.max(axis=1)
    is_here = np.digitize(likeliest, BINS[1:-1]) == bin_names().index(chance)
    if not is_here.any():
        return {"predicted": np.nan, "right": np.nan, "share": 0.0}
    return {
        "predicted": float(likeliest[is_here].mean()),
        "right": float((chances.argmax(axis=1) == 0)[is_here].mean()),
        "share": float(is_here.mean()),
    }


def run_clusters(*, answers: str, seed: int) -> dict[str, float]:
    """k-means of the objects that have a category, in the learned space."""
    X = things_features()
    categories = fetch_once(FEATURES).extras["topdown_category"]
    space = things_space(answers, "gaussian start" if answers == "0" else "softmax", seed)
    has_one = categories != ""
    k = len(np.unique(categories[has_one]))
    Z = space.transform(X)[has_one]
    labels = KMeans(k, n_init=CLUSTER_INIT, random_state=seed).fit_predict(Z)
    return {
        "ARI": adjusted_rand_score(categories[has_one], labels),
        "NMI": normalized_mutual_info_score(categories[has_one], labels),
    }


def run_zappos(*, answers: str, method: str, seed: int) -> dict[str, float]:
    """Held-out "closer" answers about 85 shoes, from AlexNet features."""
    X = np.asarray(fetch_once(ZAPPOS).extras["X_alexnet"], dtype=np.float64)
    told, test = split_of(ZAPPOS)
    return judge(make_space(method, seed).fit(X, constraints=draw(told, answers, seed)), X, test)


def run_embedding(*, data: str, answers: str, seed: int) -> dict[str, float]:
    """Held-out answers without any features: the start is the identity."""
    told, test = split_of(data)
    K0 = np.eye(told.n_samples)
    space = ChoiceKernel(start="precomputed", n_components=1.0, random_state=seed)
    return judge(space.fit(K0, constraints=draw(told, answers, seed)), K0, test)


def run_annotators(*, panel: str, annotator_noise: str, seed: int) -> dict[str, float]:
    """Annotators with known faults: who is reliable, which answers are slips, and the clusters."""
    X, y = labelled_rows("digits", PANEL_ROWS, seed)
    told, is_wrong, truth = ask(y, PANELS[panel], seed)
    space = ChoiceKernel(annotator_noise=annotator_noise == "yes", random_state=seed)
    space.fit(X, constraints=told)
    suspected = np.isin(np.arange(told.n_answers), space.slips_)
    known = np.array([truth[name] for name in space.annotators_])
    found = int(np.count_nonzero(suspected & is_wrong))
    return {
        "ARI": cluster_ari(y, space.transform(X), seed),
        "precision": found / max(int(suspected.sum()), 1),
        "recall": found / max(int(is_wrong.sum()), 1),
        "reliability error": float(np.abs(space.reliabilities_ - known).mean()),
    }


def run_losses(*, data: str, noise: float, loss: str, seed: int) -> dict[str, float]:
    """Label-drawn answers, a share of them wrong: which loss clusters best."""
    X, y = labelled_rows(data, LOSS_ROWS, seed)
    answers = Constraints.from_labels(y, n_odd_one_out=LOSS_ANSWERS, noise=noise, random_state=seed)
    space = SKLR(random_state=seed) if loss == "none" else make_space(loss, seed)
    space.fit(X, constraints=None if loss == "none" else answers)
    return {"ARI": cluster_ari(y, space.transform(X), seed)}


def ask(
    y: np.ndarray, wrong_shares: dict[str, float], seed: int
) -> tuple[Constraints, np.ndarray, dict[str, float]]:
    """Answers of a panel, which of them are wrong, and how reliable each annotator is.

    Of guessed odd ones out two in three are wrong, so reliability is 1 - 3/2 of the wrong share,
    and 0 for who is wrong more often than that.
    """
    told, is_wrong = Constraints(len(y)), []
    n_undecided = round(CANNOT_TELL * PANEL_ANSWERS)
    n_odd = PANEL_ANSWERS - n_undecided
    for number, (name, wrong) in enumerate(wrong_shares.items()):
        state = 1000 * seed + number
        right = Constraints.from_labels(y, n_odd_one_out=n_odd, random_state=state)
        said = Constraints.from_labels(y, n_odd_one_out=n_odd, noise=wrong, random_state=state)
        unsure = Constraints.from_labels(y, n_undecided=n_undecided, random_state=state)
        told += Constraints(
            len(y),
            odd_one_out=said.odd_one_out,
            undecided=unsure.undecided,
            annotators=[name] * PANEL_ANSWERS,
        )
        is_wrong += [(said.odd_one_out != right.odd_one_out).any(axis=1), [False] * n_undecided]
    truth = {name: max(0.0, 1 - 1.5 * wrong) for name, wrong in wrong_shares.items()}
    return told, np.concatenate(is_wrong).astype(bool), truth


def judge(space: SKLR | ChoiceKernel, X, test: Constraints) -> dict[str, float]:
    """Share of held-out answers predicted, and their log-loss where chances are known."""
    measures = {"accuracy": held_out_accuracy(space.transform(X), test), "log-loss": np.nan}
    measures |= {"C": getattr(space, "C_", np.nan), "gap": getattr(space, "gap_", np.nan)}
    if isinstance(space, ChoiceKernel) and space.n_answers_used_:
        measures["log-loss"] = float(-np.log(space.choice_chances(X, test)[:, 0]).mean())
    return measures


def make_space(method: str, seed: int) -> SKLR | ChoiceKernel:
    """A start that gets no answers, choices by a softmax, or a loss of SKLR; Gaussian start."""
    if method.endswith(" start"):
        return ChoiceKernel(start=method.removesuffix(" start"))
    if method == "softmax":
        return ChoiceKernel(random_state=seed)
    return SKLR(loss=method, random_state=seed)


def things_space(answers: str, method: str, seed: int) -> SKLR | ChoiceKernel:
    return _things_space(answers, method, 0 if answers in ("0", "all") else seed)


@lru_cache(maxsize=3)  # tables share the spaces that take longest
def _things_space(answers: str, method: str, seed: int) -> SKLR | ChoiceKernel:
    drawn = draw(split_of(THINGS)[0], answers, seed)
    return make_space(method, seed).fit(things_features(), constraints=drawn)


@lru_cache(maxsize=2)
def test_chances(answers: str, seed: int) -> np.ndarray:
    space = things_space(answers, "softmax", seed)
    return space.choice_chances(things_features(), split_of(THINGS)[1])


def draw(told: Constraints, answers: str, seed: int) -> Constraints:
    """So many of the answers, or all."""
    if answers == "all":
        return told
    return told.subset(np.random.RandomState(seed).permutation(told.n_answers)[: int(answers)])


@lru_cache(maxsize=2)
def split_of(name: str) -> tuple[Constraints, Constraints]:
    """Answers to learn from and the fixed fifth of the questions, checked by its hash."""
    told, test = constraints_of(fetch_once(name)).split(0.8, random_state=0)
    found = hash_of(test)
    if found != TEST_HASHES[name]:
        raise ValueError(f"The answers held out of {name} have hash {found}, not the known one.")
    return told, test


def hash_of(answers: Constraints) -> str:
    told = np.concatenate([answers.odd_one_out, answers.closer]).astype("<i4")
    return hashlib.sha256(told.tobytes()).hexdigest()[:16]


def agreeing_shares(repeated: Constraints) -> np.ndarray:
    """(n_answers,) share of the people asked the same question who said the same."""
    questions = repeated.questions()
    said = questions * repeated.n_samples + repeated.odd_one_out[:, 2]
    _, place, counts = np.unique(said, return_inverse=True, return_counts=True)
    return counts[place] / np.bincount(questions)[questions]


def bin_names() -> list[str]:
    return [f"{low:.2f}-{high:.2f}" for low, high in pairwise(BINS)]


def cluster_ari(y: np.ndarray, Z: np.ndarray, seed: int) -> float:
    model = KMeans(len(np.unique(y)), n_init=CLUSTER_INIT, random_state=seed)
    return adjusted_rand_score(y, model.fit_predict(Z))


fetch_once = lru_cache(maxsize=4)(fetch)


def things_features() -> np.ndarray:
    return np.asarray(fetch_once(FEATURES).extras["X_clip_vit_b32"], dtype=np.float64)


def labelled_rows(name: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Z-scored rows and their classes, thinned by class."""
    data = fetch_once(name)
    y = np.asarray(data.y)
    X = np.asarray(data.X, dtype=np.float64).reshape(len(y), -1)
    if len(y) > n_rows:
        rows = thin_by_class(y, n_rows, random_state=seed)
        X, y = X[rows], y[rows]
    return StandardScaler().fit_transform(X), y


TABLES = (
    Table(
        "things",
        "Odd-one-out choices over 1,854 object images, CLIP features: share predicted of a fixed "
        "fifth, by answers learned from",
        cells=lambda: [
            {"answers": "0", "method": "linear start"},
            {"answers": "0", "method": "gaussian start"},
            *({"answers": str(n), "method": "softmax"} for n in SIZES),
            *({"answers": str(n), "method": loss} for n in MARGIN_SIZES for loss in MARGINS),
        ],
        run=run_things,
        rows=("answers",),
        columns="method",
        measures=("accuracy", "log-loss", "C", "gap"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "default",
        f"The same from {DEFAULT_ANSWERS:,} answers, in the space that GuidedClustering chooses by "
        "default, and whether that is a softmax's",
        cells=lambda: [{"method": method} for method in ("features", "GuidedClustering")],
        run=run_default,
        rows=(),
        columns="method",
        measures=("accuracy", "softmax"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "things-all",
        "The same with all answers except the held-out fifth: one draw, so one run",
        cells=lambda: [{"answers": "all", "method": "softmax"}],
        run=run_things,
        rows=("answers",),
        columns="method",
        measures=("accuracy", "log-loss", "C", "gap"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "ceiling",
        "440 hard questions asked of about 200 people each: the majority's share is the best "
        "anyone can predict, the entropy of the votes the least log-loss",
        cells=lambda: [{"answers": size} for size in ("2000", "all")],
        run=run_ceiling,
        rows=(),
        columns="answers",
        measures=("accuracy", "majority", "start", "log-loss", "least log-loss", "correlation"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "calibration",
        "Held-out questions by the chance given to the likeliest choice: how often it was chosen",
        cells=lambda: [
            {"answers": size, "chance": name} for size in ("2000", "all") for name in bin_names()
        ],
        run=run_calibration,
        rows=("answers",),
        columns="chance",
        measures=("predicted", "right", "share"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "clusters",
        "k-means of the 1,295 objects that have a category, compared with those categories",
        cells=lambda: [{"answers": size} for size in ("0", "2000", "all")],
        run=run_clusters,
        rows=(),
        columns="answers",
        measures=("ARI", "NMI"),
        data=lambda: (THINGS, FEATURES),
    ),
    Table(
        "zappos",
        '"Closer" answers about 85 shoes, AlexNet features: share predicted of a fixed fifth',
        cells=lambda: [
            {"answers": "0", "method": "linear start"},
            {"answers": "0", "method": "gaussian start"},
            *({"answers": size, "method": "softmax"} for size in (*map(str, SIZES), "all")),
            *({"answers": str(n), "method": loss} for n in MARGIN_SIZES for loss in MARGINS),
        ],
        run=run_zappos,
        rows=("answers",),
        columns="method",
        measures=("accuracy", "log-loss", "C", "gap"),
        data=lambda: (ZAPPOS,),
    ),
    Table(
        "embedding",
        "Answers without features, from the identity: share predicted of a fixed fifth",
        cells=lambda: [
            {"data": data, "answers": size}
            for data in WITHOUT_FEATURES
            for size in (*map(str, EMBEDDING_SIZES), "all")
        ],
        run=run_embedding,
        rows=("data",),
        columns="answers",
        measures=("accuracy", "log-loss", "C", "gap"),
        data=lambda: WITHOUT_FEATURES,
    ),
    Table(
        "annotators",
        f"Panels of five with known faults, {PANEL_ANSWERS} answers each about {PANEL_ROWS} digits",
        cells=lambda: [
            {"panel": panel, "annotator_noise": noise}
            for panel in PANELS
            for noise in ("no", "yes")
        ],
        run=run_annotators,
        rows=("panel",),
        columns="annotator_noise",
        measures=("ARI", "precision", "recall", "reliability error"),
        data=lambda: ("digits",),
    ),
    Table(
        "losses",
        f"ARI of k-means from {LOSS_ANSWERS} label-drawn answers, a share of them wrong",
        cells=lambda: [
            {"data": data, "noise": noise, "loss": loss}
            for data in LOSS_SETS
            for noise in NOISE
            for loss in ("none", "hinge", "softmax")
        ],
        run=run_losses,
        rows=("data", "noise"),
        columns="loss",
        data=lambda: LOSS_SETS,
        draw=partial(draw_curves, x="noise", line="loss", down="data", across=[("", {}, "ARI")]),
    ),
)
