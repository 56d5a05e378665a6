"""Renew the pictures of reports in docs/images: python -m docs.tools.pictures [NAME ...]

Needs Chromium and playwright; the texts are read from LIKEWISE_DATA.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from docs.tools.tables import ROOT
from likewise import Constraints, GuidedClustering
from likewise.datasets import fetch, load_digits
from likewise.features import TextFeatures
from likewise.report import write_report

IMAGES = ROOT / "docs" / "images"
WIDE, PHONE = {"width": 1100, "height": 760}, {"width": 390, "height": 780}


def table_report(path: Path) -> None:
    """Customers, four kinds of them."""
    rng = np.random.default_rng(0)
    kind = np.arange(400) % 4
    places = np.array(["Paris", "Lyon", "Nantes"])
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.array([25, 40, 60, 35])[kind], 5).round(),
            "income": (1000 * rng.normal(np.array([20, 55, 35, 80])[kind], 6)).round(-2),
            "city": places[np.where(rng.random(400) < 0.7, kind % 3, rng.integers(3, size=400))],
            "visits": rng.poisson(np.array([8, 2, 5, 1])[kind]),
        }
    )
    answers = Constraints.from_labels(kind, n_pairs=40, random_state=0)
    model = GuidedClustering(4, random_state=0).fit(frame, constraints=answers)
    write_report(path, model, frame, constraints=answers, title="400 customers")


def text_report(path: Path) -> None:
    """Questions to a bank, of four intents."""
    bank = fetch("banking77_text")
    intents = np.asarray(bank.y)
    rows = np.flatnonzero(np.isin(intents, np.argsort(-np.bincount(intents))[:4]))
    texts = [bank.X[row] for row in rows]
    X = TextFeatures().fit_transform(texts)
    answers = Constraints.from_labels(intents[rows], n_pairs=80, random_state=0)
    model = GuidedClustering(4, random_state=0).fit(X, constraints=answers)
    write_report(path, model, X, constraints=answers, texts=texts, title=f"{len(rows)} questions")


def image_report(path: Path) -> None:
    """Handwritten digits."""
    digits = load_digits()
    answers = Constraints.from_labels(digits.y, n_pairs=200, random_state=0)
    model = GuidedClustering(10, random_state=0).fit(digits.X, constraints=answers)
    images = digits.X.reshape(-1, 8, 8)
    write_report(
        path, model, digits.X, constraints=answers, images=images, title="Handwritten digits"
    )


def many_report(path: Path) -> None:
    """Forty made groups."""
    rng = np.random.default_rng(0)
    groups = rng.integers(40, size=2000)
    X = 2.5 * rng.normal(size=(40, 12))[groups] + rng.normal(size=(2000, 12))
    answers = Constraints.from_labels(groups, n_pairs=100, random_state=0)
    model = GuidedClustering(40, random_state=0).fit(X, constraints=answers)
    write_report(path, model, X, constraints=answers, title="Forty groups")


PICTURES = {  # picture: report, size of the window, dark or light, and what is scrolled to
    "report-table": (table_report, WIDE, "light", None),
    "report-texts": (text_report, WIDE, "light", "#clusters"),
    "report-images": (image_report, WIDE, "light", "#clusters"),
    "report-map-digits": (image_report, WIDE, "light", "#map-canvas"),
    "report-40-clusters": (many_report, WIDE, "light", "#map-canvas"),
    "report-phone": (image_report, PHONE, "dark", "#map"),
}


def take_picture(browser, report: Path, size, scheme: str, place: str | None, to: Path) -> None:
    """A report in a window of this size, scrolled to a place."""
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(report.as_uri())
    for _ in range(2):  # what comes into sight may make the page longer
        if place is not None:
            page.locator(place).first.evaluate("place => place.scrollIntoView()")
        page.wait_for_timeout(500)
    page.screenshot(path=to)
    page.close()


def main(wanted: list[str]) -> None:
    """Make the reports that are needed, once each, and look at them."""
    from tests.browsing import chromium

    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name in wanted or PICTURES:
            write, size, scheme, place = PICTURES[name]
            path = Path(folder) / f"{write.__name__}.html"
            if not path.exists():
                write(path)
            take_picture(browser, path, size, scheme, place, IMAGES / f"{name}.png")
            print(f"{name}.png; its report has {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
