"""The other screens in a real browser, on a studio where forty questions were answered before."""

import itertools
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from likewise.labeling import LabelingSession, LabelOracle, ask
from likewise.studio import RowGallery, StudioSettings
from tests.browsing import CONTRASTS
from tests.studio.browser.at_the_page import Place

LOOKS = 40  # at a map that a busy machine is still drawing
SCREENS = ("Answer", "Map", "Clusters", "Doubts", "History", "Downloads")
HARMFUL = "\"'><img src=x onerror=document.title=7><script>document.title=7</script>"
UNNAMED = """() => [...document.querySelectorAll('button, a, input, select, img, [role]')]
  .filter(e => e.checkVisibility() && !e.closest('[aria-hidden=true]'))
  .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('alt') || e.textContent.trim()
    || e.labels?.length || ['status', 'alert'].includes(e.getAttribute('role'))))
  .map(e => e.outerHTML.slice(0, 120))"""
LEVELS = "() => [...document.querySelectorAll('h1, h2, h3')].map(e => +e.tagName[1])"


@pytest.fixture(scope="module")
def place(tmp_path_factory, digits):
    """Names that mean harm, and a learner."""
    X, y = digits
    path = tmp_path_factory.mktemp("studio") / "answers.log"
    ask(X, LabelOracle(y, wrong=0.1, random_state=1), budget=40, log=path).close()
    images = (255 - X.reshape(-1, 8, 8) * 255).astype(np.uint8)
    gallery = RowGallery(f"Digits {HARMFUL}", "images", len(X), images=images)
    served = Place(X, gallery, path, settings=StudioSettings()).start()
    yield served.wait_learned(n_fitted=1)
    served.stop()


@pytest.fixture
def learned(place, visit):
    """A person at that studio, once the clusters are there."""

    def come(**more):
        place.wait_learned()  # what the test before said: nothing moves while this one looks
        person = visit(place.link, **more)
        person.page.wait_for_selector(".question")
        return person

    return come


def open_screen(person, name):
    person.page.get_by_role("navigation").get_by_role("button", name=name).click()
    ready = {
        "Answer": ".question",
        "Map": ".legend li",
        "Clusters": ".cluster",
        "Doubts": ".doubts section, .doubts .message",
        "History": ".events li, .history .message",
        "Downloads": ".files",
    }
    person.page.wait_for_selector(ready[name])


