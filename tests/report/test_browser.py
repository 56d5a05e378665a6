"""The report in a real browser: Chromium, headless, through Playwright."""

import itertools
import re

import numpy as np
import pytest

from likewise.constraints import Constraints
from likewise.report import write_report
from tests.browsing import BROWSER, CONTRASTS, NO_BROWSER, chromium
from tests.report.made import made_model

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
expect = playwright.expect  # waits: a busy machine draws late
pytestmark = pytest.mark.skipif(not BROWSER, reason=NO_BROWSER)

HARMFUL = "\"'><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


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
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser, reports):
    """Open a report; what it asks of the network and complains about is kept beside it."""
    contexts = []

    def open_page(name, width=1200, scheme="light", scripts=True):
        size = {"width": width, "height": 800}
        contexts.append(
            browser.new_context(
                viewport=size, color_scheme=scheme, offline=True, java_script_enabled=scripts
            )
        )
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
    assert page.locator("iframe, object, embed, link, form, img[onerror]").count() == 0
    assert page.locator("script").count() == 2  # the data, and ours
    assert page.get_by_text(HARMFUL[:30]).count() > 3


@pages
@pytest.mark.parametrize("width", [320, 768])
def test_the_page_is_never_wider_than_the_screen(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    narrow = "[...document.querySelectorAll('tbody th, .card, canvas')].map(e => e.clientWidth)"
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


def test_without_scripts_the_maps_are_pictures_with_clusters_to_pick(visit):
    page = visit("values", scripts=False)
    assert page.locator("svg.map").first.is_visible()
    assert not page.locator("#map-canvas").is_visible()
    page.get_by_role("radio", name="all").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#pick-0").is_checked()
    page.locator("#show-answers").check()
    assert page.locator("path.answer").first.is_visible()


DRAWN = "document.getElementById('map-canvas').toDataURL()"


def pixels(page, last=""):
    """What is on the canvas, as a text, once it is another than the last."""
    page.wait_for_function(f"last => {DRAWN} !== last", arg=last)
    return page.evaluate(DRAWN)


def test_the_map_is_moved_zoomed_and_read_from_the_keyboard(visit):
    page = visit("values")
    assert not page.locator("svg.map").first.is_visible()
    page.locator("#map-canvas").focus()
    page.keyboard.press("0")
    first = last = page.evaluate(f"new Promise(r => requestAnimationFrame(() => r({DRAWN})))")
    for key in ("+", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
        last = pixels(page, last)
    assert "membership" in page.locator("#row-panel").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.wait_for_function(f"first => {DRAWN} === first", arg=first)


def begins(text):
    return re.compile(r"^\s*" + re.escape(text))


def test_a_dot_tells_its_row_when_pointed_at_and_when_clicked(visit):
    page = visit("pictures")
    page.wait_for_function("document.getElementById('map-canvas').width !== 300")  # it is drawn
    page.get_by_role("searchbox").fill("</script> 37")
    page.keyboard.press("Enter")  # puts the row in the middle
    expect(page.locator("#row-panel")).to_have_text(begins(HARMFUL + " 37"))
    page.locator("#map-canvas").hover()  # its middle, once the page has stopped to scroll
    expect(page.locator("#map-tip")).to_have_text(begins(HARMFUL))
    expect(page.locator("#map-tip canvas")).to_have_count(1)  # its image
    page.locator("#map-canvas").press("Escape")
    expect(page.locator("#row-panel")).not_to_contain_text("membership")
    page.locator("#map-canvas").click()
    expect(page.locator("#row-panel")).to_contain_text("; next: ")


def test_search_lists_rows_by_name_and_by_text_and_says_when_there_is_none(visit):
    page = visit("texts")
    page.get_by_role("searchbox").fill("said 11")
    names = page.locator("#row-matches button").all_inner_texts()
    assert 1 <= len(names) <= 12
    page.locator("#row-matches button").first.click()
    assert "said 11" in page.locator("#row-panel").inner_text()
    page.get_by_role("searchbox").fill("nowhere to be seen")
    assert page.locator("#row-matches").inner_text() == "No such row."


def test_before_and_after_a_cluster_alone_and_answers_change_the_drawing(visit):
    page = visit("values")
    page.emulate_media(reduced_motion="reduce")
    last = pixels(page)
    page.get_by_role("radio", name="before", exact=True).check()
    last = pixels(page, last)
    page.locator("#pick-3").check()
    last = pixels(page, last)
    page.locator("#show-answers").check()
    last = pixels(page, last)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    pixels(page, last)


@pages
def test_a_screen_reader_finds_its_way(visit, name):
    page = visit(name)
    assert page.get_by_role("application", name="Map of the rows.").count() == 1
    still = visit(name, scripts=False)
    for when in ("before", "after"):
        words = f"Map {when} the answers: 120 rows in 12 clusters"
        assert still.get_by_role("img", name=words).count() == 1
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
    assert len(links) == 9 + 12  # the sections, and the rows to check
    assert set(links) <= set(ids)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
