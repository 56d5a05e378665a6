"""Tutorials run from top to bottom, and so does the code on the pages."""

import re
import shlex

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from docs.tools.tables import ROOT
from likewise import Constraints
from likewise.cli import main

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
PAGES = ["README.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "guide").glob("*.md"))
FEWER = {  # enough to see that it runs
    "N_ROWS = 200_000": "N_ROWS = 12_000",
    "40_000": "8_000",
    "range(500)": "range(120)",
    "max_epochs=10": "max_epochs=2",
}
EXTRAS = {"import dask\n": "dask", "import torch\n": "torch", "likewise.deep": "torch"}


def run(code, name, given):
    for many, few in FEWER.items():
        code = code.replace(many, few)
    exec(compile(code, name, "exec"), given)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in, and no window to draw in."""
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    yield tmp_path
    plt.close("all")


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_tutorial_runs(name, desk, capsys):
    assert name.startswith("plot_"), "or the gallery leaves it out"
    run((ROOT / "examples" / name).read_text(), name, {"__name__": "__main__"})
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "name", [name for name in PAGES if "```python" in (ROOT / name).read_text()]
)
def test_the_python_on_a_page_runs(name, desk):
    """In one go, after what the page takes as given: a comment that begins with "given"."""
    blocks = re.findall(
        r"^(?:```python|<!-- given)\n(.*?)^(?:```|-->)$",
        (ROOT / name).read_text(),
        re.DOTALL | re.MULTILINE,
    )
    code = "\n".join(blocks)
    for sign, extra in EXTRAS.items():
        if sign in code:
            pytest.importorskip(extra)
    run(code, name, {})


def test_the_first_page_shows_what_the_readme_does():
    shown = [
        re.search(r"```python\n.*?```", (ROOT / name).read_text(), re.DOTALL).group()
        for name in ("README.md", "docs/index.md")
    ]
    assert shown[0] == shown[1]
    assert len(shown[0].splitlines()) <= 14  # ten lines to a first result


@pytest.mark.parametrize("name", ["README.md", "docs/guide/start.md"])
def test_the_commands_on_a_page_run(name, desk):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 8)
    X = rng.normal(size=(80, 4)) + 5 * rng.normal(size=(10, 4))[y]
    header = ",".join("abcd")
    for file, rows in (("data.csv", X), ("new-rows.csv", X[:5])):
        np.savetxt(file, rows, delimiter=",", header=header, comments="")
    Constraints.from_labels(y, n_pairs=60, random_state=0).write("answers.csv")
    commands = re.findall(r"^likewise (.*?)(?:  +#.*)?$", (ROOT / name).read_text(), re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        main(shlex.split(command))
    written = {"clusters.csv", "report.html", "m.likewise", "new-clusters.csv"}
    assert written <= {path.name for path in desk.iterdir()}
