"""The main job on bundled data: handwritten digits before and after some answers."""

import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.cli.messages import say_how_in_a_copy
from likewise.constraints import Constraints
from likewise.datasets import load_digits
from likewise.evaluation import free_row_score, satisfaction_score
from likewise.files.atomic_file import replacing, replacing_together
from likewise.files.cluster_file import write_clusters
from likewise.guided import GuidedClustering
from likewise.model_file import save_model
from likewise.numerics.label_matching import match_labels
from likewise.report import lay_out, write_report

N_CLUSTERS = 10
ANSWERS, CLUSTERS, MODEL = "answers.csv", "clusters.csv", "digits.likewise"
PICTURE, REPORT = "digits.png", "report.html"


def run_demo(folder: Path, *, n_answers: int, random_state: int, say: Callable) -> None:
    """Cluster the digits three times, print what the answers changed, and write files."""
    _check_folder(folder)
    digits = load_digits()
    X, y = digits.X / 16, np.asarray(digits.y)
    say(f"{len(X)} images of handwritten digits, {X.shape[1]} pixels each.")

    answers = Constraints.from_labels(
        y,
        n_must_link=n_answers // 2,
        n_cannot_link=n_answers - n_answers // 2,
        random_state=random_state,
    )
    say(f"Someone answers {answers.n_answers} questions: do these two belong together?")
    model = GuidedClustering(N_CLUSTERS, random_state=random_state).fit(X, constraints=answers)
    plain = KMeans(N_CLUSTERS, n_init=10, random_state=random_state).fit_predict(X)
    before, after = np.asarray(model.report_.labels_before), model.labels_

    say("")
    say(f"{'':<38}{'k-means':>9}{'no answers':>12}{f'{answers.n_answers} answers':>13}")
    for what, score in _scores(y, answers).items():
        say(f"{what:<38}{score(plain):>9.3f}{score(before):>12.3f}{score(after):>13.3f}")
    say("")
    say(f"How: {model.report_.how}")
    say(f"  {model.report_.why}")
    say("The most influential answers:")
    for position in np.argsort(-model.pulls_, kind="stable")[:5]:
        answer = answers.answer(position)
        a, b = answer.points
        say(f"  {answer.kind.replace('_', '-'):<12} a {y[a]} (row {a}) and a {y[b]} (row {b})")
    say(f"Contradictions between answers: {len(model.report_.conflicts)}")

    folder.mkdir(parents=True, exist_ok=True)
    written = [ANSWERS, CLUSTERS, MODEL]
    with replacing_together():
        answers.write(folder / ANSWERS)
        write_clusters(folder / CLUSTERS, after, None)
        save_model(model, folder / MODEL)
        plain = match_labels(plain, after)  # the same colors
        if _draw(folder / PICTURE, X, (plain, after), model.transform(X)):
            written.insert(0, PICTURE)
        pictures = digits.X.reshape(-1, 8, 8)
        about = {"constraints": answers, "images": pictures, "title": "Handwritten digits"}
        write_report(folder / REPORT, model, X, **about)
    say(f"Files in {folder}/: {', '.join(written)}")
    lacking = "" if find_spec("uvicorn") else "  (needs pip install 'likewise[studio]')"
    say(f"To answer yourself:  {_command()} demo --studio{say_how_in_a_copy(lacking)}")
    say(f"Open this report in a browser: {folder / REPORT}")


def _command() -> str:
    """How the command is called here: by its name, or where it is if it is not on the path."""
    return "likewise" if shutil.which("likewise") else sys.argv[0]


def _check_folder(folder: Path) -> None:
    """A new or empty folder, or that of an earlier demo: never overwrite a user's own files."""
    if not folder.is_dir():
        return
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    others = sorted(names - {ANSWERS, CLUSTERS, MODEL, PICTURE, REPORT})
    if others or (names and MODEL not in names):
        first = others[0] if others else min(names)
        raise FileExistsError(
            f"{folder} contains {first}, which the demo did not write. Choose a new folder with -o."
        )


def _scores(y: np.ndarray, answers: Constraints) -> dict[str, Callable[[np.ndarray], float]]:
    return {
        "agreement with the digits (ARI)": lambda labels: adjusted_rand_score(y, labels),
        "the same, on images without answers": lambda labels: free_row_score(y, labels, answers),
        "share of answers satisfied": lambda labels: satisfaction_score(None, answers, labels),
    }


def _draw(path: Path, X: np.ndarray, partitions: tuple, Z: np.ndarray) -> bool:
    """A map of both spaces, and the average image of every cluster; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    halves = figure.add_gridspec(1, 2)
    titles = ("k-means", "likewise, after the answers")
    for i, (title, space, labels) in enumerate(zip(titles, (X, Z), partitions)):
        side = figure.add_subfigure(halves[0, i])
        side.suptitle(title)
        grid = side.add_gridspec(3, N_CLUSTERS // 2, height_ratios=[5, 1, 1])
        scatter = side.add_subplot(grid[0, :])
        flat = lay_out(space)
        scatter.scatter(flat[:, 0], flat[:, 1], c=labels, cmap="tab10", s=5)
        scatter.set(xticks=[], yticks=[])
        for cluster in range(N_CLUSTERS):
            image = side.add_subplot(grid[1 + cluster // 5, cluster % 5])
            image.imshow(X[labels == cluster].mean(axis=0).reshape(8, 8), cmap="gray_r")
            image.set(xticks=[], yticks=[])
            for spine in image.spines.values():
                spine.set(edgecolor=matplotlib.colormaps["tab10"](cluster), linewidth=2)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
    return True
