"""The studio under load, on loopback: how soon an answer is on disk, and the next question there.

    python -m benchmarks.studio                      all of it, about six minutes
    python -m benchmarks.studio --publish            the same, and writes the table of the docs
    python -m benchmarks.studio --rows 1000000       all parts on a million rows
    python -m benchmarks.studio --only people        one part: first, one, people, seen

Every part starts `likewise studio` as a user does and talks HTTP to it.

    first    from the command to the first question
    one      one person who answers at once: the reply to an answer, and the next question
    people   100 people, answers and undos at 500 a second in all, for 10 seconds; afterwards the
             log is read, and every acknowledged event must be there once
    seen     from an answer to a snapshot of clusters and map that knows it
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine
from likewise.labeling import EventLog, RowNames

N_FEATURES = 16
N_GROUPS = 12
N_PEOPLE = 100
RATE = 500.0  # events a second, all people together
SECONDS = 10.0
N_ANSWERS = 60  # of one person
N_SEEN = 22  # answers until they are seen,
N_UNCOUNTED = 2  # of which the first come with the first snapshot
TIMEOUT = 300.0
PLAN = (
    ("first", 100_000),
    ("one", 10_000),
    ("one", 1_000_000),
    ("people", 2_000),
    ("seen", 10_000),
    ("seen", 1_000_000),
)
FIELDS = ("measured", "rows", "p50", "p99", "of", "goal", "CPU", "load average")
COMMAND = "from likewise.cli import main; main()"  # and nothing before it, as for a user


def make_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in groups, float32, and the group of each."""
    rng = np.random.default_rng(0)
    centers = 4 * rng.normal(size=(N_GROUPS, N_FEATURES))
    groups = rng.integers(N_GROUPS, size=n_rows)
    X = centers[groups] + rng.normal(size=(n_rows, N_FEATURES))
    return X.astype(np.float32), groups


class Measured(NamedTuple):
    """Times of one kind."""

    what: str
    seconds: list[float]
    goal: str
    cpu: str = ""  # of the server, without the processes that think and learn


