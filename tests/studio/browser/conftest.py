"""Real browsers, and studios for them to open."""

import numpy as np
import pytest

from likewise.datasets import load_digits
from likewise.studio import RowGallery, StudioSettings
from tests.browsing import BROWSER, NO_BROWSER, chromium
from tests.studio.browser.at_the_page import Person, Place

N_DIGITS = 300
PAINTED_PLAINLY = (  # unless a test wants WebGL2, which takes seconds without a graphics card
    "try { localStorage['likewise:painter'] ??= 'Canvas2D' } catch { /* no page yet */ }"
)
SLOW_GL = "GPU stall due to ReadPixels"  # what Chromium says of drawing without a graphics card
WATCH = (
    "addEventListener('securitypolicyviolation', e => console.error('CSP', e.violatedDirective))"
)


@pytest.fixture(scope="session")
def digits():
    bundled = load_digits()
    X = np.asarray(bundled.X[:N_DIGITS]) / 16
    return X, np.asarray(bundled.y[:N_DIGITS])


@pytest.fixture(scope="module")  # while Playwright runs, no other event loop can in this thread
def browser():
    pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if not BROWSER:
        pytest.skip(NO_BROWSER)
    with chromium("--enable-unsafe-swiftshader") as opened:  # WebGL2 without a graphics card
        yield opened


@pytest.fixture
def served(tmp_path):
    """Serve a studio until the test is done."""
    places = []

    def serve(X, gallery, **more):
        path = tmp_path / f"answers-{len(places)}.log"
        places.append(Place(X, gallery, path, **more).start())
        return places[-1]

    yield serve
    for place in places:
        place.stop()


@pytest.fixture
def digit_studio(served, digits):
    """A studio about 300 digits of its own; without a learner unless asked for."""

    def serve(*, learns=False, is_blind=False, **more):
        X, _ = digits
        images = (255 - X.reshape(-1, 8, 8) * 255).astype(np.uint8)
        gallery = RowGallery("Digits", "images", len(X), images=images)
        settings = StudioSettings(needs_name=True, learns=learns, is_blind=is_blind)
        return served(X, gallery, settings=settings, **more)

    return serve


@pytest.fixture
def visit(browser, served):
    """Open a page in a browser of its own; whatever it complains about fails the test."""
    contexts, pages = [], []

    def open_page(link, *, y=None, width=1200, height=800, context=None, **more):
        if context is None:
            size = {"width": width, "height": height}
            contexts.append(browser.new_context(viewport=size, **more))
            context = contexts[-1]
            context.add_init_script(WATCH)
            context.add_init_script(PAINTED_PLAINLY)
        page = context.new_page()
        page.set_default_timeout(30000)
        page.complaints, page.allowed = [], ()
        page.on("console", lambda message: SLOW_GL in message.text or complain(page, message.text))
        page.on("pageerror", lambda error: complain(page, str(error)))
        page.goto(link)
        pages.append(page)
        return Person(page, y)

    yield open_page
    for context in contexts:
        context.close()
    for page in pages:
        assert page.complaints == []


def complain(page, words):
    if not words.startswith(page.allowed):
        page.complaints.append(words)
