"""A studio behind a real port, and a person in front of it who has nothing but a keyboard."""

import socket
import threading
import time

import uvicorn

from likewise.labeling import EventLog, LabelingSession, RowNames
from likewise.studio import Studio, StudioSettings, Visitors, create_app
from likewise.studio.serving import StudioServer

TOKEN = "the-token"
PATIENCE = 600  # looks at the log, ten a second: the machine may be busy
STATE = """() => {
  const question = document.querySelector('.question:not([inert])');
  if (!question) return null;
  const all = place => [...question.querySelectorAll(place)];
  const rowsIn = place => all(place + ' [data-row]').map(e => +e.dataset.row);
  return {
    id: question.dataset.question,
    kind: question.classList[1],
    rows: rowsIn('.subject').concat(rowsIn('.cards')),
    choices: all('.choice').map(e => [
      e.querySelector('.pick').getAttribute('aria-keyshortcuts'),
      +e.querySelector('[data-row]').dataset.row,
    ]),
    keys: all('.answers .button').map(e => e.getAttribute('aria-keyshortcuts')),
  };
}"""


class Place:
    """Where a studio is served; it can stop and come back at the same port."""

    def __init__(self, X, gallery, path, *, settings=None, visitors=None, **session):
        self.X, self.gallery, self.path, self.session = X, gallery, path, session
        self.settings = StudioSettings(needs_name=True) if settings is None else settings
        self.visitors = Visitors(TOKEN) if visitors is None else visitors
        self.port = 0

    @property
    def link(self):
        return f"http://127.0.0.1:{self.port}/?token={self.visitors.token}"

    def start(self):
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        self.log = EventLog(self.path, RowNames(self.X))
        session = LabelingSession(self.X, **self.session)
        self.studio = Studio(session, self.gallery, self.log, self.log.read(), self.settings)
        app = create_app(self.studio, self.visitors)
        config = uvicorn.Config(
            app, log_level="error", ws="none", timeout_graceful_shutdown=1, lifespan="on"
        )
        self.server = StudioServer(config, self.studio)
        run = {"sockets": [listening]}
        self.thread = threading.Thread(target=self.server.run, kwargs=run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return self

    def wait_learned(self, *, n_fitted=0):
        """Until the clusters know all that was said, however busy the machine is."""
        while not self._has_learned(n_fitted):
            time.sleep(0.05)
        return self

    def _has_learned(self, n_fitted):
        snapshot = self.studio.snapshot
        if snapshot is None or snapshot.n_fitted < n_fitted:
            return False
        said = self.studio.desk.events[snapshot.n_events :]
        return all(event.kind == "shown" for event in said)

    def stop(self):
        self.server.should_exit = True
        self.thread.join(10)
        self.log.close()

    def events(self, *kinds, at_least=0):
        """What is in the log, of these kinds, once there are so many."""
        for _ in range(PATIENCE):
            events = [event for event in self.log.read() if event.kind in kinds]
            if len(events) >= at_least:
                break
            time.sleep(0.1)
        return events


class Person:
    """Somebody at a page who knows the right answers and has nothing but a keyboard."""

    def __init__(self, page, y=None):
        self.page, self.y = page, y

    def enter(self, name="ann"):
        self.page.wait_for_selector("#name")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".question")
        return self

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def question(self):
        self.page.wait_for_selector(".question:not([inert])")
        return self.page.evaluate(STATE)

    def right_keys(self, question):
        """The keys of the right answer, by the labels."""
        y = self.y
        if question["kind"] in ("pair", "review"):
            a, b = question["rows"]
            return ["y" if y[a] == y[b] else "n"]
        row = question["rows"][0] if question["rows"] else None
        if question["kind"] == "grid":
            return [key for key, other in question["choices"] if y[other] == y[row]] + ["Enter"]
        if question["kind"] == "odd_one_out":
            rows = [other for _, other in question["choices"]]
            odd = [i for i, r in enumerate(rows) if sum(y[r] == y[s] for s in rows) == 1]
            return [str(odd[0] + 1)] if len(odd) == 1 else ["c"]
        for key, other in question["choices"]:
            if y[other] == y[row]:
                return [key]
        return ["a" if "a" in question["keys"] else "n"]

    def answer(self, n=1):
        """Answer n questions; returns them as they were answered."""
        answered = []
        for _ in range(n):
            question = self.question()
            self.press(*self.right_keys(question))
            self.wait_past(question["id"])
            answered.append(question)
        return answered

    def wait_past(self, question_id):
        self.page.wait_for_function(
            "id => document.querySelector('.question')?.dataset.question !== id", arg=question_id
        )

    def wait_ahead(self):
        """Until the question after this one is there too."""
        self.page.wait_for_selector("[data-ahead='1'] .question")

    def wait_saved(self):
        self.page.wait_for_function(
            "() => document.querySelector('.saved').textContent === 'All saved'"
        )

    def go(self, name):
        """Open a screen with the Tab key and Enter."""
        tab = self.page.get_by_role("navigation").get_by_role("button", name=name, exact=True)
        self.page.locator(".skip").focus()
        for _ in range(12):
            self.page.keyboard.press("Tab")
            if tab.evaluate("e => e === document.activeElement"):
                break
        self.page.keyboard.press("Enter")
