"""Saving: on disk before anybody hears of it, many events in one commit."""

import asyncio
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from likewise.labeling import Event, EventLog, Question, RowNames
from likewise.studio.event_writer import EventWriter
from tests.studio.conftest import answer, ask, enter

X = np.arange(40.0).reshape(20, 2)
STRACE = shutil.which("strace")

CHILD = """
import asyncio, os, sys
import numpy as np
from likewise.labeling import Event, EventLog, Question, RowNames
from likewise.studio.event_writer import EventWriter

async def main():
    log = EventLog(sys.argv[1], RowNames(np.arange(40.0).reshape(20, 2)))
    writer = EventWriter(log, lambda event: None)
    running = asyncio.create_task(writer.run())
    async def one(i):
        await writer.save(Event("answer", f"e{i}", Question("pair", (i, 19)), "apart"))
        os.write(1, b"saved e%d." % i)
    for i in range(3):
        await one(i)
    await asyncio.gather(*[one(i) for i in range(3, 9)])
    os._exit(0)

asyncio.run(main())
"""


def pair(i):
    return Event("answer", f"e{i}", Question("pair", (i % 19, 19)), "apart")


def run_with(keeper, work):
    """Do something with a writer that is running; returns the ids it applied, and the writer."""

    async def live():
        applied = []
        writer = EventWriter(keeper, lambda event: applied.append(event.id))
        running = asyncio.create_task(writer.run())
        try:
            await work(writer)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            writer.close()
        return applied, writer

    return asyncio.run(live())


def test_events_that_wait_together_share_a_commit_and_keep_their_order(tmp_path):
    log = EventLog(tmp_path / "log", RowNames(X))

    async def many(writer):
        await asyncio.gather(*[writer.save(pair(i)) for i in range(300)])

    applied, writer = run_with(log, many)
    assert writer.n_commits <= 3
    assert applied == [event.id for event in log.read()]
    assert len(applied) == 300
    log.close()


def test_an_event_that_cannot_be_saved_does_not_take_others_with_it(tmp_path):
    log = EventLog(tmp_path / "log", RowNames(X))
    wrong = Event("answer", "wrong", Question("pair", (0, 99)), "apart")
    outcomes = []

    async def some(writer):
        saves = [writer.save(pair(0)), writer.save(wrong), writer.save(pair(1))]
        outcomes.extend(await asyncio.gather(*saves, return_exceptions=True))

    applied, _ = run_with(log, some)
    assert applied == ["e0", "e1"]
    assert outcomes[0] == outcomes[2] == [True]
    assert isinstance(outcomes[1], IndexError)
    log.close()


def test_an_answer_that_cannot_be_saved_is_not_acknowledged_and_can_be_sent_again(client):
    enter(client, "ann")
    question = ask(client)[0]
    keeper = client.studio._writer._keeper
    append = keeper.append

    def full(*events):
        raise sqlite3.OperationalError("database or disk is full")

    keeper.append = full
    event = {"id": "e1", "kind": "answer", "question": question["id"], "choice": "new"}
    response = client.post("/api/events", json={"events": [event]})
    assert response.status_code == 503
    assert response.json() == {"error": "It could not be saved: database or disk is full"}
    assert client.studio.desk.n_answers == 0
    keeper.append = append
    assert answer(client, "e1", question, "new")["saved"] == ["e1"]


# ---- traced


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Writes, syncs and acknowledgements of a process, in order: (call, file, offset, bytes)."""
    if STRACE is None:
        pytest.skip("strace is not installed")
    folder = tmp_path_factory.mktemp("trace")
    calls = "trace=pwrite64,fdatasync,fsync,write,ftruncate"
    traced = [
        STRACE,
        "-f",
        "--seccomp-bpf",
        "-y",
        "-xx",
        "-s",
        "200000",
        "-e",
        calls,
        "-o",
        folder / "out",
    ]
    done = subprocess.run(
        [*traced, sys.executable, "-c", CHILD, folder / "log"], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("strace may not trace here")
    return list(parse(folder / "out"))


def parse(path):
    """The calls of a trace; one that was interrupted is taken when it returns."""
    started = {}
    for line in path.read_text().splitlines():
        process, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            started[process] = call.removesuffix("<unfinished ...>")
            continue
        if call.startswith("<..."):
            call = started.pop(process) + call.partition("resumed>")[2]
        match = re.match(r"(\w+)\(\d+<([^>]*)>(.*)\)\s+= (\d+)", call)
        if match is None:
            continue
        name, file, rest, _ = match.groups()
        file = bytes(file, "ascii").decode("unicode_escape")
        content = re.search(r'"((?:\\x..)*)"', rest)
        data = bytes.fromhex(content[1].replace("\\x", "")) if content else b""
        numbers = re.findall(r", (\d+)", rest)
        yield name, Path(file), int(numbers[-1]) if numbers else 0, data


def test_what_is_acknowledged_was_flushed_to_disk_before(trace):
    unsynced, n_acknowledged = set(), 0
    for name, file, _, data in trace:
        if name == "pwrite64" and file.name == "log-wal":
            unsynced.add(file)
        elif name in ("fsync", "fdatasync"):
            unsynced.discard(file)
        elif name == "write" and data.startswith(b"saved "):
            assert not unsynced, "acknowledged before it was flushed"
            n_acknowledged += data.count(b".")
    assert n_acknowledged == 9


def test_writes_that_were_not_flushed_may_be_dropped_and_no_acknowledged_event_is_lost(
    trace, tmp_path
):
    durable, cached, acknowledged, n_checked = {}, {}, set(), 0
    for name, file, offset, data in trace:
        if name in ("pwrite64", "ftruncate") and file.name in ("log", "log-wal"):
            cached.setdefault(file.name, []).append((name, offset, data))
        elif name in ("fsync", "fdatasync") and file.name in ("log", "log-wal"):
            durable.setdefault(file.name, []).extend(cached.pop(file.name, []))
        elif name == "write" and data.startswith(b"saved "):
            acknowledged |= {part.decode() for part in re.findall(rb"saved (\w+)\.", data)}
            n_checked += 1
            assert acknowledged <= ids_after_power_loss(durable, tmp_path / str(n_checked))
    assert len(acknowledged) == 9


def ids_after_power_loss(durable, folder):
    """The ids in a log of which only what was flushed is left."""
    folder.mkdir()
    for name, writes in durable.items():
        content = bytearray()
        for kind, offset, data in writes:
            if kind == "ftruncate":
                del content[offset:]
                continue
            content.extend(b"\0" * (offset - len(content)))
            content[offset : offset + len(data)] = data
        (folder / name).write_bytes(content)
    log = EventLog(folder / "log", RowNames(X))
    ids = {event.id for event in log.read()}
    log.close()
    return ids


def test_twenty_kills_of_a_studio_under_load_lose_nothing_and_double_nothing():
    script = Path(__file__).parent.parent / "soak_studio.py"
    done = subprocess.run(
        [sys.executable, script, "--kills", "20"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("20 kills, ")
    assert int(done.stdout.split()[2]) > 20
