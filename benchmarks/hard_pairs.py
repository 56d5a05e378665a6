"""Pairs that must hold: COPKMeans now and before, GuidedClustering, and what PCCC published.

The sets and numbers of pairs of baumann2022's appendix. Half of our pairs are must-links, drawn
anew for each seed, so the draws are not theirs. COPKMeans gets what PCCC gets: z-scored features,
the number of classes, pairs that must hold. GuidedClustering prepares the features itself. The gap
is that of optimality_gap, for the first seed.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from experiments.few_answers import PCCC
from likewise import Constraints, COPKMeans, GuidedClustering, optimality_gap
from likewise.datasets import fetch

BEFORE = "c9a070e"  # the last commit whose COPKMeans moved one group at a time
MOST_ROWS = 1_000  # for which the gap is computed
ROOT = Path(__file__).parents[1]
EARLIER = """
import sys, time
import numpy as np
from likewise import COPKMeans, Constraints
for path in sys.argv[1:]:
    with np.load(path) as problem:
        X, k, seed = problem["X"], int(problem["k"]), int(problem["seed"])
        pairs = {"must_link": problem["must"], "cannot_link": problem["cannot"]}
    model = COPKMeans(k, random_state=seed)
    began = time.process_time()
    model.fit(X, constraints=Constraints(len(X), **pairs))
    seconds = time.process_time() - began
    np.savez(path, labels=model.labels_, inertia=model.inertia_, seconds=seconds)
"""


PROBLEMS = [{"data": data, "pairs": pairs} for data, pairs in sorted(PCCC)]
SMALLEST = {"data": "iris", "pairs": 28}
MEASURED = (
    "rows",
    "PCCC published ARI",
    "COPKMeans ARI",
    "COPKMeans before ARI",
    "GuidedClustering ARI",
    "COPKMeans inertia",
    "COPKMeans before inertia",
    "COPKMeans s",
    "COPKMeans before s",
    "gap to any labels",
)


def measure(problem, n_seeds, no_peers):
    """What a set and a number of pairs come to."""
    data, n_pairs = problem["data"], problem["pairs"]
    problems = [draw_problem(data, n_pairs, seed) for seed in range(n_seeds)]
    X, y, pairs = problems[0]
    k = len(np.unique(y))
    models, seconds = [], []
    for seed, (rows, _, drawn) in enumerate(problems):
        began = time.process_time()
        models.append(COPKMeans(k, random_state=seed).fit(rows, constraints=drawn))
        seconds.append(time.process_time() - began)
    raw = np.asarray(fetch(data).X, dtype=np.float64)
    guided = [
        GuidedClustering(k, random_state=seed).fit(raw, constraints=drawn).labels_
        for seed, (_, _, drawn) in enumerate(problems)
    ]
    before = [] if no_peers else fit_before(problems, k)
    gap = optimality_gap(X, models[0].labels_, pairs).gap if len(X) <= MOST_ROWS else np.nan
    ours, theirs = [one.labels_ for one in models], [one["labels"] for one in before]
    values = (
        str(len(X)),
        f"{PCCC[data, n_pairs]:.3f}",
        *(
            show([adjusted_rand_score(y, one) for one in some], 3)
            for some in (ours, theirs, guided)
        ),
        show([one.inertia_ for one in models], 1),
        show([one["inertia"] for one in before], 1),
        show(seconds, 2),
        show([one["seconds"] for one in before], 2),
        f"{gap:.3f}",
    )
    return dict(zip(MEASURED, values))


def draw_problem(data, n_pairs, seed):
    """Rows, z-scored, their classes and the pairs."""
    found = fetch(data)
    y, half = np.unique(np.asarray(found.y), return_inverse=True)[1], n_pairs // 2
    pairs = Constraints.from_labels(
        y, n_must_link=n_pairs - half, n_cannot_link=half, random_state=seed
    )
    return StandardScaler().fit_transform(np.asarray(found.X, dtype=np.float64)), y, pairs


def fit_before(problems, k):
    """What the earlier commit makes of the problems; nothing where there is no such history."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", BEFORE, "src"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        return []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
            tar.extractall(folder, filter="data")
        paths = []
        for seed, (X, _, pairs) in enumerate(problems):
            paths.append(Path(folder, f"problem-{seed}.npz"))
            links = {"must": pairs.must_link, "cannot": pairs.cannot_link}
            np.savez(paths[-1], X=X, k=k, seed=seed, **links)
        command = [sys.executable, "-W", "ignore", "-c", EARLIER, *map(str, paths)]
        environment = {**os.environ, "PYTHONPATH": str(Path(folder, "src"))}
        subprocess.run(command, env=environment, check=True)
        return [dict(np.load(path)) for path in paths]


def show(values, digits):
    """Mean and standard error; "not run" where there are no values."""
    if not len(values):
        return "not run"
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):,.{digits}f} ± {error:,.{digits}f}"
