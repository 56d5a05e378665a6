"""The page of the studio in Chromium: how fast it answers a key, and how fast it draws the map.

    python -m benchmarks.studio_page           minutes; --publish writes the tables of the docs

    key to paint    from the key of an answer to the frame that shows the next question, through
                    `likewise studio` on rows in a .npy file, its learner at work beside it; by
                    somebody who answers every 0.7 s and knows the classes
    painted ahead   the same of answers after which nothing has to come from the server first: all
                    but "a new group" and "another group"
    frame           all points drawn, by WebGL2 or pixel by pixel; the browser here has no graphics
                    card and does the work of one on the processor
    while moving    frames a second that a person sees when they drag the map: a sample of the
                    points is drawn where all of them would take more than 50 ms

The tables of the docs say which machine, and how busy it was.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine, number

ROWS = (10_000, 1_000_000)
POINTS = (10_000, 100_000, 1_000_000)
PAUSE_MS = 700
N_FRAMES = 20
START_SECONDS = 120
BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
QUIET = ("--disable-background-networking", "--disable-component-update", "--no-first-run")
GL = "--enable-unsafe-swiftshader"  # WebGL2 on the processor
SIZE = {"width": 1280, "height": 800}
STATE = """() => {
  const question = document.querySelector('.question:not([inert])');
  if (!question) return null;
  const row = place => +place.querySelector('[data-row]').dataset.row;
  return {
    id: question.dataset.question,
    row: row(question.querySelector('.subject')),
    groups: [...question.querySelectorAll('.choice')].map(row),
    hasMore: question.querySelector('[data-choice=another]') !== null,
  };
}"""
PAINTED = """() => performance.getEntriesByName('key-to-paint')
  .map(entry => [entry.duration, entry.detail.hasWaited])"""
FRAMES = """async ([n, painter, frames]) => {
  const { pointMap } = await import('/static/point_map.js');
  const xy = new Float32Array(2 * n), labels = new Uint8Array(n), rows = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const k = i % 40, spread = () => Math.random() + Math.random() + Math.random() - 1.5;
    xy[2 * i] = Math.cos(k) * (1 + k / 20) + 0.3 * spread();
    xy[2 * i + 1] = Math.sin(k) * (1 + k / 20) + 0.3 * spread();
    [labels[i], rows[i]] = [k, i];
  }
  const place = document.getElementById('studio');
  const map = pointMap({ label: 'map', names: () => ({}), wanted: painter });
  map.element.style.height = '720px';
  place.replaceChildren(map.element);
  map.show();
  map.setMap({ header: { n, n_shown: n, clusters: [] }, xy, labels, rows });
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  map.drawNow(0);
  const took = [];
  for (let i = 0; i < frames; i++) {
    const start = performance.now();
    map.drawNow(i % 2 ? 2 : -2);
    took.push(performance.now() - start);
    await frame();
  }
  const start = performance.now();
  let moved = 0;
  for (; performance.now() - start < 1500; moved++) { // as dragging does
    map.zoomBy(moved % 2 ? 1.01 : 1 / 1.01);
    await frame();
  }
  const each = moved / (performance.now() - start) * 1000;
  return { painter: map.element.dataset.painter, took, each };
}"""


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio_page")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--points", type=int, nargs="+", default=POINTS)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--smallest", action="store_true", help="few rows, few questions")
    add_publish_option(parser)
    options = parser.parse_args(argv)
    if options.smallest:
        options.rows, options.points, options.questions = [300], [1000], 3
    if BROWSER is None:
        sys.exit("There is no Chromium here: apt-get install chromium.")
    load = os.getloadavg()[0]
    keys = print_rows(key_table(options.rows, options.questions))
    print()
    frames = print_rows(frame_table(options.points))
    if options.publish:
        made_with = f"{machine()}; one run of each; load average {load:.1f} at the start"
        publish("benchmarks", "studio-keys", keys, made_with)
        publish("benchmarks", "studio-frames", frames, made_with)


def key_table(sizes, n_questions):
    yield "rows", "key to paint p50 / p99: ms", "painted ahead p50 / p99: ms", "answers", "of these"
    for n_rows in sizes:
        took = time_keys(n_rows, n_questions)
        ahead = [ms for ms, has_waited in took if not has_waited]
        yield n_rows, percentiles([ms for ms, _ in took]), percentiles(ahead), len(took), len(ahead)


def percentiles(took):
    return " / ".join(number(ms, 3) for ms in np.percentile(took, [50, 99])) if took else "-"


def frame_table(sizes):
    yield "points", "drawn by", "a frame of all points: ms", "frames a second while moving"
    with tempfile.TemporaryDirectory() as folder, served(np.eye(8), Path(folder)) as link:
        for n_points in sizes:
            for painter in ("WebGL2", "Canvas2D"):
                with opened(link) as page:
                    page.set_default_timeout(120_000)
                    page.wait_for_selector(".likewise")
                    done = page.evaluate(FRAMES, [n_points, painter, N_FRAMES])
                frame = number(statistics.median(done["took"]), 3)
                yield n_points, done["painter"], frame, number(done["each"], 2)


def time_keys(n_rows, n_questions):
    """Milliseconds from each key to the frame that shows the next question."""
    X, y = make_blobs(n_rows, 20, centers=10, cluster_std=4.0, random_state=0)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(X, Path(folder)) as link,
        opened(link) as page,
    ):
        page.set_default_timeout(60_000)
        for _ in range(n_questions):
            page.wait_for_selector(".question:not([inert])")
            page.wait_for_timeout(PAUSE_MS)
            question = page.evaluate(STATE)
            page.keyboard.press(right_key(question, y))
            page.wait_for_function(
                "id => { const q = document.querySelector('.question:not([inert])');"
                " return q && q.dataset.question !== id; }",
                arg=question["id"],
            )
        page.wait_for_timeout(PAUSE_MS)
        return page.evaluate(PAINTED)


def right_key(question, y):
    """What somebody presses who knows the classes."""
    same = [i for i, row in enumerate(question["groups"]) if y[row] == y[question["row"]]]
    if same:
        return str(same[0] + 1)
    return "a" if question["hasMore"] else "n"


@contextlib.contextmanager
def served(X, folder):
    """The link of `likewise studio` on these rows."""
    np.save(folder / "rows.npy", X)
    with serving(["studio", str(folder / "rows.npy")], folder) as link:
        yield link


@contextlib.contextmanager
def serving(arguments, folder):
    """The link of a `likewise` command that opens a studio."""
    command = [sys.executable, "-c", "from likewise.cli import main; main()", *arguments]
    command += ["--no-browser", "--port", "0"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # the same code
    with open(folder / "words.txt", "w") as words:
        running = subprocess.Popen(
            command, cwd=folder, env=env, stdout=words, stderr=subprocess.STDOUT
        )
        try:
            yield find_link(folder / "words.txt", running)
        finally:
            running.terminate()
            running.wait()


def find_link(path, running):
    for _ in range(10 * START_SECONDS):
        found = re.search(r"http://\S+token=\S+", path.read_text())
        if found:
            return found[0]
        if running.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"likewise studio did not start:\n{path.read_text()}")


@contextlib.contextmanager
def opened(link, size=SIZE, scheme="light"):
    """A page of its own in Chromium."""
    from playwright.sync_api import sync_playwright

    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium has no sandbox for root
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=BROWSER, args=[*sandbox, *QUIET, GL])
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(link, timeout=60_000)
        yield page
        browser.close()


if __name__ == "__main__":
    main()
