"""A studio about three groups of points, with a log in a folder of its own."""

import contextlib

import numpy as np
import pytest
from starlette.testclient import TestClient

from likewise.labeling import EventLog, LabelingSession, RowNames
from likewise.studio import RowGallery, Studio, StudioSettings, Visitors, create_app

N_ROWS = 45
CENTERS = np.array([[0.0, 0.0], [9.0, 9.0], [0.0, 9.0]])
Y = np.arange(N_ROWS) % 3
X = CENTERS[Y] + np.random.default_rng(0).normal(size=(N_ROWS, 2))
ADDRESS = "http://127.0.0.1:8642"


def make_gallery():
    images = np.round(255 * np.abs(np.sin(np.arange(N_ROWS * 16)))).reshape(N_ROWS, 4, 4)
    columns = {"width": X[:, 0], "height": X[:, 1]}
    return RowGallery("points", "table", N_ROWS, columns=columns, images=images.astype(np.uint8))


@pytest.fixture
def open_studio(tmp_path):
    """Opens a studio on the log of this test; as often as wanted."""

    @contextlib.contextmanager
    def opened(*, visitors=None, hosts=(), settings=StudioSettings(learns=False), **more):  # noqa: B008
        log = EventLog(tmp_path / "answers.log", RowNames(X))
        session = LabelingSession(X, **more)
        studio = Studio(session, make_gallery(), log, log.read(), settings)
        visitors = visitors or Visitors("the-token")
        with TestClient(create_app(studio, visitors, hosts), base_url=ADDRESS) as client:
            client.headers["origin"] = ADDRESS
            client.studio, client.visitors = studio, visitors
            yield client
        log.close()

    return opened


@pytest.fixture
def client(open_studio):
    """A browser that came in by the link."""
    with open_studio() as browser:
        enter(browser)
        yield browser


def enter(browser, name=None, *, is_reviewer=False):
    """Come in by the link, and say who one is."""
    browser.cookies.clear()
    response = browser.get("/?token=the-token", follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    if name is not None:
        said = browser.post("/api/name", json={"name": name, "reviewer": is_reviewer})
        assert said.json()["name"] == name
    return browser


def right_choice(question):
    """What somebody answers who knows the groups."""
    row = question["rows"][0]
    if question["kind"] == "group":
        for i, group in enumerate(question["groups"]):
            if Y[group[0]] == Y[row]:
                return i
        return "another" if question["has_more"] else "new"
    return "together" if Y[row] == Y[question["rows"][1]] else "apart"


def send(browser, *events):
    """Post events."""
    response = browser.post("/api/events", json={"events": list(events)})
    assert response.status_code == 200, response.text
    return response.json()


def answer(browser, event_id, question, choice=None, seconds=1.5):
    """Post one answer, the right one by default."""
    choice = right_choice(question) if choice is None else choice
    event = {"id": event_id, "kind": "answer", "question": question["id"], "choice": choice}
    return send(browser, {**event, "seconds": seconds})


def ask(browser, **query):
    """The questions somebody has now."""
    return browser.get("/api/question", params=query).json()["questions"]
