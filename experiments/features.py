"""Tables of mixed columns, one call: `python -m experiments features [TABLE]`.

There is no paper behind these. Each table goes to the methods as it is, with words, dates, gaps and
ids; k is given. Clicks are the classes of rows drawn at random, the same for all methods.

    one-hot k-means   numbers imputed by the median and standardized, words of up to 50 levels
                      imputed and one-hot, anything else left out; ids left out by hand
    skrub k-means     skrub's TableVectorizer, imputed and standardized; ids left out by hand
    guided            GuidedClustering, which is told nothing about the columns

With clicks, k-means starts from the means of the clicked rows of each class, where all classes were
clicked; that helps it more often than not.
"""

import re
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from experiments.runs import Record, Table, summarize
from likewise.constraints import Constraints
from likewise.datasets import fetch
from likewise.guided import GuidedClustering

METHODS = ("one-hot k-means", "skrub k-means", "guided")
CLICKS = (0, 30, 100)
FIRST_SEED = 100  # the weights were tuned on seeds below
N_INIT = 10
MOST_LEVELS = 50
KEPT = 0.9  # of the rows of a table that was read, in each run
MADE = ("customers", "orders")
READ = ("heart", "soybean", "posts", "objects")
GROUPS = ("rec.autos", "sci.med", "talk.politics.guns", "comp.graphics")
HEART_WORDS = {  # the codes of the Statlog heart data that are not quantities
    "sex": {0: "female", 1: "male"},
    "chest_pain": {1: "typical", 2: "atypical", 3: "other", 4: "none"},
    "sugar": {0: "no", 1: "yes"},
    "ecg": {0: "normal", 1: "wave", 2: "hypertrophy"},
    "angina": {0: "no", 1: "yes"},
    "thal": {3: "normal", 6: "fixed", 7: "reversible"},
}
HEART = (
    *("age", "sex", "chest_pain", "pressure", "cholesterol", "sugar", "ecg", "rate", "angina"),
    *("depression", "slope", "vessels", "thal"),
)


def run_table(*, data: str, clicks: int, method: str, seed: int) -> dict[str, float]:
    """ARI of all rows."""
    seed += FIRST_SEED
    frame, y = load(data, seed)
    known = np.full(len(y), -1)
    clicked = np.random.default_rng(seed).permutation(len(y))[:clicks]
    known[clicked] = y[clicked]
    k = len(np.unique(y))
    if method == "guided":
        answers = Constraints.from_partial_labels(known)
        labels = GuidedClustering(k, random_state=seed).fit(frame, constraints=answers).labels_
    else:
        plain = frame.drop(columns="id")
        numbers = plain.select_dtypes(["number", "bool", "boolean"]).columns
        plain = plain.astype(dict.fromkeys(numbers, "Float64"))
        plain = plain.astype(dict.fromkeys(numbers, float))
        make = one_hot_features if method == "one-hot k-means" else skrub_features
        labels = seeded_kmeans(make(plain).fit_transform(plain), known, k, seed)
    return {"ARI": adjusted_rand_score(y, labels)}


