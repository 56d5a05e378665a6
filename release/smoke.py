"""Use an installed likewise once: fit, save, load, predict, report, command line; then one extra.

Run by `python -m release` inside a clean environment: python smoke.py [EXTRA]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import likewise
from likewise import ITML, Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_digits, load_wine
from likewise.report import write_report

COMMAND = Path(sys.executable).parent / "likewise"


def use_core(folder):
    """What everybody has."""
    digits = load_digits()
    X, y = digits.X[:300] / 16, digits.y[:300]
    answers = Constraints.from_labels(y, n_must_link=40, n_cannot_link=40, random_state=0)
    model = GuidedClustering(10, random_state=0).fit(X, constraints=answers)
    save_model(model, folder / "m.likewise")
    again = load_model(folder / "m.likewise")
    assert (again.predict(X) == model.predict(X)).all()
    write_report(folder / "report.html", model, X, constraints=answers)
    np.savetxt(
        folder / "rows.csv",
        load_wine().X,
        delimiter=",",
        header=",".join("abcdefghijklm"),
        comments="",
    )
    run_command("cluster", folder / "rows.csv", "-k", "3", "-o", folder / "clusters.csv")
    assert len((folder / "clusters.csv").read_text().splitlines()) == 179


def run_command(*words):
    """The command `likewise`."""
    subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True)


def use_fast(folder):
    from numba.core.dispatcher import Dispatcher

    from likewise.numerics import loops

    wine = load_wine()  # from 4,000 answers on, loops are compiled
    answers = Constraints.from_labels(wine.y, n_pairs=4200, random_state=0)
    ITML(random_state=0).fit(wine.X, constraints=answers)
    made = [getattr(value, "_compiled", None) for value in vars(loops).values()]
    assert any(isinstance(loop, Dispatcher) for loop in made)


def use_io(folder):
    run_command("cluster", folder / "rows.csv", "-k", "3", "-o", folder / "clusters.parquet")
    assert (folder / "clusters.parquet").read_bytes()[:4] == b"PAR1"


def use_plot(folder):
    import matplotlib

    matplotlib.use("Agg")
    from likewise.report import plot_map

    X = load_wine().X
    plot_map(GuidedClustering(3, random_state=0).fit(X), X)


def use_images(folder):
    from PIL import Image

    from likewise.features import ImageFeatures

    paths = []
    for i in range(6):
        paths.append(folder / f"{i}.png")
        Image.fromarray(np.full((20, 20, 3), 40 * i, np.uint8)).save(paths[-1])
    assert len(ImageFeatures().fit_transform(paths)) == 6


def use_studio(folder):
    import signal

    words = [COMMAND, "studio", folder / "rows.csv", "--no-browser", "--port", "0"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where nobody can press it
    process = subprocess.Popen(
        map(str, words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for line in process.stdout:
            if "http://127.0.0.1" in line:
                break
        process.send_signal(signal.SIGINT)
        process.wait(120)
    finally:
        process.kill()
    assert "http://127.0.0.1" in line


def use_notebook(folder):
    import asyncio

    from likewise import LabelingSession
    from likewise.studio import widget

    async def show():
        """As a notebook does: on a loop that is running."""
        shown = widget(LabelingSession(load_wine().X, random_state=0))
        status, _, _ = await shown.bridge.request("GET", "/api/start", b"")
        await shown.bridge.closed()
        return status

    assert asyncio.run(show()) == 200


def use_dask(folder):
    import dask.array as da

    from likewise.scale import BlockKMeans

    rows = da.from_array(load_wine().X, chunks=(60, 13))
    assert len(np.unique(np.asarray(BlockKMeans(3, random_state=0).fit(rows).predict(rows)))) == 3


def use_exact(folder):
    import cvxpy

    import clarabel

    assert clarabel.__version__
    assert "CLARABEL" in cvxpy.installed_solvers()


def use_oracle(folder):
    import json
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    from likewise.labeling import Question, oracles

    class Service(BaseHTTPRequestHandler):
        """Any model behind HTTP, which says what no code is: that counts as "can't tell"."""

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            reply = json.dumps({"choices": [{"message": {"content": "hm"}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        machine = oracles.chat(address, "any", rows=["one", "two"], task="Group words.")
        question = Question("pair", (0, 1))
        assert machine(question).choice == "cant_tell"
        server.shutdown()


def use_deep(folder):
    from likewise.deep import DeepConstrainedClustering

    X, y = load_digits().X[:200] / 16, load_digits().y[:200]
    answers = Constraints.from_labels(y, n_pairs=100, random_state=0)
    DeepConstrainedClustering(10, random_state=0).fit(X, constraints=answers)


def use_embed(folder):
    from likewise.features import TextFeatures

    texts = ["a red apple", "a green apple", "the bank was closed", "money at the bank"]
    TextFeatures("sentences").fit_transform(texts)


def main():
    extras = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        use_core(folder)
        for extra in extras:
            globals()[f"use_{extra}"](folder)
    numbers = f"NumPy {np.__version__}"
    sys.stdout.write(f"likewise {likewise.__version__}, {numbers}\n")


if __name__ == "__main__":
    main()
