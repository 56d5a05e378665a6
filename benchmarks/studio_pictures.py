"""The pictures of the studio in the docs: the digits, answered by somebody who errs now and then.

python -m benchmarks.studio_pictures            about two minutes; writes docs/images/studio-*.png
python -m benchmarks.studio_pictures --into DIR --width 390 --scheme dark
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.studio_page import STATE, opened, right_key, serving
from likewise.datasets import load_digits

ROOT = Path(__file__).resolve().parents[1]
SCREENS = {
    "answer": ".mini-map canvas",
    "map": ".map-screen .map[data-points]",
    "clusters": ".cluster",
    "doubts": ".doubtful",
    "history": ".events li",
    "downloads": ".files",
}
IN_DOCS = ("answer", "map", "clusters", "doubts")
N_ANSWERS = 60
WRONG = 1 / 12  # of the answers
SETTLED_MS = 8000  # in which the learner fits, and the map comes to rest
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = 4  # clusters that get a name


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio_pictures")
    parser.add_argument("--into", type=Path, default=None, help="all screens, into a folder")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--answers", type=int, default=N_ANSWERS)
    options = parser.parse_args(argv)
    y = load_digits().y
    size = {"width": options.width, "height": options.height}
    with tempfile.TemporaryDirectory() as folder:
        command = ["demo", "--studio", "--output", folder]
        with serving(command, Path(folder)) as link, opened(link, size, options.scheme) as page:
            answer_all(page, y, options.answers)
            name_clusters(page, y)
            into = options.into or ROOT / "docs" / "images"
            into.mkdir(parents=True, exist_ok=True)
            for name in SCREENS if options.into else IN_DOCS:
                picture(page, name, into / f"studio-{name}.png")
            if options.into is None:
                page.set_viewport_size({"width": 390, "height": 780})
                picture(page, "answer", into / "studio-phone.png")


def answer_all(page, y, n_answers):
    """Answer so many questions, some of them wrongly."""
    rng = random.Random(0)
    for _ in range(n_answers):
        page.wait_for_selector(".question:not([inert])")
        question = page.evaluate(STATE)
        is_wrong = rng.random() < WRONG and len(question["groups"]) > 2
        page.keyboard.press("1" if is_wrong else right_key(question, y))
        page.wait_for_function(
            "id => { const q = document.querySelector('.question:not([inert])');"
            " return q && q.dataset.question !== id; }",
            arg=question["id"],
        )
    page.wait_for_timeout(SETTLED_MS)


def name_clusters(page, y):
    """Give some clusters the name of their digit."""
    go(page, "clusters")
    for cluster in range(NAMES):
        card = page.locator(".cluster").nth(cluster)
        row = int(card.locator(".typical [data-row]").first.get_attribute("data-row"))
        card.locator(".rename-button").click()
        page.keyboard.type(WORDS[y[row]])
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)


def go(page, name):
    page.evaluate("name => { location.hash = name; }", name)
    page.wait_for_selector(SCREENS[name], state="attached")


def picture(page, name, path):
    """One screen, once it is at rest."""
    go(page, name)
    page.wait_for_timeout(3000)  # words that come and go are gone
    page.screenshot(path=path)
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