def seeded_kmeans(X: np.ndarray, known: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means, from the means of the clicked rows of each class where every class was clicked."""
    classes = np.unique(known[known >= 0])
    if len(classes) < k:
        return KMeans(k, n_init=N_INIT, random_state=seed).fit_predict(X)
    starts = np.array([X[known == label].mean(axis=0) for label in classes])
    return KMeans(k, init=starts, n_init=1).fit_predict(X)


def one_hot_features(frame: pd.DataFrame):
    """What most people write first."""
    numbers = list(frame.select_dtypes("number").columns)
    words = [
        name
        for name in frame.columns.difference(numbers)
        if pd.api.types.is_string_dtype(frame[name]) and frame[name].nunique() <= MOST_LEVELS
    ]
    fill = FunctionTransformer(lambda cells: cells.fillna(cells.mode().iloc[0]).astype(object))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            ("words", make_pipeline(fill, one_hot), words),
        ]
    )


def skrub_features(frame: pd.DataFrame):
    """skrub's own way with tables, imputed and standardized for k-means."""
    from skrub import TableVectorizer

    return make_pipeline(TableVectorizer(), SimpleImputer(), StandardScaler())


@lru_cache(maxsize=2)
def load(data: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with a column id, and the class of each row: drawn anew, or nine in ten rows."""
    rng = np.random.default_rng(seed)
    makers = {
        "customers": make_customers,
        "orders": make_orders,
        "heart": read_heart,
        "soybean": read_soybean,
        "posts": read_posts,
        "objects": read_objects,
    }
    frame, y = makers[data](rng)
    if data in READ:
        kept = np.sort(rng.permutation(len(frame))[: round(KEPT * len(frame))])
        frame, y = frame.iloc[kept].reset_index(drop=True), y[kept]
    frame.insert(0, "id", [f"row-{i:05d}" for i in rng.permutation(len(frame))])
    return frame, np.unique(y, return_inverse=True)[1]


def make_customers(rng, n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Four kinds of customers, which no column tells alone; a tenth of the cells is missing."""
    y = rng.integers(0, 4, n)
    plan = np.array(["free", "basic", "gold", "team"])[y]
    region = np.array(["north", "south", "east", "west", "islands"])[rng.integers(0, 5, n)]
    frame = pd.DataFrame(
        {
            "age": np.array([24, 38, 52, 41])[y] + 7 * rng.normal(size=n),
            "income": np.exp(np.array([9.6, 10.3, 10.9, 11.3])[y] + 0.5 * rng.normal(size=n)),
            "visits": rng.poisson(np.array([2, 9, 4, 14])[y]).astype(float),
            "plan": np.where(rng.random(n) < 0.75, plan, rng.permutation(plan)),
            "region": region,
            "newsletter": rng.random(n) < np.array([0.1, 0.6, 0.3, 0.8])[y],
            "joined": pd.Timestamp("2021-01-01")
            + pd.to_timedelta(rng.integers(0, 500, n) + 300 * np.array([3, 2, 0, 1])[y], "D"),
            "weight": rng.normal(70, 12, n),
        }
    )
    return with_gaps(frame, 0.1, rng), y


def make_orders(rng, n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Three kinds of orders: a short note, heavy-tailed amounts, hours, and columns of noise."""
    y = rng.integers(0, 3, n)
    words = (
        "gift wrap card birthday ribbon surprise please address friend",
        "invoice company tax number department urgent office purchase",
        "replacement broken return warranty part missing screw manual",
    )
    notes = [" ".join(rng.choice(words[one].split(), rng.integers(3, 7))) for one in y]
    hour = np.array([20, 10, 15])[y] + 2.5 * rng.normal(size=n)
    day = pd.Timestamp("2025-03-01") + pd.to_timedelta(rng.integers(0, 40, n), "D")
    frame = pd.DataFrame(
        {
            "note": notes,
            "amount": np.exp(np.array([3.5, 6.0, 2.5])[y] + rng.normal(size=n)),
            "items": 1 + rng.poisson(np.array([1, 6, 1])[y]),
            "channel": np.where(rng.random(n) < 0.7, np.array(["app", "mail", "phone"])[y], "web"),
            "placed": day + pd.to_timedelta(hour, "h"),
            "warehouse": np.array([f"W{i}" for i in range(12)])[rng.integers(0, 12, n)],
            "postcode": [f"{i:05d}" for i in rng.integers(100, 99_999, n)],
        }
    )
    return with_gaps(frame, 0.05, rng), y


def read_heart(rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Statlog heart: its codes as the words they stand for."""
    heart = fetch("heart_statlog")
    frame = pd.DataFrame(heart.X, columns=list(HEART))
    for name, words in HEART_WORDS.items():
        frame[name] = frame[name].map(words)
    return with_gaps(frame, 0.05, rng), np.asarray(heart.y)


def read_soybean(_) -> tuple[pd.DataFrame, np.ndarray]:
    """Soybean (small): 35 properties of 47 sick plants, as words."""
    soybean = fetch("soybean_small")
    cells = np.asarray(soybean.X).astype(int)
    columns = {f"p{j}": [f"v{code}" for code in cells[:, j]] for j in range(cells.shape[1])}
    return pd.DataFrame(columns), np.asarray(soybean.y)


def read_posts(_, n_per_group: int = 100) -> tuple[pd.DataFrame, np.ndarray]:
    """Posts of four newsgroups as a mail program shows them."""
    posts = fetch("newsgroups20_text150")
    names, y = [str(name) for name in posts.target_names], np.asarray(posts.y)
    rows = [i for g in GROUPS for i in np.flatnonzero(y == names.index(g))[:n_per_group]]
    return pd.DataFrame([parse_post(posts.X[i]) for i in rows]), y[rows]


def parse_post(text: str) -> dict:
    header, _, body = text.partition("\n\n")
    fields = dict(re.findall(r"^([\w-]+): (.*)$", header, re.MULTILINE))
    sender = re.search(r"@([\w.-]+)", fields.get("From", ""))
    domain = sender.group(1).rpartition(".")[2].lower() if sender else None
    return {
        "subject": fields.get("Subject"),
        "body": body[:2000],
        "organization": fields.get("Organization"),
        "domain": domain,
        "lines": float(fields["Lines"]) if fields.get("Lines", "").isdigit() else None,
        "is_reply": fields.get("Subject", "").lower().startswith("re:"),
    }


def read_objects(_, n_classes: int = 6, most: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Common objects: what people say of them (with gaps), their categories as classes."""
    norms, objects = fetch("things_norms"), fetch("things_features").extras
    kinds = np.asarray(objects["topdown_category"]).astype(str)
    found, counts = np.unique(kinds[kinds != ""], return_counts=True)
    chosen = found[np.argsort(-counts, kind="stable")[:n_classes]]
    rows = np.concatenate([np.flatnonzero(kinds == kind)[:most] for kind in chosen])
    frame = pd.DataFrame(np.asarray(norms.X, dtype=float)[rows])
    frame.columns = [f"rated_{j}" for j in range(frame.shape[1])]
    weight = frame["rated_3"]
    heavy = (weight > weight.median()).map({True: "yes", False: "no"})
    frame["heavy"] = heavy.where(weight.notna())
    return frame, kinds[rows]


def with_gaps(frame: pd.DataFrame, share: float, rng) -> pd.DataFrame:
    """The table with a share of its cells missing, at random."""
    kinds = dict.fromkeys(frame.select_dtypes("number").columns, "Float64")
    kinds |= dict.fromkeys(frame.select_dtypes("bool").columns, "boolean")
    frame = frame.astype(kinds)
    for name in frame.columns:
        frame.loc[rng.random(len(frame)) < share, name] = None
    return frame


def conclude(records: list[Record]) -> list[str]:
    found = summarize(records, ("data", "clicks", "method"), "ARI")
    cells = sorted(
        {cell[:2] for cell in found if cell[2] == "guided"}
        & {cell[:2] for cell in found if cell[2] != "guided"}
    )
    n_behind = 0
    for data, clicks in cells:
        ours = found[data, clicks, "guided"]
        others = [found[data, clicks, one] for one in METHODS[:2] if (data, clicks, one) in found]
        best = max(others, key=lambda one: one.mean)
        error = np.hypot(np.nan_to_num(ours.standard_error), np.nan_to_num(best.standard_error))
        n_behind += ours.mean < best.mean - error
    if not cells:  # only ours, or only the others, were run
        return []
    return [
        "GuidedClustering is ahead of both or within one standard error in "
        f"{len(cells) - n_behind} of {len(cells)} cells."
    ]


TABLES = (
    Table(
        "tables",
        "ARI on tables of mixed columns, with the classes of 0, 30 or 100 rows known",
        cells=lambda: [
            {"data": data, "clicks": clicks, "method": method}
            for data in (*MADE, *READ)
            for clicks in CLICKS
            for method in METHODS
        ],
        run=run_table,
        rows=("data", "clicks"),
        columns="method",
        data=lambda: (
            "heart_statlog",
            "soybean_small",
            "newsgroups20_text150",
            "things_norms",
            "things_features",
        ),
        conclude=conclude,
        first_seed=FIRST_SEED,
    ),
)
