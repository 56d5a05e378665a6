"""Kill -9 under load, many times: no event that was acknowledged is lost, none is doubled.

    python tests/soak_log.py --kills 1000

A child appends events to one log, alone and several at a time, and acknowledges each through a pipe
once `append` has returned. After a few milliseconds it is killed. The log is then opened again:
what was acknowledged must be there, once, in order; what was not may be there, and is sent again.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from likewise.labeling import Event, EventLog, Question, RowNames

X = np.arange(40.0).reshape(20, 2)
LONGEST = 0.05  # seconds that a child lives
KILLS_A_LOG = 20  # every check reads the whole log


def write_forever(path, acknowledged: int, first: int, seed: int) -> None:
    """Append events, numbered from `first`, until killed."""
    rng = random.Random(seed)
    log = EventLog(path, RowNames(X))
    while True:
        n = rng.choice((1, 1, 1, 5))
        events = [
            Event("answer", f"{i:08}", Question("pair", (i % 19, 19)), "apart")
            for i in range(first, first + n)
        ]
        log.append(*events)
        first += n
        os.write(acknowledged, f"{first:08}\n".encode())


def kill_once(path, first: int, seed: int) -> int:
    """Let a child write and kill it; returns the number of events acknowledged in all."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            write_forever(path, writing, first, seed)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        started = pipe.read(9)  # the first acknowledgement: killed under load, not before
        time.sleep(random.Random(seed).uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = (started + pipe.read()).split(b"\n")
    return int(lines[-2]) if len(lines) > 1 else first


def check(path, n_acknowledged: int) -> None:
    """All acknowledged events are there in order and once, and can be sent again in vain."""
    log = EventLog(path, RowNames(X))
    kept = [event.id for event in log.read()]
    expected = [f"{i:08}" for i in range(n_acknowledged)]
    assert kept[:n_acknowledged] == expected, "an acknowledged event is lost or out of order"
    assert len(set(kept)) == len(kept), "an event is there twice"
    if kept:
        again = Event("answer", kept[-1], Question("pair", (0, 1)), "together")
        assert log.append(again) == [False], "an event that was sent twice counts twice"
    log.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    n_kills = parser.parse_args().kills
    with tempfile.TemporaryDirectory() as folder:
        n_before = n_acknowledged = 0
        for seed in range(n_kills):
            if seed % KILLS_A_LOG == 0:
                path = Path(folder) / f"{seed}.log"
                n_before, n_acknowledged = n_before + n_acknowledged, 0
            n_acknowledged = kill_once(path, n_acknowledged, seed)
            check(path, n_acknowledged)
    n_events = n_before + n_acknowledged
    sys.stdout.write(f"{n_kills} kills, {n_events} events acknowledged, none lost or doubled\n")


if __name__ == "__main__":
    main()