def test_no_screen_is_wider_than_a_phone(learned):
    person = learned(width=390, has_touch=True, is_mobile=True)
    for name in SCREENS:
        open_screen(person, name)
        assert person.page.evaluate("document.documentElement.scrollWidth") <= 390, name
    open_screen(person, "Answer")
    heights = person.page.evaluate(
        "() => [...document.querySelectorAll('.answers .button, .tools .button, .tab')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    assert len(heights) > 8
    assert min(heights) >= 44  # pixels, for a thumb
    before = person.question()["id"]
    person.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert person.page.locator(".question-place").bounding_box()["y"] < 0
    person.press("c")
    person.wait_past(before)
    person.question()
    assert person.page.locator(".question-place").bounding_box()["y"] >= -1  # at its top
    person.page.evaluate("location.hash = 'downloads'")
    person.page.wait_for_selector(".files")
    tab = person.page.locator(".tab[aria-current=page]").bounding_box()
    assert tab["x"] + tab["width"] <= 391  # in sight


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_stand_out_and_everything_has_a_name(learned, scheme):
    person = learned(color_scheme=scheme)
    for name in SCREENS if scheme == "light" else ("Answer", "Clusters", "Doubts"):
        open_screen(person, name)
        contrast, where = min(person.page.evaluate(CONTRASTS))
        assert contrast >= 4.5, (name, where)
        assert person.page.evaluate(UNNAMED) == []
        levels = person.page.evaluate(LEVELS)
        assert levels
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        assert person.page.get_by_role("main").count() == 1
        assert person.page.locator("[aria-current=page]").inner_text() == name


def test_names_that_mean_harm_are_only_text(learned):
    person = learned()
    assert person.page.locator(".data-title").inner_text() == " ".join(f"Digits {HARMFUL}".split())
    assert person.page.locator("img[onerror], .likewise script").count() == 0
    open_screen(person, "Clusters")
    person.page.locator(".rename-button").first.click()
    person.page.keyboard.type(HARMFUL)
    person.page.keyboard.press("Enter")
    person.page.get_by_role("heading", name=HARMFUL).wait_for()
    assert person.page.title() != "7"
    assert person.page.locator("img[onerror]").count() == 0


@pytest.mark.parametrize("painter", ["WebGL2", "Canvas2D"])
def test_the_map_has_the_colors_of_the_clusters(learned, painter):
    person = learned()
    person.page.evaluate("name => localStorage.setItem('likewise:painter', name)", painter)
    person.page.reload()
    open_screen(person, "Map")
    drawn = person.page.locator(".map-screen .map")
    drawn.and_(person.page.locator("[data-points='300']")).wait_for()
    assert drawn.get_attribute("data-painter") == painter
    wanted = person.page.evaluate(
        "() => [...document.querySelectorAll('.legend .swatch')]"
        ".map(e => getComputedStyle(e).backgroundColor.match(/\\d+/g).map(Number))"
    )
    assert len(wanted) >= 8
    for _ in range(LOOKS):
        pixels = np.asarray(Image.open(BytesIO(drawn.screenshot())).convert("RGB")).reshape(-1, 3)
        pixels = np.unique(pixels, axis=0).astype(int)
        nearest = np.array([np.abs(pixels - color).max(axis=1).min() for color in wanted])
        if np.mean(nearest <= 45) > 0.8:  # WebGL2 lets points shine through each other
            return
        person.page.wait_for_timeout(250)  # the next frame
    raise AssertionError(nearest)


def test_a_row_of_the_map_is_shown_by_pointer_and_by_keyboard(learned):
    person = learned()
    open_screen(person, "Map")
    person.page.locator(".map-screen .map").focus()
    person.press("+", "ArrowLeft", "Enter")
    person.page.wait_for_selector(".hover-card [data-row]")
    row = person.page.locator(".hover-card [data-row]").get_attribute("data-row")
    ring = person.page.locator(".map-screen .map-ring").bounding_box()
    person.press("Escape")
    person.page.wait_for_selector(".hover-card", state="hidden")
    person.page.mouse.move(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    person.page.wait_for_selector(f".hover-card [data-row='{row}']")


def test_what_is_said_about_clusters_is_saved_as_answers(learned, place):
    person = learned()
    open_screen(person, "Clusters")
    cards = person.page.locator(".cluster")
    n_clusters = cards.count()
    first_rows = cards.nth(0).locator(".strip.typical [data-row]")
    row = int(first_rows.nth(0).get_attribute("data-row"))
    target = [int(r) for r in place_rows(cards.nth(1))]
    cards.nth(0).locator(".move").first.press("Enter")
    choices = person.page.get_by_role("dialog").locator(".legend-item")
    assert choices.count() == n_clusters - 1
    choices.nth(0).press("Enter")
    person.wait_saved()
    moved = place.events("action")[-1]
    assert moved.question.kind == "move"
    assert moved.question.rows == (row,)
    assert list(moved.question.groups[0]) == target
    cards.nth(0).get_by_role("button", name="Merge with…").press("Enter")
    choices.nth(0).press("Enter")
    person.wait_saved()
    assert place.events("action")[-1].question.kind == "merge"
    cards.nth(2).get_by_role("button", name="All one group").press("Enter")
    person.wait_saved()
    assert place.events("action")[-1].question.kind == "pure"
    assert len(place.events("action")[-1].question.rows) >= 6


def place_rows(card):
    return [e.get_attribute("data-row") for e in card.locator(".strip.typical [data-row]").all()]


def test_any_event_is_taken_back_in_the_history(learned, place):
    person = learned()
    open_screen(person, "History")
    line = person.page.locator(".events li").filter(has=person.page.locator("button")).nth(3)
    event = line.get_attribute("data-event")
    line.get_by_role("button").press("Enter")
    person.page.wait_for_selector(f".events .undone[data-event='{event}']")
    assert [undo.undoes for undo in place.events("undo")] == [event]


def test_doubtful_answers_are_kept_or_flipped_by_one_key(learned, place):
    person = learned()
    open_screen(person, "Doubts")
    doubtful = person.page.locator(".doubtful")
    assert doubtful.count() >= 2  # one answer in ten was wrong
    person.press("k", "f")
    first = [words.inner_text() for words in doubtful.nth(0).locator(".role").all()]
    assert first[:2] == ["Asked about", "The answer"]
    decided = person.page.locator(".decided")
    decided.nth(1).wait_for()
    person.wait_saved()
    assert [event.kind for event in place.events("keep", "flip")] == ["keep", "flip"]
    assert decided.count() == 2


def test_a_row_is_dragged_to_another_cluster(learned, place):
    person = learned()
    open_screen(person, "Clusters")
    cards = person.page.locator(".cluster")
    person.page.evaluate(
        "() => addEventListener('dragstart', e => {"
        " window.row = +e.target.querySelector('[data-row]').dataset.row; })"
    )
    n_before = len(place.events("action"))
    cards.nth(0).locator(".movable").nth(1).drag_to(cards.nth(1))
    actions = place.events("action", at_least=n_before + 1)
    assert len(actions) == n_before + 1
    assert actions[-1].question.kind == "move"
    assert actions[-1].question.rows == (person.page.evaluate("window.row"),)


def test_a_cluster_is_split_by_picking_rows(learned, place):
    person = learned()
    open_screen(person, "Clusters")
    card = person.page.locator(".cluster").nth(1)
    rows = [int(row) for row in place_rows(card)]
    card.get_by_role("button", name="Split…").press("Enter")
    dialog = person.page.get_by_role("dialog")
    dialog.locator(".pick-row").nth(0).press("Space")
    dialog.get_by_role("button", name="This one is different from the rest").press("Enter")
    person.wait_saved()
    split = place.events("action")[-1].question
    assert split.kind == "split"
    assert split.groups[1] == (rows[0],)
    assert set(rows[1:]) <= set(split.groups[0])


def test_a_blind_studio_hides_the_map_while_a_question_is_open(visit, digit_studio):
    place = digit_studio(is_blind=True)
    ann = visit(place.link).enter()
    assert ann.page.locator(".mini-map").count() == 0
    ann.go("Map")
    ann.page.get_by_role("heading", name="Hidden while a question is open").wait_for()
    assert ann.page.locator(".map-screen").count() == 0
    ann.page.get_by_role("button", name="Pause and show it").press("Enter")
    ann.page.wait_for_selector(".map-screen")
    ann.go("Answer")
    assert ann.page.locator(".question").count() == 0
    ann.page.get_by_role("button", name="Go on answering").press("Enter")
    ann.page.wait_for_selector(".question")


def test_a_table_shows_what_differs_first_and_marks_it(visit, served):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.column_stack([9.0 * y + rng.normal(size=40), np.ones(40)])
    weights = np.where(np.arange(40) == 39, 1000.0, np.arange(40))  # of others much alike
    columns = {"same": np.full(40, "x"), HARMFUL: np.where(y, "left", "right"), "kg": weights}
    gallery = RowGallery("Table", "table", 40, columns=columns)
    settings = StudioSettings(learns=False)
    place = served(X, gallery, settings=settings, kinds=("pair",))
    page = visit(place.link, y=y).page
    page.wait_for_selector(".question")
    cells = page.locator(".cards .card").nth(0).locator("dt")
    assert cells.all_inner_texts()[0] == HARMFUL
    assert sorted(page.locator("mark").all_inner_texts()) == ["left", "right"]


def test_single_keys_can_be_switched_off(learned):
    person = learned()
    before = person.question()["id"]
    person.press("?")
    person.page.get_by_role("checkbox", name="Answer with single keys").press("Space")
    person.press("Escape", "s")
    person.page.wait_for_timeout(150)
    assert person.question()["id"] == before
    person.press("?")
    person.page.get_by_role("checkbox", name="Answer with single keys").press("Space")
    person.press("Escape", "s")
    person.wait_past(before)


def test_the_session_of_a_studio_is_the_one_of_its_log(place):
    events = place.log.read()
    again = LabelingSession(place.X, log=place.path)
    assert list(again.events)[: len(events)] == events  # the next question may have come since


def test_what_is_wrong_in_the_studio_stands_above_every_screen(place, learned):
    line = "Learning failed 5 times in a row."
    place.studio.troubles.about("a test")(line)
    person = learned()
    shown = person.page.locator(".troubles")
    for name in ("Answer", "History"):
        open_screen(person, name)
        assert shown.inner_text() == line
    place.studio.troubles.about("a test")("")
    learned().page.wait_for_selector(".troubles", state="hidden")
