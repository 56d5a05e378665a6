"""The report in a real browser: Chromium, headless, through Playwright."""

import itertools
import os
import shutil

import numpy as np
import pytest

from likewise.constraints import Constraints
from likewise.report import write_report
from tests.report.made import made_model

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium here: apt-get install chromium")

HARMFUL = "\"'><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
CONTRASTS = """() => {
  const channels = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const behind = e => {
    const color = channels(getComputedStyle(e).backgroundColor);
    return color.length == 3 || color[3] ? color : behind(e.parentElement);
  };
  return [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))
    .filter(e => !e.closest('svg'))
    .map(e => {
      const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))];
      return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.tagName + ' ' + e.className];
    });
}"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A report with pictures, one with texts and one with values, all with names that mean harm."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.RandomState(0)
    labels = np.arange(120) % 12
    X = rng.randn(12, 6)[labels] * 3 + rng.randn(120, 6)
    ids = [f"{HARMFUL} {i}" for i in range(120)]
    c = Constraints.from_labels(labels, n_must_link=20, n_cannot_link=20, random_state=0)
    c = c.with_rows(120, ids=ids) + Constraints(120, odd_one_out=[(0, 12, 1)], ids=ids)
    model = made_model(
        X, labels, labels_before=rng.permutation(labels), constraints=c, doubtful_=[3, 40],
        violated_=[40], conflicts=[HARMFUL, "word" * 50], trial_names=[HARMFUL, "a" * 90],
    )  # fmt: skip
    names = [f"{HARMFUL} {j}" for j in range(5)] + ["long" * 30]
    given = {"constraints": c, "title": HARMFUL, "feature_names": names}
    shown = {
        "pictures": {"images": rng.rand(120, 5, 7, 3)},
        "texts": {"texts": [f"{HARMFUL} said {i}" + "wide" * 40 for i in range(120)]},
        "values": {},
    }
    for name, extra in shown.items():
        write_report(folder / f"{name}.html", model, X, **given, **extra)
    return folder


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium has no sandbox for root
        opened = running.chromium.launch(executable_path=BROWSER, args=sandbox)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, reports):
    """Open a report; what it asks of the network and complains about is kept beside it."""
    contexts = []

    def open_page(name, width=1200, scheme="light"):
        size = {"width": width, "height": 800}
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme, offline=True))
        page = contexts[-1].new_page()
        page.asked, page.said = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: page.said.append(dialog.message))
        page.goto((reports / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


pages = pytest.mark.parametrize("name", ["pictures", "texts", "values"])


@pages
def test_the_page_runs_nothing_asks_for_nothing_and_shows_names_as_they_are(visit, name):
    page = visit(name)
    asked = [url for url in page.asked if not url.startswith("data:")]
    assert asked == [(page.url)]
    assert page.said == []
    assert page.title() == " ".join(HARMFUL.split())
    assert page.locator("h1").inner_text() == HARMFUL
    assert page.locator("script, iframe, object, embed, link, form, img[onerror]").count() == 0
    assert page.get_by_text(HARMFUL[:30]).count() > 3


@pages
@pytest.mark.parametrize("width", [320, 768])
def test_the_page_is_never_wider_than_the_screen(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    narrow = "[...document.querySelectorAll('tbody th, .card, .map')].map(e => e.clientWidth)"
    assert min(page.evaluate(narrow)) >= 40  # nothing is squeezed to a letter a line


@pages
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_stand_out_from_what_is_behind_them(visit, name, scheme):
    page = visit(name, scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]
    found = page.evaluate(CONTRASTS)
    assert len(found) > 50
    assert min(found)[0] >= 4.5, min(found)


def test_every_picture_is_drawn(visit):
    page = visit("pictures")
    sizes = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.naturalHeight])")
    assert len(sizes) > 50
    assert {tuple(size) for size in sizes} == {(7, 5)}


def test_a_cluster_is_singled_out_on_both_maps_from_the_keyboard(visit):
    page = visit("values")
    page.add_style_tag(content="* { transition: none !important }")
    opacity = (
        "c => [...document.querySelectorAll('.dots.in-' + c)].map(e => getComputedStyle(e).opacity)"
    )
    assert page.evaluate(opacity, 0) == ["1", "1"]
    page.get_by_role("radio", name="all").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="0", exact=True).is_checked()
    assert page.evaluate(opacity, 0) == ["1", "1"]
    assert page.evaluate(opacity, 1) == ["0.07", "0.07"]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(opacity, 1) == ["1", "1"]


def test_answers_are_drawn_when_asked_for(visit):
    page = visit("values")
    lines = page.locator("path.answer")
    assert lines.count() >= 24
    assert not lines.first.is_visible()
    page.get_by_role("checkbox").check()
    assert page.evaluate("getComputedStyle(document.querySelector('.answer')).display") == "inline"


@pages
def test_a_screen_reader_finds_its_way(visit, name):
    page = visit(name)
    for when in ("before", "after"):
        words = f"Map {when} the answers: 120 rows in 12 clusters"
        assert page.get_by_role("img", name=words).count() == 1
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.locator("img:not([alt])").count() == 0
    unnamed = "[...document.querySelectorAll('input')].filter(e => !e.labels.length).length"
    assert page.evaluate(unnamed) == 0
    repeated = "[...document.querySelectorAll('[id]')].map(e => e.id)"
    ids = page.evaluate(repeated)
    assert len(set(ids)) == len(ids)
    links = page.evaluate("[...document.querySelectorAll('a')].map(e => e.hash.slice(1))")
    assert len(links) == 8
    assert set(links) <= set(ids)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