class Browser:
    """One connection that is kept open, with a cookie."""

    def __init__(self, port: int):
        self.port, self.cookie = port, ""

    async def open(self, token: str, name: str) -> "Browser":
        """Come in by the link, and say who one is."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        headers, _ = await self._exchange("GET", f"/?token={token}", b"")
        self.cookie = re.search(r"(likewise\d*=[^;]+)", headers)[1]  # type: ignore[index]
        await self.post("/api/name", {"name": name})
        return self

    async def get(self, path: str) -> dict:
        """JSON from a path."""
        return json.loads((await self._exchange("GET", path, b""))[1])

    async def post(self, path: str, content: dict) -> dict:
        """JSON to a path, and back."""
        return json.loads((await self._exchange("POST", path, json.dumps(content).encode()))[1])

    async def _exchange(self, method: str, path: str, body: bytes) -> tuple[str, bytes]:
        host = f"127.0.0.1:{self.port}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}"]
        lines += [f"Cookie: {self.cookie}", "Content-Type: application/json"]
        lines += [f"Content-Length: {len(body)}", "", ""]
        self.writer.write("\r\n".join(lines).encode() + body)
        headers = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)content-length: (\d+)", headers)
        return headers, await self.reader.readexactly(int(length[1]) if length else 0)

    def close(self) -> None:
        """Hang up."""
        self.writer.close()


class Served:
    """A studio in a process of its own."""

    def __init__(self, folder: Path, data: Path):
        self.log = folder / f"{time.monotonic_ns()}.log"
        began = time.monotonic()
        options = ["--answers", str(self.log), "-o", f"{self.log}-files", "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "studio", str(data), *options, "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if link := re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", line):
                break
        else:
            raise RuntimeError("the studio did not start")
        self.port, self.token = int(link[1]), link[2]
        self.began = began

    def cpu_seconds(self) -> float:
        """Of the server itself, without the processes that think and learn."""
        return cpu_seconds_of(self.process.pid)

    def cpu_seconds_beside(self) -> float:
        """Of the processes that think and learn."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(cpu_seconds_of(int(child)) for child in children)

    def stop(self) -> None:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def cpu_seconds_of(pid: int) -> float:
    """CPU that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def right_choice(question: dict, groups: np.ndarray):
    """What somebody answers who knows the groups."""
    own = groups[question["rows"][0]]
    for i, group in enumerate(question["groups"]):
        if groups[group[0]] == own:
            return i
    return "another" if question["has_more"] else "new"


def answer_event(event_id: str, question: dict, groups: np.ndarray) -> dict:
    choice = right_choice(question, groups)
    return {
        **{"id": event_id, "kind": "answer", "question": question["id"]},
        **{"choice": choice, "seconds": 1.0},
    }


async def measure_first(served: Served) -> list[Measured]:
    browser = await Browser(served.port).open(served.token, "ann")
    while not (await browser.get("/api/question"))["questions"]:
        pass
    seconds = time.monotonic() - served.began
    browser.close()
    cpu = f"{served.cpu_seconds():.1f} s, beside it {served.cpu_seconds_beside():.1f} s"
    return [Measured("command to first question", [seconds], "5 s", cpu)]


async def measure_one(served: Served, groups: np.ndarray) -> list[Measured]:
    browser = await Browser(served.port).open(served.token, "ann")
    acknowledged, painted = [], []
    while not (questions := (await browser.get("/api/question"))["questions"]):
        pass
    cpu_began = served.cpu_seconds()
    for i in range(N_ANSWERS):
        event = answer_event(f"e{i}", questions[0], groups)
        began = time.monotonic()
        reply = await browser.post("/api/events", {"events": [event]})
        acknowledged.append(time.monotonic() - began)
        questions = reply["questions"]
        while not questions and not reply["progress"]["should_stop"]:
            reply = await browser.get("/api/question")
            questions = reply["questions"]
        painted.append(time.monotonic() - began)
        if not questions:
            break
        await asyncio.sleep(1.0 if i % 2 else 0.5)  # people need longer
    cpu_seconds = served.cpu_seconds() - cpu_began
    browser.close()
    cpu = f"{1000 * cpu_seconds / len(painted):.1f} ms an answer"
    return [
        Measured("one person: answer saved", acknowledged, "p99 50 ms", cpu),
        Measured("one person: next question there", painted, "p99 100 ms", cpu),
    ]


async def measure_people(
    served: Served, groups: np.ndarray, n_people: int, rate: float
) -> list[Measured]:
    opening = [Browser(served.port).open(served.token, f"p{i}") for i in range(n_people)]
    browsers = [await one for one in opening]
    questions = await asyncio.gather(*[b.get("/api/question") for b in browsers])
    times: list[float] = []
    acknowledged: list[str] = []

    async def take_part(i: int, browser: Browser, question: dict) -> None:
        n_sent = 0
        due = time.monotonic() + i / rate
        while max(due, time.monotonic()) < end:
            await asyncio.sleep(max(due - time.monotonic(), 0))
            event = answer_event(f"p{i}-{n_sent}", question, groups)
            if n_sent % 2:
                event = {"id": f"p{i}-{n_sent}", "kind": "undo"}
            began = time.monotonic()
            reply = await browser.post("/api/events", {"events": [event]})
            times.append(time.monotonic() - began)
            acknowledged.extend(reply["saved"])
            n_sent += 1
            due += n_people / rate

    while not all(reply["questions"] for reply in questions):  # the first ones take a while
        questions = await asyncio.gather(*[b.get("/api/question") for b in browsers])
    end = time.monotonic() + SECONDS
    parts = [
        take_part(i, browser, reply["questions"][0])
        for i, (browser, reply) in enumerate(zip(browsers, questions))
    ]
    began, cpu_began = time.monotonic(), served.cpu_seconds()
    await asyncio.gather(*parts)
    seconds, cpu_seconds = time.monotonic() - began, served.cpu_seconds() - cpu_began
    for browser in browsers:
        browser.close()
    reached = len(times) / seconds
    cpu = f"{1000 * cpu_seconds / len(times):.2f} ms each"
    kept = check_log(served, acknowledged, len(groups))
    what = f"{len(parts)} people, {reached:.0f} answers and undos a second: saved ({kept})"
    return [Measured(what, times, f"p99 100 ms at {rate:.0f} a second, none lost", cpu)]


def check_log(served: Served, acknowledged: list[str], n_rows: int) -> str:
    """Whether every acknowledged event is in the log, once."""
    log = EventLog(served.log, RowNames(make_rows(n_rows)[0]))
    kept = [event.id for event in log.read()]
    log.close()
    lost = set(acknowledged) - set(kept)
    doubled = len(kept) - len(set(kept))
    return f"acknowledged {len(acknowledged)}, lost {len(lost)}, doubled {doubled}"


async def measure_seen(served: Served, groups: np.ndarray) -> list[Measured]:
    browser = await Browser(served.port).open(served.token, "ann")
    times, cpu_began = [], 0.0
    for i in range(N_SEEN):
        reply: dict = {"questions": []}
        while not reply["questions"]:
            reply = await browser.get("/api/question")
        version = await settled_version(browser)
        if i == N_UNCOUNTED:
            cpu_began = served.cpu_seconds_beside()
        event = answer_event(f"s{i}", reply["questions"][0], groups)
        await browser.post("/api/events", {"events": [event]})
        began = time.monotonic()
        while (await browser.get("/api/question"))["progress"]["model"]["version"] == version:
            if time.monotonic() - began > TIMEOUT:
                raise TimeoutError(f"An answer was not seen within {TIMEOUT:.0f} s.")
            await asyncio.sleep(0.05)
        times.append(time.monotonic() - began)
    browser.close()
    goal, counted = "2 s" if len(groups) <= 10_000 else "5 s", times[N_UNCOUNTED:]
    cpu_seconds = (served.cpu_seconds_beside() - cpu_began) / len(counted)
    cpu = f"beside it {cpu_began:.1f} s before, {cpu_seconds:.2f} s an answer"
    return [Measured("an answer seen in clusters and map", counted, goal, cpu)]


async def settled_version(browser: Browser) -> int:
    """The version of the snapshot, once no other one is being made."""
    version, since = -1, time.monotonic()
    while time.monotonic() - since < 1.5 or version < 1:
        model = (await browser.get("/api/question"))["progress"]["model"]
        if model["version"] != version or model["is_fitting"]:
            version, since = model["version"], time.monotonic()
        await asyncio.sleep(0.1)
    return version


def in_words(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def measure(part: str, n_rows: int, n_people: int, rate: float) -> list[Measured]:
    """One part, with a studio of its own."""
    X, groups = make_rows(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.npy"
        np.save(data, X)
        served = Served(Path(folder), data)
        parts = {
            "first": lambda: measure_first(served),
            "one": lambda: measure_one(served, groups),
            "people": lambda: measure_people(served, groups, n_people, rate),
            "seen": lambda: measure_seen(served, groups),
        }
        try:
            return asyncio.run(parts[part]())
        finally:
            served.stop()


def table(plan: Sequence[tuple[str, int]], n_people: int, rate: float) -> Iterator[Sequence]:
    """What was measured, and how busy the machine was before."""
    yield FIELDS
    for part, n_rows in plan:
        load = os.getloadavg()[0]
        for what, seconds, goal, cpu in measure(part, n_rows, n_people, rate):
            p50, p99 = np.quantile(seconds, [0.5, 0.99])
            shown = in_words(p50), "" if len(seconds) == 1 else in_words(p99)
            yield what, f"{n_rows:,}", *shown, len(seconds), goal, cpu, f"{load:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=None, help="in every part")
    parser.add_argument("--people", type=int, default=N_PEOPLE)
    parser.add_argument("--rate", type=float, default=RATE, help="events a second, of all people")
    parser.add_argument("--only", choices=("first", "one", "people", "seen"), default=None)
    add_publish_option(parser)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is stopped too
    plan = [(part, options.rows or n_rows) for part, n_rows in PLAN]
    plan = [each for each in dict.fromkeys(plan) if options.only in (None, each[0])]
    made = print_rows(table(plan, options.people, options.rate))
    if options.publish:
        publish("benchmarks", "studio", made, f"{machine()}; one run of each")


if __name__ == "__main__":
    main()
